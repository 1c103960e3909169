"""Variational EM: its bound against another computation of it, better topics, and the same for any order or threads."""

import numpy as np
from scipy.special import digamma, gammaln

from polyad.datasets import make_lda
from polyad.engine import count_blocks, use
from polyad.inference import variational_passes
from polyad.inference.variational import INNER
from polyad.metrics import l1_error
from purity import Checking

SAMPLE = make_lda(1500, 300, 5, length=80, prior=0.2, random_state=4)
X = count_blocks(SAMPLE.counts)
COUNTS = X.shard(0).rows
NOISE = np.random.default_rng(0).dirichlet(np.ones(300), 5)
START = 0.5 * SAMPLE.components + 0.5 * NOISE
PRIOR, SMOOTHING = np.full(5, 0.2), np.full(5, 0.05)


def passes(source=X, n_passes=8):
    return variational_passes(source, START, PRIOR, n_passes=n_passes, smoothing=SMOOTHING)


def weights_of(gamma):
    return np.exp(digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True)))


def slow_passes(n_passes):
    """The passes of Blei, Ng and Jordan (2003) in NumPy, with the bound written out term by term."""
    counts, topics, gamma, objective = COUNTS.toarray(), START.copy(), None, []
    for _ in range(n_passes):
        if gamma is None:
            gamma = PRIOR + counts.sum(axis=1, keepdims=True) / PRIOR.size
        for _ in range(INNER - 1):  # the last iteration finds the responsibilities
            weights = weights_of(gamma)
            gamma = PRIOR + weights * ((counts / (weights @ topics)) @ topics.T)
        weights = weights_of(gamma)
        expected = np.log(weights)
        bound = float((counts * np.log(weights @ topics)).sum())  # of tokens, at their best responsibilities
        bound += float(((PRIOR - 1) * expected).sum()) + len(gamma) * float(gammaln(PRIOR.sum()) - gammaln(PRIOR).sum())
        entropy = gammaln(gamma).sum(axis=1) - gammaln(gamma.sum(axis=1)) - ((gamma - 1) * expected).sum(axis=1)
        smoothness = float(SMOOTHING @ np.log(topics).sum(axis=1))
        objective.append((bound + float(entropy.sum()) + smoothness) / counts.sum())
        tokens = topics * (weights.T @ (counts / (weights @ topics)))
        topics = tokens + SMOOTHING[:, None]
        topics /= topics.sum(axis=1, keepdims=True)
    return topics, objective


def test_passes_and_their_bound_equal_their_numpy_twin():
    topics, objective = slow_passes(3)
    found = passes(n_passes=3)
    assert np.abs(found.components - topics).max() < 1e-6
    assert np.allclose(found.objective, objective, atol=1e-5)


def test_topics_get_better_and_threads_do_not_matter():
    found = passes()
    assert l1_error(START, SAMPLE.components) > 0.3
    assert l1_error(found.components, SAMPLE.components) < 0.06
    assert np.isclose(found.topic_tokens.sum(), COUNTS.sum(), rtol=1e-3)
    with use(2):
        assert passes().components.tobytes() == found.components.tobytes()


def test_the_bound_never_gets_worse():
    objective = passes(n_passes=40).objective
    assert np.diff(objective).min() > -1e-6
    assert objective[-1] > objective[0] + 0.01


def test_the_order_of_documents_does_not_matter():
    shuffled = count_blocks(COUNTS[np.random.default_rng(0).permutation(X.n_rows)])
    first, second = passes(n_passes=4), passes(shuffled, n_passes=4)
    assert np.abs(first.components - second.components).max() < 1e-6


def test_a_pass_is_pure():
    runner = Checking()
    with use(runner):
        passes(count_blocks(COUNTS[:60]), n_passes=2)
    assert any(name.endswith("_variational_step") for name in runner.seen)
