"""`polyad transform`: the topics of documents, as a table."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyad.cli.files import check_writable
from polyad.cli.options import CorpusPath, ModelPath, Reading, Running, Shown
from polyad.cli.output import Output, Steps
from polyad.cli.reading import words_of
from polyad.cli.source import look_into
from polyad.cli.summary import percent, rate
from polyad.cli.tables import WriteRows, open_table, table_format

if TYPE_CHECKING:
    from polyad.corpus import Corpus

__all__ = ["transform"]

BLOCK_DOCUMENTS = 4096
BLOCK_CHARACTERS = 1 << 26


def transform(
    model: ModelPath,
    corpus: CorpusPath,
    out: Annotated[
        str,
        typer.Option("-o", "--output", metavar="FILE", help=".parquet, .csv or .jsonl; - is CSV on standard output."),
    ] = "-",
    *,
    reading: Reading,
    running: Running,
    shown: Shown,
) -> None:
    """Find the topics of documents: a table with a row for each, its id first, then topic_0, topic_1, ...

    Text is split as the model's own was. A document without any word of the model gets the topics' shares of the
    corpus. Only a block of documents is in memory at a time.

    For example:
    polyad transform model.polyad new.csv -o topics.parquet
    cat new.jsonl | polyad transform model.polyad - > topics.csv
    polyad transform model.polyad new.csv --json
    """
    from polyad.io import load

    output = Output(shown)
    table_format(out)
    if out != "-":
        check_writable(out)
    loaded = load(model)
    loaded.n_jobs = running.jobs
    started = time.perf_counter()
    columns = ["id", *loaded.get_feature_names_out()]
    tally = _Tally()
    as_object = shown.json and out == "-"
    table = _json_table(columns, tally) if as_object else open_table(out, columns)
    with table as write, output.progress("Finding topics") as moved:
        for block in _blocks(corpus, reading, loaded, running.jobs, moved):
            tally.add(block)
            write(block.ids, loaded.transform(block.counts))
    tally.seconds = time.perf_counter() - started
    if as_object:
        return
    if shown.json:
        output.result({"model": model, "output": out, "columns": columns, **tally.values()})
        return
    facts = [
        ("Documents", f"{tally.documents:,}{f' ({tally.bad:,} bad records skipped)' if tally.bad else ''}"),
        ("Unknown", f"{percent(tally.unknown_share)} of all words are not known to the model"),
        ("Time", rate(tally.seconds, tally.documents)),
    ]
    output.facts([*facts, ("Table", out)] if out != "-" else facts)


class _Tally:
    """What was met in all blocks together."""

    def __init__(self) -> None:
        self.documents = self.tokens = self.unknown = self.empty = self.bad = 0
        self.seconds = 0.0
        self._started = time.perf_counter()

    def add(self, block: Corpus) -> None:
        report = block.report
        unknown = report.dropped.get("unknown words")
        self.documents += len(block)
        self.tokens += report.tokens
        self.unknown += 0 if unknown is None else unknown.tokens
        self.empty += report.empty_documents
        self.bad = 0 if report.reading is None else report.reading.bad

    @property
    def unknown_share(self) -> float:
        return self.unknown / max(self.unknown + self.tokens, 1)

    def values(self) -> dict[str, Any]:
        return {
            "documents": self.documents,
            "empty_documents": self.empty,
            "bad_records": self.bad,
            "tokens": self.tokens,
            "unknown_words": self.unknown_share,
            "seconds": self.seconds or time.perf_counter() - self._started,
        }


def _blocks(path: str, reading: Reading, model: Any, jobs: int | None, moved: Steps) -> Iterator[Corpus]:
    """Read block after block over the words of the model."""
    from polyad.corpus import DocumentReader, count_words, read_blocks

    options, words = reading.options(), words_of(model)
    documents = 0
    with look_into(path, options) as look:
        if look.counts:
            for block in read_blocks(path, model.text_options_, vocabulary=words, reading=options):
                documents += len(block)
                moved(documents)
                yield block
            return
        reader = DocumentReader(path, options)
        for batch in reader.batches(BLOCK_DOCUMENTS, BLOCK_CHARACTERS):
            counted = count_words(batch, model.text_options_, vocabulary=words, n_jobs=jobs)
            documents += len(counted)
            moved(documents, reader.fraction)
            yield replace(counted, report=replace(counted.report, reading=reader.report))


@contextmanager
def _json_table(columns: Sequence[str], tally: _Tally) -> Iterator[WriteRows]:
    """Write the whole table as one JSON object, row after row."""
    out = sys.stdout
    out.write(f'{{"columns": {json.dumps(columns)}, "rows": [')
    first = True

    def write(ids: Sequence[str], values: Any) -> None:
        nonlocal first
        for name, row in zip(ids, values.tolist()):
            out.write(("" if first else ", ") + json.dumps([name, *row]))
            first = False

    yield write
    out.write(f"], {json.dumps(tally.values())[1:]}\n")
