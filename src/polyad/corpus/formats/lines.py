"""Lines of text out of bytes: encodings, byte order marks, and a limit on the length of a line."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from polyad.corpus.documents import CorpusError, Tally
from polyad.corpus.formats.streams import BUFFER_BYTES, ByteStream

if TYPE_CHECKING:
    from polyad.corpus.formats.options import ReadOptions

# The marks of UTF-32 come first: the little-endian one starts with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def check_encoding(encoding: str | None, errors: str) -> None:
    """Raise ValueError for the name of an encoding or an error handler that Python does not know.

    Examples
    --------
    >>> check_encoding("latin-1", "strict")
    >>> check_encoding("utf-9", "strict")
    Traceback (most recent call last):
    ...
    ValueError: 'utf-9' is not a text encoding that Python knows; try 'utf-8', 'latin-1' or 'cp1252'.
    """
    try:
        if encoding is not None:
            "x".encode(encoding)
    except (LookupError, UnicodeError):
        raise ValueError(
            f"{encoding!r} is not a text encoding that Python knows; try 'utf-8', 'latin-1' or 'cp1252'."
        ) from None
    try:
        codecs.lookup_error(errors)
    except LookupError:
        raise ValueError(f"errors={errors!r} is unknown; use 'strict', 'replace' or 'ignore'.") from None


def find_encoding(sample: bytes, encoding: str | None, name: str) -> tuple[str, int]:
    r"""Tell the encoding, and how many bytes of a byte order mark come first.

    A mark wins over the default UTF-8 but not over an encoding that was asked for.

    Examples
    --------
    >>> find_encoding(b"\xff\xfeh\0i\0", None, "a.txt")
    ('utf-16-le', 2)
    >>> find_encoding(b"plain", None, "a.txt")
    ('utf-8', 0)
    """
    wanted = codecs.lookup(encoding).name if encoding is not None else None
    for mark, marked in _MARKS:
        if sample.startswith(mark) and (wanted is None or wanted in marked or wanted == "utf-8-sig"):
            return marked, len(mark)
    if wanted is not None:
        return wanted, 0
    start = sample[:4000]
    if start.count(0) * 5 > len(start):
        raise CorpusError(
            "the file is full of zero bytes: it is either not text or UTF-16 without its mark; "
            "for UTF-16 give the encoding 'utf-16-le'",
            path=name,
        )
    return "utf-8", 0


def decode(data: bytes, encoding: str, errors: str, *, path: str, line: int | None = None) -> str:
    r"""Decode bytes; what is not in the encoding is an error that names the line and the byte.

    Examples
    --------
    >>> decode(b"caf\xe9", "utf-8", "strict", path="a.txt", line=3)
    Traceback (most recent call last):
    ...
    polyad.corpus.documents.CorpusError: a.txt, line 3: byte 4 (0xe9) is not utf-8; give the encoding...
    """
    try:
        return data.decode(encoding, errors)
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        if line is None:
            line = data.count(b"\n", 0, start) + 1
            start -= data.rfind(b"\n", 0, start) + 1
        found = f"byte {start + 1} ({data[getattr(error, 'start', 0)]:#04x})" if data else "the text"
        raise CorpusError(
            f"{found} is not {encoding}; give the encoding of the file (such as 'latin-1' or 'cp1252'), "
            "or errors='replace'",
            path=path,
            line=line,
        ) from error


def read_lines(stream: ByteStream, tally: Tally, options: ReadOptions) -> Iterator[tuple[int, str]]:
    """Yield each line with its number from 1, without its end (a line feed, or that after a carriage return).

    A line over `max_document_bytes` or not in the encoding is a bad line; a long one is passed over without being held.
    """
    name, errors, max_bytes = stream.name, options.errors, options.max_document_bytes
    codec, mark = find_encoding(stream.sample(), options.encoding, name)
    reader = stream.reader
    reader.read(mark)
    if "\n".encode(codec) != b"\n":
        reader = io.BufferedReader(_Transcoded(reader, codec, errors, name), BUFFER_BYTES)
        codec = "utf-8"
    number = 0
    while data := reader.readline(max_bytes + 1):
        number += 1
        if len(data) > max_bytes and not data.endswith(b"\n"):
            while data and not data.endswith(b"\n"):
                data = reader.readline(BUFFER_BYTES)
            tally.reject(CorpusError(_too_long(max_bytes), path=name, line=number))
            continue
        data = data.removesuffix(b"\n").removesuffix(b"\r")
        try:
            text = decode(data, codec, errors, path=name, line=number)
        except CorpusError as error:
            tally.reject(error)
            continue
        del data  # a long line need not be there twice
        yield number, text


def _too_long(max_bytes: int) -> str:
    return (
        f"the line is longer than {max_bytes:,} bytes; is there one document on each line? "
        "If it is meant to be one document, raise max_document_bytes"
    )


class _Transcoded(io.RawIOBase):
    """UTF-8 from an encoding in which a line does not end with the byte of the line feed (UTF-16, UTF-32)."""

    def __init__(self, source: io.BufferedReader, encoding: str, errors: str, name: str) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._encoding = encoding
        self._name = name
        self._ready = b""
        self._offset = 0
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._ended:
            block = self._source.read(1 << 16)
            self._ended = not block
            try:
                text = self._decoder.decode(block, final=self._ended)
            except UnicodeError as error:
                raise CorpusError(
                    f"the text is not {self._encoding} near byte {self._offset + getattr(error, 'start', 0):,}; "
                    "give the encoding of the file, or errors='replace'",
                    path=self._name,
                ) from error
            self._offset += len(block)
            self._ready = text.encode("utf-8", "replace")
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size
