import numpy as np
import pytest
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from polyad.decompose import DIAGONALISERS, diagonaliser, jacobi, power, tensor_power
from polyad.decompose.diagonalisation import summarise, turned_slices
from polyad.decompose.energy import off_diagonal_energy
from polyad.decompose.orthogonal.contractions import contract
from polyad.decompose.orthogonal.jacobi import _sweeps
from polyad.decompose.orthogonal.newton import Curvature, Hessian, newton_rotation
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


def test_contractions():
    tensor, _ = noisy_tensor(45, 0.3)
    V = np.random.default_rng(0).standard_normal((45, 7))
    assert np.allclose(contract(tensor, V), np.einsum("ijk,ja,ka->ia", tensor, V, V), atol=1e-10)


def objective(stack, rotation):
    return (np.einsum("pij,ik,jk->pk", stack, rotation, rotation) ** 2).sum()


@pytest.mark.parametrize(("P", "K"), [(5, 5), (3, 4), (9, 4)])
def test_derivatives_among_rotations(P, K):
    """Against differences of the objective along a rotation."""
    rng = np.random.default_rng(0)
    stack = rng.standard_normal((P, K, K))
    stack = stack + stack.transpose(0, 2, 1)
    V, _ = np.linalg.qr(rng.standard_normal((K, K)))
    B = rng.standard_normal((K, K))
    B = B - B.T
    here = Curvature.at(stack.transpose(1, 0, 2), V)
    assert here.objective == pytest.approx(objective(stack, V))
    h = 1e-4
    ahead, behind = (objective(stack, V @ linalg.expm(sign * h * B)) for sign in (1, -1))
    assert (here.gradient * B).sum() == pytest.approx((ahead - behind) / (2 * h), rel=1e-6)
    bend = (ahead - 2 * here.objective + behind) / h**2
    hessian = Hessian.at(here)
    assert (B * hessian.times(B)).sum() == pytest.approx(bend, rel=1e-5)
    for i, k in ((0, 1), (2, 3)):
        plane = np.zeros((K, K))
        plane[i, k], plane[k, i] = 1.0, -1.0
        fall = -(plane * hessian.times(plane)).sum() / 2
        assert hessian.planes[i, k] == pytest.approx(fall, rel=1e-6, abs=1e-6 * np.abs(hessian.planes).max())


def test_newton_steps_end_at_a_maximum():
    tensor, V = noisy_tensor(12, 0.05)
    B = 0.05 * np.random.default_rng(0).standard_normal((12, 12))
    near = V @ linalg.expm(B - B.T)
    rotation, n_iter, end = newton_rotation(tensor, near, max_iter=30, tol=1e-12)
    assert end.slope < 1e-12
    assert end.rotation is rotation
    assert n_iter < 12
    assert np.allclose(rotation.T @ rotation, np.eye(12), atol=1e-12)
    there = Curvature.at(tensor, rotation)
    assert Hessian.at(there).planes[~np.eye(12, dtype=bool)].min() > 0
    assert there.objective > objective(tensor, V)


@pytest.mark.parametrize(("K", "digits"), [(10, 1e-12), (45, 1e-5)])
def test_power_tells_what_is_left_off_the_diagonals(K, digits):
    found = power(noisy_tensor(K, 0.08)[0])
    expected = summarise(noisy_tensor(K, 0.08)[0], found.rotation, found.n_iter, True)
    assert found.converged
    assert found.energy == pytest.approx(expected.energy, rel=digits)
    assert np.allclose(found.turned, expected.turned, rtol=digits)
    assert np.allclose(found.diagonals, expected.diagonals, atol=1e-12)


@pytest.mark.parametrize("K", [10, 45])
def test_power_ends_where_jacobi_does_from_any_start(K):
    tensor, _ = noisy_tensor(K, 0.08)
    ends = [power(tensor).rotation, jacobi(tensor, max_iter=500).rotation]
    ends += [
        power(tensor, directions=np.random.default_rng(seed).standard_normal((1, K))).rotation for seed in range(3)
    ]
    for end in ends[1:]:
        assert worst_cosine(end, ends[0]) > 1 - 1e-12


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


def test_jacobi_with_some_projections():
    tensor, V, _ = exact_tensor(12, 0)
    result = jacobi(tensor, n_projections=3)
    assert worst_cosine(result.rotation, V) > 1 - 1e-8


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
    limit = {"jacobi": 1, "power": 8, "tensor_power": 3}[method]
    with pytest.warns(ConvergenceWarning, match=rf'"{method}" stopped after .* \(tolerance 1.0e-14\)'):
        result = DIAGONALISERS[method](tensor, max_iter=limit, tol=1e-14)
    assert not result.converged


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


@pytest.mark.parametrize("K", [6, 44])
def test_slices_are_turned_in_parts(K):
    """With many components the parts of a stack are turned by several threads; below, all at once."""
    rng = np.random.default_rng(0)
    stack = rng.standard_normal((13, K, K))
    rotation, _ = np.linalg.qr(rng.standard_normal((K, K)))
    expected = np.einsum("ia,pij,jb->pab", rotation, stack, rotation, optimize=True)
    assert np.allclose(turned_slices(stack, rotation), expected, atol=1e-12)


def test_seven_digits_end_at_the_same_maximum(monkeypatch):
    tensor, _ = noisy_tensor(44, 0.02)
    found = power(tensor)
    monkeypatch.setattr("polyad.decompose.orthogonal.power.SINGLE_FROM", 1000)
    exact = power(tensor)
    assert found.converged
    assert exact.converged
    shared = np.abs(found.rotation.T @ exact.rotation)
    assert np.allclose(shared.max(axis=1), 1, atol=1e-9)
    assert np.allclose(found.rotation.T @ found.rotation, np.eye(44), atol=1e-12)
