"""Population moments in, parameters out; and from samples, with errors that shrink."""

import tracemalloc
from functools import cache

import numpy as np
import pytest

from polyad.datasets import make_gamma_poisson, make_lda, make_single_topic
from polyad.decompose import (
    DIAGONALISERS,
    dirichlet_prior,
    gamma_prior,
    mixture_weights,
    polyadic_decomposition,
    simplex_rows,
)
from polyad.engine import count_blocks, use
from polyad.metrics import l1_error, match_rows
from polyad.moments import (
    discrete_ica_moments,
    discrete_ica_population,
    lda_population,
    raw_moments,
    single_topic_population,
    three_tokens,
)

K = 6


def truth(M, seed=0):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(M, 0.3), K)
    return topics, 0.2 + rng.random(K)


@pytest.mark.parametrize("method", DIAGONALISERS)
@pytest.mark.parametrize("M", [30, 500])
def test_lda_from_population_moments(method, M):
    topics, prior = truth(M)
    found = polyadic_decomposition(lda_population(topics, prior), K, method=method)
    components = simplex_rows(found.components)
    order = match_rows(components, topics)
    assert np.abs(components[order] - topics).max() < 1e-8
    assert np.allclose(dirichlet_prior(found.values, prior.sum())[order], prior, atol=1e-8)


def test_many_components():
    """Words without a scale are filled in all the same."""
    rng = np.random.default_rng(0)
    topics, prior = rng.dirichlet(np.full(400, 0.05), 50), np.full(50, 0.1)
    metric = np.where(np.arange(400) % 10 > 0, 1.0, 0.0)
    found = polyadic_decomposition(lda_population(topics, prior), 50, method="power", metric=metric)
    components = simplex_rows(found.components)
    assert np.abs(components[match_rows(components, topics)] - topics).max() < 1e-8
    assert np.allclose(dirichlet_prior(found.values, prior.sum()), prior, atol=1e-8)
    assert found.diagonalisation.energy < 1e-14


@pytest.mark.parametrize("method", DIAGONALISERS)
def test_single_topic_from_population_moments(method):
    topics, weights = truth(40, 1)
    weights /= weights.sum()
    found = polyadic_decomposition(single_topic_population(topics, weights), K, method=method)
    components = simplex_rows(found.components)
    order = match_rows(components, topics)
    assert np.abs(components[order] - topics).max() < 1e-8
    assert np.allclose(mixture_weights(found.values)[order], weights, atol=1e-8)


@pytest.mark.parametrize("method", DIAGONALISERS)
def test_gamma_poisson_from_population_moments(method):
    topics, shapes = truth(40, 2)
    rate = 0.05
    moments = discrete_ica_population(topics, shapes / rate, shapes / rate**2, 2 * shapes / rate**3)
    found = polyadic_decomposition(moments, K, method=method)
    components = simplex_rows(found.components)
    order = match_rows(components, topics)
    assert np.abs(components[order] - topics).max() < 1e-8
    found_shapes, found_rate = gamma_prior(found.values, shapes.sum() / rate)
    assert np.allclose(found_shapes[order], shapes, atol=1e-8)
    assert np.isclose(found_rate, rate)


@pytest.mark.parametrize("method", DIAGONALISERS)
def test_discrete_ica_with_negative_third_cumulants(method):
    topics, scale = truth(40, 3)
    cumulants = scale * np.array([1, -1, 1, -1, 1, -1])
    found = polyadic_decomposition(discrete_ica_population(topics, scale, scale, cumulants), K, method=method)
    components = simplex_rows(found.components)
    assert np.abs(components[match_rows(components, topics)] - topics).max() < 1e-8


def test_a_metric_leaves_the_exact_answer_alone():
    topics, prior = truth(300, 4)
    metric = np.random.default_rng(0).random(300)
    metric[::3] = 0
    found = polyadic_decomposition(lda_population(topics, prior), K, metric=metric)
    components = simplex_rows(found.components)
    assert np.abs(components[match_rows(components, topics)] - topics).max() < 1e-8, "words left out are filled in"


def errors_on_samples(sample_of, moments_of, sizes, truth):
    errors = []
    for N in sizes:
        with use():
            found = polyadic_decomposition(moments_of(count_blocks(sample_of(N))), truth.shape[0], strict=False)
        errors.append(l1_error(simplex_rows(found.components), truth))
    return np.array(errors)


def discrete_ica_of(source):
    return discrete_ica_moments(source)


def lda_of(weights):
    return lambda source: raw_moments(source, weights).at(1.0)


SIZES = np.array([5_000, 50_000])
TOPICS = make_lda(1, 1000, 10, topic_prior=0.1, random_state=7).components


@pytest.fixture(autouse=True, scope="module")
def forgotten():
    """Fifty thousand documents are some hundred megabytes."""
    yield
    gamma_poisson_counts.cache_clear()
    fixed_length_counts.cache_clear()


@cache
def gamma_poisson_counts(N):
    return make_gamma_poisson(N, components=TOPICS, mean_length=200.0, prior=0.1, random_state=1).counts


@cache
def fixed_length_counts(N):
    return make_lda(N, components=TOPICS, length=200, prior=0.1, random_state=1).counts


@pytest.mark.parametrize(
    ("counts_of", "moments"),
    [
        (gamma_poisson_counts, discrete_ica_of),
        (gamma_poisson_counts, lda_of("length")),
        (fixed_length_counts, lda_of("length")),
    ],
    ids=["discrete ICA on gamma-Poisson", "LDA on gamma-Poisson", "LDA on fixed lengths"],
)
def test_recovery_from_samples_shrinks_like_the_square_root(counts_of, moments):
    errors = errors_on_samples(counts_of, moments, SIZES, TOPICS)
    assert errors[0] < 0.12
    rate = np.log(errors[0] / errors[1]) / np.log(SIZES[1] / SIZES[0])
    assert 0.4 < rate < 0.6
    noise = np.random.default_rng(0).dirichlet(np.full(1000, 0.1), 10)
    assert l1_error(noise, TOPICS) > 0.5, "a random guess must fail this test"


def test_uniform_weights_lose_where_lengths_vary():
    uniform = errors_on_samples(gamma_poisson_counts, lda_of("uniform"), [5000], TOPICS)[0]
    weighted = errors_on_samples(gamma_poisson_counts, lda_of("length"), [5000], TOPICS)[0]
    assert uniform > 1.5 * weighted


def test_discrete_ica_is_inconsistent_for_fixed_lengths():
    errors = errors_on_samples(fixed_length_counts, discrete_ica_of, SIZES, TOPICS)
    assert errors.min() > 0.12
    assert errors[1] > 0.7 * errors[0], "more documents do not help a wrong model"


def test_three_words_a_document_waste_the_others():
    thinned = errors_on_samples(lambda N: three_tokens(fixed_length_counts(N)), lda_of("uniform"), [5000], TOPICS)[0]
    whole = errors_on_samples(fixed_length_counts, lda_of("uniform"), [5000], TOPICS)[0]
    assert thinned > 4 * whole


def test_single_topic_from_samples():
    sample = make_single_topic(5000, 300, 8, length=50, random_state=3)
    raw = raw_moments(count_blocks(sample.counts), "length")
    found = polyadic_decomposition(raw.moments, 8)
    components = simplex_rows(found.components)
    order = match_rows(components, sample.components)
    assert l1_error(components, sample.components) < 0.05
    assert np.abs(mixture_weights(found.values)[order] - sample.prior).max() < 0.02


def test_simplex_rows_turns_clips_and_scales():
    rows = np.array([[-2.0, -2.0, 1.0], [1.0, 3.0, -1.0]])
    assert np.allclose(simplex_rows(rows), [[0.5, 0.5, 0], [0.25, 0.75, 0]])


def test_priors_stay_finite_when_a_component_has_no_skewness():
    values = np.array([2.0, 0.0])
    for prior in (dirichlet_prior(values, 1.0), gamma_prior(values, 100.0)[0], mixture_weights(values)):
        assert np.isfinite(prior).all()


@pytest.mark.parametrize("n_components", [8, 50])
def test_memory_does_not_grow_with_the_documents(n_components):
    """Columns of words are copied only where that is little beside the rest."""
    sample = make_lda(48_000, 120, n_components, length=40, prior=0.05, topic_prior=0.1, random_state=0)
    metric = np.where(np.arange(120) < 110, 1.0, 0.0)
    peaks = []
    for n_documents in (24_000, 48_000):
        raw = raw_moments(count_blocks(sample.counts[:n_documents]), "length")
        tracemalloc.start()
        polyadic_decomposition(raw.moments, n_components, method="power", metric=metric, strict=False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0], "there is a level more in the tree of partial sums, and no more"
