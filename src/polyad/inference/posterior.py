"""Topic shares of documents when the topics are known."""

import numpy as np
from numpy.typing import ArrayLike

from polyad.base.arrays import FloatArray
from polyad.base.plurals import how_many
from polyad.engine import Block, Source, rows
from polyad.inference.cells import cells_of_block, padded_vector, topic_table
from polyad.inference.expectation import Table
from polyad.inference.kernels.topics import infer_shares, infer_shares_cvb0
from polyad.inference.kernels.variational import infer_shares_variational

METHODS = {"map": infer_shares, "variational": infer_shares_variational, "cvb0": infer_shares_cvb0}


def checked_topics(components: ArrayLike, prior: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return topics and a prior with one entry for each of them, or say what is wrong with them."""
    topics = np.asarray(components, dtype=np.float64)
    if topics.ndim != 2 or not np.isfinite(topics).all() or topics.min(initial=0.0) < 0:
        raise ValueError("components must be topics x words, finite and not negative.")
    alpha = np.asarray(prior, dtype=np.float64)
    alpha = np.full(topics.shape[0], float(alpha)) if alpha.ndim == 0 else alpha
    if alpha.shape != (topics.shape[0],) or not np.isfinite(alpha).all() or alpha.min() <= 0:
        raise ValueError(
            f"The prior must be positive and finite, one number for all {topics.shape[0]} topics or one for each."
        )
    return topics, alpha


def topic_shares(
    components: ArrayLike,
    prior: ArrayLike,
    source: Source,
    *,
    method: str = "map",
    max_iter: int = 20,
) -> FloatArray:
    """Return the topic shares of documents, N x K; rows sum to 1.

    Parameters
    ----------
    components
        K x M, rows sum to 1.
    prior
        Dirichlet parameters of the shares.
    source
        Counts over the same M words; those of several views one after the other.
    method
        "map": expected tokens under the shares themselves, the fixed point of EM for a Dirichlet with parameters
        one larger. "variational": the mean of the variational posterior. "cvb0": each token sees the others'
        assignments but not its own, the closest of the three to a Gibbs sampler's mean.
    max_iter
        Iterations for each document.

    Notes
    -----
    A document without tokens, or with unknown words only, gets the mean of the prior.
    """
    if not isinstance(method, str) or method not in METHODS:  # a forged model may ask for anything
        raise ValueError(f"method is {method!r}; give one of {', '.join(map(repr, METHODS))}.")
    topics, alpha = checked_topics(components, prior)
    n_words = sum(source.widths)
    if n_words != topics.shape[1]:
        raise ValueError(f"The documents have {how_many(n_words, 'words')}, and the topics have {topics.shape[1]}.")
    return rows(infer_block, source, topic_table(topics), alpha, method, max_iter)


def infer_block(block: Block, table: Table, prior: FloatArray, method: str, max_iter: int) -> FloatArray:
    """Return the topic shares of the documents of a block."""
    cells, K = cells_of_block(block), prior.size
    shares = np.zeros((cells.shape[0], table.shape[1]), np.float32)
    METHODS[method](
        0, cells.shape[0], cells.indptr, cells.words, cells.counts, table, padded_vector(prior), K, max_iter, shares
    )
    found = shares[:, :K].astype(np.float64)
    return found / found.sum(axis=1, keepdims=True)
