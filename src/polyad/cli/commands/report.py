"""`polyad report`: what a model found as one HTML file; and the same at the end of `fit` and `demo`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyad.cli.files import check_output, file_note
from polyad.cli.measurements import read_measurements
from polyad.cli.options import ModelPath, Reading, Running, Shown
from polyad.cli.pairs import Side, Sides, find_sides, listed_sides
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import is_paired, model_sides

if TYPE_CHECKING:
    from polyad.corpus import Corpus, CorpusSource
    from polyad.models import Selection

_PANEL = "Report"


@dataclass(frozen=True)
class DocumentColumns:
    """What else a table tells of its documents."""

    date_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Column of dates, years or an order: shares over time.", rich_help_panel=_PANEL
        ),
    ] = None
    group_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column of labels: shares in each group.", rich_help_panel=_PANEL),
    ] = None


@dataclass(frozen=True)
class FitReport:
    """A report of a model that was just fitted."""

    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a page of the topics, as polyad report does.", rich_help_panel=_PANEL),
    ] = None
    date_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column of dates, for the report.", rich_help_panel=_PANEL),
    ] = None
    group_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column of labels, for the report.", rich_help_panel=_PANEL),
    ] = None


def report(
    model: ModelPath,
    corpus: Annotated[
        str | None,
        typer.Argument(metavar="CORPUS", help="The documents, as for fit; none shows the model alone."),
    ] = None,
    others: Annotated[
        list[str] | None,
        typer.Argument(metavar="OTHER", help="Of a model of aligned corpora: the other ones.", show_default=False),
    ] = None,
    out: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="The page.")] = "report.html",
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Title of the page.", show_default="the corpus", rich_help_panel=_PANEL),
    ] = None,
    n_words: Annotated[
        int, typer.Option("-n", "--words", metavar="N", help="Words of a topic.", min=1, rich_help_panel=_PANEL)
    ] = 25,
    selection: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What polyad select --json printed: how the number of topics was chosen.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(metavar="HZ", help="Of signals: rows in a second, for spectrograms.", rich_help_panel=_PANEL),
    ] = None,
    *,
    columns: DocumentColumns,
    sides: Sides,
    reading: Reading,
    running: Running,
    shown: Shown,
) -> None:
    """Write a page of what a model found: one HTML file, which opens in any browser and loads nothing.

    It has a map of the topics, their words and most typical documents, a search, how good the topics are, and with
    --date-column and --group-column their shares over time and in groups of documents. A model of measurements (ICA,
    CCA, a mixture) takes tables of numbers, .npy or .csv, in place of documents.

    For example:
    polyad report model.polyad texts.csv -o report.html
    polyad report model.polyad talks.jsonl --date-column year --group-column party
    polyad report both.polyad english.txt french.txt
    polyad report model.polyad texts/ --selection choice.json
    polyad report ica.polyad microphones.npy --rate 8000
    """
    from polyad.io import load

    output = Output(shown)
    need_extra()
    given_files = [model, corpus, *(others or []), selection, *reading.files(), *sides.files()]
    check_output(out, given_files, pattern=reading.pattern)
    started = time.perf_counter()
    loaded = load(model)
    loaded.n_jobs = running.jobs
    paths = [] if corpus is None else [corpus, *(others or [])]
    refuse_single_use(paths, columns)
    if corpus is not None:
        refuse_columns_of_shards(corpus, columns)
    given, names = _data(model, loaded, paths, reading, sides, columns)
    with output.noting(), output.learning("Looking at documents"):
        loaded.report(
            out,
            given,
            title=title or _title(corpus or model),
            dates=columns.date_column,
            groups=columns.group_column,
            n_words=n_words,
            n_jobs=running.jobs,
            selection=None if selection is None else read_selection(selection),
            rate=rate,
            **({"view_names": names} if names else {}),
        )
    seconds = time.perf_counter() - started
    if shown.json:
        output.result({"model": model, "report": out, "bytes": Path(out).stat().st_size, "seconds": seconds})
        return
    output.facts([("Report", file_note(out)), ("Time", f"{seconds:.1f} s")])


def need_extra() -> None:
    """Say what to install where nothing can be drawn."""
    from polyad.report.extra import import_altair, import_vl_convert

    try:
        import_altair(), import_vl_convert()
    except ImportError as error:
        raise CallError(str(error)) from error


def can_report() -> bool:
    """Tell whether what draws charts is installed."""
    try:
        need_extra()
    except CallError:
        return False
    return True


def refuse_single_use(paths: Sequence[str | None], columns: DocumentColumns | FitReport) -> None:
    """Refuse to read columns of what can be read only once."""
    if "-" in paths and (columns.date_column or columns.group_column):
        raise CallError("columns of dates and groups are read after the text, and standard input has one use only.")


def refuse_columns_of_shards(path: str, columns: DocumentColumns | FitReport) -> None:
    """Refuse to read columns of what has counts alone."""
    from polyad.corpus.indexing.folder import is_indexed

    if is_indexed(path) and (columns.date_column or columns.group_column):
        raise CallError(
            f"{path} has no columns of dates and groups, only counts; give the texts to polyad report, or leave "
            "--date-column and --group-column out."
        )


def _data(
    path: str, model: Any, paths: Sequence[str], reading: Reading, sides: Sides, columns: DocumentColumns
) -> tuple[Any, list[str]]:
    """Return the data of a call as the model takes them, and the names of aligned texts."""
    if not model.has_topics:
        if sides != Sides() or columns != DocumentColumns():
            raise CallError(f"{path} is a model of measurements; columns of text, dates and groups are not for it.")
        tables = [read_measurements(given) for given in paths]
        return (None if not tables else tables[0] if len(tables) == 1 else tables), []
    if not is_paired(model):
        if len(paths) > 1 or sides != Sides():
            raise CallError(f"{path} is a model of one corpus; OTHER and the options of two sides are not for it.")
        return _source(paths[0], reading) if paths else None, []
    if not paths:
        return None, []
    n_views = len(model_sides(model))
    found = (
        find_sides(paths[0], paths[1] if len(paths) > 1 else None, reading, sides, both=True)
        if n_views == 2 and len(paths) <= 2
        else listed_sides(paths, reading)
    )
    if len(found) != n_views:
        raise CallError(f"{path} is a model of {n_views} aligned corpora, and {len(found)} are given.")
    return [_source(side.path, side.reading) for side in found], side_names(found)


def side_names(sides: Sequence[Side]) -> list[str]:
    """Return what aligned texts are called on a page: their columns, or their files up to the first dot."""
    names = [side.reading.text_column or Path(side.path).name.split(".")[0] or side.path for side in sides]
    return names if len(set(names)) == len(names) else [str(side) for side in sides]


def read_selection(path: str) -> Selection:
    """Read what `polyad select --json` printed."""
    import numpy as np

    from polyad.models import Selection

    try:
        found = json.loads(Path(path).read_text("utf-8"))
        spectrum = np.asarray(found["spectrum"], dtype=np.float64)
        return Selection(found["table"], int(found["recommended"]), str(found["reason"]), spectrum)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is not what polyad select --json prints; write it with: polyad select CORPUS --json > FILE."
        ) from error


def _source(path: str, reading: Reading) -> CorpusSource:
    from polyad.corpus import CorpusSource

    return CorpusSource(path, reading=reading.options())


def _title(path: str) -> str:
    return "Topics" if path == "-" else f"Topics of {Path(path).resolve().name}"


def check_report(asked: FitReport, corpora: Sequence[str], inputs: Sequence[str | None], pattern: str | None) -> None:
    """Refuse a report that could not be written, before the work."""
    if asked.report is None:
        if asked.date_column or asked.group_column:
            raise CallError("--date-column and --group-column are for a report; give --report FILE, too.")
        return
    need_extra()
    refuse_single_use(corpora, asked)
    refuse_columns_of_shards(corpora[0], asked)
    check_output(asked.report, inputs, pattern=pattern)


def write_fit_report(
    asked: FitReport, estimator: Any, read: Sequence[Corpus], sides: Sequence[Side], output: Output
) -> list[tuple[str, str]]:
    """Write the report of a model that was just fitted to a corpus, or to aligned ones, and say where it is."""
    if asked.report is None:
        return []
    texts = [None if side.path == "-" else _source(side.path, side.reading) for side in sides]
    one = len(read) == 1
    with output.noting(), output.learning("Writing the report"):
        estimator.report(
            asked.report,
            read[0] if one else list(read),
            texts=texts[0] if one else texts,
            ids=read[0].ids,
            title=_title(sides[0].path),
            dates=asked.date_column,
            groups=asked.group_column,
            n_jobs=estimator.n_jobs,
            **({} if one else {"view_names": side_names(sides)}),
        )
    return [("Report", file_note(asked.report))]


def open_page(path: str) -> None:
    """Open a page in the browser where a person sits in front of one."""
    has_display = sys.platform in ("win32", "darwin") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if has_display and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(Path(path).resolve().as_uri())
