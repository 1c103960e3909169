"""How far noise turns components: first-order theory against what noise does."""

import numpy as np
import pytest

from polyad.decompose import dirichlet_prior, gamma_prior, jacobi, mixture_weights, simplex_rows
from polyad.decompose.certainty import certainty, gaussian_turning, leaving, turning

RNG = np.random.default_rng(0)


def noisy(diagonals, size, rng):
    """A stack of diagonal matrices with symmetric noise off the diagonals."""
    P, K = diagonals.shape
    noise = size * rng.standard_normal((P, K, K))
    stack = np.stack([np.diag(row) for row in diagonals])
    return stack + np.tril(noise, -1) + np.tril(noise, -1).transpose(0, 2, 1)


@pytest.mark.parametrize("size", [0.02, 0.05])
def test_components_turn_as_far_as_is_said(size):
    """Over many samples of noise: the angles that a diagonaliser finds, and those read off what is left."""
    diagonals = np.array([[2.0, 0.0, -1.0], [0.5, 1.5, 0.0], [1.0, -1.0, 2.0], [0.0, 0.3, 1.0], [1.2, 0.1, 0.4]])
    rng = np.random.default_rng(1)
    turned, said = np.zeros(3), np.zeros(3)
    for _ in range(60):
        stack = noisy(diagonals, size, rng)
        V = jacobi(stack).rotation
        order = np.abs(V).argmax(axis=0)
        cosines = np.abs(V[order, range(3)])
        turned[order] += 1 - cosines**2
        said[order] += turning(V.T @ stack @ V)
    assert np.abs(np.log(turned / said)).max() < 0.5


def test_turning_of_a_pair_by_hand():
    d, r = np.array([[3.0, 0.0], [1.0, 2.0]]), 0.1
    stack = np.array([[[3.0, r], [r, 0.0]], [[1.0, -r], [-r, 2.0]]])
    distance, off = ((d[:, 0] - d[:, 1]) ** 2).sum(), 2 * r**2
    wanted = off / 2 * distance / (distance - 4 * off) ** 2
    assert np.allclose(turning(stack), [wanted, wanted])


def test_components_that_nothing_tells_apart_are_turned_anyhow():
    equal = np.array([np.diag([1.0, 1.0, 2.0])])
    assert turning(equal).tolist() == [np.inf, np.inf, 0.0]
    assert certainty(turning(equal)).tolist() == [0.0, 0.0, 1.0]
    flat = np.array([[[1.0, 0.6], [0.6, 0.0]]])  # off-diagonal entries as large as what they tell
    assert np.isinf(turning(flat)).all()


def test_exact_diagonals_are_not_turned():
    assert turning(np.stack([np.diag(row) for row in RNG.standard_normal((4, 5))])).tolist() == [0.0] * 5


def test_gaussian_sources_are_turned_towards_each_other():
    assert gaussian_turning(np.array([2.0, 2.0])).tolist() == [np.inf, np.inf]
    found = gaussian_turning(np.array([100.0, 2.0, 50.0]))
    assert np.allclose(found, [8 / 98 + 8 / 146, 8 / 98 + 8 / 48, 8 / 146 + 8 / 48])
    assert gaussian_turning(np.array([5.0])).tolist() == [0.0]  # alone there is nothing to be turned towards


@pytest.mark.parametrize("noise", [0.05, 0.2])
def test_eigenvectors_leave_their_space_as_far_as_is_said(noise):
    values = np.array([5.0, 3.0, 1.0, 0.5, 0.2, 0.0, 0.0, 0.0])
    rng = np.random.default_rng(2)
    left = np.zeros(2)
    for _ in range(300):
        entry = noise / (2 * np.sqrt(8))
        E = entry * rng.standard_normal((8, 8)) * np.sqrt(2)
        found = np.linalg.eigh(np.diag(values) + (E + E.T) / 2)[1][:, ::-1][:, :2]
        left += 1 - (found[:2] ** 2).sum(axis=0)
    said = leaving(values[:5], np.ones(2), 8, noise)
    assert np.abs(np.log(left / 300 / said)).max() < 0.3


def test_directions_of_the_same_weight_stay_within():
    spectrum = np.array([2.0, 2.0, 0.5])
    inside = leaving(spectrum, np.ones(2), 3, 0.1)
    assert np.isfinite(inside).all()  # tied, but both are in the space
    torn = leaving(spectrum, np.ones(1), 3, 0.1)
    assert np.isinf(torn).all()  # one of two that are tied
    assert leaving(spectrum, np.ones(2), 3, 0.0).tolist() == [0.0, 0.0]


def test_certainty_is_a_squared_cosine():
    angles = np.array([0.0, 0.3, 1.0])
    assert np.allclose(certainty(np.tan(angles) ** 2), np.cos(angles) ** 2)
    assert np.allclose(certainty(np.array([0.2]), np.array([0.3])), 1 / 1.5)


def test_rows_on_the_simplex():
    rows = RNG.standard_normal((20, 6))
    found = simplex_rows(rows)
    assert (found >= 0).all()
    assert np.allclose(found.sum(axis=1), 1)
    assert np.allclose(simplex_rows(-3.0 * rows), found)  # whatever the sign and the scale
    topics = RNG.dirichlet(np.ones(6), 4)
    assert np.allclose(simplex_rows(topics), topics)
    assert np.allclose(simplex_rows(np.zeros((1, 4))), 0.25)
    given = rows.copy()
    simplex_rows(given)
    assert np.array_equal(given, rows)


def test_priors_from_values_of_the_tensor():
    prior = np.array([0.1, 0.4, 1.5])
    c0 = prior.sum()
    values = 2 * np.sqrt(c0 * (c0 + 1) / (prior * (c0 + 2) ** 2))
    assert np.allclose(dirichlet_prior(values, c0), prior)
    shapes, rate = gamma_prior(2 / np.sqrt(prior), mean_length=20.0)
    assert np.allclose(shapes, prior)
    assert rate == pytest.approx(c0 / 20.0)
    weights = prior / c0
    assert np.allclose(mixture_weights(-1 / np.sqrt(weights)), weights)  # a sign is no matter
