"""Samplers of the topic models: sparse throughout, 50,000 documents over 10,000 words in seconds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from polyad.base.arrays import FloatArray


@dataclass(frozen=True)
class TopicSample:
    """Documents drawn from a topic model, and the truth.

    Attributes
    ----------
    counts
        Documents x words, CSR.
    components
        The topics, K x M; rows sum to 1.
    intensities
        N x K: topic proportions (LDA), one-hot topics (single-topic model) or source values (discrete ICA).
    prior
        K: Dirichlet parameters, topic probabilities, or gamma shapes; None for discrete ICA with any sources.
    rate
        Rate of the gamma sources; None for other models.
    """

    counts: sparse.csr_array
    components: FloatArray
    intensities: FloatArray
    prior: FloatArray | None
    rate: float | None = None


def make_lda(
    n_documents: int = 1000,
    n_words: int = 500,
    n_components: int = 10,
    *,
    length: int | tuple[int, int, float] | ArrayLike = 200,
    prior: float | ArrayLike = 0.1,
    topic_prior: float = 0.1,
    components: ArrayLike | None = None,
    random_state: int = 0,
) -> TopicSample:
    """Draw documents from latent Dirichlet allocation.

    Parameters
    ----------
    n_documents, n_words, n_components
        N, M and K.
    length
        Tokens of each document: a number for all ("LDA-fix" of the discrete ICA paper), ``(short, long, share)``
        for two lengths with a share of long documents ("LDA-fix2"), or one for each document.
    prior
        Dirichlet parameter of the topic proportions: one for each topic, or one for all.
    topic_prior
        Dirichlet parameter of the words of a topic; small means few words per topic.
    components
        Topics to use instead of drawing them.
    random_state
        Seed.

    Examples
    --------
    >>> sample = make_lda(100, 50, 3, length=20)
    >>> sample.counts.shape, sample.components.shape, int(sample.counts.sum())
    ((100, 50), (3, 50), 2000)
    """
    rng = np.random.default_rng(random_state)
    topics = _topics(rng, n_components, n_words, topic_prior, components)
    c = _per_topic(prior, topics.shape[0], "prior")
    lengths = _lengths(rng, length, n_documents)
    proportions = _dirichlet(rng, c, n_documents)
    topic_counts = rng.multinomial(lengths, proportions)
    return TopicSample(_words_of_topics(rng, topic_counts, topics), topics, proportions, c)


def make_single_topic(
    n_documents: int = 1000,
    n_words: int = 500,
    n_components: int = 10,
    *,
    length: int | tuple[int, int, float] | ArrayLike = 100,
    weights: ArrayLike | None = None,
    topic_prior: float = 0.1,
    components: ArrayLike | None = None,
    random_state: int = 0,
) -> TopicSample:
    """Draw documents that have one topic each.

    Parameters
    ----------
    n_documents, n_words, n_components, length, topic_prior, components, random_state
        As in :func:`make_lda`.
    weights
        Probability of each topic; uniform by default.

    Examples
    --------
    >>> sample = make_single_topic(100, 50, 3)
    >>> sample.intensities.sum(axis=1).min(), sample.intensities.max()
    (np.float64(1.0), np.float64(1.0))
    """
    rng = np.random.default_rng(random_state)
    topics = _topics(rng, n_components, n_words, topic_prior, components)
    K = topics.shape[0]
    shares = _per_topic(1.0 if weights is None else weights, K, "weights")
    shares = shares / shares.sum()
    lengths = _lengths(rng, length, n_documents)
    one_hot = rng.multinomial(1, shares, size=n_documents)
    counts = _words_of_topics(rng, one_hot * lengths[:, None], topics)
    return TopicSample(counts, topics, one_hot.astype(np.float64), shares)


def make_gamma_poisson(
    n_documents: int = 1000,
    n_words: int = 500,
    n_components: int = 10,
    *,
    mean_length: float = 200.0,
    prior: float | ArrayLike = 0.1,
    topic_prior: float = 0.1,
    components: ArrayLike | None = None,
    random_state: int = 0,
) -> TopicSample:
    """Draw documents from the gamma-Poisson model: LDA whose document lengths are random, too.

    Parameters
    ----------
    n_documents, n_words, n_components, topic_prior, components, random_state
        As in :func:`make_lda`.
    mean_length
        Expected tokens of a document; it sets the rate of the gamma sources.
    prior
        Gamma shapes c_k: one for each topic, or one for all.

    Examples
    --------
    >>> sample = make_gamma_poisson(2000, 50, 3, mean_length=100.0, prior=1.0)
    >>> sample.rate
    0.03
    """
    rng = np.random.default_rng(random_state)
    topics = _topics(rng, n_components, n_words, topic_prior, components)
    shapes = _per_topic(prior, topics.shape[0], "prior")
    rate, sources = _gamma_sources(rng, shapes, n_documents, mean_length)
    counts = _words_of_topics(rng, rng.poisson(sources), topics)
    return TopicSample(counts, topics, sources, shapes, rate)


def make_discrete_ica(
    sources: Callable[[Generator, int, int], NDArray[Any]],
    n_documents: int = 1000,
    n_words: int = 500,
    n_components: int = 10,
    *,
    topic_prior: float = 0.1,
    components: ArrayLike | None = None,
    random_state: int = 0,
) -> TopicSample:
    """Draw documents from discrete ICA with any non-negative independent sources.

    Parameters
    ----------
    sources
        ``sources(rng, n_documents, n_components)`` returns the N x K source values.
    n_documents, n_words, n_components, topic_prior, components, random_state
        As in :func:`make_lda`.

    Examples
    --------
    >>> sample = make_discrete_ica(lambda rng, N, K: rng.exponential(20.0, (N, K)), 100, 50, 3)
    >>> sample.counts.shape
    (100, 50)
    """
    rng = np.random.default_rng(random_state)
    topics = _topics(rng, n_components, n_words, topic_prior, components)
    K = topics.shape[0]
    values = np.asarray(sources(rng, n_documents, K), dtype=np.float64)
    if values.shape != (n_documents, K) or not np.isfinite(values).all() or values.min(initial=0.0) < 0:
        raise ValueError(
            f"sources must return finite non-negative numbers of the shape {(n_documents, K)}; "
            f"it returned the shape {values.shape} with the smallest value {values.min(initial=0.0):g}."
        )
    return TopicSample(_words_of_topics(rng, rng.poisson(values), topics), topics, values, None)


def make_noisy_discrete_ica(
    n_documents: int = 1000,
    n_words: int = 500,
    n_components: int = 10,
    *,
    mean_length: float = 200.0,
    noise_length: float = 100.0,
    prior: float | ArrayLike = 0.3,
    noise_shape: float = 0.2,
    topic_prior: float = 0.3,
    components: ArrayLike | None = None,
    random_state: int = 0,
) -> TopicSample:
    """Draw documents from noisy discrete ICA, x ~ Poisson(D a + e), eq. (12) of "Beyond CCA".

    The intensities a are gamma variables, and so is the noise e of every word, which no other word shares.

    Parameters
    ----------
    n_documents, n_words, n_components, topic_prior, components, random_state
        As in :func:`make_lda`.
    mean_length, noise_length
        Expected tokens of a document from the topics, and from the noise of all words together.
    prior
        Gamma shapes of the intensities: one for each topic, or one for all.
    noise_shape
        Gamma shape of the noise: the smaller, the rarer and the larger it is.

    Examples
    --------
    >>> make_noisy_discrete_ica(200, 50, 3).counts.shape
    (200, 50)
    """
    rng = np.random.default_rng(random_state)
    topics = _topics(rng, n_components, n_words, topic_prior, components)
    shapes = _per_topic(prior, topics.shape[0], "prior")
    rate, sources = _gamma_sources(rng, shapes, n_documents, mean_length)
    M = topics.shape[1]
    noise = rng.gamma(noise_shape, noise_length / (M * noise_shape), size=(n_documents, M))
    counts = sparse.csr_array(rng.poisson(sources @ topics + noise).astype(np.float64))
    return TopicSample(counts, topics, sources, shapes, rate)


def _topics(
    rng: Generator, n_components: int, n_words: int, topic_prior: float, components: ArrayLike | None
) -> FloatArray:
    if components is None:
        return _dirichlet(rng, np.full(n_words, float(topic_prior)), n_components)
    topics = np.asarray(components, dtype=np.float64)
    if topics.ndim != 2 or topics.min() < 0 or not np.allclose(topics.sum(axis=1), 1):
        raise ValueError("components must be topics x words, non-negative, with rows that sum to 1.")
    return topics


def _dirichlet(rng: Generator, parameters: FloatArray, size: int) -> FloatArray:
    """Dirichlet draws that do not turn into NaN where all gamma draws underflow, as tiny parameters make them."""
    draws = rng.standard_gamma(parameters, size=(size, parameters.size))
    empty = np.flatnonzero(draws.sum(axis=1) == 0)
    draws[empty, rng.choice(parameters.size, size=empty.size, p=parameters / parameters.sum())] = 1.0
    return np.asarray(draws / draws.sum(axis=1, keepdims=True))


def _gamma_sources(
    rng: Generator, shapes: FloatArray, n_documents: int, mean_length: float
) -> tuple[float, FloatArray]:
    """Draw gamma variables whose sum is the mean length in expectation; also return their rate."""
    rate = float(shapes.sum() / mean_length)
    return rate, rng.gamma(shapes, 1 / rate, size=(n_documents, shapes.size))


def _per_topic(value: float | ArrayLike, n_components: int, name: str) -> FloatArray:
    values = np.broadcast_to(np.asarray(value, dtype=np.float64), (n_components,)).copy()
    if not (np.isfinite(values).all() and values.min() > 0):
        raise ValueError(f"{name} must be positive and finite; got {values}.")
    return values


def _lengths(rng: Generator, length: int | tuple[int, int, float] | ArrayLike, n_documents: int) -> NDArray[np.int64]:
    if isinstance(length, tuple):
        short, long, share = length
        is_long = rng.random(n_documents) < float(share)
        return np.where(is_long, np.int64(long), np.int64(short))
    lengths = np.broadcast_to(np.asarray(length), (n_documents,))
    if (lengths < 0).any() or not np.array_equal(lengths, lengths.astype(np.int64)):
        raise ValueError("length must be whole numbers from 0 up: one for all documents, or one for each.")
    return lengths.astype(np.int64)


def _words_of_topics(rng: Generator, topic_counts: NDArray[Any], topics: FloatArray) -> sparse.csr_array:
    """Draw the words of a given number of tokens of each topic in each document.

    The word totals of a topic over all documents are drawn at once and dealt out in random order: the same
    distribution as token by token, at the cost of a shuffle.
    """
    documents, words = [], []
    for k, topic in enumerate(topics):
        tokens_of_topic = topic_counts[:, k]
        totals = rng.multinomial(int(tokens_of_topic.sum()), topic / topic.sum())
        tokens = np.repeat(np.arange(topic.size, dtype=np.int32), totals)
        rng.shuffle(tokens)
        words.append(tokens)
        documents.append(np.repeat(np.arange(topic_counts.shape[0], dtype=np.int32), tokens_of_topic))
    rows, columns = np.concatenate(documents), np.concatenate(words)
    counts = sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(topic_counts.shape[0], topics.shape[1]))
    counts.sum_duplicates()
    return counts
