import numpy as np
import pytest
from hypothesis import given, settings

from oracles import discrete_ica_tensors, generalised_s_covariance, row_contractions, whitened
from polyad.datasets import make_gamma_poisson
from polyad.engine import blocks as blocks_module
from polyad.engine import count_blocks, use
from polyad.moments import discrete_ica_moments, generalised_covariances
from strategies import corpora


def small_corpus(seed=0, documents=9, words=7):
    return np.random.default_rng(seed).poisson(0.7, (documents, words)).astype(float)


def test_moments_equal_brute_force():
    X = small_corpus(words=12, documents=20)
    W, V = np.random.default_rng(1).standard_normal((2, 3, 12))
    mean, S, T = discrete_ica_tensors(X)
    moments = discrete_ica_moments(count_blocks(X))
    assert np.allclose(moments.mean, mean, atol=1e-12)
    assert np.allclose(moments.second @ np.eye(12), S, atol=1e-12)
    assert np.allclose(moments.third(W), whitened(T, W), atol=1e-10)
    assert np.allclose(moments.third_rows(V), row_contractions(T, V), atol=1e-10)


@settings(max_examples=60)
@given(corpora())
def test_moments_equal_brute_force_on_hostile_corpora(X):
    W = np.random.default_rng(0).standard_normal((2, X.shape[1]))
    _, S, T = discrete_ica_tensors(X)
    moments = discrete_ica_moments(count_blocks(X))
    assert np.allclose(moments.second @ np.eye(X.shape[1]), S, atol=1e-10)
    assert np.allclose(moments.third(W), whitened(T, W), atol=1e-10)
    assert np.allclose(moments.third_rows(W), row_contractions(T, W), atol=1e-10)


def test_generalised_covariances_equal_brute_force():
    X = small_corpus(3)
    rng = np.random.default_rng(1)
    W, points = rng.standard_normal((3, 7)), 0.3 * rng.standard_normal((4, 7))
    found = generalised_covariances(count_blocks(X), W, points)
    for matrix, point in zip(found, points):
        assert np.allclose(matrix, W @ generalised_s_covariance(X, point) @ W.T, atol=1e-10)


def test_generalised_covariance_at_zero_is_the_covariance():
    X = small_corpus(3)
    W = np.eye(7)
    mean, S, _ = discrete_ica_tensors(X)
    N = X.shape[0]
    biased = (S + np.diag(mean)) * (N - 1) / N - np.diag(mean)
    assert np.allclose(generalised_covariances(count_blocks(X), W, np.zeros((1, 7)))[0], biased)


def test_generalised_covariances_tend_to_the_diagonal_form():
    """Eq. (4.36): in expectation the matrix at t is D diag(...) D', with gamma sources known in closed form."""
    topics = np.array([[0.5, 0.3, 0.2, 0.0], [0.0, 0.1, 0.3, 0.6]])
    sample = make_gamma_poisson(400_000, components=topics, prior=[1.0, 2.0], mean_length=6.0, random_state=1)
    point = np.array([0.1, -0.05, 0.02, 0.08])
    h = topics @ (np.exp(point) - 1)
    expected = (topics.T * (sample.prior / (sample.rate - h) ** 2)) @ topics
    found = generalised_covariances(count_blocks(sample.counts), np.eye(4), point)[0]
    assert np.abs(found - expected).max() < 0.02 * np.abs(expected).max()


def test_processing_points_that_blow_up_are_refused():
    X = small_corpus()
    with pytest.raises(ValueError, match="effective sample size"):
        generalised_covariances(count_blocks(X), np.eye(7), np.full((1, 7), 900.0))


def test_fewer_than_three_documents():
    with pytest.raises(ValueError, match="at least 3 documents; X has 2"):
        discrete_ica_moments(count_blocks([[1, 2], [2, 1]]))


def test_blocking_and_threads(monkeypatch):
    X = make_gamma_poisson(200, 40, 3).counts
    W = np.random.default_rng(0).standard_normal((3, 40))
    whole = discrete_ica_moments(count_blocks(X))
    monkeypatch.setattr(blocks_module, "BLOCK_CELLS", 200)
    found = []
    for n_threads in (1, 3):
        with use(n_threads):
            found.append(discrete_ica_moments(count_blocks(X)).third(W))
    assert found[0].tobytes() == found[1].tobytes()
    assert np.allclose(whole.third(W), found[0], rtol=1e-9, atol=1e-12 * np.abs(whole.third(W)).max())
