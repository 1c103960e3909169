"""Tables of documents: which column is the text, and CSV and TSV."""

import csv
import threading
from collections import deque
from collections.abc import Iterator, Sequence

from polyad.corpus.documents import CorpusError, Document, Tally, listed
from polyad.corpus.formats.lines import read_lines
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.streams import ByteStream

_limit_lock = threading.Lock()
_READ_AGAIN = 8  # times the longest document: what is read again of records that a quote has joined


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
    for picked in (text, name):
        if list(columns).count(picked or "") > 1:
            raise CorpusError(
                f"two columns are named {picked!r}; rename one of them, or name another as the column", path=path
            )
    if name is None and options.id_column is not None:
        raise CorpusError(
            f"no column is named {options.id_column!r}; the columns are {listed(columns)}: "
            "name one as the id column, or none",
            path=path,
        )
    return text, name


def read_delimited(stream: ByteStream, tally: Tally, options: ReadOptions, delimiter: str | None) -> Iterator[Document]:
    """Yield one document per record of CSV or TSV; None takes the delimiter that splits the header most.

    Quoted fields may hold delimiters, doubled quotes and line breaks, which all come out as line feeds. Where a record
    of several lines is malformed, only its first line is: the others are read again, for a quote that is not closed
    takes in records that are sound. A record that is sound, but whose lines look like records of their own, is told.
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
            if row and len(row) != len(header):
                raise CorpusError(
                    f"the record has {len(row)} fields, but the header has {len(header)}; "
                    "quote fields that contain the delimiter or line breaks",
                    path=stream.name,
                    line=source.record_line,
                )
        except CorpusError as error:
            tally.reject(error)
            source.read_again()
            continue
        if row is None:
            return
        if not row:
            tally.blank_lines += 1
            continue
        inside = source.records_inside(delimiter, len(header))
        if inside:
            tally.suspect(
                f"{stream.name}, line {source.record_line}: the record goes on to line {source.line}, and {inside} of "
                "its lines look like records of their own; is a quote there that should be doubled?"
            )
        yield tally.document(row[id_at] or None if id_at is not None else None, row[text_at])


class _Lines:
    """The lines for the parser, with their ends back on, the place of the record, and a limit on its length."""

    def __init__(self, stream: ByteStream, tally: Tally, options: ReadOptions) -> None:
        self._lines = read_lines(stream, tally, options)
        self._waiting: deque[tuple[int, str]] = deque()
        self._record: list[tuple[int, str]] = []
        self._again = _READ_AGAIN * options.max_document_bytes
        self._alone = 0
        self._limit = options.max_document_bytes
        self._path = stream.name
        self._characters = 0
        self.line = 0
        self.record_line = 1

    def first(self) -> str | None:
        for number, text in self._lines:
            if text:
                self._waiting.append((number, text))
                return text
        return None

    def start_record(self) -> None:
        self._characters = 0
        self._record = []

    def read_again(self) -> None:
        """Give the lines of the record once more, all but the first."""
        again = self._record[1:]
        self._again -= sum(len(text) for _, text in again)
        if self._again < 0:
            # Quote after quote that is not closed would have the same lines read for ever: each is for itself now.
            self._alone = max(self._alone, len(again))
        self._waiting.extendleft(reversed(again))
        self._record = []

    def records_inside(self, delimiter: str, n_fields: int) -> int:
        """Return how many lines of the record, after its first, look like whole records; 0 where not all do."""
        lines = [text for _, text in self._record[1:] if text]
        found = [text for text in lines if text.count(delimiter) == n_fields - 1]
        return len(found) if n_fields > 1 and len(found) == len(lines) else 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        if self._alone and self._record:
            raise CorpusError(
                "the record is not valid CSV; a quote may not be closed", path=self._path, line=self.record_line
            )
        self._alone = max(0, self._alone - 1)
        self.line, text = self._waiting.popleft() if self._waiting else next(self._lines)
        if self._characters == 0:
            self.record_line = self.line
        self._record.append((self.line, text))
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
                "are doubled, and a field that starts with a quote ends with one",
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
