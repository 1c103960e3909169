from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, psi

from polyad.datasets import make_lda
from polyad.engine import count_blocks, use
from polyad.inference import topic_posterior, topic_shares
from polyad.inference.heldout import split_tokens
from polyad.inference.kernels.variational import digamma
from polyad.inference.single_topic import mixture_completion

TOPICS = np.array([[0.6, 0.3, 0.1, 0.0], [0.1, 0.1, 0.3, 0.5], [0.25, 0.25, 0.25, 0.25]])
PRIOR = np.array([0.4, 0.9, 0.2])
DOCUMENTS = np.array([[3, 1, 0, 0], [0, 0, 2, 4], [1, 1, 1, 1], [0, 0, 0, 0], [5, 0, 0, 5]], dtype=float)


def slow_map(counts, n_iter):
    shares = PRIOR * (1 + counts.sum() / PRIOR.sum())
    for _ in range(n_iter):
        tokens = shares * (TOPICS @ (counts / np.maximum(shares @ TOPICS, 1e-30)))
        shares = PRIOR + tokens
    return shares / shares.sum()


def slow_variational(counts, n_iter):
    gamma = PRIOR * (1 + counts.sum() / PRIOR.sum())
    for _ in range(n_iter):
        weights = np.exp(psi(gamma))
        gamma = PRIOR + weights * (TOPICS @ (counts / np.maximum(weights @ TOPICS, 1e-30)))
    return gamma / gamma.sum()


@pytest.mark.parametrize(("method", "twin"), [("map", slow_map), ("variational", slow_variational)])
def test_compiled_inference_equals_its_numpy_twin(method, twin):
    for n_iter in (1, 2, 7):
        found = topic_shares(TOPICS, PRIOR, count_blocks(DOCUMENTS), method=method, max_iter=n_iter)
        assert np.allclose(found, [twin(row, n_iter) for row in DOCUMENTS], atol=2e-6)


def exact_mean_shares(counts):
    """Posterior mean of the shares by summing over every assignment of tokens to topics."""
    tokens = np.repeat(np.arange(4), counts.astype(int))
    total, mean = 0.0, np.zeros(3)
    for assignment in product(range(3), repeat=tokens.size):
        n = np.bincount(assignment, minlength=3)
        log_p = (gammaln(PRIOR + n) - gammaln(PRIOR)).sum()
        p = np.exp(log_p) * np.prod([TOPICS[k, w] for k, w in zip(assignment, tokens)])
        total += p
        mean += p * (PRIOR + n) / (PRIOR.sum() + tokens.size)
    return mean / total


@pytest.mark.parametrize(("method", "tolerance"), [("cvb0", 0.03), ("variational", 0.15), ("map", 0.15)])
def test_shares_are_near_the_exact_posterior_mean(method, tolerance):
    documents = DOCUMENTS[:3]
    found = topic_shares(TOPICS, PRIOR, count_blocks(documents), method=method, max_iter=50)
    exact = np.array([exact_mean_shares(row) for row in documents])
    assert np.abs(found - exact).max() < tolerance
    prior_mean = np.tile(PRIOR / PRIOR.sum(), (3, 1))
    assert np.abs(prior_mean - exact).max() > 2 * tolerance, "the prior itself must fail"


@pytest.mark.parametrize("method", ["map", "variational", "cvb0"])
def test_any_number_of_threads_and_every_row(method):
    sample = make_lda(400, 80, 5, length=30)
    X = count_blocks(sparse.vstack([sample.counts, sparse.csr_array((3, 80))]))
    one = topic_shares(sample.components, 0.1, X, method=method)
    with use(4):
        many = topic_shares(sample.components, 0.1, X, method=method)
    assert one.tobytes() == many.tobytes()
    assert np.allclose(one.sum(axis=1), 1)
    assert np.allclose(one[-3:], 0.2)


def test_many_topics_do_not_underflow():
    sample = make_lda(50, 2000, 500, length=5, random_state=0)
    for method in ("map", "variational", "cvb0"):
        shares = topic_shares(sample.components, 1 / 500, count_blocks(sample.counts), method=method)
        assert np.median(shares.max(axis=1)) > 0.2, "five tokens say more than the prior"


def test_huge_counts_stay_finite():
    found = topic_shares(TOPICS, PRIOR, count_blocks(DOCUMENTS * 1e8))
    assert np.isfinite(found).all()
    assert np.allclose(found.sum(axis=1), 1)


def test_digamma():
    x = np.concatenate([np.geomspace(1e-3, 1, 30), np.linspace(1, 300, 30)])
    assert np.allclose([digamma(value) for value in x], psi(x), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    ("components", "prior", "message"),
    [
        (TOPICS, [0.1, 0.2], "one number for all 3 topics"),
        (TOPICS, [0.1, 0.2, -1.0], "positive"),
        (-TOPICS, 0.1, "not negative"),
        (TOPICS * np.nan, 0.1, "finite"),
        (TOPICS[:, :3], 0.1, "4 words, and the topics have 3"),
    ],
)
def test_bad_topics(components, prior, message):
    with pytest.raises(ValueError, match=message):
        topic_shares(components, prior, count_blocks(DOCUMENTS))


def test_bad_method():
    with pytest.raises(ValueError, match="method is 'magic'"):
        topic_shares(TOPICS, PRIOR, count_blocks(DOCUMENTS), method="magic")


def test_single_topic_posterior_is_bayes_rule():
    weights = np.array([0.5, 0.3, 0.2])
    blocks = count_blocks(DOCUMENTS)
    found = topic_posterior(TOPICS, weights, blocks)
    joint = np.array([[w * np.prod(t**x) for w, t in zip(weights, TOPICS)] for x in DOCUMENTS])
    assert np.allclose(found, joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    assert np.allclose(found[3], weights)


def test_single_topic_completion_is_bayes_rule():
    weights = np.array([0.5, 0.3, 0.2])
    documents = DOCUMENTS + 1
    observed, _ = split_tokens(documents, 3)
    whole, first = (
        [sum(w * np.prod(t**x) for w, t in zip(weights, TOPICS)) for x in part]
        for part in (documents, observed.toarray())
    )
    likelihood, n_tokens = mixture_completion(TOPICS, weights, count_blocks(documents), random_state=3)
    assert np.isclose(likelihood, np.log(whole).sum() - np.log(first).sum(), rtol=1e-12)
    assert n_tokens == documents.sum() - observed.sum()
