"""Statistics of ICA against loops, and their diagonal form on large samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from polyad.engine import blocks as engine_blocks
from polyad.engine import signal_blocks, use
from polyad.moments.signals import ica


def signals_of(X, W):
    source = signal_blocks(X)
    mean, _ = ica.signal_covariance(source)
    return source, ica.SignalWhitening(W, mean)


def small(N=7, M=4, K=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((N, M)) + 5.0, rng.standard_normal((K, M))


def test_mean_and_covariance():
    X, _ = small(50)
    mean, covariance = ica.signal_covariance(signal_blocks(X))
    assert np.allclose(mean, X.mean(0))
    assert np.allclose(covariance, np.cov(X.T, bias=True))


def brute_third(X, W):
    Z = (X - X.mean(0)) @ W.T
    N, K = Z.shape
    T = np.zeros((K, K, K))
    for i in range(K):
        for j in range(K):
            for k in range(K):
                T[i, j, k] = sum(Z[n, i] * Z[n, j] * Z[n, k] for n in range(N)) * N / ((N - 1) * (N - 2))
    return T


def test_third_cumulants_agree_with_loops():
    X, W = small()
    assert np.allclose(ica.third_cumulants(*signals_of(X, W)), brute_third(X, W), atol=1e-10)


@settings(max_examples=20)
@given(X=arrays(np.float64, (4, 3), elements=st.floats(-100, 100)))
def test_third_cumulants_on_any_signals(X):
    W = np.array([[1.0, -1.0, 0.5], [0.0, 2.0, 1.0]])
    assert np.allclose(ica.third_cumulants(*signals_of(X, W)), brute_third(X, W), rtol=1e-8, atol=1e-5)


def brute_fourth(Z, u, v):
    N, K = Z.shape
    a, b = Z @ u, Z @ v
    C = np.zeros((K, K))
    for i in range(K):
        for j in range(K):
            x, y = Z[:, i], Z[:, j]
            E = lambda *factors: np.prod(factors, axis=0).sum() / N
            C[i, j] = E(x, y, a, b) - E(x, y) * E(a, b) - E(x, a) * E(y, b) - E(x, b) * E(y, a)
    return C


def test_fourth_cumulants_agree_with_loops():
    X, W = small()
    Z = (X - X.mean(0)) @ W.T
    found = ica.fourth_cumulants(*signals_of(X, W))
    axes = np.eye(3)
    pairs = [(p, q) for p in range(3) for q in range(p, 3)]
    for matrix, (p, q) in zip(found, pairs, strict=True):
        scale = 1.0 if p == q else np.sqrt(2)
        assert np.allclose(matrix, scale * brute_fourth(Z, axes[p], axes[q]), atol=1e-10)


def test_both_cumulants_in_one_pass_agree_with_loops():
    X, W = small()
    found = ica.third_and_fourth_cumulants(*signals_of(X, W))
    assert np.allclose(found[:3], brute_third(X, W) * (6 * 5 / 49), atol=1e-10)  # over N, and not unbiased
    assert np.array_equal(found[3:], ica.fourth_cumulants(*signals_of(X, W)))
    assert np.allclose(found[:3], found[:3].transpose(1, 2, 0), atol=1e-12)


def test_many_components_use_fewer_contractions(monkeypatch):
    monkeypatch.setattr(ica, "ALL_PAIRS", 2)
    X, W = small()
    Z = (X - X.mean(0)) @ W.T
    found = ica.fourth_cumulants(*signals_of(X, W))
    assert found.shape == (6, 3, 3)
    assert np.allclose(found[1], brute_fourth(Z, np.eye(3)[1], np.eye(3)[1]), atol=1e-10)


@pytest.mark.parametrize("unit", [1.0, 1j])
def test_generalised_covariances_agree_with_loops(unit):
    X, W = small()
    points = 0.3 * np.random.default_rng(1).standard_normal((2, 3))
    compute = ica.generalised_signal_covariances if unit == 1.0 else ica.characteristic_covariances
    found = compute(*signals_of(X, W), points)
    Z = (X - X.mean(0)) @ W.T
    for matrix, t in zip(found, points, strict=True):
        w = np.array([np.exp(unit * (t @ z)) for z in Z])
        mean = sum(wn * z for wn, z in zip(w, Z)) / w.sum()
        brute = sum(wn * np.outer(z, z) for wn, z in zip(w, Z)) / w.sum() - np.outer(mean, mean)
        assert np.allclose(matrix, brute, atol=1e-10)


def test_cumulants_of_a_large_sample_are_diagonal_in_the_sources():
    rng = np.random.default_rng(0)
    S = rng.exponential(size=(200_000, 2)) - 1
    signals = signals_of(S, np.eye(2))
    third = ica.third_cumulants(*signals)
    assert np.allclose([third[0, 0, 0], third[1, 1, 1]], 2, atol=0.15)
    assert abs(third[0, 0, 1]) < 0.05
    fourth = ica.fourth_cumulants(*signals)
    assert np.allclose([fourth[0, 0, 0], fourth[2, 1, 1]], 6, atol=1.0)
    assert abs(fourth[0, 1, 1]) < 0.2
    assert ica.third_reliability(*signals) > 0.99
    assert abs(ica.third_reliability(*signals_of(rng.standard_normal((2000, 2)), np.eye(2)))) < 0.9
    assert ica.third_reliability(*signals_of(np.ones((4, 2)), np.eye(2))) == 0.0


def test_threads_do_not_change_a_bit(monkeypatch):
    monkeypatch.setattr(engine_blocks, "BLOCK_CELLS", 64)
    X, W = small(100)
    points = 0.3 * np.eye(3)
    found = []
    for n_threads in (1, 3):
        with use(n_threads):
            signals = signals_of(X, W)
            found.append(
                [
                    ica.third_cumulants(*signals),
                    ica.fourth_cumulants(*signals),
                    ica.characteristic_covariances(*signals, points),
                    ica.generalised_signal_covariances(*signals, points),
                ]
            )
    assert all(np.array_equal(one, three) for one, three in zip(*found))


def test_what_cannot_be_estimated_is_refused():
    X, W = small(2)
    with pytest.raises(ValueError, match="at least 3 samples; X has 2"):
        ica.third_cumulants(*signals_of(X, W))
    X, W = small()
    with pytest.raises(ValueError, match=r"effective sample size of .* out of 7. Use points with smaller"):
        ica.generalised_signal_covariances(*signals_of(X, W), 1e3 * np.eye(3))
