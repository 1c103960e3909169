"""Tables out: one row for each document, written block by block, whole or not at all."""

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
from polyad.cli.terminal.text import one_line, shortened, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

WriteRows = Callable[[Sequence[str], "NDArray[Any]"], None]

ID_WIDTH, NARROW_ID_WIDTH, NARROW = 24, 12, 60
WORDS_WIDTH = 30  # of the words of the likeliest topic on a terminal, where all shares are shown beside them
ENDINGS = (".parquet", ".csv", ".jsonl")
LIKELIEST = ("topic", "topic_words")  # the columns of the likeliest topic, after the id and before all shares


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
def open_table(path: str, columns: Sequence[str], names: Sequence[str]) -> Iterator[WriteRows]:
    """Open a table and give the function that adds rows: ids and shares.

    Parameters
    ----------
    path
        The file; ``-`` is standard output.
    columns
        "id", and the names of the columns of shares.
    names
        What to call each topic in the column of the likeliest one. Columns beyond them are no topics.
    """
    from polyad.corpus import atomic_write

    ending = table_format(path)
    wide = [columns[0], *LIKELIEST, *columns[1:]]
    if ending == "-":
        yield _drawn_rows(columns, names) if sys.stdout.isatty() else _csv_rows(sys.stdout, wide, names)
        return
    with atomic_write(path) as out:
        if ending == ".parquet":
            with _parquet(out, wide, names) as write:
                yield write
            return
        text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
        yield _csv_rows(text, wide, names) if ending == ".csv" else _jsonl_rows(text, wide, names)
        text.detach()


def _likeliest(values: NDArray[Any], names: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return the likeliest topic of each row, by number and by name."""
    best = values[:, : len(names)].argmax(axis=1).tolist()
    return best, [names[topic] for topic in best]


def _rows(ids: Sequence[str], values: NDArray[Any], names: Sequence[str]) -> Iterator[list[Any]]:
    for name, best, words, row in zip(ids, *_likeliest(values, names), values.tolist()):
        yield [name, best, words, *row]


def _drawn_rows(columns: Sequence[str], names: Sequence[str]) -> WriteRows:
    """Write rows for a person on a terminal: the likeliest topic and its words, and all shares where they have room."""
    width = shutil.get_terminal_size().columns
    id_width = ID_WIDTH if width >= NARROW else NARROW_ID_WIDTH
    room = width - id_width - len("  topic  share  ") - 1
    narrow = max(map(len, columns[1:]), default=0) + 2
    whole = WORDS_WIDTH + narrow * (len(columns) - 1) <= room
    words_width = WORDS_WIDTH if whole else max(8, room)
    others = "".join(f"{column:>{narrow}}" for column in columns[1:]) if whole else ""
    header = f"{columns[0]:<{id_width}}  topic   share  {'words':<{words_width}}{others}"
    sys.stdout.write(f"{header.rstrip()}\n")

    def write(ids: Sequence[str], values: NDArray[Any]) -> None:
        for name, best, words, *row in _rows(ids, values, names):
            cells = "".join(f"{value:>{narrow}.4f}" for value in row) if whole else ""
            # An id could take over the screen.
            line = f"{one_line(shown(name, id_width - 1)):<{id_width}}  {best:>5}  {row[best]:>6.4f}  "
            sys.stdout.write(f"{line}{shortened(words, words_width - 1):<{words_width}}{cells}".rstrip() + "\n")

    return write


def _csv_rows(out: Any, columns: Sequence[str], names: Sequence[str]) -> WriteRows:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)

    def write(ids: Sequence[str], values: NDArray[Any]) -> None:
        writer.writerows(_rows(ids, values, names))

    return write


def _jsonl_rows(out: Any, columns: Sequence[str], names: Sequence[str]) -> WriteRows:
    def write(ids: Sequence[str], values: NDArray[Any]) -> None:
        for row in _rows(ids, values, names):
            out.write(json.dumps(dict(zip(columns, row)), ensure_ascii=False) + "\n")

    return write


@contextmanager
def _parquet(out: BinaryIO, columns: Sequence[str], names: Sequence[str]) -> Iterator[WriteRows]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise CallError("writing Parquet needs the package pyarrow; pip install 'polyad[cli]' brings it.") from error
    kinds = [pyarrow.string(), pyarrow.int32(), pyarrow.string()]
    kinds += [pyarrow.float64()] * (len(columns) - len(kinds))
    schema = pyarrow.schema(list(zip(columns, kinds)))
    with parquet.ParquetWriter(out, schema) as writer:

        def write(ids: Sequence[str], values: NDArray[Any]) -> None:
            cells = [ids, *_likeliest(values, names), *values.T]
            arrays = [pyarrow.array(column, kind) for column, kind in zip(cells, kinds)]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))

        yield write
