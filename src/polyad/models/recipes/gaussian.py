"""The steps of fitting a mixture of Gaussians, as functions on a source of points."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.decompose.orthogonal.jacobi import jacobi
from polyad.engine import Block, Source, first_rows, rows
from polyad.engine.sources import arrays_of
from polyad.inference.mixtures.gaussian import (
    CovarianceRule,
    GaussianMixtureParameters,
    PolishedMixture,
    polish_gaussian,
)
from polyad.inference.mixtures.moves import best_moves
from polyad.inference.mixtures.seeds import group_sums, sample_size, seeded_groups
from polyad.moments.signals.spherical import SphericalMoments, spherical_moments
from polyad.moments.views.cross import dense_rows

LOOSE = 1e-4  # angle at which the diagonaliser may stop: samples are further from the truth
VARIANCE_RANGE = 4.0  # variances from the moments are kept within this factor of their mean
ENOUGH_DIRECTIONS = 0.8  # of those that the means of the components need, seen above the noise
LEAST_WEIGHT = 0.1  # of an equal share: components that moments give less are given this
AT_REST = 0.02  # of the points: groups that so few of them still change are good enough for EM to begin with
TRIAL_PASSES = 60  # of EM at most, on a sample, by which starts are compared
SAME_END = 3e-4  # nats for each point: ends of EM that are no further apart are taken to be the same
MOMENTS = "moments"  # the name of that start; others are of seeds
CERTAIN_PASSES = 5  # of EM on the sample: moments from which it rests sooner are right
TRIAL_ROWS, TRIAL_ROWS_A_COMPONENT = 2048, 200
SMALL_SAMPLE = 0.7  # of all points: with fewer of them in the sample, EM on it comes first
MOVES_AT_ONCE = 3  # that are tried before EM counts as done
MOST_MOVES = 2  # that are made, for each component

Starts = dict[str, Callable[[FloatArray], GaussianMixtureParameters]]


@dataclass(frozen=True)
class MomentMixture:
    """A mixture of spherical Gaussians from its moments."""

    mixture: GaussianMixtureParameters  # the parameters
    energy: float  # share of the whitened third moment that is off the diagonal


def spherical_parameters(moments: SphericalMoments, *, strict: bool = False) -> MomentMixture:
    """Return the mixture that has given moments.

    Parameters
    ----------
    moments
        See :func:`~polyad.moments.signals.spherical.spherical_moments`.
    strict
        Whether to return what the moments say as it is; otherwise weights and variances are kept from extremes that
        small samples lead to.
    """
    found = jacobi(moments.third, tol=1e-10 if strict else LOOSE)
    # v_k = sqrt(w_k) (W (m_k - mean), 1): the last coordinate tells the sign and the weight.
    rotation = found.rotation * np.where(found.rotation[-1] < 0, -1.0, 1.0)
    K = rotation.shape[0]
    roots = rotation[-1]
    if not strict:
        roots = np.maximum(roots, np.sqrt(LEAST_WEIGHT / K))
    weights = roots**2 / (roots**2).sum()
    whitened = rotation[:-1] / roots
    means = moments.mean + whitened.T @ np.linalg.pinv(moments.whitener).T
    # sum_k w_k s_k (W (m_k - mean), 1) = (skew, variance)
    variances = np.linalg.solve(np.vstack([whitened * weights, weights]), np.append(moments.skew, moments.variance))
    if not strict:
        mean_variance = max(moments.variance, 1e-300)
        variances = np.clip(variances, mean_variance / VARIANCE_RANGE, mean_variance * VARIANCE_RANGE)
    return MomentMixture(GaussianMixtureParameters(weights, means, variances), found.energy)


def spans_too_little(spectrum: FloatArray, variance: float, n_components: int, n_rows: int) -> str:
    """Return why the means do not span K - 1 directions as far as the points can tell; empty where they do.

    The largest eigenvalue of the covariance of N points of noise in M dimensions is about (1 + sqrt(M / N))^2 of
    their variance: smaller ones say little of the means. A few such directions among many do little harm.
    """
    edge = variance * (1 + np.sqrt(spectrum.size / n_rows)) ** 2
    seen = int((spectrum[: n_components - 1] > edge).sum())
    if seen >= ENOUGH_DIRECTIONS * (n_components - 1):
        return ""
    return f"the means of {n_components} components span {seen} of {n_components - 1} directions"


def moment_start(source: Source, n_components: int, *, shared: bool) -> tuple[MomentMixture | None, FloatArray, str]:
    """Return a mixture from moments, the spectrum of the points, and why there is none (empty where there is one)."""
    M = source.n_columns
    if n_components == 1:
        return None, np.zeros(0), "one component needs none"
    if n_components > M:
        return None, np.zeros(0), f"moments find up to {M} components in {M} columns"
    moments = spherical_moments(source, n_components, shared=shared)
    if moments is None:
        return None, np.zeros(0), f"the points vary in fewer than {n_components - 1} directions"
    note = spans_too_little(moments.spectrum, moments.variance, n_components, source.n_rows)
    return (None if note else spherical_parameters(moments)), moments.spectrum, note


def sample_points(source: Source, n_components: int) -> FloatArray:
    """Return the first rows of a source: in the canonical order they are a sample."""
    return rows(_dense, first_rows(source, sample_size(n_components)))


def _dense(block: Block) -> FloatArray:
    return dense_rows(block.rows)


def seed_start(
    points: FloatArray, n_components: int, covariance_type: str, *, along_means: bool = False
) -> GaussianMixtureParameters:
    """Return a mixture from the groups of a sample; columns are scaled, unless components are round.

    With ``along_means`` groups are made along the K - 1 directions in which points vary most: the means lie there, and
    the other directions add nothing but noise to the distances.
    """
    scales = points.std(axis=0) if covariance_type != "spherical" else np.ones(points.shape[1])
    scaled = points / np.where(scales > 0, scales, 1.0)
    if along_means:
        centred = scaled - scaled.mean(axis=0)
        scaled = centred @ np.linalg.eigh(centred.T @ centred)[1][:, 1 - n_components :]
    groups = seeded_groups(scaled, n_components, at_rest=AT_REST)
    counts = np.bincount(groups, minlength=n_components)
    means = _group_means(points, groups, n_components)
    residuals = points - means[groups]
    squares = np.einsum("ij,ij->i", residuals, residuals) / points.shape[1]
    sizes = np.bincount(groups, squares, n_components)
    variances = (sizes + max(float(squares.mean()), 1e-300)) / (counts + 1)
    return GaussianMixtureParameters((counts + 1) / (counts.sum() + n_components), means, variances)


def _group_means(points: FloatArray, groups: NDArray[np.intp], n_groups: int) -> FloatArray:
    counts = np.bincount(groups, minlength=n_groups)
    sums = group_sums(points, groups, n_groups)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], points.mean(axis=0))


def with_covariances(
    mixture: GaussianMixtureParameters, points: FloatArray, covariance_type: str
) -> GaussianMixtureParameters:
    """Return a mixture of round components with covariances of another kind, all in the proportions of the points'."""
    if covariance_type == "spherical":
        return mixture
    shape = points.var(axis=0)
    shape = np.where(shape > 0, shape, max(float(shape.mean()), 1e-300))
    # Round where moments found them round: columns of very different scales are told apart by the first pass.
    variances = np.minimum(mixture.covariances[:, None], shape)
    if covariance_type == "diag":
        return replace(mixture, covariances=variances)
    return replace(mixture, covariances=variances[:, :, None] * np.eye(shape.size))


@dataclass(frozen=True)
class FittedMixture:
    """A mixture after EM and the moves between its rests."""

    polished: PolishedMixture  # the mixture; see :class:`~polyad.inference.mixtures.gaussian.PolishedMixture`
    n_moves: int  # moves made


def pooled(mixture: GaussianMixtureParameters) -> FloatArray:
    """Return the mean covariance of a point of a mixture about the mean of its component."""
    return np.tensordot(mixture.weights, mixture.covariances, axes=1)


@dataclass(frozen=True)
class Begun:
    """The start that EM goes on from."""

    name: str
    polished: PolishedMixture  # where EM has brought it
    rule: CovarianceRule  # with the covariance that every component is given in addition
    settled: bool = False  # whether moves were tried from there on all points, and there is nothing left to do


def better_start(
    source: Source, points: FloatArray, starts: Starts, rule: CovarianceRule, *, max_iter: int, tol: float
) -> Begun:
    """Return the start that EM on a sample brings furthest, and where it has brought it.

    Where EM comes to rest within a few passes of the moments, these are right, and no other start is made. Otherwise
    moves follow, which are cheaper on a sample than on all points; where these are few, from the ends of all starts:
    which of them is better is told after moves only. The covariance that every component is given in addition is that
    of the start with the smallest one.

    Parameters
    ----------
    source, points
        All points, and a sample of them.
    starts
        What makes each start from some points, by name, the most trusted first. Where there are many points and
        components are round, two of them are made.
    rule
        How covariances are estimated.
    max_iter, tol
        Passes of EM at most, and what the last of them gains for a point.
    """
    name = next(iter(starts))
    first = starts[name](points)
    if max_iter == 0:
        return Begun(name, PolishedMixture((), False, first), rule)
    few = points[: max(TRIAL_ROWS, TRIAL_ROWS_A_COMPONENT * first.weights.size)]
    sample = arrays_of([few]) if few.shape[0] < SMALL_SAMPLE * source.n_rows else source

    def told(trial: PolishedMixture) -> PolishedMixture:
        return trial if sample is source else replace(trial, objective=())

    begun = {name: _after_one_pass(sample, first, rule)}
    rule = _with_prior(rule, begun)
    if len(starts) == 1 or max_iter <= TRIAL_PASSES:
        return Begun(name, PolishedMixture((), False, begun[name]), rule)
    if name == MOMENTS:
        trial = polish_gaussian(sample, begun[name], rule, max_iter=TRIAL_PASSES, tol=tol, relaxed=True)
        if trial.converged and len(trial.objective) <= CERTAIN_PASSES:
            return Begun(name, told(trial), rule)
        begun[name] = trial.mixture
    if sample is not source and rule.covariance_type == "spherical":
        starts = dict(list(starts.items())[:2])
    begun |= {other: _after_one_pass(sample, start(few), rule) for other, start in starts.items() if other != name}
    rule = _with_prior(rule, begun)
    trials = {
        name: polish_gaussian(sample, start, rule, max_iter=TRIAL_PASSES, tol=tol, relaxed=True)
        for name, start in begun.items()
    }
    best = max(trials, key=lambda name: trials[name].objective[-1] + (SAME_END if name == MOMENTS else 0.0))
    others = [name for name in trials if trials[name].objective[-1] < trials[best].objective[-1] - SAME_END]
    moved = sample is not source or bool(others)
    if moved:
        ends = {
            name: polish_with_moves(sample, points, trials[name], rule, max_iter=max_iter, tol=tol).polished
            for name in (best, *(others if sample is source else ()))
        }
        best, trials = max(ends, key=lambda name: ends[name].objective[-1]), ends
    return Begun(best, told(trials[best]), rule, moved and sample is source and trials[best].converged)


def _after_one_pass(
    source: Source, mixture: GaussianMixtureParameters, rule: CovarianceRule
) -> GaussianMixtureParameters:
    return polish_gaussian(source, mixture, replace(rule, prior=None), max_iter=1, tol=0.0).mixture


def _with_prior(rule: CovarianceRule, begun: dict[str, GaussianMixtureParameters]) -> CovarianceRule:
    """Return a rule by which components are given points with the smallest mean covariance of some mixtures."""
    if rule.prior_points <= 0:
        return rule
    priors = [pooled(mixture) for mixture in begun.values()]
    return replace(
        rule, prior=min(priors, key=lambda prior: float(np.trace(prior) if prior.ndim == 2 else prior.sum()))
    )


def polish_with_moves(
    source: Source, points: FloatArray, begun: PolishedMixture, rule: CovarianceRule, *, max_iter: int, tol: float
) -> FittedMixture:
    """Run EM until it rests, try moves that it cannot make, and go on from those that raise the likelihood."""
    polished, objective, left, n_moves = begun, begun.objective, max_iter - len(begun.objective), 0
    if not (begun.converged and objective):
        polished = polish_gaussian(
            source, begun.mixture, rule, max_iter=left, tol=tol, first=1, most=max_iter, relaxed=True
        )
        objective, left = objective + polished.objective, left - len(polished.objective)
    while polished.converged and left > 1 and n_moves < MOST_MOVES * begun.mixture.weights.size:
        for move in best_moves(points, polished.mixture, rule, MOVES_AT_ONCE):
            first = max_iter - left + 1
            tried = polish_gaussian(
                source,
                move.mixture,
                rule,
                max_iter=left,
                tol=tol,
                first=first,
                most=max_iter,
                target=objective[-1],
                relaxed=True,
            )
            left -= len(tried.objective)
            if tried.objective[-1] > objective[-1]:
                polished, n_moves = tried, n_moves + 1
                objective += (tried.objective[-1],)
                break
            if left < 2:
                break
        else:
            break
    return FittedMixture(PolishedMixture(objective, polished.converged, polished.mixture), n_moves)
