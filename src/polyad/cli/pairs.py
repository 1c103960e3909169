"""Two corpora whose documents belong together, row by row: where they are, and whether they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from polyad.cli.options import Reading, Shown
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output, Steps

if TYPE_CHECKING:
    from polyad.corpus import Corpus

__all__ = ["Side", "SideOutput", "Sides", "aligned_blocks", "check_lengths", "check_pairs", "find_sides"]

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
    """One of the two corpora.

    Parameters
    ----------
    name : str
        "left" or "right", or that of a file or view among more than two.
    path : str
        Where it is.
    reading : Reading
        How to read it.
    """

    name: str
    path: str
    reading: Reading

    def __str__(self) -> str:
        column = self.reading.text_column
        return f"{self.path} ({column})" if column else self.path


class SideOutput(Output):
    """What is said about one side, with its name and the names of its own options.

    Parameters
    ----------
    shown : Shown
        What the user asked for.
    side : str
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
    left, right : str
        The files; no second one where both sides are columns of one, or only one side is given.
    reading : Reading
        How to read them.
    sides : Sides
        What is different between them.
    both : bool
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


def check_lengths(sides: Sequence[Side], left: Corpus, right: Corpus, *, ignore_ids: bool) -> None:
    """Refuse corpora with different numbers of documents."""
    if len(left) == len(right):
        return
    apart = None if ignore_ids else _first_difference(left.ids, right.ids, 0)
    where = "" if apart is None else f" The first difference is row {apart + 1}: {_ids_of(left, right, apart)}."
    raise ValueError(
        f"{sides[0]} has {len(left):,} documents and {sides[1]} has {len(right):,}; each document needs its partner in "
        f"the same row.{where}"
    )


def check_pairs(sides: Sequence[Side], left: Corpus, right: Corpus, *, ignore_ids: bool, start: int = 0) -> None:
    """Refuse documents that do not belong together, as far as their ids tell.

    Parameters
    ----------
    sides
        The sides, for the message.
    left, right : Corpus
        As many documents of both.
    ignore_ids : bool
        Whether rows belong together whatever their ids are.
    start : int
        The number of the first of the documents.
    """
    numbered = any(_numbered(corpus.ids, start) for corpus in (left, right))
    bad = sum(corpus.report.reading.bad for corpus in (left, right) if corpus.report.reading is not None)
    if bad and (ignore_ids or numbered):
        raise ValueError(
            f"bad records were skipped ({bad:,}), and without ids it is not known which documents belong together; "
            "correct these records, or give the documents ids."
        )
    at = None if ignore_ids else _first_difference(left.ids, right.ids, start)
    if at is not None:
        raise ValueError(
            f"row {start + at + 1} is {_ids_of(left, right, at)} ({sides[0]} and {sides[1]}); documents that belong "
            "together must be in the same row. --ignore-ids pairs rows whatever their ids are."
        )


def aligned_blocks(
    sides: Sequence[Side], blocks: Sequence[Iterator[Corpus]], *, ignore_ids: bool
) -> Iterator[tuple[Corpus, ...]]:
    """Cut the blocks of several corpora so that those that are yielded together have the same rows."""
    rest: list[Corpus | None] = [None] * len(sides)
    done = 0
    while True:
        rest = [part if part is not None and len(part) else next(of, None) for part, of in zip(rest, blocks)]
        parts = [part for part in rest if part is not None]
        if len(parts) < len(sides):
            break
        rows = min(map(len, parts))
        if rows:
            for side, part in zip(sides[1:], parts[1:]):
                check_pairs([sides[0], side], parts[0][:rows], part[:rows], ignore_ids=ignore_ids, start=done)
            yield tuple(part[:rows] for part in parts)
        rest = [part[rows:] for part in parts]
        done += rows
    more = [str(side) for side, part in zip(sides, rest) if part is not None and len(part)]
    if more:
        raise ValueError(
            f"{more[0]} has more than the {done:,} documents of {'the other side' if len(sides) == 2 else 'another'}; "
            "each document needs its partner in the same row."
        )


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


def _first_difference(left: Sequence[str], right: Sequence[str], start: int) -> int | None:
    """Return the first place where ids differ, None where they agree or one side has none."""
    if _numbered(left, start) != _numbered(right, start) and set(left) != set(right):
        return None  # numbers that reading gave are no ids
    return next((at for at, (a, b) in enumerate(zip(left, right)) if a != b), None)


def _ids_of(left: Corpus, right: Corpus, at: int) -> str:
    return f"{left.ids[at]!r} on the left and {right.ids[at]!r} on the right"


def _numbered(ids: Sequence[str], start: int) -> bool:
    return all(name == str(number) for number, name in enumerate(ids, start))
