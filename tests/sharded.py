"""Sources with tiny shards, and what makes two of them the same."""

from contextlib import contextmanager

import numpy as np
from scipy import sparse

from polyad.engine import blocks


@contextmanager
def tiny_cuts(shard=20, block=6, rows=4):
    """Cut shards and blocks after a few cells, so that a small corpus has many of them."""
    names = {"SHARD_CELLS": shard, "BLOCK_CELLS": block, "BLOCK_ROWS": rows}
    before = {name: getattr(blocks, name) for name in names}
    try:
        for name, value in names.items():
            setattr(blocks, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(blocks, name, value)


def arrays_in(block):
    """Return all arrays of a block."""
    views = [(view.data, view.indices, view.indptr) if sparse.issparse(view) else (view,) for view in block.views]
    return [array for view in views for array in view] + [tokens for tokens in block.lengths if tokens is not None]


def assert_same_shards(one, other):
    """Two sources are the same byte for byte: where they are cut, and what is in every shard."""
    assert (one.edges, one.widths, one.n_cells) == (other.edges, other.widths, other.n_cells)
    for number in range(one.n_shards):
        left, right = one.shard(number), other.shard(number)
        assert left.start == right.start == one.edges[number]
        for a, b in zip(arrays_in(left), arrays_in(right), strict=True):
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def rows_of(source):
    """Return all rows of the one view of a source as a dense array."""
    parts = [block.rows for block in source]
    return sparse.vstack(parts).toarray() if sparse.issparse(parts[0]) else np.vstack(parts)


def products(block, columns):
    """Return X' X times columns for a block of counts: sums that tell the order of addition by their last bits."""
    return block.rows.T @ (block.rows @ columns)


def doubled_shares(shard, state, scale):
    """Return a sum over a shard, and a new state with one row per document."""
    shares = scale * shard.tokens[:, None] / (1 + np.arange(3)) if state is None else state * scale
    return shares.sum(axis=0), shares
