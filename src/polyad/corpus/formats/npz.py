"""The npz of `scipy.sparse.save_npz`."""

import math
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from scipy.sparse import load_npz

from polyad.corpus.documents import CorpusError
from polyad.corpus.formats.entries import check_size
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.streams import ByteStream, check_unpacked, seekable

_NAMES = ("format", "shape", "data", "indices", "indptr", "row", "col", "offsets", "coords", "_is_array")
_ENTRIES = {f"{name}.npy" for name in _NAMES}
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MAX_HEADER = 10_000


def read_npz(stream: ByteStream, reading: ReadOptions) -> Any:
    """Read what `scipy.sparse.save_npz` wrote. Nothing in the file is ever run: pickled objects are refused."""
    with seekable(stream) as file:
        try:
            shape, entries = _look_into(file, stream.name, reading)
            for what, size in zip(("rows", "columns"), shape):
                check_size(what, size, entries, stream.name, reading.max_announced)
            file.seek(0)
            matrix: Any = load_npz(file)
            # scipy trusts the indices of the file; out of bounds they would lead into foreign memory.
            if hasattr(matrix, "check_format"):
                matrix.check_format(full_check=True)
            return matrix.tocoo()
        except CorpusError:
            raise
        # Damaged files raise errors of many kinds inside the library; all of them mean the same to the caller.
        except Exception as error:
            raise CorpusError(
                f"the file is not a sparse matrix saved by scipy.sparse.save_npz ({error})", path=stream.name
            ) from error


def _look_into(file: BinaryIO, name: str, reading: ReadOptions) -> tuple[tuple[int, ...], int]:
    """Return the shape of the matrix and the number of its entries; see that no array is larger than it can be."""
    with zipfile.ZipFile(file) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        if not {"shape.npy", "data.npy"} <= set(infos) <= _ENTRIES:
            raise ValueError(f"its entries are {', '.join(map(ascii, sorted(infos)[:12]))}")
        if len(infos) < len(archive.infolist()) or any(info.compress_type not in _METHODS for info in infos.values()):
            raise ValueError("an entry is there twice, or compressed in a way that save_npz does not use")
        unpacked = sum(info.file_size for info in infos.values())
        file.seek(0, 2)
        check_unpacked(unpacked, file.tell(), reading.max_unpacked, name)
        sizes = {key: _size(archive, info) for key, info in infos.items()}
        with archive.open("shape.npy") as entry:
            shape = npy.read_array(entry, allow_pickle=False, max_header_size=_MAX_HEADER)
    return tuple(int(size) for size in np.ravel(shape)), sizes["data.npy"]


def _size(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    """Return the number of elements of an array that has as many bytes as its header declares."""
    with archive.open(info) as entry:
        version = npy.read_magic(entry)
        read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, _, dtype = read_header(entry, max_header_size=_MAX_HEADER)
        header = entry.tell()
    size = math.prod(shape)
    if dtype.hasobject or size * dtype.itemsize != info.file_size - header:
        raise ValueError(f"the array {info.filename} is not as large as it declares, or not of numbers")
    return size
