"""The container of a model file: a zip whose entries are stored plainly, with every size checked before it is read.

Entries are not compressed. Numbers hardly shrink, the same model gives the same bytes whatever compression library
is installed, and an entry can never be larger than the file that it is in, so that there are no zip bombs.
"""

import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

from polyad.base.atomic import atomic_write

MAX_BYTES = 8 * 2**30
MAX_ENTRIES = 64
# No clock: the same model gives the same bytes. This is the first moment that a zip can name.
_NO_TIME = (1980, 1, 1, 0, 0, 0)
_MAGIC = b"PK\x03\x04"
_UNIX, _READABLE = 3, 0o644 << 16

Pieces = Sequence[bytes | memoryview]


class ModelFileError(ValueError):
    """A model cannot be stored, or a file is not a whole, unchanged model that this version knows.

    Parameters
    ----------
    problem
        What is wrong and what to do about it.
    path
        The file.

    Examples
    --------
    >>> print(ModelFileError("it is empty", path="a.polyad"))
    a.polyad: it is empty
    """

    def __init__(self, problem: str, *, path: str | None = None) -> None:
        self.problem = problem
        self.path = path
        super().__init__(f"{path}: {problem}" if path else problem)


def write_archive(path: str | os.PathLike[str], entries: Mapping[str, Pieces]) -> None:
    """Write entries, each given in pieces that follow one another, in their order."""
    with atomic_write(path) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, pieces in entries.items():
            info = zipfile.ZipInfo(name, _NO_TIME)
            info.create_system, info.external_attr = _UNIX, _READABLE
            info.file_size = sum(len(piece) for piece in pieces)
            with archive.open(info, "w") as entry:
                for piece in pieces:
                    entry.write(piece)


class Archive:
    """An open archive whose sizes were checked; made by `open_archive`.

    Attributes
    ----------
    sizes
        The bytes of each entry.
    """

    def __init__(self, archive: zipfile.ZipFile, path: str) -> None:
        self._archive = archive
        self.path = path
        self.sizes = {info.filename: info.file_size for info in archive.infolist()}

    def read(self, name: str, limit: int | None = None) -> bytes:
        """Read an entry whole; zipfile compares its check sum."""
        if name not in self.sizes:
            raise ModelFileError(
                f"its entry {name} is missing; the file is damaged, save the model again", path=self.path
            )
        if limit is not None and self.sizes[name] > limit:
            raise ModelFileError(
                f"its entry {name} has {self.sizes[name]:,} bytes, and at most {limit:,} are allowed", path=self.path
            )
        with _damage_told(self.path):
            return self._archive.read(name)


@contextmanager
def open_archive(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Iterator[Archive]:
    """Open a model file and check the sizes of all that is in it, before anything of it is read."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        _check_start(file, size, max_bytes, name)
        with _damage_told(name):
            archive = zipfile.ZipFile(file)
        with archive:
            _check_entries(archive, size, name)
            yield Archive(archive, name)


def _check_start(file: IO[bytes], size: int, max_bytes: int, path: str) -> None:
    if size > max_bytes:
        raise ModelFileError(
            f"it has {size:,} bytes, and at most {max_bytes:,} are read; give a larger max_bytes if you trust it",
            path=path,
        )
    start = file.read(len(_MAGIC))
    if start != _MAGIC:
        what = "it is empty" if not start else "it is not a polyad model file"
        raise ModelFileError(f"{what}; `polyad fit` and `model.save` write model files", path=path)
    file.seek(0)


def _check_entries(archive: zipfile.ZipFile, size: int, path: str) -> None:
    infos = archive.infolist()
    if len(infos) > MAX_ENTRIES:
        raise ModelFileError(f"it has {len(infos)} entries, and a model file has at most {MAX_ENTRIES}", path=path)
    if len({info.filename for info in infos}) < len(infos):
        raise ModelFileError("two of its entries have the same name; it is not a sound model file", path=path)
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.file_size != info.compress_size:
            raise ModelFileError(
                f"its entry {info.filename!a} is compressed or encrypted ({info.compress_size:,} bytes that declare "
                f"{info.file_size:,}); entries of a model file are stored plainly, so it is refused",
                path=path,
            )
    declared = sum(info.file_size for info in infos)
    if declared > size:
        raise ModelFileError(
            f"its entries declare {declared:,} bytes, more than the {size:,} of the file; it is refused", path=path
        )


@contextmanager
def _damage_told(path: str) -> Iterator[None]:
    # zipfile meets damaged bytes with errors of a dozen kinds, from struct.error to NotImplementedError.
    try:
        yield
    except Exception as error:
        raise ModelFileError(
            f"it is damaged or cut short ({str(error) or type(error).__name__}); copy it or save the model again",
            path=path,
        ) from error
