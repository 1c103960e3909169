"""Matrix Market and npz."""

import io
import sys

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix, save_npz

from polyad.corpus import CorpusError, ReadOptions, read_corpus

COUNTS = np.array([[1, 0, 2], [0, 0, 0], [0, 5, 0], [1, 1, 1]])


@pytest.mark.parametrize("field", ["integer", "real"])
@pytest.mark.parametrize("make", [coo_array, np.asarray])
def test_what_scipy_writes_is_read(field, make, tmp_path):
    mmwrite(tmp_path / "a.mtx", make(COUNTS), field=field)
    corpus = read_corpus(tmp_path / "a.mtx")
    np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)
    assert corpus.counts.dtype == np.int32


@pytest.mark.parametrize("make", [csr_array, csc_array, coo_array, csr_matrix])
def test_npz_of_any_layout(make, tmp_path):
    save_npz(tmp_path / "a.npz", make(COUNTS.astype(float)))
    corpus = read_corpus(tmp_path / "a.npz")
    np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)
    assert corpus.counts.has_canonical_format


def test_npz_from_standard_input(tmp_path, monkeypatch):
    save_npz(tmp_path / "a.npz", csr_array(COUNTS))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "a.npz").read_bytes())))
    np.testing.assert_array_equal(read_corpus("-").counts.toarray(), COUNTS)


@pytest.mark.parametrize("value", [-1, 1.5, np.nan, np.inf, 1e12])
def test_what_is_no_count_names_its_cell(value, tmp_path):
    wrong = COUNTS.astype(float)
    wrong[2, 1] = value
    save_npz(tmp_path / "a.npz", csr_array(wrong))
    with pytest.raises(CorpusError, match=r"a\.npz: the count of word 1 in document 2 is"):
        read_corpus(tmp_path / "a.npz")


def test_words_and_columns_must_agree_and_a_transposed_matrix_is_suspected(tmp_path):
    save_npz(tmp_path / "a.npz", csr_array(COUNTS))
    (tmp_path / "a.vocab.txt").write_text("a\nb\nc\nd\n")
    with pytest.raises(CorpusError, match=r"3 columns .* vocabulary has 4; it seems to be words x documents"):
        read_corpus(tmp_path / "a.npz")
    assert read_corpus(tmp_path / "a.npz", reading=ReadOptions(vocabulary_file="none")).numbered


def test_nothing_in_an_npz_is_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "evidence"), "w"))

    np.savez(
        tmp_path / "a.npz",
        format=np.array(b"csr"),
        shape=np.array([1, 1]),
        data=np.array([Evil()], dtype=object),
        indices=np.array([0]),
        indptr=np.array([0, 1]),
    )
    with pytest.raises(CorpusError, match="save_npz"):
        read_corpus(tmp_path / "a.npz")
    assert not (tmp_path / "evidence").exists()


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([5], [0, 1, 1]), ([-1], [0, 1, 1]), ([0], [0, 2**30, 1]), ([0], [1, 1, 1]), ([0], [0, 1])],
)
def test_indices_that_lead_out_of_the_matrix_are_refused(indices, indptr, tmp_path):
    np.savez(
        tmp_path / "a.npz",
        format=np.array(b"csr"),
        shape=np.array([2, 2]),
        data=np.array([1]),
        indices=np.array(indices),
        indptr=np.array(indptr),
    )
    with pytest.raises(CorpusError):
        read_corpus(tmp_path / "a.npz")


@pytest.mark.parametrize(
    "text",
    [
        "%%MatrixMarket matrix coordinate integer general\n2 2 1\n3 1 1\n",
        "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 1\n",
        "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 x\n",
        "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 2\n",
        "%%MatrixMarket matrix coordinate integer general\n99999999999 2 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate integer general\n2 2\n",
        "%%MatrixMarket nonsense\n2 2 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate integer general\nx y z\n",
        "%%MatrixMarket",
        "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n",
        "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
        "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n0.5\n",
        "%%MatrixMarket matrix array real general\n99999999999 0\n",
        "%%MatrixMarket matrix coordinate integer general\n0 0 1\n0 0 0\n",
        "%%MatrixMarket matrix coordinate integer general\n" + "9" * 30 + " 2 1\n",
    ],
)
def test_damaged_matrix_market_is_a_sentence(text, tmp_path):
    (tmp_path / "a.mtx").write_text(text)
    with pytest.raises(CorpusError, match=r"a\.mtx"):
        read_corpus(tmp_path / "a.mtx")
