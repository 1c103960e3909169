"""Documents for a page, beside their counts: names, texts, dates and groups, of arrays or read again from a file."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.corpus import Corpus, CorpusSource, Document, DocumentReader, IndexedCorpus, is_counts, recognise
from polyad.corpus.formats.columns import read_column
from polyad.corpus.indexing.folder import is_indexed
from polyad.report.periods import Labels, groups_of, periods_of

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Inputs:
    """What is known of documents."""

    X: Any  # data for the model
    # Gives ids and texts of some documents, by ascending rows; a text is None where there is none.
    found: Callable[[Rows], list[tuple[str, str | None]]]
    # None where there are none.
    periods: Labels | None
    groups: Labels | None


def read_inputs(
    X: Any,
    texts: Sequence[str] | CorpusSource | None = None,
    ids: Sequence[str] | None = None,
    dates: Sequence[Any] | str | None = None,
    groups: Sequence[Any] | str | None = None,
    *,
    over: Callable[[CorpusSource], CorpusSource] | None = None,
) -> Inputs:
    """Put together what is known of documents.

    Parameters
    ----------
    X
        Data for a model. The texts and ids of a source of text are read again from it.
    texts
        One for each document, or the source that they are in.
    ids
        One for each document; None takes those of the corpus or of the source, or the numbers of the rows.
    dates, groups
        One for each document, or the name of a column of the source.
    over
        Gives a source of counts the words of the model.
    """
    source = next((given for given in (X, texts) if isinstance(given, CorpusSource)), None)
    shards = IndexedCorpus(X.path) if isinstance(X, CorpusSource) and is_indexed(X.path) else None
    if isinstance(X, CorpusSource) and shards is None and _has_counts(X):
        X = (over(X) if over is not None else X).corpus()
    named = X if shards is None else shards
    if isinstance(named, Corpus | IndexedCorpus) and ids is None and texts is None:
        ids = named.ids
    return Inputs(
        X,
        _finder(source, None if isinstance(texts, CorpusSource) else texts, ids),
        None if dates is None else periods_of(_values(dates, source, "dates")),
        None if groups is None else groups_of(_values(groups, source, "groups")),
    )


def _has_counts(source: CorpusSource) -> bool:
    """Tell a source of counts from one of text; standard input, which has one use, is text."""
    if os.fspath(source.path) == "-" or Path(source.path).is_dir():
        return is_indexed(source.path)
    asked = None if source.reading is None else source.reading.format
    return is_counts(asked or recognise(source.path))


def _values(given: Any, source: CorpusSource | None, name: str) -> Any:
    if not isinstance(given, str):
        return given
    if source is None:
        raise ValueError(
            f"{name} is {given!r}, and a name of a column needs a source of text to read it from: give one value for "
            "each document."
        )
    if os.fspath(source.path) == "-":
        raise ValueError(f"The column {given!r} cannot be read from standard input, which has one use: give a file.")
    if is_indexed(source.path):
        raise ValueError(
            f"The column {given!r} cannot be read from {source}, which has counts alone: give the texts, or one "
            "value for each document."
        )
    return read_column(source.path, given, source.reading)


def _finder(
    source: CorpusSource | None, texts: Sequence[str] | None, ids: Sequence[str] | None
) -> Callable[[Rows], list[tuple[str, str | None]]]:
    if source is None or os.fspath(source.path) == "-" or texts is not None or _has_counts(source):

        def given(rows: Rows) -> list[tuple[str, str | None]]:
            return [(str(row if ids is None else ids[row]), None if texts is None else str(texts[row])) for row in rows]

        return given

    def read(rows: Rows) -> list[tuple[str, str | None]]:
        found = _documents(source, rows)
        return [(document.id if ids is None else str(ids[row]), document.text) for row, document in zip(rows, found)]

    return read


def _documents(source: CorpusSource, rows: Rows) -> list[Document]:
    """Read some documents of a source again; one document is in memory at a time beside those that are kept."""
    wanted = {int(row) for row in rows}
    reader = islice(DocumentReader(source.path, source.reading), max(wanted, default=-1) + 1)
    found = {row: document for row, document in enumerate(reader) if row in wanted}
    if len(found) < len(wanted):
        raise ValueError(f"{source} has fewer documents than a moment ago: it was changed while it was read.")
    return [found[int(row)] for row in rows]
