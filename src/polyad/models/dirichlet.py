"""Steps that the two models with Dirichlet shares, LDA and the gamma-Poisson model, have in common."""

import logging

import numpy as np

from polyad.engine.blocks import FloatArray
from polyad.inference.polish import RARE, Polished, polish, polish_bytes
from polyad.models.moment_start import Corpus

logger = logging.getLogger("polyad")


def planned_bytes(corpus: Corpus, n_components: int) -> int:
    """Return the working memory of a fit beside X, in bytes, and log it: stated before the work, and kept.

    Blocks in flight are counted with the few partial sums that a pass holds.
    """
    N, M = corpus.blocks.shape
    K = n_components
    frequency = corpus.summary.document_frequency
    n_rare = int(frequency[frequency <= RARE].sum())
    partial_sums = 16  # of M x K numbers: in flight in a few threads, and one for each level of the sum
    whitening = 8 * M * (3 * K + 28) + partial_sums * 8 * M * K
    tensors = 8 * (6 + partial_sums) * K**3
    polishing = polish_bytes(N, M, corpus.summary.n_cells, n_rare, K)
    planned = max(whitening + tensors, polishing + 8 * M * K) + 8 * 4 * N
    logger.info("%d documents, %d words, %d topics: %.0f MB of working memory", N, M, K, planned / 2**20)
    return planned


def polish_topics(
    corpus: Corpus,
    topics: FloatArray,
    prior: FloatArray | None,
    smoothing: FloatArray | None,
    n_passes: int,
) -> Polished:
    """Polish topics; with no pass at all, only find each topic's share of the tokens."""
    K = topics.shape[0]
    alpha = np.full(K, 1 / K) if prior is None else prior
    polished = polish(corpus.parts, topics, alpha, corpus.run, n_passes=max(n_passes, 1), smoothing=smoothing)
    return polished if n_passes else Polished(topics, polished.topic_tokens, ())
