"""Encodings and lines."""

import tracemalloc

import pytest

from polyad.corpus.documents import CorpusError, Tally
from polyad.corpus.formats.lines import check_encoding, decode, read_lines
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.streams import open_stream


def lines(path, *, encoding=None, errors="strict", max_bytes=1000, skip_bad=False):
    tally = Tally(skip_bad)
    with open_stream(path) as stream:
        options = ReadOptions(encoding=encoding, errors=errors, max_document_bytes=max_bytes)
        found = list(read_lines(stream, tally, options))
    return found, tally


TEXT = "Ünïcode\nläuft\n\nüber Zeilen"
NUMBERED = [(1, "Ünïcode"), (2, "läuft"), (3, ""), (4, "über Zeilen")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marks_tell_the_encoding(encoding, tmp_path):
    (tmp_path / "a").write_bytes(TEXT.encode(encoding))
    assert lines(tmp_path / "a")[0] == NUMBERED


@pytest.mark.parametrize(("codec", "mark"), [("utf-16-be", b"\xfe\xff"), ("utf-32-be", b"\0\0\xfe\xff")])
def test_marks_of_the_other_end(codec, mark, tmp_path):
    (tmp_path / "a").write_bytes(mark + TEXT.encode(codec))
    assert lines(tmp_path / "a")[0] == NUMBERED


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "utf-16", "UTF8", "mac-roman"])
def test_an_encoding_that_is_given_is_used(encoding, tmp_path):
    (tmp_path / "a").write_bytes(TEXT.encode(encoding))
    assert lines(tmp_path / "a", encoding=encoding)[0] == NUMBERED


def test_windows_line_ends_go_and_lone_carriage_returns_stay(tmp_path):
    (tmp_path / "a").write_bytes(b"one\r\ntwo\rstill two\r\n")
    assert lines(tmp_path / "a")[0] == [(1, "one"), (2, "two\rstill two")]


def test_what_is_not_utf8_names_file_line_and_byte(tmp_path):
    (tmp_path / "a").write_bytes(b"fine\nnot \xe9\nfine again\n")
    with pytest.raises(CorpusError, match=r"a, line 2: byte 5 \(0xe9\) is not utf-8; give the encoding"):
        lines(tmp_path / "a")
    found, tally = lines(tmp_path / "a", skip_bad=True)
    assert found == [(1, "fine"), (3, "fine again")]
    assert tally.bad == 1
    assert lines(tmp_path / "a", errors="replace")[0][1] == (2, "not \ufffd")
    assert lines(tmp_path / "a", encoding="latin-1")[0][1] == (2, "not é")


def test_damaged_utf16_is_a_sentence(tmp_path):
    (tmp_path / "a").write_bytes("text".encode("utf-16") + b"\x00")
    with pytest.raises(CorpusError, match="utf-16"):
        lines(tmp_path / "a")


def test_utf16_without_its_mark_is_not_read_as_letters(tmp_path):
    (tmp_path / "a").write_bytes("some words".encode("utf-16-le"))
    with pytest.raises(CorpusError, match="full of zero bytes"):
        lines(tmp_path / "a")


def test_a_long_line_is_an_error_or_is_skipped_alone(tmp_path):
    (tmp_path / "a").write_bytes(b"short\n" + b"x" * 1001 + b"\n" + b"y" * 1000 + b"\nlast")
    with pytest.raises(CorpusError, match=r"line 2: the line is longer than 1,000 bytes"):
        lines(tmp_path / "a")
    found, tally = lines(tmp_path / "a", skip_bad=True)
    assert [(number, len(text)) for number, text in found] == [(1, 5), (3, 1000), (4, 4)]
    assert tally.bad == 1


def test_a_line_of_100_megabytes_is_passed_over_without_being_held(tmp_path):
    with open(tmp_path / "a", "wb") as out:
        for _ in range(100):
            out.write(b"x" * 2**20)
        out.write(b"\nafter")
    tracemalloc.start()
    try:
        found, tally = lines(tmp_path / "a", max_bytes=2**20, skip_bad=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == [(2, "after")]
    assert tally.bad == 1
    assert peak < 8 * 2**20


def test_unknown_encodings_and_handlers_are_the_fault_of_the_call():
    for encoding in ("utf-9", "rot13", "hex"):
        with pytest.raises(ValueError, match="not a text encoding"):
            check_encoding(encoding, "strict")
    with pytest.raises(ValueError, match="errors="):
        check_encoding(None, "sometimes")


def test_a_whole_file_names_the_line_of_the_byte():
    with pytest.raises(CorpusError, match=r"a.txt, line 3: byte 2 \(0xff\)"):
        decode(b"one\ntwo\nx\xff", "utf-8", "strict", path="a.txt")
