"""Steps that the two models with Dirichlet shares, LDA and the gamma-Poisson model, have in common."""

import logging
from dataclasses import replace

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.decompose import Diagonaliser
from polyad.engine import Block, total
from polyad.engine.blocks import beside_each_other
from polyad.inference.background import Restraint
from polyad.inference.expectation import is_own
from polyad.inference.polish import Polished, polish, polish_bytes
from polyad.inference.presets import Preset
from polyad.inference.wide import wide_passes
from polyad.models.recipes.moment_start import Corpus, moment_bytes, with_documents
from polyad.moments.counts.concentration import mean_shares

POLISH_CONCENTRATION = 0.3  # of the shares while topics are polished: their means are smoother than they are

logger = logging.getLogger("polyad")


def planned_bytes(corpus: Corpus, n_components: int, method: str | Diagonaliser) -> int:
    """Return the working memory of a fit beside X, in bytes, and log it: stated before the work, and kept."""
    N, M = corpus.source.shape
    K = n_components
    n_held = _n_held(corpus)
    working = max(moment_bytes(corpus, K, method), polishing_bytes(corpus, K))
    planned = with_documents(corpus, working + 8 * 4 * N // n_held)
    logger.info("%d documents, %d words, %d topics: %.0f MB of working memory", N, M, K, planned / 2**20)
    return planned


def polishing_bytes(corpus: Corpus, n_components: int) -> int:
    """Return the working memory of polishing, in bytes."""
    summary = corpus.summary
    N, M = summary.n_documents, summary.word_totals.size
    n_own = total(_own_cells, corpus.source, summary.word_totals)
    n_held = _n_held(corpus)
    return polish_bytes(N // n_held, M, summary.n_cells // n_held, n_own // n_held, n_components) + 8 * M * n_components


def _n_held(corpus: Corpus) -> int:
    """Return in how many parts, of about the same size, documents are held: one of them is in memory at a time."""
    return 1 if corpus.source.in_memory else corpus.source.n_shards


def _own_cells(block: Block, word_totals: FloatArray) -> int:
    cells = beside_each_other(block.views)
    return int(is_own(cells.data, cells.indices, word_totals).sum())


def polish_prior(n_components: int) -> FloatArray:
    """Return the prior of the shares while topics are polished, where the user gives none."""
    return np.full(n_components, POLISH_CONCENTRATION / n_components)


def polish_topics(
    corpus: Corpus,
    topics: FloatArray,
    prior: FloatArray | None,
    smoothing: FloatArray | None,
    preset: Preset,
    restraint: Restraint | None = None,
) -> Polished:
    """Polish topics; with no pass at all, the shares of the tokens are those that make up the words of the corpus."""
    if preset.n_passes == 0:
        tokens = corpus.n_tokens * mean_shares(topics, corpus.unigram)
        return Polished(topics, tokens[None], (), (0, topics.shape[1]))
    alpha = polish_prior(topics.shape[0]) if prior is None else prior
    polished = polish(corpus.source, topics, alpha, preset=preset, smoothing=smoothing, restraint=restraint)
    if preset.wide_passes == 0 or smoothing is not None:  # a prior that the user gives is neither wider nor narrower
        return polished
    wide = wide_passes(corpus.source, polished.components, alpha, n_passes=preset.wide_passes, restraint=restraint)
    return replace(wide, objective=polished.objective + wide.objective)
