"""Which languages texts are in: those whose function words they have most of.

A word that many languages have (de, la, no) says little about any, so that each counts by one over the number of lists
it is in. Ordinary text gets .13 to .35 by that, words of no language (names, codes) less than .03.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyad.corpus.corpus import map_columns
from polyad.corpus.words.function_words import function_words, listed_languages
from polyad.corpus.words.languages import language_name
from polyad.corpus.words.tokens import TextOptions, split_words

LEAST_SHARE = 0.05  # of its words, weighted: below it a text is a list, code, or in a language that no list is of
LEAST_WORDS = 2  # different ones of a language
LEAST_DOCUMENTS = 0.05  # of all documents that make another language one to tell of
DOCUMENTS_AT_ONCE = 10_000
CLEARLY = 2.5  # times as much of its own words than of the first language's: neighbours share half of theirs


@dataclass(frozen=True)
class Language:
    """A language of texts."""

    name: str  # its English name, or its code where there is none
    code: str  # its code of two letters
    # The share of function words in its documents, each weighted by one over the number of languages that have it.
    share: float
    rows: NDArray[np.intp]  # the documents in it


@dataclass(frozen=True)
class Listed:
    """Documents by the words that some language lists, block after block, as often as they are asked for."""

    terms: tuple[str, ...]  # those of the words that occur, sorted
    # Gives the blocks: the counts of these words, and the lengths of the documents in all words.
    blocks: Callable[[], Iterator[tuple[csr_array, NDArray[np.int64]]]]


def is_listed(term: str) -> bool:
    """Tell whether some language lists a word."""
    return term in _lists()[1]


def listed_counts(terms: Sequence[str], counts: csr_array) -> Listed:
    """Return the documents of a matrix of counts by the words that some language lists."""
    kept = sorted(filter(is_listed, terms))
    number = {term: column for column, term in enumerate(kept)}
    columns = np.fromiter((number.get(term, -1) for term in terms), np.int64, len(terms))

    def blocks() -> Iterator[tuple[csr_array, NDArray[np.int64]]]:
        for start in range(0, counts.shape[0], DOCUMENTS_AT_ONCE):
            some = csr_array(counts[start : start + DOCUMENTS_AT_ONCE])
            yield map_columns(some, columns, len(kept)), row_lengths(some)

    return Listed(tuple(kept), blocks)


def row_lengths(counts: csr_array) -> NDArray[np.int64]:
    """Return the number of words of each document."""
    return np.asarray(counts.sum(axis=1, dtype=np.int64)).ravel()


def languages_of(terms: Sequence[str], counts: csr_array) -> list[Language]:
    """Tell the languages of documents, given the counts of their words; see :func:`languages_in`.

    Examples
    --------
    >>> counts = csr_array([[1, 1, 2, 0, 0, 0], [0, 0, 0, 3, 1, 1]])
    >>> terms = ["le", "cette", "dans", "though", "the", "would"]
    >>> [language.name for language in languages_of(terms, counts)]
    ['english', 'french']
    """
    return languages_in(listed_counts(terms, counts))


def languages_in(listed: Listed) -> list[Language]:
    """Tell the languages of documents: that of most documents first.

    Another is one of them only where at least a twentieth of the documents are clearly in it, and have two words of it
    or more that are none of the first: the Czech for "rides" is the German for "every". All documents are looked at,
    and their order does not matter: sums are rounded once.
    """
    weights, codes = _weights(listed.terms)
    totals = np.zeros(len(listed.terms))
    for counts, _ in listed.blocks():
        totals += np.bincount(counts.indices, weights=counts.data, minlength=len(totals))
    # A made-up word can be a function word of some language by chance, and be frequent; hardly two of them.
    n_words = np.bincount(weights[totals > 0].indices, minlength=len(codes))
    overall = np.where(n_words >= LEAST_WORDS, totals @ weights, 0.0)
    if not overall.any():
        return []
    first = int(overall.argmax())
    best, own, of_first, lengths, used = _scored(listed, weights, overall)
    lists = weights.toarray() > 0
    found = []
    for number in np.unique(best[own > 0]).tolist():
        rows = np.flatnonzero((best == number) & (own > 0))
        enough = rows.size >= LEAST_DOCUMENTS * (own > 0).sum()
        only_there = used[number] & lists[:, number] & ~lists[:, first]
        if number == first or only_there.sum() < LEAST_WORDS or not enough:
            continue
        for_it, for_first = fsum(own[rows]), fsum(of_first[rows])
        share = for_it / float(lengths[rows].sum())
        if for_it >= CLEARLY * for_first and share >= LEAST_SHARE:
            found.append(Language(language_name(codes[number]), codes[number], share, rows))
    others = np.concatenate([language.rows for language in found]) if found else np.empty(0, np.intp)
    rows = np.setdiff1d(np.arange(lengths.size), others)
    share = fsum(of_first[rows]) / max(float(lengths[rows].sum()), 1.0)
    if share >= LEAST_SHARE:
        found.append(Language(language_name(codes[first]), codes[first], share, rows))
    return sorted(found, key=lambda language: (-language.rows.size, language.name))


def _scored(
    listed: Listed, weights: csr_array, overall: NDArray[np.float64]
) -> tuple[NDArray[np.int16], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return for each document the best language, what speaks for it and for the first one, and its length.

    A short document has words of several languages; that all documents have much of one of them speaks for that one.
    The last that is returned are the words in documents of each language, languages x words.
    """
    parts, first, prior = [], int(overall.argmax()), np.sqrt(overall)
    used = np.zeros(weights.shape[::-1], dtype=np.bool_)
    for counts, lengths in listed.blocks():
        scores = np.asarray((counts.astype(np.float64) @ weights).todense())
        best = (scores * prior).argmax(axis=1)
        own = np.take_along_axis(scores, best[:, None], 1)[:, 0]
        used[np.repeat(best, np.diff(counts.indptr)), counts.indices] = True
        parts.append((best.astype(np.int16), own, scores[:, first].copy(), lengths))
    bests, owns, of_firsts, all_lengths = zip(*parts)
    return np.concatenate(bests), np.concatenate(owns), np.concatenate(of_firsts), np.concatenate(all_lengths), used


def guess_language(texts: Iterable[str]) -> Language | None:
    """Guess the language of texts; None where the function words of no language make up enough of them.

    Examples
    --------
    >>> guess_language(["Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura"]).name
    'italian'
    >>> guess_language(["x1 y2 z3"]) is None
    True
    """
    terms, counts = counted_texts(texts)
    return next(iter(languages_of(terms, counts)), None)


def counted_texts(texts: Iterable[str]) -> tuple[list[str], csr_array]:
    """Count all words of texts."""
    options = TextOptions(min_length=2)
    counted = [Counter(split_words(text, options)) for text in texts]
    terms = sorted(set().union(*counted))
    number = {term: at for at, term in enumerate(terms)}
    columns = [number[term] for document in counted for term in document]
    values = [count for document in counted for count in document.values()]
    ends = np.concatenate([[0], np.cumsum([len(document) for document in counted], dtype=np.int64)])
    return terms, csr_array((values, columns, ends), shape=(len(counted), len(terms)), dtype=np.int64)


def _weights(terms: Sequence[str]) -> tuple[csr_array, list[str]]:
    """Return what each term says for each language, terms x languages, and the codes of the languages."""
    codes, of_word = _lists()
    rows = [at for at, term in enumerate(terms) for _ in of_word.get(term, ())]
    columns = [number for term in terms for number in of_word.get(term, ())]
    values = [1.0 / len(of_word[terms[at]]) for at in rows]
    return csr_array((values, (rows, columns)), shape=(len(terms), len(codes))), codes


@lru_cache(maxsize=1)
def _lists() -> tuple[list[str], dict[str, tuple[int, ...]]]:
    """Return the codes of all languages, and for every word the numbers of those that have it."""
    try:
        codes = listed_languages()
    except ImportError as error:
        raise ValueError(
            "the language of text is found by the lists of the package stopwordsiso; install it with: "
            "pip install 'polyad[cli]', or say which stop words to drop (stop_words='none' for no words)."
        ) from error
    of_word: dict[str, Any] = {}
    for number, code in enumerate(codes):
        for word in function_words(code):
            of_word.setdefault(word, []).append(number)
    return codes, {word: tuple(numbers) for word, numbers in of_word.items()}
