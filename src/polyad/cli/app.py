"""The commands put together, and one place where errors become a sentence and an exit code."""

import errno
import io
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Annotated, Any

import typer

from polyad.cli.commands.align import align
from polyad.cli.commands.convert import convert
from polyad.cli.commands.demo import demo
from polyad.cli.commands.evaluate import evaluate
from polyad.cli.commands.fit import fit
from polyad.cli.commands.fit2 import fit2
from polyad.cli.commands.index import index
from polyad.cli.commands.info import info
from polyad.cli.commands.report import report
from polyad.cli.commands.select import select
from polyad.cli.commands.topics import topics
from polyad.cli.commands.transform import transform
from polyad.cli.commands.update import update
from polyad.cli.options import expand_options
from polyad.cli.terminal.errors import INTERRUPTED, explain
from polyad.cli.terminal.help import Command, Group

_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]

app = typer.Typer(
    name="polyad",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, fit, fit2, topics, transform, evaluate, select, report, index, update, align, info, convert):
    app.command(cls=Command)(expand_options(command))


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
    polyad report model.polyad texts/ -o report.html
    polyad fit2 english.txt french.txt -k 20 -o both.polyad

    What the words mean that it uses (topic, share, background, certainty, bits, coherence): docs/glossary.md
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.callback(invoke_without_command=True, cls=Group)(expand_options(_polyad))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 the data or the file is at fault, 2 the call is."""
    _prepare_streams()
    before = {number: signal.signal(number, _end) for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN}
    try:
        code: Any = app(args=None if arguments is None else list(arguments), prog_name="polyad", standalone_mode=False)
        sys.stdout.flush()  # a full disk or a closed pipe is met here, and not when Python ends
        # Some versions of Typer turn Ctrl-C into an exit code without a word.
        return explain(KeyboardInterrupt()) if code == INTERRUPTED else code if isinstance(code, int) else 0
    except BaseException as error:  # Ctrl-C and the end of a pipe have an exit code too
        return explain(error)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _prepare_streams() -> None:
    """Print what a terminal with few characters cannot show as an escape, rather than stop."""
    # What was closed before the command began has no stream, and its number would be that of the next open file.
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


class _Closed(io.TextIOBase):
    """Standard output that was closed: whoever writes to it is told."""

    def __init__(self) -> None:
        self._held = os.open(os.devnull, os.O_WRONLY)

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "Standard output is closed")


def _end(number: int, frame: FrameType | None) -> None:
    # Left to itself, the signal would end the process without removing half-written files.
    raise SystemExit(128 + number)
