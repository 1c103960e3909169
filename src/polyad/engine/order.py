"""An order of documents that depends on what is in them, and not on where they stand."""

import numpy as np
from numpy.typing import NDArray

from polyad.engine.blocks import Block, Blocks
from polyad.engine.passes import Runner

SCATTER = np.uint64(0x9E3779B97F4A7C15)  # an odd number near 2^64 / golden ratio: close keys end up far apart


def ordered_by_content(blocks: Blocks, run: Runner) -> Blocks:
    """Return counts with their rows in an order that any order of the same rows would give.

    Sums of rounded numbers depend on the order in which they are added; with the rows put in the same order first,
    the same documents give the same bytes however they come. The order is as good as random: neighbours have nothing
    in common, and equal documents are spread out evenly. It copies the counts into one part, in memory wherever they
    come from.

    Examples
    --------
    >>> from polyad.engine import Serial, count_blocks
    >>> rows = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1]])
    >>> one, other = (ordered_by_content(count_blocks(X), Serial()) for X in (rows, rows[::-1]))
    >>> [bool((a.rows != b.rows).nnz) for a, b in zip(one, other)]
    [False]
    """
    rows = blocks.stacked()
    keys = content_keys(Blocks([rows], blocks.shape), run)  # of what was read just now: a source may change
    return Blocks([rows[np.argsort(_spread_out(keys), kind="stable")]], blocks.shape)


def content_keys(blocks: Blocks, run: Runner) -> NDArray[np.uint64]:
    """Return for every row of counts a number that equal rows share, and others all but never do."""
    n_rows, n_columns = blocks.shape
    weights = np.random.default_rng(0).random(n_columns)
    keys = np.empty(n_rows)

    def weigh(block: Block) -> None:
        keys[block.slice] = block.rows @ weights  # each row is summed by itself, in the order of its columns

    run.each(weigh, blocks)
    return keys.view(np.uint64) * SCATTER


def _spread_out(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Move equal keys apart, the first by nothing, the second by one step and so on: which is which does not matter."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    copy = np.arange(keys.size) - np.repeat(starts, np.diff(np.append(starts, keys.size)))
    spread = np.empty_like(keys)
    spread[order] = ordered + copy.astype(np.uint64) * SCATTER  # steps of the golden ratio fill a circle evenly
    return spread
