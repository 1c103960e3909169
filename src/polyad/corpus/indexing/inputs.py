"""Many files as one stream of documents: globs, folders of tables, lists of paths."""

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from polyad.corpus.documents import CorpusError, Document, ReadReport, Tally
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.plain import list_files
from polyad.corpus.formats.recognise import COUNT_FORMATS, recognise_bytes
from polyad.corpus.formats.streams import open_stream
from polyad.corpus.formats.text import DocumentReader

_TABLES = (".parquet", ".pq", ".jsonl", ".ndjson", ".csv", ".tsv")
_PACKED = (".gz", ".zst", ".bz2", ".xz")


def expand(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], pattern: str | None = None
) -> tuple[str, ...]:
    """Return the files and folders that paths stand for, in the order of the paths and sorted within each.

    A name with ``*``, ``?`` or ``[`` that is no file is a pattern of names (``**`` for folders within folders). A
    folder that has nothing but tables (Parquet, JSONL, CSV or TSV, packed or not) stands for these; any other folder is
    one of texts.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("b.jsonl", "a.jsonl.gz"):
    ...     _ = (folder / name).write_text("")
    >>> [pathlib.Path(name).name for name in expand(folder)]
    ['a.jsonl.gz', 'b.jsonl']
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise ValueError("There is no input: give at least one file or folder, or - for standard input.")
    found = [name for path in given for name in _matching(os.fspath(path))]
    if "-" in found and len(found) > 1:
        raise ValueError("Standard input (-) cannot be read together with files: give one or the other.")
    return tuple(file for name in found for file in _tables(name, pattern))


def _matching(name: str) -> list[str]:
    if name == "-" or os.path.exists(name) or not glob.has_magic(name):
        return [name]
    found = sorted(glob.glob(name, recursive=True))
    if not found:
        raise CorpusError("no file has a name of this pattern", path=name)
    return found


def _tables(name: str, pattern: str | None) -> list[str]:
    if name == "-" or not Path(name).is_dir():
        return [name]
    files = list_files(Path(name), pattern, Tally())
    return [str(file) for file in files] if files and all(map(_is_table, files)) else [name]


def _is_table(file: Path) -> bool:
    name = file.name.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return name.endswith(_TABLES)


def is_count_file(path: str, reading: ReadOptions) -> bool:
    """Tell a file of counts from one of text; standard input is text unless a format says otherwise."""
    if reading.format is not None:
        return reading.format in COUNT_FORMATS
    if path == "-" or Path(path).is_dir():
        return False
    with open_stream(path, reading.max_unpacked) as stream:
        return recognise_bytes(stream.sample(), stream.name) in COUNT_FORMATS


class ManyFiles:
    """The documents of several files of text, one after the other; ids that are numbers go on from file to file.

    Attributes
    ----------
    report
        What was met so far in all files.
    fraction
        The share of the files that was read; None of standard input.
    """

    def __init__(self, paths: Sequence[str], reading: ReadOptions) -> None:
        self.paths, self.reading = tuple(paths), reading
        self._done: list[ReadReport] = []
        self._reader: DocumentReader | None = None

    @property
    def report(self) -> ReadReport:
        """What was met so far in all files."""
        current = [] if self._reader is None else [self._reader.report]
        return _together([*self._done, *current])

    @property
    def fraction(self) -> float | None:
        """The share of the files that was read; None of standard input."""
        inside = None if self._reader is None else self._reader.fraction
        if len(self.paths) == 1:
            return inside
        return min(1.0, (len(self._done) + (inside or 0.0)) / len(self.paths))

    def __iter__(self) -> Iterator[Document]:
        self._done, number = [], 0
        for path in self.paths:
            reader = self._reader = DocumentReader(path, self.reading)
            for in_file, document in enumerate(reader):
                # Without a name of its own a document is called by its number, and that of the file is not unique.
                yield Document(str(number), document.text) if document.id == str(in_file) else document
                number += 1
            self._done.append(reader.report)
            self._reader = None


def _together(reports: Sequence[ReadReport]) -> ReadReport:
    formats = dict.fromkeys(report.format for report in reports if report.format is not None)
    return ReadReport(
        documents=sum(report.documents for report in reports),
        bad=sum(report.bad for report in reports),
        bad_examples=tuple(example for report in reports for example in report.bad_examples)[:5],
        empty=sum(report.empty for report in reports),
        blank_lines=sum(report.blank_lines for report in reports),
        with_nul=sum(report.with_nul for report in reports),
        hidden_files=sum(report.hidden_files for report in reports),
        format=next(iter(formats)) if len(formats) == 1 else None,
        suspicious=sum(report.suspicious for report in reports),
        suspicious_examples=tuple(example for report in reports for example in report.suspicious_examples)[:5],
    )
