"""Counted documents on their way to shards: one file for every chunk of text, over the terms that occur in it."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyad.corpus.corpus import map_columns
from polyad.corpus.documents import CorpusError
from polyad.corpus.words.chunks import ChunkCounts
from polyad.engine.blocks import Block, canonical_rows, count_block
from polyad.engine.sources import Source


@dataclass(frozen=True)
class Chunk:
    """What a chunk file holds."""

    digest: str  # of the texts and ids that were counted
    ids: tuple[str, ...] | None  # the names of the documents; None where they are numbers
    counts: csr_array  # documents x terms of the chunk
    terms: tuple[str, ...]  # the terms of the columns: words or n-grams
    dropped: dict[str, dict[str, int]]  # for each reason the words that were left out, with their occurrences


def digest_of_texts(ids: Sequence[str], texts: Iterable[str]) -> str:
    """Return a digest of documents, which tells whether a chunk was counted before.

    Examples
    --------
    >>> digest_of_texts(["a"], ["to be"]) == digest_of_texts(["a"], ["to", "be"])
    False
    """
    found = hashlib.blake2b(digest_size=16)
    for text in (*ids, *texts):
        raw = text.encode("utf-8", "surrogatepass")
        found.update(len(raw).to_bytes(8, "little"))
        found.update(raw)
    return found.hexdigest()


def packed(names: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return strings as the bytes of all of them, and where each ends."""
    raw = [name.encode("utf-8", "surrogatepass") for name in names]
    ends = np.cumsum([len(part) for part in raw], dtype=np.int64)
    return np.frombuffer(b"".join(raw), np.uint8), ends


def unpacked(raw: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    """Return strings from what :func:`packed` made of them.

    Examples
    --------
    >>> unpacked(*packed(["a", "", "bc"]))
    ['a', '', 'bc']
    """
    joined, starts = raw.tobytes(), [0, *ends[:-1].tolist()]
    return [joined[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends.tolist())]


def as_csr(counted: ChunkCounts) -> csr_array:
    """Return the counts of a chunk as a matrix, columns in the order of its terms."""
    shape = (counted.indptr.size - 1, len(counted.terms))
    counts = csr_array((counted.data, counted.indices, counted.indptr.astype(np.int32)), shape=shape)
    counts.sort_indices()
    return counts


def write_chunk(file: Path, chunk: Chunk) -> None:
    """Write a chunk; the file appears when it is whole."""
    terms, term_ends = packed(chunk.terms)
    ids, id_ends = packed(chunk.ids or ())
    plain = {"digest": chunk.digest, "named": chunk.ids is not None, "dropped": chunk.dropped}
    header = np.frombuffer(json.dumps(plain).encode(), np.uint8)
    counts = chunk.counts
    arrays = {
        "header": header, "terms": terms, "term_ends": term_ends, "ids": ids, "id_ends": id_ends,
        "data": counts.data, "indices": counts.indices, "indptr": counts.indptr,
    }  # fmt: skip
    part = file.with_suffix(".part")
    try:
        with part.open("wb") as out:
            np.savez(out, **arrays)  # type: ignore[arg-type]
            out.flush()
            os.fsync(out.fileno())
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(file)) from error


def read_chunk(file: Path, *, digest_only: bool = False) -> Chunk:
    """Read a chunk; a damaged file is an error that names it."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            header = json.loads(arrays["header"].tobytes())
            if digest_only:
                return Chunk(header["digest"], None, csr_array((0, 0)), (), {})
            terms = tuple(unpacked(arrays["terms"], arrays["term_ends"]))
            ids = tuple(unpacked(arrays["ids"], arrays["id_ends"])) if header["named"] else None
            indptr = arrays["indptr"]
            counts = csr_array((arrays["data"], arrays["indices"], indptr), shape=(indptr.size - 1, len(terms)))
    except FileNotFoundError:
        raise
    except Exception as error:  # zipfile, json and NumPy each have errors of their own
        raise CorpusError(
            f"the file of counted documents is damaged ({error}); remove it and index again, which counts these "
            "documents anew",
            path=str(file),
        ) from error
    return Chunk(header["digest"], ids, counts, terms, header["dropped"])


@dataclass(frozen=True)
class ChunkFiles:
    """The chunk files of a folder, numbered from 0 without a gap."""

    folder: Path

    def file(self, number: int) -> Path:
        """Return the file of a chunk."""
        return self.folder / f"chunk-{number:07d}.npz"

    def holds(self, number: int, digest: str) -> bool:
        """Tell whether a chunk was counted; other documents in its place are an error."""
        try:
            found = read_chunk(self.file(number), digest_only=True).digest
        except FileNotFoundError:
            return False
        if found != digest:
            raise CorpusError(
                f"the input has changed since chunk {number} was counted; give --restart (restart=True) to begin anew",
                path=str(self.folder.parent),
            )
        return True

    def __iter__(self) -> Iterator[Chunk]:
        number = 0
        while self.file(number).exists():
            yield read_chunk(self.file(number))
            number += 1


@dataclass(frozen=True, eq=False, repr=False)
class CountedChunks(Source):
    """Chunk files as counts over a vocabulary, a shard for each."""

    folder: Path  # of the chunk files
    row_edges: tuple[int, ...]  # the row numbers at which the chunks begin, and the number of all rows
    terms: tuple[str, ...]  # the term of each column
    # The term of each word that is counted, which may be its stem; where it is None, all terms are themselves.
    counted_as: Mapping[str, str] | None = None

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers at which the chunks begin, and the number of all rows."""
        return self.row_edges

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of words."""
        return (len(self.terms),)

    @property
    def n_cells(self) -> int:
        """Stored cells."""
        return sum(self.shard(number).n_cells for number in range(self.n_shards))

    @property
    def in_memory(self) -> bool:
        """Never."""
        return False

    @cached_property
    def _column_of(self) -> dict[str, int]:
        of_term = {term: column for column, term in enumerate(self.terms)}
        return of_term if self.counted_as is None else {word: of_term[as_] for word, as_ in self.counted_as.items()}

    def shard(self, number: int, /) -> Block:
        """Return the documents of a chunk."""
        chunk = read_chunk(ChunkFiles(self.folder).file(number))
        columns = np.fromiter((self._column_of.get(term, -1) for term in chunk.terms), np.int64, len(chunk.terms))
        counts: Any = map_columns(chunk.counts, columns, len(self.terms))
        rows = canonical_rows(counts.data.astype(np.float64), counts.indices, counts.indptr, len(self.terms))
        return count_block(rows, self.row_edges[number])
