"""The distribution of the intensities of discrete ICA: gamma or not, from unbiased moments of every source."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from polyad.base.arrays import FloatArray
from polyad.base.plurals import how_many
from polyad.engine import Block, count_blocks, ordered_by_content, total
from polyad.models.fitting import running
from polyad.moments.counts.source_cumulants import left_inverse

N_PARTS = 16  # of the documents, whose differences tell the errors
NOT_GAMMA = 4.0  # standard errors, of sixteen parts, by which a coefficient differs from zero in a sample of a thousand
N_POINTS = 200  # of a density


@dataclass(frozen=True)
class SourceShapes:
    """What the intensities of every topic are like.

    Attributes
    ----------
    moments
        4 x K: E a, E a^2, E a^3, E a^4, unbiased where the topics are right.
    shapes, rates
        K: of the gamma distributions with the same means and variances.
    departures
        2 x K: coefficients of the third and the fourth Laguerre polynomial in the density over the gamma density; both
        are 0 for gamma intensities.
    errors
        2 x K: their standard errors.
    grid
        K x 200: intensities, from 0 to where little is left.
    density, gamma_density
        K x 200: densities there, that of the moments and the gamma one. A coefficient counts in the first as far as it
        stands out from its error.
    """

    moments: FloatArray
    shapes: FloatArray
    rates: FloatArray
    departures: FloatArray
    errors: FloatArray
    grid: FloatArray
    density: FloatArray
    gamma_density: FloatArray

    @property
    def gamma(self) -> tuple[bool, ...]:
        """Whether the data allow gamma intensities, topic by topic."""
        scores = np.abs(self.departures) / np.maximum(self.errors, 1e-300)
        return tuple(bool(score < NOT_GAMMA) for score in scores.max(axis=0))

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{k}: {'gamma' if is_gamma else 'not gamma'} (shape {shape:.2g}, rate {rate:.2g})"
            for k, (is_gamma, shape, rate) in enumerate(zip(self.gamma, self.shapes, self.rates))
        )
        return f"SourceShapes({shown})"


def source_shapes(model: Any, X: Any, *, n_jobs: int | None = None) -> SourceShapes:
    """Tell from documents what distribution the intensities of a model's topics have; one pass.

    Counts are Poisson given the rates y = D' a, so that for any direction v the product of (1 + s v_m)^x_m has the
    expectation E exp(s v'y): its powers of s are unbiased for the moments of v'y, without any Poisson noise, and a left
    inverse of the topics gives v'y = a_k. A gamma density with the mean and the variance, times Laguerre polynomials,
    has the third and the fourth moment as well. Polishing takes intensities as gamma ones: to ask what they are, fit
    with ``polish="off"``.

    Parameters
    ----------
    model
        A fitted :class:`polyad.DiscreteICA` or any model with ``components_``, topics x words.
    X
        Documents x words: those of the fit, or others like them.
    n_jobs
        Threads; the result does not depend on them.

    Examples
    --------
    >>> from polyad import DiscreteICA
    >>> from polyad.datasets import make_gamma_poisson
    >>> sample = make_gamma_poisson(5000, 60, 2, mean_length=100.0, prior=0.5)
    >>> source_shapes(DiscreteICA(2, polish="off").fit(sample.counts), sample.counts).gamma
    (True, True)
    """
    components = np.asarray(model.components_, dtype=np.float64)
    with running(n_jobs):
        source = ordered_by_content(count_blocks(X))
        if source.n_columns != components.shape[1]:
            raise ValueError(
                f"X has {how_many(source.n_columns, 'columns')}, but the model has {components.shape[1]} words."
            )
        if source.n_rows < 2 * N_PARTS:
            raise ValueError(
                f"X has {how_many(source.n_rows, 'documents')}; at least {2 * N_PARTS} are needed to tell errors."
            )
        word_totals = total(_word_totals, source)
        inverse = left_inverse(components, word_totals / source.n_rows)
        sums, sizes = total(_part_moments, source, inverse)
    moments = sums.sum(axis=0) / sizes.sum()
    variances = moments[1] - moments[0] ** 2
    if (moments[0] <= 0).any() or (variances <= 0).any():
        worst = int(np.minimum(moments[0], variances).argmin())
        raise ValueError(
            f"The intensities of topic {worst} have no positive mean and variance: too few documents tell of it, or "
            "topics make room for each other, as where all documents have the same length. Give more documents, or ask "
            "for fewer topics."
        )
    shapes, rates = moments[0] ** 2 / variances, moments[0] / variances
    departures = laguerre_coefficients(moments, shapes, rates)
    left_out = (sums.sum(axis=0) - sums) / (sizes.sum() - sizes)[:, None, None]
    again = np.stack([_departures_of(part) for part in left_out])
    spread = ((again - again.mean(axis=0)) ** 2).sum(axis=0)
    errors = np.sqrt(spread * (N_PARTS - 1) / N_PARTS)
    return SourceShapes(moments, shapes, rates, departures, errors, *_densities(shapes, rates, departures, errors))


def _word_totals(block: Block) -> FloatArray:
    return np.array(block.rows.sum(axis=0), dtype=np.float64).ravel()


def _part_moments(block: Block, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of :func:`source_powers` over each part of the documents of a block, and their numbers."""
    part = np.arange(block.start, block.start + block.n_rows) % N_PARTS
    powers = source_powers(block.rows, inverse)
    sums = np.stack([powers[:, part == number].sum(axis=1) for number in range(N_PARTS)])
    return sums, np.bincount(part, minlength=N_PARTS).astype(np.float64)


def source_powers(rows: Any, inverse: FloatArray) -> FloatArray:
    """Return unbiased estimates of a, a^2, a^3 and a^4 of every document and source, 4 x N x K.

    They are r! times the elementary symmetric polynomials of the tokens' weights, from the weights' power sums.

    Examples
    --------
    >>> source_powers(np.array([[3.0]]), np.array([[1.0]])).ravel()  # 3, 3 * 2, 3 * 2 * 1 and 0
    array([3., 6., 6., 0.])
    """
    p1, p2, p3, p4 = (np.asarray(rows @ inverse**order) for order in range(1, 5))
    return np.stack(
        [
            p1,
            p1**2 - p2,
            p1**3 - 3 * p1 * p2 + 2 * p3,
            p1**4 - 6 * p1**2 * p2 + 3 * p2**2 + 8 * p1 * p3 - 6 * p4,
        ]
    )


def laguerre_coefficients(moments: FloatArray, shapes: FloatArray, rates: FloatArray) -> FloatArray:
    """Return the coefficients of the third and the fourth Laguerre polynomial over gamma densities, 2 x K."""
    found = np.empty((2, shapes.size))
    for k, (c, b) in enumerate(zip(shapes, rates)):
        scaled = np.concatenate([[1.0], moments[:, k] * b ** np.arange(1, 5)])
        for order in (3, 4):
            powers = special.genlaguerre(order, c - 1).coef[::-1]
            norm = special.gammaln(order + c) - special.gammaln(order + 1) - special.gammaln(c)
            found[order - 3, k] = powers @ scaled[: order + 1] * np.exp(-norm)
    return found


def _departures_of(moments: FloatArray) -> FloatArray:
    variances = np.maximum(moments[1] - moments[0] ** 2, 1e-300)
    return laguerre_coefficients(moments, moments[0] ** 2 / variances, moments[0] / variances)


def _densities(
    shapes: FloatArray, rates: FloatArray, departures: FloatArray, errors: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a grid, the density of the moments and that of the gamma distribution on it, K x 200 each."""
    sure = departures * np.maximum(1 - (errors / np.where(departures == 0, np.inf, departures)) ** 2, 0.0)
    grid, density, gamma = (np.empty((shapes.size, N_POINTS)) for _ in range(3))
    for k, (c, b) in enumerate(zip(shapes, rates)):
        last = stats.gamma.ppf(0.995, c, scale=1 / b)
        grid[k] = last * (np.arange(N_POINTS) + 0.5) / N_POINTS  # not at 0, where a density may be infinite
        gamma[k] = stats.gamma.pdf(grid[k], c, scale=1 / b)
        factor = 1 + sum(sure[n - 3, k] * special.eval_genlaguerre(n, c - 1, b * grid[k]) for n in (3, 4))
        density[k] = np.maximum(gamma[k] * factor, 0.0)
        density[k] *= gamma[k].sum() / max(float(density[k].sum()), 1e-300)
    return grid, density, gamma
