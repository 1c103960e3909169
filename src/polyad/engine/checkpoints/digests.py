"""Digests of data and of what passes are given: whether a pass is the same as one that was run before."""

import hashlib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from polyad.engine.blocks import Block
from polyad.engine.disk.shards import Shards, checksum
from polyad.engine.disk.spool import Spool
from polyad.engine.sources import Source

_known: "WeakKeyDictionary[Source, str]" = WeakKeyDictionary()  # hashing data in memory costs a pass


def digest(value: Any) -> str:
    """Return a digest of arrays, numbers, dataclasses, functions and sources, however they are nested.

    Examples
    --------
    >>> digest((1, np.arange(3))) == digest((1, np.arange(3))), digest(np.arange(3)) == digest(np.arange(3.0))
    (True, False)
    """
    found = hashlib.blake2b(digest_size=16)
    _feed(found, value)
    return found.hexdigest()


def digest_of_source(source: Source) -> str:
    """Return a digest of data, wherever they lie; it is worked out once for a source."""
    known = _known.get(source)
    if known is None:
        known = _known[source] = digest(source)
    return known


def _feed(found: Any, value: Any) -> None:
    found.update(type(value).__qualname__.encode())
    if isinstance(value, np.ndarray):
        found.update(f"{value.dtype.str}{value.shape}".encode())
        found.update(np.ascontiguousarray(value).data.cast("B") if value.size else b"")
    elif sparse.issparse(value):
        rows: Any = value
        for part in (rows.shape, rows.data, rows.indices, rows.indptr.astype(np.int64)):
            _feed(found, part)
    elif isinstance(value, Shards):
        manifest = value.manifest
        _feed(found, [(name, *manifest.files[name]) for name in manifest.names()])
    elif isinstance(value, Spool):
        for part in (value.views, value.row_edges, value.cell_edges):
            _feed(found, part)
        for file in sorted(Path(value.folder).iterdir()):
            _feed(found, (file.name, checksum(file)))
    elif isinstance(value, Block):
        for parts in (value.views, value.lengths, value.start):
            _feed(found, parts)
    elif is_dataclass(value) and not isinstance(value, type):
        for item in fields(value):
            _feed(found, getattr(value, item.name))
    elif isinstance(value, list | tuple):
        found.update(str(len(value)).encode())
        for part in value:
            _feed(found, part)
    elif callable(value):
        _feed(found, (value.__module__, value.__qualname__, getattr(value, "__self__", None)))
    else:
        found.update(repr(value).encode())
