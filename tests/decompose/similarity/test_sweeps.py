"""Joint diagonalisation by similarity: every method recovers Q, and each kernel agrees with plain NumPy."""

import numpy as np
import pytest
from scipy import linalg, optimize
from sklearn.exceptions import ConvergenceWarning

from polyad.decompose.similarity import sweeps as kernels
from polyad.decompose.similarity.first_order import _step, similarity_first_order
from polyad.decompose.similarity.registry import SIMILARITY_DIAGONALISERS, similarity_diagonaliser
from polyad.decompose.similarity.spectral import similarity_spectral
from polyad.decompose.similarity.sweeps import SHEARS, similarity_jacobi, summarise_similarity
from polyad.metrics import amari_distance


def conditioned(K, condition, rng):
    left, right = (linalg.qr(rng.standard_normal((K, K)))[0] for _ in range(2))
    return (left * np.geomspace(1, 1 / condition, K)) @ right


def exact_stack(K, condition, seed, n_matrices=None):
    rng = np.random.default_rng(seed)
    Q = conditioned(K, condition, rng)
    diagonals = rng.standard_normal((n_matrices or 2 * K, K))
    return Q, diagonals, Q @ (diagonals[:, :, None] * linalg.inv(Q))


@pytest.mark.parametrize("method", SIMILARITY_DIAGONALISERS)
@pytest.mark.parametrize("condition", [1.0, 30.0, 1e3])
@pytest.mark.parametrize("K", [2, 5, 12])
def test_exact_stacks_are_recovered(method, condition, K):
    Q, diagonals, stack = exact_stack(K, condition, seed=K)
    found = similarity_diagonaliser(method)(stack)
    assert found.converged
    assert amari_distance(found.inverse, Q) < 1e-10
    assert found.energy < 1e-16
    assert np.allclose(np.linalg.norm(found.rotation, axis=0), 1)
    assert np.allclose(found.rotation @ found.inverse, np.eye(K), atol=1e-9)
    order = np.argsort(found.diagonals[0])
    assert np.allclose(found.diagonals[:, order], diagonals[:, np.argsort(diagonals[0])], atol=1e-8)


def test_a_random_matrix_does_not_pass():
    Q, _, stack = exact_stack(5, 30.0, seed=5)
    null = summarise_similarity(stack, np.random.default_rng(0).standard_normal((5, 5)), 0, True)
    assert amari_distance(null.inverse, Q) > 0.1
    assert null.energy > 0.1


@pytest.mark.parametrize("method", ["exact", "sh-rt", "just", "jdtm", "first_order"])
def test_noise_is_averaged_over_the_matrices(method):
    Q, _, stack = exact_stack(6, 5.0, seed=1, n_matrices=40)
    noisy = stack + 1e-3 * np.random.default_rng(2).standard_normal(stack.shape)
    errors = [amari_distance(similarity_diagonaliser(name)(noisy).inverse, Q) for name in (method, "spectral")]
    assert errors[0] < 1e-3
    assert errors[0] < errors[1]


def shear_objective(stack, p, q, y):
    G = np.eye(stack.shape[1])
    G[[p, q], [p, q]], G[[p, q], [q, p]] = np.cosh(y), np.sinh(y)
    return float((linalg.inv(G) @ stack @ G).ravel() @ (linalg.inv(G) @ stack @ G).ravel())


def test_shear_sums_give_the_norm_after_a_shear():
    stack = np.random.default_rng(0).standard_normal((3, 5, 5))
    a, b, d, e = kernels._shear_sums(np.ascontiguousarray(stack.transpose(1, 2, 0)), 1, 3)
    ys = np.linspace(-0.7, 0.8, 5)
    closed = a * np.cosh(2 * ys) + b * np.sinh(2 * ys) + d * np.cosh(4 * ys) + e * np.sinh(4 * ys)
    brute = np.array([shear_objective(stack, 1, 3, y) for y in ys])
    assert np.allclose(np.diff(closed), np.diff(brute), rtol=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_the_exact_step_is_the_minimum_of_the_norm(seed):
    stack = np.random.default_rng(seed).standard_normal((3, 4, 4))
    sums = kernels._shear_sums(np.ascontiguousarray(stack.transpose(1, 2, 0)), 0, 2)
    brute = optimize.minimize_scalar(lambda y: shear_objective(stack, 0, 2, y), (-0.5, 0.5), tol=1e-12).x
    assert kernels._shear_step(*sums, SHEARS["exact"]) == pytest.approx(brute, abs=1e-6)
    a, b, d, e = sums
    assert np.tanh(kernels._shear_step(*sums, SHEARS["sh-rt"])) == pytest.approx(-(b + 2 * e) / (2 * a + 8 * d))
    assert np.tanh(4 * kernels._shear_step(*sums, SHEARS["jdtm"])) == pytest.approx(-e / d)
    halved = kernels._shear_step(a, b, d / 2, e / 2, SHEARS["exact"])
    assert kernels._shear_step(*sums, SHEARS["just"]) == pytest.approx(halved, abs=1e-12)


def plain_sweep(stack, shear):
    """NumPy twin of one sweep of the kernel: full matrices G, nothing in place."""
    A, Q = stack.copy(), np.eye(stack.shape[1])
    K = len(Q)
    for k in range(K):
        others = np.arange(K) != k
        scale = ((A[:, k, others] ** 2).sum() / (A[:, others, k] ** 2).sum()) ** 0.25
        G = np.eye(K)
        G[k, k] = scale
        A, Q = linalg.inv(G) @ A @ G, Q @ G
    for p in range(K - 1):
        for q in range(p + 1, K):
            y = kernels._shear_step(*kernels._shear_sums(np.ascontiguousarray(A.transpose(1, 2, 0)), p, q), shear)
            S = np.eye(K)
            S[[p, q], [p, q]], S[[p, q], [q, p]] = np.cosh(y), np.sinh(y)
            A, Q = linalg.inv(S) @ A @ S, Q @ S
            h = np.stack([A[:, p, p] - A[:, q, q], A[:, p, q] + A[:, q, p]])
            gram = h @ h.T
            on = gram[0, 0] - gram[1, 1]
            theta = 0.5 * np.arctan2(2 * gram[0, 1], on + np.hypot(on, 2 * gram[0, 1]))
            R = np.eye(K)
            R[[p, q], [p, q]], R[p, q], R[q, p] = np.cos(theta), -np.sin(theta), np.sin(theta)
            A, Q = R.T @ A @ R, Q @ R
    return A, Q


@pytest.mark.parametrize("shear", SHEARS)
def test_a_sweep_agrees_with_plain_numpy(shear):
    stack = np.random.default_rng(3).standard_normal((4, 5, 5))
    layout = np.ascontiguousarray(stack.transpose(1, 2, 0))
    Q, n_iter, _ = kernels._sweeps(layout, np.eye(5), 1, 1e-10, SHEARS[shear])
    expected_stack, expected = plain_sweep(stack, SHEARS[shear])
    assert n_iter == 1
    assert np.allclose(Q, expected, atol=1e-10)
    assert np.allclose(layout.transpose(2, 0, 1), expected_stack, atol=1e-10)


def test_the_first_order_step_agrees_with_loops():
    _, _, stack = exact_stack(4, 3.0, seed=4)
    Q = np.eye(4) + 0.1 * np.random.default_rng(1).standard_normal((4, 4))
    similar = linalg.inv(Q) @ stack @ Q
    expected = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            gaps = similar[:, i, i] - similar[:, j, j]
            expected[i, j] = 0 if i == j else -(similar[:, i, j] @ gaps) / (gaps @ gaps)
    assert np.allclose(_step(stack, Q), expected, atol=1e-12)


def test_complex_eigenvalues_give_a_real_start():
    turn = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    with pytest.warns(ConvergenceWarning, match="2 of the 3 eigenvalues are complex"):
        found = similarity_spectral(turn[None])
    assert not found.converged
    assert np.isfinite(found.rotation).all()
    assert abs(linalg.det(found.rotation)) > 0.1


def test_directions_are_combinations_of_the_matrices():
    Q, _, stack = exact_stack(4, 3.0, seed=7)
    directions = np.random.default_rng(0).standard_normal((3, len(stack)))
    for method in ("exact", "first_order", "spectral"):
        found = similarity_diagonaliser(method)(stack, directions=directions)
        assert amari_distance(found.inverse, Q) < 1e-9
        assert found.diagonals.shape == (len(stack), 4)


def test_stopping_early_is_said():
    _, _, stack = exact_stack(6, 100.0, seed=0)
    with pytest.warns(ConvergenceWarning, match=r'"jdtm" stopped after 1 iterations.*Raise max_iter'):
        assert not similarity_diagonaliser("jdtm")(stack, max_iter=1).converged
    noisy = stack + 0.1 * np.random.default_rng(0).standard_normal(stack.shape)
    with pytest.warns(ConvergenceWarning, match="first_order"):
        similarity_first_order(noisy, max_iter=2)


def test_bad_stacks_and_names_are_refused():
    with pytest.raises(ValueError, match="shear is 'hard'"):
        similarity_jacobi(np.zeros((2, 3, 3)), shear="hard")
    with pytest.raises(ValueError, match="NaN"):
        similarity_jacobi(np.full((2, 3, 3), np.nan))
    with pytest.raises(ValueError, match="P x K x K"):
        similarity_spectral(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="no common basis"):
        summarise_similarity(np.zeros((1, 2, 2)), np.ones((2, 2)), 1, True)


def test_one_component_and_zero_matrices():
    assert similarity_jacobi(np.full((3, 1, 1), 2.0)).diagonals.tolist() == [[2.0]] * 3
    assert similarity_jacobi(np.zeros((2, 3, 3))).converged
