"""How to read an input: the choices that are not in the file itself."""

from dataclasses import dataclass
from typing import get_args

from polyad.corpus.formats.lines import check_encoding
from polyad.corpus.formats.recognise import FORMATS, Format

MAX_DOCUMENT_BYTES = 64 * 2**20
MAX_ANNOUNCED = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read a file; the defaults find out by themselves what can be found out.

    Parameters
    ----------
    format
        "folder", "lines", "jsonl", "csv", "tsv", "parquet", "uci", "ldac", "mtx" or "npz"; None recognises it.
    text_column, id_column
        The columns of a table, or fields of JSONL; None takes those named text and id, in any case.
        A document without an id is called by its number, from 0.
    encoding
        The encoding of text; None is UTF-8, or what a byte order mark says.
    errors
        "strict": bytes that are not in the encoding are an error; "replace" and "ignore" as in Python.
    skip_bad
        Skip malformed lines, rows and files and count them in the report, rather than stop at the first.
        The rows of a damaged Parquet or npz file cannot be told apart: it is read whole or not at all.
    pattern
        Of a folder, only the files whose names match, such as "*.txt".
    max_document_bytes
        A longer line, record or file is malformed. A file with the wrong line ends, or a quote that is never
        closed, would otherwise become one document as large as the file. Lines of counts, which take more room than
        they have bytes, may have an eighth as many; what is compressed may unpack to a sixteenth as many, or to 100
        times what is stored.
    max_announced
        The most documents or words that a file of counts may announce, and ten more for each entry that it has; the
        most names in a list of words or ids, and one more for each byte of its file. A few bytes could otherwise ask
        for all memory there is.
    vocabulary_file
        The words of a count file, one per line; None looks beside it (see `find_vocabulary`), and "none"
        numbers the words instead.

    Examples
    --------
    >>> ReadOptions(text_column="body").text_column
    'body'
    """

    format: Format | None = None
    text_column: str | None = None
    id_column: str | None = None
    encoding: str | None = None
    errors: str = "strict"
    skip_bad: bool = False
    pattern: str | None = None
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    max_announced: int = MAX_ANNOUNCED
    vocabulary_file: str | None = None

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in get_args(Format):
            raise ValueError(f"{self.format!r} is not a format; the formats are {', '.join(FORMATS)}.")
        if self.max_document_bytes < 1:
            raise ValueError(f"max_document_bytes must be at least 1, not {self.max_document_bytes}.")
        if self.max_announced < 0:
            raise ValueError(f"max_announced must be a number from 0 on, not {self.max_announced}.")
        check_encoding(self.encoding, self.errors)

    @property
    def max_unpacked(self) -> int:
        """The bytes that anything may unpack to, however few are stored."""
        return max(1, self.max_document_bytes // 16)
