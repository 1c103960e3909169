"""Round trips, and files that are whole or absent."""

import gzip
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from polyad.corpus import CorpusError, atomic_write, make_corpus, read_corpus, write_corpus

NAMES = {"uci": "docword.x.txt", "ldac": "x.ldac", "mtx": "x.mtx", "npz": "x.npz"}


@pytest.mark.parametrize("format_", NAMES)
@given(
    counts=npst.arrays(
        np.int64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=st.sampled_from([0, 0, 1, 3, 2**31 - 1])
    ),
    named=st.booleans(),
)
def test_what_is_written_is_read_back(format_, counts, named, tmp_path_factory):
    folder = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp()))
    words = [f"wörd {number}" for number in range(counts.shape[1])] if named else None
    ids = [f"doc/{number}" for number in range(counts.shape[0])] if named else None
    corpus = make_corpus(counts, words, ids)
    files = write_corpus(corpus, folder / NAMES[format_])
    assert sorted(path.name for path in folder.iterdir()) == sorted(file.name for file in files)
    again = read_corpus(files[-1])
    assert again.ids == corpus.ids
    # LDA-C does not tell the number of words: without a vocabulary the last columns can be unknown.
    n_words = len(again.vocabulary)
    assert again.vocabulary == corpus.vocabulary[:n_words]
    np.testing.assert_array_equal(again.counts.toarray(), counts[:, :n_words])
    assert counts[:, n_words:].sum() == 0


def test_compressed_counts_find_their_words(tmp_path):
    corpus = make_corpus([[1, 2]], ["a", "b"])
    write_corpus(corpus, tmp_path / "docword.x.txt")
    packed = tmp_path / "docword.x.txt.gz"
    packed.write_bytes(gzip.compress((tmp_path / "docword.x.txt").read_bytes()))
    assert read_corpus(packed).vocabulary == ("a", "b")


def test_a_vocabulary_left_over_is_not_read_with_new_counts(tmp_path):
    write_corpus(make_corpus([[1, 2]], ["a", "b"], ["d"]), tmp_path / "x.mtx")
    with pytest.raises(CorpusError, match=r"x\.vocab\.txt: the words of other counts are in it"):
        write_corpus(make_corpus([[1, 2]]), tmp_path / "x.mtx")
    assert read_corpus(tmp_path / "x.mtx").vocabulary == ("a", "b")
    write_corpus(make_corpus([[1, 2]]), tmp_path / "x.mtx", overwrite=True)
    assert read_corpus(tmp_path / "x.mtx").vocabulary == ("0", "1")
    assert read_corpus(tmp_path / "x.mtx").ids == ("0",)


def test_the_name_or_the_call_tells_the_format(tmp_path):
    corpus = make_corpus([[1]])
    with pytest.raises(ValueError, match="does not tell the format"):
        write_corpus(corpus, tmp_path / "x.txt")
    with pytest.raises(ValueError, match="not as csv"):
        write_corpus(corpus, tmp_path / "x.csv", "csv")
    write_corpus(corpus, tmp_path / "x.txt", "uci")
    assert (tmp_path / "x.txt").read_text() == "1\n1\n1\n1 1 1\n"


def test_a_word_with_a_line_break_cannot_be_written(tmp_path):
    with pytest.raises(CorpusError, match="line break"):
        write_corpus(make_corpus([[1]], ["a\nb"]), tmp_path / "x.mtx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_write_leaves_what_was_there(error, tmp_path):
    (tmp_path / "a").write_bytes(b"before")

    def write():
        with atomic_write(tmp_path / "a") as out:
            out.write(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert (tmp_path / "a").read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_written_file_has_the_rights_of_any_other(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    with atomic_write(tmp_path / "a") as out:
        out.write(b"x")
    assert os.stat(tmp_path / "a").st_mode == os.stat(tmp_path / "plain").st_mode
