"""Arrays with one row per word or per document, gone through piece by piece."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray

CHUNK_ROWS = 1 << 10
CHUNK_CELLS = 1 << 17  # likewise, of arrays with columns: few columns want long chunks

UsedColumns = slice | NDArray[np.intp]


def chunks(n_rows: int, longest: int = CHUNK_ROWS) -> Iterator[slice]:
    """Cut a number of rows into an even number of equal slices whose products stay in the cache."""
    n_chunks = 2 * -(-max(n_rows, 1) // (2 * longest))
    edges = [n_rows * chunk // n_chunks for chunk in range(n_chunks + 1)]
    return (slice(first, last) for first, last in pairwise(edges))


def used_columns(whitener: FloatArray) -> UsedColumns:
    """Return the columns that are not zero throughout: as a slice where that is all of them, which copies nothing."""
    used = np.flatnonzero(whitener.any(axis=0))
    return slice(None) if used.size == whitener.shape[1] else used


def subtract_diagonal(products: FloatArray, diagonal: FloatArray, columns: FloatArray) -> FloatArray:
    """Return ``products - diag(diagonal) columns``, in place and piece by piece.

    Memory that is new to the process costs more than the arithmetic: whole arrays in between would take as long as
    the pass that made the products.
    """
    for rows in _chunks_of(products):
        products[rows] -= diagonal[rows, None] * columns[rows]
    return products


def subtract_outer(products: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Return ``products - left right'``, in place and piece by piece."""
    for rows in _chunks_of(products):
        products[rows] -= left[rows, None] * right
    return products


def _chunks_of(products: FloatArray) -> Iterator[slice]:
    return chunks(products.shape[0], max(CHUNK_CELLS // max(products.shape[1], 1), 1))
