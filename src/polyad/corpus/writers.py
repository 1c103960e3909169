"""Counts out: UCI, LDA-C, Matrix Market and npz, each with its files of words and of document names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
from scipy.sparse import csr_array, save_npz

from polyad.corpus.atomic import atomic_write
from polyad.corpus.corpus import Corpus
from polyad.corpus.formats import Format
from polyad.corpus.sidecars import sidecar_names, write_names

__all__ = ["WRITTEN_FORMATS", "write_corpus"]

_BLOCK_ROWS = 4096


def write_corpus(corpus: Corpus, path: str | os.PathLike[str], format: Format | None = None) -> list[Path]:  # noqa: A002
    """Write a corpus, its vocabulary and its document ids; reading `path` gives the same corpus back.

    Every file is written under another name and renamed when it is complete, the counts last.

    Parameters
    ----------
    corpus : Corpus
        The counts.
    path : str or path
        The file of the counts: ``docword.NAME.txt`` for UCI, ``NAME.dat`` or ``NAME.ldac`` for LDA-C, ``NAME.mtx``,
        ``NAME.npz``.
    format : {"uci", "ldac", "mtx", "npz"}, optional
        None takes it from the name.

    Returns
    -------
    list of Path
        The files that were written. Words and ids that are only numbers need no file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polyad.corpus import make_corpus, read_corpus
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> files = write_corpus(make_corpus([[1, 0], [2, 3]], ["a", "b"]), folder / "small.mtx")
    >>> [file.name for file in files]
    ['small.vocab.txt', 'small.mtx']
    >>> read_corpus(folder / "small.mtx").vocabulary
    ('a', 'b')
    """
    target = Path(path)
    chosen = format or _format_of(target)
    if chosen not in WRITTEN_FORMATS:
        raise ValueError(f"counts are written as {', '.join(WRITTEN_FORMATS)}, not as {chosen}.")
    written: list[Path] = []
    numbered_ids = all(name == str(number) for number, name in enumerate(corpus.ids))
    for kind, names, numbered in (
        ("vocab", corpus.vocabulary, corpus.numbered),
        ("ids", corpus.ids, numbered_ids),
    ):
        sidecar = target.with_name(sidecar_names(target, kind)[0])
        if numbered:
            # One left over from an earlier corpus would be read with the new counts.
            sidecar.unlink(missing_ok=True)
        else:
            write_names(sidecar, names)
            written.append(sidecar)
    with atomic_write(target) as out:
        WRITTEN_FORMATS[chosen](corpus.counts, out)
    return [*written, target]


def _write_uci(counts: csr_array, out: BinaryIO) -> None:
    out.write(f"{counts.shape[0]}\n{counts.shape[1]}\n{counts.nnz}\n".encode())
    _write_entries(counts, out)


def _write_matrix_market(counts: csr_array, out: BinaryIO) -> None:
    out.write(b"%%MatrixMarket matrix coordinate integer general\n")
    out.write(f"{counts.shape[0]} {counts.shape[1]} {counts.nnz}\n".encode())
    _write_entries(counts, out)


def _write_entries(counts: csr_array, out: BinaryIO) -> None:
    for start, block in _row_blocks(counts):
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr)) + start + 1
        entries = zip(rows.tolist(), (block.indices + 1).tolist(), block.data.tolist())
        out.write("".join(f"{row} {column} {count}\n" for row, column, count in entries).encode())


def _write_ldac(counts: csr_array, out: BinaryIO) -> None:
    for _, block in _row_blocks(counts):
        ends, words, data = block.indptr.tolist(), block.indices.tolist(), block.data.tolist()
        for begin, end in pairwise(ends):
            pairs = "".join(f" {words[at]}:{data[at]}" for at in range(begin, end))
            out.write(f"{end - begin}{pairs}\n".encode())


def _write_npz(counts: csr_array, out: BinaryIO) -> None:
    save_npz(out, counts)


def _row_blocks(counts: csr_array) -> Iterator[tuple[int, csr_array]]:
    for start in range(0, counts.shape[0], _BLOCK_ROWS):
        yield start, csr_array(counts[start : start + _BLOCK_ROWS])


def _format_of(path: Path) -> Format:
    endings: dict[str, Format] = {".mtx": "mtx", ".npz": "npz", ".dat": "ldac", ".ldac": "ldac"}
    if path.name.startswith("docword."):
        return "uci"
    if path.suffix.lower() not in endings:
        raise ValueError(
            f"{path.name!r} does not tell the format; name it docword.NAME.txt (UCI), NAME.ldac, NAME.mtx or NAME.npz, "
            "or give the format."
        )
    return endings[path.suffix.lower()]


WRITTEN_FORMATS: dict[str, Callable[[csr_array, BinaryIO], None]] = {
    "uci": _write_uci,
    "ldac": _write_ldac,
    "mtx": _write_matrix_market,
    "npz": _write_npz,
}
