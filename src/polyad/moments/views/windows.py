"""Windows of sequences as views: what was before, what is now and what comes next are independent given the state.

The features of the past and of the future are those of w rows each, under each other, nearest first: where one row says
too little to tell all states apart, several can.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, new_states, step, sum_over
from polyad.engine.blocks import is_sparse
from polyad.moments.views.cross import column_sums
from polyad.moments.views.triples import ThreeViews, three_views_population

CHUNK_ROWS = 1 << 14  # whose features are in memory at a time


@dataclass(frozen=True)
class WindowFeatures:
    """Features of rows: ``features(rows)`` gives them with the constant 1 as the last one.

    Attributes
    ----------
    kind
        "shares" for the shares of the symbols in a row of counts, "values" for values less a centre over a scale, and
        their squares, cut at :attr:`limit`.
    chosen
        The columns of counts that have a feature of their own; None for all.
    centre, scale
        Of values.
    limit
        Largest size of a scaled value.
    """

    kind: str
    chosen: NDArray[np.intp] | None = None
    centre: FloatArray | None = None
    scale: FloatArray | None = None
    limit: float = 6.0

    def __call__(self, rows: Any) -> Any:
        """Return the features of rows, sparse for sparse shares."""
        ones = np.ones((rows.shape[0], 1))
        if self.kind == "shares":
            totals = np.asarray(rows.sum(axis=1)).ravel()
            weights = 1 / np.maximum(totals, 1.0)
            kept = rows if self.chosen is None else rows[:, self.chosen]
            if is_sparse(kept):
                scaled = sparse.diags_array(weights) @ kept
                return sparse.csr_array(sparse.hstack([scaled, sparse.csr_array(ones)], format="csr"))
            return np.hstack([weights[:, None] * kept, ones])
        dense = np.asarray(rows.toarray() if is_sparse(rows) else rows)
        centred = dense - np.asarray(self.centre)
        values = np.clip(centred / np.asarray(self.scale), -self.limit, self.limit)
        return np.hstack([values, values**2 - 1, ones])


def window_moments(source: Source, features: WindowFeatures, size: int) -> ThreeViews | None:
    """Return the moments of windows of 2 w + 1 rows, in one pass now and one more for the third moment.

    Parameters
    ----------
    source
        Sequences.
    features
        Of a row.
    size
        w: rows of the past, and of the future.

    Returns
    -------
    ThreeViews or None
        Past and future are the pair, now is the third view. None where no sequence has as many rows.
    """
    sums, _ = step(_pair_sums, source, new_states(source), features, size)
    second, squares, n_windows = sums
    if n_windows == 0:
        return None

    def third(W1: FloatArray, W2: FloatArray) -> FloatArray:
        found, _ = step(_triple_sums, source, new_states(source), features, size, W1, W2)
        K = W1.shape[0]
        return found.reshape(-1, K, K) / n_windows

    past, now, future = (np.sqrt(np.maximum(s / n_windows, 1e-300)) for s in squares)
    second = second / n_windows  # the last feature of both views is 1
    return ThreeViews(second, (second[:, -1], second[-1]), third, (past, future, now), n_windows)


def _windows(shard: Block, size: int) -> NDArray[np.intp]:
    """Return the rows that have as many before and after them in their sequence."""
    marks = shard.views[1][:, 0] > 0
    begins = np.flatnonzero(marks)
    sizes = np.diff(np.append(begins, shard.n_rows))
    place = np.arange(shard.n_rows) - np.repeat(begins, sizes)
    left = np.repeat(sizes, sizes) - place - 1
    return np.flatnonzero((place >= size) & (left >= size))


def _stacked(rows: Any, at: NDArray[np.intp], offsets: range) -> Any:
    parts = [rows[at + offset] for offset in offsets]
    if len(parts) == 1:
        return parts[0]
    return sparse.csr_array(sparse.hstack(parts, format="csr")) if is_sparse(rows) else np.hstack(parts)


def _in_chunks(shard: Block, size: int, work: Callable[[Any, NDArray[np.intp]], Any], features: WindowFeatures) -> Any:
    """Return the sum of what is found in chunks of windows, so that features of few rows are in memory at a time.

    ``work`` is called with the features of some rows, and which of them have a window.
    """
    at = _windows(shard, size)
    edges = np.searchsorted(at, np.arange(0, shard.n_rows + CHUNK_ROWS, CHUNK_ROWS))

    def in_chunk(bounds: tuple[int, int]) -> Any:
        chosen = at[bounds[0] : bounds[1]]
        if chosen.size == 0:
            return work(features(shard.between(0, min(1, shard.n_rows)).views[0]), chosen)
        first, last = int(chosen[0]) - size, int(chosen[-1]) + size + 1
        return work(features(shard.between(first, last).views[0]), chosen - first)

    return sum_over(in_chunk, list(pairwise(int(edge) for edge in edges)))


def _pair_sums(
    shard: Block, state: None, features: WindowFeatures, size: int
) -> tuple[tuple[FloatArray, tuple[FloatArray, ...], int], None]:
    """Return the products of past and future, the squares of past, now and future, and the number of windows."""

    def work(rows: Any, at: NDArray[np.intp]) -> tuple[FloatArray, tuple[FloatArray, ...], int]:
        past, future = _stacked(rows, at, range(-1, -size - 1, -1)), _stacked(rows, at, range(1, size + 1))
        products = past.T @ future
        squares = tuple(column_sums(view * view) for view in (past, rows[at], future))
        return np.asarray(products.toarray() if is_sparse(products) else products), squares, int(at.size)

    return _in_chunks(shard, size, work, features), None


def _triple_sums(
    shard: Block, state: None, features: WindowFeatures, size: int, W1: FloatArray, W2: FloatArray
) -> tuple[FloatArray, None]:
    """Return the products of now with whitened past times whitened future, F x K^2."""

    def work(rows: Any, at: NDArray[np.intp]) -> FloatArray:
        past = _stacked(rows, at, range(-1, -size - 1, -1)) @ W1.T
        future = _stacked(rows, at, range(1, size + 1)) @ W2.T
        both = (past[:, :, None] * future[:, None, :]).reshape(at.size, past.shape[1] * future.shape[1])
        return np.asarray(rows[at].T @ both)

    return _in_chunks(shard, size, work, features), None


def window_population(
    distribution: FloatArray, transitions: FloatArray, emissions: FloatArray, size: int = 1
) -> ThreeViews:
    """Return what the moments of windows tend to.

    Parameters
    ----------
    distribution, transitions
        Of the state at the first row of the past, and from a state to the next.
    emissions
        F x K, the means of the features in each state.
    size
        w.
    """
    backward_states = np.eye(distribution.size)  # the state at the row, to the states before it
    weights = distribution @ np.linalg.matrix_power(transitions, size)
    past, future = [], []
    forward_states = np.eye(distribution.size)
    for offset in range(1, size + 1):
        before = distribution @ np.linalg.matrix_power(transitions, size - offset)
        to_now = before @ transitions
        reverse = (before[:, None] * transitions / np.maximum(to_now, 1e-300)).T  # p(state before | state)
        backward_states = backward_states @ reverse
        forward_states = forward_states @ transitions
        past.append(emissions @ backward_states.T)
        future.append(emissions @ forward_states.T)
    return three_views_population(weights, np.vstack(past), np.vstack(future), emissions)
