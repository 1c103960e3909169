"""Entries ``document word count`` on lines, numbered from 1: the body of UCI and of Matrix Market files."""

from collections.abc import Callable, Iterator

import numpy as np

from polyad.base.plurals import how_many
from polyad.corpus.documents import CorpusError, Tally
from polyad.corpus.formats.entries import MAX_INDEX, Entries, numbers_of
from polyad.corpus.formats.integers import read_blocks_of_lines, scan_integers
from polyad.corpus.formats.streams import ByteStream


def whole_count(field: bytes) -> int | None:
    """Read a count that is written as a whole number.

    Examples
    --------
    >>> whole_count(b"3"), whole_count(b"3.0")
    (3, None)
    """
    values = numbers_of([field])
    return values[0] if values is not None else None


def read_triples(
    stream: ByteStream,
    tally: Tally,
    shape: tuple[int, int],
    n_entries: int,
    line: int,
    max_bytes: int,
    count_of: Callable[[bytes], int | None] = whole_count,
) -> Iterator[Entries]:
    """Yield the entries after a header of so many lines, and see that there are as many as it announces.

    Blocks of whole numbers are read at once; where that fails, line by line, to name the bad ones, with
    `count_of` to read the count.
    """
    found = 0
    bad_before = tally.bad
    for block in read_blocks_of_lines(stream, max_bytes, line):
        entries = _scan(block, shape)
        n_lines = block.count(b"\n")
        if entries is None:
            entries = _scan_slowly(block, shape, line, stream.name, tally, count_of)
        else:
            tally.blank_lines += n_lines - len(entries.counts)
        found += len(entries.counts)
        line += n_lines
        yield entries
    if found + tally.bad - bad_before != n_entries:
        problem = (
            f"the header announces {how_many(n_entries, 'entries')}, but there are {found:,}; the file may be cut short"
        )
        tally.reject(CorpusError(problem, path=stream.name))


def _scan(block: bytes, shape: tuple[int, int]) -> Entries | None:
    numbers = scan_integers(block)
    if numbers is None or numbers.before_colon.any():
        return None
    per_line = np.bincount(numbers.lines, minlength=numbers.n_lines)
    if not np.isin(per_line, (0, 3)).all():
        return None
    documents, words, counts = numbers.values.reshape(-1, 3).T
    inside = (documents >= 1) & (documents <= shape[0]) & (words >= 1) & (words <= shape[1])
    if not (inside & (counts <= MAX_INDEX)).all():
        return None
    return Entries(documents - 1, words - 1, counts)


def _scan_slowly(
    block: bytes,
    shape: tuple[int, int],
    line: int,
    path: str,
    tally: Tally,
    count_of: Callable[[bytes], int | None],
) -> Entries:
    good: list[tuple[int, int, int]] = []
    for text in block.split(b"\n")[:-1]:
        line += 1
        fields = text.split()
        if not fields:
            tally.blank_lines += 1
            continue
        entry = _parse(fields, shape, count_of)
        if isinstance(entry, str):
            tally.reject(CorpusError(entry, path=path, line=line))
        else:
            good.append(entry)
    documents, words, counts = np.array(good, dtype=np.int64).reshape(-1, 3).T
    return Entries(documents - 1, words - 1, counts)


def _parse(
    fields: list[bytes], shape: tuple[int, int], count_of: Callable[[bytes], int | None]
) -> tuple[int, int, int] | str:
    """Give the entry, or say what is wrong with it."""
    place = numbers_of(fields[:2])
    count = count_of(fields[2]) if len(fields) == 3 else None
    if place is None or count is None:
        return "an entry must be three whole numbers from 0 on: document, word, count"
    document, word = place
    if not 1 <= document <= shape[0]:
        return f"the document number {document} is not between 1 and {shape[0]}"
    if not 1 <= word <= shape[1]:
        return f"the word number {word} is not between 1 and {shape[1]}"
    return (document, word, count) if count <= MAX_INDEX else f"the count {count} is above {MAX_INDEX}"
