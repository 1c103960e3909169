"""Plain text: one document per line, or one per file of a folder."""

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from polyad.base.plurals import how_many
from polyad.corpus.documents import CorpusError, Document, Tally, listed
from polyad.corpus.formats.html import text_of_html
from polyad.corpus.formats.lines import decode, find_encoding, read_lines
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.recognise import is_html, refuse_foreign
from polyad.corpus.formats.streams import ByteStream, open_stream

_TABLES = (".parquet", ".pq", ".jsonl", ".ndjson", ".csv", ".tsv", ".npz", ".mtx")


def read_plain_lines(stream: ByteStream, tally: Tally, options: ReadOptions) -> Iterator[Document]:
    """Yield one document per line; an empty line is an empty document."""
    lines = read_lines(stream, tally, options)
    if is_html(stream.sample()):
        tally.suspect(
            f"{stream.name}, line 1: this is HTML, and its tags are counted as words; put it in a folder and give "
            "that: there each file is a document, and the tags of HTML are left out."
        )
    for number, text in lines:
        if "\r" in text:
            tally.suspect(
                f"{stream.name}, line {number}: {how_many(text.count(chr(13)), 'carriage returns')} in the line, "
                "which only "
                "a line feed ends; if each of them ends a document, turn them into line feeds: tr '\\r' '\\n'."
            )
        yield tally.document(None, text)


def list_files(folder: Path, pattern: str | None, tally: Tally) -> list[Path]:
    """List the files of a folder and all folders in it, sorted by path, without the hidden ones."""
    found: list[Path] = []

    def refuse(error: OSError) -> None:
        tally.reject(CorpusError(f"the folder cannot be listed ({error})", path=str(folder)))

    for parent, folders, names in os.walk(folder, onerror=refuse):
        for name in names:
            if name.startswith("."):
                tally.hidden_files += 1
            elif pattern is None or fnmatch(name, pattern):
                file = Path(parent, name)
                # A pipe or a device among the files, or at the end of a link, would be read for ever; a link that
                # leads nowhere is an error of its own.
                if file.is_file() or (file.is_symlink() and not file.exists()):
                    found.append(file)
                else:
                    tally.suspect(f"{file}: this is a pipe or a device and no file, and is passed over.")
        hidden = [name for name in folders if name.startswith(".")]
        for name in hidden:
            tally.hidden_files += sum(len(files) for _, _, files in os.walk(Path(parent, name)))
        folders[:] = [name for name in folders if not name.startswith(".")]
    return sorted(found, key=lambda file: file.relative_to(folder).parts)


def read_folder(folder: Path, tally: Tally, options: ReadOptions, moved: Callable[[float], None]) -> Iterator[Document]:
    """Yield one document per file; its id is the path from the folder. Of HTML, what the page shows is the text."""
    files = list_files(folder, options.pattern, tally)
    tables = [file for file in files if any(suffix in _TABLES for suffix in map(str.lower, file.suffixes[-2:]))]
    if tables and options.pattern is None:
        raise CorpusError(
            f"the folder holds {how_many(len(tables), 'tables')} of documents ({listed((f.name for f in tables), 3)}), "
            "and of a folder each file is one document; name a table, or give a pattern such as '*.txt'",
            path=str(folder),
        )
    for number, file in enumerate(files):
        try:
            text = _read_whole(file, options)
        except CorpusError as error:
            tally.reject(error)
        else:
            yield tally.document(file.relative_to(folder).as_posix(), text)
        moved((number + 1) / len(files))


def _read_whole(file: Path, options: ReadOptions) -> str:
    limit = options.max_document_bytes
    with open_stream(file, options.max_unpacked) as stream:
        sample = stream.sample()
        refuse_foreign(sample, stream.name)
        codec, mark = find_encoding(stream.sample(), options.encoding, stream.name)
        stream.reader.read(mark)
        data = stream.reader.read(limit + 1)
    if len(data) > limit:
        raise CorpusError(
            f"the file is longer than {limit:,} bytes; if it is meant to be one document, raise max_document_bytes",
            path=str(file),
        )
    text = decode(data, codec, options.errors, path=str(file))
    return text_of_html(text) if is_html(sample) else text
