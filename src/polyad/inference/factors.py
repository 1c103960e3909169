"""Likelihood steps for independent factors of exchangeable views, from any start, in passes over the rows.

With an estimate z of the factors from some of the views and x from another view, ``E[psi(z_i) x]`` is a multiple of
component i for every function psi: views share the factors alone, and these are independent. So the score equations of
independent components, ``E[psi_i(z_i) z_j] = 0``, are set up with z_i and z_j from different views: what is noise in
one, of any law and correlated in any way, is in neither of the products. At their root there are the true components
for any psi, and with the score of the factor's density as it is seen through the noise the error is smallest.

Counts have a noise that depends on all factors, and not every function of them will do. Of Poisson counts x with the
means ``factors @ components`` and of u with ``components @ u = e_i``, ``prod_m (1 + t u_m)^x_m`` has the mean
``exp(t h_i)`` whatever the other factors are; so have the estimate itself and its square less its noise. Scores are
combinations of these.
"""

from dataclasses import dataclass

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, total
from polyad.inference.scores import Scores, contrast_scores, fitted_scores, tally
from polyad.inference.separation import LEAST_CURVATURE
from polyad.moments.views.cross import dense_rows

SHARE_OF_NOISE = 0.05  # of 1 / sqrt(N), about the error of a component: steps below it are the last
FURTHEST = 0.3  # that one step moves a factor towards another
RATES = (-0.3, -1.0, -2.5)  # t of the functions of counts, in standard deviations of a factor
LEAST_POWER = 0.2  # of 1 + t u: one count changes a product no more than five times
LARGEST_EXPONENT = 50.0
RIDGE = 1e-4  # added to the correlations of the functions of counts
RARE = 1e-3  # of the mean of all columns: the least variance that a column of counts is taken to have
LEAST_SHARED = 0.1  # of the variance of a factor, which is 1: where views share less of it, steps have lost it
NOISELESS = 1e-9  # the same for columns of values, of the mean variance within rows


@dataclass(frozen=True)
class PolishedFactors:
    """Components for factors of variance 1 after likelihood steps."""

    # K x M each; ``components @ whitener.T`` is the identity.
    components: FloatArray
    whitener: FloatArray
    n_steps: int  # 0 where steps led away, and the start was kept
    converged: bool  # whether the last step was small


@dataclass(frozen=True)
class FactorSums:
    """Means of a pass over the rows, with z from all views but one and x from that one."""

    images: FloatArray  # M x K, E[x z']
    products: FloatArray  # K x K, E[psi_i(z_i) z_j]
    derivatives: FloatArray  # K, E[psi_i']
    pieces: FloatArray  # what the next scores are fitted to; empty for counts


def polish_factors(
    source: Source, mean: FloatArray, components: FloatArray, *, counts: bool, max_steps: int
) -> PolishedFactors:
    """Return the components at which no factor of some views says anything about another factor of the next view.

    Parameters
    ----------
    source, mean
        Two or more aligned views with the same columns, and the mean of them all, M.
    components
        K x M, the start, with factors of variance 1.
    counts
        Whether views are counts, Poisson given the factors; otherwise what is added to them is independent of these.
    max_steps
        Steps of Newton at most; each is a pass.
    """
    noise = _noise(source, mean, counts)
    n_values, K = source.n_rows * len(source.widths), len(components)
    found = start = PolishedFactors(components, unmixing(components, noise), 0, False)
    scores = None
    if not counts:
        first = score_sums(source, mean, noise, start.whitener, contrast_scores("logcosh", K))
        scores = fitted_scores(first.pieces, n_values)
    lengths: list[float] = []
    while found.n_steps < max_steps and not found.converged:
        sums = score_sums(source, mean, noise, found.whitener, scores)
        if not (np.diag(found.whitener @ sums.images) > LEAST_SHARED).all():
            return start
        step = newton_step(sums, found.whitener)
        lengths.append(float(np.abs(step).max()))
        components = _moved(sums, found.whitener, np.clip(step, -FURTHEST, FURTHEST))
        small = lengths[-1] < SHARE_OF_NOISE / source.n_rows**0.5
        found = PolishedFactors(components, unmixing(components, noise), found.n_steps + 1, small)
        scores = None if counts else fitted_scores(sums.pieces, n_values)
    return found if found.converged or lengths[-1] < lengths[0] else start


def unmixing(components: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the K x M estimate of factors with the least variance, for the variances of the noise of columns."""
    weighted = components / noise
    return np.asarray(np.linalg.solve(weighted @ components.T, weighted), dtype=np.float64)


def newton_step(sums: FactorSums, whitener: FloatArray) -> FloatArray:
    """Return the relative step D, by which factors z become (I + D) z; its diagonal is 0.

    For independent factors ``E[psi_i(z_i) z_j]`` changes with D_ij and D_ji alone: two equations for each pair, whose
    smallest eigenvalue is kept away from 0, where both factors look like Gaussians.
    """
    squares = np.diag(whitener @ sums.images)
    scaled = sums.products / sums.derivatives[:, None]
    own = np.diag(scaled)
    along = np.maximum(own[:, None] * own, 0.0)
    mean, half = (squares[:, None] + squares) / 2, (squares[:, None] - squares) / 2
    raised = np.maximum(LEAST_CURVATURE - (mean - np.sqrt(half**2 + along)), 0.0)
    here, there = squares[None, :] + raised, squares[:, None] + raised
    step: FloatArray = (own[:, None] * scaled.T - there * scaled) / (here * there - own[:, None] * own)
    np.fill_diagonal(step, 0.0)
    return step


def _moved(sums: FactorSums, whitener: FloatArray, step: FloatArray) -> FloatArray:
    """Return the components after a step: the regression of a view on the new factors, scaled to variance 1."""
    change = np.eye(step.shape[0]) + step
    images = sums.images @ change.T
    second = change @ whitener @ images
    second = (second + second.T) / 2
    scales = np.sqrt(np.maximum(np.diag(second), LEAST_SHARED))
    components: FloatArray = scales[:, None] * np.linalg.solve(second, images.T)
    return components


def score_sums(
    source: Source, mean: FloatArray, noise: FloatArray, whitener: FloatArray, scores: Scores | None
) -> FactorSums:
    """Return the means of a pass, with given scores, or for counts with the scores that suit them best (None)."""
    n_rows = source.n_rows * len(source.widths)
    columns, shift = np.ascontiguousarray(whitener.T), whitener @ mean
    if scores is not None:
        # Broken lines are finest for values of variance 1.
        scales = np.sqrt(1 + (whitener**2 @ noise) / (len(source.widths) - 1))
        images, products, pieces = total(_line_sums, source, columns, shift, scales, scores)
        derivatives = scores.expected(pieces, n_rows).derivatives / scales
        return FactorSums(images / n_rows, products / n_rows, derivatives, pieces)
    images, *parts = total(_count_sums, source, columns, shift)
    products, squares, derivatives, sums = (part / n_rows for part in parts)
    squares = squares - sums[:, :, None] * sums[:, None, :]
    scales = np.sqrt(np.maximum(np.einsum("kll->kl", squares), 1e-300))
    correlations = squares / (scales[:, :, None] * scales[:, None, :]) + RIDGE * np.eye(scales.shape[1])
    # The combination whose E[psi'] is largest for its variance: of functions of one variable the closest to the score.
    weights = np.linalg.solve(correlations, (derivatives / scales)[:, :, None])[:, :, 0] / scales
    products = np.einsum("kl,jkl->kj", weights, products)
    return FactorSums(images / n_rows, products, (weights * derivatives).sum(axis=1), np.zeros(0))


def _line_sums(
    block: Block, columns: FloatArray, shift: FloatArray, scales: FloatArray, scores: Scores
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return sums over rows and views of x z', of psi(z / scales) z', and the tally of z / scales."""
    along = [view @ columns - shift for view in block.views]
    together = np.asarray(sum(along))
    parts = []
    for view, own in zip(block.views, along):
        others = (together - own) / (len(along) - 1)
        psi, pieces = tally(np.ascontiguousarray((others / scales).T), scores)
        parts.append((np.asarray(view.T @ others), psi @ own, pieces))
    images, products, tallies = (np.asarray(sum(part)) for part in zip(*parts))
    return images, products, tallies


def _count_sums(block: Block, columns: FloatArray, shift: FloatArray) -> tuple[FloatArray, ...]:
    """Return sums over rows and views of x z', of z_j b_l(z_i), of b_l b_m, of b_l' and of b_l, for functions b."""
    whole = sum(block.views)
    K = shift.size
    parts = []
    for view in block.views:
        own, others = view @ columns - shift, whole - view
        functions, slopes = count_functions(others, columns / (len(block.views) - 1), shift)
        stacked = functions.transpose(1, 2, 0)
        products = (own.T @ functions.reshape(own.shape[0], -1)).reshape(K, K, -1)
        squares = stacked @ stacked.transpose(0, 2, 1)
        parts.append(
            (np.asarray(view.T @ functions[:, :, 0]), products, squares, slopes.sum(axis=0), functions.sum(axis=0))
        )
    return tuple(np.asarray(sum(part)) for part in zip(*parts))


def count_functions(rows: FloatArray, columns: FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return functions of counts whose means depend on one factor each, N x K x L, and their derivatives.

    The estimate itself, its square less its noise, and products whose mean is an exponential; see the module.

    Parameters
    ----------
    rows
        N x M counts.
    columns
        M x K, the directions u.
    shift
        K, taken off the estimates.
    """
    estimates = np.asarray(rows @ columns) - shift
    functions = [estimates, estimates**2 - np.asarray(rows @ columns**2)]
    slopes = [np.ones_like(estimates), 2 * estimates]
    largest = np.maximum(columns.max(axis=0), 1e-300)
    for rate in RATES:
        rates = np.maximum(rate, (LEAST_POWER - 1) / largest)
        exponents = np.asarray(rows @ np.log1p(columns * rates)) - rates * shift
        products = np.exp(np.minimum(exponents, LARGEST_EXPONENT))
        functions.append(products)
        slopes.append(rates * products)
    return np.stack(functions, axis=2), np.stack(slopes, axis=2)


def _noise(source: Source, mean: FloatArray, counts: bool) -> FloatArray:
    """Return the variance of a column given the factors, about: weights of columns, any of which are consistent."""
    if counts:
        return np.asarray(np.maximum(mean, RARE * mean.mean()))
    within: FloatArray = total(_within, source, mean) / (source.n_rows * (len(source.widths) - 1))
    return np.asarray(np.maximum(within, max(NOISELESS * float(within.mean()), 1e-300)))


def _within(block: Block, mean: FloatArray) -> FloatArray:
    """Return the sums of the squares of the differences of views from their mean."""
    views = [dense_rows(view) - mean for view in block.views]
    together = np.asarray(sum(views)) / len(views)
    return np.asarray(sum(((view - together) ** 2).sum(axis=0) for view in views))
