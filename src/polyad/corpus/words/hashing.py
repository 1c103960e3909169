"""Columns in place of words: each word is counted in the column that its hash says, and no vocabulary is needed."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from scipy.sparse import csr_array

from polyad.corpus.corpus import map_columns
from polyad.corpus.words.languages import stem_terms


def hashed_column(term: str, n_columns: int) -> int:
    """Return the column of a word, or of a run of words: the same on every machine.

    Examples
    --------
    >>> hashed_column("rain", 1000), hashed_column("rain", 1000) == hashed_column("snow", 1000)
    (637, False)
    """
    raw = term.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(raw, digest_size=8).digest(), "little") % n_columns


def hashed_names(n_columns: int) -> tuple[str, ...]:
    """Return what the columns are called.

    Examples
    --------
    >>> hashed_names(3)
    ('#0', '#1', '#2')
    """
    return tuple(f"#{column}" for column in range(n_columns))


def hash_terms(
    terms: Sequence[str], counts: csr_array, n_columns: int, language: str | None
) -> tuple[list[str], csr_array]:
    """Add the counts of terms, or of their stems in a language, that share a column; return the names of these.

    Examples
    --------
    >>> names, counts = hash_terms(["rain", "snow"], csr_array([[1, 2]]), 1, None)
    >>> names, counts.toarray().tolist()
    (['#0'], [[3]])
    """
    keys = terms if language is None else stem_terms(terms, language)
    found = np.array([hashed_column(key, n_columns) for key in keys], np.int64)
    used, columns = np.unique(found, return_inverse=True)
    return [f"#{column}" for column in used.tolist()], map_columns(counts, columns, used.size)
