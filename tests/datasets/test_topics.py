import numpy as np
import pytest
from scipy import sparse

from polyad.datasets import make_discrete_ica, make_gamma_poisson, make_lda, make_single_topic

MAKERS = {
    "lda": make_lda,
    "single_topic": make_single_topic,
    "gamma_poisson": make_gamma_poisson,
    "discrete_ica": lambda *args, **kwargs: make_discrete_ica(
        lambda rng, N, K: rng.exponential(10.0, (N, K)), *args, **kwargs
    ),
}


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_samples_are_sparse_whole_and_reproducible(maker):
    first, again, other = maker(50, 30, 4), maker(50, 30, 4), maker(50, 30, 4, random_state=1)
    assert isinstance(first.counts, sparse.csr_array)
    assert first.counts.shape == (50, 30)
    assert first.counts.has_canonical_format
    assert np.array_equal(first.counts.toarray(), again.counts.toarray())
    assert not np.array_equal(first.counts.toarray(), other.counts.toarray())
    assert np.array_equal(first.counts.data, first.counts.data.round())
    assert np.allclose(first.components.sum(axis=1), 1)
    assert first.intensities.shape == (50, 4)


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_word_counts_have_the_expected_mean(maker):
    """Each document's counts are, in expectation, its length times its mixture of topics."""
    sample = maker(3000, 20, 3)
    lengths = np.asarray(sample.counts.sum(axis=1)).ravel()
    shares = sample.intensities / np.maximum(sample.intensities.sum(axis=1, keepdims=True), 1e-300)
    expected = (lengths[:, None] * shares @ sample.components).sum(axis=0)
    found = np.asarray(sample.counts.sum(axis=0)).ravel()
    assert np.abs(found - expected).max() < 6 * np.sqrt(expected.max())


def test_lengths():
    assert np.array_equal(make_lda(5, 9, 2, length=[0, 1, 2, 3, 4]).counts.sum(axis=1), [0, 1, 2, 3, 4])
    two = make_lda(2000, 9, 2, length=(20, 200, 0.25)).counts.sum(axis=1)
    assert set(two) == {20, 200}
    assert 0.2 < (two == 200).mean() < 0.3


def test_gamma_poisson_lengths_are_negative_binomial():
    sample = make_gamma_poisson(20_000, 30, 4, mean_length=100.0, prior=0.5)
    lengths = sample.counts.sum(axis=1)
    c0 = 2.0
    assert np.isclose(lengths.mean(), 100, rtol=0.03)
    assert np.isclose(lengths.var() / lengths.mean() ** 2, 1 / 100 + 1 / c0, rtol=0.1)  # eq. (23)


def test_single_topic_documents_have_one_topic():
    topics = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    sample = make_single_topic(200, components=topics, weights=[3.0, 1.0])
    left = np.asarray(sample.counts[:, :2].sum(axis=1)).ravel() > 0
    right = np.asarray(sample.counts[:, 2:].sum(axis=1)).ravel() > 0
    assert not (left & right).any()
    assert np.array_equal(left, sample.intensities[:, 0] == 1)
    assert np.allclose(sample.prior, [0.75, 0.25])
    assert 0.65 < left.mean() < 0.85


def test_tiny_priors_give_no_nan():
    sample = make_lda(500, 20, 5, prior=1e-4, topic_prior=1e-4)
    assert np.isfinite(sample.intensities).all()
    assert np.allclose(sample.intensities.sum(axis=1), 1)
    assert np.isfinite(sample.components).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_lda(3, 4, 2, prior=-1.0), "prior must be positive"),
        (lambda: make_lda(3, 4, 2, length=-1), "length must be"),
        (lambda: make_lda(3, 4, 2, length=[1, 2, 2.5]), "length must be"),
        (lambda: make_lda(3, components=[[0.5, 0.6]]), "components must be"),
        (lambda: make_discrete_ica(lambda rng, N, K: -np.ones((N, K)), 3, 4, 2), "non-negative"),
        (lambda: make_discrete_ica(lambda rng, N, K: np.ones(N), 3, 4, 2), "shape"),
    ],
)
def test_bad_parameters(call, message):
    with pytest.raises(ValueError, match=message):
        call()
