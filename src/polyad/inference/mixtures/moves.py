"""Moves that EM cannot make: two components that share a group become one, and one that covers two groups becomes two.

What a move would gain is estimated from a sample of the points, each in its likeliest component. Whether it is kept is
for the likelihood of all points to say.
"""

from dataclasses import dataclass

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.engine.sources import arrays_of
from polyad.inference.mixtures.gaussian import (
    CovarianceRule,
    GaussianMixtureParameters,
    gaussian_posterior,
    polish_few,
)

SPLIT_PASSES, SPLIT_TOLERANCE = 12, 1e-3
POWER_STEPS = 8
LEAST_POINTS = 8  # of the sample that each half must have


@dataclass(frozen=True)
class Move:
    """Components i and j become one, and component k becomes two."""

    # (i, j) and k.
    merged: tuple[int, int]
    split: int
    gain: float  # the log-likelihood that the sample should gain, less a nat for each parameter that the split adds
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
    groups = gaussian_posterior(arrays_of([points]), mixture).argmax(axis=1)
    counts = mixture.weights * points.shape[0]
    splits = [_split(points[groups == k], mixture.taken([k]), rule) for k in range(K)]
    gains = np.array([gain for gain, _ in splits])
    losses = _merge_losses(counts, mixture)
    moves: list[Move] = []
    used: set[object] = set()
    pairs = sorted((float(losses[i, j]), i, j) for i in range(K) for j in range(i))
    for k in np.argsort(-gains, kind="stable"):
        for loss, i, j in pairs:
            if k in (i, j) or (i, j) in used:
                continue
            if gains[k] - loss > 0:
                used.add((i, j))
                moves.append(Move((i, j), int(k), float(gains[k] - loss), _moved(mixture, i, j, int(k), splits[k][1])))
            break
    return sorted(moves, key=lambda move: -move.gain)[:n_moves]


def _split(
    members: FloatArray, one: GaussianMixtureParameters, rule: CovarianceRule
) -> tuple[float, GaussianMixtureParameters]:
    """Return what two components in the place of one gain on its points, and the two."""
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
    two, after = polish_few(members, two, rule, max_iter=SPLIT_PASSES, tol=SPLIT_TOLERANCE)
    if two.weights.min() * n < LEAST_POINTS:
        return -np.inf, one
    gained = after - before
    return gained - parameters_of_one(M, rule.covariance_type), two


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
    K, M = mixture.means.shape
    squared = ((mixture.means[:, None] - mixture.means[None]) ** 2) if mixture.covariances.ndim == 2 else None
    together = counts[:, None] + counts
    share = counts[:, None] * counts / np.maximum(together, 1e-300)
    if mixture.covariances.ndim == 1:
        norms = (mixture.means**2).sum(axis=1)
        distances = np.maximum(norms[:, None] + norms - 2 * mixture.means @ mixture.means.T, 0.0) / M
        logs = M * np.log(mixture.covariances)
        scatter = (counts * mixture.covariances)[:, None] + counts * mixture.covariances + share * distances
        merged = M * np.log(scatter / together)
    elif squared is not None:
        logs = np.log(mixture.covariances).sum(axis=1)
        weighted = counts[:, None] * mixture.covariances
        scatter = weighted[:, None] + weighted + share[:, :, None] * squared
        merged = np.log(scatter / together[:, :, None]).sum(axis=2)
    else:
        logs = np.linalg.slogdet(mixture.covariances)[1]
        merged = np.array([[_merged_log(mixture, counts, i, j) for j in range(K)] for i in range(K)])
    logarithms = np.log(np.maximum(counts, 1e-300))
    mixing = together * np.log(np.maximum(together, 1e-300)) - (counts * logarithms)[:, None] - counts * logarithms
    losses = 0.5 * (together * merged - (counts * logs)[:, None] - counts * logs) - mixing
    return np.maximum(losses, 0.0)


def _merged_log(mixture: GaussianMixtureParameters, counts: FloatArray, i: int, j: int) -> float:
    return float(np.linalg.slogdet(_merged(mixture, counts, i, j).covariances[0])[1])


def _merged(mixture: GaussianMixtureParameters, counts: FloatArray, i: int, j: int) -> GaussianMixtureParameters:
    """Return one component with the points, the mean and the covariance of two."""
    together = max(float(counts[i] + counts[j]), 1e-300)
    a, b = float(counts[i]) / together, float(counts[j]) / together
    difference = mixture.means[i] - mixture.means[j]
    added = {
        1: (difference**2).mean(),
        2: difference**2,
        3: np.outer(difference, difference) if mixture.covariances.ndim == 3 else 0.0,
    }[mixture.covariances.ndim]
    covariance = a * mixture.covariances[i] + b * mixture.covariances[j] + a * b * added
    return GaussianMixtureParameters(
        np.array([mixture.weights[i] + mixture.weights[j]]),
        (a * mixture.means[i] + b * mixture.means[j])[None],
        np.asarray(covariance)[None],
    )


def _moved(
    mixture: GaussianMixtureParameters, i: int, j: int, k: int, two: GaussianMixtureParameters
) -> GaussianMixtureParameters:
    merged = _merged(mixture, mixture.weights, i, j)
    kept = [c for c in range(mixture.weights.size) if c not in (i, j, k)]
    parts = mixture.taken(kept), merged
    return GaussianMixtureParameters(
        np.concatenate([*(part.weights for part in parts), mixture.weights[k] * two.weights]),
        np.concatenate([*(part.means for part in parts), two.means]),
        np.concatenate([*(part.covariances for part in parts), two.covariances]),
    )
