"""A space with a soft edge: where the spectrum has no gap, directions that change places change nothing."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from polyad import LDA, align
from polyad.datasets import make_lda
from polyad.decompose import whiten
from polyad.decompose.certainty import leaving
from polyad.decompose.whitening import symmetric as whitening_module
from polyad.decompose.whitening.edge import NEAR, WIDEST, edge_weights
from polyad.decompose.whitening.lanczos import largest_eigenpairs

FLAT = np.concatenate([np.linspace(3, 1.1, 10), 1 - 0.004 * np.arange(40), np.linspace(0.8, 0, 550)])


def operator_of(values):
    size = values.size
    return LinearOperator(
        (size, size), matvec=lambda x: values * x, matmat=lambda x: values[:, None] * x, dtype=np.float64
    )


def projector(whitening, operator):
    """The weighted projector on the space of a whitener: what a sharp edge has 0 and 1 as eigenvalues of."""
    images = operator @ whitening.whitener.T  # weight times the root of the eigenvalue times the eigenvector
    vectors = images / np.sqrt(whitening.spectrum[: images.shape[1]])
    return vectors @ vectors.T


@pytest.mark.parametrize("K", [1, 5, 10])
def test_a_gap_is_a_sharp_edge(K):
    spectrum = np.concatenate([np.linspace(3, 1, K), [1 - 1.01 * NEAR] * 30, [-0.01]])
    assert np.array_equal(edge_weights(spectrum, K), [1.0] * K + [0.0] * WIDEST)
    whitening = whiten(aslinearoperator(np.diag(spectrum)), K, soft_edge=True)
    assert whitening.whitener.shape[0] == K
    assert np.allclose(whitening.whitener, whiten(aslinearoperator(np.diag(spectrum)), K).whitener)


def test_weights_fall_with_the_eigenvalue_from_1_to_0():
    weights = edge_weights(FLAT, 20)
    assert weights.shape == (20 + WIDEST,)
    assert (weights[:12] == 1).all()
    assert 0.5 < weights[19] < 0.9
    assert (np.diff(weights[14:]) < 0).all()
    assert 0 < weights[-1] < 0.1


def test_noise_is_not_let_in():
    spectrum = np.concatenate([np.linspace(3, 2, 5), np.linspace(0.105, 0.1, 20), [-0.09]])
    assert np.array_equal(edge_weights(spectrum, 8), [1.0] * 8 + [0.0] * WIDEST)


@pytest.mark.parametrize("spectrum", [[2.0, 1.0], [1.0] * 30, [0.0] * 30, [2.0, -1.0, -2.0]])
def test_spectra_without_an_edge(spectrum):
    spectrum = np.array(spectrum)
    weights = edge_weights(spectrum, 2)
    assert weights[:2].tolist() == [1.0, 1.0]
    assert not weights[2:].any()


@pytest.mark.parametrize("dense_size", [0, 1000])
def test_directions_that_change_places_change_nothing(dense_size, monkeypatch):
    monkeypatch.setattr(whitening_module, "DENSE_SIZE", dense_size)
    swapped = FLAT.copy()
    swapped[[19, 20]] = FLAT[[20, 19]]  # the 20th and the 21st direction
    before, after = operator_of(FLAT), operator_of(swapped)
    changes = {
        soft: np.linalg.norm(
            projector(whiten(before, 20, soft_edge=soft), before) - projector(whiten(after, 20, soft_edge=soft), after)
        )
        for soft in (False, True)
    }
    assert changes[False] > 1.4, "one direction for another"
    assert changes[True] < 0.15


def test_the_start_does_not_matter_where_there_is_no_gap():
    operator, ends = operator_of(FLAT), []
    exact = np.append(edge_weights(FLAT, 20), np.zeros(570)) ** 2
    for seed in range(3):
        start = np.random.default_rng(seed).standard_normal((600, 8))
        pairs = largest_eigenpairs(
            operator,
            20 + WIDEST,
            most_columns=600,
            start=start,
            tol=1e-6,
            weigh=lambda values: edge_weights(values, 20),
        )
        assert pairs.converged
        assert pairs.n_columns < 450
        vectors = pairs.vectors * edge_weights(pairs.values, 20)
        ends.append(np.linalg.norm(vectors @ vectors.T - np.diag(exact)))
    assert max(ends) < 5e-6


def test_what_noise_can_turn_out_of_a_soft_space():
    """First-order perturbation of the weighted projector, against noisy copies of a matrix."""
    spectrum = np.concatenate([[4.0, 3.0], 1 - 0.01 * np.arange(30)])
    weights, rng, size = edge_weights(spectrum, 4), np.random.default_rng(0), 1e-4
    estimate = leaving(spectrum, weights, spectrum.size, 2 * size * np.sqrt(spectrum.size)).sum()
    squares = []
    for _ in range(50):
        noise = rng.standard_normal((spectrum.size, spectrum.size))
        noisy = np.diag(spectrum) + size * (noise + noise.T) / np.sqrt(2)
        vectors = np.linalg.eigh(noisy)[1]
        part = vectors[:, ::-1][:, : weights.size] * np.sqrt(weights)
        squares.append(np.linalg.norm(part @ part.T - np.diag(np.append(weights, np.zeros(32 - weights.size)))) ** 2)
    sharp = leaving(spectrum, np.ones(4), spectrum.size, 2 * size * np.sqrt(spectrum.size)).sum()
    assert 0.3 < np.mean(squares) / estimate < 3
    assert sharp > 1.5 * estimate


def test_topics_move_less_where_documents_are_left_out(monkeypatch):
    """More topics than are asked for, as in text: the spectrum has no gap."""
    X = make_lda(1500, 300, 40, length=120, prior=0.05, random_state=1).counts
    parts = [X[np.sort(np.random.default_rng(seed).permutation(1500)[15:])] for seed in range(2)]

    def shared():
        whole, *others = (LDA(16, polish="off").fit(part) for part in (X, *parts))
        assert whole.diagnostics_.gap < 1.01
        return min(float(np.mean(align(whole, other).similarity)) for other in others)

    soft = shared()
    monkeypatch.setattr(whitening_module, "WIDEST", 0)
    assert shared() < 0.95 < 0.965 < soft
