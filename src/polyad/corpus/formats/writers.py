"""Counts out: UCI, LDA-C, Matrix Market and npz, each with its files of words and of document names."""

import os
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
from scipy.sparse import csr_array, save_npz

from polyad.base.atomic import atomic_writes, is_written_through
from polyad.corpus.corpus import Corpus
from polyad.corpus.documents import CorpusError
from polyad.corpus.formats.recognise import Format
from polyad.corpus.formats.sidecars import find_ids, find_vocabulary, names_bytes, sidecar_names

_BLOCK_ROWS = 4096


def write_corpus(
    corpus: Corpus,
    path: str | os.PathLike[str],
    format: Format | None = None,  # noqa: A002
    *,
    overwrite: bool = False,
) -> list[Path]:
    """Write a corpus, its vocabulary and its document ids; reading `path` gives the same corpus back.

    The files take their names together, when all of them are complete: on any error all that was there stays as it
    was. Nothing is ever removed.

    Parameters
    ----------
    corpus
        The counts.
    path
        The file of the counts: ``docword.NAME.txt`` for UCI, ``NAME.dat`` or ``NAME.ldac`` for LDA-C, ``NAME.mtx``,
        ``NAME.npz``.
    format
        None takes it from the name.
    overwrite
        Replace a vocabulary or ids of other counts that lie where those of this corpus belong, rather than refuse.

    Returns
    -------
    list of Path
        The files that were written, the counts last. Words and ids that are only numbers need no file, unless
        another list would be taken for them. Beside a pipe or a device there is no place for any.

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
    chosen = check_target(target, format)
    lists = _lists(corpus, target, overwrite=overwrite)

    def check() -> None:
        # One for which no list was made may have come from another process in the meantime.
        _refuse_others({file: data for file, data in lists.items() if data is None or not overwrite}, target)

    check()
    written = {file: data for file, data in lists.items() if data is not None}
    with atomic_writes([*written, target], check) as (*sidecars, out):
        for sidecar, data in zip(sidecars, written.values()):
            sidecar.write(data)
        WRITTEN_FORMATS[chosen](corpus.counts, out)
    return [*written, target]


def check_target(path: str | os.PathLike[str], format: Format | None = None) -> Format:  # noqa: A002
    """Return the format that counts are written in, which the name tells where it is not given."""
    chosen = format or _format_of(Path(path))
    if chosen not in WRITTEN_FORMATS:
        raise ValueError(f"counts are written as {', '.join(WRITTEN_FORMATS)}, not as {chosen}.")
    return chosen


def written_files(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files that writing counts may write: of the words, of the ids, and of the counts.

    Examples
    --------
    >>> [file.name for file in written_files("a.mtx")]
    ['a.vocab.txt', 'a.ids.txt', 'a.mtx']
    """
    target = Path(path)
    return [*(target.with_name(sidecar_names(target, kind)[0]) for kind in ("vocab", "ids")), target]


def _lists(corpus: Corpus, target: Path, *, overwrite: bool) -> dict[Path, bytes | None]:
    """Return the files of words and ids with what belongs in them, None where none is needed."""
    if is_written_through(target):
        return {}
    words_file, ids_file, _ = written_files(target)
    numbered_ids = all(name == str(number) for number, name in enumerate(corpus.ids))
    lists: dict[Path, bytes | None] = {}
    for file, names, numbered, found in (
        (words_file, corpus.vocabulary, corpus.numbered, find_vocabulary(target)),
        (ids_file, corpus.ids, numbered_ids, find_ids(target)),
    ):
        another = found is not None and (overwrite or found != file)
        lists[file] = names_bytes(names, file) if another or not numbered else None
    return lists


def _refuse_others(lists: Mapping[Path, bytes | None], target: Path) -> None:
    for file, data in lists.items():
        if file.exists() and not (data is not None and file.is_file() and _holds(file, data)):
            what = "words" if file == written_files(target)[0] else "ids"
            raise OtherListError(
                f"the {what} of other counts are in it, and would be read with those of {target.name}; "
                "move it away, or give the counts another name",
                path=str(file),
            )


def _holds(file: Path, data: bytes) -> bool:
    return file.stat().st_size == len(data) and file.read_bytes() == data


class OtherListError(CorpusError):
    """A list of words or ids that belongs to other counts is where that of new counts belongs."""


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
