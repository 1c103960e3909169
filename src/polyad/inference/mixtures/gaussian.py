"""Mixtures of Gaussians: posteriors and passes of EM, each a sum over blocks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, rows, total
from polyad.inference.mixtures.passes import Passes, further, further_shares, passes_of_em
from polyad.moments.views.cross import dense_rows

COVARIANCE_TYPES = ("spherical", "diag", "full")


@dataclass(frozen=True)
class GaussianMixtureParameters:
    """Parameters of a mixture of Gaussians."""

    # K probabilities and K x M.
    weights: FloatArray
    means: FloatArray
    covariances: FloatArray  # K variances ("spherical"), K x M variances ("diag") or K x M x M ("full")

    @property
    def covariance_type(self) -> str:
        """The kind of covariances, by their shape."""
        return COVARIANCE_TYPES[self.covariances.ndim - 1]

    def taken(self, order: Any) -> "GaussianMixtureParameters":
        """Return the components in another order, or some of them."""
        return GaussianMixtureParameters(self.weights[order], self.means[order], self.covariances[order])


@dataclass(frozen=True)
class CovarianceRule:
    """How covariances are estimated."""

    covariance_type: str  # "spherical", "diag" or "full"
    shared: bool  # whether all components have the same
    floor: float  # added to every variance
    # Every component is given so many points with this covariance (of the kind of one component's) in addition to its
    # own: the likelihood of a component of one point alone would have no bound. None for none.
    prior: FloatArray | None = None
    prior_points: float = 0.0


@dataclass(frozen=True)
class _Evaluated:
    """A mixture ready to be evaluated: points less a centre, so that squares do not lose what is far from 0."""

    centre: FloatArray  # M
    # Points have features: their columns less the centre, their squared length (1) or squares of columns (2), and the
    # constant 1. Logarithms of densities are linear in them: K x features.
    kind: int
    loadings: FloatArray
    # Full covariances (3): K x M, less the centre, and L_k^-1, K x M x M, of the Cholesky factors; loadings then have
    # the constants alone.
    means: FloatArray
    roots: FloatArray | None

    def joint(self, features: FloatArray) -> FloatArray:
        """Return log p(component, point), K x N."""
        if self.roots is None:
            return np.asarray(self.loadings @ features.T)
        centred = features[:, :-1]
        lengths = [_lengths((centred - mean) @ root.T) for mean, root in zip(self.means, self.roots)]
        return np.asarray(self.loadings[:, -1:] - 0.5 * np.stack(lengths))


def _features(points: FloatArray, centre: FloatArray, kind: int) -> FloatArray:
    """Return the features of points (see :class:`_Evaluated`), N x features."""
    N, M = points.shape
    features = np.empty((N, {1: M + 2, 2: 2 * M + 1, 3: M + 1}[kind]))
    centred = np.subtract(points, centre, out=features[:, :M])
    if kind == 1:
        features[:, M] = _lengths(centred)
    elif kind == 2:
        np.multiply(centred, centred, out=features[:, M:-1])
    features[:, -1] = 1.0
    return features


def _lengths(points: FloatArray) -> FloatArray:
    """Return the squares of the lengths of points."""
    return np.asarray(np.einsum("ij,ij->i", points, points))


def _evaluated(mixture: GaussianMixtureParameters, centre: FloatArray) -> _Evaluated:
    K, M = mixture.means.shape
    covariances, means = mixture.covariances, mixture.means - centre
    kind, roots = covariances.ndim, None
    log_weights = np.log(np.maximum(mixture.weights, 1e-300))
    if kind == 3:
        factors = [np.linalg.cholesky(covariance) for covariance in covariances]
        roots = np.stack([linalg.solve_triangular(factor, np.eye(M), lower=True) for factor in factors])
        log_determinants = np.array([2 * np.log(np.diag(factor)).sum() for factor in factors])
        loadings = (log_weights - 0.5 * (M * np.log(2 * np.pi) + log_determinants))[:, None]
        return _Evaluated(centre, kind, loadings, means, roots)
    precisions = 1 / covariances.reshape(K, -1)  # K x 1 or K x M
    log_determinants = np.log(covariances).sum(axis=1) if kind == 2 else M * np.log(covariances)
    scaled = means * precisions
    constants = log_weights - 0.5 * (M * np.log(2 * np.pi) + log_determinants + (means * scaled).sum(axis=1))
    return _Evaluated(centre, kind, np.hstack([scaled, -precisions / 2, constants[:, None]]), means, roots)


def joint_densities(block: Block, mixture: GaussianMixtureParameters, centre: FloatArray) -> FloatArray:
    """Return log p(component, point) of the points of a block, n x K, worked out from a centre of them."""
    evaluated = _evaluated(mixture, centre)
    features = _features(dense_rows(block.rows), centre, evaluated.kind)
    return np.ascontiguousarray(evaluated.joint(features).T)


def gaussian_posterior(source: Source, mixture: GaussianMixtureParameters) -> FloatArray:
    """Return the posterior of each point's component, N x K."""
    return rows(_posterior, source, _evaluated(mixture, mixture.weights @ mixture.means))


def _posterior(block: Block, mixture: _Evaluated) -> FloatArray:
    return np.ascontiguousarray(_evaluate(block, mixture)[1].T)


def gaussian_log_densities(source: Source, mixture: GaussianMixtureParameters) -> FloatArray:
    """Return the logarithm of the density of each point, N."""
    return rows(_log_densities, source, _evaluated(mixture, mixture.weights @ mixture.means))


def _log_densities(block: Block, mixture: _Evaluated) -> FloatArray:
    return _evaluate(block, mixture)[2]


def _evaluate(block: Block, mixture: _Evaluated) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the features of points, posteriors, K x N, and log-likelihoods, N.

    Components are in rows: the largest of a column of many short ones is found far faster than that of a short row.
    """
    features = _features(dense_rows(block.rows), mixture.centre, mixture.kind)
    return features, *shares_and_evidence(mixture.joint(features), axis=0)


def shares_and_evidence(joint: FloatArray, axis: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return posteriors, N x K, and log-likelihoods, N, from log p(component, row); the array is used up.

    Components are along the given axis.
    """
    largest = joint.max(axis=axis, keepdims=True)
    joint -= largest
    np.exp(joint, out=joint)
    sums = joint.sum(axis=axis, keepdims=True)
    joint /= sums
    return joint, (largest + np.log(sums)).ravel()


@dataclass(frozen=True)
class PolishedMixture(Passes):
    """A mixture after passes of EM."""

    mixture: GaussianMixtureParameters  # its parameters


def polish_gaussian(
    source: Source,
    mixture: GaussianMixtureParameters,
    rule: CovarianceRule,
    *,
    max_iter: int,
    tol: float,
    first: int = 1,
    most: int | None = None,
    target: float = -np.inf,
    relaxed: bool = False,
) -> PolishedMixture:
    """Improve a mixture of Gaussians by passes of EM.

    Parameters
    ----------
    source
        The points.
    mixture
        Where to start.
    rule
        How covariances are estimated.
    max_iter
        Passes at most.
    tol
        Converged when a pass gains less than this for a point, in nats.
    first, most
        Number of the first pass, and of passes in all, for the report of progress.
    target
        Stop, not converged, where the objective is too far below this (see :func:`passes_of_em`).
    relaxed
        Whether to go further than EM says.
    """
    centre = mixture.weights @ mixture.means

    def expected(mixture: GaussianMixtureParameters) -> tuple[float, Callable[[], GaussianMixtureParameters]]:
        sums = total(_expected_sums, source, _evaluated(mixture, centre))
        now = (sums[-1] + _log_prior(mixture, rule)) / source.n_rows
        return now, lambda: _maximised(sums, mixture, centre, rule, source.n_rows)

    went, found = passes_of_em(
        mixture, expected, max_iter=max_iter, tol=tol, stretched=_stretched if relaxed else None,
        first=first, most=most, target=target,
    )  # fmt: skip
    return PolishedMixture(went.objective, went.converged, found)


def polish_few(
    points: FloatArray,
    mixture: GaussianMixtureParameters,
    rule: CovarianceRule,
    *,
    max_iter: int,
    tol: float,
    needed: float = -np.inf,
) -> tuple[GaussianMixtureParameters, float]:
    """Return a mixture after passes of EM over a few points in memory, and their log-likelihood.

    The same as :func:`polish_gaussian`, without what a pass over a source costs where points are few. Passes end as
    well where the log-likelihood would be below ``needed`` after the last of them with the gain of this one.
    """
    centre, before = mixture.weights @ mixture.means, -np.inf
    features = _features(points, centre, mixture.covariances.ndim)
    for number in range(max_iter + 1):
        evaluated = _evaluated(mixture, centre)
        posterior, evidence = shares_and_evidence(evaluated.joint(features), axis=0)
        now = float(evidence.sum())
        gain = now - before
        hopeless = number > 1 and now + (max_iter - number) * gain < needed
        if number == max_iter or gain < tol * points.shape[0] or hopeless:
            break
        sums = _sums(features, posterior, evaluated)
        before, mixture = now, _maximised((*sums, now), mixture, centre, rule, points.shape[0])
    return mixture, now


def polish_one_more(
    points: FloatArray,
    log_densities: FloatArray,
    one: GaussianMixtureParameters,
    rule: CovarianceRule,
    *,
    max_iter: int,
    needed: float = -np.inf,
) -> tuple[GaussianMixtureParameters, float]:
    """Return a component after passes of EM that add it to a mixture and leave the mixture as it is; and the gain.

    Parameters
    ----------
    points
        Some of them in memory, n x M.
    log_densities
        What the mixture says of each, n.
    one
        The component to begin with; its weight is the share of the points that it gets.
    rule
        How covariances are estimated.
    max_iter
        Passes.
    needed
        Passes end where the log-likelihood of the points would have gained less than this after all of them.
    """
    centre, gain = one.means[0], -np.inf
    features = _features(points, centre, one.covariances.ndim)
    for number in range(max_iter):
        evaluated = _evaluated(one, centre)
        joint = evaluated.joint(features)
        together = np.logaddexp(log_densities + np.log1p(-one.weights[0]), joint)
        before, gain = gain, float((together - log_densities).sum())
        if number > 1 and gain + (max_iter - number) * (gain - before) < needed:
            break
        joint -= together
        posterior = np.exp(joint, out=joint)
        one = _maximised((*_sums(features, posterior, evaluated), gain), one, centre, rule, points.shape[0])
    return one, gain


def _stretched(
    before: GaussianMixtureParameters, after: GaussianMixtureParameters, stretch: float
) -> GaussianMixtureParameters:
    """Return parameters further along the way from some to others; weights and variances in their logarithms."""
    means = before.means + stretch * (after.means - before.means)
    covariances = after.covariances
    if covariances.ndim < 3:  # a straight line may lead out of the positive matrices
        covariances = further(before.covariances, covariances, stretch)
    return GaussianMixtureParameters(further_shares(before.weights, after.weights, stretch), means, covariances)


def _expected_sums(block: Block, mixture: _Evaluated) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return the expected points of each component, their sums and squares, and the log-likelihood."""
    features, posterior, evidence = _evaluate(block, mixture)
    return *_sums(features, posterior, mixture), float(evidence.sum())


def _sums(
    features: FloatArray, posterior: FloatArray, mixture: _Evaluated
) -> tuple[FloatArray, FloatArray, FloatArray]:
    M = mixture.centre.size
    sums = posterior @ features
    if mixture.kind == 3:
        seconds = np.stack([_products(features[:, :M], shares) for shares in posterior])
    else:
        seconds = sums[:, M] if mixture.kind == 1 else sums[:, M:-1]
    return sums[:, -1], sums[:, :M], seconds


def _products(centred: FloatArray, shares: FloatArray) -> FloatArray:
    weighted = centred * np.sqrt(shares)[:, None]
    return weighted.T @ weighted


def _maximised(
    sums: tuple[FloatArray, FloatArray, FloatArray, float],
    before: GaussianMixtureParameters,
    centre: FloatArray,
    rule: CovarianceRule,
    n_rows: int,
) -> GaussianMixtureParameters:
    """Return the parameters of highest expected likelihood; a component without points stays as it was."""
    points, firsts, squares, _ = sums
    alive = points > 1e-8
    counts = np.maximum(points, 1e-8)
    means = firsts / counts[:, None]
    M = means.shape[1]
    if rule.covariance_type == "spherical":
        scatters = (squares - counts * (means**2).sum(axis=1)) / M
    elif rule.covariance_type == "diag":
        scatters = squares - counts[:, None] * means**2
    else:
        scatters = squares - counts[:, None, None] * means[:, :, None] * means[:, None, :]
    sizes = counts
    if rule.shared:
        scatters = np.repeat(scatters[alive].sum(axis=0)[None], counts.size, axis=0)
        sizes = np.full(counts.size, counts[alive].sum())
    if rule.prior is not None:
        scatters, sizes = scatters + rule.prior_points * rule.prior, sizes + rule.prior_points
    covariances = _floored(scatters / sizes.reshape(-1, *[1] * (scatters.ndim - 1)), rule.floor)
    if not alive.all():
        means[~alive] = before.means[~alive] - centre
        covariances[~alive] = before.covariances[~alive]
    return GaussianMixtureParameters(points / n_rows, means + centre, covariances)


def _log_prior(mixture: GaussianMixtureParameters, rule: CovarianceRule) -> float:
    """Return what the points that components are given in addition add to the log-likelihood."""
    if rule.prior is None:
        return 0.0
    M, covariances = mixture.means.shape[1], mixture.covariances
    if covariances.ndim == 1:
        values = M * (np.log(covariances) + rule.prior / covariances)
    elif covariances.ndim == 2:
        values = (np.log(covariances) + rule.prior / covariances).sum(axis=1)
    else:
        traces = np.trace(
            np.linalg.solve(covariances, np.broadcast_to(rule.prior, covariances.shape)), axis1=1, axis2=2
        )
        values = np.linalg.slogdet(covariances)[1] + traces
    return -0.5 * rule.prior_points * float(values[0] if rule.shared else values.sum())


def _floored(covariances: FloatArray, floor: float) -> FloatArray:
    """Return covariances with the floor added, and none of their variances negative by rounding."""
    if covariances.ndim < 3:
        return np.maximum(covariances, 0.0) + floor
    added = covariances.copy()
    axis = np.arange(covariances.shape[1])
    added[:, axis, axis] = np.maximum(added[:, axis, axis], 0.0) + floor
    return added
