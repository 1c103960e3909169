"""Counts times a number."""

from dataclasses import dataclass

from polyad.engine.blocks import Block
from polyad.engine.sources.arrays import gathered
from polyad.engine.sources.source import Derived, Source


@dataclass(frozen=True, eq=False, repr=False)
class Scaled(Derived):
    """A source of one view of counts, every count and length times the same number."""

    factor: float

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
