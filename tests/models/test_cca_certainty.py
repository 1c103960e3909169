"""Which factors of two views are determined, and which are a rotation of each other or made of noise."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from polyad import DiscreteCCA, MixedCCA, NonGaussianCCA
from polyad.datasets import make_discrete_cca, make_mixed_cca, make_nongaussian_cca
from polyad.decompose.certainty import certainty
from polyad.models import UndeterminedWarning
from polyad.models.recipes.factor_certainty import noise_of_views, squared_steps, staying_of_views


def fitted(model, sample):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(sample.X, sample.Y)
    return model, any(issubclass(warning.category, UndeterminedWarning) for warning in said)


def matched(model, sample):
    """The squared cosine of every factor with the true one nearest to it, and the number of that."""
    products = 0.0
    for found, true in (
        (model.factors_.x_loadings, sample.x_loadings),
        (model.factors_.y_loadings, sample.y_loadings),
    ):
        products = products + ((found / np.linalg.norm(found, axis=0)).T @ (true / np.linalg.norm(true, axis=0))) ** 2
    return products.max(axis=1) / 2, products.argmax(axis=1)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("make", "model", "N"), [(make_mixed_cca, MixedCCA(15), 4000), (make_discrete_cca, DiscreteCCA(15), 4000)]
)
def test_more_factors_than_there_are(make, model, N, seed):
    """Six factors are there and fifteen asked for: the nine others are told by their numbers."""
    sample = make(N, n_components=6, n_private=20, random_state=seed)
    model, told = fitted(clone(model), sample)
    near, _ = matched(model, sample)
    assert told
    assert set(model.diagnostics_.undetermined) == set(np.flatnonzero(near < 0.6)) == set(range(6, 15))
    six, told = fitted(model.set_params(n_components=6), sample)
    assert not told
    assert six.diagnostics_.certainty.min() > 0.8


def test_few_rows_make_large_correlations_and_a_word_about_them():
    """With hardly more rows than columns noise agrees with noise; what is called undetermined is noise."""
    sample = make_mixed_cca(150, (40, 40), 6, n_private=40)
    model, told = fitted(MixedCCA(15), sample)
    near, _ = matched(model, sample)
    unsure = list(model.diagnostics_.undetermined)
    assert told
    assert len(unsure) >= 4
    assert (near[unsure] < 0.7).all()
    assert model.correlations_[unsure].max() > 0.3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("kinds", "n_told"),
    [(["gaussian", "gaussian", "gaussian", "super", "sub"], 3), (["gaussian", "super", "skewed"], 0), (["sub"] * 3, 0)],
)
def test_gaussian_sources_are_a_rotation_of_each_other(kinds, n_told, seed):
    K = len(kinds)
    sample = make_nongaussian_cca(
        5000, (12, 10), K, sources=kinds, private_sources="gaussian", random_state=seed, n_private=4
    )
    model, told = fitted(NonGaussianCCA(K), sample)
    assert told == (n_told > 0)
    _, nearest = matched(model, sample)
    assert len(model.diagnostics_.undetermined) == n_told
    assert all(kinds[nearest[number]] == "gaussian" for number in model.diagnostics_.undetermined)


def test_certainty_stands_in_the_order_of_the_factors():
    """The weak one of three factors is the last by its correlation, and the least certain."""
    rng = np.random.default_rng(0)
    sources = rng.laplace(size=(1500, 3)) / np.sqrt(2)
    A, B = (np.linalg.qr(rng.standard_normal((8, 3)))[0] for _ in range(2))
    strengths = np.array([0.55, 3.0, 3.0])
    X, Y = (sources * strengths @ D.T + 0.8 * rng.standard_normal((1500, 8)) for D in (A, B))
    model = NonGaussianCCA(3, statistics="fourth").fit(X, Y)
    assert np.abs(np.corrcoef(model.transform(X, Y).T, sources.T)[2, 3:]).argmax() == 0
    assert model.diagnostics_.certainty.argmin() == 2
    assert model.diagnostics_.certainty[2] < 0.97 < model.diagnostics_.certainty[:2].min()


def test_steps_are_those_of_perturbed_matrices():
    """Of noisy copies A = Q diag Q^-1 + noise the mean squared turn is the one that their parts tell, within a half."""
    rng = np.random.default_rng(0)
    K, P, G, size = 3, 6, 8, 0.02
    diagonals = rng.standard_normal((P, K))
    squares, told = [], []
    for _ in range(150):
        parts = size * np.sqrt(G) * rng.standard_normal((G, P, K, K))
        parts[:, :, range(K), range(K)] += diagonals
        mean = parts.mean(axis=0)
        differences = diagonals[:, :, None] - diagonals[:, None, :]
        step = -(mean * differences).sum(axis=0) / np.maximum((differences**2).sum(axis=0), 1e-300)
        squares.append(step**2)
        told.append(squared_steps(parts, np.diagonal(mean, axis1=1, axis2=2)))
    off = ~np.eye(K, dtype=bool)
    ratio = np.mean(told, axis=0)[off] / np.mean(squares, axis=0)[off]
    assert (ratio > 0.67).all()
    assert (ratio < 1.5).all()
    assert np.array_equal(squared_steps(np.zeros((2, 1, 2, 2)), np.ones((1, 2))), [[0, 2], [2, 0]])


@pytest.mark.parametrize("strength", [0.02, 0.15, 0.3])
def test_singular_vectors_turn_as_far_as_they_are_said_to(strength):
    rng = np.random.default_rng(1)
    M1, M2, noise = 60, 30, 0.01
    cosines, told = [], []
    for _ in range(30):
        u, v = (rng.standard_normal(M) for M in (M1, M2))
        u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
        left, spectrum, _ = np.linalg.svd(strength * np.outer(u, v) + noise * rng.standard_normal((M1, M2)))
        found = noise_of_views(spectrum, 1, (M1, M2))
        assert 0.8 * noise < found < 1.2 * noise
        cosines.append((left[:, 0] @ u) ** 2)
        told.append(staying_of_views(spectrum, 1, (M1, M2), found)[0])
    assert abs(np.mean(cosines) - np.mean(told)) < (0.15 if strength < 0.1 else 0.06)


def test_what_is_left_out_nearby_is_told():
    near = staying_of_views(np.array([1.0, 0.5, 0.499]), 2, (4, 4), 0.001)
    far = staying_of_views(np.array([1.0, 0.5, 0.2]), 2, (4, 4), 0.001)
    assert near[1] == pytest.approx(far[1] * certainty(np.array([1.0]))[0], rel=1e-3)
    assert np.array_equal(staying_of_views(np.array([1.0]), 1, (4, 4), 0.0), [1.0])
    assert noise_of_views(np.array([1.0, 0.5]), 1, (40, 40)) is None


@pytest.mark.parametrize(
    ("make", "model"),
    [(make_discrete_cca, DiscreteCCA(3)), (make_nongaussian_cca, NonGaussianCCA(3)), (make_mixed_cca, MixedCCA(3))],
)
def test_the_order_of_the_pairs_changes_no_byte(make, model):
    sample = make(800, (10, 12), 3)
    first = model.fit(sample.X, sample.Y)
    found = [getattr(first, name).tobytes() for name in ("x_loadings_", "y_loadings_", "correlations_")]
    sure = first.diagnostics_.certainty.tobytes()
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(800)
        again = model.fit(sample.X[order], sample.Y[order])
        assert [getattr(again, name).tobytes() for name in ("x_loadings_", "y_loadings_", "correlations_")] == found
        assert again.diagnostics_.certainty.tobytes() == sure
