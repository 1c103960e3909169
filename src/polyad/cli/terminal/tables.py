"""Tables out: one row a document, written block by block, whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.text import one_line, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ENDINGS", "open_table"]

WriteRows = Callable[[Sequence[str], "NDArray[Any]"], None]

ID_WIDTH = 24
ENDINGS = (".parquet", ".csv", ".jsonl")


def table_format(path: str) -> str:
    """Return the format that the ending of a name tells.

    Examples
    --------
    >>> table_format("topics.CSV"), table_format("-")
    ('.csv', '-')
    """
    if path == "-":
        return path
    ending = os.path.splitext(path)[1].lower()
    if ending not in ENDINGS:
        raise CallError(f"{path!r} does not tell the format of the table; end it in {', '.join(ENDINGS)}, or give -.")
    return ending


@contextmanager
def open_table(path: str, columns: Sequence[str]) -> Iterator[WriteRows]:
    """Open a table, whose first column are ids and the others numbers, and give the function that adds rows."""
    from polyad.corpus import atomic_write

    ending = table_format(path)
    if ending == "-":
        yield _drawn_rows(columns) if sys.stdout.isatty() else _csv_rows(sys.stdout, columns)
        return
    with atomic_write(path) as out:
        if ending == ".parquet":
            with _parquet(out, columns) as write:
                yield write
            return
        text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
        yield _csv_rows(text, columns) if ending == ".csv" else _jsonl_rows(text, columns)
        text.detach()


def _drawn_rows(columns: Sequence[str]) -> WriteRows:
    """Write rows for a person on a terminal: four digits, and the largest shares where not all have room."""
    room = shutil.get_terminal_size().columns - ID_WIDTH
    narrow = max(map(len, columns[1:]), default=0) + 2
    whole = narrow * (len(columns) - 1) <= room
    names = [f"{column:>{narrow}}" for column in columns[1:]] if whole else ["  largest topics"]
    sys.stdout.write(f"{columns[0]:<{ID_WIDTH}}{''.join(names)}\n")

    def write(ids: Sequence[str], values: NDArray[Any]) -> None:
        for name, row in zip(ids, values):
            if whole:
                cells = "".join(f"{value:>{narrow}.4g}" for value in row)
            else:
                best = sorted(range(len(row)), key=lambda at: -row[at])[: max(1, room // 18)]
                cells = "".join(f"  {columns[1 + at]:>9} {row[at]:<6.4f}" for at in best)
            # An id could take over the screen.
            sys.stdout.write(f"{one_line(shown(name, ID_WIDTH - 1)):<{ID_WIDTH}}{cells}\n")

    return write


def _csv_rows(out: Any, columns: Sequence[str]) -> WriteRows:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)

    def write(ids: Sequence[str], values: NDArray[Any]) -> None:
        writer.writerows([name, *row] for name, row in zip(ids, values.tolist()))

    return write


def _jsonl_rows(out: Any, columns: Sequence[str]) -> WriteRows:
    def write(ids: Sequence[str], values: NDArray[Any]) -> None:
        for name, row in zip(ids, values.tolist()):
            out.write(json.dumps(dict(zip(columns, [name, *row])), ensure_ascii=False) + "\n")

    return write


@contextmanager
def _parquet(out: BinaryIO, columns: Sequence[str]) -> Iterator[WriteRows]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise CallError("writing Parquet needs the package pyarrow; pip install 'polyad[cli]' brings it.") from error
    schema = pyarrow.schema([(columns[0], pyarrow.string()), *((column, pyarrow.float64()) for column in columns[1:])])
    with parquet.ParquetWriter(out, schema) as writer:

        def write(ids: Sequence[str], values: NDArray[Any]) -> None:
            arrays = [pyarrow.array(ids, pyarrow.string()), *(pyarrow.array(column) for column in values.T)]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))

        yield write
