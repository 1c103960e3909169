"""Folders and lines."""

import gzip
import os

import pytest

from polyad.corpus import CorpusError, Document, DocumentReader, ReadOptions, read_corpus


def test_a_folder_is_read_in_order_of_its_paths(tmp_path):
    (tmp_path / "b").mkdir()
    for name, text in {"b/2.txt": "two", "b/10.txt": "ten", "a.txt": "\ufeffone", "c.md": ""}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "d.txt.gz").write_bytes(gzip.compress(b"packed"))
    (tmp_path / ".hidden").write_text("x")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("x")
    reader = DocumentReader(tmp_path)
    assert list(reader) == [
        Document("a.txt", "one"),
        Document("b/10.txt", "ten"),
        Document("b/2.txt", "two"),
        Document("c.md", ""),
        Document("d.txt.gz", "packed"),
    ]
    assert (reader.report.hidden_files, reader.report.empty) == (2, 1)
    assert reader.fraction == 1.0


def test_a_pattern_picks_files(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "a.csv").write_text("b")
    with pytest.raises(CorpusError, match=r"1 table of documents \('a.csv'\)"):
        list(DocumentReader(tmp_path))
    assert [document.id for document in DocumentReader(tmp_path, ReadOptions(pattern="*.txt"))] == ["a.txt"]


def test_a_file_that_is_not_text_is_named_or_skipped(tmp_path):
    (tmp_path / "a.txt").write_text("fine")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(CorpusError, match=r"b\.png, line 1: byte 1 \(0x89\)"):
        list(DocumentReader(tmp_path))
    reader = DocumentReader(tmp_path, ReadOptions(skip_bad=True))
    assert [document.id for document in reader] == ["a.txt"]
    assert reader.report.bad == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_broken_links_pipes_and_loops_do_no_harm(tmp_path):
    (tmp_path / "a.txt").write_text("fine")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert [document.id for document in DocumentReader(tmp_path)] == ["a.txt"]
    (tmp_path / "broken").symlink_to(tmp_path / "absent")
    with pytest.raises(CorpusError, match="broken"):
        list(DocumentReader(tmp_path))


def test_odd_file_names_give_ids_that_can_be_written(tmp_path):
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    except OSError:
        pytest.skip("this file system allows UTF-8 names only")
    (document,) = DocumentReader(tmp_path)
    assert document.id.encode() == b"caf\\udce9.txt"


def test_a_long_file_is_malformed(tmp_path):
    (tmp_path / "a.txt").write_text("x" * 101)
    with pytest.raises(CorpusError, match="longer than 100 bytes"):
        list(DocumentReader(tmp_path, ReadOptions(max_document_bytes=100)))


def test_a_line_of_100_megabytes_is_an_error_unless_it_is_asked_for(tmp_path):
    with open(tmp_path / "a.txt", "wb") as out:
        out.writelines(b"some words " * 100_000 for _ in range(95))
    with pytest.raises(CorpusError, match=r"a\.txt, line 1: the line is longer than 67,108,864 bytes"):
        list(DocumentReader(tmp_path / "a.txt"))
    (document,) = DocumentReader(tmp_path / "a.txt", ReadOptions(max_document_bytes=2**27))
    assert len(document.text) == 104_500_000


def test_every_line_is_a_document_the_empty_ones_too(tmp_path):
    (tmp_path / "a.txt").write_text("one\n\n two\n")
    reader = DocumentReader(tmp_path / "a.txt")
    assert list(reader) == [Document("0", "one"), Document("1", ""), Document("2", " two")]
    assert reader.report.empty == 1


def test_nul_bytes_stay_and_are_counted(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"plenty of text before a\0b\nfine\n")
    reader = DocumentReader(tmp_path / "a.txt")
    assert next(iter(reader)).text.endswith("a\0b")
    assert reader.report.with_nul == 1


def test_an_empty_folder_and_an_empty_file_have_no_documents(tmp_path):
    assert list(DocumentReader(tmp_path)) == []
    (tmp_path / "empty.txt").write_text("")
    assert list(DocumentReader(tmp_path / "empty.txt")) == []


def test_a_file_of_carriage_returns_is_told(tmp_path):
    (tmp_path / "mac.txt").write_bytes(b"the rain\rthe wind\rthe sea\r")
    with pytest.warns(UserWarning, match=r"mac\.txt, line 1: 2 carriage returns in the line, "):
        corpus = read_corpus(tmp_path / "mac.txt")
    assert corpus.report.reading.suspicious == 1
    (tmp_path / "dos.txt").write_bytes(b"the rain\r\nthe wind\r\n")
    assert read_corpus(tmp_path / "dos.txt").report.reading.suspicious == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_link_to_a_pipe_is_passed_over(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("rain")
    (tmp_path / "texts" / "b.txt").symlink_to(tmp_path / "pipe")
    reader = DocumentReader(tmp_path / "texts")
    assert [document.id for document in reader] == ["a.txt"]
    assert reader.report.suspicious == 1
    assert reader.report.suspicious_examples[0].endswith(
        "b.txt: this is a pipe or a device and no file, and is passed over."
    )
    with pytest.warns(UserWarning, match=r"b\.txt: this is a pipe"):
        read_corpus(tmp_path / "texts")
    (tmp_path / "texts" / "c.txt").symlink_to(tmp_path / "nowhere")
    with pytest.raises(CorpusError, match="no such file"):
        list(DocumentReader(tmp_path / "texts"))
