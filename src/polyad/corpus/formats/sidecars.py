"""The files beside a count file: the words of its columns, and the names of its documents."""

import os
from collections.abc import Sequence
from pathlib import Path

from polyad.corpus.documents import CorpusError
from polyad.corpus.formats.lines import decode
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.streams import open_stream

_PACKED = (".gz", ".zst", ".zstd", ".bz2", ".xz")


def sidecar_names(path: str | os.PathLike[str], kind: str) -> tuple[str, ...]:
    """Give the names that the file of words ("vocab") or of documents ("ids") may have, the first the best.

    Examples
    --------
    >>> sidecar_names("docword.nips.txt.gz", "vocab")
    ('vocab.nips.txt', 'docword.nips.vocab.txt', 'docword.nips.vocab', 'vocab.txt')
    >>> sidecar_names("ap.dat", "vocab")
    ('ap.vocab.txt', 'ap.vocab', 'vocab.txt')
    """
    name = Path(path).name
    for packed in _PACKED:
        name = name.removesuffix(packed)
    stem = name.rsplit(".", 1)[0]
    own = (f"{kind}.{name.removeprefix('docword.')}",) if name.startswith("docword.") else ()
    return (*own, f"{stem}.{kind}.txt", f"{stem}.{kind}", f"{kind}.txt")


def find_vocabulary(path: str | os.PathLike[str]) -> Path | None:
    """Find the file of the words beside a count file, plain or compressed.

    Looked for, for a file ``name.ext``: ``vocab.X.txt`` for ``docword.X.txt``, ``name.vocab.txt``, ``name.vocab``
    and ``vocab.txt``.
    """
    return _find(path, sidecar_names(path, "vocab"))


def find_ids(path: str | os.PathLike[str]) -> Path | None:
    """Find the file of the document names beside a count file; a plain ``ids.txt`` is not taken for it."""
    return _find(path, sidecar_names(path, "ids")[:-1])


def read_names(path: str | os.PathLike[str], reading: ReadOptions | None = None) -> tuple[str, ...]:
    """Read one name per line, UTF-8 or what a byte order mark says; the end of the file needs no line end."""
    reading = reading or ReadOptions()
    with open_stream(path, reading.max_unpacked) as stream:
        data = stream.reader.read()
        allowed = reading.max_announced + stream.stored()
    if data.count(b"\n") > allowed:
        raise CorpusError(
            f"there are more than the {allowed:,} names that are read; if this is right, raise max_announced",
            path=os.fspath(path),
        )
    text = decode(data, "utf-8-sig", "strict", path=os.fspath(path))
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return tuple(line.removesuffix("\r") for line in lines)


def names_bytes(names: Sequence[str], path: Path) -> bytes:
    """Write one name per line; a name with a line break in it cannot be written so."""
    broken = next((name for name in names if "\n" in name or name.endswith("\r")), None)
    if broken is not None:
        raise CorpusError(f"{broken!r} has a line break, and cannot stand in a list of one per line", path=str(path))
    return "".join(f"{name}\n" for name in names).encode()


def _find(path: str | os.PathLike[str], names: Sequence[str]) -> Path | None:
    folder = Path(path).parent
    for name in names:
        for packed in ("", *_PACKED):
            candidate = folder / (name + packed)
            if candidate.is_file() and candidate != Path(path):
                return candidate
    return None
