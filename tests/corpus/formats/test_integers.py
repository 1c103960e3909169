"""Numbers and entries of count files: every block against a plain loop over its lines."""

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyad.corpus import CorpusError
from polyad.corpus.formats import integers
from polyad.corpus.formats.entries import (
    Entries,
    blocks_in_order,
    blocks_of_batches,
    check_size,
    numbers_of,
    to_matrix,
)
from polyad.corpus.formats.html import text_of_html
from polyad.corpus.formats.integers import read_blocks_of_lines, scan_integers

LINES = st.lists(st.text("0123456789: \t-x", max_size=12), max_size=6)


def by_hand(text):
    """The numbers of a text with their lines, or None where something else is in it."""
    values, lines, before = [], [], []
    for number, line in enumerate(text.split("\n")[:-1]):
        if re.fullmatch(r"[\d: \t\r]*", line) is None or re.search(r"(^|\D):|:(\D|$)", line):
            return None
        for match in re.finditer(r"\d+", line):
            if len(match.group()) > 18:
                return None
            values.append(int(match.group()))
            lines.append(number)
            before.append(line[match.end() : match.end() + 1] == ":")
    return values, lines, before


@given(LINES)
def test_numbers_are_those_of_a_loop(lines):
    text = "".join(f"{line}\n" for line in lines)
    found, wanted = scan_integers(text.encode()), by_hand(text)
    if wanted is None:
        assert found is None
    else:
        assert (found.values.tolist(), found.lines.tolist(), found.before_colon.tolist()) == wanted
        assert found.n_lines == len(lines)


@pytest.mark.parametrize("digits", [17, 18, 19, 40])
def test_numbers_too_long_for_64_bits_are_left_to_the_slow_way(digits):
    found = scan_integers(b"9" * digits + b"\n")
    assert found is None if digits > 18 else found.values.tolist() == [int("9" * digits)]


def stream(data):
    return SimpleNamespace(reader=io.BytesIO(data), name="a.txt")


@given(st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.booleans())
def test_blocks_are_whole_lines(lines, ended):
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    before, integers.BLOCK_BYTES = integers.BLOCK_BYTES, 5
    try:
        blocks = list(read_blocks_of_lines(stream(data), max_bytes=8 * 10))
    finally:
        integers.BLOCK_BYTES = before
    assert all(block.endswith(b"\n") for block in blocks)
    assert b"".join(blocks) == (data if data.endswith(b"\n") or not data else data + b"\n")


def test_an_endless_line_is_told_with_its_number(monkeypatch):
    monkeypatch.setattr(integers, "BLOCK_BYTES", 4)
    with pytest.raises(CorpusError, match=r"a\.txt, line 3: the line is longer than 10 bytes; is there one"):
        list(read_blocks_of_lines(stream(b"1\n2\n" + b"3" * 40), max_bytes=80))


ENTRIES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(1, 3)), max_size=25)


def batches_of(entries, size):
    for start in range(0, len(entries), size):
        columns = np.array(entries[start : start + size], np.int64).reshape(-1, 3).T
        yield Entries(*columns)


@given(ENTRIES, st.integers(1, 7), st.integers(1, 4))
def test_entries_in_order_are_cut_into_blocks(entries, size, documents):
    entries = sorted(entries)
    whole = np.zeros((10, 5), np.int64)
    for document, word, count in entries:
        whole[document, word] += count
    assert np.array_equal(to_matrix(batches_of(entries, size), (10, 5)).toarray(), whole)
    blocks = list(blocks_in_order(batches_of(entries, size), (10, 5), documents, "a", max_announced=100))
    assert [block.shape[0] for block in blocks[:-1]] == [documents] * (len(blocks) - 1)
    assert np.array_equal(np.vstack([block.toarray() for block in blocks]), whole)


def test_entries_out_of_order_are_told():
    one, two = (Entries(np.array([at]), np.array([0]), np.array([1])) for at in (4, 2))
    with pytest.raises(CorpusError, match=r"a: the entries of document 3 come after those of a later one"):
        list(blocks_in_order([one, two], (5, 1), 2, "a", 100))


@given(st.lists(st.integers(0, 5), max_size=5), st.integers(1, 4))
def test_batches_of_whole_documents_are_cut_into_blocks(sizes, documents):
    first, batches, whole = 0, [], []
    for size in sizes:
        rows = np.arange(first, first + size)
        batches.append((size, Entries(rows, np.zeros(size, np.int64), rows + 1)))
        whole += (rows + 1).tolist()
        first += size
    blocks = [block.toarray() for block in blocks_of_batches(batches, 2, documents)]
    assert all(1 <= len(block) <= documents for block in blocks)
    assert [row[0] for block in blocks for row in block.tolist()] == whole


@pytest.mark.parametrize(
    ("size", "entries", "message"),
    [
        (
            2**31,
            10**9,
            "there would be 2,147,483,648 words, which cannot be right: 2,147,483,647 are",
        ),
        (
            1001 + 30,
            3,
            "there would be 1,031 words for 3 entries, .* at most 1,030 are read; if it is right",
        ),
    ],
)
def test_sizes_beyond_reason_are_told(size, entries, message):
    with pytest.raises(CorpusError, match=message):
        check_size("words", size, entries, "a", 1000)
    check_size("words", 1030, 3, "a", 1000)


def test_fields_are_whole_numbers_without_a_sign():
    assert numbers_of([b"007", b"1" * 18]) == [7, int("1" * 18)]
    for field in (b"+1", b"1.0", b"", b"1" * 19, "²".encode(), b" 1"):
        assert numbers_of([b"1", field]) is None


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<p>one</p><p>two</p>", ["one", "two"]),
        ("o<b>n</b>e <span class='x>'>two</span>", ["one", "'>two"]),
        ("a<br>b<script>var x = '<p>no</p>';</script>c", ["a", "b", "c"]),
        ("<SCRIPT>no</ScRiPt >yes", ["yes"]),
        ("<style>no", []),
        ("<!-- no <p> --> yes <!-- no", ["yes"]),
        ("<!DOCTYPE html><?xml no ?>yes", ["yes"]),
        ("3 < 4 &amp; 5 &gt; 2 &eacute;", ["3", "<", "4", "&", "5", ">", "2", "é"]),
        ("İ<noscript>no</noscript>yes", ["İ", "yes"]),
        ("</template>yes<", ["yes<"]),
        ("", []),
    ],
)
def test_the_text_of_a_page(page, words):
    assert text_of_html(page).split() == words


def test_pages_are_read_in_one_scan():
    assert text_of_html("<" * 200_000).count("<") == 200_000
    assert text_of_html("<!--" * 50_000) == ""
    assert text_of_html("<script>" * 50_000).strip() == ""
