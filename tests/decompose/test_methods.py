"""All methods have one signature; the algebra of each against brute force."""

import inspect

import numpy as np
import pytest
from scipy import linalg

from polyad.base.fixed import fixed_directions
from polyad.datasets import make_lda
from polyad.decompose import (
    DIAGONALISERS,
    METHODS,
    SIMILARITY_DIAGONALISERS,
    com2,
    congruence,
    diagonaliser,
    jacobi,
    jacobi_of_projections,
    least_squares,
    polyadic,
    polyadic_decomposition,
    similarity_diagonaliser,
    similarity_schur,
    spectral,
    svtd,
)
from polyad.decompose.congruence import loss
from polyad.decompose.orthogonal.pairwise import plane_angle
from polyad.decompose.similarity.schur import triangular_eigenvectors
from polyad.engine import count_blocks
from polyad.metrics import amari_distance, frobenius_error, l1_error, l2_error, match_rows
from polyad.moments import lda_population, moment_errors, raw_moments
from polyad.moments.symmetric import outer_cube


def noisy_tensor(K, noise, seed=0):
    rng = np.random.default_rng(seed)
    V, _ = np.linalg.qr(rng.standard_normal((K, K)))
    tensor = sum(value * outer_cube(v) for value, v in zip(1 + 3 * rng.random(K), V.T))
    bump = rng.standard_normal((K, K, K))
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    return tensor + noise * sum(bump.transpose(order) for order in orders) / 6, V


def same_up_to_order(found, other, atol):
    return np.abs(np.abs(found.T @ other).max(axis=0) - 1).max() < atol


def test_one_table_and_one_signature():
    names = {(method.kind, method.name) for method in METHODS}
    assert len(names) == len(METHODS)
    for method in METHODS:
        parameters = inspect.signature(method.function).parameters
        for name in ("directions", "max_iter", "tol"):
            assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters["tol"].default == 1e-10
        assert parameters["directions"].default is parameters["max_iter"].default is None
    assert set(DIAGONALISERS) == {name for kind, name in names if kind == "rotation"}
    assert set(SIMILARITY_DIAGONALISERS) == {name for kind, name in names if kind == "similarity"}


@pytest.mark.parametrize("seed", range(4))
def test_the_angle_of_a_plane_is_the_best_of_all(seed):
    a, b, c, d = np.random.default_rng(seed).standard_normal(4)
    T = np.array([[[a, b], [b, c]], [[b, c], [c, d]]])

    def objective(x):
        R = np.array([[np.cos(x), np.sin(x)], [-np.sin(x), np.cos(x)]])
        turned = np.einsum("ijk,ai,bj,ck->abc", T, R, R, R)
        return turned[0, 0, 0] ** 2 + turned[1, 1, 1] ** 2

    best = objective(plane_angle(a, b, c, d))
    assert best >= max(objective(x) for x in np.linspace(0, np.pi, 721)) - 1e-12


def test_com2_ends_at_a_maximum_of_its_own_objective():
    tensor, V = noisy_tensor(6, 0.1)

    def objective(R):
        return (np.einsum("ijk,ia,ja,ka->a", tensor, R, R, R) ** 2).sum()

    found = com2(tensor)
    assert found.converged
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-1):
        for _ in range(20):
            B = size * rng.standard_normal((6, 6))
            assert objective(found.rotation @ linalg.expm(B - B.T)) <= objective(found.rotation)
    assert objective(found.rotation) > objective(jacobi(tensor).rotation) > objective(spectral(tensor).rotation)
    assert np.abs(found.rotation.T @ V).max(axis=0).min() > 0.99


def test_alternating_least_squares_near_the_truth():
    tensor, V = noisy_tensor(6, 0.02)
    found = least_squares(tensor)
    assert found.converged
    errors = [1 - np.abs(method(tensor).rotation.T @ V).max(axis=0).min() for method in (least_squares, spectral)]
    assert errors[0] < 1e-3
    assert errors[0] < errors[1]
    with pytest.warns(match='"als" stopped after 1 iterations'):
        least_squares(tensor, max_iter=1)
    with pytest.warns(match='"com2" stopped after 1 iterations'):
        com2(noisy_tensor(6, 0.5)[0], max_iter=1)


def test_projections_are_k_fixed_directions():
    """JD(k): the minimum over contractions with K fixed directions, and not that over the slices."""
    tensor, V = noisy_tensor(7, 0.1)
    directions = fixed_directions(7, 7)
    found = jacobi_of_projections(tensor).rotation
    assert same_up_to_order(found, jacobi(np.tensordot(directions, tensor, axes=1)).rotation, 1e-10)
    assert not same_up_to_order(found, jacobi(tensor).rotation, 1e-8)
    assert np.abs(found.T @ V).max(axis=0).min() > 0.98
    given = np.eye(7)[:4]
    assert same_up_to_order(
        jacobi_of_projections(tensor, directions=given).rotation, jacobi(tensor[:4]).rotation, 1e-10
    )


SAMPLE = make_lda(600, 60, 3, length=60)
MOMENTS = raw_moments(count_blocks(SAMPLE.counts), "length").at(1.0)


def test_all_words_summed_up_are_all_words():
    """JD(f): the rotation is that of joint diagonalisation over the contractions with every single word."""
    found = polyadic_decomposition(MOMENTS, 3, method="jd_f")
    images = MOMENTS.second @ found.whitening.whitener.T
    tensor = MOMENTS.third(found.whitening.whitener)
    every_word = jacobi(np.tensordot(images, tensor, axes=1))
    assert same_up_to_order(found.diagonalisation.rotation, every_word.rotation, 1e-10)
    plain = polyadic_decomposition(MOMENTS, 3, method="jacobi")
    assert not same_up_to_order(found.diagonalisation.rotation, plain.diagonalisation.rotation, 1e-9)


def test_svtd_takes_the_best_of_all_words():
    found = polyadic_decomposition(MOMENTS, 3, method="svtd_all")
    images = MOMENTS.second @ found.whitening.whitener.T
    tensor = MOMENTS.third(found.whitening.whitener)
    best, widest = None, -1.0
    for image in images[np.abs(images).max(axis=1) > 0]:
        values, vectors = np.linalg.eigh(np.einsum("ijk,k->ij", tensor, image))
        gap = np.diff(values).min() / (values[-1] - values[0])
        if gap > widest:
            best, widest = vectors, gap
    assert same_up_to_order(found.diagonalisation.rotation, best, 1e-10)
    rows = MOMENTS.third_rows(found.diagonalisation.rotation.T @ found.whitening.whitener)
    assert np.allclose(found.components, rows / found.diagonalisation.values[:, None], atol=1e-10)
    frequent = np.argsort(-MOMENTS.mean, kind="stable")[:5]
    few = svtd(tensor, directions=images[frequent])
    assert few.n_iter == 5
    assert few.energy >= 0


def test_svtd_looks_at_the_most_frequent_words(monkeypatch):
    """With five words in place of 256 the rotation is that of these five, and "svtd_all" still sees all of them."""
    monkeypatch.setattr(polyadic, "FREQUENT_WORDS", 5)
    found, every = (polyadic_decomposition(MOMENTS, 3, method=method) for method in ("svtd", "svtd_all"))
    images = MOMENTS.second @ found.whitening.whitener.T
    frequent = np.argsort(-MOMENTS.mean, kind="stable")[:5]
    few = svtd(MOMENTS.third(found.whitening.whitener), directions=images[frequent])
    assert same_up_to_order(found.diagonalisation.rotation, few.rotation, 1e-10)
    assert found.diagonalisation.n_iter == 5
    assert every.diagonalisation.n_iter == MOMENTS.mean.size


def test_names_stand_for_what_they_say():
    tensor, _ = noisy_tensor(7, 0.1)
    by_name = diagonaliser("jd_k")(tensor).rotation
    assert same_up_to_order(by_name, jacobi_of_projections(tensor).rotation, 1e-12)
    assert not same_up_to_order(by_name, jacobi(tensor).rotation, 1e-8)


@pytest.mark.parametrize("method", DIAGONALISERS)
def test_population_moments_give_the_topics_back(method):
    topics = np.random.default_rng(0).dirichlet(np.full(12, 0.5), 4)
    found = polyadic_decomposition(lda_population(topics, np.array([0.3, 0.5, 0.2, 0.9])), 4, method=method)
    rows = found.components / found.components.sum(axis=1, keepdims=True)
    assert np.allclose(rows[match_rows(rows, topics)], topics, atol=1e-8)


def test_triangular_eigenvectors():
    rng = np.random.default_rng(0)
    R = np.eye(5) + np.triu(rng.standard_normal((5, 5)), 1)
    diagonals = rng.standard_normal((3, 5))
    stack = R @ (diagonals[:, :, None] * np.linalg.inv(R))
    assert np.allclose(triangular_eigenvectors(stack), R, atol=1e-10)


def test_schur_averages_noise_and_stands_ill_conditioned_eigenvectors():
    rng = np.random.default_rng(1)
    left, right = (linalg.qr(rng.standard_normal((6, 6)))[0] for _ in range(2))
    Q = (left * np.geomspace(1, 0.05, 6)) @ right
    stack = Q @ (rng.standard_normal((40, 6))[:, :, None] * linalg.inv(Q))
    noisy = stack + 1e-3 * rng.standard_normal(stack.shape)
    errors = [amari_distance(similarity_diagonaliser(name)(noisy).inverse, Q) for name in ("schur", "spectral")]
    assert errors[0] < 0.01
    assert errors[0] < 0.5 * errors[1]
    rotation = similarity_schur(noisy)
    below = np.linalg.qr(rotation.rotation)[0]
    triangular = below.T @ noisy @ below
    assert np.square(np.tril(triangular, -1)).sum() < 1e-3 * np.square(triangular).sum()


@pytest.mark.parametrize(("K", "P"), [(1, 2), (4, 3), (12, 20)])
def test_congruence_recovers_exact_matrices(K, P):
    rng = np.random.default_rng(K)
    A = rng.standard_normal((K, K))
    diagonals = rng.gamma(2.0, size=(P, K))
    found = congruence(np.einsum("ik,pk,jk->pij", A, diagonals, A))
    assert found.converged
    assert amari_distance(found.unmixing, A) < 1e-9
    assert found.energy < 1e-16
    assert np.allclose(found.diagonals.mean(axis=0), 1)
    order = np.abs(found.unmixing @ A).argmax(axis=1)
    assert np.allclose(found.diagonals, (diagonals / diagonals.mean(axis=0))[:, order], atol=1e-8)


def test_congruence_minimises_the_likelihood():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 5))
    samples = [(rng.standard_normal((60, 5)) * np.sqrt(rng.gamma(2.0, size=5))) @ A.T for _ in range(30)]
    stack = np.stack([x.T @ x / 60 for x in samples])
    found = congruence(stack)
    lowest = loss(found.unmixing @ stack @ found.unmixing.T)
    for size in (1e-3, 1e-1):
        for _ in range(10):
            B = (np.eye(5) + size * rng.standard_normal((5, 5))) @ found.unmixing
            assert loss(B @ stack @ B.T) > lowest
    pair = linalg.eigh(stack[0], stack[1])[1].T
    assert amari_distance(found.unmixing, A) < 0.3 * amari_distance(pair, A)
    with pytest.raises(ValueError, match="positive definite"):
        congruence(-stack)
    with pytest.warns(match="congruence"):
        congruence(stack, max_iter=1)


def test_errors_of_recovery():
    rng = np.random.default_rng(0)
    true = rng.dirichlet(np.ones(9), 4)
    found = 0.9 * true[[2, 0, 3, 1]] + 0.1 * rng.dirichlet(np.ones(9), 4)
    order = match_rows(found, true)
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (found[order], true)]
    assert l2_error(found, true) == pytest.approx(np.linalg.norm(units[0] - units[1], axis=1).mean() / np.sqrt(2))
    assert frobenius_error(found, true) == pytest.approx(np.linalg.norm(found[order] - true))
    assert l2_error(3 * found, true) == pytest.approx(l2_error(found, true))
    assert 0 < l1_error(found, true) < 0.1
    with pytest.raises(ValueError, match="NaN"):
        l2_error(np.full((1, 2), np.nan), np.ones((1, 2)))


def test_errors_of_moments():
    truth = lda_population(SAMPLE.components, SAMPLE.prior)
    eye = np.eye(60)
    c0 = float(SAMPLE.prior.sum())
    moments = raw_moments(count_blocks(SAMPLE.counts), "length").at(c0)
    second, third = moment_errors(moments, truth)
    assert second == pytest.approx(np.sqrt(((moments.second @ eye - truth.second @ eye) ** 2).sum()))
    assert third == pytest.approx(np.sqrt(((moments.third(eye) - truth.third(eye)) ** 2).sum()))
    assert moment_errors(truth, truth) == (0.0, 0.0)
    with pytest.raises(ValueError, match="same words"):
        moment_errors(moments, lda_population(SAMPLE.components[:, :5], SAMPLE.prior))
