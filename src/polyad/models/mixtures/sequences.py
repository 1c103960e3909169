"""Sequences as they come, checked once on the way in: hmmlearn's (X, lengths), or a list of sequences."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.base.plurals import how_many
from polyad.engine import Source, count_blocks, signal_blocks
from polyad.engine.blocks import canonical_rows, is_sparse

COUNTS = ("categorical", "multinomial", "poisson")
MOST_SYMBOLS = 1 << 24


def checked_sequences(
    X: Any, lengths: Any, emission: str, n_symbols: int | None = None
) -> tuple[Source, NDArray[np.int64]]:
    """Return the rows of all sequences as a source, and the number of rows of each.

    Parameters
    ----------
    X, lengths
        Rows under each other and the number of rows of each sequence (None for one sequence), or a list of sequences.
    emission
        What rows are: symbols from 0 up ("categorical"), counts ("multinomial", "poisson") or values ("gaussian").
    n_symbols
        Symbols that are known; None for as many as there are.
    """
    if isinstance(X, str | bytes | os.PathLike):
        raise ValueError(f"X is {X!r}, a text or a path; give the rows of sequences, an array or a list of arrays.")
    if lengths is not None and _is_list_of_tables(X):
        raise ValueError(
            "X is a list of sequences, which have their own lengths, and lengths is given as well: give the list "
            "alone, or the rows of all sequences under each other."
        )
    if lengths is None and not isinstance(X, Source) and is_list_of_sequences(X, emission):
        parts = [_rows(part, emission) for part in X]
        _refuse_unlike(parts)
        lengths = [part.shape[0] for part in parts]
        X = sparse.vstack(parts, format="csr") if is_sparse(parts[0]) else np.concatenate(parts)
    source = _source(X, emission, n_symbols)
    return source, _checked_lengths(lengths, source.n_rows)


def is_list_of_sequences(X: Any, emission: str) -> bool:
    """Tell a list of sequences from one nested list of rows."""
    if not isinstance(X, list | tuple) or len(X) == 0:
        return False
    if any(_is_array(part) for part in X):
        return True
    if emission == "categorical":
        return all(isinstance(part, list | tuple) for part in X) and any(len(part) != 1 for part in X)
    return all(isinstance(part, list | tuple) and (len(part) == 0 or np.ndim(part[0]) == 1) for part in X)


def _is_array(part: Any) -> bool:
    """Tell an array, a sparse array or a table from a list and from a number of NumPy."""
    return is_sparse(part) or (hasattr(part, "__array__") and len(getattr(part, "shape", ())) > 0)


def _is_list_of_tables(X: Any) -> bool:
    return isinstance(X, list | tuple) and any(_is_array(part) and len(part.shape) == 2 for part in X)


def _refuse_unlike(parts: Sequence[Any]) -> None:
    """Refuse sequences without a row, or of other columns than the first one."""
    for number, part in enumerate(parts):
        if part.shape[0] == 0:
            raise ValueError(f"Sequence {number} is empty: leave it out, or give it at least one row.")
        found, first = (
            how_many(one.shape[1], "columns") if one.ndim == 2 else "no columns" for one in (part, parts[0])
        )
        if part.shape[1:] != parts[0].shape[1:]:
            raise ValueError(f"Sequence {number} has {found}, and sequence 0 has {first}: they must be the same.")


def _rows(part: Any, emission: str) -> Any:
    if is_sparse(part):
        return part
    rows = np.asarray(part)
    return rows.reshape(-1) if emission == "categorical" and rows.ndim == 2 and rows.shape[1] == 1 else rows


def _source(X: Any, emission: str, n_symbols: int | None) -> Source:
    if isinstance(X, Source):
        return count_blocks(X) if emission in COUNTS else signal_blocks(X)
    if emission == "gaussian":
        return signal_blocks(_two_dimensional(X))
    if emission != "categorical":
        return count_blocks(_two_dimensional(X))
    if is_sparse(X):
        return _one_symbol_a_row(count_blocks(X))
    return count_blocks(_indicators(np.asarray(X), n_symbols))


def _two_dimensional(X: Any) -> Any:
    if is_sparse(X):
        return X
    values = np.asarray(X)
    return values[:, None] if values.ndim == 1 else values


def _one_symbol_a_row(source: Source) -> Source:
    for block in source:
        bad = np.flatnonzero((block.tokens != 1) | (np.diff(block.rows.indptr) != 1))
        if bad.size:
            row = block.start + int(bad[0])
            raise ValueError(f"Row {row} of X has {block.tokens[bad[0]]:g} symbols; a categorical row has one.")
    return source


def _indicators(symbols: NDArray[Any], n_symbols: int | None) -> sparse.csr_array:
    """Return symbols as rows with a single 1, or say which of them is none."""
    if symbols.ndim == 2 and symbols.shape[1] == 1:
        symbols = symbols[:, 0]
    if symbols.ndim != 1:
        raise ValueError(
            f"X has the shape {symbols.shape}; symbols are one column of whole numbers from 0 up. For rows of counts "
            'take emission="multinomial".'
        )
    if symbols.size == 0:
        raise ValueError("X is empty: it has not one row.")
    if symbols.dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {symbols.dtype}; symbols are whole numbers from 0 up. Number them first.")
    limit = MOST_SYMBOLS if n_symbols is None else n_symbols
    bad = ~((symbols >= 0) & (symbols == np.floor(symbols)) & (symbols < limit))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        value = symbols[row]
        if n_symbols is not None and value >= 0 and value == np.floor(value):
            raise ValueError(
                f"X has the symbol {value:g} at row {row}, and the model knows the symbols 0 to {n_symbols - 1}: "
                "leave such rows out, or fit with data that have it."
            )
        raise ValueError(f"X has the symbol {value} at row {row}; symbols are whole numbers from 0 up.")
    width = int(symbols.max()) + 1 if n_symbols is None else n_symbols
    n = symbols.size
    return canonical_rows(np.ones(n), symbols.astype(np.int32), np.arange(n + 1, dtype=np.int64), width)


def _checked_lengths(lengths: Any, n_rows: int) -> NDArray[np.int64]:
    if lengths is None:
        return np.array([n_rows], np.int64)
    listed = (
        lengths if isinstance(lengths, np.ndarray | Sequence) or not hasattr(lengths, "__iter__") else list(lengths)
    )
    sizes = np.asarray(listed)
    if sizes.ndim != 1 or sizes.size == 0 or sizes.dtype.kind not in "iu":
        raise ValueError(f"lengths is {lengths!r}; give the number of rows of each sequence, a list of whole numbers.")
    if sizes.min() < 1:
        number = int(np.flatnonzero(sizes < 1)[0])
        raise ValueError(f"lengths[{number}] is {sizes[number]}: every sequence has at least one row.")
    if sizes.sum() != n_rows:
        raise ValueError(f"lengths sum to {sizes.sum()}, and X has {n_rows} rows: they must be the same.")
    return sizes.astype(np.int64)
