"""The corpus itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.sparse import coo_array, csc_matrix, csr_array

from polyad.corpus import Corpus, CorpusError, TextOptions, align_vocabulary, filter_words, make_corpus, stack


@given(npst.arrays(np.int64, st.tuples(st.integers(0, 4), st.integers(0, 4)), elements=st.integers(0, 3)))
def test_counts_of_any_form_are_the_same_corpus(counts):
    forms = [counts, counts.astype(float), csr_array(counts), csc_matrix(counts), coo_array(counts), counts.tolist()]
    for form in forms[: None if counts.size else -1]:
        corpus = make_corpus(form)
        np.testing.assert_array_equal(corpus.counts.toarray(), counts)
        assert corpus.counts.has_canonical_format
        assert corpus.counts.dtype == np.int32
        assert corpus.counts.indices.dtype == np.int32
        assert np.all(corpus.counts.data > 0)


def test_repeated_and_zero_entries():
    entries = coo_array(([1, 2, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    corpus = make_corpus(entries)
    assert corpus.counts.toarray().tolist() == [[0, 3], [0, 0]]
    assert corpus.counts.nnz == 1
    too_many = coo_array(([2**31 - 1, 1], ([0, 0], [0, 0])), shape=(1, 1))
    with pytest.raises(CorpusError, match="above"):
        make_corpus(too_many)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([1, 2], "matrix"),
        ([["a"]], "not numbers"),
        ([[1j]], "not numbers"),
        (csr_array([[1j]]), "not real numbers"),
        ([[-1]], "word 0 in document 0 is -1"),
        ([[0.5]], "is 0.5"),
    ],
)
def test_what_is_no_matrix_of_counts(counts, said):
    with pytest.raises(CorpusError, match=said):
        make_corpus(counts)


def test_words_and_ids_must_fit():
    with pytest.raises(CorpusError, match="3 columns"):
        make_corpus([[1, 2, 3]], ["a", "b"])
    with pytest.raises(CorpusError, match="1 row"):
        make_corpus([[1, 2, 3]], ids=["a", "b"])
    with pytest.raises(CorpusError, match="'a' is twice"):
        make_corpus([[1, 2, 3]], ["a", "b", "a"])
    with pytest.raises(ValueError, match="1 column, and the vocabulary 0"):
        Corpus(csr_array([[1]]), (), ("x",))
    with pytest.raises(ValueError, match="1 row, and the list of ids 0"):
        Corpus(csr_array([[1]]), ("a",), ())


def test_slices_and_blocks():
    corpus = make_corpus(np.arange(10).reshape(5, 2), ["a", "b"], list("vwxyz"))
    assert corpus[1:3].ids == ("w", "x")
    assert corpus[1:3].counts.toarray().tolist() == [[2, 3], [4, 5]]
    blocks = list(corpus.blocks(2))
    assert [block.shape for block in blocks] == [(2, 2), (2, 2), (1, 2)]
    with pytest.raises(TypeError, match="corpus\\[:100\\]"):
        corpus[3]
    with pytest.raises(AttributeError):
        corpus.ids = ()


def test_stacking():
    parts = [make_corpus([[1, 2]], ["a", "b"], ["x"]), make_corpus([[3, 4]], ["a", "b"], ["x"])]
    whole = stack(parts)
    assert whole.counts.toarray().tolist() == [[1, 2], [3, 4]]
    assert (whole.report.documents, whole.report.tokens, whole.report.duplicate_ids) == (2, 10, 1)
    with pytest.raises(ValueError, match="different vocabularies"):
        stack([parts[0], make_corpus([[1]])])
    with pytest.raises(ValueError, match="no corpus"):
        stack([])


def test_aligning():
    corpus = make_corpus([[1, 2, 3], [0, 4, 0]], ["c", "x", "a"])
    aligned = align_vocabulary(corpus, ["a", "b", "c"])
    assert aligned.counts.toarray().tolist() == [[3, 0, 1], [0, 0, 0]]
    assert aligned.counts.has_sorted_indices
    assert (aligned.report.dropped["unknown words"].tokens, aligned.report.empty_documents) == (6, 1)
    assert align_vocabulary(corpus, corpus.vocabulary) is corpus


def test_numbered_words_are_only_taken_if_their_number_is_right():
    numbered = make_corpus([[1, 2]])
    assert align_vocabulary(numbered, ["a", "b"]).vocabulary == ("a", "b")
    with pytest.raises(CorpusError, match="2 columns and no words"):
        align_vocabulary(numbered, ["a", "b", "c"])


def test_filtering_counts_keeps_the_order_of_the_columns():
    corpus = make_corpus([[5, 1, 0, 2, 1], [5, 1, 1, 2, 1], [0, 1, 0, 0, 0]], ["zoo", "The", "rare", "7", "a"])
    kept = filter_words(corpus, TextOptions(stop_words=["the"], min_df=2))
    assert kept.vocabulary == ("zoo", "7", "a")
    assert kept.counts.toarray().tolist() == [[5, 2, 1], [5, 2, 1], [0, 0, 0]]
    assert kept.report.dropped["stop words"].tokens == 3
    assert kept.report.dropped["rare words"].examples == ("rare",)
    assert kept.report.tokens_found == corpus.report.tokens
    assert filter_words(corpus, TextOptions(max_features=1)).vocabulary == ("zoo",)


def test_the_report_reads_well():
    corpus = filter_words(make_corpus([[1, 2], [0, 0]], ["the", "b"], ["x", "x"]), TextOptions(stop_words=["the"]))
    assert str(corpus.report).splitlines() == [
        "2 documents, 2 words kept",
        "stop words dropped: 1 word, 1 occurrence (the)",
        "documents without any kept word: 1",
        "documents with the id of an earlier one: 1 (x)",
    ]
