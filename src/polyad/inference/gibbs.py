"""The Gibbs sampler with fixed topics: the slow and sure way to topic shares."""

import numpy as np
from numpy.typing import ArrayLike

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, Stacked, for_each, step
from polyad.inference.cells import cells_of, read_only
from polyad.inference.kernels.evaluation import document_groups, refuse_fractions, sample_shares, seed_of
from polyad.inference.posterior import checked_topics


def gibbs_shares(
    components: ArrayLike,
    prior: ArrayLike,
    source: Source,
    *,
    n_iter: int = 200,
    burn_in: int = 50,
    random_state: int | np.random.RandomState | np.random.Generator | None = 0,
) -> FloatArray:
    """Return the topic shares of documents as means of Gibbs samples, N x K; rows sum to 1.

    Remark 4 of the SVTD paper: each token's topic is drawn again and again given the topics of the other tokens
    (eq. 2), and a document's shares are (tokens of the topic + prior) / (tokens + total of the prior), here averaged
    over the sweeps after the burn-in. They converge to the posterior means, which the faster methods of
    :func:`polyad.inference.posterior.topic_shares` only come near.

    Parameters
    ----------
    components
        K x M, rows sum to 1.
    prior
        Dirichlet parameters of the shares: one for all topics, or one for each.
    source
        Counts over the same M words.
    n_iter
        Sweeps over the tokens in all.
    burn_in
        Sweeps at the start that are left out of the mean.
    random_state
        Seed or generator. Every document has its own stream, given by the seed and its row number.

    Notes
    -----
    A word that no topic has says nothing about the shares and is left out. A document without tokens, or with such
    words only, gets the mean of the prior.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> topics = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    >>> gibbs_shares(topics, 1.0, count_blocks([[2, 1, 1], [0, 0, 0]]))
    array([[0.66666667, 0.33333333],
           [0.5       , 0.5       ]])
    """
    if not 0 <= burn_in < n_iter:
        raise ValueError(f"burn_in is {burn_in} of n_iter = {n_iter} sweeps; give 0 or more, and fewer than n_iter.")
    topics, alpha = checked_topics(components, prior)
    if source.n_columns != topics.shape[1]:
        raise ValueError(
            f"The documents have {source.n_columns} words and the topics {topics.shape[1]}; they must be the same."
        )
    table, seed = np.ascontiguousarray(topics.T), seed_of(random_state)
    found, _ = step(_sampled_shares, source, [None] * source.n_shards, table, alpha, n_iter, burn_in, seed)
    shares = found.rows()
    return shares / shares.sum(axis=1, keepdims=True)


def _sampled_shares(
    shard: Block, _: None, table: FloatArray, prior: FloatArray, n_iter: int, burn_in: int, seed: np.uint64
) -> tuple[Stacked, None]:
    """Return the mean shares of the documents of a shard, a few documents at a time in each thread."""
    refuse_fractions(shard)
    cells, table, prior = cells_of(shard.rows), read_only(table), read_only(prior)
    values = read_only(np.where((table.max(axis=1) > 0)[cells.words], shard.rows.data, 0.0))
    shares = np.empty((shard.n_rows, prior.size))

    def sample_group(group: tuple[int, int]) -> None:
        sample_shares(
            *group, shard.start, cells.indptr, cells.words, values, table, prior, n_iter, burn_in, seed, shares
        )

    for_each(sample_group, document_groups(shard.n_rows))
    return Stacked((shares,)), None
