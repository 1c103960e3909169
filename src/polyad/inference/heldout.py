"""Held-out likelihood: how well known topics predict documents that they were not learned from.

Three answers to one question. *Document completion* learns the topic shares from one half of a document and scores
the other half: fast, and what topics are compared by. *Left-to-right* and the *Chib-style* estimator give the
probability of whole documents with the shares integrated out (Wallach, Murray, Salakhutdinov and Mimno, "Evaluation
methods for topic models", 2009): slow, and right.
"""

import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Stacked, count_blocks, for_each, step, total, use
from polyad.engine.blocks import count_block
from polyad.engine.checks import checked_counts
from polyad.inference.cells import Range, cells_of, read_only, topic_table
from polyad.inference.expectation import Table
from polyad.inference.kernels.evaluation import (
    chib_documents,
    document_groups,
    left_to_right_documents,
    refuse_fractions,
    sampling_table,
    score_documents,
    seed_of,
    split_documents,
)
from polyad.inference.posterior import checked_topics, infer_block

SUM_TOLERANCE = 1e-6
# A pass is given the name: a compiled loop that is sent to another process is compiled anew there, past the cache.
ESTIMATORS: dict[str, Callable[..., None]] = {"left-to-right": left_to_right_documents, "chib": chib_documents}

RandomState = int | np.random.RandomState | np.random.Generator | None


def completion_bits(
    components: ArrayLike,
    prior: ArrayLike,
    X: Any,
    random_state: RandomState = 0,
    *,
    n_jobs: int | None = None,
    max_iter: int = 20,
) -> float:
    """Return the held-out bits per token by document completion; lower is better.

    The tokens of each document are split at random in two halves. The topic shares come from the first half, and a
    token w of the second half has the probability sum_k share_k components[k, w].

    Parameters
    ----------
    components
        Topics, K x M, rows sum to 1.
    prior
        Dirichlet parameters of the shares: one for all topics, or one for each.
    X
        Documents x words, anything that :func:`polyad.engine.count_blocks` takes.
    random_state
        Seed or generator of the split. How documents are cut into blocks does not matter.
    n_jobs
        Threads; the answer does not depend on it.
    max_iter
        Iterations of the shares of each document ("map" of :func:`~polyad.inference.posterior.topic_shares`).

    Notes
    -----
    Probabilities below 1e-12 count as 1e-12, so that a word that no topic has costs 40 bits and not infinitely many.
    Documents of fewer than two tokens have nothing to learn from and are left out. Of a fractional count the fraction
    is split in equal halves, and a document that has one is never left out.

    Examples
    --------
    >>> completion_bits([[0.25, 0.25, 0.25, 0.25]], 1.0, [[2, 4, 0, 1], [0, 1, 1, 0]])
    2.0
    """
    log_likelihood, n_tokens = completion_log_likelihood(
        components, prior, X, random_state, n_jobs=n_jobs, max_iter=max_iter
    )
    return -log_likelihood / (n_tokens * math.log(2))


def completion_log_likelihood(
    components: ArrayLike,
    prior: ArrayLike,
    X: Any,
    random_state: RandomState = 0,
    *,
    n_jobs: int | None = None,
    max_iter: int = 20,
    weights: FloatArray | None = None,
) -> tuple[float, float]:
    """Return the log-likelihood (natural log) of the second halves of documents, and the number of their tokens.

    Parameters are those of :func:`completion_bits`. ``weights`` are, for gamma intensities with rates of their own,
    what a token of each topic adds to the topic's expected intensity.

    Examples
    --------
    >>> completion_log_likelihood([[0.5, 0.5]], 1.0, [[2, 1]])
    (-1.386..., 2)
    """
    source, seed = count_blocks(X), seed_of(random_state)
    topics, alpha = _checked_model(components, prior, source.n_columns)
    scales = None if weights is None else weights / weights.max()
    seen = topic_table(topics if scales is None else topics * scales[:, None])
    with use(n_jobs):
        log_likelihood, hidden_tokens = total(
            _completed, source, np.ascontiguousarray(topics.T), seen, alpha, scales, seed, max_iter
        )
    if hidden_tokens == 0:
        refuse_nothing_to_predict(source.n_rows)
    return log_likelihood, int(hidden_tokens) if hidden_tokens == int(hidden_tokens) else hidden_tokens


def refuse_nothing_to_predict(n_documents: int) -> NoReturn:
    """Say that there is no document of which one half could predict the other."""
    raise ValueError(
        f"Not one of the {n_documents} documents has two tokens or more: there is nothing to predict. "
        "Give longer documents."
    )


def _completed(
    block: Block,
    table: FloatArray,
    padded_table: Table,
    prior: FloatArray,
    scales: FloatArray | None,
    seed: np.uint64,
    max_iter: int,
) -> tuple[float, float]:
    """Return the log-likelihood of the hidden halves of the documents of a block, and their tokens."""
    observed, hidden = split_block(block, seed)
    shares = infer_block(count_block(observed), padded_table, prior, "map", max_iter)
    if scales is not None:
        shares = shares * scales / (shares @ scales)[:, None]
    cells, found = cells_of(hidden), np.empty(block.n_rows)
    score_documents(
        0, block.n_rows, cells.indptr, cells.words, read_only(hidden.data), read_only(table), read_only(shares), found
    )
    return float(found.sum()), float(hidden.data.sum())


def split_tokens(counts: Any, random_state: RandomState = 0) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return two matrices of counts that add up to the given one: a random half of each document's tokens, the rest.

    Of L tokens the first matrix has L // 2, drawn without replacement. Every document has its own stream, given by
    the seed and its row number.

    Parameters
    ----------
    counts
        Documents x words in one sparse or dense matrix.
    random_state
        Seed or generator.

    Examples
    --------
    >>> observed, hidden = split_tokens([[3, 0, 2], [0, 1, 0]])
    >>> observed.sum(axis=1), hidden.sum(axis=1)
    (array([2., 0.]), array([3., 1.]))
    >>> (observed + hidden).toarray()
    array([[3., 0., 2.],
           [0., 1., 0.]])
    """
    return _split(checked_counts(counts), seed_of(random_state), 0)


def left_to_right(
    components: ArrayLike,
    prior: ArrayLike,
    X: Any,
    *,
    n_particles: int = 20,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return estimates of log p(tokens) of every document by the left-to-right algorithm, N.

    It is the (natural) log-probability of the *sequence* of tokens with the topic shares integrated out: the
    multinomial coefficient, the number of orders in which a document's tokens could come, is not in it. A document
    without tokens has 0.

    Parameters
    ----------
    components, prior, X, n_jobs
        As for :func:`completion_bits`.
    n_particles
        Samples of the topics of a document; more of them, less variance.
    random_state
        Seed or generator. Every document has its own stream, given by the seed and its row number.

    Notes
    -----
    The tokens come in a random order. Before each of them the topics of all earlier tokens are drawn again in every
    particle, so that the time grows with the square of a document's length; then the mean over the particles of
    p(token | topics of the earlier tokens) is a factor of the answer. Wallach et al. (2009) keep all particles to the
    end. Here they are drawn anew after each token in proportion to that probability (a particle filter with Gibbs
    moves), which takes next to no time and makes the mean of exp(estimate) exactly p(tokens). Without it that is so
    for a single particle only: the factors are means under a distribution that is not the posterior, and with a
    small prior the answer for a short document can be wrong by half, however many particles there are.

    Words that every topic gives less than 1e-12 get that probability in all topics.

    Examples
    --------
    >>> bool(left_to_right([[0.9, 0.1], [0.1, 0.9]], 0.5, [[1, 0], [0, 0]])[0] == np.log(0.5))
    True
    """
    _check_at_least("n_particles", n_particles, 1)
    return _each_document("left-to-right", components, prior, X, random_state, n_jobs, n_particles)


def chib(
    components: ArrayLike,
    prior: ArrayLike,
    X: Any,
    *,
    n_iter: int = 1000,
    burn_in: int = 50,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return Chib-style estimates of log p(tokens) of every document, N.

    As for :func:`left_to_right` it is the log-probability of the sequence of tokens, without the multinomial
    coefficient, and 0 for a document without tokens.

    Parameters
    ----------
    components, prior, X, n_jobs
        As for :func:`completion_bits`.
    n_iter
        Length of the Markov chain whose states are averaged over.
    burn_in
        Gibbs sweeps before the climb to the special assignment.
    random_state
        Seed or generator. Every document has its own stream, given by the seed and its row number.

    Notes
    -----
    p(tokens) = p(tokens, z*) / p(z* | tokens) for any assignment z* of topics to tokens; z* is a local maximum of the
    posterior. The denominator is the mean, over the states z of a Gibbs chain, of the probability that the next sweep
    leads to z*. The chain is placed around z* at random and grows from there forwards and backwards, which makes the
    mean of exp(estimate) exactly p(tokens) (Murray and Salakhutdinov, 2009). The discrete ICA paper evaluates with
    this estimator (its appendix G.6).

    Words that every topic gives less than 1e-12 get that probability in all topics.

    Examples
    --------
    >>> chib([[0.9, 0.1], [0.1, 0.9]], 0.5, [[1, 0], [0, 0]]).round(6) + 0.0
    array([-0.693147,  0.      ])
    """
    _check_at_least("n_iter", n_iter, 1)
    _check_at_least("burn_in", burn_in, 0)
    return _each_document("chib", components, prior, X, random_state, n_jobs, n_iter, burn_in)


def _each_document(
    estimator: str,
    components: ArrayLike,
    prior: ArrayLike,
    X: Any,
    random_state: RandomState,
    n_jobs: int | None,
    *settings: int,
) -> FloatArray:
    """Return what a compiled estimator finds for every document, a few documents at a time in each thread."""
    source, seed = count_blocks(X), seed_of(random_state)
    topics, alpha = _checked_model(components, prior, source.n_columns)
    with use(n_jobs):
        found, _ = step(
            _estimates, source, [None] * source.n_shards, estimator, sampling_table(topics), alpha, settings, seed
        )
    return np.asarray(found.rows(), dtype=np.float64)


def _estimates(
    shard: Block,
    _: None,
    estimator: str,
    table: FloatArray,
    prior: FloatArray,
    settings: tuple[int, ...],
    seed: np.uint64,
) -> tuple[Stacked, None]:
    refuse_fractions(shard)
    cells, counts, found = cells_of(shard.rows), read_only(shard.rows.data), np.empty(shard.n_rows)
    table, prior = read_only(table), read_only(prior)
    estimate = ESTIMATORS[estimator]

    def estimate_group(group: Range) -> None:
        estimate(*group, shard.start, cells.indptr, cells.words, counts, table, prior, *settings, seed, found)

    for_each(estimate_group, document_groups(shard.n_rows))
    return Stacked((found,)), None


def _without_single_tokens(block: Block) -> sparse.csr_array:
    """Return the counts of a block with documents of one token made empty."""
    counts, long_enough = block.rows, (block.tokens >= 2) | _has_fractions(block.rows)
    if long_enough.all():
        return counts
    kept = counts.data * np.repeat(long_enough, np.diff(counts.indptr))
    return sparse.csr_array((kept, counts.indices, counts.indptr), shape=counts.shape)


def split_block(block: Block, seed: np.uint64) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the two halves of the tokens of a block's documents; those of a single token are empty in both."""
    return _split(_without_single_tokens(block), seed, block.start)


def _has_fractions(counts: sparse.csr_array) -> NDArray[np.bool_]:
    """Tell the documents with a count that is no whole number."""
    fractional = np.concatenate([[0], np.cumsum(counts.data % 1 != 0)])
    return fractional[counts.indptr[1:]] > fractional[counts.indptr[:-1]]


def _split(counts: sparse.csr_array, seed: np.uint64, start: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Split the tokens of documents whose row numbers begin at ``start``."""
    values, taken = read_only(counts.data), np.empty(counts.nnz)
    indptr = read_only(counts.indptr.astype(np.int64))
    split_documents(0, counts.shape[0], start, indptr, values, seed, taken)
    fractions = values % 1
    taken = taken + fractions / 2 if fractions.any() else taken
    return _with_values(counts, taken), _with_values(counts, values - taken)


def _with_values(counts: sparse.csr_array, values: FloatArray) -> sparse.csr_array:
    """Return a matrix with other values in the same cells, those of value 0 taken out."""
    result = sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape, copy=True)
    result.eliminate_zeros()
    return result


def _checked_model(components: ArrayLike, prior: ArrayLike, n_words: int) -> tuple[FloatArray, FloatArray]:
    """Return topics and prior, or say why they cannot be scored on documents of so many words."""
    topics, alpha = checked_topics(components, prior)
    if topics.shape[1] != n_words:
        raise ValueError(
            f"The topics have {topics.shape[1]} words and the documents {n_words}. "
            "Count the documents over the vocabulary of the topics."
        )
    sums = topics.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if wrong.size:
        raise ValueError(
            f"Each topic must sum to 1 over the words; topic {wrong[0]} sums to {sums[wrong[0]]:g}. "
            "Divide the rows of components by their sums."
        )
    return topics, alpha


def _check_at_least(name: str, value: int, smallest: int) -> None:
    if value != int(value) or value < smallest:
        raise ValueError(f"{name} is {value}; give a whole number from {smallest} up.")
