"""Moments of exchangeable views against loops over rows, and what they tend to against parameters."""

import numpy as np
import pytest
from scipy import sparse

import oracles
from polyad.decompose.orthogonal.registry import DIAGONALISERS, diagonaliser
from polyad.decompose.whitening.symmetric import whiten
from polyad.engine import aligned, count_blocks, signal_blocks
from polyad.metrics import amari_distance
from polyad.moments.views.exchangeable import exchangeable_moments, factor_population


def _views(V, counts, N=9, M=4):
    rng = np.random.default_rng(V)
    drawn = [rng.poisson(3.0, (N, M)) if counts else rng.gamma(1.0, size=(N, M)) for _ in range(V)]
    sources = [count_blocks(sparse.csr_array(view)) if counts else signal_blocks(view) for view in drawn]
    return [np.asarray(view, dtype=float) for view in drawn], aligned(*sources)


@pytest.mark.parametrize(
    ("V", "observation"),
    [(2, "gaussian"), (3, "gaussian"), (2, "poisson"), (3, "poisson"), (5, "poisson"), (4, "any"), (5, "any")],
)
def test_moments_equal_loops_over_rows(V, observation):
    views, source = _views(V, observation == "poisson")
    moments = exchangeable_moments(source, observation)
    mean, pairs = oracles.exchangeable_pairs(views)
    assert np.allclose(moments.mean, mean, rtol=1e-10)
    assert np.allclose(moments.second @ np.eye(4), pairs, atol=1e-10)
    W = np.random.default_rng(0).standard_normal((3, 4))
    images = pairs @ W.T
    U = np.random.default_rng(1).standard_normal((2, 3))
    third, fourth = moments.third(W, images), moments.fourth(W, images, U)
    for half in (0, 1):
        rows = [view[half::2] for view in views]

        def grouped(n_groups, rows=rows):
            return [rows[first::n_groups] for first in range(n_groups)]

        poisson = observation == "poisson"
        triples = oracles.exchangeable_triples(grouped(3 if observation == "any" else 2), mean, pairs, poisson)
        assert np.allclose(third[half], np.einsum("abc,ia,jb,kc->ijk", triples, W, W, W), atol=1e-10)
        four = oracles.exchangeable_quadruples(grouped(4 if observation == "any" else 2), mean, pairs, poisson)
        for p, u in enumerate(U):
            along = np.einsum("abcd,ia,jb,c,d->ij", four, W, W, u @ W, u @ W)
            assert np.allclose(fourth[half][p], (along + along.T) / 2, atol=1e-10)
    whole = np.mean([np.outer(W @ (x - mean), W @ (x - mean)) for view in views for x in view], axis=0)
    assert np.allclose(moments.spread(W), whole, atol=1e-10)


def test_too_few_views_have_no_statistics():
    for V, third, fourth in ((2, False, False), (3, True, False), (4, True, True)):
        moments = exchangeable_moments(_views(V, False)[1], "any")
        assert (moments.third is not None, moments.fourth is not None) == (third, fourth)


@pytest.mark.parametrize(
    ("method", "order"),
    # Others than Jacobi's take the slices of a tensor, and no matrices of fourth order.
    [*((method, "third") for method in sorted(DIAGONALISERS)), ("jacobi", "fourth")],
)
def test_population_moments_give_the_components_back(method, order):
    rng = np.random.default_rng(3)
    components = rng.standard_normal((4, 9))
    # Values of one sign and of order one: power iterations look for the largest.
    moments = factor_population(
        components, np.ones(4), np.array([1.0, 2.0, 0.5, 3.0]), np.full(4, 1.5), np.full(4, 2.5)
    )
    whitening = whiten(moments.second, 4)
    W = whitening.whitener
    images = moments.second @ W.T
    if order == "third":
        stack = moments.third(W, images)[0]
    else:
        stack = moments.fourth(W, images, np.vstack([np.eye(4), rng.standard_normal((4, 4))]))[0]
    found = (images @ diagonaliser(method)(stack).rotation).T
    assert amari_distance(found @ np.linalg.pinv(components), np.eye(4)) < 1e-8
    assert amari_distance(rng.standard_normal((4, 9)) @ np.linalg.pinv(components), np.eye(4)) > 0.1


@pytest.mark.parametrize("V", [2, 3])
def test_counts_tend_to_the_population(V):
    rng = np.random.default_rng(0)
    N, components = 200_000, np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    h = rng.gamma(1.0, 3.0, (N, 2))
    source = aligned(*(count_blocks(rng.poisson(h @ components)) for _ in range(V)))
    moments = exchangeable_moments(source, "poisson")
    truth = factor_population(components, np.full(2, 3.0), np.full(2, 9.0), np.full(2, 54.0), np.full(2, 486.0))
    W = np.linalg.pinv(components).T
    images = truth.second @ W.T
    third, expected = np.mean(moments.third(W, images), axis=0), truth.third(W, images)[0]
    assert np.allclose(third, expected, atol=4)  # 54 on the diagonal; without the correction 18 more or so
    fourth = np.mean(moments.fourth(W, images, np.eye(2)), axis=0)
    assert np.allclose(fourth, truth.fourth(W, images, np.eye(2))[0], atol=90)
