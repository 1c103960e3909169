"""Seeds for mixtures where moments see too little: rows that lie far from each other, and the groups around them.

The rows of a source in the canonical order are as good as random, so the first of them are a sample of all. Seeds are
drawn from them by their squared distance to the seeds before (k-means++), with the fractional parts of multiples of the
golden ratio in the place of random numbers: they are spread evenly, and always the same.
"""

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray

SAMPLE_ROWS = 1 << 12
ROWS_A_COMPONENT = 100
CANDIDATES = 8  # of which the one that leaves the least distance is taken
LLOYD_STEPS = 20
GOLDEN = 0.6180339887498949


def sample_size(n_components: int) -> int:
    """Return from how many rows seeds are chosen."""
    return max(SAMPLE_ROWS, ROWS_A_COMPONENT * n_components)


def seeded_groups(points: FloatArray, n_components: int) -> NDArray[np.intp]:
    """Return the group of every point: those of k-means, from seeds that lie far from each other.

    Examples
    --------
    >>> seeded_groups(np.array([[0.0], [0.1], [5.0], [5.1], [9.0]]), 3)
    array([1, 1, 0, 0, 2])
    """
    centres = _seeds(points, n_components)
    groups = _nearest(points, centres)
    for _ in range(LLOYD_STEPS):
        sizes = np.bincount(groups, minlength=n_components)
        sums = group_sums(points, groups, n_components)
        centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
        moved = _nearest(points, centres)
        if np.array_equal(moved, groups):
            break
        groups = moved
    return groups


def group_sums(points: FloatArray, groups: NDArray[np.intp], n_groups: int) -> FloatArray:
    """Return the sums of the points of each group, K x M; a product with 0 and 1 is the fastest way to them."""
    return np.asarray((groups == np.arange(n_groups)[:, None]).astype(np.float64) @ points)


def _seeds(points: FloatArray, n_components: int) -> FloatArray:
    squares = (points**2).sum(axis=1)
    first = int(_distances(points, squares, points.mean(axis=0)[None, :])[:, 0].argmin())
    chosen = [first]
    left = _distances(points, squares, points[[first]])[:, 0]
    draws = 0
    while len(chosen) < n_components:
        cumulated = np.cumsum(left)
        marks = (np.arange(draws + 1, draws + CANDIDATES + 1) * GOLDEN) % 1 * cumulated[-1]
        draws += CANDIDATES
        candidates = np.unique(np.minimum(np.searchsorted(cumulated, marks), points.shape[0] - 1))
        after = np.minimum(left[:, None], _distances(points, squares, points[candidates]))
        best = int(after.sum(axis=0).argmin())
        chosen.append(int(candidates[best]))
        left = after[:, best]
    return points[chosen]


def _distances(points: FloatArray, squares: FloatArray, centres: FloatArray) -> FloatArray:
    """Return squared distances, N x K."""
    found = squares[:, None] - 2 * points @ centres.T + (centres**2).sum(axis=1)
    return np.maximum(found, 0.0)


def _nearest(points: FloatArray, centres: FloatArray) -> NDArray[np.intp]:
    return np.asarray(((centres**2).sum(axis=1) - 2 * points @ centres.T).argmin(axis=1))
