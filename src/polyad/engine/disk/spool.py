"""Rows in raw files, one file for each array, written as they come: how many there will be need not be known."""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from polyad.engine.blocks import Block, canonical_rows, document_lengths, is_sparse, shard_edges
from polyad.engine.disk.shards import StoredView, views_of
from polyad.engine.sources import Source

# The types of the arrays: those of the shards, and the number of cells of every row in place of where it begins.
TYPES: dict[str, Any] = {
    "data": np.float64,
    "indices": np.int32,
    "cells": np.int32,
    "lengths": np.float64,
    "values": np.float64,
}


@dataclass(frozen=True, eq=False, repr=False)
class Spool(Source):
    """Rows in raw files of a folder."""

    folder: Path  # where the files lie
    views: tuple[StoredView, ...]  # what every view holds
    row_edges: tuple[int, ...]  # the row numbers at which the shards begin, and the number of all rows
    cell_edges: tuple[tuple[int, ...], ...]  # for every view the cells before each shard, and in all

    @property
    def edges(self) -> tuple[int, ...]:
        """The row numbers at which the shards begin, and the number of all rows."""
        return self.row_edges

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each view."""
        return tuple(view.width for view in self.views)

    @property
    def n_cells(self) -> int:
        """Stored cells of all views."""
        return sum(edges[-1] for edges in self.cell_edges)

    @property
    def in_memory(self) -> bool:
        """Never."""
        return False

    def shard(self, number: int, /) -> Block:
        """Return a shard, whose cells are the files."""
        found = [self._view(number, place) for place in range(len(self.views))]
        return Block(tuple(rows for rows, _ in found), tuple(lengths for _, lengths in found), self.edges[number])

    def _view(self, number: int, place: int) -> tuple[Any, NDArray[np.float64] | None]:
        rows, cells = self.row_edges[number : number + 2], self.cell_edges[place][number : number + 2]
        if self.views[place].kind == "signals":
            return mapped(self.folder, place, "values", *cells).reshape(-1, self.views[place].width), None
        indptr = np.zeros(rows[1] - rows[0] + 1, np.int64)
        np.cumsum(mapped(self.folder, place, "cells", *rows), out=indptr[1:])
        data, indices = (mapped(self.folder, place, array, *cells) for array in ("data", "indices"))
        lengths = mapped(self.folder, place, "lengths", *rows)
        return canonical_rows(data, indices, indptr, self.views[place].width), lengths


def raw_file(folder: Path, view: int, array: str) -> Path:
    """Return the file of an array."""
    return folder / f"view-{view}-{array}.raw"


def mapped(folder: Path, view: int, array: str, first: int, last: int) -> NDArray[Any]:
    """Return a part of the file of an array, without reading it."""
    kind = np.dtype(TYPES[array])
    if first == last:
        return np.empty(0, kind)  # nothing cannot be mapped
    offset, shape = first * kind.itemsize, (last - first,)
    return np.asarray(np.memmap(raw_file(folder, view, array), kind, "r", offset, shape))


class RawFiles:
    """The files of a spool, open for writing."""

    def __init__(self, folder: Path, views: tuple[StoredView, ...]) -> None:
        self.folder, self.views = folder, views
        self._files: dict[tuple[int, str], BinaryIO] = {}
        self._open = ExitStack()

    def __enter__(self) -> "RawFiles":
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def put(self, block: Block, place: NDArray[np.int64]) -> None:
        """Write rows behind a number of rows, and of cells of each view; what was written is added to these."""
        for number, (view, lengths) in enumerate(zip(block.views, block.lengths)):
            row, cell = int(place[0]), int(place[1 + number])
            if is_sparse(view):
                n_cells = int(view.nnz)
                self._write(number, "data", view.data[:n_cells], cell)
                self._write(number, "indices", view.indices[:n_cells], cell)
                self._write(number, "cells", np.diff(view.indptr), row)
                self._write(number, "lengths", lengths, row)
            else:
                n_cells = int(view.size)
                self._write(number, "values", view, cell)
            place[1 + number] += n_cells
        place[0] += block.n_rows

    def _write(self, view: int, array: str, values: Any, place: int) -> None:
        kind = np.dtype(TYPES[array])
        key = view, array
        if key not in self._files:
            self._files[key] = self._open.enter_context(raw_file(self.folder, view, array).open("wb"))
        self._files[key].seek(place * kind.itemsize)
        self._files[key].write(np.ascontiguousarray(values, dtype=kind).data)  # not tofile, which hides why it failed


def spooled(parts: Iterable[Any], folder: Path) -> Spool:
    """Write checked rows to raw files of a new folder as they come, and return them as a source.

    Parameters
    ----------
    parts
        Canonical CSR arrays of counts, dense arrays or blocks, under each other; they are read once.
    folder
        Where to write; it is made.

    Returns
    -------
    Spool
        The same shards as :func:`~polyad.engine.sources.arrays_of` makes in memory.
    """
    folder.mkdir()
    blocks = _blocks_of(parts)
    first = next(blocks, None)
    if first is None:
        raise ValueError("There is not one row to write. Give at least one document or sample.")
    views = views_of(first)
    place = np.zeros(1 + len(views), np.int64)
    with RawFiles(folder, views) as files:
        for block in itertools.chain([first], blocks):
            _refuse_other_views(views, views_of(block), int(place[0]))
            files.put(block, place)
    return _cut(folder, views, int(place[0]))


def _blocks_of(parts: Iterable[Any]) -> Iterator[Block]:
    for part in parts:
        if isinstance(part, Block):
            block = part
        else:
            block = Block((part,), (document_lengths(part) if is_sparse(part) else None,))
        if block.n_rows:
            yield block


def _refuse_other_views(views: tuple[StoredView, ...], found: tuple[StoredView, ...], row: int) -> None:
    if found != views:
        raise ValueError(f"The rows from {row} on are {found}, and those before them {views}: give rows of one kind.")


def _cut(folder: Path, views: tuple[StoredView, ...], n_rows: int) -> Spool:
    """Return what was written as a source, cut into shards by all of it."""

    def cells(view: int, first: int, last: int) -> NDArray[np.int32] | int:
        return views[view].width if views[view].kind == "signals" else mapped(folder, view, "cells", first, last)

    before = np.zeros(n_rows + 1, np.int64)
    for number in range(len(views)):
        before[1:] += cells(number, 0, n_rows)
    edges = shard_edges(np.cumsum(before, out=before))
    cell_edges = []
    for number in range(len(views)):
        sizes = (
            int(np.sum(np.broadcast_to(cells(number, first, last), last - first), dtype=np.int64))
            for first, last in itertools.pairwise(edges)
        )
        cell_edges.append(tuple(itertools.accumulate(sizes, initial=0)))
    return Spool(folder, views, edges, tuple(cell_edges))
