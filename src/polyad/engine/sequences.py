"""Sequences of rows as a source: whole sequences in every shard, in an order of their own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyad.engine.blocks import Block, shard_edges
from polyad.engine.order.canonical import taken_rows
from polyad.engine.order.keys import SCATTER, canonical_order, content_keys, row_cells
from polyad.engine.runners import rows
from polyad.engine.sources import Source, gathered


@dataclass(frozen=True, eq=False, repr=False)
class Sequences(Source):
    """Sequences of consecutive rows of a source; a shard holds whole ones.

    The second view of a shard, one column, is 1 in the first row of each sequence and 0 in all others. A pass that
    needs whole sequences is a step, which sees the whole shard; small blocks may begin anywhere.
    """

    source: Source  # the rows of all sequences, one view
    # The first row of each sequence, in the order of this source, and its number of rows.
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    cuts: tuple[int, ...]  # the numbers of the sequences at which shards begin, and that of all sequences

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers at which the shards begin, and the number of all rows."""
        before = np.concatenate([[0], np.cumsum(self.sizes)])
        return tuple(int(before[cut]) for cut in self.cuts)

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of the rows, and the column of marks."""
        return (*self.source.widths, 1)

    @property
    def n_cells(self) -> int:
        """Stored cells."""
        return self.source.n_cells + self.n_rows

    @property
    def in_memory(self) -> bool:
        """Shards are made when they are asked for."""
        return False

    def shard(self, number: int, /) -> Block:
        """Return a shard."""
        first, last = self.cuts[number : number + 2]
        starts, sizes = self.starts[first:last], self.sizes[first:last]
        begins = np.concatenate([[0], np.cumsum(sizes)])
        chosen = np.repeat(starts - begins[:-1], sizes) + np.arange(begins[-1])
        marks = np.zeros((int(begins[-1]), 1))
        marks[begins[:-1]] = 1.0
        block = taken_rows(self.source, chosen, self.edges[number])
        return Block((*block.views, marks), (*block.lengths, None), self.edges[number])


def sequences_of(source: Source, sizes: NDArray[np.int64], *, order: str = "content") -> Source:
    """Return the sequences that the rows of a source make.

    Parameters
    ----------
    source
        The rows, those of a sequence under each other.
    sizes
        The number of rows of each sequence.
    order
        "content" for an order that depends on what is in the sequences alone, "given" for theirs.

    Returns
    -------
    Source
        In memory where the rows are.

    Raises
    ------
    ValueError
        Where the rows are shards in another order than that in which they came.

    Examples
    --------
    >>> from polyad.engine import signal_blocks
    >>> shard = sequences_of(signal_blocks([[1.0], [2.0], [3.0]]), np.array([1, 2]), order="given").shard(0)
    >>> shard.views[0].ravel(), shard.views[1].ravel()
    (array([1., 2., 3.]), array([1., 1., 0.]))
    """
    _refuse_other_order(source, sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)
    if order == "content":
        chosen = canonical_order(_sequence_keys(content_keys(source), starts, sizes))
        starts, sizes = starts[chosen], sizes[chosen]
    cells = np.concatenate([[0], np.cumsum(rows(row_cells, source))])
    sequence_cells = cells[starts + sizes] - cells[starts] + 2 * sizes - 1  # with the marks, and each row as one
    cuts = shard_edges(np.concatenate([[0], np.cumsum(sequence_cells)]))
    found = Sequences(source, starts, np.asarray(sizes, np.int64), cuts)
    return gathered(found) if source.in_memory else found


def _refuse_other_order(source: Source, sizes: NDArray[np.int64]) -> None:
    numbers = source.row_numbers()
    if numbers is not None and (numbers[1:] < numbers[:-1]).any() and (sizes > 1).any():
        raise ValueError(
            "X is shards in the order of their contents, in which the rows of a sequence do not follow each other: "
            "write them as they come, write_shards(X, path, order='given')."
        )


def _sequence_keys(keys: NDArray[np.uint64], starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return for every sequence a number made of the keys of its rows and of their places."""
    places = np.arange(keys.size) - np.repeat(starts, sizes)
    weights = (places.astype(np.uint64) * SCATTER) ^ np.uint64(0xD1B54A32D192ED03)
    mixed = (keys ^ (keys >> np.uint64(31))) * (weights | np.uint64(1))
    return np.add.reduceat(mixed, starts) * SCATTER
