"""What a source is, and what is made of another source."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyad.engine.blocks import Block


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

    def row_numbers(self) -> NDArray[np.int64] | None:
        """Return the number that each row had in the input; None where rows come as they were given."""
        return None

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
class Derived(Source):
    """Rows that are made of those of another source when a shard is asked for; by default with its shards and columns.

    Attributes
    ----------
    source
        Where the rows come from.
    """

    source: Source

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers at which the shards begin, and the number of all rows."""
        return self.source.edges

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each view."""
        return self.source.widths

    @property
    def n_cells(self) -> int:
        """Stored cells of all views, or more where they have not been counted."""
        return self.source.n_cells

    @property
    def in_memory(self) -> bool:
        """Shards are made when they are asked for."""
        return False

    def announce(self, number: int, /) -> None:
        """Tell the source that a shard will be asked for soon."""
        self.source.announce(number)


@dataclass(frozen=True, eq=False, repr=False)
class Fewer(Derived):
    """Some of the cells of another source, which are counted shard by shard."""

    @property
    def n_cells(self) -> int:
        """Stored cells of all views."""
        return sum(self.shard(number).n_cells for number in range(self.n_shards))
