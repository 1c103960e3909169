import pickle

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from polyad.datasets import make_lda
from polyad.decompose import RankError, whiten
from polyad.decompose.whitening import symmetric as whitening_module
from polyad.decompose.whitening.lanczos import _orthonormal_part, largest_eigenpairs
from polyad.engine import count_blocks
from polyad.moments import raw_moments


def slowly_decaying(M=600, seed=0):
    """A symmetric matrix with a text-like spectrum and negative eigenvalues from sampling."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((M, M)))
    values = np.concatenate([1 / np.arange(1, M // 2 + 1) ** 0.7, -0.02 * rng.random(M - M // 2)])
    return (Q * values) @ Q.T, np.sort(values)[::-1]


def test_lanczos_finds_the_eigenpairs():
    S, values = slowly_decaying()
    pairs = largest_eigenpairs(aslinearoperator(S), 30, most_columns=250)
    assert np.allclose(pairs.values[:30], values[:30], rtol=1e-6)
    assert np.allclose(S @ pairs.vectors, pairs.vectors * pairs.values[:30], atol=1e-5)
    assert np.allclose(pairs.vectors.T @ pairs.vectors, np.eye(30), atol=1e-10)


def test_lanczos_tells_its_residuals():
    S, _ = slowly_decaying()
    pairs = largest_eigenpairs(aslinearoperator(S), 30, most_columns=60)
    actual = np.linalg.norm(S @ pairs.vectors - pairs.vectors * pairs.values[:30], axis=0)
    assert np.allclose(pairs.residuals, actual, atol=1e-10)
    assert actual.max() > 1e-4, "a short basis is not exact, and must say so"


@pytest.mark.parametrize("block_columns", [1, 4, 8, 24])
def test_where_lanczos_starts_does_not_matter(block_columns):
    S, _ = slowly_decaying()
    operator, ends = aslinearoperator(S), []
    for seed in range(3):
        start = np.random.default_rng(seed).standard_normal((600, block_columns))
        pairs = largest_eigenpairs(operator, 12, most_columns=400, block_columns=block_columns, start=start)
        assert pairs.converged
        assert pairs.subspace_error < 1e-6
        assert pairs.n_columns < 400
        ends.append(pairs.vectors @ pairs.vectors.T)
    fixed = largest_eigenpairs(operator, 12, most_columns=400, block_columns=block_columns)
    ends.append(fixed.vectors @ fixed.vectors.T)
    true = np.linalg.eigh(S)[1][:, -12:]
    assert max(np.linalg.norm(end - true @ true.T) for end in ends) < 3e-6


def test_a_space_without_a_gap_is_not_called_converged():
    values = np.concatenate([np.arange(20, 11, -1.0), np.full(50, 11.0), np.linspace(10, 0, 541)])
    pairs = largest_eigenpairs(aslinearoperator(np.diag(values)), 12, most_columns=200)
    assert not pairs.converged
    assert pairs.subspace_error > 1


def test_vectors_beyond_those_that_must_converge():
    S, values = slowly_decaying()
    pairs = largest_eigenpairs(aslinearoperator(S), 5, n_beyond=4, most_columns=300)
    assert pairs.vectors.shape == (600, 9)
    assert pairs.residuals.size == 5
    assert np.allclose(np.einsum("ik,ij,jk->k", pairs.vectors, S, pairs.vectors), values[:9], rtol=1e-3)


def test_lanczos_stops_on_an_exhausted_space():
    D = np.random.default_rng(0).standard_normal((500, 5))
    pairs = largest_eigenpairs(aslinearoperator(D @ D.T), 5, most_columns=200)
    assert pairs.values.size <= 16
    assert np.allclose(pairs.values[:5], np.linalg.svd(D)[1] ** 2, rtol=1e-10)


@pytest.mark.parametrize("fall", [0.999, 0.9, 0.5])
def test_lanczos_keeps_its_basis_orthogonal(fall):
    """Also where eigenvalues fall by so much that a single product takes what rounding has left of it."""
    values = fall ** np.arange(600.0)
    directions = np.linalg.qr(np.random.default_rng(0).standard_normal((600, 600)))[0]
    pairs = largest_eigenpairs(aslinearoperator((directions * values) @ directions.T), 8, most_columns=320)
    assert np.allclose(pairs.vectors.T @ pairs.vectors, np.eye(8), atol=1e-8)
    assert np.allclose(pairs.values[:8], values[:8], rtol=1e-9)
    assert (pairs.values[1:9] < 0.9999999 * pairs.values[:8]).all(), "none is found twice"


@pytest.mark.parametrize("M", [40, 600])
@pytest.mark.parametrize("with_metric", [False, True])
def test_whitener_whitens(M, with_metric):
    S, _ = slowly_decaying(M)
    metric = None
    if with_metric:
        metric = np.random.default_rng(1).random(M) + 0.5
        metric[::7] = 0
    W = whiten(aslinearoperator(S), 12, metric=metric).whitener
    assert np.allclose(W @ S @ W.T, np.eye(12), atol=1e-9)
    if with_metric:
        assert not W[:, ::7].any()


def test_dense_and_lanczos_agree(monkeypatch):
    """Up to rotations inside an eigenspace: compare the projector on the space found."""
    D = np.random.default_rng(0).standard_normal((200, 6)) * np.arange(1, 7)
    operator = aslinearoperator(D @ D.T)
    dense = whiten(operator, 6).whitener
    monkeypatch.setattr(whitening_module, "DENSE_SIZE", 0)
    lanczos = whiten(operator, 6).whitener
    assert np.allclose(dense.T @ dense, lanczos.T @ lanczos, atol=1e-10)


def test_the_sign_is_canonical():
    W = whiten(aslinearoperator(slowly_decaying(60)[0]), 5).whitener
    assert (W[np.arange(5), np.abs(W).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("bad", [0, -1, 2.5, True, None])
def test_bad_number_of_components(bad):
    with pytest.raises(ValueError, match="n_components is"):
        whiten(aslinearoperator(np.eye(5)), bad)


def test_more_components_than_columns():
    with pytest.raises(ValueError, match="only 5 columns"):
        whiten(aslinearoperator(np.eye(5)), 6)


def test_more_components_than_words_with_information():
    with pytest.raises(RankError, match="only 2 of the 5 columns"):
        whiten(aslinearoperator(np.eye(5)), 3, metric=np.array([1.0, 0, 0, 1, 0]))


@pytest.mark.parametrize("M", [50, 400])
def test_rank_below_k_tells_the_rank(M):
    D = np.random.default_rng(0).standard_normal((M, 4))
    with pytest.raises(RankError, match=r"only 4 directions .* support at most 4") as caught:
        whiten(aslinearoperator(D @ D.T), 6)
    assert caught.value.supported == 4


def test_the_error_travels_between_processes():
    error = pickle.loads(pickle.dumps(RankError("sentence", 3, np.ones(2))))
    assert (str(error), error.supported, error.spectrum.tolist()) == ("sentence", 3, [1.0, 1.0])


def test_components_in_the_noise_are_refused():
    sample = make_lda(3000, 60, 4, length=100, prior=0.3)
    second = raw_moments(count_blocks(sample.counts), "length").at(1.2).second
    assert whiten(second, 4).whitener.shape == (4, 60)
    with pytest.raises(RankError, match="above the noise") as caught:
        whiten(second, 12)
    assert 4 <= caught.value.supported <= 6
    assert whiten(second, 12, strict=False).whitener.shape == (12, 60)


def test_gap_and_noise():
    whitening = whiten(aslinearoperator(np.diag([4.0, 2.0, 1.0, -0.5])), 2)
    assert np.isclose(whitening.gap, 2.0)
    assert np.isclose(whitening.noise, 0.5)
    assert whiten(aslinearoperator(np.diag([4.0, 2.0])), 2).gap == np.inf


def test_new_directions_are_orthonormal_and_make_the_image():
    """However uneven the sizes of the columns are, and however nearly some of them depend on the others."""
    rng = np.random.default_rng(0)
    even = rng.standard_normal((300, 8))
    uneven = even * 10.0 ** np.arange(0, -8, -1)
    dependent = even.copy()
    dependent[:, 5] = dependent[:, 2] + 1e-9 * rng.standard_normal(300)
    for image in (even, 1e-9 * even, uneven, dependent):
        scale = np.abs(image).max()
        block, coupling = _orthonormal_part(image, scale)
        assert block.shape[1] == 8
        assert np.allclose(block.T @ block, np.eye(8), atol=1e-14)
        assert np.allclose(block @ coupling, image, atol=1e-14 * scale)
    dependent[:, 5] = dependent[:, 2]
    block, coupling = _orthonormal_part(dependent, 1.0)
    assert block.shape[1] == 7
    assert np.allclose(block @ coupling, dependent, atol=1e-10)
