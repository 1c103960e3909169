"""Consecutive rows of the data, and where they are cut."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.base.arrays import FloatArray

BLOCK_CELLS = 1 << 17  # stored cells in a block: smaller ones lie in the cache, but adding up their sums costs more
BLOCK_ROWS = 1 << 12
SHARD_CELLS = 1 << 24  # in a shard, a row without any counting as one: some 200 MB of counts


@dataclass(frozen=True)
class Block:
    """Consecutive rows of the data: of one view, or the same rows of several aligned ones.

    A shard is a large block, the unit of a task and of reading; a pass goes over its small :attr:`blocks`.

    Attributes
    ----------
    views
        The rows of each view: a canonical CSR array of counts, or a dense array, of float64.
    lengths
        For each view of counts the tokens of every row, over all words of the data, also where ``views`` hold some of
        the words only; None for a view of measurements.
    start
        The number of the first row in the whole data.
    """

    views: tuple[Any, ...]
    lengths: tuple[FloatArray | None, ...]
    start: int = 0

    @property
    def rows(self) -> Any:
        """The rows of the one view."""
        (rows,) = self.views
        return rows

    @cached_property
    def columns(self) -> Any:
        """The rows of the one view of counts, transposed: in the same memory, and kept for the next pass."""
        rows = self.rows
        columns: Any = sparse.csc_array(rows.shape[::-1], dtype=rows.dtype)
        # Set one by one, as in canonical_rows: SciPy's own transposition copies the cells of a block.
        columns.data, columns.indices, columns.indptr = rows.data, rows.indices, rows.indptr
        columns.has_canonical_format = True
        return columns

    @property
    def tokens(self) -> FloatArray:
        """The tokens of every row of the one view, which holds counts."""
        (tokens,) = self.lengths
        if tokens is None:
            raise ValueError("Measurements have no tokens: give counts.")
        return tokens

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self.views[0].shape[0])

    @property
    def n_cells(self) -> int:
        """Stored cells of all views."""
        return sum(int(view.nnz if is_sparse(view) else view.size) for view in self.views)

    @cached_property
    def blocks(self) -> "tuple[Block, ...]":
        """The same rows in small blocks, cut by what is in them alone.

        They are views of the same memory, and are kept: those of data in memory are cut once for all passes.
        """
        edges = sorted(set[int]().union(*(block_edges(view) for view in self.views)))
        if len(edges) == 2:  # not the shard itself: it would hold itself, and a file it lies in would stay open
            return (Block(self.views, self.lengths, self.start),)
        return tuple(self.between(first, last) for first, last in itertools.pairwise(edges))

    def between(self, first: int, last: int) -> "Block":
        """Return rows first to last, without copying them."""
        if (first, last) == (0, self.n_rows):
            return self
        return Block(
            tuple(rows_between(view, first, last) for view in self.views),
            tuple(None if lengths is None else lengths[first:last] for lengths in self.lengths),
            self.start + first,
        )

    def __reduce__(self) -> tuple[type["Block"], tuple[Any, ...]]:
        """Travel without the cut blocks, which would hold every cell once more."""
        return Block, (self.views, self.lengths, self.start)


def is_sparse(rows: Any) -> bool:
    """Tell a sparse array or matrix; a plain answer, which does not narrow the type."""
    return bool(sparse.issparse(rows))


def count_block(rows: sparse.csr_array, start: int = 0) -> Block:
    """Return counts as a block, with the lengths of its documents."""
    return Block((rows,), (document_lengths(rows),), start)


def document_lengths(rows: sparse.csr_array) -> FloatArray:
    """Return the tokens of every row."""
    return np.asarray(rows.sum(axis=1), dtype=np.float64).ravel()


def block_edges(rows: Any) -> set[int]:
    """Return where rows are cut into blocks: by the data alone, never by the number of threads.

    The blocks have about the same size, and there is an even number of them, so that threads end together.
    """
    n_rows = rows.shape[0]
    total = int(rows.indptr[-1] - rows.indptr[0]) if is_sparse(rows) else rows.size
    if total <= BLOCK_CELLS and n_rows <= BLOCK_ROWS:
        return {0, int(n_rows)}
    n_blocks = 2 * max(-(-total // (2 * BLOCK_CELLS)), -(-n_rows // (2 * BLOCK_ROWS)))
    targets = np.linspace(0, total, n_blocks + 1)[1:-1]
    cuts = np.unique(np.concatenate([[0], _rows_with_cells(rows, targets), [n_rows]]))
    edges = {int(n_rows)}
    for first, last in itertools.pairwise(int(cut) for cut in cuts):
        edges.update(range(first, last, BLOCK_ROWS))  # rows without cells make no cuts of their own
    return edges


def _rows_with_cells(rows: Any, targets: FloatArray) -> NDArray[Any]:
    """Return the first row numbers before which there are at least so many cells."""
    if is_sparse(rows):
        return np.searchsorted(rows.indptr, rows.indptr[0] + targets)
    return -(-targets // max(rows.shape[1], 1))


def shard_edges(cells_before: NDArray[np.integer[Any]]) -> tuple[int, ...]:
    """Return the row numbers at which data are cut into shards, given the cells before each row and in all, N + 1.

    The cuts depend on the numbers of cells of all rows and on nothing else: one array, the same rows in parts and
    the same rows on disk are cut at the same places. There is one shard, or an even number of about the same size.
    """
    n_rows = cells_before.size - 1
    before = np.arange(n_rows + 1, dtype=np.int64)
    before += cells_before
    before -= cells_before[0]
    total = int(before[-1])
    n_shards = 1 if fits_one_shard(total - n_rows, n_rows) else 2 * -(-total // (2 * SHARD_CELLS))
    targets = np.linspace(0, total, n_shards + 1)[1:-1]
    return tuple(int(edge) for edge in np.unique(np.concatenate([[0], np.searchsorted(before, targets), [n_rows]])))


def fits_one_shard(n_cells: int, n_rows: int) -> bool:
    """Tell whether rows with so many cells are not cut into shards."""
    return n_cells + n_rows <= SHARD_CELLS


def rows_between(rows: Any, first: int, last: int) -> Any:
    """Return rows first to last without copying their cells."""
    if not is_sparse(rows):
        return rows[first:last]
    begin, end = rows.indptr[first], rows.indptr[last]
    indptr = rows.indptr[first : last + 1] - begin
    return canonical_rows(rows.data[begin:end], rows.indices[begin:end], indptr, rows.shape[1])


def canonical_rows(
    data: FloatArray, indices: NDArray[np.integer[Any]], indptr: NDArray[np.integer[Any]], n_columns: int
) -> sparse.csr_array:
    """Return a CSR array of parts known to be canonical, without a copy or a look at every cell."""
    rows: Any = sparse.csr_array((indptr.size - 1, n_columns), dtype=np.float64)
    # Set one by one: the constructor copies an array that is less than half of another one.
    rows.data, rows.indices = data, indices
    rows.indptr = indptr.astype(np.int32, copy=False) if indptr[-1] <= np.iinfo(np.int32).max else indptr
    rows.has_canonical_format = True
    canonical: sparse.csr_array = rows
    return canonical


def stacked_rows(parts: list[Any]) -> Any:
    """Return parts of a view as one array; a copy, unless there is one part only."""
    if len(parts) == 1:
        return parts[0]
    if not is_sparse(parts[0]):
        return np.vstack(parts)
    stacked = sparse.csr_array(sparse.vstack(parts, format="csr"))
    stacked.has_canonical_format = True
    return stacked


def beside_each_other(views: Sequence[sparse.csr_array]) -> sparse.csr_array:
    """Return views of counts as one, their columns numbered on; a copy, unless there is one view only."""
    if len(views) == 1:
        return views[0]
    beside = sparse.csr_array(sparse.hstack(views, format="csr"))
    beside.has_canonical_format = True
    return beside


def sum_of_lengths(lengths: Sequence[FloatArray | None]) -> FloatArray:
    """Return the tokens of every row in several views of counts together."""
    together = np.zeros(0)
    for number, tokens in enumerate(lengths):
        if tokens is None:
            raise ValueError("Measurements have no tokens: give counts.")
        together = tokens if number == 0 else together + tokens
    return together


def joined(blocks: Iterator[Block] | list[Block]) -> Block:
    """Return consecutive blocks as one."""
    blocks = list(blocks)
    if len(blocks) == 1:
        return blocks[0]
    views = tuple(stacked_rows(list(parts)) for parts in zip(*(block.views for block in blocks)))
    lengths = tuple(
        None if parts[0] is None else np.concatenate(parts) for parts in zip(*(block.lengths for block in blocks))
    )
    return Block(views, lengths, blocks[0].start)
