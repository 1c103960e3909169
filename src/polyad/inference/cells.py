"""A shard in the layout of the compiled loops: by document and by word."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.engine import Block
from polyad.engine.blocks import beside_each_other
from polyad.inference.kernels.topics import padded

RANGE_CELLS = 1 << 15  # cells of a range: many times more ranges than threads, each long enough to be worth a call
RANGE_ENTRIES = 1 << 19  # entries of a range in loops over tables of topics, which do little with each

Range = tuple[int, int]


@dataclass(frozen=True)
class Cells:
    """The non-zero cells of some documents, by document."""

    shape: tuple[int, int]  # documents and words; the words of several views are numbered on
    # The cells.
    indptr: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[np.float32]

    @property
    def ranges(self) -> list[Range]:
        """Ranges of documents with about the same number of cells; they depend on the data alone."""
        return even_ranges(self.indptr)


@dataclass(frozen=True)
class CellsByWord:
    """The same cells by word."""

    # For each word its documents, and the places of its cells in the order by document.
    indptr: NDArray[np.int64]
    documents: NDArray[np.int32]
    cells: NDArray[np.integer[Any]]

    @property
    def ranges(self) -> list[Range]:
        """Ranges of words with about the same number of cells."""
        return even_ranges(self.indptr)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array that cannot be written to.

    What compiled loops read may be a part of a file, or shared with other tasks. For them whether an array can be
    written to is a part of its type: with all of their input read-only they are compiled once, wherever it lies.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def all_read_only(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Return views of arrays that cannot be written to: those that come out of a pickle, as on a cluster, can be."""
    return [read_only(array) for array in arrays]


def cells_of(counts: sparse.csr_array) -> Cells:
    """Return the cells of a canonical CSR array of counts (:func:`polyad.engine.count_blocks` makes them)."""
    return Cells(
        shape=counts.shape,
        indptr=read_only(counts.indptr.astype(np.int64)),
        words=read_only(counts.indices.astype(np.int32, copy=False)),
        counts=read_only(counts.data.astype(np.float32)),
    )


def cells_of_block(block: Block) -> Cells:
    """Return the cells of a block of counts; those of several views side by side."""
    return cells_of(beside_each_other(block.views))


def by_word(cells: Cells) -> CellsByWord:
    """Return the cells by word."""
    n_cells = cells.words.size
    small = n_cells < np.iinfo(np.int32).max  # SciPy widens all indices to the widest: twice the memory
    pointers = cells.indptr.astype(np.int32) if small else cells.indptr
    places: NDArray[Any] = np.arange(n_cells, dtype=np.int32 if small else np.int64)
    turned: Any = sparse.csr_array((places, cells.words, pointers), shape=cells.shape).tocsc()
    documents = turned.indices.astype(np.int32, copy=False)
    return CellsByWord(*all_read_only(turned.indptr.astype(np.int64), documents, turned.data))


def even_ranges(indptr: NDArray[np.int64]) -> list[Range]:
    """Cut rows into ranges of about the same number of cells, by the data alone."""
    ranges, first, n_rows = [], 0, indptr.size - 1
    while first < n_rows:
        last = int(np.searchsorted(indptr, indptr[first] + RANGE_CELLS, side="right")) - 1
        last = min(max(last, first + 1), n_rows)
        ranges.append((first, last))
        first = last
    return ranges


def word_ranges(first: int, last: int, n_topics: int) -> list[Range]:
    """Cut the words from first to last into ranges of about the same number."""
    size = max(RANGE_ENTRIES // n_topics, 1)
    return [(start, min(start + size, last)) for start in range(first, last, size)]


def topic_table(components: NDArray[Any]) -> NDArray[np.float32]:
    """Return topics as a words x K table with K padded by zeros."""
    K, M = components.shape
    table = np.zeros((M, padded(K)), np.float32)
    table[:, :K] = components.T
    return read_only(table)


def padded_vector(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return a value for each topic, padded by zeros."""
    vector = np.zeros(padded(values.size), np.float32)
    vector[: values.size] = values
    return read_only(vector)
