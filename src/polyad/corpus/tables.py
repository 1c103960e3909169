"""Tables of documents: which column is the text, and CSV and TSV."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterator, Sequence

from polyad.corpus.documents import CorpusError, Document, Tally, listed
from polyad.corpus.lines import read_lines
from polyad.corpus.options import ReadOptions
from polyad.corpus.streams import ByteStream

__all__ = ["find_column", "pick_columns", "read_delimited"]

_limit_lock = threading.Lock()


def find_column(columns: Sequence[str], name: str) -> str | None:
    """Find a column by its name, exactly or else in any case.

    Examples
    --------
    >>> find_column(["ID", "Text"], "text")
    'Text'
    >>> find_column(["ID", "Text"], "body") is None
    True
    """
    if name in columns:
        return name
    alike = [column for column in columns if column.strip().lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def pick_columns(columns: Sequence[str], options: ReadOptions, path: str) -> tuple[str, str | None]:
    """Pick the column of the text and that of the ids, or say which columns there are.

    Examples
    --------
    >>> pick_columns(["id", "title", "text"], ReadOptions(), "a.csv")
    ('text', 'id')
    >>> pick_columns(["title", "body"], ReadOptions(), "a.csv")
    Traceback (most recent call last):
    ...
    polyad.corpus.documents.CorpusError: a.csv: no column is named 'text'; the columns are 'title', 'body': name one as the text column
    """  # noqa: E501 - the message is one line
    text = find_column(columns, options.text_column or "text")
    if text is None:
        raise CorpusError(
            f"no column is named {options.text_column or 'text'!r}; the columns are {listed(columns)}: "
            "name one as the text column",
            path=path,
        )
    name = find_column(columns, options.id_column or "id")
    if name is None and options.id_column is not None:
        raise CorpusError(
            f"no column is named {options.id_column!r}; the columns are {listed(columns)}: "
            "name one as the id column, or none",
            path=path,
        )
    return text, name


def read_delimited(stream: ByteStream, tally: Tally, options: ReadOptions, delimiter: str | None) -> Iterator[Document]:
    """Yield one document a record of CSV or TSV; None takes the delimiter that splits the header most.

    Quoted fields may hold delimiters, doubled quotes and line breaks, which all come out as line feeds.
    """
    source = _Lines(stream, tally, options)
    header_line = source.first()
    if header_line is None:
        return
    delimiter = delimiter or _guess_delimiter(header_line)
    rows = csv.reader(source, delimiter=delimiter, strict=True)
    header = _next_row(rows, source, options)
    if header is None:
        return
    text_column, id_column = pick_columns(header, options, stream.name)
    text_at = header.index(text_column)
    id_at = header.index(id_column) if id_column is not None else None
    while True:
        source.start_record()
        try:
            row = _next_row(rows, source, options)
        except CorpusError as error:
            tally.reject(error)
            continue
        if row is None:
            return
        if not row:
            tally.blank_lines += 1
        elif len(row) != len(header):
            tally.reject(
                CorpusError(
                    f"the record has {len(row)} fields, but the header has {len(header)}; "
                    "quote fields that contain the delimiter or line breaks",
                    path=stream.name,
                    line=source.record_line,
                )
            )
        else:
            yield tally.document(row[id_at] or None if id_at is not None else None, row[text_at])


class _Lines:
    """The lines for the parser, with their ends back on, the place of the record, and a limit on its length."""

    def __init__(self, stream: ByteStream, tally: Tally, options: ReadOptions) -> None:
        self._lines = read_lines(
            stream,
            tally,
            encoding=options.encoding,
            errors=options.errors,
            max_bytes=options.max_document_bytes,
        )
        self._peeked: tuple[int, str] | None = None
        self._limit = options.max_document_bytes
        self._path = stream.name
        self._characters = 0
        self.line = 0
        self.record_line = 1

    def first(self) -> str | None:
        for number, text in self._lines:
            if text:
                self._peeked = (number, text)
                return text
        return None

    def start_record(self) -> None:
        self._characters = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self._peeked is not None:
            (self.line, text), self._peeked = self._peeked, None
        else:
            self.line, text = next(self._lines)
        if self._characters == 0:
            self.record_line = self.line
        self._characters += len(text) + 1
        if self._characters > self._limit + 1:
            raise CorpusError(
                f"the record that starts here is longer than {self._limit:,} characters; a quote may not be "
                "closed. If it is meant to be one document, raise max_document_bytes",
                path=self._path,
                line=self.record_line,
            )
        return text + "\n"


def _next_row(rows: Iterator[list[str]], source: _Lines, options: ReadOptions) -> list[str] | None:
    # The limit of the csv module is 128 KiB and belongs to the whole process: it is put back after each record.
    with _limit_lock:
        before = csv.field_size_limit(options.max_document_bytes + 1)
        try:
            return next(rows, None)
        except csv.Error as error:
            end = f" to {source.line}" if source.line != source.record_line else ""
            raise CorpusError(
                f"the record (line {source.record_line}{end}) is not valid CSV ({error}); quotes inside a quoted field "
                "are doubled",
                path=source._path,
                line=source.record_line,
            ) from error
        finally:
            csv.field_size_limit(before)


def _guess_delimiter(header: str) -> str:
    def columns(delimiter: str) -> int:
        try:
            return len(next(csv.reader([header], delimiter=delimiter), []))
        except csv.Error:
            return 0

    # max keeps the first of equals, so that a single column is read as CSV.
    return max(",;\t|", key=columns)
