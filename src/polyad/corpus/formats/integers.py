"""Whole numbers out of blocks of text at the speed of NumPy, with their places, for the count formats."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyad.corpus.documents import CorpusError
from polyad.corpus.formats.options import MAX_DOCUMENT_BYTES
from polyad.corpus.formats.streams import ByteStream

BLOCK_BYTES = 1 << 21
# Nineteen digits could pass the largest number of 64 bits.
_MAX_DIGITS = 18
_POWERS = 10 ** np.arange(_MAX_DIGITS, dtype=np.int64)
_KINDS = np.zeros(256, dtype=np.uint8)
_BLANK, _DIGIT, _COLON, _NEWLINE = 1, 2, 3, 4
for _byte, _kind in ((b" \t\r", _BLANK), (b"0123456789", _DIGIT), (b":", _COLON), (b"\n", _NEWLINE)):
    _KINDS[list(_byte)] = _kind


@dataclass(frozen=True)
class Integers:
    """The numbers of a block of lines."""

    values: NDArray[np.int64]  # the numbers in their order
    lines: NDArray[np.intp]  # the line of each, from 0 in the block
    before_colon: NDArray[np.bool_]  # whether a colon follows at once
    n_lines: int  # lines of the block


def read_blocks_of_lines(stream: ByteStream, max_bytes: int = MAX_DOCUMENT_BYTES, line: int = 0) -> Iterator[bytes]:
    """Yield blocks of whole lines; the last line gets its end if it has none.

    A line of more than an eighth of `max_bytes` is an error: as numbers it takes twenty times the room. `line` is the
    number of lines before the first.
    """
    limit = max(1, max_bytes // 8)
    rest: list[bytes] = []
    waiting = 0
    while block := stream.reader.read(BLOCK_BYTES):
        cut = block.rfind(b"\n") + 1
        first = block.find(b"\n")
        if waiting + (len(block) if first < 0 else first) > limit:
            raise CorpusError(
                f"the line is longer than {limit:,} bytes; is there one document on each line? If so, raise "
                "max_document_bytes to eight times its length",
                path=stream.name,
                line=line + 1,
            )
        if cut == 0:
            rest.append(block)
            waiting += len(block)
            continue
        line += block.count(b"\n")
        yield b"".join([*rest, block[:cut]])
        rest = [block[cut:]] if cut < len(block) else []
        waiting = len(block) - cut
    if rest:
        yield b"".join(rest) + b"\n"


def scan_integers(block: bytes) -> Integers | None:
    r"""Read all numbers of a block of lines; None if there is anything but digits, blanks and colons.

    A colon must stand between two digits. The caller then reads line by line, to say what is wrong where.

    Examples
    --------
    >>> scan_integers(b"1 12:3\n7\n").values.tolist()
    [1, 12, 3, 7]
    >>> scan_integers(b"1 -2\n") is None
    True
    """
    kinds = _KINDS[np.frombuffer(block, dtype=np.uint8)]
    if not kinds.all():
        return None
    digit = kinds == _DIGIT
    edges = np.diff(np.concatenate([[False], digit, [False]]).astype(np.int8))
    starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    lengths = stops - starts
    if len(lengths) and lengths.max() > _MAX_DIGITS:
        return None
    after = np.concatenate([kinds, [_NEWLINE]]).astype(np.uint8)
    before_colon = after[stops] == _COLON
    # Every colon has a number before it and a number right after it.
    starts_after_colon = (starts > 0) & (kinds[np.maximum(starts - 1, 0)] == _COLON)
    n_colons = int(np.count_nonzero(kinds == _COLON))
    if not n_colons == np.count_nonzero(before_colon) == np.count_nonzero(starts_after_colon):
        return None
    places = np.flatnonzero(digit)
    exponents = (np.repeat(stops, lengths) - 1 - places).astype(np.uint8)
    scaled = _POWERS[exponents]
    scaled *= np.frombuffer(block, dtype=np.uint8)[places] - ord("0")
    offsets = np.cumsum(lengths) - lengths
    values = np.add.reduceat(scaled, offsets) if len(offsets) else np.empty(0, np.int64)
    newline_places = np.flatnonzero(kinds == _NEWLINE)
    lines = np.searchsorted(newline_places, starts)
    return Integers(values.astype(np.int64), lines, before_colon, len(newline_places))
