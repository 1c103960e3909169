"""Readers are lazy, bounded and can be run again."""

import io
import sys

import pytest

from polyad.corpus import CorpusError, Document, DocumentReader, ReadOptions
from polyad.corpus.formats.text import batched


def test_batches_are_bounded_in_documents_and_characters(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("\n".join(["word"] * 10 + ["x" * 100] * 3))
    sizes = [len(batch) for batch in DocumentReader(file).batches(documents=4, characters=100)]
    assert sizes == [4, 4, 3, 1, 1]


def test_nothing_is_read_before_it_is_asked_for():
    given = []

    def documents():
        for number in range(10**9):
            given.append(number)
            yield Document(str(number), "text")

    batches = batched(documents(), 100, 10**6)
    assert not given
    assert len(next(batches)) == 100
    assert len(given) == 100


def test_a_file_is_read_only_as_far_as_asked(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "fine words"}\n' * 200_000 + "broken")
    reader = DocumentReader(file)
    first = next(reader.batches(documents=10))
    assert len(first) == 10
    assert reader.report.documents == 10
    assert 0 < reader.fraction < 0.5


def test_a_reader_can_be_run_again(tmp_path):
    (tmp_path / "a.txt").write_text("a\nb\n")
    reader = DocumentReader(tmp_path / "a.txt")
    assert list(reader) == list(reader)
    assert reader.report.documents == 2


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id\ttext\nx\tto be\n")))
    assert list(DocumentReader("-")) == [Document("x", "to be")]


def test_the_given_format_wins(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n")
    assert list(DocumentReader(tmp_path / "a.csv", ReadOptions(format="lines"))) == [Document("0", "id,text")]


def test_counts_and_folders_are_told_apart(tmp_path):
    (tmp_path / "a.dat").write_text("1 0:1\n")
    with pytest.raises(CorpusError, match="word counts"):
        list(DocumentReader(tmp_path / "a.dat"))
    with pytest.raises(CorpusError, match="not a folder"):
        list(DocumentReader(tmp_path / "a.dat", ReadOptions(format="folder")))
    with pytest.raises(CorpusError, match="this is a folder"):
        list(DocumentReader(tmp_path, ReadOptions(format="csv")))
    with pytest.raises(CorpusError, match="no such file"):
        list(DocumentReader(tmp_path / "absent"))


def test_options_are_checked_at_once():
    with pytest.raises(ValueError, match="'xml' is not a format"):
        ReadOptions(format="xml")
    with pytest.raises(ValueError, match="max_document_bytes"):
        ReadOptions(max_document_bytes=0)
    with pytest.raises(ValueError, match="encoding"):
        ReadOptions(encoding="nope")
