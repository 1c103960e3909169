"""The commands put together, and one place where errors become a sentence and an exit code."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Annotated, Any

import typer

from polyad.cli.align import align
from polyad.cli.convert import convert
from polyad.cli.demo import demo
from polyad.cli.errors import INTERRUPTED, explain
from polyad.cli.evaluate import evaluate
from polyad.cli.fit import fit
from polyad.cli.fit2 import fit2
from polyad.cli.info import info
from polyad.cli.options import expand_options
from polyad.cli.select import select
from polyad.cli.topics import topics
from polyad.cli.transform import transform

__all__ = ["app", "run"]

app = typer.Typer(
    name="polyad",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, fit, fit2, topics, transform, evaluate, select, align, info, convert):
    app.command()(expand_options(command))


def _show_version(asked: bool) -> None:
    if asked:
        from polyad import __version__

        typer.echo(f"polyad {__version__}")
        raise typer.Exit


def _polyad(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Topics of texts, found by the method of moments: fast, and the same on every run.

    For example:
    polyad demo
    polyad fit texts/ -k 20 -o model.polyad
    polyad topics model.polyad
    polyad transform model.polyad new.csv -o topics.parquet
    polyad fit2 english.txt french.txt -k 20 -o both.polyad
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.callback(invoke_without_command=True)(expand_options(_polyad))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 the data or the file is at fault, 2 the call is."""
    _prepare_streams()
    before = signal.signal(signal.SIGTERM, _end)
    try:
        code: Any = app(args=None if arguments is None else list(arguments), prog_name="polyad", standalone_mode=False)
        sys.stdout.flush()  # a full disk or a closed pipe is met here, and not when Python ends
        # Some versions of Typer turn Ctrl-C into an exit code without a word.
        return explain(KeyboardInterrupt()) if code == INTERRUPTED else code if isinstance(code, int) else 0
    except BaseException as error:  # Ctrl-C and the end of a pipe have an exit code too
        return explain(error)
    finally:
        signal.signal(signal.SIGTERM, before)


def _prepare_streams() -> None:
    """Print what a terminal with few characters cannot show as an escape, rather than stop."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _end(number: int, frame: FrameType | None) -> None:
    # Left to itself, the signal would end the process without removing half-written files.
    raise SystemExit(128 + number)
