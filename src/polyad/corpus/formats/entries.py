"""The entries of count files, as the readers of all formats give them: checked, and in batches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from polyad.base.plurals import how_many
from polyad.corpus.documents import CorpusError

MAX_INDEX = 2**31 - 1
PER_ENTRY = 10  # documents, or words, that an entry may stand for


@dataclass(frozen=True)
class Entries:
    """Some cells of a matrix of counts."""

    # Row and column, from 0.
    documents: NDArray[np.int64]
    words: NDArray[np.int64]
    counts: NDArray[np.int64]  # the counts


def to_matrix(batches: Iterable[Entries], shape: tuple[int, int]) -> coo_array:
    """Put batches of entries in one matrix.

    Examples
    --------
    >>> one = np.array([1])
    >>> to_matrix([Entries(one, one, one)], (2, 2)).toarray().tolist()
    [[0, 0], [0, 1]]
    """
    # Narrow before they pile up: a batch is small, the whole is not.
    parts = [
        (batch.documents.astype(np.int32), batch.words.astype(np.int32), batch.counts.astype(np.int32))
        for batch in batches
    ]
    empty = np.empty(0, np.int32)
    rows, columns, data = (np.concatenate([empty, *arrays]) for arrays in (zip(*parts) if parts else ((), (), ())))
    return coo_array((data, (rows, columns)), shape=shape)


def blocks_in_order(
    batches: Iterable[Entries], shape: tuple[int, int], documents: int, path: str, max_announced: int
) -> Iterator[coo_array]:
    """Cut entries whose documents come in order into matrices of so many documents."""
    waiting: list[Entries] = []
    first, last, found = 0, -1, 0
    for batch in batches:
        if len(batch.documents) == 0:
            continue
        steps = np.diff(batch.documents, prepend=last)
        if (steps < 0).any():
            late = int(batch.documents[np.flatnonzero(steps < 0)[0]]) + 1
            raise CorpusError(
                f"the entries of document {late} come after those of a later one; sort the file, or read it whole",
                path=path,
            )
        last = int(batch.documents[-1])
        found += len(batch.documents)
        check_size("documents", last + 1, found, path, max_announced)
        waiting.append(batch)
        while last >= first + documents:
            yield to_matrix(_between(waiting, first, first + documents), (documents, shape[1]))
            first += documents
            waiting = [_part(entry, entry.documents >= first, 0) for entry in waiting]
            waiting = [entry for entry in waiting if len(entry.documents)]
    check_size("documents", shape[0], found, path, max_announced)
    while first < shape[0]:
        stop = min(first + documents, shape[0])
        yield to_matrix(_between(waiting, first, stop), (stop - first, shape[1]))
        first = stop


def blocks_of_batches(batches: Iterable[tuple[int, Entries]], n_words: int, documents: int) -> Iterator[coo_array]:
    """Cut batches of whole documents into matrices of at most so many documents."""
    first = 0
    for n_new, entries in batches:
        for start in range(first, first + n_new, documents):
            stop = min(start + documents, first + n_new)
            yield to_matrix(_between([entries], start, stop), (stop - start, n_words))
        first += n_new


def _between(batches: Iterable[Entries], first: int, stop: int) -> list[Entries]:
    return [_part(batch, (batch.documents >= first) & (batch.documents < stop), first) for batch in batches]


def _part(batch: Entries, chosen: NDArray[np.bool_], first: int) -> Entries:
    return Entries(batch.documents[chosen] - first, batch.words[chosen], batch.counts[chosen])


def check_size(what: str, size: int, entries: int, path: str, max_announced: int) -> None:
    """Refuse a size that would take the memory of the machine for a file that holds next to nothing."""
    if size > MAX_INDEX:
        raise CorpusError(
            f"there would be {size:,} {what}, which cannot be right: {MAX_INDEX:,} are the most possible", path=path
        )
    allowed = max_announced + PER_ENTRY * entries
    if size > allowed:
        raise CorpusError(
            f"there would be {how_many(size, what)} for {how_many(entries, 'entries')}, which cannot be right: at "
            f"most {allowed:,} are read; if it is right, raise max_announced",
            path=path,
        )


def numbers_of(fields: Sequence[bytes]) -> list[int] | None:
    """Read fields as whole numbers without sign; None if one is not.

    Examples
    --------
    >>> numbers_of([b"1", b"23"]), numbers_of([b"-1"])
    ([1, 23], None)
    """
    if not all(field.isdigit() and len(field) <= 18 for field in fields):
        return None
    return [int(field) for field in fields]
