"""The Gibbs sampler against exact posterior means."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from polyad.datasets import make_lda
from polyad.engine import count_blocks, use
from polyad.inference.gibbs import gibbs_shares
from polyad.inference.posterior import topic_shares
from strategies import corpora

TOPICS = np.array([[0.7, 0.2, 0.1, 0.0], [0.1, 0.1, 0.8, 0.0], [0.3, 0.4, 0.3, 0.0]])


def exact_shares(components, prior, document):
    """Posterior mean of the topic shares: a sum over all assignments of topics to tokens."""
    tokens = np.repeat(np.arange(len(document)), document)
    total, weighted = 0.0, np.zeros(len(prior))
    for topics in product(range(len(prior)), repeat=tokens.size):
        probability, used = 1.0, np.zeros(len(prior))
        for word, k in zip(tokens, topics):
            probability *= components[k, word] * (used[k] + prior[k])
            used[k] += 1
        total += probability
        weighted += probability * (used + prior) / (tokens.size + prior.sum())
    return weighted / total


@pytest.mark.parametrize("prior", [[0.1, 0.1, 0.1], [0.5, 2.0, 0.3]])
def test_means_are_those_of_the_exact_posterior(prior):
    X, prior = np.array([[3, 1, 1, 0], [0, 0, 5, 0], [1, 1, 2, 0], [1, 0, 0, 0]]), np.array(prior)
    exact = np.array([exact_shares(TOPICS, prior, row) for row in X])
    found = gibbs_shares(TOPICS, prior, count_blocks(X), n_iter=60_000, burn_in=100)
    assert np.allclose(found, exact, atol=0.01)
    plugin = topic_shares(TOPICS, prior, count_blocks(X), method="map", max_iter=100)
    assert np.abs(plugin - exact).max() > 0.02  # the tolerance tells the sampler from an approximation


def test_independent_documents_average_to_the_exact_posterior():
    """Streams of different rows are independent: short chains of many copies have the right mean."""
    document, prior = np.array([2, 1, 1, 0]), np.array([0.3, 0.3, 0.3])
    copies = count_blocks(np.tile(document, (4000, 1)))
    shares = gibbs_shares(TOPICS, prior, copies, n_iter=30, burn_in=20)
    error = shares.std(axis=0) / np.sqrt(len(shares))
    assert np.all(error < 0.005)
    assert np.all(np.abs(shares.mean(axis=0) - exact_shares(TOPICS, prior, document)) < 4 * error)


def test_empty_and_unknown_documents_get_the_prior():
    prior = np.array([0.2, 0.3, 1.5])
    X = count_blocks([[0, 0, 0, 0], [0, 0, 0, 7], [0, 0, 9, 0]])
    shares = gibbs_shares(TOPICS, prior, X)
    assert np.allclose(shares[:2], prior / 2.0, atol=1e-12)
    assert shares[2, 1] > 0.3


def test_words_that_no_topic_has_change_nothing():
    X = np.array([[2, 0, 3, 0], [0, 1, 1, 0.0]])
    with_unknown = X + np.array([[0, 0, 0, 5], [0, 0, 0, 1]])
    first, second = (gibbs_shares(TOPICS, 0.5, count_blocks(x)) for x in (X, with_unknown))
    assert np.array_equal(first, second)


def test_threads_and_seeds():
    data = make_lda(50, 40, 5, length=20, random_state=0)
    model = data.components, data.prior, count_blocks(data.counts)
    reference = gibbs_shares(*model, n_iter=20, burn_in=5)
    with use(2):
        assert np.array_equal(reference, gibbs_shares(*model, n_iter=20, burn_in=5))
    assert not np.array_equal(reference, gibbs_shares(*model, n_iter=20, burn_in=5, random_state=1))
    shares = gibbs_shares(*model)
    assert np.abs(shares - topic_shares(*model, method="cvb0")).mean() < 0.03


@given(corpora())
@settings(max_examples=40)
def test_hostile_corpora_give_shares(X):
    M = X.shape[1]
    topics = np.vstack([np.eye(M)[0], np.full(M, 1 / M)])
    shares = gibbs_shares(topics, 0.01, count_blocks(X), n_iter=10, burn_in=0)
    assert shares.shape == (X.shape[0], 2)
    assert shares.min() >= 0
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-12)


def test_bad_arguments_are_refused_in_words():
    X = count_blocks(np.eye(4))
    with pytest.raises(ValueError, match="burn_in is 5 of n_iter = 5 sweeps"):
        gibbs_shares(TOPICS, 1.0, X, n_iter=5, burn_in=5)
    with pytest.raises(ValueError, match="documents have 4 words and the topics 3"):
        gibbs_shares(TOPICS[:, :3], 1.0, X)
