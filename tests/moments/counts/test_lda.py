import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import lda_tensors, row_contractions, whitened
from polyad.datasets import make_lda
from polyad.engine import blocks as blocks_module
from polyad.engine import count_blocks, use
from polyad.moments import document_weights, raw_moments, three_tokens
from strategies import corpora

WEIGHTS = ["uniform", "length", 0.5, 1.25, 2.0]


def moments_of(X, weights):
    return raw_moments(count_blocks(X), weights)


def small_corpus(seed=0, documents=9, words=7):
    return np.random.default_rng(seed).poisson(0.7, (documents, words)).astype(float)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("c0", [0.0, 0.3, 2.0, 40.0])
def test_moments_equal_brute_force(weights, c0):
    X = small_corpus()
    rng = np.random.default_rng(1)
    W, V = rng.standard_normal((2, 3, X.shape[1]))
    M1, S, T = lda_tensors(X, weights, c0)
    moments = moments_of(X, weights).at(c0)
    assert np.allclose(moments.mean, M1, atol=1e-12)
    assert np.allclose(moments.second @ np.eye(X.shape[1]), S, atol=1e-12)
    assert np.allclose(moments.second @ V[0], S @ V[0], atol=1e-12)
    assert np.allclose(moments.third(W), whitened(T, W), atol=1e-10)
    assert np.allclose(moments.third_rows(V), row_contractions(T, V), atol=1e-10)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_energies_of_pairs_equal_brute_force(weights):
    X = small_corpus()
    V = np.random.default_rng(1).standard_normal((4, X.shape[1]))
    M2 = lda_tensors(X, weights, 0.0)[1]
    assert np.allclose(moments_of(X, weights).pair_energies(V), np.diag(V @ M2 @ V.T), atol=1e-12)


@settings(max_examples=60)
@given(corpora(), st.sampled_from(WEIGHTS), st.sampled_from([0.0, 1.0, 7.0]))
def test_moments_equal_brute_force_on_hostile_corpora(X, weights, c0):
    assume((X.sum(axis=1) >= 3).any())
    M1, S, T = lda_tensors(X, weights, c0)
    moments = moments_of(X, weights).at(c0)
    W = np.random.default_rng(0).standard_normal((2, X.shape[1]))
    assert np.allclose(moments.mean, M1, atol=1e-10)
    assert np.allclose(moments.second @ np.eye(X.shape[1]), S, atol=1e-10)
    assert np.allclose(moments.third(W), whitened(T, W), atol=1e-10)
    assert np.allclose(moments.third_rows(W), row_contractions(T, W), atol=1e-10)


def test_words_outside_the_whitener_do_not_matter():
    X = small_corpus()
    W = np.random.default_rng(1).standard_normal((2, X.shape[1]))
    W[:, [1, 4]] = 0
    assert np.allclose(moments_of(X, 1.0).moments.third(W), whitened(lda_tensors(X, 1.0, 0.0)[2], W), atol=1e-12)


def test_changing_the_concentration_needs_no_pass():
    X = small_corpus()
    raw = moments_of(X, 1.5)
    S2 = lda_tensors(X, 1.5, 2.0)[1]
    values, vectors = np.linalg.eigh(S2)
    start = (vectors[:, -2:] / np.sqrt(values[-2:])).T
    projected = raw.project(start)
    for c0 in (0.1, 2.0, 9.0):
        whitener, tensor = projected.at(c0)
        _, S, T = lda_tensors(X, 1.5, c0)
        assert np.allclose(whitener @ S @ whitener.T, np.eye(2), atol=1e-10)
        assert np.allclose(tensor, whitened(T, whitener), atol=1e-9)
    same, _ = projected.at(2.0)
    assert np.allclose(same, start, atol=1e-9), "at its own concentration a whitener stays as it is"


def test_a_concentration_that_leaves_no_variance_is_refused():
    X = np.array([[5, 5], [5, 5], [4, 4]], dtype=float)
    raw = moments_of(X, "uniform")
    with pytest.raises(ValueError, match="1 of 2 directions"):
        raw.project(np.eye(2)).at(5.0)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_concentration(bad):
    with pytest.raises(ValueError, match="concentration is"):
        moments_of(small_corpus(), 1.0).at(bad)


def test_bad_weights():
    with pytest.raises(ValueError, match="weights is 'lenght'"):
        document_weights(count_blocks([[3]]), "lenght")


def test_weights_of_short_documents_are_zero():
    for weights in WEIGHTS:
        lengths = np.array([0.0, 1.0, 2.0, 5.0])
        found = document_weights(count_blocks(lengths[:, None]), weights)
        w1, w2, w3 = found.words(lengths), found.pairs(lengths), found.triples(lengths)
        assert w1[0] == 0
        assert not w2[:2].any()
        assert not w3[:3].any()
        assert np.isclose((w3 * np.array([0, 0, 0, 60])).sum(), 1)


def test_no_document_with_three_words():
    with pytest.raises(ValueError, match="None of the 2 documents has three words"):
        moments_of(np.array([[1, 1], [0, 2]]), "length")


def test_short_documents_are_counted():
    assert moments_of(np.array([[1, 1], [0, 2], [3, 3]]), "length").n_too_short == 2


def test_blocking_and_threads(monkeypatch):
    X = make_lda(200, 40, 3, length=30).counts
    W = np.random.default_rng(0).standard_normal((3, 40))
    whole = moments_of(X, 1.25)
    monkeypatch.setattr(blocks_module, "BLOCK_CELLS", 100)
    assert len(list(count_blocks(X))) >= 20
    found = []
    for n_threads in (1, 4):
        with use(n_threads):
            cut = moments_of(X, 1.25).moments
            found.append([cut.third(W), cut.third_rows(W), cut.second @ W.T])
    for serial, threads in zip(*found):
        assert serial.tobytes() == threads.tobytes()
    assert np.allclose(found[0][0], whole.moments.third(W), rtol=1e-10, atol=1e-12)
    assert np.allclose(found[0][1], whole.moments.third_rows(W), rtol=1e-10, atol=1e-12)


def test_document_order_and_word_permutation():
    X = small_corpus()
    W = np.random.default_rng(1).standard_normal((3, X.shape[1]))
    order = np.random.default_rng(2).permutation(X.shape[1])
    expected = moments_of(X, "length").moments.third(W)
    assert np.allclose(moments_of(X[::-1], "length").moments.third(W), expected, atol=1e-12)
    assert np.allclose(moments_of(X[:, order], "length").moments.third(W[:, order]), expected, atol=1e-12)


def test_three_tokens_are_a_fair_draw():
    X = np.tile([[6.0, 3.0, 0.0, 1.0]], (4000, 1))
    drawn = three_tokens(X, random_state=3)
    assert (drawn.toarray() <= X).all()
    assert np.array_equal(np.unique(drawn.sum(axis=1)), [3])
    share = drawn.sum(axis=0) / drawn.sum()
    assert np.allclose(share, [0.6, 0.3, 0, 0.1], atol=0.02)
    assert np.array_equal(three_tokens(X, 3).toarray(), drawn.toarray())
