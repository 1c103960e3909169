"""Totals of a corpus and weights of documents, against the definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import lda_weights
from polyad.engine import aligned, count_blocks
from polyad.moments import summarise_counts
from polyad.moments.counts.weights import DocumentWeights, SameWeight, document_weights, shares_of_lengths
from strategies import corpora


@given(corpora())
@settings(max_examples=40, deadline=None)
def test_totals(X):
    found = summarise_counts(count_blocks(X))
    lengths = X.sum(axis=1)
    assert found.n_documents == len(X)
    assert found.n_empty == sum(length == 0 for length in lengths)
    assert found.n_too_short == sum(length < 3 for length in lengths)
    assert found.n_cells == (X > 0).sum()
    assert found.tokens == lengths.sum()
    assert found.word_totals.tolist() == X.sum(axis=0).tolist()
    assert found.document_frequency.tolist() == (X > 0).sum(axis=0).tolist()
    assert found.n_unseen_words == sum(column.sum() == 0 for column in X.T)
    assert found.mean_length == pytest.approx(lengths.mean())
    assert found.length_variance == pytest.approx(lengths.var(), abs=1e-9)


def test_several_texts_are_one_document_with_their_words_one_after_the_other():
    rng = np.random.default_rng(1)
    X, Y = rng.poisson(0.7, (20, 4)).astype(float), rng.poisson(0.7, (20, 6)).astype(float)
    both = summarise_counts(aligned(count_blocks(X), count_blocks(Y)))
    one = summarise_counts(count_blocks(np.hstack([X, Y])))
    for name, value in vars(one).items():
        assert np.array_equal(getattr(both, name), value), name


@given(corpora(), st.sampled_from(["uniform", "length", 0.5, 1.0, 2.0]))
@settings(max_examples=60, deadline=None)
def test_weights_are_their_definition(X, weights):
    lengths = X.sum(axis=1)
    found = document_weights(count_blocks(X), weights)
    wanted = lda_weights(lengths, weights)
    for kind, oracle in zip((found.words, found.pairs, found.triples), wanted):
        assert np.allclose(kind(lengths), oracle, atol=1e-12)


@given(corpora(), st.sampled_from(["uniform", "length", 1.5]))
@settings(max_examples=40, deadline=None)
def test_all_tuples_together_have_the_weight_1(X, weights):
    lengths = X.sum(axis=1)
    found = document_weights(count_blocks(X), weights)
    for order, kind in enumerate((found.words, found.pairs, found.triples)):
        tuples = np.prod([np.maximum(lengths - taken, 0) for taken in range(order + 1)], axis=0)
        total = float(kind(lengths) @ tuples)
        assert total == pytest.approx(1.0 if tuples.any() else 0.0)


def test_documents_that_are_too_short_for_a_tuple_have_no_weight():
    weights = DocumentWeights(0.0, (3.0, 2.0, 1.0))
    lengths = np.array([0.0, 1.0, 2.0, 2.5, 3.0])
    assert (weights.words(lengths) > 0).tolist() == [False, True, True, True, True]
    assert (weights.pairs(lengths) > 0).tolist() == [False, False, True, True, True]
    assert (weights.triples(lengths) > 0).tolist() == [False, False, False, False, True]


def test_a_corpus_without_triples_has_weights_of_zero():
    found = document_weights(count_blocks([[1.0, 1.0], [0.0, 2.0]]), "length")
    assert found.totals == (4.0, 4.0, 0.0)
    assert found.triples(np.array([2.0, 5.0])).tolist() == [0.0, 60.0]


@pytest.mark.parametrize("weights", ["size", "", float("nan"), float("inf")])
def test_unknown_weights_are_told(weights):
    with pytest.raises(ValueError, match='give "uniform", "length" or a power of the length'):
        shares_of_lengths(np.array([3.0]), weights)


def test_powers_and_names_agree():
    lengths = np.array([1.0, 4.0, 9.0])
    for one, other in (("uniform", 0.0), ("uniform", 0)):
        for a, b in zip(shares_of_lengths(lengths, one), shares_of_lengths(lengths, other)):
            assert np.array_equal(a, b)
    assert np.array_equal(shares_of_lengths(lengths, 0.5)[0], [1.0, 2.0, 3.0])
    assert SameWeight(0.25)(lengths).tolist() == [0.25] * 3
