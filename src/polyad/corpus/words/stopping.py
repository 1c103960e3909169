"""Stop words by the texts themselves: of the languages that are found in all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyad.corpus.words.detection import Language, Listed, languages_in, listed_counts, row_lengths
from polyad.corpus.words.function_words import function_words, is_curated
from polyad.corpus.words.languages import StopWords, load_stop_words
from polyad.corpus.words.scripts import count_scripts, script_of
from polyad.engine.spread import expected_documents

EVEN = 0.65  # the least evenness of a stop word, where a list has content words in it that nobody has told apart


@dataclass(frozen=True)
class Stopping:
    """What the words of all documents tell."""

    stop_words: StopWords | None = None  # those to drop; None where no language was found
    # The languages, and how many documents are in each; that of most documents first.
    languages: tuple[tuple[str, int], ...] = ()


def choose_stop_words(terms: Sequence[str], counts: csr_array) -> Stopping:
    """Find the languages of documents, and their function words; see :func:`stop_words_in`.

    Examples
    --------
    >>> found = choose_stop_words(["the", "of", "rain", "this"], csr_array([[3, 2, 1, 1], [2, 1, 0, 0]]))
    >>> found.languages, "the" in found.stop_words.words
    ((('english', 2),), True)
    """
    totals = np.bincount(counts.indices, weights=counts.data, minlength=len(terms)).astype(np.int64)
    return stop_words_in(listed_counts(terms, counts), count_scripts(terms, totals), counts.shape[0])


def stop_words_in(listed: Listed, scripts: NDArray[np.int64], n_documents: int) -> Stopping:
    """Find the languages of documents that may lie on disk, and their function words.

    Where the list of a language is known to be of function words, all of it is dropped. Of other lists only the words
    that the documents of the language use evenly: words with a subject of their own come in a few documents, and there
    again and again.

    Parameters
    ----------
    listed
        The documents, by the words that some language lists.
    scripts
        Their characters, from :func:`~polyad.corpus.words.scripts.count_scripts`.
    n_documents
        How many there are.
    """
    script = script_of(scripts)
    if script is not None:
        return Stopping(load_stop_words(script), ((script, n_documents),))
    languages = languages_in(listed)
    if not languages:
        return Stopping()
    words = frozenset().union(*(_words_of(language, listed) for language in languages))
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
    found, totals = _sums(counts)
    return _evenness(found[columns], totals[columns], row_lengths(counts))


def _sums(counts: csr_array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return in how many documents each word is, and how often."""
    M = counts.shape[1]
    found = np.bincount(counts.indices, minlength=M).astype(np.float64)
    return found, np.bincount(counts.indices, weights=counts.data, minlength=M).astype(np.float64)


def _evenness(
    found: NDArray[np.float64], totals: NDArray[np.float64], lengths: NDArray[np.int64]
) -> NDArray[np.float64]:
    expected = expected_documents(lengths, totals / max(float(lengths.sum()), 1.0))
    return found / np.maximum(expected, 1e-300)


def _words_of(language: Language, listed: Listed) -> frozenset[str]:
    words = function_words(language.code)
    if is_curated(language.code):
        return words
    M, start = len(listed.terms), 0
    found, totals, lengths = np.zeros(M), np.zeros(M), []
    for counts, in_all in listed.blocks():
        edges = np.searchsorted(language.rows, [start, start + in_all.size])
        rows = language.rows[edges[0] : edges[1]] - start
        in_documents, occurrences = _sums(csr_array(counts[rows]))
        found, totals = found + in_documents, totals + occurrences
        lengths.append(in_all[rows])
        start += in_all.size
    columns = np.array([at for at, term in enumerate(listed.terms) if term in words], dtype=np.int64)
    even = _evenness(found[columns], totals[columns], np.concatenate(lengths))
    return words - {listed.terms[at] for at in columns[even < EVEN].tolist()}
