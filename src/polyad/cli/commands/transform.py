"""`polyad transform`: the topics of documents, as a table."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyad.base.plurals import how_many
from polyad.cli.commands.evaluate import unknown_note
from polyad.cli.files import check_output
from polyad.cli.options import CorpusPath, ModelPath, Reading, Running, Shown
from polyad.cli.pairs import Sides
from polyad.cli.terminal.output import Output, Steps
from polyad.cli.terminal.summary import (
    is_paired,
    model_sides,
    model_topics,
    paired_topics,
    percent,
    rate,
)
from polyad.cli.terminal.tables import LIKELIEST, WriteRows, open_table, table_format
from polyad.cli.terminal.text import clean
from polyad.cli.views import GivenView, GivenViews, OtherCorpora, find_views, shares_of

if TYPE_CHECKING:
    from polyad.corpus import Corpus

BLOCK_DOCUMENTS = 4096
NAME_WORDS = 3  # that a topic is called by


def transform(
    model: ModelPath,
    corpus: CorpusPath,
    others: OtherCorpora = None,
    out: Annotated[
        str,
        typer.Option("-o", "--output", metavar="FILE", help=".parquet, .csv or .jsonl; - is CSV on standard output."),
    ] = "-",
    view: GivenViews = None,
    *,
    sides: Sides,
    reading: Reading,
    running: Running,
    shown: Shown,
) -> None:
    """Find the topics of documents: a table with a row for each.

    Its columns are the id, the number of the likeliest topic and its name or leading words, then the shares: topic_0,
    topic_1, ... (--json has the shares alone, as numbers.)

    Text is split as the model's own was. A document without any word of the model gets the topics' shares of the
    corpus. Only a block of documents is in memory at a time. A model of two corpora takes the left side, or both sides
    as two files or two columns of one; --right-column alone is the right side. A model of more corpora takes all of
    them in their order, or those that --view names.

    For example:
    polyad transform model.polyad new.csv -o topics.parquet
    polyad transform both.polyad english.txt french.txt -o topics.csv
    polyad transform three.polyad german.txt --view de -o topics.csv
    cat new.jsonl | polyad transform model.polyad - > topics.csv
    polyad transform model.polyad new.csv --json
    """
    from polyad.io import load

    output, corpora = Output(shown), [corpus, *(others or [])]
    table_format(out)
    if out != "-":
        check_output(out, [model, *corpora, *reading.files(), *sides.files()], pattern=reading.pattern)
    loaded: Any = load(model)
    loaded.n_jobs = running.jobs
    started = time.perf_counter()
    views = find_views(model, loaded, corpora, view, reading, sides)
    columns = ["id", *_names(loaded)]
    tally = _Tally()
    as_object, to_terminal = shown.json and out == "-", out == "-" and output.for_people
    table = _json_table(columns, tally) if as_object else open_table(out, columns, _topic_words(loaded))
    # A table that is drawn on the terminal shows by itself how far it is, and a bar would run into it.
    with output.noting(), table as write, output.progress("Finding topics", drawn=not to_terminal) as moved:
        for blocks in _aligned(views, sides, running.jobs, tally, moved):
            tally.rows(blocks)
            counts = {found.number: block.counts for found, block in zip(views, blocks)}
            write(blocks[0].ids, shares_of(loaded, counts))
    tally.seconds = time.perf_counter() - started
    if as_object:
        return
    if shown.json:
        output.result({"model": model, "output": out, "columns": ["id", *LIKELIEST, *columns[1:]], **tally.values()})
        return
    bad = f" ({how_many(tally.bad, 'bad records')} skipped)" if tally.bad else ""
    facts = [
        ("Documents", f"{tally.documents:,}{bad}"),
        ("Unknown", f"{percent(tally.unknown_share)} of all words are not known to the model"),
        ("Time", rate(tally.seconds, tally.documents)),
    ]
    if tally.numbered:
        facts.append(("Ids", "the number of each document, from 0; --id-column names a column of ids"))
    output.facts([*facts, ("Table", out)] if out != "-" else facts)
    note = unknown_note(tally.unknown_share)
    if note is not None:
        output.note(note)


def _names(model: Any) -> list[str]:
    """Return the names of the columns of shares."""
    if is_paired(model):
        return [f"topic_{number}" for number in range(model.n_components)]
    return list(model.get_feature_names_out())


def _topic_words(model: Any) -> list[str]:
    """Return what to call each topic by: the name that a user gave it, or a few words; a background is none."""
    if is_paired(model):
        side = model_sides(model)[0].name
        return [_called(topic, topic[side]["words"]) for topic in paired_topics(model, NAME_WORDS)]
    found = model_topics(model, NAME_WORDS)
    return [_called(topic, topic["words"]) for topic in found if not topic["background"]]


def _called(topic: Mapping[str, Any], words: Sequence[str]) -> str:
    return clean(topic["name"]) if topic.get("name") else ", ".join(map(clean, words))


class _Tally:
    """What was met in all blocks together."""

    def __init__(self) -> None:
        self.documents = self.tokens = self.unknown = self.empty = 0
        self.seconds = 0.0
        self._bad: dict[str, int] = {}
        self._started = time.perf_counter()
        self.numbered = True  # whether no document has a name of its own, though it could

    def add(self, view: GivenView, block: Corpus) -> None:
        """Count what was met in reading a block of one view."""
        report = block.report
        unknown = report.dropped.get("unknown words")
        self.tokens += report.tokens
        self.unknown += 0 if unknown is None else unknown.tokens
        self._bad[view.side.name] = 0 if report.reading is None else report.reading.bad
        named = report.reading is None or report.reading.format not in ("jsonl", "csv", "tsv", "parquet")
        self.numbered &= not named and all(name.isdigit() for name in block.ids[:100])

    def rows(self, blocks: Sequence[Corpus]) -> None:
        """Count documents, and those that have no word in any view."""
        lengths: Any = sum(block.counts.sum(axis=1) for block in blocks)
        self.documents += len(blocks[0])
        self.empty += int((lengths == 0).sum())

    @property
    def bad(self) -> int:
        return sum(self._bad.values())

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


def _aligned(
    views: Sequence[GivenView], sides: Sides, jobs: int | None, tally: _Tally, moved: Steps
) -> Iterator[tuple[Corpus, ...]]:
    """Read block after block, of all views together."""
    from polyad.corpus.pairs import aligned_blocks

    blocks = [_blocks(view, jobs, tally, moved if view is views[0] else None) for view in views]
    return aligned_blocks([view.side for view in views], blocks, ignore_ids=sides.ignore_ids)


def _blocks(view: GivenView, jobs: int | None, tally: _Tally, moved: Steps | None) -> Iterator[Corpus]:
    """Read block after block over the words of the model."""
    from polyad.corpus import CorpusSource

    source = CorpusSource(view.side.path, reading=view.side.reading.options(), n_jobs=jobs)
    for block in source.over(view.words, view.options).blocks(BLOCK_DOCUMENTS, moved):
        tally.add(view, block)
        yield block


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
