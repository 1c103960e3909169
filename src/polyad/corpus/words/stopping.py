"""Stop words by the texts themselves: of the languages that are found in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyad.corpus.words.detection import Language, languages_of, without_spaces
from polyad.corpus.words.function_words import function_words, is_curated
from polyad.corpus.words.languages import StopWords, load_stop_words
from polyad.engine.spread import expected_documents

__all__ = ["Stopping", "choose_stop_words", "evenness"]

EVEN = 0.65  # the least evenness of a stop word, where a list has content words in it that nobody has told apart


@dataclass(frozen=True)
class Stopping:
    """What the words of all documents tell.

    Parameters
    ----------
    stop_words : StopWords or None
        Those to drop; None where no language was found.
    languages : tuple of (str, int)
        The languages, and how many documents are in each; that of most documents first.
    """

    stop_words: StopWords | None = None
    languages: tuple[tuple[str, int], ...] = ()


def choose_stop_words(terms: Sequence[str], counts: csr_array) -> Stopping:
    """Find the languages of documents, and their function words.

    Where the list of a language is known to be of function words, all of it is dropped. Of other lists only the words
    that the documents of the language use evenly: words with a subject of their own come in a few documents, and there
    again and again.

    Examples
    --------
    >>> found = choose_stop_words(["the", "of", "rain", "this"], csr_array([[3, 2, 1, 1], [2, 1, 0, 0]]))
    >>> found.languages, "the" in found.stop_words.words
    ((('english', 2),), True)
    """
    script = without_spaces(list(terms[:20_000]))
    if script is not None:
        return Stopping(load_stop_words(script), ((script, counts.shape[0]),))
    languages = languages_of(terms, counts)
    if not languages:
        return Stopping()
    words = frozenset().union(*(_words_of(language, terms, counts) for language in languages))
    names = " and ".join(language.name for language in languages)
    return Stopping(
        StopWords(names, tuple(words)), tuple((language.name, language.rows.size) for language in languages)
    )


def evenness(counts: csr_array, columns: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return how evenly documents share some words, from near 0 to about 1.

    It is the number of documents that a word is in, over the number expected if its tokens fell on documents by their
    lengths alone.

    Examples
    --------
    >>> evenness(csr_array([[3, 6], [3, 0], [3, 0]]), np.arange(2)).round(2)
    array([1.13, 0.42])
    """
    totals = np.bincount(counts.indices, weights=counts.data, minlength=counts.shape[1])
    found = np.bincount(counts.indices, minlength=counts.shape[1])
    frequencies = totals[columns] / max(float(totals.sum()), 1.0)
    expected = expected_documents(np.asarray(counts.sum(axis=1)).ravel(), frequencies)
    return found[columns] / np.maximum(expected, 1e-300)


def _words_of(language: Language, terms: Sequence[str], counts: csr_array) -> frozenset[str]:
    listed = function_words(language.code)
    if is_curated(language.code):
        return listed
    columns = np.array([at for at, term in enumerate(terms) if term in listed], dtype=np.int64)
    even = evenness(csr_array(counts[language.rows]), columns)
    return listed - {terms[at] for at in columns[even < EVEN].tolist()}
