"""The canonical order of documents: it depends on what is in them, and not on where they stand."""

from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polyad.engine.blocks import Block, fits_one_shard, joined, shard_edges
from polyad.engine.disk.shards import Shards
from polyad.engine.disk.temporary import in_temporary_folder
from polyad.engine.disk.writer import write_shards
from polyad.engine.order.keys import canonical_order, content_keys, row_cells
from polyad.engine.runners import rows
from polyad.engine.sources import Arrays, Source, rows_of_block


def ordered_by_content(source: Source) -> Source:
    """Return data with their rows in an order that any order of the same rows would give.

    Sums of rounded numbers depend on the order in which they are added; with the rows put in the same order first,
    the same documents give the same bytes however they come. The order is as good as random: neighbours have nothing
    in common, equal documents are spread out evenly, and the first shards are a sample of all. Rows of several views
    move together.

    It copies the rows: in memory where they are there, and otherwise to temporary shards on disk, which go with the
    source that is returned. Shards that were written in this order are returned as they are.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> rows = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1]])
    >>> one, other = (ordered_by_content(count_blocks(X)) for X in (rows, rows[::-1]))
    >>> [bool((a.rows != b.rows).nnz) for a, b in zip(one, other)]
    [False]
    """
    if isinstance(source, Shards) and source.is_canonical:
        return source
    return _in_memory(source) if source.in_memory else _on_disk(source)


def _on_disk(source: Source) -> Source:
    def written(folder: Path) -> Shards:
        return write_shards(source, folder / "shards", order="content")

    return in_temporary_folder(written)


def _in_memory(source: Source) -> Arrays:
    order = canonical_order(content_keys(source))
    if source.n_shards == 1 and fits_one_shard(source.n_cells, source.n_rows):  # views of one shard each may be more
        return Arrays((rows_of_block(source.shard(0), order),), source.widths)
    edges = shard_edges(np.concatenate([[0], np.cumsum(rows(row_cells, source)[order])]))
    shards = [taken_rows(source, order[first:last], first) for first, last in pairwise(edges)]
    return Arrays(tuple(shards), source.widths)


def taken_rows(source: Source, chosen: NDArray[np.intp], start: int) -> Block:
    """Return some rows of a source, in any order, as a block: one shard of the source is looked at after the other."""
    place = np.searchsorted(source.edges, chosen, side="right") - 1
    pieces = [
        rows_of_block(source.shard(number), chosen[place == number] - source.edges[number], start)
        for number in np.unique(place)
    ]
    if len(pieces) == 1:
        return pieces[0]
    return rows_of_block(joined(pieces), np.argsort(np.argsort(place, kind="stable")), start)
