"""JSONL: one object per line."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from polyad.corpus.documents import CorpusError, Document, Tally
from polyad.corpus.formats.lines import read_lines
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.streams import ByteStream
from polyad.corpus.formats.tables import find_column, pick_columns


def read_jsonl(stream: ByteStream, tally: Tally, options: ReadOptions) -> Iterator[Document]:
    """Yield one document per object; the first object tells which field is the text.

    A text of null is an empty document; a line without the field is malformed. An id may be a number, and an object
    may be without one; but a field of ids that was asked for must be in some of them.
    """
    lines = read_lines(stream, tally, options)
    text_column: str | None = None
    ids = _Ids(options.id_column)
    for number, line in lines:
        if not line or line.isspace():
            tally.blank_lines += 1
            continue
        try:
            record = _parse(line)
            if text_column is None:
                text_column, _ = pick_columns(list(record), replace(options, id_column=None), stream.name)
            name, text = _fields(record, text_column, ids.field_of(record))
        except _BadRecordError as error:
            tally.reject(CorpusError(str(error), path=stream.name, line=number))
            continue
        yield tally.document(name, text)
    if ids.are_missing and tally.documents:
        raise CorpusError(f"no object has a field {options.id_column!r} of ids; name another", path=stream.name)


class _Ids:
    """Which field the ids are in: the one that was asked for, or the first that is named so."""

    def __init__(self, asked: str | None) -> None:
        self._asked = asked
        self._field: str | None = None

    def field_of(self, record: dict[str, Any]) -> str | None:
        if self._field is None:
            self._field = find_column(list(record), self._asked or "id")
        return self._field

    @property
    def are_missing(self) -> bool:
        return self._asked is not None and self._field is None


class _BadRecordError(Exception):
    pass


def _parse(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise _BadRecordError(f"the line is not valid JSON ({error.msg} at character {error.pos + 1})") from error
    except (ValueError, RecursionError) as error:
        raise _BadRecordError(f"the line is not JSON that can be read ({error})") from error
    if not isinstance(record, dict):
        raise _BadRecordError('the line is not a JSON object such as {"text": "..."}')
    return record


def _fields(record: dict[str, Any], text_column: str, id_column: str | None) -> tuple[str | None, str]:
    if text_column not in record:
        raise _BadRecordError(f"the object has no field {text_column!r}")
    text = record[text_column]
    if text is None:
        text = ""
    if not isinstance(text, str):
        raise _BadRecordError(f"the field {text_column!r} is not text but {_kind(text)}")
    name = record.get(id_column) if id_column is not None else None
    if isinstance(name, dict | list):
        raise _BadRecordError(f"the field {id_column!r} is not an id but {_kind(name)}")
    if not text.isascii():
        # An escape such as \ud800 alone is no character and could not be written out again.
        text = text.encode("utf-8", "replace").decode("utf-8")
    return (None if name is None or name == "" else str(name)), text


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", bool: "a truth value"}
    return kinds.get(type(value), "a number")
