import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyad.metrics.words import LOWEST_RELEVANCE, lift, relevance, top_documents, top_words, topic_diversity


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 9), st.integers(1, 12))
def test_top_words_are_those_of_a_full_sort(seed, K, M, n):
    scores = np.random.default_rng(seed).integers(-2, 3, (K, M))  # many ties
    expected = [sorted(range(M), key=lambda word: (-row[word], word))[:n] for row in scores]
    assert np.array_equal(top_words(scores, n), expected)


def test_top_words_of_infinite_scores():
    assert top_words([[-np.inf, 0.0, np.inf, -np.inf]], 4).tolist() == [[2, 1, 0, 3]]


def test_top_documents_are_rows():
    shares = np.array([[0.5, 0.5], [0.9, 0.1], [0.5, 0.5], [0.0, 1.0]])
    assert top_documents(shares, 3).tolist() == [[1, 0, 2], [3, 0, 2]]
    assert top_documents(shares, 99).shape == (2, 4)


@given(st.integers(0, 1000), st.floats(0, 1))
def test_relevance_is_the_formula(seed, weight):
    rng = np.random.default_rng(seed)
    topics, marginal = rng.dirichlet(np.ones(6), 3), rng.dirichlet(np.ones(6))
    expected = weight * np.log(topics) + (1 - weight) * np.log(topics / marginal)
    assert np.allclose(relevance(topics, marginal, weight=weight), expected, atol=1e-10)
    assert np.allclose(lift(topics, marginal), topics / marginal, rtol=1e-12)


def test_the_weight_moves_from_lift_to_probability():
    topics, marginal = np.array([[0.6, 0.3, 0.1]]), np.array([0.9, 0.09, 0.01])
    assert top_words(relevance(topics, marginal, weight=1), 3).tolist() == [[0, 1, 2]]
    assert top_words(relevance(topics, marginal, weight=0), 3).tolist() == [[2, 1, 0]]
    assert top_words(relevance(topics, marginal), 1).tolist() == [[1]]


@pytest.mark.parametrize("weight", [0.0, 0.6, 1.0])
def test_zeros_are_lowest_and_finite(weight):
    topics, totals = np.array([[0.5, 0.3, 0.2, 0.0], [1.0, 0.0, 0.0, 0.0]]), np.array([6, 2, 0, 0])
    values = relevance(topics, totals, weight=weight)
    absent = np.array([[False, False, True, True], [False, True, True, True]])
    assert np.isfinite(values).all()
    assert np.all(values[absent] == LOWEST_RELEVANCE)
    assert values[~absent].min() > -10
    assert np.all(lift(topics, totals)[absent] == 0)
    assert relevance([[1.0, 5e-324]], [0.5, 0.5])[0, 1] == LOWEST_RELEVANCE


def test_totals_do_as_probabilities():
    topics = [[0.7, 0.3], [0.2, 0.8]]
    assert np.allclose(relevance(topics, [30, 10]), relevance(topics, [0.75, 0.25]), atol=1e-14)
    assert np.allclose(lift(topics, [30, 10]), lift(topics, [0.75, 0.25]), atol=1e-14)


def test_diversity_between_its_ends():
    same = np.tile([0.4, 0.3, 0.2, 0.1], (4, 1))
    assert topic_diversity(same, n_words=2) == 0.25
    assert topic_diversity(np.eye(4), n_words=1) == 1.0
    assert topic_diversity(same) == 0.25  # fewer than 25 words: all of them


def test_bad_arguments_are_refused_in_words():
    with pytest.raises(ValueError, match="from 1 up"):
        top_words([[1.0]], 0)
    with pytest.raises(ValueError, match="scores contains NaN"):
        top_words([[np.nan, 1.0]], 1)
    with pytest.raises(ValueError, match="two dimensions"):
        top_documents([0.5, 0.5], 1)
    with pytest.raises(ValueError, match=r"weight is 1\.5"):
        relevance([[1.0]], [1.0], weight=1.5)
    with pytest.raises(ValueError, match="one number for each of the 2 words"):
        lift([[0.5, 0.5]], [1.0])
    with pytest.raises(ValueError, match="components must be finite and not negative"):
        lift([[1.5, -0.5]], [0.5, 0.5])
    with pytest.raises(ValueError, match="word_probabilities are all 0"):
        relevance([[0.5, 0.5]], [0.0, 0.0])
