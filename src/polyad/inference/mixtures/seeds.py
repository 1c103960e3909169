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


def seeded_groups(points: FloatArray, n_components: int, *, at_rest: float = 0.0) -> NDArray[np.intp]:
    """Return the group of every point: those of k-means, from seeds that lie far from each other.

    Steps of k-means end when no larger share of the points than ``at_rest`` has changed its group.

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
        before, groups = groups, _nearest(points, centres)
        if (groups != before).mean() <= at_rest:
            break
    return groups


def group_sums(points: FloatArray, groups: NDArray[np.intp], n_groups: int) -> FloatArray:
    """Return the sums of the points of each group, K x M; a product with 0 and 1 is the fastest way to them."""
    return np.asarray((groups == np.arange(n_groups)[:, None]).astype(np.float64) @ points)


def _seeds(points: FloatArray, n_components: int) -> FloatArray:
    squares = np.einsum("ij,ij->i", points, points)
    chosen = [int(_distances(points, squares, points.mean(axis=0)[None, :])[0].argmin())]
    left = _distances(points, squares, points[chosen])[0]
    draws = 0
    while len(chosen) < n_components:
        cumulated = np.cumsum(left)
        marks = (np.arange(draws + 1, draws + CANDIDATES + 1) * GOLDEN) % 1 * cumulated[-1]
        draws += CANDIDATES
        candidates = np.unique(np.minimum(np.searchsorted(cumulated, marks), points.shape[0] - 1))
        after = _distances(points, squares, points[candidates])
        np.minimum(after, left, out=after)
        best = int(after.sum(axis=1).argmin())
        chosen.append(int(candidates[best]))
        left = after[best]
    return points[chosen]


def _distances(points: FloatArray, squares: FloatArray, centres: FloatArray) -> FloatArray:
    """Return squared distances, K x N: long rows are read faster than many short ones."""
    found = _less_squares(points, centres)
    found += squares
    return np.maximum(found, 0.0, out=found)


def _less_squares(points: FloatArray, centres: FloatArray) -> FloatArray:
    """Return squared distances less the squares of the points, K x N."""
    found = centres @ points.T
    found *= -2
    found += np.einsum("ij,ij->i", centres, centres)[:, None]
    return np.asarray(found)


def _nearest(points: FloatArray, centres: FloatArray) -> NDArray[np.intp]:
    distances = _less_squares(points, centres)
    least, nearest = distances.min(axis=0), np.zeros(points.shape[0], dtype=np.intp)
    for k in range(len(centres) - 1, -1, -1):  # of equals the first
        np.putmask(nearest, distances[k] == least, k)
    return nearest
