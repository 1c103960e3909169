"""Keys of documents by what is in them, and the canonical order they give."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled
from polyad.engine.blocks import Block, is_sparse
from polyad.engine.runners import rows
from polyad.engine.sources import Source

SCATTER = np.uint64(0x9E3779B97F4A7C15)  # an odd number near 2^64 / golden ratio: close keys end up far apart
SPREAD_ROWS = 1 << 20  # keys moved apart together, so that a corpus of any size takes little more than its keys


def row_cells(block: Block) -> NDArray[np.int64]:
    """Return the stored cells of every row of a block, in all views."""
    return np.sum([_cells(view) for view in block.views], axis=0, dtype=np.int64)


def _cells(view: Any) -> NDArray[np.integer[Any]]:
    return np.diff(view.indptr) if is_sparse(view) else np.full(view.shape[0], view.shape[1], np.int64)


def keys_and_cells(block: Block) -> NDArray[Any]:
    """Return the key of every row of a block, and its stored cells in each view, as one small record."""
    found = np.empty(block.n_rows, [("key", np.uint64), ("cells", np.int32, (len(block.views),))])
    found["key"] = row_keys(block)
    for number, view in enumerate(block.views):
        found["cells"][:, number] = _cells(view)
    return found


def content_keys(source: Source) -> NDArray[np.uint64]:
    """Return for every row a number that equal rows share, and others all but never do."""
    return rows(row_keys, source)


def row_keys(block: Block) -> NDArray[np.uint64]:
    """Return the keys of the rows of a block; each row is summed by itself, in the order of its columns."""
    keys = np.zeros(block.n_rows, np.uint64)
    for number, view in enumerate(block.views):
        keys = keys * SCATTER + (_count_keys(number, view) if is_sparse(view) else _value_keys(number, view))
    return keys * SCATTER


def _count_keys(number: int, view: Any) -> NDArray[np.uint64]:
    sums: NDArray[np.float64] = view @ _word_weights(number, view.shape[1])
    return sums.view(np.uint64)


def _value_keys(number: int, view: FloatArray) -> NDArray[np.uint64]:
    """Return keys of measurements, by the bits of each: whole numbers, which add up to the same in any order."""
    keys: NDArray[np.uint64] = _added_bits(
        np.ascontiguousarray(view).view(np.uint64), _column_weights(number, view.shape[1]), SCATTER
    )
    return keys


@compiled
def _added_bits(cells, weights, scatter):  # type: ignore[no-untyped-def]
    N, M = cells.shape
    infinite, nan = np.uint64(0x7FF0000000000000), np.uint64(0x7FF8000000000000)
    without_sign = np.uint64(0x7FFFFFFFFFFFFFFF)
    keys = np.empty(N, np.uint64)
    for n in range(N):
        key = np.uint64(0)
        for m in range(M):
            bits = cells[n, m]
            if bits & without_sign == 0:  # one zero, and one NaN
                bits = np.uint64(0)
            elif bits & without_sign > infinite:
                bits = nan
            bits = (bits ^ (bits >> np.uint64(32))) * scatter
            bits ^= bits >> np.uint64(29)
            key += bits * weights[m]
        keys[n] = key
    return keys


@cache
def _word_weights(view: int, n_words: int) -> FloatArray:
    """Return numbers that the words of a view always have, however many words come after them."""
    return np.random.default_rng(view).random(n_words)


@cache
def _column_weights(view: int, n_columns: int) -> NDArray[np.uint64]:
    """Return odd numbers that the columns of a view always have."""
    return np.random.default_rng(view).integers(0, 1 << 63, n_columns, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def canonical_order(keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return the row numbers in the canonical order."""
    order = np.argsort(keys)
    ordered = keys[order]
    if (ordered[1:] != ordered[:-1]).all():
        return order
    return np.argsort(_spread_out(keys), kind="stable")


def _spread_out(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Move equal keys apart, the first by nothing, the second by one step and so on: which is which does not matter."""
    order = np.argsort(keys, kind="stable")
    spread = np.empty_like(keys)
    before, start = None, 0  # the last key so far, and where in the order its copies begin
    for first in range(0, keys.size, SPREAD_ROWS):
        chosen = order[first : first + SPREAD_ROWS]
        ordered = keys[chosen]
        places = np.arange(first, first + chosen.size)
        is_new = np.concatenate([[ordered[0] != before], ordered[1:] != ordered[:-1]])
        starts = np.where(is_new, places, 0)
        starts[0] = first if is_new[0] else start
        np.maximum.accumulate(starts, out=starts)
        copy = (places - starts).astype(np.uint64)
        spread[chosen] = ordered + copy * SCATTER  # steps of the golden ratio fill a circle evenly
        before, start = ordered[-1], int(starts[-1])
    return spread
