"""Likelihood steps of independent factors: against loops, sums over all counts, and rows that are a population."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import poisson

from polyad.datasets import make_independent_factors
from polyad.engine import aligned, count_blocks, signal_blocks
from polyad.inference.factors import FactorSums, count_functions, newton_step, polish_factors, score_sums, unmixing
from polyad.inference.scores import KNOTS, Scores, tally

COMPONENTS = np.array([[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, 2.0, -1.0]])
LEVELS = [np.array([0, 0, 0, 1.0]), np.array([-1, -1, -1, -1, 0, 0, 1, 4.0])]  # equally likely, independent
NOISE = 0.2 * np.array([[2.0, 1, 0, 0], [-1, 1, 1, 0], [0, 0, -1, 3], [-1, -2, 0, -3]])  # not Gaussian, correlated


def population():
    """Return two views whose rows are all combinations of levels and of noise, with components for variance 1."""
    rows = [
        [h @ COMPONENTS + first, h @ COMPONENTS + second]
        for h in map(np.array, product(*LEVELS))
        for first, second in product(NOISE, NOISE)
    ]
    scales = np.array([np.std(level) for level in LEVELS])
    return [np.array(view) for view in zip(*rows)], scales[:, None] * COMPONENTS


def test_the_components_of_a_population_are_a_fixed_point_whatever_the_law_of_the_noise():
    views, true = population()
    mean = np.mean(views, axis=(0, 1))
    source = aligned(*map(signal_blocks, views))
    start = np.array([[1, 0.1], [-0.08, 1]]) @ true
    found = polish_factors(source, mean, start, counts=False, max_steps=30)
    assert found.converged
    assert np.allclose(found.components, true, atol=1e-4 * np.abs(true).max())
    assert np.abs(start - true).max() > 0.1
    again = polish_factors(source, mean, found.components, counts=False, max_steps=30)
    assert np.allclose(again.components, true, atol=1e-8)
    assert np.allclose(again.whitener @ true.T, np.eye(2), atol=1e-8)


@pytest.mark.parametrize("counts", [False, True])
def test_sums_equal_loops_over_rows_and_views(counts):
    drawn = make_independent_factors(30, 5, 2, n_views=3, observation="poisson" if counts else "gaussian")
    views = [view.toarray().astype(float) if counts else view for view in drawn.views]
    mean, noise = np.mean(views, axis=(0, 1)), np.linspace(1, 2, 5)
    W = unmixing(drawn.components, noise)
    scores = None if counts else Scores(np.stack([np.tanh(KNOTS), KNOTS**3]))
    found = score_sums(aligned(*map(count_blocks if counts else signal_blocks, views)), mean, noise, W, scores)
    scales = np.sqrt(1 + (W**2 @ noise) / 2)
    functions, slopes, images, others = [], [], np.zeros((5, 2)), []
    for n, v in product(range(30), range(3)):
        rest = (views[(v + 1) % 3][n] + views[(v + 2) % 3][n]) / 2
        z = W @ (rest - mean)
        images += np.outer(views[v][n] - mean, z) / 90
        others.append(W @ (views[v][n] - mean))
        if counts:
            b, d = count_functions(2 * rest[None], W.T / 2, W @ mean)
            functions.append(b[0])
            slopes.append(d[0])
        else:
            functions.append([np.interp(z[k] / scales[k], KNOTS, scores.values[k]) for k in range(2)])
            slopes.append(tally((z / scales)[:, None], scores)[1][:, :, 0].astype(float) @ scores.slopes.T / scales)
    functions, slopes, others = np.array(functions), np.array(slopes), np.array(others)
    assert np.allclose(found.images, images, atol=1e-10)
    if not counts:
        assert np.allclose(found.products, functions.T @ others / 90, atol=1e-10)
        assert np.allclose(found.derivatives, np.einsum("nkk->k", slopes) / 90, atol=1e-10)
        return
    for k in range(2):
        b, d = functions[:, k] - functions[:, k].mean(axis=0), slopes[:, k].mean(axis=0)
        covariance, scale = b.T @ b / 90, b.std(axis=0)
        weights = np.linalg.solve(covariance + 1e-4 * np.diag(scale**2), d)
        assert np.allclose(found.products[k], weights @ b.T @ others / 90, atol=1e-9)
        assert np.isclose(found.derivatives[k], weights @ d, atol=1e-9)


def test_functions_of_counts_have_means_that_one_factor_alone_decides():
    components = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    u = np.linalg.pinv(components)
    grid = np.array(list(product(range(22), repeat=3)))
    for h in ([2.0, 0.5], [2.0, 3.0]):
        chances = poisson.pmf(grid, h @ components).prod(axis=1)
        functions, slopes = count_functions(grid.astype(float), u, np.array([1.0, 1.0]))
        means = np.einsum("n,nkl->kl", chances, functions)
        for k in range(2):
            rates = [max(t, -0.8 / u[:, k].max()) for t in (-0.3, -1.0, -2.5)]
            centred = h[k] - 1
            assert np.allclose(means[k], [centred, centred**2, *np.exp(np.array(rates) * centred)], atol=1e-6)
            derivatives = [1, 2 * centred, *(t * np.exp(t * centred) for t in rates)]
            assert np.allclose(chances @ slopes[:, k], derivatives, atol=1e-6)


def test_a_step_solves_the_equations_of_each_pair():
    rng = np.random.default_rng(1)
    K = 4
    products, squares = 0.1 * rng.standard_normal((K, K)) + np.diag(rng.uniform(0.2, 0.6, K)), rng.uniform(0.9, 1.1, K)
    sums = FactorSums(np.diag(squares), products, rng.uniform(1, 2, K), np.zeros(0))
    step = newton_step(sums, np.eye(K))
    changed = products + sums.derivatives[:, None] * step * squares + np.diag(products)[:, None] * step.T
    assert np.allclose(changed - np.diag(np.diag(changed)), 0, atol=1e-12)
    assert (np.diag(step) == 0).all()
    gaussian = FactorSums(np.eye(K), np.eye(K) + 0.1 * rng.standard_normal((K, K)), np.ones(K), np.zeros(0))
    assert np.abs(newton_step(gaussian, np.eye(K))).max() < 10  # such factors are not thrown about


def test_steps_that_lead_away_leave_the_start():
    rng = np.random.default_rng(2)
    views = [rng.standard_normal((300, 3)) for _ in range(2)]  # nothing is shared
    start = rng.standard_normal((2, 3))
    mean = np.mean(views, axis=(0, 1))
    found = polish_factors(aligned(*map(signal_blocks, views)), mean, start, counts=False, max_steps=5)
    assert (found.n_steps, found.converged) == (0, False)
    assert np.array_equal(found.components, start)
