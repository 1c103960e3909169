"""Where data live: sources of shards.

A source is small or in memory, can be sent to another process, and gives the same shards each time it is asked. The
shards of the same rows are the same wherever the rows lie.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.engine.blocks import (
    Block,
    beside_each_other,
    document_lengths,
    is_sparse,
    joined,
    shard_edges,
    sum_of_lengths,
)


class Source(ABC):
    """Rows of one view, or of several aligned views, in shards."""

    @property
    @abstractmethod
    def edges(self) -> tuple[int, ...]:
        """The row numbers at which the shards begin, and the number of all rows."""

    @property
    @abstractmethod
    def widths(self) -> tuple[int, ...]:
        """Columns of each view."""

    @property
    @abstractmethod
    def n_cells(self) -> int:
        """Stored cells of all views."""

    @property
    @abstractmethod
    def in_memory(self) -> bool:
        """Whether shards lie in this process, so that asking for one costs nothing."""

    @abstractmethod
    def shard(self, number: int, /) -> Block:
        """Return a shard."""

    def announce(self, number: int, /) -> None:  # noqa: B027  most sources have nothing to prepare
        """Tell that a shard will be asked for soon, so that reading overlaps with computing."""

    @property
    def n_rows(self) -> int:
        """Rows in all."""
        return self.edges[-1]

    @property
    def n_shards(self) -> int:
        """How many shards."""
        return len(self.edges) - 1

    @property
    def n_columns(self) -> int:
        """Columns of the one view."""
        (width,) = self.widths
        return width

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns of the one view."""
        return self.n_rows, self.n_columns

    @property
    def passes_are_dear(self) -> bool:
        """Whether an iterative method should do more work in fewer passes.

        That is so where data are more than one shard, which may have to be read again for every pass. Where the shards
        really lie must not matter: the same method on the same data gives the same bytes.
        """
        return self.n_shards > 1

    def __iter__(self) -> Iterator[Block]:
        """Yield the small blocks of all shards in their order."""
        for number in range(self.n_shards):
            yield from self.shard(number).blocks


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

    @property
    def edges(self) -> tuple[int, ...]:
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
    blocks, start = [], 0
    for part in parts:
        if part.shape[0]:
            lengths = document_lengths(part) if is_sparse(part) else None
            blocks.append(Block((part,), (lengths,), start))
            start += part.shape[0]
    before = np.concatenate([[0], np.cumsum(np.concatenate([_cells_of_rows(block.rows) for block in blocks]))])
    edges = shard_edges(before)
    shards = tuple(joined(_pieces(blocks, first, last)) for first, last in itertools.pairwise(edges))
    return Arrays(shards, (int(parts[0].shape[1]),))


def _cells_of_rows(rows: Any) -> NDArray[np.int64]:
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


@dataclass(frozen=True, eq=False, repr=False)
class Aligned(Source):
    """Several sources whose rows belong together, as one source with several views.

    Rows are cut into shards wherever one of the sources is.
    """

    sources: tuple[Source, ...]

    def __post_init__(self) -> None:
        rows = [source.n_rows for source in self.sources]
        if len(set(rows)) > 1:
            raise ValueError(
                f"The views have {', '.join(map(str, rows))} rows: they must have one row each for every sample, in "
                "the same order. Drop the samples that only some of them have."
            )

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers at which the shards begin, and the number of all rows."""
        return tuple(sorted(set[int]().union(*(source.edges for source in self.sources))))

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each view."""
        return tuple(width for source in self.sources for width in source.widths)

    @property
    def n_cells(self) -> int:
        """Stored cells of all views."""
        return sum(source.n_cells for source in self.sources)

    @property
    def in_memory(self) -> bool:
        """Whether all views lie in this process."""
        return all(source.in_memory for source in self.sources)

    def shard(self, number: int, /) -> Block:
        """Return a shard."""
        first, last = self.edges[number : number + 2]
        blocks = [_rows_of(source, first, last) for source in self.sources]
        views = tuple(view for block in blocks for view in block.views)
        return Block(views, tuple(lengths for block in blocks for lengths in block.lengths), first)


def _rows_of(source: Source, first: int, last: int) -> Block:
    """Return rows that lie in one shard of a source."""
    number = int(np.searchsorted(source.edges, first, side="right")) - 1
    shard = source.shard(number)
    return shard.between(first - shard.start, last - shard.start)


def aligned(*sources: Source) -> Source:
    """Return sources whose rows belong together as one; in memory where all of them are."""
    source = Aligned(tuple(sources))
    return gathered(source) if source.in_memory else source


def gathered(source: Source) -> Arrays:
    """Return the shards of a source in memory, so that nothing is made again for every pass."""
    return Arrays(tuple(source.shard(number) for number in range(source.n_shards)), source.widths)


@dataclass(frozen=True, eq=False, repr=False)
class View(Source):
    """One view of a source of several, in the shards of all of them."""

    source: Source
    number: int

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers at which the shards begin, and the number of all rows."""
        return self.source.edges

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of the view."""
        return (self.source.widths[self.number],)

    @property
    def n_cells(self) -> int:
        """Stored cells of the view."""
        return sum(self.shard(number).n_cells for number in range(self.n_shards))

    @property
    def in_memory(self) -> bool:
        """Whether the source lies in this process."""
        return self.source.in_memory

    def shard(self, number: int, /) -> Block:
        """Return a shard."""
        shard = self.source.shard(number)
        return Block((shard.views[self.number],), (shard.lengths[self.number],), shard.start)


def view_of(source: Source, number: int) -> Source:
    """Return one view of a source of several.

    Examples
    --------
    >>> from polyad.engine import count_blocks, signal_blocks
    >>> both = aligned(count_blocks([[1, 0], [0, 2]]), signal_blocks([[0.5], [1.5]]))
    >>> both.widths, view_of(both, 1).shape
    ((2, 1), (2, 1))
    """
    view = View(source, number)
    return gathered(view) if source.in_memory else view


def resident(source: Source) -> Source:
    """Return a source of one shard, which always fits, with its rows read into memory; others as they are."""
    if source.n_shards != 1 or source.in_memory:
        return source
    shard = source.shard(0)
    return Arrays((rows_of_block(shard, np.arange(shard.n_rows), shard.start),), source.widths)


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(Source):
    """The views of a source of counts in groups, those of a group side by side as one view.

    Attributes
    ----------
    source
        Counts in several views.
    groups
        The numbers of the views of each group.
    """

    source: Source
    groups: tuple[tuple[int, ...], ...]

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers at which the shards begin, and the number of all rows."""
        return self.source.edges

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each group."""
        return tuple(sum(self.source.widths[view] for view in group) for group in self.groups)

    @property
    def n_cells(self) -> int:
        """Stored cells of all views."""
        return self.source.n_cells

    @property
    def in_memory(self) -> bool:
        """Shards are made when they are asked for."""
        return False

    def shard(self, number: int, /) -> Block:
        """Return a shard."""
        shard = self.source.shard(number)
        views = tuple(beside_each_other([shard.views[view] for view in group]) for group in self.groups)
        lengths = tuple(sum_of_lengths([shard.lengths[view] for view in group]) for group in self.groups)
        return Block(views, lengths, shard.start)


def side_by_side(source: Source, groups: Sequence[Sequence[int]]) -> Source:
    """Return counts with the views of each group side by side; copied where the source is in memory.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> three = aligned(*(count_blocks(X) for X in ([[1, 0]], [[2]], [[0, 3]])))
    >>> block = side_by_side(three, [[0, 2], [1]]).shard(0)
    >>> [view.toarray().tolist() for view in block.views], block.lengths
    ([[[1.0, 0.0, 0.0, 3.0]], [[2.0]]], (array([4.]), array([2.])))
    """
    wanted = tuple(tuple(group) for group in groups)
    if wanted == tuple((view,) for view in range(len(source.widths))):
        return source
    beside = SideBySide(source, wanted)
    return gathered(beside) if source.in_memory else beside


@dataclass(frozen=True, eq=False, repr=False)
class Columns(Source):
    """Some columns of a source of one view; the lengths of its rows stay those over all columns."""

    source: Source
    chosen: NDArray[np.intp]

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers at which the shards begin, and the number of all rows."""
        return self.source.edges

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of the view."""
        return (int(self.chosen.size),)

    @property
    def n_cells(self) -> int:
        """Stored cells of these columns, or more where they have not been counted."""
        return self.source.n_cells

    @property
    def in_memory(self) -> bool:
        """Shards are made when they are asked for."""
        return False

    def shard(self, number: int, /) -> Block:
        """Return a shard."""
        shard = self.source.shard(number)
        return Block((shard.rows[:, self.chosen],), shard.lengths, shard.start)

    def announce(self, number: int, /) -> None:
        """Tell the source that a shard will be asked for soon."""
        self.source.announce(number)


def columns_of(source: Source, chosen: NDArray[np.intp]) -> Source:
    """Return some columns of a source of one view, given in increasing order; copied where the source is in memory.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> some = columns_of(count_blocks([[2, 0, 1], [0, 3, 0]]), np.array([0, 2]))
    >>> [block.rows.toarray().tolist() for block in some], some.shard(0).tokens
    ([[[2.0, 1.0], [0.0, 0.0]]], array([3., 3.]))
    """
    some = Columns(source, chosen)
    return gathered(some) if source.in_memory else some


@dataclass(frozen=True, eq=False, repr=False)
class Part(Source):
    """Consecutive rows of a source: whole shards, or rows of one of them.

    Attributes
    ----------
    source
        Where the rows lie.
    bounds
        For each shard of the part the number of the source's shard, and the first and the last of its rows.
    """

    source: Source
    bounds: tuple[tuple[int, int, int], ...]

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers, in the part, at which its shards begin, and the number of its rows."""
        return tuple(itertools.accumulate((last - first for _, first, last in self.bounds), initial=0))

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each view."""
        return self.source.widths

    @property
    def n_cells(self) -> int:
        """Stored cells of all views."""
        return sum(self.shard(number).n_cells for number in range(self.n_shards))

    @property
    def in_memory(self) -> bool:
        """Whether the source lies in this process."""
        return self.source.in_memory

    def shard(self, number: int, /) -> Block:
        """Return a shard."""
        place, first, last = self.bounds[number]
        rows = self.source.shard(place).between(first, last)
        return Block(rows.views, rows.lengths, self.edges[number])

    def announce(self, number: int, /) -> None:
        """Tell the source that a shard will be asked for soon."""
        self.source.announce(self.bounds[number][0])


def halves(source: Source) -> list[Source]:
    """Return the first and the second half of a source: whole shards, or the rows of one by its cells.

    In the canonical order of documents the two are alike. One row has no halves.
    """
    if source.n_rows < 2:
        return [source]
    if source.n_shards == 1:
        cut = _middle(source.shard(0))
        return [part_of(source, ((0, 0, cut),)), part_of(source, ((0, cut, source.n_rows),))]
    bounds = tuple((number, 0, int(size)) for number, size in enumerate(np.diff(source.edges)))
    cut = len(bounds) // 2
    return [part_of(source, bounds[:cut]), part_of(source, bounds[cut:])]


def _middle(shard: Block) -> int:
    """Return the row of a shard, but not the first, with half of the cells before it."""
    cells = np.cumsum(np.sum([_cells_of_rows(view) for view in shard.views], axis=0))
    return int(np.clip(np.searchsorted(np.concatenate([[0], cells]), cells[-1] / 2), 1, shard.n_rows - 1))


def part_of(source: Source, bounds: tuple[tuple[int, int, int], ...]) -> Source:
    """Return some rows of a source: see :class:`Part`."""
    part = Part(source, bounds)
    return gathered(part) if source.in_memory else part


def first_rows(source: Source, n_rows: int) -> Source:
    """Return the first rows of a source: in the canonical order of documents they are a sample of all.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> first_rows(count_blocks([[1], [2], [3]]), 2).n_rows
    2
    """
    bounds, left = [], min(n_rows, source.n_rows)
    for number, size in enumerate(np.diff(source.edges)):
        if left > 0:
            bounds.append((number, 0, min(int(size), left)))
            left -= int(size)
    return part_of(source, tuple(bounds))


@dataclass(frozen=True, eq=False, repr=False)
class Thinned(Source):
    """Every so manieth row of a source: those whose number leaves one of some remainders.

    Attributes
    ----------
    source
        Where the rows lie.
    period, remainders
        A row stays if its number divided by the period leaves one of the remainders.
    """

    source: Source
    period: int
    remainders: tuple[int, ...]

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers, among those that stay, at which the shards begin, and how many stay."""
        return self._shards[0]

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each view."""
        return self.source.widths

    @property
    def n_cells(self) -> int:
        """Stored cells of all views."""
        return sum(self.shard(number).n_cells for number in range(self.n_shards))

    @property
    def in_memory(self) -> bool:
        """Shards are made when they are asked for."""
        return False

    @cached_property
    def _shards(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The edges, and the numbers of the source's shards of which rows stay: those without any are left out."""
        before = [
            sum(max(0, -(-(edge - remainder) // self.period)) for remainder in self.remainders)
            for edge in self.source.edges
        ]
        kept = tuple(number for number, (first, last) in enumerate(itertools.pairwise(before)) if last > first)
        return (*(before[number] for number in kept), before[-1]), kept

    def shard(self, number: int, /) -> Block:
        """Return a shard."""
        edges, kept = self._shards
        shard = self.source.shard(kept[number])
        numbers = np.arange(shard.start, shard.start + shard.n_rows)
        staying = np.flatnonzero(np.isin(numbers % self.period, self.remainders))
        return rows_of_block(shard, staying, edges[number])


def every(source: Source, period: int, remainders: tuple[int, ...]) -> Source:
    """Return the rows whose number divided by a period leaves one of some remainders.

    In the canonical order of documents they are a sample that depends on nothing but the documents.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> every(count_blocks([[1], [2], [3], [4], [5]]), 3, (0, 1)).shard(0).rows.toarray().ravel()
    array([1., 2., 4., 5.])
    """
    thinned = Thinned(source, period, remainders)
    return gathered(thinned) if source.in_memory else thinned


def rows_of_block(block: Block, chosen: NDArray[np.intp], start: int = 0) -> Block:
    """Return some rows of a block, by their numbers in it."""
    return Block(
        tuple(view[chosen] for view in block.views),
        tuple(None if tokens is None else tokens[chosen] for tokens in block.lengths),
        start,
    )
