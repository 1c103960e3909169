"""Steps that the two models with Dirichlet shares, LDA and the gamma-Poisson model, have in common."""

import logging

import numpy as np

from polyad.decompose import Diagonaliser
from polyad.engine.blocks import FloatArray
from polyad.inference.expectation import is_own
from polyad.inference.polish import SMOOTHING, Polished, polish, polish_bytes
from polyad.inference.sampler import gibbs_sweeps
from polyad.models.moment_start import Corpus, moment_bytes, with_documents
from polyad.models.topic_model import number_of_passes

POLISH_CONCENTRATION = 0.3  # of the shares while topics are polished: their means are smoother than they are
SWEEPS, BURN_IN = 200, 50  # of the sampler in the preset "full"
SAMPLED_CONCENTRATION = 3.0  # a sampler's shares are not smoothed by expectation, and take a wider prior
LEAST_SMOOTHING = 0.04  # tokens that the sampler adds to every word of a topic, at least
MOST_SAMPLED_TOKENS = 1 << 30  # two bytes each

logger = logging.getLogger("polyad")


def planned_bytes(corpus: Corpus, n_components: int, method: str | Diagonaliser) -> int:
    """Return the working memory of a fit beside X, in bytes, and log it: stated before the work, and kept."""
    N, M = corpus.blocks.shape
    K = n_components
    totals = corpus.summary.word_totals
    n_own = corpus.run(lambda b: int(is_own(b.rows.data, b.rows.indices, totals).sum()), corpus.blocks)
    polishing = polish_bytes(N, M, corpus.summary.n_cells, n_own, K)
    planned = with_documents(corpus, max(moment_bytes(corpus, K, method), polishing + 8 * M * K) + 8 * 4 * N)
    logger.info("%d documents, %d words, %d topics: %.0f MB of working memory", N, M, K, planned / 2**20)
    return planned


def polish_prior(n_components: int) -> FloatArray:
    """Return the prior of the shares while topics are polished, where the user gives none."""
    return np.full(n_components, POLISH_CONCENTRATION / n_components)


def polish_topics(
    corpus: Corpus,
    topics: FloatArray,
    prior: FloatArray | None,
    smoothing: FloatArray | None,
    preset: str | int,
    random_state: int,
) -> Polished:
    """Polish topics; with no pass at all, only find each topic's share of the tokens."""
    n_passes = number_of_passes(preset, corpus, topics.shape[0])
    alpha = polish_prior(topics.shape[0]) if prior is None else prior
    polished = polish(corpus.counts, topics, alpha, corpus.run, n_passes=max(n_passes, 1), smoothing=smoothing)
    if n_passes == 0:
        return Polished(topics, polished.topic_tokens, ())
    if preset != "full" or corpus.n_tokens > MOST_SAMPLED_TOKENS:
        return polished
    return _with_sampled_topics(polished, corpus, prior, smoothing, random_state)


def _with_sampled_topics(
    polished: Polished,
    corpus: Corpus,
    prior: FloatArray | None,
    smoothing: FloatArray | None,
    random_state: int,
) -> Polished:
    """Average the topics of EM with those of Gibbs sweeps that start from them.

    EM ends in one point and the sampler wanders around it; where there are many topics for the data, the mean of the
    two predicts new documents better than either.
    """
    K = polished.components.shape[0]
    sampled = gibbs_sweeps(
        corpus.counts,
        polished.components,
        np.full(K, SAMPLED_CONCENTRATION / K) if prior is None else prior,
        corpus.run,
        n_sweeps=SWEEPS,
        burn_in=BURN_IN,
        smoothing=np.full(K, max(SMOOTHING / K, LEAST_SMOOTHING)) if smoothing is None else smoothing,
        random_state=random_state,
    )
    mean = (polished.components + sampled.components) / 2
    return Polished(mean, (polished.topic_tokens + sampled.topic_tokens) / 2, polished.objective)
