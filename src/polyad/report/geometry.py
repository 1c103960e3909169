"""Which topics are alike: shared mass, a map without overlaps, and a tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist, squareform

from polyad.base.arrays import FloatArray

MOST_WORK = 2e9  # topics x topics x words: above this only the words that matter most are compared
COVERED = 0.2  # share of the map that the circles take together
LEAST_RADIUS = 0.011  # of a side: still to be seen, and to be hit with a finger where topics are few
GAP = 0.004
ROUNDS = 400


@dataclass(frozen=True)
class Map:
    """Topics as circles in the unit square; no two overlap."""

    # One number for each topic.
    x: FloatArray
    y: FloatArray
    radius: FloatArray


@dataclass(frozen=True)
class Tree:
    """Topics joined with those they are most alike."""

    leaves: tuple[int, ...]  # topics in the order of the tree, so that no branches cross
    # Of every join (place of the left, place of the right, height of the left, height of the right, height of the
    # join): places count leaves from 0, heights are the mass that is not shared.
    branches: tuple[tuple[float, float, float, float, float], ...]


def shared_mass(views: Sequence[FloatArray]) -> FloatArray:
    """Return the probability mass that each two topics have in common, K x K; of several views the mean.

    Examples
    --------
    >>> shared_mass([np.array([[1.0, 0.0], [0.25, 0.75]])])
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """
    return np.mean([_overlap(topics) for topics in views], axis=0)


def _overlap(topics: FloatArray) -> FloatArray:
    n_topics, n_words = topics.shape
    n_compared = max(int(MOST_WORK / n_topics**2), 100)
    if n_words > n_compared:
        heaviest = np.sort(np.argsort(-topics.max(axis=0), kind="stable")[:n_compared])
        topics = topics[:, heaviest]
    topics = topics / np.maximum(topics.sum(axis=1, keepdims=True), 1e-300)
    return np.clip(1 - cdist(topics, topics, "cityblock") / 2, 0, 1)


def map_of_topics(shared: FloatArray, shares: FloatArray) -> Map:
    """Place topics so that those with much in common are close: classical scaling, then circles pushed apart.

    Parameters
    ----------
    shared
        K x K, see `shared_mass`.
    shares
        K shares of tokens, which the areas of the circles are proportional to (but for the smallest).

    Examples
    --------
    >>> found = map_of_topics(np.array([[1, .5, 0], [.5, 1, 0], [0, 0, 1]]), np.array([.5, .3, .2]))
    >>> distance = np.hypot(np.subtract.outer(found.x, found.x), np.subtract.outer(found.y, found.y))
    >>> bool(distance[0, 1] < distance[0, 2])
    True
    """
    n_topics = len(shares)
    radius = np.sqrt(COVERED * shares / max(float(shares.sum()), 1e-300) / np.pi)
    radius = np.clip(radius, LEAST_RADIUS, 0.16)
    radius *= min(1.0, np.sqrt(2 * COVERED / (np.pi * float((radius**2).sum()))))
    if n_topics == 1:
        return Map(np.array([0.5]), np.array([0.5]), radius)
    points = _into_square(_scaled(1 - shared), radius)
    points = _into_square(_pushed_apart(points, radius), radius)
    return Map(points[:, 0], points[:, 1], radius * _room(points, radius))


def _scaled(distance: FloatArray) -> FloatArray:
    """Return points of the plane whose distances are as near as can be: the two largest principal coordinates."""
    squares = distance**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    points = vectors[:, -1:-3:-1] * np.sqrt(np.maximum(values[-1:-3:-1], 0))
    # A sign is arbitrary: the largest coordinate is positive.
    largest = points[np.abs(points).argmax(axis=0), range(points.shape[1])]
    points = points * np.where(largest < 0, -1, 1)
    # Topics in the same place go apart in directions of their own, which no draw decides.
    angles = np.arange(len(points)) * np.pi * (3 - np.sqrt(5))
    return points + 1e-4 * np.column_stack([np.cos(angles), np.sin(angles)])


def _into_square(points: FloatArray, radius: FloatArray) -> FloatArray:
    """Move and stretch points so that all circles lie in the unit square and touch its sides."""
    moved = np.empty_like(points)
    for axis in (0, 1):
        values = points[:, axis]
        low, high = int(np.argmin(values)), int(np.argmax(values))
        first, last = radius[low] + GAP, 1 - radius[high] - GAP
        spread = max(float(values[high] - values[low]), 1e-12)
        moved[:, axis] = np.clip(
            first + (values - values[low]) * (last - first) / spread, radius + GAP, 1 - radius - GAP
        )
    return moved


def _pushed_apart(points: FloatArray, radius: FloatArray) -> FloatArray:
    """Move circles that overlap apart, each by half, until none do or the rounds are over."""
    points = points.copy()
    reach = 2 * float(radius.max()) + GAP
    for _ in range(ROUNDS):
        pairs = cKDTree(points).query_pairs(reach, output_type="ndarray")
        apart = points[pairs[:, 0]] - points[pairs[:, 1]]
        distance = np.maximum(np.hypot(apart[:, 0], apart[:, 1]), 1e-9)
        lacking = radius[pairs].sum(axis=1) + GAP - distance
        close = lacking > 0
        if not close.any():
            break
        pairs = pairs[close]
        step = (0.5 * lacking[close] / distance[close])[:, None] * apart[close]
        np.add.at(points, pairs[:, 0], step)
        np.add.at(points, pairs[:, 1], -step)
        points = np.clip(points, radius[:, None] + GAP, 1 - radius[:, None] - GAP)
    return points


def _room(points: FloatArray, radius: FloatArray) -> float:
    """Return the factor by which all circles shrink so that none overlap, where pushing was not enough."""
    pairs = cKDTree(points).query_pairs(2 * float(radius.max()), output_type="ndarray")
    apart = points[pairs[:, 0]] - points[pairs[:, 1]]
    distance = np.hypot(apart[:, 0], apart[:, 1])
    return float(min(1.0, (distance / radius[pairs].sum(axis=1)).min(initial=1.0)))


def tree_of_topics(shared: FloatArray) -> Tree:
    """Join topics step by step, those that share most first (average linkage).

    Examples
    --------
    >>> tree = tree_of_topics(np.array([[1, .1, .6], [.1, 1, .2], [.6, .2, 1]]))
    >>> tree.leaves, [round(float(branch[-1]), 2) for branch in tree.branches]
    ((1, 2, 0), [0.85, 0.4])
    """
    if len(shared) < 2:
        return Tree(tuple(range(len(shared))), ())
    distance: NDArray[np.float64] = 1 - (shared + shared.T) / 2
    np.fill_diagonal(distance, 0)
    drawn: Any = dendrogram(linkage(squareform(distance, checks=False), "average", optimal_ordering=True), no_plot=True)
    branches = sorted(
        ((x[0] - 5) / 10, (x[2] - 5) / 10, heights[0], heights[3], heights[1])
        for x, heights in zip(drawn["icoord"], drawn["dcoord"])
    )
    return Tree(tuple(drawn["leaves"]), tuple(branches))
