"""Bytes in: files, compressed files and standard input as one kind of stream that can be looked into."""

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from polyad.corpus.documents import CorpusError

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
BUFFER_BYTES = 1 << 18
MAX_UNPACKED = 16 * 2**20
UNPACKED_RATIO = 100  # counts and text shrink to a third or a tenth; what shrinks to a hundredth was made to do so


@dataclass(frozen=True)
class ByteStream:
    """The uncompressed bytes of an input."""

    name: str  # the path as the user gave it, for messages
    reader: io.BufferedReader  # the bytes, with the compression undone
    compression: str | None  # "gzip", "zstd", "bzip2", "xz" or None
    regular: bool  # whether this is a file on a disk, which can be opened again; a pipe cannot
    # Gives the share of the input consumed so far, or None where the size is not known.
    fraction: Callable[[], float | None]
    stored: Callable[[], int]  # gives the number of bytes consumed so far, as they are stored

    def sample(self) -> bytes:
        """Look at the first bytes without consuming them; all of a short input."""
        return self.reader.peek(BUFFER_BYTES)


@contextmanager
def open_stream(path: str | os.PathLike[str], max_unpacked: int = MAX_UNPACKED) -> Iterator[ByteStream]:
    """Open a file, or standard input for ``-``, and undo gzip, zstd, bzip2 or xz, which the first bytes tell.

    What unpacks to more than `max_unpacked` bytes and to more than 100 times what is stored is refused.

    Examples
    --------
    >>> import gzip, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "a.txt.gz")
    >>> _ = file.write_bytes(gzip.compress(b"some text"))
    >>> with open_stream(file) as stream:
    ...     (stream.compression, stream.reader.read())
    ('gzip', b'some text')
    """
    name = os.fspath(path)
    with ExitStack() as stack:
        if name == "-":
            if sys.stdin is None:
                raise CorpusError("it is closed; give the path of a file or a folder", path="standard input")
            raw: BinaryIO = sys.stdin.buffer
            name, size, regular = "standard input", 0, False
        else:
            raw = stack.enter_context(_open_file(name))
            status = os.fstat(raw.fileno())
            size, regular = status.st_size, stat.S_ISREG(status.st_mode)
        counted = _Counted(raw, name)
        packed = io.BufferedReader(counted, BUFFER_BYTES)

        def check(count: int) -> None:
            check_unpacked(count, counted.count, max_unpacked, name)

        compression, unpacked = _unpack(packed, name, check)

        def fraction() -> float | None:
            return min(1.0, counted.count / size) if size else None

        yield ByteStream(name, unpacked, compression, regular, fraction, lambda: counted.count)


def check_unpacked(unpacked: int, stored: int, max_unpacked: int, name: str) -> None:
    """Refuse what unpacks to so much more than is stored that it must have been made to take all memory."""
    if unpacked > max(max_unpacked, UNPACKED_RATIO * stored):
        raise CorpusError(
            f"{stored:,} bytes unpack to {unpacked:,} or more, and more than {UNPACKED_RATIO} times as many are only "
            f"read up to {max_unpacked:,}; if you trust the file, raise max_document_bytes",
            path=name,
        )


@contextmanager
def seekable(stream: ByteStream) -> Iterator[BinaryIO]:
    """Give the bytes as a file that can be read in any order, for the formats that need it.

    A plain file is used as it is; anything else is first copied to a temporary file, so that memory stays bounded.
    """
    if stream.compression is None and stream.regular:
        with _open_file(stream.name) as file:
            yield file
        return
    with tempfile.TemporaryFile() as copy:
        while block := stream.reader.read(BUFFER_BYTES):
            copy.write(block)
        copy.seek(0)
        yield cast(BinaryIO, copy)


def _open_file(name: str) -> BinaryIO:
    try:
        return open(name, "rb")
    except FileNotFoundError:
        raise CorpusError(
            "there is no such file; give the path of a file, a folder, or - for standard input", path=name
        ) from None
    except (OSError, ValueError) as error:
        raise CorpusError(f"the file cannot be opened ({error})", path=name) from error


def _unpack(packed: Any, name: str, check: Callable[[int], None]) -> tuple[str | None, Any]:
    magic = packed.peek(6)[:6]
    if magic[:2] == GZIP_MAGIC:
        return "gzip", io.BufferedReader(_Counted(gzip.GzipFile(fileobj=packed), name, check), BUFFER_BYTES)
    if magic[:4] == ZSTD_MAGIC:
        return "zstd", io.BufferedReader(_Counted(_Zstd(packed, name), name, check), BUFFER_BYTES)
    for kind, (start, begin) in _LIBRARY.items():
        if magic.startswith(start):
            return kind, io.BufferedReader(_Counted(_Unpacked(packed, begin), name, check), BUFFER_BYTES)
    return None, packed


class _Unpacked:
    """Undoes a compression of the standard library, one stream after the other, a bounded piece at a time."""

    def __init__(self, source: io.BufferedReader, begin: Callable[[], Any]) -> None:
        self._source = source
        self._begin = begin
        self._current: Any = None

    def read(self, size: int) -> bytes:
        while True:
            if self._current is None or self._current.eof:
                rest = b"" if self._current is None else self._current.unused_data
                rest = rest or self._source.read(BUFFER_BYTES)
                if not rest.strip(b"\0"):
                    return b""
                self._current = self._begin()
            else:
                rest = self._source.read(BUFFER_BYTES) if self._current.needs_input else b""
                if self._current.needs_input and not rest:
                    raise EOFError("the last stream does not end")
            try:
                block: bytes = self._current.decompress(rest, size)
            except (lzma.LZMAError, ValueError) as error:
                raise OSError(str(error)) from error
            if block:
                return block


# A file of a few bytes may ask for a window of gigabytes.
_LIBRARY: dict[str, tuple[bytes, Callable[[], Any]]] = {
    "bzip2": (b"BZh", bz2.BZ2Decompressor),
    "xz": (b"\xfd7zXZ\0", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=1 << 28)),
}


class _Counted(io.RawIOBase):
    """Counts bytes, fills every request to the brim (pipes give less), and turns damage into a sentence."""

    def __init__(self, source: Any, name: str, check: Callable[[int], None] | None = None) -> None:
        self._source = source
        self._name = name
        self._check = check
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        filled = 0
        try:
            while filled < len(view):
                block = self._source.read(len(view) - filled)
                if not block:
                    break
                view[filled : filled + len(block)] = block
                filled += len(block)
        except (OSError, EOFError, zlib.error) as error:
            raise CorpusError(
                f"the file is damaged or cut short ({error}); fetch or write it again", path=self._name
            ) from error
        self.count += filled
        if self._check is not None:
            self._check(self.count)
        return filled


class _Zstd:
    """Decompresses zstd frames, and notices a frame that is cut short, which the library's reader does not."""

    # A block of four bytes can stand for 128 KiB, so small bites bound the memory that hostile input can take.
    BITE = 512

    def __init__(self, source: io.BufferedReader, name: str) -> None:
        try:
            import zstandard
        except ImportError as error:
            raise CorpusError(
                "reading zstd needs the package zstandard; install it with: pip install 'polyad[cli]'", path=name
            ) from error
        self._source = source
        self._error: type[Exception] = zstandard.ZstdError
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._frame: Any = None
        self._pending = b""
        self._ready = memoryview(b"")

    def read(self, size: int) -> memoryview:
        while not self._ready:
            bite = self._pending or self._source.read(self.BITE)
            self._pending = b""
            if not bite:
                if self._frame is not None:
                    raise EOFError("the last zstd frame does not end")
                return self._ready
            if self._frame is None:
                self._frame = self._new()
            try:
                self._ready = memoryview(self._frame.decompress(bite))
            except self._error as error:
                raise OSError(str(error)) from error
            if self._frame.eof:
                self._pending = self._frame.unused_data
                self._frame = None
        block, self._ready = self._ready[:size], self._ready[size:]
        return block
