"""Which format an input has: told by its name and its first bytes."""

import json
import os
import re
from pathlib import Path, PurePath
from typing import Literal, get_args

from polyad.corpus.documents import CorpusError
from polyad.corpus.formats.streams import open_stream

Format = Literal["folder", "lines", "jsonl", "csv", "tsv", "parquet", "uci", "ldac", "mtx", "npz"]
FORMATS: tuple[Format, ...] = get_args(Format)
COUNT_FORMATS: frozenset[Format] = frozenset({"uci", "ldac", "mtx", "npz"})
TEXT_FORMATS: frozenset[Format] = frozenset(FORMATS) - COUNT_FORMATS

_BY_SUFFIX: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".mtx": "mtx",
    ".npz": "npz",
    ".ldac": "ldac",
    ".lda-c": "ldac",
}
_PACKED = (".gz", ".zst", ".zstd", ".bz2", ".xz")
# A first entry that is wrong (a count below 0, or broken) makes it a bad file of counts, and not a text of numbers.
_UCI_NUMBER = rb"[-+]?\d[\d.eE+-]*"
_UCI_START = re.compile(rb"\s*\d+\s*\n\s*\d+\s*\n\s*\d+\s*(\n\s*%b[ \t]+%b[ \t]+%b\s*(\n|$)|$)" % ((_UCI_NUMBER,) * 3))
_LDAC_START = re.compile(rb"\d+([ \t]+\d+:\d+)+[ \t]*\r?(\n|$)")
_FOREIGN = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a zip archive (as DOCX, ODT and EPUB are)"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"{\\rtf", "RTF"),
    (b"SQLite format 3", "an SQLite database"),
    (b"7z\xbc\xaf", "a 7z archive"),
)
_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html)\b", re.IGNORECASE)


def is_counts(format: Format) -> bool:  # noqa: A002 - the word that every caller and the command use
    """Tell whether a format holds word counts rather than text.

    Examples
    --------
    >>> is_counts("uci"), is_counts("csv")
    (True, False)
    """
    return format in COUNT_FORMATS


def recognise(path: str | os.PathLike[str]) -> Format:
    """Tell the format of a file or folder. Standard input cannot be looked at twice: see `recognise_bytes`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> recognise(folder)
    'folder'
    >>> _ = (folder / "a.txt").write_text("one document per line")
    >>> recognise(folder / "a.txt")
    'lines'
    """
    if os.fspath(path) != "-" and Path(path).is_dir():
        return "folder"
    with open_stream(path) as stream:
        return recognise_bytes(stream.sample(), stream.name)


def recognise_bytes(sample: bytes, name: str) -> Format:
    r"""Tell the format from the first (uncompressed) bytes and the name.

    Bytes that only one format starts with decide first, then the ending of the name, then the look of the
    first lines; anything else is one document per line.

    Examples
    --------
    >>> recognise_bytes(b'{"text": "some words"}\n', "standard input")
    'jsonl'
    >>> recognise_bytes(b"2 0:1 4:3\n1 2:2\n", "ap.dat")
    'ldac'
    """
    suffix = _suffix(name)
    if sample.startswith(b"PAR1"):
        return "parquet"
    if sample.startswith(b"%%MatrixMarket"):
        return "mtx"
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    if sample.startswith(b"PK\x03\x04") and b".npy" in sample[:200]:
        return "npz"
    refuse_foreign(sample, name)
    if _UCI_START.match(sample) or PurePath(name).name.startswith("docword."):
        return "uci"
    if _LDAC_START.match(sample) or suffix == ".dat":
        return "ldac"
    return _by_look(sample, name, suffix)


def refuse_foreign(sample: bytes, name: str) -> None:
    """Refuse a file whose first bytes tell that it is neither text nor counts."""
    for magic, what in _FOREIGN:
        if sample.startswith(magic):
            raise CorpusError(
                f"this is {what}, not text or counts; save its text as a plain file. The formats are "
                f"{', '.join(FORMATS)}",
                path=name,
            )


def is_html(sample: bytes) -> bool:
    """Tell whether a file starts as HTML does.

    Examples
    --------
    >>> is_html(b"<!DOCTYPE html>"), is_html(b"less < more")
    (True, False)
    """
    return _HTML.match(sample[:4000]) is not None


def _by_look(sample: bytes, name: str, suffix: str) -> Format:
    text = sample.removeprefix(b"\xef\xbb\xbf")
    start = text.lstrip()
    if suffix == ".json" and start.startswith(b"["):
        raise CorpusError(
            "this is one JSON array; one object on each line is wanted: jq -c '.[]' makes that", path=name
        )
    if suffix == ".json" or _is_json_object(start.split(b"\n", 1)[0]):
        return "jsonl"
    header = text.split(b"\n", 1)[0].rstrip(b"\r").lower()
    tabular: tuple[tuple[Format, bytes], ...] = (("tsv", b"\t"), ("csv", b","), ("csv", b";"))
    if suffix == "":
        for format_, delimiter in tabular:
            columns = [column.strip(b' "') for column in header.split(delimiter)]
            if len(columns) > 1 and b"text" in columns:
                return format_
    return "lines"


def _is_json_object(line: bytes) -> bool:
    try:
        return line.startswith(b"{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        # A first line longer than the sample is cut, and a damaged first line should be named as such.
        return re.match(rb'\{\s*"[^"]*"\s*:', line) is not None


def _suffix(name: str) -> str:
    path = PurePath(name.lower())
    while path.suffix in _PACKED:
        path = path.with_suffix("")
    return path.suffix
