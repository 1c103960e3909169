"""Some rows of a source: consecutive ones, halves, or every n-th."""

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from polyad.engine.blocks import Block
from polyad.engine.sources.arrays import cells_of_rows, gathered, rows_of_block
from polyad.engine.sources.source import Fewer, Source


@dataclass(frozen=True, eq=False, repr=False)
class Part(Fewer):
    """Consecutive rows of a source: whole shards, or rows of one of them.

    Attributes
    ----------
    bounds
        For each shard of the part the number of the source's shard, and the first and the last of its rows.
    """

    bounds: tuple[tuple[int, int, int], ...]

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers, in the part, at which its shards begin, and the number of its rows."""
        return tuple(itertools.accumulate((last - first for _, first, last in self.bounds), initial=0))

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


def quarters(source: Source) -> list[Source]:
    """Return the halves of both halves of a source: see :func:`halves`.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> [quarter.n_rows for quarter in quarters(count_blocks([[1], [2], [3], [4], [5]]))]
    [2, 1, 1, 1]
    """
    return [quarter for half in halves(source) for quarter in halves(half)]


def _middle(shard: Block) -> int:
    """Return the row of a shard, but not the first, with half of the cells before it."""
    cells = np.cumsum(np.sum([cells_of_rows(view) for view in shard.views], axis=0))
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
class Chosen(Fewer):
    """Some rows of every shard of a source, each as often as it is chosen; shards of which none is are left out."""

    @abstractmethod
    def n_chosen_before(self) -> Sequence[int]:
        """Return how many rows are chosen before each edge of the source."""

    @abstractmethod
    def chosen_of(self, shard: Block) -> NDArray[np.intp]:
        """Return the rows of a shard that are chosen, by their numbers in it."""

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers, among those chosen, at which the shards begin, and how many are chosen."""
        return self._shards[0]

    @cached_property
    def _shards(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The edges, and the numbers of the source's shards that have rows here."""
        before = self.n_chosen_before()
        kept = tuple(number for number, (first, last) in enumerate(itertools.pairwise(before)) if last > first)
        return (*(before[number] for number in kept), before[-1]), kept

    def shard(self, number: int, /) -> Block:
        """Return a shard."""
        edges, kept = self._shards
        shard = self.source.shard(kept[number])
        return rows_of_block(shard, self.chosen_of(shard), edges[number])

    def announce(self, number: int, /) -> None:
        """Tell the source that a shard will be asked for soon."""
        self.source.announce(self._shards[1][number])


@dataclass(frozen=True, eq=False, repr=False)
class Thinned(Chosen):
    """Every n-th row of a source: those whose number leaves one of some remainders.

    Attributes
    ----------
    period, remainders
        A row stays if its number divided by the period leaves one of the remainders.
    """

    period: int
    remainders: tuple[int, ...]

    def n_chosen_before(self) -> Sequence[int]:
        """Return how many rows stay before each edge of the source."""
        return [
            sum(max(0, -(-(edge - remainder) // self.period)) for remainder in self.remainders)
            for edge in self.source.edges
        ]

    def chosen_of(self, shard: Block) -> NDArray[np.intp]:
        """Return the rows of a shard that stay."""
        if len(self.remainders) == 1:
            return np.arange((self.remainders[0] - shard.start) % self.period, shard.n_rows, self.period)
        numbers = np.arange(shard.start, shard.start + shard.n_rows)
        return np.flatnonzero(np.isin(numbers % self.period, self.remainders))


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
