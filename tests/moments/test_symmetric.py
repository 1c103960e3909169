"""Tensor algebra of one-view moments, against sums written out."""

from itertools import permutations

import numpy as np
import pytest

from polyad.engine import count_blocks
from polyad.moments import lda_population, moment_errors, single_topic_population
from polyad.moments import symmetric as module
from polyad.moments.counts.weights import SameWeight
from polyad.moments.symmetric import (
    CountWeights,
    factorial_third,
    factorial_third_rows,
    mirrored,
    outer_cube,
    square_times,
    symmetric_cube,
    symmetric_operator,
    symmetrise,
)

RNG = np.random.default_rng(0)


def test_an_outer_cube():
    v = RNG.standard_normal(4)
    assert np.allclose(outer_cube(v), np.einsum("i,j,k->ijk", v, v, v))


def test_the_last_mode_takes_three_places():
    left, right = RNG.standard_normal((2, 5))
    tensor = np.einsum("i,j,k->ijk", left, left, right)
    wanted = tensor + np.einsum("i,j,k->ijk", left, right, left) + np.einsum("i,j,k->ijk", right, left, left)
    found = symmetrise(tensor)
    assert np.allclose(found, wanted)
    assert all(np.allclose(found, found.transpose(order)) for order in permutations(range(3)))


@pytest.mark.parametrize(("n", "K"), [(1, 1), (7, 3), (40, 5)])
def test_a_sum_of_cubes(n, K):
    rows, weights = RNG.standard_normal((n, K)), RNG.standard_normal(n)
    wanted = np.einsum("n,ni,nj,nk->ijk", weights, rows, rows, rows)
    assert np.allclose(symmetric_cube(rows, weights), wanted)
    assert np.allclose(symmetric_cube(rows), np.einsum("ni,nj,nk->ijk", rows, rows, rows))


def test_many_components_are_multiplied_with_seven_digits_and_added_with_sixteen(monkeypatch):
    rows = RNG.standard_normal((30, 6))
    exact = symmetric_cube(rows)
    monkeypatch.setattr(module, "SINGLE_FROM", 6)
    single = symmetric_cube(rows)
    assert single.dtype == np.float64
    distance = np.abs(single - exact).max()
    assert 0 < distance < 1e-4


def test_a_tensor_is_filled_from_its_corner():
    full = symmetric_cube(RNG.standard_normal((9, 4)))
    corners = np.zeros_like(full)
    for i in range(4):
        corners[i, i:, i:] = full[i, i:, i:]
    assert np.allclose(mirrored(corners), full)


def test_squares_times_another():
    left, right = RNG.standard_normal((12, 4)), RNG.standard_normal((12, 3))
    found = square_times(left, right)
    assert np.allclose(found, np.einsum("ni,nj,nk->ijk", left, left, right))
    assert np.array_equal(found, found.transpose(1, 0, 2))


def test_an_operator_is_a_matrix():
    S = RNG.standard_normal((5, 5))
    S = S + S.T
    operator = symmetric_operator(5, lambda columns: S @ columns)
    v, V = RNG.standard_normal(5), RNG.standard_normal((5, 3))
    assert np.allclose(operator @ v, S @ v)
    assert np.allclose(operator.T @ v, S @ v)
    assert np.allclose(operator @ V, S @ V)
    assert np.allclose(operator.rmatmat(V), S @ V)
    assert operator.shape == (5, 5)


def third_by_hand(X, cubes, pairs, mean):
    """The third moment without the terms that a token makes with itself, cell by cell."""
    M = X.shape[1]
    T = np.zeros((M, M, M))
    for x in X:
        z = x - mean
        T += cubes * np.einsum("a,b,c->abc", z, z, z)
        for a in range(M):
            for b in range(M):
                own = pairs * x[a] * z[b]
                T[a, a, b] -= own
                T[a, b, a] -= own
                T[b, a, a] -= own
        for a in range(M):
            T[a, a, a] += 2 * pairs * x[a]
    return T


@pytest.mark.parametrize("centred", [False, True])
def test_third_moments_of_counts_are_their_definition(centred):
    X = RNG.poisson(1.0, (9, 5)).astype(float)
    mean = X.mean(axis=0) if centred else np.zeros(5)
    cubes, pairs = 0.7, 0.3
    weights = CountWeights(SameWeight(cubes), SameWeight(pairs), pairs * X.sum(axis=0), mean)
    T = third_by_hand(X, cubes, pairs, mean)
    W = RNG.standard_normal((3, 5))
    W[:, 2] = 0  # a word that no direction looks at
    source = count_blocks(X)
    assert np.allclose(factorial_third(source, W, weights), np.einsum("abc,ia,jb,kc->ijk", T, W, W, W), atol=1e-10)
    assert np.allclose(factorial_third_rows(source, W, weights), np.einsum("abm,ja,jb->jm", T, W, W), atol=1e-10)


def test_errors_of_moments_are_norms_over_all_words():
    topics = RNG.dirichlet(np.ones(4), 2)
    one = single_topic_population(topics, np.array([0.3, 0.7]))
    other = lda_population(topics, np.array([0.2, 0.4]))
    second, third = moment_errors(one, other)
    eye = np.eye(4)
    assert second == pytest.approx(np.linalg.norm(one.second @ eye - other.second @ eye))
    assert third == pytest.approx(np.linalg.norm(one.third(eye) - other.third(eye)))
    assert moment_errors(one, one) == (0.0, 0.0)


def test_errors_of_moments_over_other_words_are_refused(monkeypatch):
    few, many = (single_topic_population(np.eye(n)[:2], np.array([0.5, 0.5])) for n in (3, 5))
    with pytest.raises(ValueError, match="The moments are over 3 and 5 words: give moments over the same words"):
        moment_errors(few, many)
    monkeypatch.setattr("polyad.moments.errors.MOST_WORDS", 4)
    with pytest.raises(ValueError, match="There are 5 words, and all triples of more than 4 take too much memory"):
        moment_errors(many, many)
