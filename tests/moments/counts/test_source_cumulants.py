"""What moments say of sources and of priors once the topics are known."""

import numpy as np
import pytest

from polyad.datasets import make_discrete_ica, make_lda
from polyad.engine import count_blocks
from polyad.moments import discrete_ica_moments, discrete_ica_population, raw_moments
from polyad.moments.counts import concentration
from polyad.moments.counts.concentration import LARGEST, SMALLEST, estimate_concentration, mean_shares
from polyad.moments.counts.generalised_ica import generalised_ica_moments
from polyad.moments.counts.source_cumulants import left_inverse, source_cumulants

RNG = np.random.default_rng(2)
TOPICS = RNG.dirichlet(np.full(12, 0.3), 3)


def test_population_cumulants_come_back():
    cumulants = RNG.gamma(2.0, size=(3, 3))
    cumulants[2, 1] *= -1  # a source may be skewed to either side
    found = source_cumulants(discrete_ica_population(TOPICS, *cumulants), TOPICS)
    assert np.allclose(found, cumulants, atol=1e-8)


def test_cumulants_of_samples_tend_to_the_truth():
    errors = []
    for n in (2_000, 32_000):
        sample = make_discrete_ica(lambda rng, N, K: rng.exponential(20.0, (N, K)), n, 12, 3, components=TOPICS)
        found = source_cumulants(discrete_ica_moments(count_blocks(sample.counts)), TOPICS)
        wanted = [sample.intensities.mean(axis=0), sample.intensities.var(axis=0)]
        errors.append(max(np.abs(a / b - 1).max() for a, b in zip(found, wanted)))
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 0.15


@pytest.mark.parametrize("M", [3, 12])
def test_a_left_inverse_is_one(M):
    topics = RNG.dirichlet(np.ones(M), 3)
    mean = np.ones(3) / 3 @ topics
    assert np.allclose(topics @ left_inverse(topics, mean), np.eye(3), atol=1e-9)


def test_words_that_never_occur_do_no_harm_to_a_left_inverse():
    topics = np.hstack([TOPICS, np.zeros((3, 2))])
    mean = np.append(TOPICS.mean(axis=0), [0.0, 0.0])
    assert np.allclose(topics @ left_inverse(topics, mean), np.eye(3), atol=1e-9)


@pytest.mark.parametrize("shares", [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
def test_shares_that_make_up_a_distribution(shares):
    assert np.allclose(mean_shares(TOPICS, np.array(shares) @ TOPICS), shares, atol=1e-9)


def test_shares_are_never_negative():
    found = mean_shares(TOPICS, np.maximum(1.5 * TOPICS[0] - 0.5 * TOPICS[1], 0.0))
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("total", [0.3, 2.0])
def test_the_total_of_a_prior_comes_out_of_pairs_of_words(total):
    prior = total * np.array([0.5, 0.3, 0.2])
    errors = []
    for n in (1_000, 16_000):
        sample = make_lda(n, 12, 3, prior=prior, components=TOPICS, length=40)
        found, means = estimate_concentration(raw_moments(count_blocks(sample.counts), "length"), TOPICS)
        errors.append(abs(np.log(found / total)))
        assert np.abs(means - prior / total).max() < 0.05
    assert errors[1] < 0.1
    assert errors[1] < max(errors[0], 0.05)


def test_totals_stay_between_their_limits():
    rows = np.tile(np.full(12, 5.0), (30, 1))  # all documents the same: shares do not differ
    assert estimate_concentration(raw_moments(count_blocks(rows), "length"), TOPICS)[0] == LARGEST
    topics = np.kron(np.eye(3), np.full((1, 4), 0.25))
    pure = 40 * topics[np.arange(60) % 3]  # each document of one topic
    assert estimate_concentration(raw_moments(count_blocks(pure), "length"), topics)[0] == SMALLEST


def test_mean_shares_of_other_documents():
    sample = make_lda(500, 12, 3, components=TOPICS, length=40)
    raw = raw_moments(count_blocks(sample.counts), "length")
    wanted = np.array([0.1, 0.2, 0.7])
    _, means = estimate_concentration(raw, TOPICS, wanted @ TOPICS)
    assert np.allclose(means, wanted, atol=1e-8)


def test_frequent_words_are_most_of_all_tokens():
    mean = np.array([0.5, 0.0, 0.3, 0.15, 0.05])
    assert concentration._frequent_words(mean, at_least=1).tolist() == [0, 2, 3]
    assert concentration._frequent_words(mean, at_least=4).tolist() == [0, 2, 3, 4]
    assert concentration._frequent_words(mean, at_least=9).tolist() == [0, 2, 3, 4]  # words that never occur are none


def test_generalised_covariances_tend_to_the_third_cumulant():
    sample = make_discrete_ica(lambda rng, N, K: rng.exponential(9.0, (N, K)), 400, 8, 2)
    source = count_blocks(sample.counts)
    W = 0.02 * RNG.standard_normal((2, 8))
    limit = generalised_ica_moments(source, 1e-3).third(W)
    errors = [np.abs(generalised_ica_moments(source, step).third(W) - limit).max() for step in (0.4, 0.2)]
    assert errors[1] < 0.35 * errors[0]  # with the square of the step
    cumulants = discrete_ica_moments(source).third(W)  # unbiased, and so larger by a share of 1 / N
    assert np.abs(limit - cumulants).max() < 0.02 * np.abs(cumulants).max()


@pytest.mark.parametrize("step", [0.0, -1.0, float("nan"), float("inf")])
def test_steps_that_cannot_be_are_told(step):
    with pytest.raises(ValueError, match="give a positive number"):
        generalised_ica_moments(count_blocks([[1.0]]), step)


def test_generalised_moments_have_no_rows_and_can_be_of_some_words():
    X = RNG.poisson(2.0, (50, 5)).astype(float)
    found = generalised_ica_moments(count_blocks(X))
    with pytest.raises(ValueError, match='which "svtd" reads: use "jacobi" or "spectral"'):
        found.third_rows(np.eye(5))
    some = found.within(np.array([1, 3]))
    alone = generalised_ica_moments(count_blocks(X[:, [1, 3]]))
    W = np.eye(2)
    assert np.allclose(some.mean, alone.mean)
    assert np.allclose(some.third(W), alone.third(W))
