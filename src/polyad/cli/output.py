"""What a command prints: data on standard output, messages and progress on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from polyad.cli.options import Shown
from polyad.cli.text import clean, one_line

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Output", "Steps", "plain"]


class Steps(Protocol):
    """Tells how far long work is."""

    def __call__(self, documents: int, fraction: float | None = None) -> None:
        """Tell the number of documents (or steps) done, and the share of all, None where it is unknown."""
        ...


class Output:
    """Prints for people on a terminal, plainly into a pipe, and as one JSON object with ``--json``.

    Parameters
    ----------
    shown : Shown
        What the user asked for.
    """

    def __init__(self, shown: Shown) -> None:
        self.json = shown.json
        self.quiet = shown.quiet

    @property
    def for_people(self) -> bool:
        """Whether standard output is a terminal with a person in front of it."""
        return sys.stdout.isatty() and not self.json

    def note(self, message: str) -> None:
        """Print a message on standard error."""
        if not self.quiet:
            console = _console(stderr=True)
            console.print(one_line(message), soft_wrap=not console.is_terminal)

    def facts(self, rows: Sequence[tuple[str, str]]) -> None:
        """Print names and what is to be said about them on standard error, in two columns."""
        if self.quiet or not rows:
            return
        console = _console(stderr=True)
        if not console.is_terminal:
            sys.stderr.write("".join(f"{name}: {one_line(text)}\n" for name, text in rows))
            return
        console.print(_grid(rows))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], *, wide: str | None = None) -> None:
        """Print a table on standard output: drawn on a terminal, tab-separated into a pipe.

        Parameters
        ----------
        columns : sequence of str
            Their names.
        rows : sequence of sequences of str
            The cells.
        wide : str, optional
            The column that takes the room that is left, and is wrapped; the others are numbers.
        """
        if not self.for_people:
            lines = ["\t".join(map(clean, row)) for row in (columns, *rows)]
            sys.stdout.write("".join(f"{line}\n" for line in lines))
            return
        _console().print(_drawn(columns, rows, wide))

    def result(self, values: Mapping[str, Any]) -> None:
        """Print the one JSON object."""
        sys.stdout.write(json.dumps(plain(values), allow_nan=False) + "\n")

    @contextmanager
    def progress(self, description: str, unit: str = "documents") -> Iterator[Steps]:
        """Show a bar with the rate and the time left while the body runs, on a terminal only."""
        if self.quiet or not sys.stderr.isatty():
            yield lambda documents, fraction=None: None
            return
        with _bar(unit) as bar:
            task = bar.add_task(description, total=None, done="", rate="")

            def moved(documents: int, fraction: float | None = None) -> None:
                elapsed = bar.tasks[0].elapsed or 0.0
                rate = f"{documents / elapsed:,.0f}/s" if elapsed > 0.5 and documents else ""
                known = {} if fraction is None else {"total": 1.0, "completed": fraction}
                bar.update(task, done=f"{documents:,} {unit}" if documents else "", rate=rate, **known)

            yield moved


def plain(value: Any) -> Any:
    """Turn arrays, tuples and numbers of NumPy into what JSON has; numbers that are not finite become null.

    Examples
    --------
    >>> plain({"a": (1, float("nan"))})
    {'a': [1, None]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    # Markup and emoji codes in words of a corpus are words; numbers need no colours.
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def _grid(rows: Sequence[tuple[str, str]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for name, text in rows:
        grid.add_row(name, Text(one_line(text)))
    return grid


def _drawn(columns: Sequence[str], rows: Sequence[Sequence[str]], wide: str | None) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for name in columns:
        if name == wide:
            table.add_column(name, overflow="fold", ratio=1)
        else:
            table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    return table


def _bar(unit: str) -> Any:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = _console(stderr=True)
    narrow = console.width < 90
    columns: list[Any] = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
    columns += [BarColumn(bar_width=8 if narrow else 30)]
    columns += [] if narrow else [TextColumn("{task.fields[done]}", markup=False)]
    columns += [TextColumn("{task.fields[rate]}", markup=False), TimeElapsedColumn(), TimeRemainingColumn(compact=True)]
    return Progress(*columns, console=console, transient=True)
