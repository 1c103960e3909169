"""Data as they come, checked once on the way in and turned into sources."""

import itertools
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.engine.blocks import canonical_rows, fits_one_shard, is_sparse
from polyad.engine.disk.spool import spooled
from polyad.engine.disk.temporary import in_temporary_folder
from polyad.engine.inputs import is_annotated, is_bags, is_lazy_frame, matrix_of, refuse_document, refuse_listed_pairs
from polyad.engine.sources import Source, arrays_of

LARGEST_COUNT = 1 << 40
CHECK_CELLS = 1 << 20  # cells looked at together, so that the check needs no second copy of the data


class FractionalCountsWarning(UserWarning):
    """Counts are not whole numbers."""


def count_blocks(X: Any, *, name: str = "X") -> Source:
    """Return documents x words counts as a source.

    Parameters
    ----------
    X
        A CSR/CSC (or any other) sparse matrix or array, a dense array, a DataFrame, an object with such
        ``counts``, an iterable of any of these with the same columns, or a source, which is returned as it is. What
        comes from an iterable that is no list and no tuple is kept in memory up to the size of a shard, and on disk,
        in a temporary folder, when there is more; it may be one that can be read only once. See also
        :func:`polyad.engine.inputs.matrix_of`.
    name
        What messages call it.

    Raises
    ------
    ValueError
        Where X is empty or has a negative, infinite or missing count; the message names the first bad cell.

    Warns
    -----
    FractionalCountsWarning
        Where a count is not a whole number; the message names the first such cell.

    Examples
    --------
    >>> count_blocks([[2, 0, 1], [0, 3, 0]]).shape
    (2, 3)
    >>> count_blocks([[1, -2]])
    Traceback (most recent call last):
    ...
    ValueError: Negative values in data: X has the count -2 at row 0, column 1. Counts are whole numbers from 0 up.
    """
    return _as_source(
        matrix_of(X, name=name), partial(checked_counts, name=name, fractions=Fractions()), "counts", name
    )


def signal_blocks(X: Any, *, name: str = "X") -> Source:
    """Return samples x channels measurements as a source of dense rows.

    Parameters
    ----------
    X
        A dense array, a sparse matrix, a DataFrame, an iterable of these with the same columns, or a source; where
        iterables are kept is as for :func:`count_blocks`.
    name
        What messages call it.

    Examples
    --------
    >>> signal_blocks([[0.5, -1.0]]).shape
    (1, 2)
    >>> signal_blocks([[0.5, float("nan")]])
    Traceback (most recent call last):
    ...
    ValueError: X has the value nan at row 0, column 1. Remove or impute missing and infinite values first.
    """
    return _as_source(matrix_of(X, name=name), partial(checked_signals, name=name), "measurements", name)


def _as_source(X: Any, check: Any, kind: str, name: str) -> Source:
    if isinstance(X, Source):
        _refuse_other_kind(X, kind, name)
        return X
    if kind == "counts":
        refuse_listed_pairs(X, name)
    if not is_parts(X):
        return arrays_of([check(X, 0)])
    parts = _same_columns(_checked_parts(X, check, name), name)
    if isinstance(X, list | tuple):
        return _in_memory(parts, name)
    return _wherever_they_fit(parts, name)


def _in_memory(parts: Iterable[Any], name: str) -> Source:
    parts = list(parts)
    if not any(part.shape[0] for part in parts):
        raise ValueError(f"{name} is an empty sequence of blocks: there is not one document to learn from.")
    return arrays_of(parts)


def _wherever_they_fit(parts: Iterator[Any], name: str) -> Source:
    """Return parts that come one after the other: in memory up to one shard, and more on disk."""
    kept: deque[Any] = deque()
    n_cells = n_rows = 0
    for part in parts:
        kept.append(part)
        n_cells += part.nnz if is_sparse(part) else part.size
        n_rows += part.shape[0]
        if not fits_one_shard(n_cells, n_rows):
            return _on_disk(itertools.chain(_emptied(kept), parts))
    return _in_memory(kept, name)


def _on_disk(parts: Iterable[Any]) -> Source:
    return in_temporary_folder(lambda folder: spooled(parts, folder / "spool"))


def _emptied(kept: deque[Any]) -> Iterator[Any]:
    """Yield parts and let go of them."""
    while kept:
        yield kept.popleft()


def _same_columns(parts: Iterable[Any], name: str) -> Iterator[Any]:
    columns: set[int] = set()
    for part in parts:
        columns.add(int(part.shape[1]))
        if len(columns) > 1:
            raise ValueError(f"The blocks of {name} have different numbers of columns: {sorted(columns)}.")
        yield part


def _refuse_other_kind(source: Source, kind: str, name: str) -> None:
    views = source.shard(0).views
    if len(views) != 1:
        raise ValueError(f"{name} is a source of {len(views)} views; give one of a single view.")
    if is_sparse(views[0]) != (kind == "counts"):
        found = "counts" if is_sparse(views[0]) else "measurements"
        raise ValueError(f"{name} is a source of {found}, and {kind} are needed.")


def _checked_parts(parts: Iterable[Any], check: Any, name: str) -> Iterator[Any]:
    """Yield the parts of some data, checked; a message counts rows from the first part."""
    start = 0
    for part in parts:
        refuse_document(part, name)
        checked = check(matrix_of(part, name=name), start, may_be_empty=True)
        start += checked.shape[0]
        yield checked


def is_parts(X: Any) -> bool:
    """Tell a sequence of blocks from one matrix; a list of lists of numbers is a matrix."""
    if is_sparse(X) or hasattr(X, "__array__") or hasattr(X, "__dataframe__") or isinstance(X, str):
        return False
    if is_annotated(X) or is_lazy_frame(X) or is_bags(X):
        return False
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(is_sparse(part) or np.ndim(part) == 2 for part in map(matrix_of, X))
    return hasattr(X, "__iter__")


class Fractions:
    """Warns of the first fractional count of some data, and of no other."""

    def __init__(self) -> None:
        self._warned = False

    def found(self, value: float, where: str, name: str) -> None:
        """Take note of a fractional count."""
        if self._warned:
            return
        self._warned = True
        warn_caller(
            f"{name} has the fractional count {value:g} {where}. Counts are whole numbers from 0 up; fractions are "
            "taken as expected counts, of so many tokens; where they are less than 1 on average, topics are learned "
            "from them as from proportions in documents of 100 tokens. Tf-idf weights and proportions say less than "
            "the raw counts they come from: give these where you have them.",
            FractionalCountsWarning,
        )


def checked_counts(
    X: Any, start: int = 0, *, may_be_empty: bool = False, name: str = "X", fractions: Fractions | None = None
) -> sparse.csr_array:
    """Return counts as a canonical CSR array (float64, 32-bit indices up to 2^31 cells), or say which cell is bad.

    Nothing is copied where X is canonical already.
    """
    X = _two_dimensional(X, "documents x words", may_be_empty, name)
    rows = sparse.csr_array(X)
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    fractions = Fractions() if fractions is None else fractions
    for first in range(0, data.size, CHECK_CELLS):
        bad = _first_bad_count(data[first : first + CHECK_CELLS])
        if bad is not None:
            row = start + int(np.searchsorted(indptr, first + bad, side="right")) - 1
            where = f"at row {row}, column {int(indices[first + bad])}"
            _refuse_bad_count(data[first + bad], where, name)
            fractions.found(float(data[first + bad]), where, name)
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
    return canonical_rows(rows.data, rows.indices.astype(np.int32), rows.indptr, rows.shape[1])


def checked_signals(X: Any, start: int = 0, *, may_be_empty: bool = False, name: str = "X") -> FloatArray:
    """Return measurements as a dense float64 array, row by row in memory, or say which cell is bad."""
    X = X.toarray() if is_sparse(X) else X
    # In one order of memory: sums of columns round by it.
    values = np.ascontiguousarray(_two_dimensional(X, "samples x channels", may_be_empty, name), dtype=np.float64)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"{name} has the value {values[row, column]} at row {start + row}, column {column}. "
            "Remove or impute missing and infinite values first."
        )
    return values


def _two_dimensional(X: Any, meaning: str, may_be_empty: bool, name: str) -> Any:
    if not is_sparse(X):
        X = _as_real(_array_of(X, meaning, name), name)
    elif X.dtype.kind not in "biuf":
        X = X.copy()
        X.data = _as_real(X.data, name)
    if X.ndim != 2:
        raise ValueError(f"{name} has {X.ndim} dimension(s); expected two: {meaning}. Reshape your data.")
    for size, what in zip(X.shape, ("sample(s)", "feature(s)")):
        if size == 0 and not (may_be_empty and what == "sample(s)"):
            raise ValueError(
                f"{name} is empty: 0 {what} (shape={X.shape}) while a minimum of 1 is required ({meaning})."
            )
    return X


def _array_of(X: Any, meaning: str, name: str) -> NDArray[Any]:
    """Return an array of what is no sparse one; what a table of pandas has no value for is NaN."""
    try:
        values = np.asarray(X)
        is_table = values.dtype.kind == "O" and hasattr(X, "iloc") and hasattr(X, "to_numpy")
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(
            f"{name} has rows of different lengths; expected as many numbers in each: {meaning}."
        ) from None
    if is_table and X.isna().to_numpy().any():
        with suppress(TypeError, ValueError):  # a message names what is no number
            return np.asarray(X.to_numpy(dtype=np.float64, na_value=np.nan))
    return values


def _as_real(data: NDArray[Any], name: str) -> NDArray[Any]:
    """Return real numbers; an array of objects is read as numbers where all of them are."""
    if data.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has dtype {data.dtype}; expected real numbers.")
    if data.dtype.kind == "O":
        try:
            return data.astype(np.float64)
        except (TypeError, ValueError) as error:
            texts = any(isinstance(value, str) for value in data.flat)
            advice = " Words of texts are counted first, with sklearn's CountVectorizer." if texts else ""
            raise type(error)(f"{name} has dtype object and is not made of numbers: {error}.{advice}") from None
    if data.dtype.kind not in "biuf":
        raise ValueError(f"{name} has dtype {data.dtype}; expected real numbers. Convert it first.")
    if data.dtype == np.float16:  # which sparse arrays do not know
        return data.astype(np.float32)
    return data


def _first_bad_count(data: NDArray[Any]) -> int | None:
    """Return the place of the first cell that is no count at all, otherwise of the first fractional one."""
    if data.dtype.kind in "biu" and data.min() >= 0 and data.max() <= LARGEST_COUNT:
        return None
    bad = ~((data >= 0) & (data <= LARGEST_COUNT))  # also NaN, which is not larger than anything
    if not bad.any() and data.dtype.kind == "f":
        bad = np.floor(data) != data
    return int(bad.argmax()) if bad.any() else None


def _refuse_bad_count(value: Any, where: str, name: str) -> None:
    """Say why a cell is no count; a fraction is one."""
    if np.isnan(value):
        raise ValueError(f"{name} has a missing count (NaN) {where}. Counts are whole numbers from 0 up.")
    if np.isinf(value):
        raise ValueError(f"{name} has an infinite count {where}. Counts are whole numbers from 0 up.")
    if value < 0:
        raise ValueError(
            f"Negative values in data: {name} has the count {value:g} {where}. Counts are whole numbers from 0 up."
        )
    if value > LARGEST_COUNT:
        raise ValueError(
            f"{name} has the count {value:g} {where}, larger than {LARGEST_COUNT:,}: sums over documents would not be "
            "exact."
        )
