"""Text in: documents from any text format, a bounded number at a time."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TypeVar

from polyad.corpus.documents import CorpusError, Document, ReadReport, Tally
from polyad.corpus.formats.jsonl import read_jsonl
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.parquet import read_parquet
from polyad.corpus.formats.plain import read_folder, read_plain_lines
from polyad.corpus.formats.recognise import COUNT_FORMATS, Format, recognise_bytes
from polyad.corpus.formats.streams import ByteStream, open_stream
from polyad.corpus.formats.tables import read_delimited

BATCH_CHARACTERS = 1 << 21

Text = TypeVar("Text", Document, Document | str)


class DocumentReader:
    r"""The documents of a text file, a folder or standard input, read as they are asked for.

    Iterating gives `Document` after `Document`; `batches` gives lists of them. Only one batch is in memory.
    Each iteration reads the input anew (standard input can be read once).

    Parameters
    ----------
    path
        A file, a folder, or ``-`` for standard input.
    reading
        How to read it.
    stream
        The input, where it is open already.

    Attributes
    ----------
    report
        What was met so far.
    fraction
        The share of the input that was read so far; None where its size is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "a.jsonl")
    >>> _ = file.write_text('{"id": "x", "text": "to be"}\n{"id": "y", "text": ""}\n')
    >>> reader = DocumentReader(file)
    >>> [document.id for document in reader]
    ['x', 'y']
    >>> print(reader.report)
    2 documents, of which 1 empty
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        reading: ReadOptions | None = None,
        *,
        stream: ByteStream | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self.reading = reading or ReadOptions()
        self._tally = Tally(self.reading.skip_bad)
        self._given = stream
        self._stream = stream
        self._fraction: float | None = None

    @property
    def report(self) -> ReadReport:
        """What was met so far."""
        return self._tally.report()

    @property
    def fraction(self) -> float | None:
        """The share of the input that was read so far."""
        if self._fraction is None and self._stream is not None:
            return self._stream.fraction()
        return self._fraction

    def __iter__(self) -> Iterator[Document]:
        self._tally = Tally(self.reading.skip_bad)
        self._fraction = None
        if self.path != "-" and Path(self.path).is_dir():
            if self.reading.format not in (None, "folder"):
                raise CorpusError(f"this is a folder, not a {self.reading.format} file", path=self.path)
            self._tally.format = "folder"
            yield from read_folder(Path(self.path), self._tally, self.reading, self._moved)
            return
        with nullcontext(self._given) if self._given is not None else self._opened() as stream:
            self._stream = stream
            yield from read_stream(stream, self._tally, self.reading, self._moved)
        self._moved(1.0)

    def batches(self, documents: int = 1000, characters: int = BATCH_CHARACTERS) -> Iterator[list[Document]]:
        """Yield lists of at most so many documents, closed earlier when they hold so many characters."""
        return batched(self, documents, characters)

    def _opened(self) -> AbstractContextManager[ByteStream]:
        return open_stream(self.path, self.reading.max_unpacked)

    def _moved(self, fraction: float) -> None:
        self._fraction = fraction


def read_stream(
    stream: ByteStream, tally: Tally, reading: ReadOptions, moved: Callable[[float], None]
) -> Iterator[Document]:
    """Yield the documents of an open stream in a text format, given or recognised."""
    chosen: Format = reading.format or recognise_bytes(stream.sample(), stream.name)
    if chosen in COUNT_FORMATS:
        raise CorpusError(
            f"this is a file of word counts ({chosen}), not of text; read it with read_corpus", path=stream.name
        )
    if chosen == "folder":
        raise CorpusError("this is a file, not a folder", path=stream.name)
    tally.format = chosen
    if chosen == "lines":
        return read_plain_lines(stream, tally, reading)
    if chosen == "jsonl":
        return read_jsonl(stream, tally, reading)
    if chosen == "parquet":
        return read_parquet(stream, tally, reading, moved)
    return read_delimited(stream, tally, reading, "\t" if chosen == "tsv" else None)


def batched(documents: Iterable[Text], count: int, characters: int) -> Iterator[list[Text]]:
    """Group documents into lists bounded in number and in characters."""
    batch: list[Text] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document if isinstance(document, str) else document.text)
        if len(batch) >= count or size >= characters:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
