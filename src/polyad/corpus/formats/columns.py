"""A column of a table of documents beside their text: dates, groups."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from polyad.corpus.documents import CorpusError, Document, Tally, printable
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.recognise import COUNT_FORMATS, recognise_bytes
from polyad.corpus.formats.streams import open_stream
from polyad.corpus.formats.text import read_stream


def read_column(path: str | os.PathLike[str], column: str, reading: ReadOptions | None = None) -> Iterator[str]:
    r"""Give the value of a column for each document of a JSONL, CSV, TSV or Parquet file; empty where it has none.

    Documents come in the order, and with those left out, that reading their text has.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "a.jsonl")
    >>> _ = file.write_text('{"text": "to be", "year": 1600}\n{"text": "or not"}\n')
    >>> list(read_column(file, "year"))
    ['1600', '']
    """
    name = os.fspath(path)
    options = replace(reading or ReadOptions(), id_column=column)
    if name != "-" and Path(name).is_dir():
        raise CorpusError(f"this is a folder, whose files have no column {column!r}; give a table", path=name)
    with open_stream(name, options.max_unpacked) as stream:
        chosen = options.format or recognise_bytes(stream.sample(), stream.name)
        if chosen in (*COUNT_FORMATS, "lines"):
            raise CorpusError(f"a file of this format ({chosen}) has no column {column!r}; give a table", path=name)
        tally = _Values(options.skip_bad)
        try:
            for document in read_stream(stream, tally, replace(options, format=chosen), lambda _: None):
                yield document.id
        except CorpusError as error:
            # The reader takes the column for one of ids, and a message would say so.
            problem = error.problem.replace("name one as the id column, or none", "name one of these")
            raise CorpusError(problem, path=error.path, line=error.line) from error
    if not tally.n_values:
        raise CorpusError(f"no document has anything in a column {column!r}; name another", path=name)


class _Values(Tally):
    """A tally that leaves a document without a value without one, and does not number it."""

    n_values = 0

    def document(self, name: str | None, text: str) -> Document:
        self.n_values += name is not None
        return Document("" if name is None else printable(name), "")
