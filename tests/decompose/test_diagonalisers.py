import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from polyad.decompose import DIAGONALISERS, diagonaliser, jacobi, power, tensor_power
from polyad.decompose.contractions import FormedTensor
from polyad.decompose.jacobi import _sweeps
from polyad.metrics import off_diagonal_energy
from polyad.moments.symmetric import outer_cube

ITERATIVE = ["jacobi", "power", "tensor_power"]


def exact_tensor(K, seed, signs=False):
    rng = np.random.default_rng(seed)
    V, _ = np.linalg.qr(rng.standard_normal((K, K)))
    values = 1 + 3 * rng.random(K)
    if signs:
        values *= rng.choice([-1, 1], K)
    return sum(value * outer_cube(v) for value, v in zip(values, V.T)), V, values


def noisy_tensor(K, noise, seed=0):
    tensor, V, _ = exact_tensor(K, seed)
    rng = np.random.default_rng(seed + 1)
    bump = rng.standard_normal((K, K, K)) * noise
    bump = sum(bump.transpose(order) for order in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    return tensor + bump / 6, V


def worst_cosine(found, true):
    return np.abs(found.T @ true).max(axis=0).min()


@pytest.mark.parametrize("method", DIAGONALISERS)
@pytest.mark.parametrize("K", [1, 2, 3, 8, 25])
@pytest.mark.parametrize("seed", range(3))
def test_exact_tensors_are_recovered(method, K, seed):
    tensor, V, values = exact_tensor(K, seed, signs=True)
    result = DIAGONALISERS[method](tensor)
    assert np.allclose(result.rotation.T @ result.rotation, np.eye(K), atol=1e-10)
    overlap = result.rotation.T @ V
    order = np.abs(overlap).argmax(axis=1)
    assert np.array_equal(np.sort(order), np.arange(K))
    assert np.abs(overlap[np.arange(K), order]).min() > 1 - 1e-8
    signs = np.sign(overlap[np.arange(K), order])
    assert np.allclose(result.values, signs * values[order], atol=1e-8)
    assert result.energy < 1e-14
    assert result.converged


class Contracted:
    """A tensor that cannot be looked into."""

    def __init__(self, tensor):
        self._tensor = FormedTensor(tensor)
        self.n_components, self.contract, self.along = tensor.shape[0], self._tensor.contract, self._tensor.along


@pytest.mark.parametrize("K", [1, 2, 3, 8, 25])
def test_power_needs_contractions_alone(K):
    tensor, V, _ = exact_tensor(K, 0, signs=True)
    result = power(Contracted(tensor))
    assert result.energy < 1e-14
    assert worst_cosine(result.rotation, V) > 1 - 1e-8
    noisy, _ = noisy_tensor(K, 0.05)
    formed, contracted = power(noisy, max_iter=8), power(Contracted(noisy), max_iter=8)
    assert contracted.rotation.tobytes() == formed.rotation.tobytes()
    assert np.allclose(contracted.values, formed.values)


@pytest.mark.parametrize(("K", "tolerance"), [(1, 1e-12), (2, 1e-12), (4, 0.15), (10, 0.1), (40, 0.05), (100, 0.04)])
@pytest.mark.parametrize("noise", [0.01, 0.3])
def test_energy_of_a_tensor_that_is_not_formed(K, tolerance, noise):
    """Exact without three different indices, and the nearer the more of them there are."""
    noisy, _ = noisy_tensor(K, noise)
    formed, contracted = power(noisy, max_iter=8), power(Contracted(noisy), max_iter=8)
    assert contracted.energy == pytest.approx(formed.energy, rel=tolerance, abs=1e-14)


HADAMARD = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2


@pytest.mark.parametrize("method", DIAGONALISERS)
@pytest.mark.parametrize("basis", [np.array([[1, 1], [1, -1]]) / np.sqrt(2), HADAMARD], ids=["two", "four"])
def test_bases_in_which_a_plane_looks_balanced(method, basis):
    """Rotated by 45 degrees every pair of axes is a saddle: a step that stays there would call itself converged."""
    tensor = sum(value * outer_cube(v) for value, v in zip((1.0, 1.0, 1.0, 1.0), basis.T))
    result = DIAGONALISERS[method](tensor)
    assert result.energy < 1e-14


@pytest.mark.parametrize("method", ["power", "tensor_power"])
def test_power_methods_need_a_tensor(method):
    stack = np.stack([np.diag([1.0, 2.0])] * 3)
    with pytest.raises(ValueError, match="needs a symmetric K x K x K tensor"):
        DIAGONALISERS[method](stack)


@pytest.mark.parametrize("method", ITERATIVE)
def test_noise_is_averaged_better_than_by_one_contraction(method):
    cosines = {name: [] for name in (method, "spectral")}
    for seed in range(5):
        tensor, V = noisy_tensor(10, 0.05, seed)
        for name in cosines:
            cosines[name].append(worst_cosine(DIAGONALISERS[name](tensor).rotation, V))
    assert np.mean(cosines[method]) > 0.97
    assert np.mean(cosines[method]) > np.mean(cosines["spectral"]) + 0.02


def test_svtd_chooses_a_better_contraction_than_chance():
    cosines = {"svtd": [], "spectral": []}
    for seed in range(20):
        tensor, V = noisy_tensor(8, 0.03, seed)
        for name in cosines:
            cosines[name].append(worst_cosine(DIAGONALISERS[name](tensor).rotation, V))
    assert np.mean(cosines["svtd"]) > np.mean(cosines["spectral"])


def test_energy_is_measured_on_the_stack():
    tensor, _ = noisy_tensor(6, 0.1)
    result = jacobi(tensor)
    rotated = np.einsum("pij,ia,jb->pab", tensor, result.rotation, result.rotation)
    assert np.isclose(result.energy, off_diagonal_energy(rotated))
    assert np.allclose(result.diagonals, np.einsum("paa->pa", rotated))
    identity = off_diagonal_energy(tensor)
    assert result.energy < 0.2 * identity


def test_jacobi_diagonalises_any_commuting_stack():
    rng = np.random.default_rng(0)
    V, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    stack = np.stack([(V * rng.standard_normal(6)) @ V.T for _ in range(4)])
    result = jacobi(stack)
    assert worst_cosine(result.rotation, V) > 1 - 1e-10
    assert result.diagonals.shape == (4, 6)


def test_jacobi_with_random_projections():
    tensor, V, _ = exact_tensor(12, 0)
    result = jacobi(tensor, n_projections=3, random_state=5)
    assert worst_cosine(result.rotation, V) > 1 - 1e-8
    assert np.array_equal(result.rotation, jacobi(tensor, n_projections=3, random_state=5).rotation)


def test_compiled_sweep_equals_its_numpy_twin():
    stack = np.random.default_rng(0).standard_normal((3, 4, 4))
    stack = stack + stack.transpose(0, 2, 1)
    A, V = stack.copy(), np.eye(4)
    for p in range(3):
        for q in range(p + 1, 4):
            h = np.stack([A[:, p, p] - A[:, q, q], A[:, p, q] + A[:, q, p]])
            G = h @ h.T
            on, cross = G[0, 0] - G[1, 1], 2 * G[0, 1]
            angle = 0.5 * np.arctan2(cross, on + np.hypot(on, cross))
            R = np.eye(4)
            R[[p, p, q, q], [p, q, p, q]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
            A, V = R.T @ A @ R, V @ R
    for function in (_sweeps, _sweeps.py_func):
        found, n_iter, _ = function(np.ascontiguousarray(stack.transpose(1, 2, 0)), np.eye(4), 1, 0.0)
        assert n_iter == 1
        assert np.allclose(found, V, atol=1e-12)


@pytest.mark.parametrize("method", ITERATIVE)
def test_stopping_early_is_a_warning_with_numbers(method):
    tensor, _ = noisy_tensor(10, 0.3)
    limit = {"jacobi": 1, "power": 20, "tensor_power": 3}[method]
    with pytest.warns(ConvergenceWarning, match=rf'"{method}" stopped after .* \(tolerance 1.0e-14\)'):
        result = DIAGONALISERS[method](tensor, max_iter=limit, tol=1e-14)
    assert not result.converged


def test_a_few_power_iterations_are_a_wish_and_no_warning():
    tensor, V = noisy_tensor(10, 0.02)
    result = power(tensor, max_iter=8)
    assert result.n_iter == 8
    assert worst_cosine(result.rotation, V) > 0.98


def test_tensor_power_uses_given_starts():
    tensor, V, _ = exact_tensor(5, 0)
    result = tensor_power(tensor, directions=V.T, n_restarts=1)
    assert worst_cosine(result.rotation, V) > 1 - 1e-10


@pytest.mark.parametrize("method", DIAGONALISERS)
def test_a_zero_tensor_gives_a_rotation(method):
    result = DIAGONALISERS[method](np.zeros((4, 4, 4)))
    assert np.allclose(result.rotation.T @ result.rotation, np.eye(4))
    assert result.energy == 0


@pytest.mark.parametrize("method", DIAGONALISERS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [(np.full((2, 2, 2), np.nan), "NaN or infinity"), (np.ones((2, 3, 4)), "P x K x K"), (np.eye(3), "P x K x K")],
)
def test_bad_tensors(method, bad, message):
    with pytest.raises(ValueError, match=message):
        DIAGONALISERS[method](bad)


def test_registry():
    def own(tensor, **options):
        return jacobi(tensor)

    assert diagonaliser(own) is own
    assert diagonaliser("power") is power
    with pytest.raises(ValueError, match="method is 'nope'; give one of 'jacobi'"):
        diagonaliser("nope")
