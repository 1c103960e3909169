"""How far a fit is, shown to a person: by a bar on a terminal, by lines elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from polyad.base.terminal import bar, can_draw
from polyad.engine.progress import Report, following


@contextmanager
def follow_by_bar(description: str) -> Iterator[None]:
    """Draw how far the fits of the body are."""
    with (
        bar(description) as moved,
        following(lambda report: moved(report.fraction or None, report.what, report.seconds_left)),
    ):
        yield


@contextmanager
def follow_by_lines() -> Iterator[None]:
    """Write a line to standard error after every stage of the fits of the body, and after every likelihood pass."""

    def write(report: Report) -> None:
        if report.event in ("round", "ended"):
            sys.stderr.write(f"{report}\n")

    with following(write):
        yield


def shown_fit(name: str, verbose: int) -> AbstractContextManager[None]:
    """Show how far a fit is, where it is asked for: by a bar on a terminal, by lines elsewhere."""
    if not verbose:
        return nullcontext()
    return follow_by_bar(name) if can_draw() else follow_by_lines()
