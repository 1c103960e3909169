"""Chinese and Japanese, told by their characters: their words are not set apart by spaces."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

# Kana, Han and Hangul apart: Korean has spaces between its words.
_NO_SPACES = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF))
TERMS_AT_ONCE = 100_000
SAMPLE_CHARACTERS = 100_000


def count_scripts(terms: Sequence[str], totals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the characters of terms that occur so many times: kana, rare Han, Han, and letters of any script.

    The numbers of parts of a corpus add up to those of the whole.

    Examples
    --------
    >>> count_scripts(["我们", "rain"], np.array([3, 1])).tolist()
    [0, 0, 6, 10]
    """
    found = np.zeros(len(_NO_SPACES) + 1, np.int64)
    for start in range(0, len(terms), TERMS_AT_ONCE):
        some = terms[start : start + TERMS_AT_ONCE]
        codes = np.frombuffer("".join(some).encode("utf-32-le", "surrogatepass"), np.uint32)
        times = np.repeat(totals[start : start + TERMS_AT_ONCE], np.fromiter(map(len, some), np.int64, len(some)))
        n_occurrences = np.bincount(codes, times).astype(np.int64)
        letters = [code for code in np.flatnonzero(n_occurrences).tolist() if chr(code).isalpha()]
        in_scripts = [n_occurrences[first : last + 1].sum() for first, last in _NO_SPACES]
        found += np.array([*in_scripts, n_occurrences[letters].sum()], np.int64)
    return found


def script_of(found: NDArray[np.int64]) -> str | None:
    """Tell the language whose characters are at least half of all letters, from what :func:`count_scripts` gives.

    Examples
    --------
    >>> script_of(np.array([0, 0, 6, 10])), script_of(np.array([0, 0, 1, 10]))
    ('chinese', None)
    """
    *in_scripts, letters = found.tolist()
    if sum(in_scripts) < 0.5 * max(letters, 1):
        return None
    return "japanese" if in_scripts[0] > 0.1 * sum(in_scripts) else "chinese"


def without_spaces(texts: Iterable[str]) -> str | None:
    """Tell Chinese or Japanese by the first characters of texts.

    Examples
    --------
    >>> without_spaces(["我们的生活"]), without_spaces(["わたしの本"]), without_spaces(["text"])
    ('chinese', 'japanese', None)
    """
    return script_of(count_scripts(["".join(texts)[:SAMPLE_CHARACTERS]], np.ones(1, np.int64)))
