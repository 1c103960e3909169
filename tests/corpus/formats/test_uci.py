"""The UCI bag of words, and the fast reader of whole numbers under it."""

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyad.corpus import CorpusError, ReadOptions, make_corpus, read_corpus, recognise, write_corpus
from polyad.corpus.formats.integers import read_blocks_of_lines, scan_integers
from polyad.corpus.formats.streams import open_stream

SMALL = "3\n4\n3\n1 1 4\n3 4 1\n3 2 2\n"


def read(folder, text, **options):
    file = folder / "docword.x.txt"
    file.write_text(text, newline="")
    return read_corpus(file, reading=ReadOptions(**options))


def test_documents_and_words_count_from_one(tmp_path):
    (tmp_path / "vocab.x.txt").write_text("a\nb\nc\nd\n")
    corpus = read(tmp_path, SMALL)
    assert corpus.vocabulary == ("a", "b", "c", "d")
    assert corpus.counts.toarray().tolist() == [[4, 0, 0, 0], [0, 0, 0, 0], [0, 2, 0, 1]]
    assert corpus.report.empty_documents == 1


def test_blank_lines_windows_ends_order_and_repeats_do_no_harm(tmp_path):
    corpus = read(tmp_path, "2\r\n2\r\n4\r\n2 2 1\r\n\r\n1 1 3\r\n2 2 5\r\n1 2 0")
    assert corpus.counts.toarray().tolist() == [[3, 0], [0, 6]]
    assert corpus.counts.nnz == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("4 1 1", "document number 4 is not between 1 and 3"),
        ("0 1 1", "document number 0"),
        ("1 5 1", "word number 5 is not between 1 and 4"),
        ("1 1 -1", "three whole numbers"),
        ("1 1 1.5", "three whole numbers"),
        ("1 1", "three whole numbers"),
        ("1 1 1 1", "three whole numbers"),
        ("1 1:1", "three whole numbers"),
        ("x", "three whole numbers"),
        ("1 1 99999999999", "above"),
        ("1 1 " + "9" * 30, "three whole numbers"),
    ],
)
def test_a_bad_line_names_itself_or_is_skipped(line, said, tmp_path):
    text = f"3\n4\n3\n1 1 4\n{line}\n3 2 2\n"
    with pytest.raises(CorpusError, match=said) as caught:
        read(tmp_path, text)
    assert caught.value.line == 5
    corpus = read(tmp_path, text, skip_bad=True)
    assert corpus.counts.sum() == 6
    assert corpus.report.reading.bad == 1


@pytest.mark.parametrize("header", ["3\n4\n", "3\nx\n4\n", "3 4 5\n", "", "-1\n4\n3\n", "3\n4\n" + "9" * 40 + "\n"])
def test_a_bad_header_is_never_skipped(header, tmp_path):
    for skip_bad in (False, True):
        with pytest.raises(CorpusError):
            read(tmp_path, header, format="uci", skip_bad=skip_bad)


def test_a_file_cut_short_is_noticed(tmp_path):
    with pytest.raises(CorpusError, match="announces 3 entries, but there are 2"):
        read(tmp_path, "3\n4\n3\n1 1 4\n3 4 1\n")
    assert read(tmp_path, "3\n4\n3\n1 1 4\n3 4 1\n", skip_bad=True).report.reading.bad == 1


def test_a_size_that_would_take_all_memory_is_refused(tmp_path):
    for header in ("99999999999\n4\n1\n1 1 1\n", "3\n2000000000\n1\n1 1 1\n"):
        with pytest.raises(CorpusError, match="cannot be right"):
            read(tmp_path, header)


def test_many_blocks_are_one_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr("polyad.corpus.formats.integers.BLOCK_BYTES", 7)
    rng = np.random.default_rng(0)
    corpus = make_corpus(rng.poisson(0.3, (50, 20)))
    write_corpus(corpus, tmp_path / "docword.x.txt")
    again = read_corpus(tmp_path / "docword.x.txt")
    np.testing.assert_array_equal(again.counts.toarray(), corpus.counts.toarray())


@given(st.text(alphabet="0123456789 :\n\t\r", max_size=60))
def test_fast_numbers_are_those_of_a_plain_search(text):
    block = text.encode() + b"\n"
    numbers = scan_integers(block)
    loose_colon = re.search(rb"(?<!\d):|:(?!\d)", block)
    if loose_colon or re.search(rb"\d{19}", block):
        assert numbers is None
        return
    found = list(re.finditer(rb"\d+", block))
    assert numbers.values.tolist() == [int(match.group()) for match in found]
    assert numbers.lines.tolist() == [block[: match.start()].count(b"\n") for match in found]
    assert numbers.before_colon.tolist() == [block[match.end() :].startswith(b":") for match in found]
    assert numbers.n_lines == block.count(b"\n")


@given(st.text(alphabet="ab\n", max_size=40), st.integers(1, 10))
def test_blocks_of_lines_are_the_file(tmp_path_factory, text, size):
    file = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp())) / "a"
    file.write_text(text, newline="")
    with pytest.MonkeyPatch.context() as patch, open_stream(file) as stream:
        patch.setattr("polyad.corpus.formats.integers.BLOCK_BYTES", size)
        blocks = list(read_blocks_of_lines(stream))
    assert all(block.endswith(b"\n") for block in blocks)
    assert b"".join(blocks).decode() == text + ("" if text.endswith("\n") or not text else "\n")


@pytest.mark.parametrize("entry", ["1 1 -3", "1 1 2.5", "1 1 1e2", "-1 1 1", "1 1.5 1"])
def test_a_first_entry_that_is_wrong_makes_no_text_of_counts(tmp_path, entry):
    (tmp_path / "counts").write_text(f"3\n4\n2\n{entry}\n3 4 1\n")
    assert recognise(tmp_path / "counts") == "uci"
    with pytest.raises(CorpusError, match="line 4"):
        read_corpus(tmp_path / "counts")


def test_the_name_of_a_bag_of_words_tells_its_format(tmp_path):
    (tmp_path / "docword.x.txt").write_text("many documents\n")
    with pytest.raises(CorpusError, match="three lines with the numbers of documents"):
        read_corpus(tmp_path / "docword.x.txt")
