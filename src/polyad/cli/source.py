"""A first look into an input: whether it is text or counts, and how the text begins."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from polyad.corpus import ReadOptions

__all__ = ["Look", "look_into"]

SAMPLE_DOCUMENTS = 200
SAMPLE_CHARACTERS = 4000  # of each document
HEAD_BYTES = 1 << 20  # of standard input


@dataclass(frozen=True)
class Look:
    """What a first look shows.

    Parameters
    ----------
    counts : bool
        Whether the input is word counts rather than text.
    texts : tuple of str
        How the first documents begin; nothing of counts.
    """

    counts: bool
    texts: tuple[str, ...] = ()


@contextmanager
def look_into(path: str, reading: ReadOptions) -> Iterator[Look]:
    """Look into an input, which can be read from its beginning in the body, standard input too."""
    if path != "-":
        yield _look(path, reading)
        return
    # Standard input has no second time: its head is kept, looked at, and put back before the rest.
    stdin, source = sys.stdin, sys.stdin.buffer
    head = source.read(HEAD_BYTES)
    try:
        sys.stdin = cast(Any, _Stdin(io.BytesIO(head)))
        look = _look(path, reading)
        sys.stdin = cast(Any, _Stdin(_Joined(head, source)))
        yield look
    finally:
        sys.stdin = stdin


def _look(path: str, reading: ReadOptions) -> Look:
    from polyad.corpus import CorpusError, DocumentReader, is_counts

    # Damage is told with its place when the input is really read.
    tolerant = replace(reading, skip_bad=True)
    with_format = reading.format or _recognised(path)
    if with_format is not None and is_counts(with_format):
        return Look(counts=True)
    if path == "-":
        sys.stdin.buffer.seek(0)
    texts: list[str] = []
    try:
        for document in islice(DocumentReader(path, replace(tolerant, format=with_format)), SAMPLE_DOCUMENTS):
            texts.append(document.text[:SAMPLE_CHARACTERS])
    except CorpusError:
        pass
    return Look(counts=False, texts=tuple(texts))


def _recognised(path: str) -> Any:
    from polyad.corpus import CorpusError, recognise

    try:
        return recognise(path)
    except CorpusError:
        # A missing or foreign file: reading says so.
        return None


class _Stdin:
    """As much of standard input as a reader of bytes uses."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer


class _Joined:
    """A beginning and the rest, read as one; large reads of the rest are handed through."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head = io.BytesIO(head)
        self._rest = rest

    def read(self, size: int = -1) -> bytes:
        found = self._head.read(size)
        if size >= 0 and found:
            return found
        data: bytes = self._rest.read(size)
        return found + data
