"""Views of the same rows: several sources as one, one of several, some columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyad.base.caller import warn_caller
from polyad.engine.blocks import Block, beside_each_other, sum_of_lengths
from polyad.engine.sources.arrays import gathered
from polyad.engine.sources.source import Derived, Fewer, Source

TOGETHER = (
    "Write the views to one folder, from sources in one order, and take each of them from there: shards = "
    "polyad.engine.write_shards(polyad.engine.aligned(*views), path), and polyad.engine.view_of(shards, number)."
)


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

    def announce(self, number: int, /) -> None:
        """Tell all sources that rows of one of their shards will be asked for soon."""
        for source in self.sources:
            source.announce(_shard_with(source, self.edges[number]))


def _shard_with(source: Source, row: int) -> int:
    """Return the number of the shard that a row lies in."""
    return int(np.searchsorted(source.edges, row, side="right")) - 1


def _rows_of(source: Source, first: int, last: int) -> Block:
    """Return rows that lie in one shard of a source."""
    shard = source.shard(_shard_with(source, first))
    return shard.between(first - shard.start, last - shard.start)


def aligned(*sources: Source) -> Source:
    """Return sources whose rows belong together as one; in memory where all of them are.

    Raises
    ------
    ValueError
        Where the rows of one come in another order than those of another, as in shards that were written one by one:
        each folder is in the order of its own contents.
    """
    source = Aligned(tuple(sources))
    _refuse_other_orders(sources)
    return gathered(source) if source.in_memory else source


def _refuse_other_orders(sources: Sequence[Source]) -> None:
    orders = [source.row_numbers() for source in sources]
    known = [(place, order) for place, order in enumerate(orders) if order is not None]
    for place, order in known[1:]:
        first, expected = known[0]
        if not np.array_equal(order, expected):
            raise ValueError(
                f"The rows of view {first} and view {place} do not belong together: shards are in the order of their "
                f"contents, which is another one for each of the two. {TOGETHER}"
            )


def warn_of_unknown_orders(sources: Sequence[Source]) -> None:
    """Warn of views beside shards, of which nobody knows whether they come in the order of the shards."""
    orders = [source.row_numbers() for source in sources]
    places = [place for place, order in enumerate(orders) if order is not None and not _is_in_turn(order)]
    others = [place for place, order in enumerate(orders) if order is None]
    if places and others:
        warn_caller(
            f"View {places[0]} is shards, in the order of their contents (row_numbers() tells it): the rows of view "
            f"{others[0]} must come in the same order, or they do not belong together. {TOGETHER}"
        )


def _is_in_turn(order: NDArray[np.int64]) -> bool:
    return bool((order[:-1] < order[1:]).all())


@dataclass(frozen=True, eq=False, repr=False)
class View(Fewer):
    """One view of a source of several, in the shards of all of them."""

    number: int

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of the view."""
        return (self.source.widths[self.number],)

    def row_numbers(self) -> NDArray[np.int64] | None:
        """Return the number that each row had in the input; None where rows come as they were given."""
        return self.source.row_numbers()

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


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(Derived):
    """The views of a source of counts in groups, those of a group side by side as one view.

    Attributes
    ----------
    groups
        The numbers of the views of each group.
    """

    groups: tuple[tuple[int, ...], ...]

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each group."""
        return tuple(sum(self.source.widths[view] for view in group) for group in self.groups)

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
class Columns(Derived):
    """Some columns of a source of one view; the lengths of its rows stay those over all columns."""

    chosen: NDArray[np.intp]

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of the view."""
        return (int(self.chosen.size),)

    def shard(self, number: int, /) -> Block:
        """Return a shard."""
        shard = self.source.shard(number)
        return Block((shard.rows[:, self.chosen],), shard.lengths, shard.start)


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
