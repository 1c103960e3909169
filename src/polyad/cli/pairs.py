"""Two corpora whose documents belong together, row by row: where they are, and what is said about each."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from polyad.cli.options import Reading, Shown
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output, Steps

_PANEL = "Two views"
_WITH_COLUMNS = ("jsonl", "csv", "tsv", "parquet")


@dataclass(frozen=True)
class Sides:
    """Where the two sides are, if not in one column of a file each."""

    left_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of the left text.", rich_help_panel=_PANEL)
    ] = None
    right_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of the right text.", rich_help_panel=_PANEL)
    ] = None
    left_vocabulary: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words of left counts, one per line.", rich_help_panel=_PANEL)
    ] = None
    right_vocabulary: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words of right counts, one per line.", rich_help_panel=_PANEL)
    ] = None
    ignore_ids: Annotated[
        bool,
        typer.Option("--ignore-ids", help="Pair rows by their order, whatever their ids.", rich_help_panel=_PANEL),
    ] = False

    def files(self) -> list[str | None]:
        """Return the files that are read for it."""
        return [self.left_vocabulary, self.right_vocabulary]


@dataclass(frozen=True)
class Side:
    """One of the two corpora."""

    name: str  # "left" or "right", or that of a file or view among more than two
    path: str  # where it is
    reading: Reading  # how to read it

    def __str__(self) -> str:
        column = self.reading.text_column
        return f"{self.path} ({column})" if column else self.path


class SideOutput(Output):
    """What is said about one side, with its name and the names of its own options.

    Parameters
    ----------
    shown
        What the user asked for.
    side
        "left" or "right".
    """

    def __init__(self, shown: Shown, side: str) -> None:
        super().__init__(shown)
        self.side = side

    def note(self, message: str) -> None:
        """Print a message on standard error."""
        super().note(f"{self.side.capitalize()}: {self.renamed(message)}")

    @contextmanager
    def progress(self, description: str, unit: str = "documents", *, drawn: bool = True) -> Iterator[Steps]:
        """Show a bar; see `Output.progress`."""
        with super().progress(f"{description} {self.side}", unit, drawn=drawn) as moved:
            yield moved

    def renamed(self, message: str) -> str:
        """Call options by the names that they have for this side."""
        for option in ("stop-words", "tokenizer"):
            message = message.replace(f"--{option}", f"--{self.side}-{option}")
        return message


def find_sides(left: str, right: str | None, reading: Reading, sides: Sides, *, both: bool) -> list[Side]:
    """Return the sides that a call names.

    Parameters
    ----------
    left, right
        The files; no second one where both sides are columns of one, or only one side is given.
    reading
        How to read them.
    sides
        What is different between them.
    both
        Whether one side alone is not enough.
    """
    found = [
        Side("left", left, _reading(reading, sides.left_column, sides.left_vocabulary)),
        Side("right", left if right is None else right, _reading(reading, sides.right_column, sides.right_vocabulary)),
    ]
    if right is not None:
        if left == right == "-":
            raise CallError("both sides are -, and standard input can be read once only; give a file for one of them.")
        return found
    columns = [sides.left_column, sides.right_column]
    if both and None in columns:
        raise CallError(
            "only one file is given; name its two columns with --left-column and --right-column, or give a second file."
        )
    if None not in columns:
        _check_columns(left, reading, columns)
        return found
    return found[1:] if sides.right_column is not None else found[:1]


def listed_sides(paths: Sequence[str], reading: Reading) -> list[Side]:
    """Return corpora, each with the name of its file up to the first dot, or its path where two have the same."""
    if sum(path == "-" for path in paths) > 1:
        raise CallError("standard input can be read once only; give files for the other corpora.")
    names = [Path(path).name.split(".")[0] or path for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) < len(names):
        raise CallError("a corpus is given twice; give each of them once.")
    return [Side(name, path, reading) for name, path in zip(names, paths)]


def _reading(reading: Reading, column: str | None, vocabulary: str | None) -> Reading:
    return replace(reading, text_column=column or reading.text_column, vocabulary=vocabulary or reading.vocabulary)


def _check_columns(path: str, reading: Reading, columns: Sequence[str | None]) -> None:
    from polyad.corpus import CorpusError, recognise

    if columns[0] == columns[1]:
        raise CallError(f"--left-column and --right-column are both {columns[0]!r}; name two columns.")
    if path == "-":
        raise CallError("standard input can be read once only; two columns are read from a file.")
    found = reading.format or recognise(path)
    if found not in _WITH_COLUMNS:
        raise CorpusError(f"two columns are asked for, and {found} has none; give a second file", path=path)
