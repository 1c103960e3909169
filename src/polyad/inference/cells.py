"""A corpus in the layout of the compiled loops: by document and by word."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.inference.kernels import padded

RANGE_CELLS = 1 << 15  # cells of a range: many times more ranges than threads, each long enough to be worth a call

Range = tuple[int, int]


@dataclass(frozen=True)
class Cells:
    """The non-zero cells of some documents.

    Attributes
    ----------
    shape
        Documents and words.
    indptr, words, counts
        The cells by document.
    document_ranges
        Ranges of documents with about the same number of cells; they depend on the data alone.
    """

    shape: tuple[int, int]
    indptr: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[np.float32]
    document_ranges: list[Range]


@dataclass(frozen=True)
class WordIndex:
    """The same cells by word.

    Attributes
    ----------
    indptr, documents, cells
        For each word its documents, and the places of its cells in the order by document.
    ranges
        Ranges of words with about the same number of cells.
    """

    indptr: NDArray[np.int64]
    documents: NDArray[np.int32]
    cells: NDArray[np.integer[Any]]
    ranges: list[Range]


def cells_of(counts: sparse.csr_array) -> Cells:
    """Return the cells of a canonical CSR array of counts (:func:`polyad.engine.count_blocks` makes one)."""
    indptr = counts.indptr.astype(np.int64)
    return Cells(
        shape=counts.shape,
        indptr=indptr,
        words=counts.indices.astype(np.int32, copy=False),
        counts=counts.data.astype(np.float32),
        document_ranges=even_ranges(indptr),
    )


def index_words(cells: Cells) -> WordIndex:
    """Return the cells by word."""
    n_documents, n_words = cells.shape
    n_cells = cells.words.size
    small = n_cells < np.iinfo(np.int32).max  # SciPy widens all indices to the widest: twice the memory
    pointers = cells.indptr.astype(np.int32) if small else cells.indptr
    places: NDArray[Any] = np.arange(n_cells, dtype=np.int32 if small else np.int64)
    by_document: Any = sparse.csr_array((places, cells.words, pointers), shape=(n_documents, n_words))
    by_word = by_document.tocsc()
    indptr = by_word.indptr.astype(np.int64)
    return WordIndex(indptr, by_word.indices.astype(np.int32, copy=False), by_word.data, even_ranges(indptr))


def even_ranges(indptr: NDArray[np.int64]) -> list[Range]:
    """Cut rows into ranges of about the same number of cells, by the data alone."""
    ranges, first, n_rows = [], 0, indptr.size - 1
    while first < n_rows:
        last = int(np.searchsorted(indptr, indptr[first] + RANGE_CELLS, side="right")) - 1
        last = min(max(last, first + 1), n_rows)
        ranges.append((first, last))
        first = last
    return ranges


def topic_table(components: NDArray[Any]) -> NDArray[np.float32]:
    """Return topics as a words x K table with K padded by zeros."""
    K, M = components.shape
    table = np.zeros((M, padded(K)), np.float32)
    table[:, :K] = components.T
    return table


def padded_vector(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return a value for each topic, padded by zeros."""
    vector = np.zeros(padded(values.size), np.float32)
    vector[: values.size] = values
    return vector
