"""Shards in memory."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.engine.blocks import Block, document_lengths, fits_one_shard, is_sparse, joined, shard_edges
from polyad.engine.sources.source import Source


@dataclass(frozen=True, eq=False, repr=False)
class Arrays(Source):
    """Shards that lie in memory.

    Attributes
    ----------
    shards
        The shards.
    n_columns_of_views
        Columns of each view.
    """

    shards: tuple[Block, ...]
    n_columns_of_views: tuple[int, ...]

    @cached_property
    def edges(self) -> tuple[int, ...]:  # asked for several times in every pass
        """The row numbers at which the shards begin, and the number of all rows."""
        return (*(shard.start for shard in self.shards), self.shards[-1].start + self.shards[-1].n_rows)

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each view."""
        return self.n_columns_of_views

    @property
    def n_cells(self) -> int:
        """Stored cells of all views."""
        return sum(shard.n_cells for shard in self.shards)

    @property
    def in_memory(self) -> bool:
        """Always."""
        return True

    def shard(self, number: int, /) -> Block:
        """Return a shard."""
        return self.shards[number]


def arrays_of(parts: Sequence[Any]) -> Arrays:
    """Return checked rows of one view, in one array or in several under each other, as shards in memory.

    A shard that lies in one part is a view of it; others are copies.
    """
    if len(parts) == 1 and not is_sparse(parts[0]) and fits_one_shard(parts[0].size, parts[0].shape[0]):
        return Arrays((Block((parts[0],), (None,)),), (int(parts[0].shape[1]),))
    blocks, start = [], 0
    for part in parts:
        if part.shape[0]:
            lengths = document_lengths(part) if is_sparse(part) else None
            blocks.append(Block((part,), (lengths,), start))
            start += part.shape[0]
    before = np.concatenate([[0], np.cumsum(np.concatenate([cells_of_rows(block.rows) for block in blocks]))])
    edges = shard_edges(before)
    shards = tuple(joined(_pieces(blocks, first, last)) for first, last in itertools.pairwise(edges))
    return Arrays(shards, (int(parts[0].shape[1]),))


def cells_of_rows(rows: Any) -> NDArray[np.int64]:
    """Return the number of stored cells in each row."""
    if is_sparse(rows):
        return np.diff(rows.indptr).astype(np.int64)
    return np.full(rows.shape[0], rows.shape[1], dtype=np.int64)


def _pieces(blocks: Sequence[Block], first: int, last: int) -> list[Block]:
    """Return what of consecutive blocks lies between two row numbers."""
    found = []
    for block in blocks:
        begin, end = max(first, block.start), min(last, block.start + block.n_rows)
        if begin < end:
            found.append(block.between(begin - block.start, end - block.start))
    return found


def gathered(source: Source) -> Arrays:
    """Return the shards of a source in memory, so that nothing is made again for every pass."""
    return Arrays(tuple(source.shard(number) for number in range(source.n_shards)), source.widths)


def resident(source: Source) -> Source:
    """Return a source of one shard, which always fits, with its rows read into memory; others as they are."""
    if source.n_shards != 1 or source.in_memory:
        return source
    shard = source.shard(0)
    return Arrays((rows_of_block(shard, np.arange(shard.n_rows), shard.start),), source.widths)


def rows_of_block(block: Block, chosen: NDArray[np.intp], start: int = 0) -> Block:
    """Return some rows of a block, by their numbers in it."""
    return Block(
        # Of dense rows several times as fast as an index.
        tuple(view[chosen] if is_sparse(view) else np.take(view, chosen, axis=0) for view in block.views),
        tuple(None if tokens is None else tokens[chosen] for tokens in block.lengths),
        start,
    )
