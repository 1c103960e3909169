"""The terminal: a bar on standard error while something runs. rich draws it, and is imported only for that."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from polyad.base.plurals import how_many

if TYPE_CHECKING:
    from rich.console import Console

WIDE, NARROW = 90, 70  # columns from which there is room for all, and below which there is none for the bar itself


class Moved(Protocol):
    """Moves a bar."""

    def __call__(self, fraction: float | None, text: str = "", seconds_left: float | None = None) -> None:
        """Tell the share that is done (None where it is unknown), what is being done, and the time left."""
        ...


def console(stderr: bool = False) -> Console:
    """Return what prints on a terminal, in which words of a corpus are words and never markup."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def can_draw() -> bool:
    """Tell whether standard error is a terminal that a bar can be drawn on, and rich is there to do it."""
    return sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown") and find_spec("rich") is not None


def clock(seconds: float) -> str:
    """Return a time as on a clock.

    Examples
    --------
    >>> clock(7), clock(83.4), clock(3671)
    ('0:07', '1:23', '1:01:11')
    """
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def about(seconds: float) -> str:
    """Return a time that is only roughly known, in words.

    Examples
    --------
    >>> about(0.2), about(7), about(83.4), about(3671), about(9000)
    ('1 second', '7 seconds', '83 seconds', '61 minutes', '2.5 hours')
    """
    if seconds < 120:
        return how_many(max(1, round(seconds)), "seconds")
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.1f} hours"


@contextmanager
def bar(description: str) -> Iterator[Moved]:
    """Draw a bar on standard error while the body runs: percent, what is being done, time elapsed and left.

    It is gone afterwards, also after an error and Ctrl-C. Use it where :func:`can_draw` says so.
    """
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
    from rich.text import Text

    class Elapsed(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(clock(task.elapsed or 0.0))

    screen = console(stderr=True)
    columns: list[Any] = [SpinnerColumn()]
    if screen.width >= WIDE:
        columns += [TextColumn("{task.description}", markup=False)]
    if screen.width >= NARROW:
        columns += [BarColumn(bar_width=20 if screen.width >= WIDE else 8)]
    columns += [TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in ("percent", "text")]
    columns += [Elapsed(), TextColumn("{task.fields[left]}", markup=False)]
    # Standard output is none of its business: rich would print on standard error what is written there meanwhile.
    with Progress(*columns, console=screen, transient=True, redirect_stdout=False) as drawn:
        beginning = "" if screen.width >= WIDE else description
        task = drawn.add_task(description, total=None, percent="", text=beginning, left="")
        started = time.perf_counter()

        def moved(fraction: float | None, text: str = "", seconds_left: float | None = None) -> None:
            if fraction is None:
                drawn.update(task, text=text or beginning)
                return
            if seconds_left is None and fraction > 0:
                seconds_left = (time.perf_counter() - started) / fraction * (1 - fraction)
            left = "" if seconds_left is None else f"{clock(seconds_left)} left"
            known: dict[str, Any] = {"total": 1.0, "completed": fraction, "percent": f"{int(100 * fraction):3}%"}
            drawn.update(task, text=text or beginning, left=left, **known)

        yield moved
