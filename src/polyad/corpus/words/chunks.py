"""Counting the words of a chunk of texts: the inner loop, a pure function that may run in another process.

Splitting every text by the regular expression of a word is slow. Words never contain white space, so each text
is cut at white space only, pieces are numbered by a dictionary, and the expression sees each distinct piece once.
With the texts as rows of piece counts and the pieces as rows of word counts, the word counts are a product.
"""

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyad.corpus.words.hashing import hash_terms
from polyad.corpus.words.tokens import TextOptions, cut_pieces, drop_reason, words_of_piece

# The words of so many characters are in memory as texts at a time.
WINDOW = 1 << 18
_PLACES_TO_CUT = (re.compile(r"\s"), re.compile(r"\W"))


class Numbering(dict[str, int]):
    """Numbers strings in the order in which they are first asked for.

    Examples
    --------
    >>> numbers = Numbering()
    >>> [numbers[word] for word in ["b", "a", "b"]]
    [0, 1, 0]
    """

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


@dataclass(frozen=True)
class ChunkCounts:
    """The counts of a chunk of texts over the terms that occur in it."""

    terms: list[str]  # the words and n-grams, in order of the columns
    # The counts as the three arrays of a CSR matrix without duplicates, columns in no order.
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.int32]
    dropped: dict[str, dict[str, int]]  # for each reason, the dropped words and their numbers of occurrences


def count_chunk(texts: Sequence[str], options: TextOptions) -> ChunkCounts:
    """Count the words and n-grams of texts.

    Examples
    --------
    >>> chunk = count_chunk(["to be or not to be"], TextOptions(stop_words=["or"]))
    >>> sorted((chunk.terms[at], count) for at, count in zip(chunk.indices.tolist(), chunk.data.tolist()))
    [('be', 2), ('not', 1), ('to', 2)]
    >>> chunk.dropped
    {'stop words': {'or': 1}}
    """
    pieces, sequence, ends = _number_pieces(texts, options)
    words, spelling = _spell(pieces, options)
    totals = np.asarray(spelling.T @ np.bincount(sequence, minlength=len(pieces)).astype(np.int64))
    reason_of = drop_reason(options)
    reasons = [reason_of(word) for word in words]
    dropped: dict[str, dict[str, int]] = {}
    for word, reason, total in zip(words, reasons, [int(total) for total in totals]):
        if reason is not None:
            dropped.setdefault(reason, {})[word] = total
    kept = np.flatnonzero([reason is None for reason in reasons])
    spelling = csr_array(spelling[:, kept])
    words = [words[at] for at in kept]
    if options.ngrams == (1, 1):
        occurrences = csr_array((np.ones(len(sequence), np.int32), sequence, ends), shape=(len(texts), len(pieces)))
        counts = csr_array(occurrences @ spelling)
    else:
        words, counts = _count_ngrams(words, spelling, sequence, ends, options.ngrams)
        words, counts = _drop_stop_ngrams(words, counts, reason_of, dropped)
    if options.hashed is not None:
        words, counts = hash_terms(words, counts, options.hashed, options.stemming)
    return ChunkCounts(words, counts.indptr.astype(np.int64), counts.indices.astype(np.int32), counts.data, dropped)


def _number_pieces(
    texts: Sequence[str], options: TextOptions
) -> tuple[Numbering, NDArray[np.int32], NDArray[np.int64]]:
    """Give the pieces numbers, all texts as one sequence of these, and where each text ends in it."""
    cut = cut_pieces(options.tokenizer)
    pieces = Numbering()
    lengths: list[int] = []

    def cut_each() -> Iterator[list[str]]:
        for text in texts:
            lengths.append(0)
            for window in windows(text):
                parts = cut(window)
                lengths[-1] += len(parts)
                yield parts

    numbers = map(pieces.__getitem__, chain.from_iterable(cut_each()))
    sequence = np.fromiter(numbers, dtype=np.int32)
    return pieces, sequence, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def windows(text: str) -> Iterator[str]:
    """Cut a very long text at white space; where there is none for long, at what is no letter; and at last anywhere.

    Examples
    --------
    >>> list(windows("to be or not"))
    ['to be or not']
    """
    start = 0
    while len(text) - start > 2 * WINDOW:
        at, limit = start + WINDOW, start + 2 * WINDOW
        found = next((match for match in (place.search(text, at, limit) for place in _PLACES_TO_CUT) if match), None)
        stop = limit if found is None else found.start()
        yield text[start:stop]
        start = stop
    yield text[start:] if start else text


def _spell(pieces: Numbering, options: TextOptions) -> tuple[list[str], csr_array]:
    """Spell each piece out in words: the matrix of pieces x words, the words of a row in their order."""
    words_of = words_of_piece(options.lowercase, options.apostrophes)
    numbers = Numbering()
    number = numbers.__getitem__
    indices = array("i")  # a long text has many words: as numbers of Python they would take twice the room
    ends = [0]
    for piece in pieces:
        indices.extend(map(number, words_of(piece)))
        ends.append(len(indices))
    data = np.ones(len(indices), np.int32)
    arrays = (data, np.array(indices, np.int32), np.asarray(ends, np.int64))
    return list(numbers), csr_array(arrays, shape=(len(pieces), len(numbers)))


def _count_ngrams(
    words: list[str],
    spelling: csr_array,
    sequence: NDArray[np.int32],
    ends: NDArray[np.int64],
    sizes: tuple[int, int],
) -> tuple[list[str], csr_array]:
    """Count the sequences of neighbouring kept words in each text."""
    tokens, text_of = _token_sequence(spelling, sequence, ends)
    terms: list[str] = []
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    codes, names, starts = tokens, words, np.arange(len(tokens))
    for size in range(1, sizes[1] + 1):
        if size > 1:
            # An n-gram is a shorter one and the word after it, where that is still in the same text.
            last = starts + size - 1
            inside = last < len(tokens)
            inside[inside] = text_of[last[inside]] == text_of[starts[inside]]
            starts, codes, last = starts[inside], codes[inside], last[inside]
            keys, codes = np.unique(codes * len(words) + tokens[last], return_inverse=True)
            heads, tails = np.divmod(keys, max(1, len(words)))
            names = [f"{names[head]} {words[tail]}" for head, tail in zip(heads.tolist(), tails.tolist())]
        if size >= sizes[0]:
            rows.append(text_of[starts])
            columns.append(codes + len(terms))
            terms = terms + names
    row, column = np.concatenate(rows), np.concatenate(columns)
    shape = (len(ends) - 1, max(1, len(terms)))
    keys, counts = np.unique(row * shape[1] + column, return_counts=True)
    row, column = np.divmod(keys, shape[1])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    return terms, csr_array((counts.astype(np.int32), column, indptr), shape=shape)


def _drop_stop_ngrams(
    terms: list[str], counts: csr_array, reason_of: Callable[[str], str | None], dropped: dict[str, dict[str, int]]
) -> tuple[list[str], csr_array]:
    """Drop n-grams that are stop words themselves, as a language has them that writes its syllables apart."""
    stopped = [at for at, term in enumerate(terms) if " " in term and reason_of(term) == "stop words"]
    if not stopped:
        return terms, counts
    totals = np.asarray(counts.sum(axis=0, dtype=np.int64)).ravel()
    known = dropped.setdefault("stop words", {})
    known.update((terms[at], int(totals[at])) for at in stopped)
    kept = np.setdiff1d(np.arange(len(terms)), stopped)
    return [terms[at] for at in kept], csr_array(counts[:, kept])


def _token_sequence(
    spelling: csr_array, sequence: NDArray[np.int32], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Write the sequence of pieces as the sequence of their words, with the text that each word is in."""
    per_piece = np.diff(spelling.indptr).astype(np.int64)[sequence]
    before = np.cumsum(per_piece) - per_piece
    first = spelling.indptr.astype(np.int64)[sequence]
    positions = np.repeat(first - before, per_piece) + np.arange(per_piece.sum())
    text_of = np.repeat(np.repeat(np.arange(len(ends) - 1), np.diff(ends)), per_piece)
    return spelling.indices[positions].astype(np.int64), text_of.astype(np.int64)
