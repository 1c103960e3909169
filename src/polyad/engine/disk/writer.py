"""Writing shards to disk, in the order in which rows come or in the canonical order, in bounded memory."""

import itertools
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import blocks as cuts
from polyad.engine.blocks import Block, is_sparse, shard_edges
from polyad.engine.checks import checked_counts, checked_signals
from polyad.engine.disk.shards import (
    ARRAYS,
    MANIFEST,
    NUMBERS,
    Manifest,
    Shards,
    StoredView,
    file_name,
    views_of,
    write_manifest,
)
from polyad.engine.disk.spool import RawFiles, Spool, spooled
from polyad.engine.order.keys import canonical_order, keys_and_cells
from polyad.engine.runners import rows as rows_of
from polyad.engine.sources import Source

ViewRows: TypeAlias = Iterable[tuple[Any, FloatArray | None]]  # of each view the rows, and their lengths


def write_shards(
    rows: Source | Iterable[Any], path: str | PathLike[str], order: str = "content", *, overwrite: bool = False
) -> Shards:
    """Write rows to a folder of shards, in bounded memory.

    The folder appears when it is complete; after an error there is nothing. In memory there are at any time some 40
    bytes for every row, two shards and a block (:func:`writing_bytes`); on disk, until the end, a second copy of the
    rows beside the shards.

    Parameters
    ----------
    rows
        A source; or rows under each other, as sparse arrays of counts, dense arrays of measurements or blocks: any
        iterable, also one that can be read only once. Its cells are checked.
    path
        The folder to make, in a folder that exists.
    order
        "content" for the canonical order of documents: the shards are those that
        :func:`~polyad.engine.ordered_by_content` makes in memory. "given" for the order in which the rows come.
    overwrite
        Whether shards that lie there may be replaced. Nothing else ever is.

    Returns
    -------
    Shards
        The folder, as a source.

    Raises
    ------
    ValueError
        Where there are no rows, or they do not belong together.
    FileExistsError
        Where there is something at the path.

    Examples
    --------
    >>> import tempfile
    >>> from polyad.engine import count_blocks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shards = write_shards(count_blocks([[2, 0, 1], [0, 3, 0]]), f"{folder}/texts", order="given")
    ...     [block.rows.toarray().tolist() for block in shards]
    [[[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]]]
    """
    if order not in ("content", "given"):
        raise ValueError(f"The order is {order!r}; give 'content' or 'given'.")
    if not isinstance(rows, Source):
        rows = _checked(rows)
    target = Path(path).absolute()
    refuse_existing(target, overwrite)
    with (
        _errors_with_path(target),
        tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.", ignore_cleanup_errors=True) as name,
    ):
        scratch = Path(name)
        source = rows if isinstance(rows, Source) else spooled(rows, scratch / "spool")
        views = views_of(source.shard(0))
        folder = scratch / "shards"  # with the rights of any new folder; the one around it is for its owner alone
        folder.mkdir()
        files: dict[str, tuple[int, int]] = {}
        if order == "content":
            edges, numbers, shards = _in_canonical_order(source, views, scratch)
            files[NUMBERS] = _save(folder / NUMBERS, numbers.astype(np.int64, copy=False))
        else:
            edges, shards = _as_given(source)
        _write(folder, order, views, edges, shards, files)
        _put_in_place(folder, target, scratch / "old")
    return Shards(target)


def _put_in_place(folder: Path, target: Path, aside: Path) -> None:
    """Give a complete folder its name; what had it before is moved aside, and back on any error."""
    if target.exists():
        target.rename(aside)
    try:
        folder.rename(target)
    except BaseException:
        if aside.exists():
            aside.rename(target)
        raise


def writing_bytes(n_rows: int, n_views: int = 1) -> int:
    """Return about how much memory it takes to write so many rows in the canonical order.

    A document that is larger than a shard adds its own size.

    Examples
    --------
    >>> writing_bytes(10_000_000) < 1 << 30
    True
    """
    cell_bytes = 12
    return (32 + 8 * n_views) * n_rows + 2 * cell_bytes * (cuts.SHARD_CELLS + cuts.BLOCK_CELLS)


def _checked(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield parts with every cell looked at, once and for all: what is on disk is trusted later on."""
    start = 0
    for part in parts:
        if isinstance(part, Block):
            checked: Any = part
        else:
            check = checked_counts if is_sparse(part) else checked_signals
            checked = check(part, start, may_be_empty=True)
        start += checked.n_rows if isinstance(checked, Block) else checked.shape[0]
        yield checked


def refuse_existing(target: Path, overwrite: bool) -> None:
    """Refuse a place that something else has."""
    if not target.exists():
        return
    if not overwrite:
        raise FileExistsError(f"{target} is there already. Give another name, or overwrite=True to replace shards.")
    if not target.is_dir() or (any(target.iterdir()) and not (target / MANIFEST).is_file()):
        raise FileExistsError(f"{target} is no folder of shards, and will not be replaced. Give another name.")


@contextmanager
def _errors_with_path(target: Path) -> Iterator[None]:
    """Name the target in errors of the system that name no file, as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error


def _as_given(source: Source) -> tuple[tuple[int, ...], Iterator[ViewRows]]:
    blocks = (source.shard(number) for number in range(source.n_shards))
    return source.edges, (zip(block.views, block.lengths) for block in blocks)


def _in_canonical_order(
    source: Source, views: tuple[StoredView, ...], scratch: Path
) -> tuple[tuple[int, ...], NDArray[np.intp], Iterator[ViewRows]]:
    """Return the edges of the shards, the rows in the canonical order, and the shards, made when they are asked for."""
    found = rows_of(keys_and_cells, source)
    keys, cells = found["key"].copy(), found["cells"].copy()
    del found
    order = canonical_order(keys)
    del keys
    before = np.zeros(order.size + 1, np.int64)
    np.sum(cells[order], axis=1, out=before[1:])
    edges = shard_edges(np.cumsum(before, out=before))
    del before
    in_shards = [cells[order[first:last]].sum(axis=0, dtype=np.int64) for first, last in itertools.pairwise(edges)]
    del cells
    cell_edges = tuple(tuple(itertools.accumulate(map(int, sizes), initial=0)) for sizes in zip(*in_shards))
    buckets = Spool(scratch / "buckets", views, edges, cell_edges)
    _scatter(source, order, buckets)
    shutil.rmtree(scratch / "spool", ignore_errors=True)  # what was spooled is in the buckets now
    bounds = enumerate(itertools.pairwise(edges))
    return edges, order, (_sorted(buckets.shard(number), order[first:last]) for number, (first, last) in bounds)


def _scatter(source: Source, order: NDArray[np.intp], buckets: Spool) -> None:
    """Write each row to the bucket of its shard, where rows keep the order in which they come."""
    edges = buckets.edges
    shard_of_row = np.empty(order.size, np.int32)
    shard_of_row[order] = np.repeat(np.arange(len(edges) - 1, dtype=np.int32), np.diff(edges))
    places = np.array([edges[:-1], *(edges_of_view[:-1] for edges_of_view in buckets.cell_edges)], np.int64).T.copy()
    buckets.folder.mkdir()
    with RawFiles(buckets.folder, buckets.views) as files:
        for block in source:
            to = shard_of_row[block.start : block.start + block.n_rows]
            together = np.argsort(to, kind="stable")
            views = tuple(view[together] for view in block.views)
            moved = Block(views, tuple(None if tokens is None else tokens[together] for tokens in block.lengths))
            numbers, firsts = np.unique(to[together], return_index=True)
            for number, (first, last) in zip(numbers, itertools.pairwise([*firsts.tolist(), block.n_rows])):
                files.put(moved.between(first, last), places[number])


def _sorted(bucket: Block, chosen: NDArray[np.intp]) -> ViewRows:
    """Yield the views of a shard, given its rows in the order of the source and the numbers they had there."""
    places = np.argsort(np.argsort(chosen))
    for view, lengths in zip(bucket.views, bucket.lengths):
        yield view[places], None if lengths is None else lengths[places]


def _write(
    folder: Path,
    order: str,
    views: tuple[StoredView, ...],
    edges: tuple[int, ...],
    shards: Iterable[ViewRows],
    files: dict[str, tuple[int, int]],
) -> None:
    n_cells = 0
    for number, shard in enumerate(shards):
        n_cells += _write_shard(folder, number, views, shard, files)
    write_manifest(folder, Manifest(order, views, edges, n_cells, files))


def _write_shard(
    folder: Path, number: int, views: tuple[StoredView, ...], shard: ViewRows, files: dict[str, tuple[int, int]]
) -> int:
    """Write the files of a shard, enter them and return its cells; nothing holds the rows when the next one is made."""
    n_cells = 0
    for place, (rows, lengths) in enumerate(shard):
        arrays = _arrays(rows, lengths, views[place].kind)
        n_cells += arrays[0].size
        for name, array in zip(ARRAYS[views[place].kind], arrays):
            file = file_name(number, place, name)
            files[file] = _save(folder / file, array)
    return n_cells


def _arrays(rows: Any, lengths: FloatArray | None, kind: str) -> tuple[NDArray[Any], ...]:
    """Return the arrays of a view in the order of :data:`~polyad.engine.disk.shards.ARRAYS`."""
    if kind == "signals" or lengths is None:
        return (np.ascontiguousarray(rows, np.float64),)
    n_cells = int(rows.nnz)
    indices, indptr = rows.indices[:n_cells].astype(np.int32, copy=False), rows.indptr.astype(np.int32, copy=False)
    return rows.data[:n_cells], indices, indptr, lengths


class _Summed:
    """A file that knows its size and its checksum."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.size, self.crc32 = file, 0, 0

    def write(self, piece: bytes) -> int:
        self.size += len(piece)
        self.crc32 = zlib.crc32(piece, self.crc32)
        return self.file.write(piece)


def _save(path: Path, array: NDArray[Any]) -> tuple[int, int]:
    """Write an array, and return the size of the file and its checksum."""
    with path.open("wb") as file:
        summed = _Summed(file)
        np.lib.format.write_array(summed, array, allow_pickle=False)
    return summed.size, summed.crc32
