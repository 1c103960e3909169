"""Parquet tables of documents, by pyarrow."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from polyad.corpus.documents import CorpusError, Document, Tally
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.streams import ByteStream, check_unpacked, seekable
from polyad.corpus.formats.tables import pick_columns

BATCH_ROWS = 512


def read_parquet(
    stream: ByteStream, tally: Tally, options: ReadOptions, moved: Callable[[float], None]
) -> Iterator[Document]:
    """Yield one document per row, a few hundred rows in memory at a time; a null text is an empty document."""
    parquet = _import_parquet(stream.name)
    with seekable(stream) as file:
        stored = file.seek(0, 2)
        file.seek(0)
        table = _guarded(lambda: parquet.ParquetFile(file), stream.name)
        columns = pick_columns(_guarded(lambda: table.schema_arrow.names, stream.name), options, stream.name)
        _check_text(table.schema_arrow.field(columns[0]), stream.name)
        wanted = [column for column in columns if column is not None]
        _check_rows(table.metadata.num_rows, stored, options, stream.name)
        check_unpacked(
            _guarded(lambda: _unpacked_size(table.metadata), stream.name), stored, options.max_unpacked, stream.name
        )
        # A text that many rows share stays one text: written out for every row, a few bytes could fill all memory.
        shared = _guarded(lambda: parquet.ParquetFile(file, read_dictionary=wanted), stream.name)
        batches = _guarded(lambda: shared.iter_batches(batch_size=BATCH_ROWS, columns=wanted), stream.name)
        total = max(1, table.metadata.num_rows)
        row = characters = 0
        while True:
            batch = _guarded(lambda: next(batches, None), stream.name)
            if batch is None:
                return
            for name, text in _rows(batch, columns, stream.name):
                row += 1
                characters += len(text or "")
                check_unpacked(characters, stored, options.max_unpacked, stream.name)
                if isinstance(text, str) and len(text) <= options.max_document_bytes:
                    yield tally.document(name, text)
                    continue
                problem = (
                    "the text is not valid UTF-8"
                    if not isinstance(text, str)
                    else f"the text is longer than {options.max_document_bytes:,} characters; "
                    "if it is meant to be one document, raise max_document_bytes"
                )
                tally.reject(CorpusError(problem, path=stream.name, line=row, unit="row"))
            _check_rows(row, stored, options, stream.name)
            moved(row / total)


def _check_rows(rows: int, stored: int, options: ReadOptions, path: str) -> None:
    """Refuse rows that nothing is stored of: a thousand million nulls take a few bytes."""
    allowed = options.max_announced + stored
    if rows > allowed:
        raise CorpusError(
            f"there are more than the {allowed:,} rows that are read from {stored:,} bytes; if this is right, raise "
            "max_announced",
            path=path,
        )


def _unpacked_size(metadata: Any) -> int:
    """Return how much all pages unpack to, as far as the file itself tells.

    The metadata of single columns are better not asked: where they are damaged, pyarrow ends the process.
    """
    return sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))


def _import_parquet(path: str) -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise CorpusError(
            "reading Parquet needs the package pyarrow; install it with: pip install 'polyad[cli]'", path=path
        ) from error
    return pyarrow.parquet


def _guarded(action: Callable[[], Any], path: str) -> Any:
    try:
        return action()
    # Damaged files raise errors of many kinds inside the library; all of them mean the same to the caller.
    except Exception as error:
        reason = str(error).split("\n", 1)[0]
        raise CorpusError(f"the Parquet file cannot be read ({reason}); it may be damaged", path=path) from error


def _check_text(field: Any, path: str) -> None:
    import pyarrow.types as types

    kind = field.type.value_type if types.is_dictionary(field.type) else field.type
    view = getattr(types, "is_string_view", lambda _: False)
    if not (types.is_string(kind) or types.is_large_string(kind) or view(kind) or types.is_null(kind)):
        raise CorpusError(
            f"the column {field.name!r} is not text but {field.type}; name another as the text column", path=path
        )


def _rows(batch: Any, columns: tuple[str, str | None], path: str) -> Iterator[tuple[str | None, str | None]]:
    texts = batch.column(columns[0])
    names = batch.column(columns[1]) if columns[1] is not None else None
    for at in range(batch.num_rows):
        name = _guarded(partial(_value, names, at), path) if names is not None else None
        text = _guarded(partial(_value, texts, at), path)
        yield (None if name is None or name == "" else str(name)), "" if text is None else text


def _value(column: Any, at: int) -> Any:
    """Give the value of a cell, bytes that are no text as they are."""
    try:
        return column[at].as_py()
    except UnicodeDecodeError:
        return b""
    except (ValueError, OverflowError):
        # A date beyond those of Python, and whatever else it has no value for.
        return _as_text(column.slice(at, 1))


def _as_text(cell: Any) -> str | None:
    if hasattr(cell, "dictionary_decode"):
        cell = cell.dictionary_decode()
    for kind in ("int64", "int32", "string"):
        try:
            return str(cell.cast(kind)[0].as_py())
        except Exception:  # pyarrow has an error of its own for every pair of kinds
            continue
    return None
