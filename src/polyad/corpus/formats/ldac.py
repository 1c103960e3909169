"""LDA-C: one document per line, ``n word:count word:count ...`` with n pairs and words numbered from 0."""

from collections.abc import Iterator

import numpy as np

from polyad.corpus.documents import CorpusError, Tally
from polyad.corpus.formats.entries import MAX_INDEX, Entries, numbers_of
from polyad.corpus.formats.integers import read_blocks_of_lines, scan_integers
from polyad.corpus.formats.streams import ByteStream


def read_ldac(stream: ByteStream, tally: Tally, n_words: int | None, max_bytes: int) -> Iterator[tuple[int, Entries]]:
    """Yield batches: how many documents, and their entries with documents numbered through the whole file.

    With `n_words`, the number of a word must be below it. Blank lines are no documents (an empty one is ``0``).
    """
    limit = n_words if n_words is not None else MAX_INDEX
    line = first = 0
    for block in read_blocks_of_lines(stream, max_bytes):
        batch = _scan(block, limit)
        if batch is None:
            batch = _scan_slowly(block, limit, line, stream.name, tally)
        else:
            tally.blank_lines += block.count(b"\n") - batch[0]
        n_documents, entries = batch
        yield n_documents, Entries(entries.documents + first, entries.words, entries.counts)
        first += n_documents
        line += block.count(b"\n")


def _scan(block: bytes, limit: int) -> tuple[int, Entries] | None:
    numbers = scan_integers(block)
    if numbers is None:
        return None
    if not len(numbers.values):
        nothing = np.empty(0, np.int64)
        return 0, Entries(nothing, nothing, nothing)
    starts = np.flatnonzero(np.diff(numbers.lines, prepend=-1))
    lengths = np.diff(np.append(starts, len(numbers.values)))
    place = np.arange(len(numbers.values)) - np.repeat(starts, lengths)
    # In a line the announced number comes first, then words (before a colon) and counts in turn.
    if not ((numbers.before_colon == (place % 2 == 1)).all() and (lengths == 2 * numbers.values[starts] + 1).all()):
        return None
    words, counts = numbers.values[place % 2 == 1], numbers.values[(place % 2 == 0) & (place > 0)]
    if (words >= limit).any() or (counts > MAX_INDEX).any():
        return None
    documents = np.repeat(np.arange(len(starts)), lengths // 2)
    return len(starts), Entries(documents, words, counts)


def _scan_slowly(block: bytes, limit: int, line: int, path: str, tally: Tally) -> tuple[int, Entries]:
    """Read line by line, to name the bad ones."""
    documents: list[int] = []
    pairs: list[list[int]] = []
    n_documents = 0
    for text in block.split(b"\n")[:-1]:
        line += 1
        if not text.strip():
            tally.blank_lines += 1
            continue
        try:
            found = _parse(text, limit)
        except _BadLineError as error:
            tally.reject(CorpusError(str(error), path=path, line=line))
            continue
        pairs += found
        documents += [n_documents] * len(found)
        n_documents += 1
    words, counts = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return n_documents, Entries(np.array(documents, dtype=np.int64), words, counts)


class _BadLineError(Exception):
    pass


def _parse(text: bytes, limit: int) -> list[list[int]]:
    head, *fields = text.split()
    announced = numbers_of([head])
    if announced is None:
        raise _BadLineError("a document must start with the number of its pairs word:count")
    pairs: list[list[int]] = []
    for field in fields:
        parts = field.split(b":")
        pair = numbers_of(parts)
        if pair is None or len(pair) != 2:
            raise _BadLineError(f"{field[:40]!r} is not a pair of whole numbers word:count")
        if pair[0] >= limit:
            raise _BadLineError(f"the word number {pair[0]} is not below {limit}, the number of words")
        if pair[1] > MAX_INDEX:
            raise _BadLineError(f"the count {pair[1]} is above {MAX_INDEX}")
        pairs.append(pair)
    if announced[0] != len(pairs):
        raise _BadLineError(f"the document announces {announced[0]} pairs, but has {len(pairs)}")
    return pairs
