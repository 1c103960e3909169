"""LDA-C."""

import numpy as np
import pytest

from polyad.corpus import CorpusError, ReadOptions, make_corpus, read_corpus, write_corpus


def read(folder, text, **options):
    file = folder / "ap.dat"
    file.write_text(text)
    return read_corpus(file, reading=ReadOptions(**options))


def test_words_count_from_zero_and_empty_documents_stay(tmp_path):
    (tmp_path / "vocab.txt").write_text("a\nb\nc\nd\n")
    corpus = read(tmp_path, "2 0:1 2:3\n0\n1 1:2\n\n")
    assert corpus.vocabulary == ("a", "b", "c", "d")
    assert corpus.counts.toarray().tolist() == [[1, 0, 3, 0], [0, 0, 0, 0], [0, 2, 0, 0]]
    assert corpus.report.reading.blank_lines == 1


def test_without_words_the_columns_are_numbered(tmp_path):
    corpus = read(tmp_path, "2 0:1 2:3\n")
    assert corpus.vocabulary == ("0", "1", "2")
    assert corpus.numbered


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("3 0:1 2:3", "announces 3 pairs, but has 2"),
        ("1 0:1 2:3", "announces 1 pairs, but has 2"),
        ("x 0:1", "must start with the number"),
        ("1 0", "is not a pair"),
        ("1 0:1:2", "is not a pair"),
        ("1 0:", "is not a pair"),
        ("1 :1", "is not a pair"),
        ("1 0: 1", "is not a pair"),
        ("1 0:-1", "is not a pair"),
        ("1 0:1.0", "is not a pair"),
        ("0:1", "must start with the number"),
        ("1 3:1", "word number 3 is not below 3"),
        ("1 0:99999999999", "above"),
    ],
)
def test_a_bad_line_names_itself_or_is_skipped(line, said, tmp_path):
    (tmp_path / "vocab.txt").write_text("a\nb\nc\n")
    text = f"1 0:1\n{line}\n1 2:2\n"
    with pytest.raises(CorpusError, match=said) as caught:
        read(tmp_path, text)
    assert caught.value.line == 2
    corpus = read(tmp_path, text, skip_bad=True)
    assert corpus.counts.toarray().tolist() == [[1, 0, 0], [0, 0, 2]]
    assert corpus.report.reading.bad == 1


def test_many_blocks_are_one_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr("polyad.corpus.formats.integers.BLOCK_BYTES", 7)
    corpus = make_corpus(np.random.default_rng(0).poisson(0.3, (50, 20)), [f"w{n}" for n in range(20)])
    write_corpus(corpus, tmp_path / "a.ldac")
    again = read_corpus(tmp_path / "a.ldac")
    np.testing.assert_array_equal(again.counts.toarray(), corpus.counts.toarray())
