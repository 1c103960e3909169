"""`polyad report`: what a model found as one HTML file; and the same at the end of `fit` and `demo`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyad.cli.files import check_output, file_note
from polyad.cli.options import ModelPath, Reading, Running, Shown
from polyad.cli.pairs import Sides, find_sides
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import is_paired, refuse_signals

if TYPE_CHECKING:
    from polyad.corpus import Corpus, CorpusSource

__all__ = ["Columns", "FitReport", "can_report", "check_report", "open_page", "report", "write_fit_report"]

_PANEL = "Report"


@dataclass(frozen=True)
class Columns:
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
    right: Annotated[
        str | None,
        typer.Argument(metavar="RIGHT", help="Of a model of two corpora: the right side, CORPUS being the left."),
    ] = None,
    out: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="The page.")] = "report.html",
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Title of the page.", show_default="the corpus", rich_help_panel=_PANEL),
    ] = None,
    n_words: Annotated[
        int, typer.Option("-n", "--words", metavar="N", help="Words of a topic.", min=1, rich_help_panel=_PANEL)
    ] = 25,
    *,
    columns: Columns,
    sides: Sides,
    reading: Reading,
    running: Running,
    shown: Shown,
) -> None:
    """Write a page of what a model found: one HTML file, which opens in any browser and loads nothing.

    It has a map of the topics, their words and most typical documents, a search, how good the topics are, and with
    --date-column and --group-column their shares over time and in groups of documents.

    For example:
    polyad report model.polyad texts.csv -o report.html
    polyad report model.polyad talks.jsonl --date-column year --group-column party
    polyad report both.polyad english.txt french.txt
    polyad report model.polyad
    """
    from polyad.io import load

    output = Output(shown)
    need_extra()
    check_output(out, [model, corpus, right, *reading.files(), *sides.files()], pattern=reading.pattern)
    started = time.perf_counter()
    loaded = load(model)
    loaded.n_jobs = running.jobs
    refuse_signals(model, loaded)
    refuse_single_use([corpus, right], columns)
    refuse_columns_of_shards(corpus, columns)
    given, names = _documents(model, loaded, corpus, right, reading, sides)
    with output.noting(), output.learning("Looking at documents"):
        loaded.report(
            out,
            given,
            title=title or _title(corpus or model),
            dates=columns.date_column,
            groups=columns.group_column,
            n_words=n_words,
            n_jobs=running.jobs,
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


def refuse_single_use(paths: Sequence[str | None], columns: Columns | FitReport) -> None:
    """Refuse to read columns of what can be read only once."""
    if "-" in paths and (columns.date_column or columns.group_column):
        raise CallError("columns of dates and groups are read after the text, and standard input has one use only.")


def refuse_columns_of_shards(path: str | None, columns: Columns | FitReport) -> None:
    """Refuse to read columns of what has counts alone."""
    from polyad.corpus.indexing.folder import is_indexed

    if path is not None and is_indexed(path) and (columns.date_column or columns.group_column):
        raise CallError(
            f"{path} has no columns of dates and groups, only counts; give the texts to polyad report, or leave "
            "--date-column and --group-column out."
        )


def _documents(
    path: str, model: Any, corpus: str | None, right: str | None, reading: Reading, sides: Sides
) -> tuple[Any, list[str]]:
    """Return the documents of a call as the model takes them, and the names of the sides."""
    if not is_paired(model):
        if right is not None or sides != Sides():
            raise CallError(f"{path} is a model of one corpus; RIGHT and the options of two sides are not for it.")
        return None if corpus is None else _source(corpus, reading), []
    if type(model).__name__ != "PolylingualLDA" or len(model.components_) > 2:
        raise ValueError(f"{path} holds a {type(model).__name__}; write its report from Python: model.report(path, X).")
    if corpus is None:
        return None, ["left", "right"]
    found = find_sides(corpus, right, reading, sides, both=True)
    names = [side.reading.text_column or Path(side.path).name for side in found]
    return [_source(side.path, side.reading) for side in found], names


def _source(path: str, reading: Reading) -> CorpusSource:
    from polyad.corpus import CorpusSource

    return CorpusSource(path, reading=reading.options())


def _title(path: str) -> str:
    return "Topics" if path == "-" else f"Topics of {Path(path).resolve().name}"


def check_report(asked: FitReport, corpus: str, inputs: Sequence[str | None], pattern: str | None) -> None:
    """Refuse a report that could not be written, before the work."""
    if asked.report is None:
        if asked.date_column or asked.group_column:
            raise CallError("--date-column and --group-column are for a report; give --report FILE, too.")
        return
    need_extra()
    refuse_single_use([corpus], asked)
    refuse_columns_of_shards(corpus, asked)
    check_output(asked.report, inputs, pattern=pattern)


def write_fit_report(
    asked: FitReport, estimator: Any, corpus: Corpus, path: str, reading: Reading, output: Output
) -> list[tuple[str, str]]:
    """Write the report of a model that was just fitted to a corpus, and say where it is."""
    if asked.report is None:
        return []
    texts = None if path == "-" else _source(path, reading)
    with output.noting(), output.learning("Writing the report"):
        estimator.report(
            asked.report,
            corpus,
            texts=texts,
            ids=corpus.ids,
            title=_title(path),
            dates=asked.date_column,
            groups=asked.group_column,
            n_jobs=estimator.n_jobs,
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
