"""The samplers draw what they say: shapes, scales, dependence across the views, and the same bytes for a seed."""

import numpy as np
import pytest
from scipy import sparse, stats

from polyad.datasets.signals import draw_sources, make_ica
from polyad.datasets.views import make_discrete_cca, make_mixed_cca, make_nongaussian_cca

SAMPLERS = [make_discrete_cca, make_nongaussian_cca, make_mixed_cca]


@pytest.mark.parametrize("make", SAMPLERS)
def test_shapes_norms_and_seeds(make):
    sample = make(200, (7, 9), 3, n_private=4)
    assert sample.X.shape == (200, 7)
    assert sample.Y.shape == (200, 9)
    assert sample.sources.shape == (200, 3)
    assert sample.x_noise_loadings.shape == (7, 4)
    for loadings in (sample.x_loadings, sample.y_loadings, sample.y_noise_loadings):
        assert np.allclose(np.abs(loadings).sum(axis=0), 1)
    again, other = make(200, (7, 9), 3, n_private=4), make(200, (7, 9), 3, n_private=4, random_state=1)
    assert (again.Y != sample.Y).sum() == 0
    assert (other.Y != sample.Y).sum() > 0


@pytest.mark.parametrize("make", SAMPLERS)
def test_views_may_have_nothing_private(make):
    sample = make(50, (7, 9), 3, n_private=0)
    assert sample.x_noise_loadings.shape == (7, 0)
    assert sample.X.shape == (50, 7)
    assert np.isfinite(sample.Y.sum())


def test_discrete_counts_have_the_lengths_asked_for():
    sample = make_discrete_cca(20_000, length=100, private_length=50, shape=1.0, private_shape=1.0)
    assert sparse.issparse(sample.X)
    assert sample.X.sum() / 20_000 == pytest.approx(150, rel=0.02)
    assert sample.Y.sum() / 20_000 == pytest.approx(150, rel=0.02)


@pytest.mark.parametrize("make", SAMPLERS)
def test_the_cross_covariance_is_that_of_the_shared_sources(make):
    sample = make(40_000, (4, 5), 2, shape=1.0, private_shape=1.0, length=50, private_length=50)
    X, Y = (view.toarray() if sparse.issparse(view) else view for view in (sample.X, sample.Y))
    expected = sample.x_loadings @ np.cov(sample.sources.T) @ sample.y_loadings.T
    found = (X - X.mean(0)).T @ (Y - Y.mean(0)) / len(X)
    assert np.linalg.norm(found - expected) < 0.05 * np.linalg.norm(expected)


def test_given_loadings_are_used():
    D, F = np.full((2, 1), 0.5), np.array([[0.9, 0.1], [0.1, 0.9]])
    sample = make_discrete_cca(100, (2, 2), 1, loadings=(D, D), private_loadings=(F, F))
    assert sample.loadings.tolist() == [[0.5] * 4]
    assert np.array_equal(make_mixed_cca(10, (2, 2), 1, loadings=(D, D)).x_loadings, D)
    with pytest.raises(ValueError, match="with 2 rows"):
        make_nongaussian_cca(10, (2, 2), 1, loadings=(D.T, D))


@pytest.mark.parametrize(("kind", "skewness", "kurtosis"), [("super", 0, 3), ("sub", 0, -1.2), ("skewed", 2, 6)])
def test_sources_have_their_shape(kind, skewness, kurtosis):
    values = draw_sources(np.random.default_rng(0), kind, 200_000, 1)[:, 0]
    assert values.mean() == pytest.approx(0, abs=0.02)
    assert values.var() == pytest.approx(1, rel=0.03)
    assert stats.skew(values) == pytest.approx(skewness, abs=0.1)
    assert stats.kurtosis(values) == pytest.approx(kurtosis, abs=0.5)
    views = make_nongaussian_cca(100, (3, 3), 2, sources=kind, private_sources="gaussian")
    assert np.isfinite(views.X).all()


def test_noise_has_the_share_asked_for():
    sample = make_ica(50_000, 4, 3, sources=["super", "sub"], noise=0.5)
    clean = sample.sources @ sample.mixing.T
    noise = sample.X - clean
    assert noise.var(axis=0).sum() / clean.var(axis=0).sum() == pytest.approx(0.5, rel=0.05)
    assert np.allclose(np.cov(noise.T), sample.noise_covariance, atol=0.05 * np.trace(sample.noise_covariance))
    white = make_ica(100, 4, noise=0.5, correlated=False).noise_covariance
    assert np.array_equal(white, np.diag(np.diag(white)))
    assert not make_ica(100, 4).noise_covariance.any()


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="sources is 'odd'"):
        make_ica(10, 2, sources="odd")
    with pytest.raises(ValueError, match="noise is -1"):
        make_ica(10, 2, noise=-1.0)
    with pytest.raises(ValueError, match="features x components"):
        make_ica(10, 2, mixing=[1.0, 2.0])
    with pytest.raises(ValueError, match="3 sources in 2 features"):
        make_ica(10, 2, 3)


def test_the_mixing_matrix_has_its_condition_number():
    assert np.linalg.cond(make_ica(10, 6, 4, condition=20.0).mixing) == pytest.approx(20.0)
