"""Scores of sources and likelihood steps: against loops, true densities and finite differences."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from polyad.datasets.signals import make_ica
from polyad.engine import first_rows, signal_blocks
from polyad.inference import separation
from polyad.inference.scores import (
    _BENDS,
    _SLOPES,
    CONTRASTS,
    KNOTS,
    N_PIECES,
    SHRINKAGE,
    SMOOTHNESS,
    Scores,
    contrast_scores,
    fitted_scores,
    tally,
)
from polyad.inference.separation import _newton_step, _pass, separate
from polyad.metrics import amari_distance


def quantiles(inverse, N=200_000):
    return inverse((np.arange(N) + 0.5) / N)[None]


def test_sums_equal_a_loop_over_values():
    rng = np.random.default_rng(0)
    N = N_PIECES + 4
    Y = np.vstack([rng.laplace(size=N), 40 * rng.standard_normal(N), KNOTS.tolist() + [0.0] * 3])
    scores = Scores(rng.standard_normal((3, N_PIECES + 1)))
    psi, sums = tally(Y, scores)
    for k in range(3):
        expected, value = np.zeros((N_PIECES, 3)), np.zeros(N)
        loss = derivative = 0.0
        for i, y in enumerate(Y[k]):
            piece = int(np.clip(np.searchsorted(KNOTS, y, side="right") - 1, 0, N_PIECES - 1))
            d = y - KNOTS[piece]
            slope = (scores.values[k, piece + 1] - scores.values[k, piece]) / (KNOTS[piece + 1] - KNOTS[piece])
            value[i] = scores.values[k, piece] + slope * d
            expected[piece] += 1, d, d * d
            loss += _integral(scores.values[k], y) / N
            derivative += slope / N
        if k < 2:  # a value on a knot may be in the piece before it or after it
            assert np.allclose(sums[k], expected, rtol=1e-10)
            assert np.isclose(scores.expected(sums, N).derivatives[k], derivative, rtol=1e-10)
        assert np.allclose(psi[k], value, atol=1e-10)
        assert np.isclose(scores.expected(sums, N).losses[k], loss, rtol=1e-9)
    assert np.allclose(scores.expected(sums, N).squares, (Y**2).mean(axis=1), rtol=1e-10)


def _integral(values, y):
    """The area below a broken line from the middle knot to y, piece by piece."""
    middle = KNOTS[N_PIECES // 2]
    low, high = min(middle, y), max(middle, y)
    cuts = np.concatenate([[low], KNOTS[(low < KNOTS) & (high > KNOTS)], [high]])
    slopes = np.diff(values) / np.diff(KNOTS)
    area = 0.0
    for left, right in pairwise(cuts):
        piece = int(np.clip(np.searchsorted(KNOTS, (left + right) / 2, side="right") - 1, 0, N_PIECES - 1))
        at = [values[piece] + slopes[piece] * (x - KNOTS[piece]) for x in (left, right)]
        area += (at[0] + at[1]) / 2 * (right - left)
    return area if y >= middle else -area


@pytest.mark.parametrize(
    ("inverse", "score", "where"),
    [
        (norm.ppf, lambda y: y, [-2.0, -0.5, 0.5, 2.0]),
        (lambda p: np.log(p / (1 - p)), np.vectorize(lambda y: np.tanh(y / 2)), [-3.0, -1.0, 0.3, 2.0]),
        (lambda p: -np.log(1 - p) - 1, lambda y: np.ones_like(y), [-0.5, 0.0, 1.0, 3.0]),
    ],
    ids=["gaussian", "logistic", "exponential"],
)
def test_scores_are_those_of_the_density(inverse, score, where):
    y = quantiles(inverse)
    found = fitted_scores(tally(y, contrast_scores("logcosh", 1))[1], y.size)
    psi = tally(np.array([where]), found)[0]
    assert np.allclose(psi[0], score(np.array(where)), atol=0.08)
    assert np.isclose((tally(y, found)[0] * y).mean(), 1, atol=1e-10)


def test_fitted_lines_solve_the_dense_equations():
    rng = np.random.default_rng(1)
    Y = np.vstack([rng.laplace(size=300), rng.uniform(-1.7, 1.7, 300), rng.exponential(size=300) - 1])
    sums = tally(Y, contrast_scores("logcosh", 3))[1]
    found = fitted_scores(sums, 300)
    slope_of = np.diff(np.eye(N_PIECES + 1), axis=0) / np.diff(KNOTS)[:, None]  # values at knots -> slopes of pieces
    for k, y in enumerate(Y):
        hats = np.stack([np.interp(y, KNOTS, hat) for hat in np.eye(N_PIECES + 1)])
        at_knots = np.vstack([slope_of[:1], (slope_of[:-1] + slope_of[1:]) / 2, slope_of[-1:]])
        at_knots[1], at_knots[-2] = slope_of[0], slope_of[-1]
        target = np.stack([np.interp(y, KNOTS, column) for column in at_knots.T]).mean(axis=1)
        matrix = hats @ hats.T / 300
        penalty = (SMOOTHNESS * _BENDS + SHRINKAGE * _SLOPES) / 300
        expected = KNOTS + np.linalg.solve(matrix + penalty, target - matrix @ KNOTS)
        expected /= expected @ matrix @ KNOTS
        assert np.allclose(found.values[k], expected, atol=1e-8 * np.abs(expected).max())


def test_scores_change_little_where_a_value_crosses_a_knot():
    y = quantiles(lambda p: np.sign(p - 0.5) * np.log(1 - 2 * np.abs(p - 0.5)) * -0.7, 200)
    knot = KNOTS[N_PIECES // 2 + 7]
    before, after = (
        fitted_scores(tally(np.append(y, knot + shift)[None], contrast_scores("logcosh", 1))[1], 201).values
        for shift in (-1e-9, 1e-9)
    )
    assert np.abs(before - after).max() < 1e-6


@pytest.mark.parametrize("fun", ["adaptive", *CONTRASTS])
def test_no_other_score_of_its_kind_is_closer(fun):
    y = quantiles(lambda p: np.sign(p - 0.5) * np.log(1 - 2 * np.abs(p - 0.5)) * -0.7, 20_000)
    sums = tally(y, contrast_scores("logcosh", 1))[1]
    best = fitted_scores(sums, y.size, fun)

    def objective(values):
        scores = Scores(values)
        return (tally(y, scores)[0] ** 2).mean() - 2 * scores.expected(sums, y.size).derivatives[0]

    directions = [KNOTS, np.ones_like(KNOTS), KNOTS + np.tanh(KNOTS) if fun == "adaptive" else CONTRASTS[fun](KNOTS)]
    for direction in directions:
        size = 0.05 / np.sqrt((tally(y, Scores(direction[None]))[0] ** 2).mean())
        for sign in (-1, 1):
            assert objective(best.values + sign * size * direction) > objective(best.values)
    found = best.expected(sums, y.size)
    assert found.derivatives[0] >= 1 / found.squares[0] - 0.02


def test_products_are_the_gradient_of_the_loss():
    draw = make_ica(2000, 3, sources=("super", "sub", "skewed"))
    source, mean = signal_blocks(draw.X), draw.X.mean(axis=0)
    W = np.linalg.inv(draw.mixing) + 0.1
    scores = fitted_scores(_pass(source, mean, W, contrast_scores("logcosh", 3)).pieces, 2000)
    gradient = _pass(source, mean, W, scores).products - np.eye(3)

    def loss(step):
        change = np.eye(3) + step
        pieces = _pass(source, mean, change @ W, scores).pieces
        return scores.expected(pieces, 2000).losses.sum() - np.linalg.slogdet(change)[1]

    for i in range(3):
        for j in range(3):
            step = np.zeros((3, 3))
            step[i, j] = 1e-6
            assert np.isclose((loss(step) - loss(-step)) / 2e-6, gradient[i, j], atol=1e-5)
    sums = _pass(source, mean, W, scores)
    step = _newton_step(sums)
    np.fill_diagonal(step, 0)
    assert (step * gradient).sum() < 0  # downhill


def test_sources_are_found_from_far_away_and_errors_shrink():
    errors = []
    for N in (1000, 16_000):
        draw = make_ica(N, 5, sources=("super", "sub", "skewed"), random_state=3)
        mean, covariance = draw.X.mean(axis=0), np.cov(draw.X.T, bias=True)
        values, vectors = np.linalg.eigh(covariance)
        whitener = (vectors / np.sqrt(values)).T
        assert amari_distance(whitener, draw.mixing) > 0.1  # where it starts
        found = separate(signal_blocks(draw.X), mean, covariance, whitener)
        errors.append(amari_distance(found.unmixing, draw.mixing))
    assert errors[1] < 0.4 * errors[0]
    assert errors[1] < 0.006
    assert found.converged


def test_at_rest_no_two_sources_depend_on_each_other():
    draw = make_ica(3000, 4, sources=("super", "skewed"), random_state=5)
    mean = draw.X.mean(axis=0)
    covariance = np.cov(draw.X.T, bias=True)
    values, vectors = np.linalg.eigh(covariance)
    whitener = (vectors / np.sqrt(values)).T
    found = separate(signal_blocks(draw.X), mean, covariance, whitener, tol=1e-9, max_newton=100)
    assert found.converged
    Y = found.unmixing @ (draw.X - mean).T
    scores = fitted_scores(tally(Y, contrast_scores("logcosh", 4))[1], 3000)
    dependence = tally(Y, scores)[0] @ Y.T / 3000
    assert np.abs(dependence - np.diag(np.diag(dependence))).max() < 1e-8
    assert np.allclose((Y**2).mean(axis=1), 1, atol=1e-10)


def start_of(draw):
    mean, covariance = draw.X.mean(axis=0), np.cov(draw.X.T, bias=True)
    values, vectors = np.linalg.eigh(covariance)
    return signal_blocks(draw.X), mean, covariance, (vectors / np.sqrt(values)).T


def test_a_step_that_promises_little_is_the_last_and_no_pass_looks_back(monkeypatch):
    draw = make_ica(4000, 4, sources=("super", "skewed"), random_state=5)
    start = start_of(draw)
    passes = []
    counted = separation._pass
    monkeypatch.setattr(separation, "_pass", lambda *args: passes.append(1) or counted(*args))
    whole = separate(*start, tol=1e-9, max_newton=100)
    n_whole = len(passes)
    soon = separate(*start, tol=1e-9, max_newton=100, max_fits=2, enough=0.02 * 16)
    assert soon.converged
    assert len(passes) - n_whole < n_whole - 2
    # Far less than the error of either, which the sample has.
    assert amari_distance(soon.unmixing, np.linalg.inv(whole.unmixing)) < 0.2 * amari_distance(
        whole.unmixing, draw.mixing
    )


def test_what_steps_tell_of_the_hessian_spares_some(monkeypatch):
    """Sources that are loud together, as voices are: the Hessian of independent ones is wrong for them."""
    rng = np.random.default_rng(1)
    loud = np.exp(rng.standard_normal((6000, 1)))
    draw = make_ica(6000, 5, random_state=1)
    sources = loud * rng.laplace(size=(6000, 5))
    X = sources @ draw.mixing.T
    mean, covariance = X.mean(axis=0), np.cov(X.T, bias=True)
    unmixing = np.linalg.inv(draw.mixing) + 0.02 * rng.standard_normal((5, 5))
    unmixing /= np.sqrt(np.einsum("ki,ij,kj->k", unmixing, covariance, unmixing))[:, None]
    steps = []
    for remembered in (5, 0):
        monkeypatch.setattr(separation, "REMEMBERED", remembered)
        found = separate(
            signal_blocks(X), mean, covariance, unmixing, max_fixed=0, max_fits=1, tol=1e-4, max_newton=200
        )
        assert found.converged
        steps.append(found.n_newton)
    assert steps[0] < 0.5 * steps[1]


def bursts(N, random_state=1):
    """Sources that are loud for a while, as voices are, and a start that is not near."""
    rng = np.random.default_rng(random_state)
    draw = make_ica(N, 5, random_state=random_state)
    loud = np.repeat(np.exp(rng.standard_normal((N // 50, 5))), 50, axis=0)
    X = rng.permutation(loud * rng.laplace(size=(N, 5))) @ draw.mixing.T
    mean, covariance = X.mean(axis=0), np.cov(X.T, bias=True)
    unmixing = np.linalg.inv(draw.mixing) + 0.1 * rng.standard_normal((5, 5))
    unmixing /= np.sqrt(np.einsum("ki,ij,kj->k", unmixing, covariance, unmixing))[:, None]
    return draw, (signal_blocks(X), mean, covariance, unmixing)


def test_steps_on_some_of_the_rows_spare_passes_over_all_and_end_at_the_same_place(monkeypatch):
    draw, start = bursts(12_000)
    few, passes = first_rows(start[0], 2048), []
    counted = separation._pass
    monkeypatch.setattr(separation, "_pass", lambda *args: passes.append(args[0].n_rows) or counted(*args))
    found = {}
    for begin in (False, True):
        passes.clear()
        options = {"max_fixed": 0, "max_fits": 2, "enough": 0.02 * 25, "few": few, "begin_with_few": begin}
        found[begin] = separate(*start, tol=1e-6, max_newton=50, **options), passes.count(12_000)
        assert found[begin][0].converged
    assert found[True][1] < found[False][1] - 1
    assert found[True][0].n_few > 0 == found[False][0].n_few
    ours, other = (found[begin][0].unmixing for begin in (True, False))
    noise = amari_distance(other, draw.mixing)
    assert amari_distance(ours, np.linalg.inv(other)) < 0.2 * noise
    nearly_all = separate(*start, tol=1e-6, few=first_rows(start[0], 5000), begin_with_few=True)
    assert nearly_all.n_few == 0  # they would spare nothing
    to_the_end = [
        separate(*start, tol=1e-9, max_newton=100, max_fixed=0, few=few, begin_with_few=begin).unmixing
        for begin in (False, True)
    ]
    assert np.allclose(*to_the_end, atol=1e-4)  # a hundredth of the noise


@pytest.mark.parametrize("K", [1, 2, 7, 30])
def test_the_volume_of_a_step_and_its_scales(K):
    rng = np.random.default_rng(K)
    for size in (0.01, 0.5, 3.0):
        step = size * rng.standard_normal((K, K))
        sign, volume = np.linalg.slogdet(np.eye(K) + step)
        assert np.isclose(separation._log_volume(step), volume if sign > 0 else -np.inf, rtol=1e-9, atol=1e-12)
        unmixing, root = rng.standard_normal((K, K + 1)), rng.standard_normal((K + 1, K + 1))
        moved, volume = separation._moved(unmixing, root @ root.T, 0.01 * step)
        whole = (np.eye(K) + 0.01 * step) @ unmixing
        scales = np.sqrt(np.diag(whole @ root @ root.T @ whole.T))
        assert np.allclose(moved, whole / scales[:, None], rtol=1e-10)
        expected = np.linalg.slogdet(np.eye(K) + 0.01 * step)[1] - np.log(scales).sum()
        assert np.isclose(volume, expected, rtol=1e-9, atol=1e-12)
    assert separation._log_volume(-np.eye(K)) == -np.inf  # inside out, or flat
