"""What a command prints: data on standard output, messages and progress on standard error."""

import json
import math
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

from polyad.base.terminal import bar, can_draw, console
from polyad.cli.options import Shown
from polyad.cli.terminal.text import clean, one_line, sentence
from polyad.cli.terminal.wording import for_people

MOST_COLUMNS = 1000  # of any terminal


class Steps(Protocol):
    """Tells how far long work is."""

    def __call__(self, documents: int, fraction: float | None = None) -> None:
        """Tell the number of documents (or steps) done, and the share of all, None where it is unknown."""
        ...


class Output:
    """Prints for people on a terminal, plainly into a pipe, and as one JSON object with ``--json``.

    Parameters
    ----------
    shown
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
            screen = console(stderr=True)
            screen.print(sentence(message), soft_wrap=not screen.is_terminal)

    @contextmanager
    def noting(self) -> Iterator[list[str]]:
        """Tell the warnings of the body when it is done, and give the list that they are in then."""
        notes: list[str] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield notes
        notes += [for_people(str(found.message)) for found in caught if issubclass(found.category, UserWarning)]
        for note in notes:
            self.note(f"Note: {note}")

    def facts(self, rows: Sequence[tuple[str, str]]) -> None:
        """Print names and what is to be said about them on standard error, in two columns."""
        if self.quiet or not rows:
            return
        screen = console(stderr=True)
        if not screen.is_terminal:
            sys.stderr.write("".join(f"{name}: {sentence(text)}\n" for name, text in rows))
            return
        screen.print(_grid(rows))

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        wide: str | None = None,
        spare: Sequence[str] = (),
    ) -> None:
        """Print a table on standard output: drawn on a terminal, tab-separated into a pipe.

        Parameters
        ----------
        columns
            Their names.
        rows
            The cells.
        wide
            The column that takes the room that is left, and is wrapped; the others are numbers.
        spare
            Columns that a terminal does not show where there is no room for all: the first of them goes first.
        """
        if not self.for_people:
            lines = ["\t".join(map(clean, row)) for row in (columns, *rows)]
            sys.stdout.write("".join(f"{line}\n" for line in lines))
            return
        screen = console()
        drawn = _drawn(columns, rows, wide)
        for name in spare:
            if screen.measure(drawn, options=screen.options.update(width=MOST_COLUMNS)).maximum <= screen.width:
                break
            at = columns.index(name)
            columns, *rows = [(*row[:at], *row[at + 1 :]) for row in (columns, *rows)]
            drawn = _drawn(columns, rows, wide)
        screen.print(drawn)

    def result(self, values: Mapping[str, Any]) -> None:
        """Print the one JSON object."""
        sys.stdout.write(json.dumps(plain(values), allow_nan=False) + "\n")

    @contextmanager
    def progress(self, description: str, unit: str = "documents", *, drawn: bool = True) -> Iterator[Steps]:
        """Show a bar with the rate and the time left while the body runs, on a terminal only."""
        if not (self.draws and drawn):
            yield lambda documents, fraction=None: None
            return
        started = time.perf_counter()
        with bar(description) as moved:

            def told(documents: int, fraction: float | None = None) -> None:
                elapsed = time.perf_counter() - started
                rate = f", {documents / elapsed:,.0f}/s" if elapsed > 0.5 else ""
                moved(fraction, f"{documents:,} {unit}{rate}" if documents else "")

            yield told

    def learning(self, description: str) -> AbstractContextManager[None]:
        """Show a bar with the passes and the time left of the fits in the body, on a terminal only."""
        from polyad.engine.shown import follow_by_bar  # loads the engine, which commands that only show never need

        return follow_by_bar(description) if self.draws else nullcontext()

    @property
    def draws(self) -> bool:
        """Whether there is a person on a terminal who wants to see a bar."""
        return not self.quiet and not self.json and can_draw()


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


def _grid(rows: Sequence[tuple[str, str]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for name, text in rows:
        grid.add_row(name, Text(sentence(text)))
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
