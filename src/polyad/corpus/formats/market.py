"""Matrix Market: coordinate or array, documents x words.

Read here rather than by `scipy.io.mmread`, which can take the process down when a file is damaged, and says
less about where.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from polyad.corpus.documents import CorpusError, Tally
from polyad.corpus.formats.entries import MAX_INDEX, check_size, numbers_of, to_matrix
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.streams import ByteStream
from polyad.corpus.formats.triples import read_triples

_LINE_BYTES = 10_000


def read_matrix_market(stream: ByteStream, tally: Tally, reading: ReadOptions) -> Any:
    """Read the matrix; bad entries of coordinate files can be skipped, those of arrays cannot."""
    banner = stream.reader.readline(_LINE_BYTES).decode("latin-1").lower().split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
        raise CorpusError(
            "the first line must be such as '%%MatrixMarket matrix coordinate integer general'",
            path=stream.name,
            line=1,
        )
    layout, kind, symmetry = banner[2:]
    kinds = ("integer", "real", "double") if layout == "array" else ("integer", "real", "double", "unsigned-integer")
    if layout not in ("coordinate", "array") or kind not in kinds or symmetry != "general":
        raise CorpusError(
            f"a {' '.join(banner[2:])} matrix is not one of counts; it must be coordinate or array, "
            "integer or real, and general",
            path=stream.name,
            line=1,
        )
    sizes, number = _read_sizes(stream, 3 if layout == "coordinate" else 2)
    shape = (sizes[0], sizes[1])
    if layout == "array":
        return _read_array(stream, shape, number, reading)
    _check_shape(shape, sizes[2], stream, reading)
    triples = read_triples(stream, tally, shape, sizes[2], number, reading.max_document_bytes, _real_count)
    return to_matrix(triples, shape)


def _check_shape(shape: tuple[int, int], entries: int, stream: ByteStream, reading: ReadOptions) -> None:
    for what, size in zip(("rows", "columns"), shape):
        check_size(what, size, entries, stream.name, reading.max_announced)


def _read_sizes(stream: ByteStream, wanted: int) -> tuple[list[int], int]:
    number = 1
    while line := stream.reader.readline(_LINE_BYTES):
        number += 1
        if line.startswith(b"%") or not line.strip():
            continue
        sizes = numbers_of(line.split())
        if sizes is None or len(sizes) != wanted:
            break
        return sizes, number
    raise CorpusError(f"the line of sizes must be {wanted} whole numbers", path=stream.name, line=number)


def _real_count(field: bytes) -> int | None:
    """Read a count that may be written as a real number, such as 3.0 or 3e+00."""
    try:
        value = float(field)
    except ValueError:
        return None
    return int(value) if value >= 0 and value.is_integer() else None


def _read_array(stream: ByteStream, shape: tuple[int, int], number: int, reading: ReadOptions) -> Any:
    # The values are gathered before any room is made, so that only the file itself takes memory.
    values = np.fromiter(_array_values(stream, number), dtype=np.int32)
    if len(values) != shape[0] * shape[1]:
        raise CorpusError(
            f"the header announces {shape[0]} x {shape[1]} values, but there are {len(values):,}; "
            "the file may be cut short",
            path=stream.name,
        )
    _check_shape(shape, len(values), stream, reading)
    # Columns come one after the other.
    return values.reshape(shape[1], shape[0]).T


def _array_values(stream: ByteStream, number: int) -> Iterator[int]:
    while line := stream.reader.readline(_LINE_BYTES):
        number += 1
        for field in line.split():
            count = _real_count(field)
            if count is None or count > MAX_INDEX:
                raise CorpusError(
                    f"{field[:40]!r} is not a count, a whole number from 0 on", path=stream.name, line=number
                )
            yield count
