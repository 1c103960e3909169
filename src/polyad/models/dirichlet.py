"""Steps that the two models with Dirichlet shares, LDA and the gamma-Poisson model, have in common."""

import numpy as np

from polyad.engine.blocks import FloatArray
from polyad.inference.polish import RARE, Polished, polish, polish_bytes
from polyad.models.moment_start import Corpus


def planned_bytes(corpus: Corpus, n_components: int, n_passes: int) -> int:
    """Return the working memory of a fit beside X, in bytes: what is stated before, and kept."""
    N, M = corpus.blocks.shape
    K = n_components
    frequency = corpus.summary.document_frequency
    n_rare = int(frequency[frequency <= RARE].sum())
    whitening = 8 * M * (3 * K + 28) + 4 * 8 * M * K
    tensors = 8 * 6 * K**3
    polishing = polish_bytes(N, M, corpus.summary.n_cells, n_rare, K) if n_passes else 4 * N * K
    return max(whitening + tensors, polishing) + 8 * N


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
