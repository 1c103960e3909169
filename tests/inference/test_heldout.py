"""Held-out likelihood against exact sums over all assignments of topics to tokens."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from scipy.special import gammaln, logsumexp

from polyad.datasets import make_lda
from polyad.engine import blocks
from polyad.engine.checks import FractionalCountsWarning
from polyad.inference.heldout import chib, completion_bits, completion_log_likelihood, left_to_right, split_tokens
from strategies import corpora

TWO_TOPICS = np.array([[0.85, 0.1, 0.05], [0.1, 0.2, 0.7]])
THREE_TOPICS = np.array([[0.7, 0.1, 0.1, 0.1], [0.05, 0.9, 0.05, 0.0], [0.25, 0.25, 0.25, 0.25]])
MODELS = [
    pytest.param(TWO_TOPICS, [0.1, 0.1], [2, 1, 3], id="two topics, small prior"),
    pytest.param(TWO_TOPICS, [1.5, 0.4], [0, 2, 3], id="two topics, uneven prior"),
    pytest.param(THREE_TOPICS, [0.3, 0.05, 0.6], [1, 3, 1, 1], id="three topics"),
]


def exact_probability(components, prior, document):
    """Sum P(topics, tokens) over all K**L assignments."""
    tokens = np.repeat(np.arange(len(document)), document)
    total = 0.0
    for topics in product(range(len(prior)), repeat=tokens.size):
        probability, used = 1.0, np.zeros(len(prior))
        for i, (word, k) in enumerate(zip(tokens, topics)):
            probability *= components[k, word] * (used[k] + prior[k]) / (i + np.sum(prior))
            used[k] += 1
        total += probability
    return total


def unbiased_within(estimates, exact, relative_error):
    """The mean of the probabilities is right within four standard errors, and these are small."""
    ratios = np.exp(estimates) / exact
    error = ratios.std() / np.sqrt(ratios.size)
    assert error < relative_error / 4
    assert abs(ratios.mean() - 1) < 4 * error


@pytest.mark.parametrize(("components", "prior", "document"), MODELS)
@pytest.mark.parametrize("n_particles", [1, 2, 10])
def test_left_to_right_is_unbiased(components, prior, document, n_particles):
    copies = np.tile(document, (40_000 // n_particles, 1))
    estimates = left_to_right(components, prior, copies, n_particles=n_particles, n_jobs=1)
    unbiased_within(estimates, exact_probability(components, prior, document), 0.05)


@pytest.mark.parametrize(("components", "prior", "document"), MODELS)
def test_left_to_right_converges(components, prior, document):
    exact = np.log(exact_probability(components, prior, document))
    estimates = left_to_right(components, prior, [document] * 3, n_particles=20_000)
    assert np.allclose(estimates, exact, atol=0.03)


@pytest.mark.parametrize(("components", "prior", "document"), MODELS)
def test_chib_is_unbiased(components, prior, document):
    exact = exact_probability(components, prior, document)
    copies = np.tile(document, (2000, 1))
    unbiased_within(chib(components, prior, copies, n_iter=20, burn_in=2, n_jobs=1), exact, 0.08)
    unbiased_within(chib(components, prior, copies[:200], n_jobs=1), exact, 0.03)


@pytest.mark.parametrize(("components", "prior", "document"), MODELS)
def test_chib_converges(components, prior, document):
    exact = np.log(exact_probability(components, prior, document))
    assert np.allclose(chib(components, prior, [document] * 3, n_iter=20_000), exact, atol=0.03)


def test_estimators_of_one_token_are_exact():
    exact = np.log(np.array([0.3, 0.7]) @ TWO_TOPICS)
    for estimate in (left_to_right, chib):
        assert np.allclose(estimate(TWO_TOPICS, [0.3, 0.7], np.eye(3)), exact, atol=1e-12)


def exact_log_probability(components, prior, document):
    """Exact for longer documents too: assignments with the same numbers of tokens a topic are added up as one."""
    K, weights = len(prior), {(0,) * len(prior): 1.0}
    for word in np.repeat(np.arange(len(document)), document.astype(int)):
        grown = defaultdict(float)
        for used, weight in weights.items():
            for k in range(K):
                grown[(*used[:k], used[k] + 1, *used[k + 1 :])] += weight * components[k, word]
        weights = grown
    used = np.array(list(weights))
    log_prior = gammaln(used + prior).sum(axis=1) - gammaln(prior).sum() - gammaln(used[0].sum() + prior.sum())
    return logsumexp(log_prior, b=list(weights.values())) + gammaln(prior.sum())


def test_the_two_oracles_agree():
    document, prior = np.array([1, 3, 1, 1]), np.array([0.3, 0.05, 0.6])
    long, short = exact_log_probability(THREE_TOPICS, prior, document), exact_probability(THREE_TOPICS, prior, document)
    assert long == pytest.approx(np.log(short), rel=1e-12)


def test_longer_documents():
    """At forty tokens the error of an estimate is about 0.1 and 0.01, of log-probabilities near -100."""
    data = make_lda(12, 60, 3, length=40, random_state=3)
    exact = np.array([exact_log_probability(data.components, data.prior, row) for row in data.counts.toarray()])
    for found, tolerance in (
        (left_to_right(data.components, data.prior, data.counts, n_particles=200), 0.4),
        (chib(data.components, data.prior, data.counts, n_iter=4000), 0.1),
    ):
        assert np.abs(found - exact).max() < tolerance
        assert abs((found - exact).mean()) < tolerance / 4


@pytest.mark.parametrize("estimate", [left_to_right, chib])
def test_blocks_and_threads_leave_every_byte(estimate, monkeypatch):
    data = make_lda(40, 30, 3, length=12, random_state=0)
    X = data.counts
    small = {"n_particles": 4} if estimate is left_to_right else {"n_iter": 30}
    reference = estimate(data.components, data.prior, X, n_jobs=1, **small)
    assert np.array_equal(reference, estimate(data.components, data.prior, X, n_jobs=2, **small))
    assert np.array_equal(reference, estimate(data.components, data.prior, [X[:7], X[7:]], **small))
    monkeypatch.setattr(blocks, "SHARD_CELLS", 99)
    assert np.array_equal(reference, estimate(data.components, data.prior, [X[:7], X[7:12], X[12:]], **small))
    assert not np.array_equal(reference, estimate(data.components, data.prior, X, random_state=1, **small))


@pytest.mark.parametrize("score", [left_to_right, chib, completion_log_likelihood])
def test_a_wrong_model_scores_worse(score):
    data = make_lda(30, 50, 3, length=40, random_state=1)
    wrong = np.random.default_rng(0).permuted(data.components, axis=1)
    n_tokens = 30 * 20 if score is completion_log_likelihood else 30 * 40
    true_score, wrong_score = (np.sum(score(topics, data.prior, data.counts)) for topics in (data.components, wrong))
    assert true_score > wrong_score + 0.5 * n_tokens


def test_empty_documents_have_probability_one():
    X = np.array([[0, 0, 0], [1, 0, 2], [0, 0, 0]])
    for estimate in (left_to_right, chib):
        values = estimate(TWO_TOPICS, 0.5, X)
        assert values[0] == values[2] == 0
        assert values[1] < 0


def test_words_that_no_topic_has_cost_much_but_not_everything():
    topics = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    fine = np.log(1e-12)
    assert left_to_right(topics, 1.0, [[0, 0, 2]]) == pytest.approx(2 * fine)
    assert chib(topics, 1.0, [[0, 0, 2]]) == pytest.approx(2 * fine, abs=0.05)  # topics are drawn, and drawn evenly
    assert completion_bits(topics, 1.0, [[0, 0, 2]]) == pytest.approx(-fine / np.log(2))


@given(corpora())
@settings(max_examples=60)
def test_the_halves_are_halves(X):
    observed, hidden = split_tokens(X, 5)
    assert np.array_equal((observed + hidden).toarray(), X)
    assert np.array_equal(observed.sum(axis=1), X.sum(axis=1) // 2)
    assert min(observed.data.min(initial=1), hidden.data.min(initial=1)) > 0
    assert observed.indices.dtype == hidden.indices.dtype == np.int32


def test_every_half_is_equally_likely():
    """Of the tokens a a a b b c two are drawn: cells follow the multivariate hypergeometric distribution."""
    n_rows = 30_000
    observed = split_tokens(np.tile([3, 2, 0, 1], (n_rows, 1)), 0)[0].toarray()
    assert np.allclose(observed.mean(axis=0), [1.5, 1.0, 0, 0.5], atol=4 / np.sqrt(n_rows))
    expected = {(3, 0, 0): 1, (2, 1, 0): 6, (2, 0, 1): 3, (1, 2, 0): 3, (1, 1, 1): 6, (0, 2, 1): 1}
    for cells, ways in expected.items():
        share = (observed[:, [0, 1, 3]] == cells).all(axis=1).mean()
        assert share == pytest.approx(ways / 20, abs=4 * 0.5 / np.sqrt(n_rows))


def slow_completion(components, prior, X, random_state, max_iter):
    """Document completion as it is written in the docstring, token by token, in float64."""
    observed, hidden = (half.toarray() for half in split_tokens(X, random_state))
    log_likelihood, n_tokens = 0.0, 0
    for first_half, second_half, document in zip(observed, hidden, X):
        if document.sum() < 2:
            continue
        weights = prior * (1 + first_half.sum() / prior.sum())
        for _ in range(max_iter):
            tokens = np.zeros_like(weights)
            for word, count in enumerate(first_half):
                joint = weights * components[:, word]
                tokens += count * joint / max(joint.sum(), 1e-300)
            weights = prior + tokens
        for word, count in enumerate(second_half):
            log_likelihood += count * np.log(weights / weights.sum() @ components[:, word]) if count else 0.0
            n_tokens += int(count)
    return log_likelihood, n_tokens


@pytest.mark.parametrize("max_iter", [1, 5, 20])
def test_completion_equals_its_slow_twin(max_iter):
    rng = np.random.default_rng(2)
    X = rng.poisson(0.8, (25, 9)).astype(float)
    X[3], X[4] = 0, np.eye(9)[2]
    components, prior = rng.dirichlet(np.ones(9), 3), np.array([0.2, 0.5, 1.1])
    expected, n_tokens = slow_completion(components, prior, X, 7, max_iter)
    found = completion_log_likelihood(components, prior, X, 7, max_iter=max_iter)
    assert found[1] == n_tokens
    assert found[0] == pytest.approx(expected, rel=1e-5)  # shares are computed in single precision
    bits = completion_bits(components, prior, X, 7, max_iter=max_iter)
    assert bits == pytest.approx(-expected / n_tokens / np.log(2), rel=1e-5)


def test_completion_blocks_threads_and_containers(monkeypatch):
    data = make_lda(60, 30, 3, length=12, random_state=0)
    X, model = data.counts, (data.components, data.prior)
    reference = completion_bits(*model, X, n_jobs=1)
    others = [X.toarray(), sparse.csc_matrix(X), X.astype(np.int64), [X[:11], X[11:]]]
    assert all(completion_bits(*model, other, n_jobs=2) == reference for other in others)
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 50)
    assert completion_bits(*model, [X[:20], X[20:]], n_jobs=2) == pytest.approx(reference, rel=1e-12)
    monkeypatch.setattr(blocks, "SHARD_CELLS", 150)
    assert completion_bits(*model, [X[:20], X[20:]], n_jobs=2) == pytest.approx(reference, rel=1e-12)
    monkeypatch.undo()
    assert completion_bits(*model, X, 1) != reference
    assert completion_bits(*model, X, np.random.default_rng(0)) == reference


def test_completion_near_the_truth():
    """One topic: bits per token are the cross-entropy of the hidden half, whatever the split."""
    X = np.tile([4, 2, 2], (50, 1))
    bits = completion_bits([[0.5, 0.25, 0.25]], 1.0, X)
    hidden = split_tokens(X)[1].sum(axis=0)
    assert bits == pytest.approx((hidden / hidden.sum()) @ [1, 2, 2], rel=1e-9)


@given(corpora())
@settings(max_examples=40)
def test_hostile_corpora_give_finite_numbers(X):
    M = X.shape[1]
    topics = np.full((2, M), 1 / M)
    topics[0] = np.eye(M)[0]
    for estimate in (left_to_right, chib):
        assert np.isfinite(estimate(topics, 0.01, X, **({} if estimate is left_to_right else {"n_iter": 10}))).all()
    if (X.sum(axis=1) >= 2).any():
        assert np.isfinite(completion_bits(topics, 0.01, X))
    else:
        with pytest.raises(ValueError, match="two tokens or more"):
            completion_bits(topics, 0.01, X)


@pytest.mark.parametrize("score", [completion_bits, left_to_right, chib])
def test_bad_models_are_refused_in_words(score):
    with pytest.raises(ValueError, match="The topics have 3 words and the documents 2"):
        score(TWO_TOPICS, 1.0, [[1, 2]])
    with pytest.raises(ValueError, match="topic 1 sums to 2"):
        score(TWO_TOPICS * [[1.0], [2.0]], 1.0, [[1, 2, 0]])
    with pytest.raises(ValueError, match="prior must be positive"):
        score(TWO_TOPICS, [1.0, 0.0], [[1, 2, 0]])


@pytest.mark.parametrize("score", [left_to_right, chib])
def test_samplers_refuse_fractions(score):
    with (
        pytest.warns(FractionalCountsWarning, match=r"2.5 at row 1, column 1"),
        pytest.raises(ValueError, match=r"fractional count 2.5 at row 1.*round"),
    ):
        score(TWO_TOPICS, 1.0, [[1, 2, 0], [1, 2.5, 0]])


def test_fractions_are_split_in_halves():
    with pytest.warns(FractionalCountsWarning):
        observed, hidden = split_tokens([[0.5, 2.0, 0.25], [0.5, 0.0, 0.0]])
    assert np.array_equal((observed + hidden).toarray(), [[0.5, 2.0, 0.25], [0.5, 0.0, 0.0]])
    assert np.array_equal(observed.toarray() % 1, [[0.25, 0.0, 0.125], [0.25, 0.0, 0.0]])
    with pytest.warns(FractionalCountsWarning):
        proportions = completion_bits([[0.25, 0.25, 0.5]], 1.0, [[0.3, 0.0, 0.7]])
    assert np.isclose(proportions, 0.3 * 2 + 0.7 * 1)


def test_bad_numbers_are_refused_in_words():
    for score, options in ((left_to_right, {"n_particles": 0}), (chib, {"n_iter": 0}), (chib, {"burn_in": -1})):
        with pytest.raises(ValueError, match="give a whole number"):
            score(TWO_TOPICS, 1.0, [[1, 2, 0]], **options)


def test_halves_of_large_counts_are_drawn_at_once():
    X = np.array([[3_000_000, 1, 1_000_000, 0], [2000, 2000, 2000, 2000]])
    observed, hidden = split_tokens(X)
    assert np.array_equal((observed + hidden).toarray(), X)
    assert np.array_equal(observed.sum(axis=1), X.sum(axis=1) // 2)
    drawn = np.array([split_tokens(X[1:], seed)[0].toarray()[0, :1] for seed in range(400)])
    assert abs(drawn.mean() - 1000) < 4
    assert abs(drawn.std() - np.sqrt(2000 / 4 * 6000 / 7999)) < 3, "the spread of the hypergeometric distribution"
