"""Cross moments against loops over samples and entries, and the blocks of two views they are summed over."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from polyad.engine import aligned, count_blocks, signal_blocks, use, view_of
from polyad.engine import blocks as engine_blocks
from polyad.moments.views import cumulants as cross_cumulants
from polyad.moments.views import texts as cross_texts
from polyad.moments.views.covariances import characteristic_targets, generalised_targets, processing_points, unit_scales
from polyad.moments.views.cross import (
    cross_covariance,
    cross_means,
    products_of_columns,
    projected_covariances,
    view_covariance,
    view_variances,
    weighed_columns,
)
from random_counts import random_counts


def counts_and_whiteners(N=9, M1=4, M2=3, K=2, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = rng.poisson(2.0, (N, M1)), rng.poisson(1.5, (N, M2))
    return X, Y, rng.standard_normal((K, M1)), rng.standard_normal((K, M2))


def counted(X, Y):
    pairs = aligned(count_blocks(X), count_blocks(Y))
    return pairs, cross_means(pairs)


def third_cumulant(a, b, c):
    """Unbiased third cumulant of three samples of numbers (the k-statistic), by its definition."""
    N = len(a)
    a, b, c = a - a.mean(), b - b.mean(), c - c.mean()
    return N / ((N - 1) * (N - 2)) * sum(a[n] * b[n] * c[n] for n in range(N))


def covariance(a, b):
    return sum((a[n] - a.mean()) * (b[n] - b.mean()) for n in range(len(a))) / (len(a) - 1)


def brute_third(X, Y, W1, W2, u, x_counts, y_counts):
    """T121 and T122 of eq. (17) entry by entry, then contracted with the whiteners."""
    M1, M2 = X.shape[1], Y.shape[1]
    T121, T122 = np.zeros((M1, M2, M1)), np.zeros((M1, M2, M2))
    for i in range(M1):
        for j in range(M2):
            own = covariance(X[:, i], Y[:, j])
            for m in range(M1):
                T121[i, j, m] = third_cumulant(X[:, i], Y[:, j], X[:, m]) - (own if x_counts and i == m else 0)
            for m in range(M2):
                T122[i, j, m] = third_cumulant(X[:, i], Y[:, j], Y[:, m]) - (own if y_counts and j == m else 0)
    first = np.einsum("ijm,ai,bj,fm->fab", T121, W1, W2, u @ W1)
    second = np.einsum("ijm,ai,bj,fm->fab", T122, W1, W2, u @ W2)
    return np.concatenate([first, second])


@pytest.mark.parametrize(("x_counts", "y_counts"), [(True, True), (False, True), (False, False)])
@pytest.mark.parametrize("all_axes", [True, False])
def test_third_order_targets_agree_with_loops(x_counts, y_counts, all_axes):
    X, Y, W1, W2 = counts_and_whiteners()
    pairs, means = counted(X, Y)
    directions = None if all_axes else np.random.default_rng(1).standard_normal((3, 2))
    found = cross_cumulants.third_order_targets(
        pairs, W1, W2, means, x_counts=x_counts, y_counts=y_counts, directions=directions
    )
    u = np.eye(2) if directions is None else directions
    assert np.allclose(found, brute_third(X, Y, W1, W2, u, x_counts, y_counts), atol=1e-10)


@settings(max_examples=25)
@given(
    X=arrays(np.int64, (5, 3), elements=st.integers(0, 50)),
    Y=arrays(np.int64, (5, 2), elements=st.integers(0, 50)),
)
def test_third_order_targets_on_any_counts(X, Y):
    rng = np.random.default_rng(0)
    W1, W2 = rng.standard_normal((2, 3)), rng.standard_normal((2, 2))
    pairs, means = counted(X, Y)
    found = cross_cumulants.third_order_targets(pairs, W1, W2, means, x_counts=True, y_counts=True)
    assert np.allclose(found, brute_third(X, Y, W1, W2, np.eye(2), True, True), rtol=1e-10, atol=1e-7)


def test_covariances_agree_with_loops():
    X, Y, W1, W2 = counts_and_whiteners()
    pairs, means = counted(X, Y)
    expected = np.array([[covariance(X[:, i], Y[:, j]) for j in range(3)] for i in range(4)])
    operator = cross_covariance(pairs, *means)
    assert np.allclose(operator @ np.eye(3), expected, atol=1e-12)
    assert np.allclose(operator.T @ np.eye(4), expected.T, atol=1e-12)
    x_cov, y_cov = (view_covariance(view_of(pairs, number), mean) for number, mean in enumerate(means))
    assert np.allclose(view_variances(view_of(pairs, 0), means[0]), X.var(axis=0), atol=1e-12)
    assert np.allclose(x_cov, np.cov(X.T), atol=1e-12)
    assert np.allclose(y_cov, np.cov(Y.T), atol=1e-12)
    x_small, y_small = projected_covariances(pairs, W1, W2, means)
    assert np.allclose(x_small, W1 @ x_cov @ W1.T)
    assert np.allclose(y_small, W2 @ y_cov @ W2.T)


def fourth_cumulant(a, b, c, d):
    a, b, c, d = (v - v.mean() for v in (a, b, c, d))
    pairings = (a * b).mean() * (c * d).mean() + (a * c).mean() * (b * d).mean() + (a * d).mean() * (b * c).mean()
    return (a * b * c * d).mean() - pairings


def test_fourth_order_targets_agree_with_loops():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((8, 3)), rng.standard_normal((8, 4))
    W1, W2 = rng.standard_normal((2, 3)), rng.standard_normal((2, 4))
    a, b = rng.standard_normal((2, 3, 2))
    pairs = aligned(signal_blocks(X), signal_blocks(Y))
    means = cross_means(pairs)
    Z1, Z2 = X @ W1.T, Y @ W2.T

    def brute(left, right):
        return [
            [[fourth_cumulant(Z1[:, i], Z2[:, j], Z1 @ u, Z2 @ v) for j in range(2)] for i in range(2)]
            for u, v in zip(left, right)
        ]

    found = cross_cumulants.fourth_order_targets(pairs, W1, W2, means, directions=(a, b))
    assert np.allclose(found, brute(a, b), atol=1e-12)
    axes = cross_cumulants.fourth_order_targets(pairs, W1, W2, means)
    assert np.allclose(axes, brute(np.eye(2)[[0, 0, 1, 1]], np.eye(2)[[0, 1, 0, 1]]), atol=1e-12)


def test_many_components_take_some_pairs_of_directions():
    left, right = cross_cumulants._direction_pairs(20)
    assert left.shape == right.shape == (160, 20)


def brute_generalised(X, Y, W1, W2, t1, t2, x_counts, y_counts, unit):
    """Eq. (24) sample by sample, divided by e^t on a view of counts."""
    w = np.array([np.exp(unit * (t1 @ x + t2 @ y)) for x, y in zip(X, Y)])
    second = sum(wn * np.outer(x, y) for wn, x, y in zip(w, X, Y)) / w.sum()
    x_mean = sum(wn * x for wn, x in zip(w, X)) / w.sum()
    y_mean = sum(wn * y for wn, y in zip(w, Y)) / w.sum()
    left = W1 * np.exp(-unit * t1) if x_counts else W1
    right = W2 * np.exp(-unit * t2) if y_counts else W2
    return left @ (second - np.outer(x_mean, y_mean)) @ right.T


@pytest.mark.parametrize(("x_counts", "y_counts"), [(True, True), (False, True), (False, False)])
def test_generalised_covariances_agree_with_loops(x_counts, y_counts):
    X, Y, W1, W2 = counts_and_whiteners()
    pairs, means = counted(X, Y)
    scales = unit_scales(projected_covariances(pairs, W1, W2, means), 0.5)
    points = processing_points(W1, W2, *scales)
    assert np.allclose(np.std(X @ points.x[:2].T, axis=0, ddof=1), 0.5)
    options = {"x_counts": x_counts, "y_counts": y_counts}
    real = generalised_targets(pairs, W1, W2, means, points, **options)
    imaginary = characteristic_targets(pairs, W1, W2, means, points, **options)
    for p, (t1, t2) in enumerate(zip(points.x, points.y)):
        brute = brute_generalised(X, Y, W1, W2, t1, t2, x_counts, y_counts, 1.0)
        assert np.allclose(real[p], brute, atol=1e-10)
        brute = brute_generalised(X, Y, W1, W2, t1, t2, x_counts, y_counts, 1j)
        assert np.allclose(imaginary[p], brute, atol=1e-10)


def test_small_points_approximate_third_cumulants():
    """Appendix B.5: the derivative of the generalised covariance at zero is the third cumulant."""
    X, Y, W1, W2 = counts_and_whiteners(N=4000)
    pairs, means = counted(X, Y)
    third = cross_cumulants.third_order_targets(pairs, W1, W2, means, x_counts=True, y_counts=True)
    step = 1e-5
    points = processing_points(W1, W2, step, step)
    base = W1 @ (X - X.mean(0)).T @ (Y - Y.mean(0)) @ W2.T / len(X)
    real = generalised_targets(pairs, W1, W2, means, points, x_counts=True, y_counts=True)
    imaginary = characteristic_targets(pairs, W1, W2, means, points, x_counts=True, y_counts=True)
    assert np.allclose((real - base) / step, third, atol=2e-3 * np.abs(third).max())
    assert np.allclose(imaginary.imag / step, third, atol=2e-3 * np.abs(third).max())


def test_overflowing_points_are_refused_in_a_sentence():
    X, Y, W1, W2 = counts_and_whiteners()
    pairs, means = counted(X, Y)
    points = processing_points(W1, W2, 1e4, 1e4)
    with pytest.raises(ValueError, match=r"nearly all the weight to one sample .* Use smaller points"):
        generalised_targets(pairs, W1, W2, means, points, x_counts=True, y_counts=True)
    assert np.isfinite(characteristic_targets(pairs, W1, W2, means, points, x_counts=True, y_counts=True)).all()


def brute_texts(X, Y, W1, W2, c0):
    """Two distinct words of one text and one of the other, by loops over tokens; weights from the lengths."""
    shares = np.array([np.sqrt(x.sum() * y.sum()) if min(x.sum(), y.sum()) >= 2 else 0.0 for x, y in zip(X, Y)])
    shares /= shares.sum()
    (N, M1), M2 = X.shape, Y.shape[1]
    m1, m2, S = np.zeros(M1), np.zeros(M2), np.zeros((M1, M2))
    pair1, pair2 = np.zeros((M1, M1)), np.zeros((M2, M2))
    T1, T2 = np.zeros((M1, M1, M2)), np.zeros((M2, M2, M1))
    for n in range(N):
        if shares[n] == 0:
            continue
        words, others = (np.repeat(np.arange(len(row)), row) for row in (X[n], Y[n]))
        for tokens, partner, mean, pair, T in ((words, others, m1, pair1, T1), (others, words, m2, pair2, T2)):
            for a in tokens:
                mean[a] += shares[n] / len(tokens)
            for i, a in enumerate(tokens):
                for j, b in enumerate(tokens):
                    if i != j:
                        weight = shares[n] / (len(tokens) * (len(tokens) - 1))
                        pair[a, b] += weight
                        for v in partner:
                            T[a, b, v] += weight / len(partner)
        for a in words:
            for v in others:
                S[a, v] += shares[n] / (len(words) * len(others))

    def dirichlet(T, pair, across, own, other):
        mixed = np.einsum("ab,v->abv", pair, other) + np.einsum("a,bv->abv", own, across)
        mixed += np.einsum("b,av->abv", own, across)
        cube = np.einsum("a,b,v->abv", own, own, other)
        return T - c0 / (c0 + 2) * mixed + 2 * c0**2 / ((c0 + 1) * (c0 + 2)) * cube

    T1, T2 = dirichlet(T1, pair1, S, m1, m2), dirichlet(T2, pair2, S.T, m2, m1)
    second = S - c0 / (c0 + 1) * np.outer(m1, m2)
    first = np.einsum("abv,pa,ib,kv->pik", T1, W1, W1, W2)
    other = np.einsum("abv,pa,kb,iv->pik", T2, W2, W2, W1)
    return m1, m2, second, np.concatenate([first, other])


@pytest.mark.parametrize("concentration", [0.0, 2.0])
def test_two_text_moments_agree_with_loops_over_tokens(concentration):
    X, Y, W1, W2 = counts_and_whiteners()
    X[0] = [1, 0, 0, 0]  # one word: the pair must not count
    Y[1] = 0
    pairs, _ = counted(X, Y)
    summary = cross_texts.summarise_texts(pairs)
    assert summary.n_pairs == len(X)
    assert summary.y_frequency.tolist() == (Y > 0).sum(0).tolist()
    assert summary.x_totals.tolist() == X.sum(0).tolist()
    moments = cross_texts.two_text_moments(pairs, summary, concentration=concentration)
    m1, m2, second, targets = brute_texts(X, Y, W1, W2, concentration)
    assert np.allclose(moments.x_mean, m1, atol=1e-12)
    assert np.allclose(moments.y_mean, m2, atol=1e-12)
    assert np.allclose(moments.second @ np.eye(3), second, atol=1e-12)
    assert np.allclose(moments.second.T @ np.eye(4), second.T, atol=1e-12)
    assert np.allclose(moments.targets(W1, W2), targets, atol=1e-12)
    u = np.random.default_rng(3).standard_normal((3, 2))
    some = cross_texts.two_text_moments(pairs, summary, concentration=concentration, directions=u)
    expected = np.concatenate([np.tensordot(u, half, axes=1) for half in np.split(targets, 2)])
    assert np.allclose(some.targets(W1, W2), expected, atol=1e-12)


def test_texts_without_two_words_and_bad_concentrations_are_refused():
    pairs, _ = counted(np.eye(3, dtype=int), np.eye(3, dtype=int))
    summary = cross_texts.summarise_texts(pairs)
    with pytest.raises(ValueError, match="In none of the 3 pairs do both texts have two words"):
        _ = summary.weights
    with pytest.raises(ValueError, match="concentration is -1"):
        cross_texts.two_text_moments(pairs, summary, concentration=-1.0)


def test_reliability_tells_skewed_from_symmetric_sources():
    rng = np.random.default_rng(0)
    D1, D2 = rng.standard_normal((2, 5, 3))
    for draw, skewed in ((rng.exponential, True), (rng.laplace, False)):
        S = draw(size=(4000, 3))
        pairs = aligned(signal_blocks(S @ D1.T), signal_blocks(S @ D2.T))
        W1, W2 = np.linalg.pinv(D1), np.linalg.pinv(D2)
        found = cross_cumulants.third_order_reliability(pairs, W1, W2, cross_means(pairs))
        assert (found > 0.8) if skewed else (abs(found) < 0.5)


def test_views_of_constants_have_no_reliability():
    pairs = aligned(signal_blocks(np.ones((6, 2))), signal_blocks(np.ones((6, 2))))
    found = cross_cumulants.third_order_reliability(pairs, np.eye(2), np.eye(2), cross_means(pairs))
    assert found == 0.0


def many_pairs():
    rng = np.random.default_rng(0)
    X = random_counts(rng, (400, 30), 0.2, lambda size: rng.integers(1, 5, size))
    Y = random_counts(rng, (400, 20), 0.5, lambda size: rng.integers(1, 5, size))
    return X.tocsr(), Y.tocsr()


def test_pairs_are_cut_at_the_same_rows(monkeypatch):
    monkeypatch.setattr(engine_blocks, "BLOCK_CELLS", 300)
    X, Y = many_pairs()
    pairs = list(aligned(count_blocks(X), count_blocks(Y)))
    assert len(pairs) > 10
    assert [pair.start for pair in pairs] == list(np.cumsum([0] + [pair.views[0].shape[0] for pair in pairs])[:-1])
    assert all(pair.views[0].shape[0] == pair.views[1].shape[0] for pair in pairs)
    assert np.array_equal(np.vstack([pair.views[0].toarray() for pair in pairs]), X.toarray())
    assert np.array_equal(np.vstack([pair.views[1].toarray() for pair in pairs]), Y.toarray())


def test_parts_give_the_same_pairs(monkeypatch):
    monkeypatch.setattr(engine_blocks, "BLOCK_CELLS", 300)
    X, Y = many_pairs()
    parts = (Y[start : start + 90] for start in range(0, 400, 90))
    pairs = aligned(count_blocks(X), count_blocks(parts))
    assert [pair.start for pair in pairs] == [pair.start for pair in aligned(count_blocks(X), count_blocks(Y))]
    for _ in range(2):
        assert np.array_equal(np.vstack([pair.views[1].toarray() for pair in pairs]), Y.toarray())


def test_threads_and_blocks_do_not_change_a_bit(monkeypatch):
    monkeypatch.setattr(engine_blocks, "BLOCK_CELLS", 300)
    X, Y = many_pairs()
    pairs = aligned(count_blocks(X), count_blocks(Y))
    rng = np.random.default_rng(0)
    W1, W2 = rng.standard_normal((3, 30)), rng.standard_normal((3, 20))
    results = []
    for n_threads in (1, 3):
        with use(n_threads):
            means = cross_means(pairs)
            summary = cross_texts.summarise_texts(pairs)
            points = processing_points(W1, W2, 0.1, 0.1)
            results.append(
                [
                    cross_cumulants.third_order_targets(pairs, W1, W2, means, x_counts=True, y_counts=True),
                    cross_texts.two_text_moments(pairs, summary).targets(W1, W2),
                    characteristic_targets(pairs, W1, W2, means, points, x_counts=True, y_counts=True),
                    generalised_targets(pairs, W1, W2, means, points, x_counts=True, y_counts=True),
                    cross_cumulants.fourth_order_targets(pairs, W1, W2, means),
                ]
            )
    assert all(np.array_equal(one, two) for one, two in zip(*results))
    monkeypatch.setattr(engine_blocks, "BLOCK_CELLS", 1 << 16)
    whole = aligned(count_blocks(X), count_blocks(Y))
    means = cross_means(whole)
    third = cross_cumulants.third_order_targets(whole, W1, W2, means, x_counts=True, y_counts=True)
    assert np.allclose(third, results[0][0], atol=1e-10)


def test_measurements_are_no_texts_and_too_few_rows_are_refused():
    views = aligned(signal_blocks(np.ones((2, 2))), count_blocks(np.ones((2, 2))))
    with pytest.raises(ValueError, match="give counts for both views"):
        cross_texts.summarise_texts(views)
    pairs, means = counted(np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(ValueError, match="at least 3 samples"):
        cross_cumulants.third_order_targets(pairs, np.eye(2), np.eye(2), means, x_counts=True, y_counts=True)
    pairs, means = counted(np.ones((1, 2)), np.ones((1, 2)))
    with pytest.raises(ValueError, match="at least 2 samples"):
        cross_covariance(pairs, *means)


@pytest.mark.parametrize("n_rows", [1, 127, 128, 300])
@pytest.mark.parametrize(("K", "M"), [(1, 1), (2, 3), (5, 6), (8, 8), (9, 8), (3, 40)])
def test_small_products_are_those_of_matrices(K, M, n_rows):
    rng = np.random.default_rng(n_rows)
    rows, mean, weights = rng.standard_normal((n_rows, M)), rng.standard_normal(M), rng.standard_normal((K, M))
    columns = weighed_columns(rows, mean, weights)
    assert columns.shape == (K, n_rows)
    assert np.allclose(columns, ((rows - mean) @ weights.T).T, atol=1e-12)
    other = rng.standard_normal((M, n_rows))
    assert np.allclose(products_of_columns(columns, other), columns @ other.T, atol=1e-11)
