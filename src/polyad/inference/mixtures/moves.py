"""Moves that EM cannot make: two components become one, and one that covers two groups becomes two.

In the place of the one that was parted there may be a new component, for a group that all components share.

What a move would gain is estimated from a sample of the points, each in its likeliest component. Whether it is kept is
for the likelihood of all points to say.
"""

from dataclasses import dataclass, replace

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.engine.sources import arrays_of
from polyad.inference.mixtures.gaussian import (
    CovarianceRule,
    GaussianMixtureParameters,
    gaussian_log_densities,
    gaussian_posterior,
    polish_few,
    polish_one_more,
)
from polyad.inference.mixtures.merging import gaussian_distances, merged_gaussians

SPLIT_PASSES, SPLIT_TOLERANCE = 12, 1e-3
POWER_STEPS = 8
LEAST_POINTS = 8  # of the sample that each half, and a new component, must have
BIRTH_PASSES = 20


@dataclass(frozen=True)
class Move:
    """Components i and j become one, and component k becomes two, or a new one is added."""

    # (i, j) and k; None for a new component.
    merged: tuple[int, int]
    split: int | None
    gain: float  # the log-likelihood that the sample should gain, less a nat for each parameter of a component
    mixture: GaussianMixtureParameters  # all components afterwards


def best_moves(
    points: FloatArray, mixture: GaussianMixtureParameters, rule: CovarianceRule, n_moves: int
) -> list[Move]:
    """Return the moves that promise the most, best first, those that promise nothing left out.

    Parameters
    ----------
    points
        A sample, n x M.
    mixture, rule
        The mixture, and how its covariances are estimated.
    n_moves
        How many at most; no two of them split the same component or merge the same pair.
    """
    K = mixture.weights.size
    if K < 3:
        return []
    source = arrays_of([points])
    groups = gaussian_posterior(source, mixture).argmax(axis=1)
    losses = _merge_losses(mixture.weights * points.shape[0], mixture)
    pairs = sorted((float(losses[i, j]), i, j) for i in range(K) for j in range(i))
    least = [next(loss for loss, i, j in pairs if k not in (i, j)) for k in range(K)]
    splits = [_split(points[groups == k], mixture.taken([k]), rule, least[k]) for k in range(K)]
    gains = np.array([gain for gain, _ in splits])
    moves: list[Move] = []
    used: set[object] = set()
    for k in np.argsort(-gains, kind="stable"):
        for loss, i, j in pairs:
            if k in (i, j) or (i, j) in used:
                continue
            if gains[k] - loss > 0:
                used.add((i, j))
                moves.append(Move((i, j), int(k), float(gains[k] - loss), _moved(mixture, i, j, int(k), splits[k][1])))
            break
    if not moves:
        moves = _births(points, mixture, rule, pairs[0])
    return sorted(moves, key=lambda move: -move.gain)[:n_moves]


def _split(
    members: FloatArray, one: GaussianMixtureParameters, rule: CovarianceRule, needed: float = 0.0
) -> tuple[float, GaussianMixtureParameters]:
    """Return what two components in the place of one gain on its points, and the two.

    Passes end where the gain will not be what is needed.
    """
    n, M = members.shape
    if n < 2 * LEAST_POINTS:
        return -np.inf, one
    centred = members - members.mean(axis=0)
    side = centred @ _longest(centred) > 0
    if not 0 < side.sum() < n:
        return -np.inf, one
    alone = GaussianMixtureParameters(np.ones(1), one.means, one.covariances)
    before = polish_few(members, alone, rule, max_iter=1, tol=0.0)[1]
    means = np.stack([members[~side].mean(axis=0), members[side].mean(axis=0)])
    two = GaussianMixtureParameters(
        np.array([1 - side.mean(), side.mean()]), means, np.repeat(one.covariances, 2, axis=0)
    )
    parameters = parameters_of_one(M, rule.covariance_type)
    two, after = polish_few(
        members, two, rule, max_iter=SPLIT_PASSES, tol=SPLIT_TOLERANCE, needed=before + parameters + needed
    )
    if two.weights.min() * n < LEAST_POINTS:
        return -np.inf, one
    return after - before - parameters, two


def _births(
    points: FloatArray, mixture: GaussianMixtureParameters, rule: CovarianceRule, pair: tuple[float, int, int]
) -> list[Move]:
    """Return the move, if there is one that promises anything, that puts a new component in the place of one of a pair.

    It is for a group whose points are spread over all components: no one of them can be parted. The new one begins at
    the mean of all points, where no group is nearer than another.
    """
    loss, i, j = pair
    n, M = points.shape
    K, parameters = mixture.weights.size, parameters_of_one(M, rule.covariance_type)
    covariance = np.tensordot(mixture.weights, mixture.covariances, axes=1)
    one = GaussianMixtureParameters(np.array([0.5 / K]), points.mean(axis=0)[None], np.asarray(covariance)[None])
    densities = gaussian_log_densities(arrays_of([points]), mixture)
    one, gain = polish_one_more(points, densities, one, rule, max_iter=BIRTH_PASSES, needed=parameters + loss)
    gain -= parameters + loss
    if gain <= 0 or one.weights[0] * n < LEAST_POINTS:
        return []
    share = float(one.weights[0])
    merged, kept = _merged(mixture, i, j), mixture.taken([c for c in range(K) if c not in (i, j)])
    together = _joined(kept, merged)
    return [Move((i, j), None, gain, _joined(replace(together, weights=(1 - share) * together.weights), one))]


def _longest(centred: FloatArray) -> FloatArray:
    """Return about the direction in which points vary most, by a few steps of the power method."""
    direction = centred[int(np.einsum("ij,ij->i", centred, centred).argmax())]
    for _ in range(POWER_STEPS):
        direction = (centred @ direction) @ centred
        direction = direction / max(float(np.linalg.norm(direction)), 1e-300)
    return direction


def parameters_of_one(n_columns: int, covariance_type: str) -> int:
    """Return how many parameters a component has: its weight, its mean and its covariance."""
    of_covariance = {"spherical": 1, "diag": n_columns, "full": n_columns * (n_columns + 1) // 2}
    return 1 + n_columns + of_covariance[covariance_type]


def _merge_losses(counts: FloatArray, mixture: GaussianMixtureParameters) -> FloatArray:
    """Return what is lost where two components are replaced by one with their mean and covariance, K x K."""
    together = counts[:, None] + counts
    logarithms = np.log(np.maximum(counts, 1e-300))
    mixing = together * np.log(np.maximum(together, 1e-300)) - (counts * logarithms)[:, None] - counts * logarithms
    return np.maximum(gaussian_distances(replace(mixture, weights=counts)) - mixing, 0.0)


def _merged(mixture: GaussianMixtureParameters, i: int, j: int) -> GaussianMixtureParameters:
    """Return one component with the points, the mean and the covariance of two."""
    return merged_gaussians(mixture, np.array([[i, j]]))


def _moved(
    mixture: GaussianMixtureParameters, i: int, j: int, k: int, two: GaussianMixtureParameters
) -> GaussianMixtureParameters:
    merged = _merged(mixture, i, j)
    kept = mixture.taken([c for c in range(mixture.weights.size) if c not in (i, j, k)])
    return _joined(kept, merged, replace(two, weights=mixture.weights[k] * two.weights))


def _joined(*parts: GaussianMixtureParameters) -> GaussianMixtureParameters:
    """Return the components of several mixtures as one."""
    return GaussianMixtureParameters(
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.covariances for part in parts]),
    )
