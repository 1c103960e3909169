"""Data cut into blocks of rows, checked once on the way in."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FloatArray: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = "sparse.csr_array | FloatArray"

BLOCK_CELLS = 1 << 17  # stored cells in a block: smaller ones lie in the cache, but adding up their sums costs more
BLOCK_ROWS = 1 << 12
LARGEST_COUNT = 1 << 40
CHECK_CELLS = 1 << 20  # cells looked at together, so that the check needs no second copy of the data


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive rows of the data: a CSR array of counts, or a dense array.

    Attributes
    ----------
    rows
        The rows, float64, with 32-bit column indices where sparse (and fewer than 2^31 cells).
    start
        The number of the first row in the whole data.
    """

    rows: Any
    start: int

    @property
    def slice(self) -> slice:
        """Where the block's rows stand in an array with one entry a row."""
        return slice(self.start, self.start + self.rows.shape[0])


class Blocks:
    """Data as blocks that can be gone over again and again.

    Iterating yields the same :class:`Block` objects in the same order each time.

    Parameters
    ----------
    parts
        A re-iterable of checked row groups, each a CSR array or a dense array.
    shape
        Rows and columns in all.
    """

    def __init__(self, parts: Iterable[Any], shape: tuple[int, int]) -> None:
        self._parts = parts
        self.shape = shape
        # Blocks of what lies in memory are views: made once, they spare every pass the cutting.
        self._cut = list(self._blocks()) if isinstance(parts, list) else None

    def __iter__(self) -> Iterator[Block]:
        return self._blocks() if self._cut is None else iter(self._cut)

    def _blocks(self) -> Iterator[Block]:
        start = 0
        for part in self._parts:
            for first, last in _cuts(part):
                yield Block(rows_between(part, first, last), start + first)
            start += part.shape[0]

    @property
    def parts(self) -> Iterable[Any]:
        """The row groups as they were given, before they are cut into blocks."""
        return self._parts

    def stacked(self) -> Any:
        """Return all rows as one array; a copy, unless they are one already."""
        parts = list(self._parts)
        if len(parts) == 1:
            return parts[0]
        return sparse.csr_array(sparse.vstack(parts, format="csr")) if _is_sparse(parts[0]) else np.vstack(parts)

    def columns(self, chosen: NDArray[np.intp]) -> "Blocks":
        """Return the data of some columns, given in increasing order.

        Examples
        --------
        >>> [block.rows.toarray().tolist() for block in count_blocks([[2, 0, 1], [0, 3, 0]]).columns(np.array([0, 2]))]
        [[[2.0, 1.0], [0.0, 0.0]]]
        """
        parts: Iterable[Any] = _ChosenColumns(self._parts, chosen)
        if isinstance(self._parts, list):
            parts = list(parts)
        return Blocks(parts, (self.shape[0], chosen.size))


class _ChosenColumns:
    """A re-iterable of parts of which only some columns are read."""

    def __init__(self, parts: Iterable[Any], chosen: NDArray[np.intp]) -> None:
        self._parts, self._chosen = parts, chosen

    def __iter__(self) -> Iterator[Any]:
        for part in self._parts:
            yield part[:, self._chosen]


class _CheckedParts:
    """A re-iterable of raw parts, each checked whenever it is read: it may come from disk, and change."""

    def __init__(self, source: Iterable[Any], check: Any) -> None:
        self._source, self._check = source, check

    def __iter__(self) -> Iterator[Any]:
        start = 0
        for part in self._source:
            checked = self._check(part, start, may_be_empty=True)
            start += checked.shape[0]
            yield checked


def count_blocks(X: Any) -> Blocks:
    """Return documents x words counts as blocks of CSR rows.

    Parameters
    ----------
    X
        A CSR/CSC (or any other) sparse matrix or array, a dense array, a DataFrame, an object with such
        ``counts``, or a re-iterable of any of these with the same columns.

    Raises
    ------
    ValueError
        Where X is empty or has a negative, fractional, infinite or missing count; the message names the first
        bad cell.

    Examples
    --------
    >>> blocks = count_blocks([[2, 0, 1], [0, 3, 0]])
    >>> blocks.shape
    (2, 3)
    >>> count_blocks([[1, -2]])
    Traceback (most recent call last):
    ...
    ValueError: Negative values in data: X has the count -2 at row 0, column 1. Counts are whole numbers from 0 up.
    """
    return _as_blocks(matrix_of(X), checked_counts)


def matrix_of(X: Any) -> Any:
    """Return the counts of a corpus, and anything else as it is; a table may have a column named "counts"."""
    is_matrix = hasattr(X, "__array__") or hasattr(X, "__dataframe__") or _is_sparse(X)
    return X if is_matrix else getattr(X, "counts", X)


def signal_blocks(X: Any) -> Blocks:
    """Return samples x channels measurements as blocks of dense rows.

    Parameters
    ----------
    X
        A dense array, a sparse matrix, a DataFrame, or a re-iterable of these with the same columns.

    Examples
    --------
    >>> signal_blocks([[0.5, -1.0]]).shape
    (1, 2)
    >>> signal_blocks([[0.5, float("nan")]])
    Traceback (most recent call last):
    ...
    ValueError: X has the value nan at row 0, column 1. Remove or impute missing and infinite values first.
    """
    return _as_blocks(X, _checked_signals)


def _as_blocks(X: Any, check: Any) -> Blocks:
    if not is_parts(X):
        part = check(X, 0)
        return Blocks([part], part.shape)
    if iter(X) is X:
        raise ValueError(
            "X is an iterator that can be read only once, and several passes are needed. "
            "Give a list of blocks, or an object whose __iter__ starts again."
        )
    parts: Iterable[Any] = _CheckedParts(X, check)
    if isinstance(X, list | tuple):
        parts = list(parts)  # in memory already: checked once
    n_rows, columns = 0, set()
    for part in parts:
        n_rows += part.shape[0]
        columns.add(part.shape[1])
    if n_rows == 0:
        raise ValueError("X is an empty sequence of blocks: there is not one document to learn from.")
    if len(columns) > 1:
        raise ValueError(f"The blocks of X have different numbers of columns: {sorted(columns)}.")
    return Blocks(parts, (n_rows, columns.pop()))


def is_parts(X: Any) -> bool:
    """Tell a sequence of blocks from one matrix; a list of lists of numbers is a matrix."""
    if _is_sparse(X) or hasattr(X, "__array__") or hasattr(X, "__dataframe__") or isinstance(X, str):
        return False
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(_is_sparse(part) or np.ndim(part) == 2 for part in X)
    return hasattr(X, "__iter__")


def checked_counts(X: Any, start: int = 0, *, may_be_empty: bool = False) -> sparse.csr_array:
    """Return counts as a canonical CSR array (float64, 32-bit indices up to 2^31 cells), or say which cell is bad.

    Nothing is copied where X is canonical already.
    """
    X = _two_dimensional(X, "documents x words", may_be_empty)
    rows = sparse.csr_array(X)
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    for first in range(0, data.size, CHECK_CELLS):
        _refuse_bad_counts(data[first : first + CHECK_CELLS], first, indices, indptr, start)
    data = data.astype(np.float64, copy=False)
    rows = sparse.csr_array((data, indices, indptr), shape=rows.shape)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.data.size and not rows.data.all():
        rows = rows.copy()
        rows.eliminate_zeros()
    return _with_short_indices(rows)


def _with_short_indices(rows: sparse.csr_array) -> sparse.csr_array:
    """Return canonical rows with 32-bit indices, for which products take less time, if these can count the cells."""
    if rows.indices.dtype == np.int32 or rows.nnz > np.iinfo(np.int32).max:
        return rows
    short = sparse.csr_array(rows.shape, dtype=rows.dtype)
    # Set one by one: the constructor widens all indices to the widest.
    short.data, short.indices, short.indptr = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    short.has_canonical_format = True
    return short


def _checked_signals(X: Any, start: int = 0, *, may_be_empty: bool = False) -> FloatArray:
    X = X.toarray() if _is_sparse(X) else X
    values = np.asarray(_two_dimensional(X, "samples x channels", may_be_empty)).astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"X has the value {values[row, column]} at row {start + row}, column {column}. "
            "Remove or impute missing and infinite values first."
        )
    return values


def _is_sparse(X: Any) -> bool:
    return bool(sparse.issparse(X))


def _two_dimensional(X: Any, meaning: str, may_be_empty: bool) -> Any:
    if not _is_sparse(X):
        X = _as_real(np.asarray(X))
    elif X.dtype.kind not in "biuf":
        X = X.copy()
        X.data = _as_real(X.data)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s); expected two: {meaning}. Reshape your data.")
    for size, what in zip(X.shape, ("sample(s)", "feature(s)")):
        if size == 0 and not (may_be_empty and what == "sample(s)"):
            raise ValueError(f"X is empty: 0 {what} (shape={X.shape}) while a minimum of 1 is required ({meaning}).")
    return X


def _as_real(data: NDArray[Any]) -> NDArray[Any]:
    """Return real numbers; an array of objects is read as numbers where all of them are."""
    if data.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X has dtype {data.dtype}; expected real numbers.")
    if data.dtype.kind == "O":
        try:
            return data.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"X has dtype object and is not made of numbers: {error}.") from None
    if data.dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {data.dtype}; expected real numbers. Convert it first.")
    return data


def _refuse_bad_counts(data: NDArray[Any], first: int, indices: NDArray[Any], indptr: NDArray[Any], start: int) -> None:
    """Look at the cells from ``first`` on; ``start`` is the number of the first row."""
    if data.dtype.kind in "biu" and data.min() >= 0 and data.max() <= LARGEST_COUNT:
        return
    bad = (data < 0) | (data > LARGEST_COUNT)
    if data.dtype.kind == "f":
        bad |= ~(np.floor(data) == data)  # NaN is not equal to itself
    if not bad.any():
        return
    position = int(np.flatnonzero(bad)[0])
    value = data[position]
    position += first
    column = int(indices[position])
    row = start + int(np.searchsorted(indptr, position, side="right")) - 1
    where = f"at row {row}, column {column}"
    if np.isnan(value):
        raise ValueError(f"X has a missing count (NaN) {where}. Counts are whole numbers from 0 up.")
    if np.isinf(value):
        raise ValueError(f"X has an infinite count {where}. Counts are whole numbers from 0 up.")
    if value < 0:
        raise ValueError(
            f"Negative values in data: X has the count {value:g} {where}. Counts are whole numbers from 0 up."
        )
    if value > LARGEST_COUNT:
        raise ValueError(
            f"X has the count {value:g} {where}, larger than {LARGEST_COUNT:,}: sums over documents would not be exact."
        )
    raise ValueError(
        f"X has the fractional count {value:g} {where}. Counts are whole numbers from 0 up: "
        "give raw word counts, not tf-idf weights or proportions."
    )


def _cuts(part: Any) -> Iterator[tuple[int, int]]:
    """Cut points that depend on the data alone, never on the number of threads.

    The blocks have about the same size, and there is an even number of them, so that threads end together.
    """
    n_rows = part.shape[0]
    cells = part.indptr if _is_sparse(part) else np.arange(n_rows + 1, dtype=np.int64) * part.shape[1]
    total = int(cells[-1] - cells[0])
    is_small = total <= BLOCK_CELLS and n_rows <= BLOCK_ROWS
    n_blocks = 1 if is_small else 2 * max(-(-total // (2 * BLOCK_CELLS)), -(-n_rows // (2 * BLOCK_ROWS)))
    targets = cells[0] + np.linspace(0, total, n_blocks + 1)
    cuts = np.unique(np.concatenate([[0], np.searchsorted(cells, targets[1:-1]), [n_rows]]))
    for first, last in itertools.pairwise(int(cut) for cut in cuts):
        for start in range(first, last, BLOCK_ROWS):  # rows without cells make none
            yield start, min(start + BLOCK_ROWS, last)


def rows_between(part: Any, first: int, last: int) -> Any:
    """Rows first to last without copying their cells."""
    if not _is_sparse(part):
        return part[first:last]
    begin, end = part.indptr[first], part.indptr[last]
    rows = sparse.csr_array((last - first, part.shape[1]), dtype=np.float64)
    # Set one by one: the constructor copies an array that is less than half of another one.
    rows.data, rows.indices = part.data[begin:end], part.indices[begin:end]
    indptr = part.indptr[first : last + 1] - begin
    rows.indptr = indptr.astype(np.int32) if indptr[-1] <= np.iinfo(np.int32).max else indptr
    rows.has_canonical_format = True  # cut from canonical rows; spares SciPy a check of every cell
    return rows
