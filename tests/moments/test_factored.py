"""The third moment in factors has the contractions of the tensor that the brute-force oracles give."""

import numpy as np
import pytest

from oracles import discrete_ica_tensors, lda_tensors, whitened
from polyad.engine import blocks as blocks_module
from polyad.engine import count_blocks, use
from polyad.moments import (
    discrete_ica_moments,
    discrete_ica_population,
    lda_population,
    raw_moments,
    single_topic_population,
)

X = np.random.default_rng(0).poisson(0.7, (9, 7)).astype(float)
W, V = np.random.default_rng(1).standard_normal((2, 3, 7))


def lda(c0, counts=X):
    return raw_moments(count_blocks(counts), 1.25).at(c0)


def assert_contractions(factored, T):
    columns = np.random.default_rng(2).standard_normal((3, 5))
    direction = columns[:, 0]
    assert np.allclose(factored.contract(columns), np.einsum("ijk,ja,ka->ia", T, columns, columns), atol=1e-10)
    assert np.allclose(factored.along(direction), np.einsum("ijk,k->ij", T, direction), atol=1e-10)


@pytest.mark.parametrize("c0", [0.0, 0.3, 2.0, 40.0])
@pytest.mark.parametrize("with_images", [True, False])
def test_of_lda(c0, with_images):
    moments, T = lda(c0), whitened(lda_tensors(X, 1.25, c0)[2], W)
    images = moments.second @ W.T if with_images else None
    assert_contractions(moments.factored(W, images), T)


def test_of_discrete_ica():
    moments = discrete_ica_moments(count_blocks(X))
    assert_contractions(moments.factored(W), whitened(discrete_ica_tensors(X)[2], W))


@pytest.mark.parametrize(
    "population",
    [
        lambda D: single_topic_population(D, np.array([0.2, 0.3, 0.5])),
        lambda D: lda_population(D, np.array([0.2, 0.3, 0.5])),
        lambda D: discrete_ica_population(D, np.ones(3), np.array([1.0, 2.0, 3.0]), np.array([-1.0, 2.0, 1.0])),
    ],
)
def test_of_a_population(population):
    moments = population(np.random.default_rng(3).dirichlet(np.ones(7), 3))
    assert_contractions(moments.factored(W), moments.third(W))


def test_threads_do_not_matter(monkeypatch):
    monkeypatch.setattr(blocks_module, "BLOCK_ROWS", 2)
    found = []
    for n_threads in (1, 3):
        with use(n_threads):
            third = lda(2.0).factored(W)
            found.append((third.contract(V.T[:3]).tobytes(), third.along(V[:, 0]).tobytes()))
    assert found[0] == found[1]


WORDS = np.array([0, 2, 3, 6])
MOMENTS_OF_SOME_WORDS = {
    "lda": lda(2.0),
    "discrete ica": discrete_ica_moments(count_blocks(X)),
    "population": lda_population(np.random.default_rng(3).dirichlet(np.ones(7), 3), np.array([0.2, 0.3, 0.5])),
}


@pytest.mark.parametrize("moments", MOMENTS_OF_SOME_WORDS.values(), ids=MOMENTS_OF_SOME_WORDS)
def test_moments_of_some_words(moments):
    """Lengths stay those of whole documents: the moments of some words are rows and columns of the moments of all."""
    some = moments.within(WORDS)
    inside = np.zeros((3, 7))
    inside[:, WORDS] = W[:, WORDS]
    assert np.allclose(some.mean, moments.mean[WORDS], atol=1e-14)
    assert np.allclose(some.second @ np.eye(4), (moments.second @ np.eye(7))[np.ix_(WORDS, WORDS)], atol=1e-14)
    assert np.allclose(some.third(W[:, WORDS]), moments.third(inside), atol=1e-12)
    assert np.allclose(some.factored(W[:, WORDS]).contract(np.eye(3)), moments.factored(inside).contract(np.eye(3)))
    assert np.allclose(some.third_rows(W[:, WORDS]), moments.third_rows(inside)[:, WORDS], atol=1e-12)


def test_single_precision_is_right_to_six_digits():
    exact = lda(2.0).factored(W)
    rounded = exact.in_single_precision()
    columns = np.random.default_rng(1).standard_normal((3, 5))
    for a, b in ((exact.contract(columns), rounded.contract(columns)), (exact.along(W[:, 0]), rounded.along(W[:, 0]))):
        assert b.dtype == np.float64
        assert 0 < np.abs(a - b).max() < 1e-5 * np.abs(a).max()
