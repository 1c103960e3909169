"""Counts times a number."""

from dataclasses import dataclass

from polyad.engine.blocks import Block
from polyad.engine.sources import Source, gathered


@dataclass(frozen=True, eq=False, repr=False)
class Scaled(Source):
    """A source of one view of counts, every count and length times the same number."""

    source: Source
    factor: float

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers at which the shards begin, and the number of all rows."""
        return self.source.edges

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of the view."""
        return self.source.widths

    @property
    def n_cells(self) -> int:
        """Stored cells."""
        return self.source.n_cells

    @property
    def in_memory(self) -> bool:
        """Shards are made when they are asked for."""
        return False

    def shard(self, number: int, /) -> Block:
        """Return a shard."""
        shard = self.source.shard(number)
        return Block((shard.rows * self.factor,), (shard.tokens * self.factor,), shard.start)


def scaled(source: Source, factor: float) -> Source:
    """Return counts times a number; copied where the source is in memory.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> scaled(count_blocks([[2, 0, 1]]), 10.0).shard(0).tokens
    array([30.])
    """
    by_factor = Scaled(source, factor)
    return gathered(by_factor) if source.in_memory else by_factor
