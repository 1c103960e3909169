"""Shards in a folder on disk, read where they lie.

A folder of shards has a ``manifest.json`` and, for every shard and view, one ``.npy`` file for each array: ``data``,
``indices``, ``indptr`` and ``lengths`` of counts, ``values`` of measurements. Rows in the canonical order also have
``rows.npy``, the number that each had in the input. Sums are compared when a process first reads a shard. The arrays
have the types that passes work with (float64, and int32 for places): a smaller type would take less disk, but every
pass would have to make a copy in memory, where it now reads the mapped file itself.
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.engine.blocks import Block, canonical_rows, is_sparse
from polyad.engine.disk.temporary import will_need
from polyad.engine.sources import Source

FORMAT = "polyad-shards"
VERSION = 1
MANIFEST = "manifest.json"
NUMBERS = "rows.npy"
ARRAYS = {"counts": ("data", "indices", "indptr", "lengths"), "signals": ("values",)}
LARGEST_WIDTH = np.iinfo(np.int32).max
CHECK_BYTES = 1 << 22  # read together for a checksum
AGAIN = "Write the shards again."

_intact: set[tuple[str, int, int]] = set()  # shards whose sums this process has compared


@dataclass(frozen=True)
class StoredView:
    """What a view holds, "counts" or "signals", and its number of columns."""

    kind: str
    width: int


def views_of(block: Block) -> tuple[StoredView, ...]:
    """Return what the views of a block hold, if it has a place in shards."""
    views = tuple(StoredView("counts" if is_sparse(view) else "signals", int(view.shape[1])) for view in block.views)
    for view, lengths in zip(views, block.lengths):
        if view.kind == "counts" and lengths is None:
            raise ValueError("A view of counts has no lengths of documents: make it with count_blocks.")
        if view.width > LARGEST_WIDTH:
            raise ValueError(f"A view has {view.width:,} columns, more than shards can number ({LARGEST_WIDTH:,}).")
    return views


@dataclass(frozen=True)
class Manifest:
    """What is in a folder of shards."""

    order: str  # "content", the canonical order, or "given"
    views: tuple[StoredView, ...]  # what every view holds
    edges: tuple[int, ...]  # the row numbers at which the shards begin, and the number of all rows
    n_cells: int  # stored cells of all views
    files: dict[str, tuple[int, int]]  # for the name of every file its size in bytes and its CRC-32

    def names(self) -> Iterator[str]:
        """Yield the names of the files that the shards need."""
        for number in range(len(self.edges) - 1):
            yield from self.names_of_shard(number)

    def names_of_shard(self, number: int) -> Iterator[str]:
        """Yield the names of the files of a shard."""
        for place, view in enumerate(self.views):
            yield from (file_name(number, place, array) for array in ARRAYS[view.kind])

    def sum_of_shard(self, number: int) -> int:
        """Return a number that tells whether a shard is another one than before."""
        return hash(tuple(self.files[name] for name in self.names_of_shard(number)))


def file_name(number: int, view: int, array: str) -> str:
    """Return the name of the file of an array.

    Examples
    --------
    >>> file_name(3, 0, "indices")
    'shard-00003-view-0-indices.npy'
    """
    return f"shard-{number:05d}-view-{view}-{array}.npy"


class Shards(Source):
    """Shards in a folder on disk, which are read as passes need them.

    Only the manifest is read, and the sizes of the files compared, when a folder is opened; :meth:`verify` reads
    everything. What is sent to another process is the path.

    Parameters
    ----------
    path
        A folder that :func:`~polyad.engine.write_shards` made.

    Raises
    ------
    ValueError
        Where the folder is none of shards, or a file is missing or has another size than when it was written.

    Examples
    --------
    >>> import tempfile
    >>> from polyad.engine import count_blocks, write_shards
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_shards(count_blocks([[2, 0, 1], [0, 3, 0]]), f"{folder}/texts")
    ...     shards = Shards(f"{folder}/texts")
    ...     shards.verify()
    ...     shards.shape, shards.n_cells, shards.is_canonical
    ((2, 3), 3, True)
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self.manifest = read_manifest(self.path)

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers at which the shards begin, and the number of all rows."""
        return self.manifest.edges

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each view."""
        return tuple(view.width for view in self.manifest.views)

    @property
    def n_cells(self) -> int:
        """Stored cells of all views."""
        return self.manifest.n_cells

    @property
    def in_memory(self) -> bool:
        """Never."""
        return False

    @property
    def is_canonical(self) -> bool:
        """Whether the rows were written in the canonical order."""
        return self.manifest.order == "content"

    def row_numbers(self) -> NDArray[np.int64] | None:
        """Return the number that each row had in the input; None where the rows were written as they came."""
        if NUMBERS not in self.manifest.files:
            return None
        self._compare([NUMBERS])
        return _mapped(self.path / NUMBERS)

    def shard(self, number: int, /) -> Block:
        """Return a shard, whose arrays are the files; the first time in a process that these are what was written.

        Raises
        ------
        ValueError
            Which names the file, where one is damaged.
        """
        key = str(self.path), self.manifest.sum_of_shard(number), number
        if key not in _intact:
            self._compare(self.manifest.names_of_shard(number))
            _intact.add(key)
        found = [self._view(number, place, view) for place, view in enumerate(self.manifest.views)]
        return Block(tuple(rows for rows, _ in found), tuple(lengths for _, lengths in found), self.edges[number])

    def announce(self, number: int, /) -> None:
        """Have the system read the files of a shard while something else is computed, where it can."""
        for name in self.manifest.names_of_shard(number):
            will_need(self.path / name)

    def _view(self, number: int, place: int, view: StoredView) -> tuple[Any, NDArray[np.float64] | None]:
        arrays = [_mapped(self.path / file_name(number, place, array)) for array in ARRAYS[view.kind]]
        if view.kind == "signals":
            return arrays[0], None
        data, indices, indptr, lengths = arrays
        return canonical_rows(data, indices, indptr, view.width), lengths

    def verify(self) -> None:
        """Read all files and compare their checksums with those of the manifest.

        Raises
        ------
        ValueError
            Which names the first damaged file.
        """
        self._compare(self.manifest.files)

    def _compare(self, names: Iterable[str]) -> None:
        for name in names:
            try:
                found = checksum(self.path / name)
            except FileNotFoundError:
                raise ValueError(f"{self.path / name} is missing. {AGAIN}") from None
            if found != self.manifest.files[name][1]:
                raise ValueError(f"{self.path / name} is damaged: it is not what was written there. {AGAIN}")

    def __reduce__(self) -> tuple[type["Shards"], tuple[str]]:
        """Travel as a path."""
        return Shards, (str(self.path),)


def _mapped(file: Path) -> NDArray[Any]:
    try:
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError:
        raise ValueError(f"{file} is missing. {AGAIN}") from None
    except ValueError as error:  # no array at all, or one that is longer than its file
        raise ValueError(f"{file} cannot be read: {error}. {AGAIN}") from None


def checksum(file: Path) -> int:
    """Return the CRC-32 of a file."""
    found = 0
    with file.open("rb") as stream:
        while piece := stream.read(CHECK_BYTES):
            found = zlib.crc32(piece, found)
    return found


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder of shards, whose files are all there and of the right size."""
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(
            f"{folder} is no folder of shards: it has no {MANIFEST}. Give a folder that write_shards made."
        ) from None
    except ValueError as error:
        raise ValueError(f"{folder / MANIFEST} is no manifest of shards: {error}. {AGAIN}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{folder / MANIFEST} is not of the format {FORMAT!r}. Give a folder that write_shards made.")
    if content.get("version") != VERSION:
        raise ValueError(
            f"{folder} has shards of version {content.get('version')}; this polyad reads version {VERSION}. "
            "Use the polyad that wrote them, or write them again."
        )
    try:
        manifest = _parsed(content)
        _check_sizes(folder, manifest)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{folder / MANIFEST} is damaged ({type(error).__name__}: {error}). {AGAIN}") from None
    return manifest


def _parsed(content: dict[str, Any]) -> Manifest:
    return Manifest(
        str(content["order"]),
        tuple(StoredView(str(view["kind"]), int(view["width"])) for view in content["views"]),
        tuple(int(edge) for edge in content["edges"]),
        int(content["n_cells"]),
        {str(name): (int(file["size"]), int(file["crc32"])) for name, file in content["files"].items()},
    )


def _check_sizes(folder: Path, manifest: Manifest) -> None:
    for name in manifest.names():
        expected, _ = manifest.files[name]
        try:
            size = (folder / name).stat().st_size
        except FileNotFoundError:
            raise ValueError(f"{folder / name} is missing. {AGAIN}") from None
        if size != expected:
            raise ValueError(
                f"{folder / name} has {size:,} bytes, but {expected:,} were written: it was cut short or changed. "
                f"{AGAIN}"
            )


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a folder of shards."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "order": manifest.order,
        "views": [{"kind": view.kind, "width": view.width} for view in manifest.views],
        "edges": manifest.edges,
        "n_cells": manifest.n_cells,
        "files": {name: {"size": size, "crc32": crc32} for name, (size, crc32) in manifest.files.items()},
    }
    (folder / MANIFEST).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
