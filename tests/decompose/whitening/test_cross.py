"""Cross whitening, and exact recovery of loadings from population moments through it."""

import numpy as np
import pytest
from scipy import linalg
from scipy.sparse.linalg import aslinearoperator

from polyad.decompose.similarity.registry import SIMILARITY_DIAGONALISERS, similarity_diagonaliser
from polyad.decompose.whitening.cross import cca_metric, cross_loadings, cross_whiten
from polyad.decompose.whitening.symmetric import RankError
from polyad.metrics import l1_error
from polyad.moments.views.cross import cross_population


def population(M1, M2, K, seed=0):
    rng = np.random.default_rng(seed)
    D1, D2 = rng.uniform(-1, 1, (M1, K)), rng.uniform(-1, 1, (M2, K))
    return D1, D2, cross_population(D1, D2, rng.uniform(0.5, 2.0, K), rng.standard_normal((2 * K, K)))


@pytest.mark.parametrize("method", SIMILARITY_DIAGONALISERS)
@pytest.mark.parametrize("sizes", [(7, 9, 4), (400, 300, 5)])
def test_loadings_come_back_from_population_moments(method, sizes):
    D1, D2, moments = population(*sizes)
    whitening = cross_whiten(moments.second, sizes[2])
    found = similarity_diagonaliser(method)(moments.targets(whitening.x_whitener, whitening.y_whitener))
    x_loadings, y_loadings = cross_loadings(moments.second, whitening, found)
    stacked = np.vstack([x_loadings / x_loadings[0], y_loadings / y_loadings[0]])
    assert l1_error(stacked.T, np.vstack([D1 / D1[0], D2 / D2[0]]).T) < 1e-8
    assert np.allclose(x_loadings @ y_loadings.T, moments.second @ np.eye(sizes[1]), atol=1e-8)


def test_random_loadings_do_not_pass():
    D1, D2, _ = population(7, 9, 4)
    R1, R2, _ = population(7, 9, 4, seed=1)
    assert l1_error(np.vstack([R1 / R1[0], R2 / R2[0]]).T, np.vstack([D1 / D1[0], D2 / D2[0]]).T) > 0.1


@pytest.mark.parametrize("sizes", [(6, 5), (320, 290), (290, 320)])
@pytest.mark.parametrize("kind", ["none", "scales", "matrix"])
def test_whitened_cross_moment_is_the_identity(sizes, kind):
    rng = np.random.default_rng(0)
    S12 = rng.standard_normal(sizes) * 0.003
    S12[:4, :4] += np.diag([4.0, 3.0, 2.0, 1.0])
    metrics = {
        "none": (None, None),
        "scales": tuple(rng.uniform(0.5, 2.0, size) for size in sizes),
        "matrix": tuple(cca_metric(np.cov(rng.standard_normal((size, 3 * size)))) for size in sizes),
    }[kind]
    whitening = cross_whiten(aslinearoperator(S12), 3, x_metric=metrics[0], y_metric=metrics[1])
    assert np.allclose(whitening.x_whitener @ S12 @ whitening.y_whitener.T, np.eye(3), atol=1e-9)
    C1, C2 = (np.eye(size) if C is None else np.diag(C) if C.ndim == 1 else C for C, size in zip(metrics, sizes))
    exact = linalg.svdvals(C1 @ S12 @ C2)
    assert np.allclose(whitening.spectrum[:3], exact[:3], rtol=1e-6)
    assert whitening.gap == pytest.approx(exact[2] / exact[3], rel=0.05)
    assert whitening.residual < 1e-3


def test_columns_with_scale_zero_are_left_out():
    S12 = np.diag([3.0, 2.0, 1.0])
    scales = np.array([0.0, 1.0, 1.0])
    whitening = cross_whiten(aslinearoperator(S12), 2, x_metric=scales)
    assert np.allclose(whitening.x_whitener[:, 0], 0)
    assert np.allclose(whitening.spectrum[:2], [2.0, 1.0])


def test_the_cca_metric_whitens_a_covariance():
    covariance = np.cov(np.random.default_rng(0).standard_normal((4, 50)))
    C = cca_metric(covariance, ridge=0.0)
    assert np.allclose(C @ covariance @ C, np.eye(4))
    singular = cca_metric(np.diag([1.0, 0.0]))
    assert np.isfinite(singular).all()
    with pytest.raises(RankError, match="constant"):
        cca_metric(np.zeros((2, 2)))


def test_rank_below_the_components_is_refused():
    S12 = np.outer(np.arange(1.0, 4.0), np.ones(3))
    with pytest.raises(RankError, match="only 1 direction, and 2 components") as raised:
        cross_whiten(aslinearoperator(S12), 2)
    assert raised.value.supported == 1
    with pytest.raises(ValueError, match="X has 3 columns and Y has 3"):
        cross_whiten(aslinearoperator(S12), 4)
    with pytest.raises(ValueError, match="whole number"):
        cross_whiten(aslinearoperator(S12), 0)
    with pytest.raises(RankError, match="views do not vary together, and 2 components were asked for: give more"):
        cross_whiten(aslinearoperator(np.zeros((3, 3))), 2)


def test_a_full_rank_moment_has_no_gap():
    assert cross_whiten(aslinearoperator(np.eye(2)), 2).gap == float("inf")
