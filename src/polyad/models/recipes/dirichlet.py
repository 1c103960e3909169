"""Steps that the two models with Dirichlet shares, LDA and the gamma-Poisson model, have in common."""

from dataclasses import replace

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.decompose import Diagonaliser
from polyad.engine import Block, Source, first_rows, side_by_side, total
from polyad.engine.blocks import beside_each_other
from polyad.inference.background import Restraint
from polyad.inference.expectation import is_left_out
from polyad.inference.heldout import completion_bits
from polyad.inference.polish import Polished, has_quarters, polish, polish_bytes
from polyad.inference.presets import LONG_DOCUMENTS, PRESETS, Preset
from polyad.inference.wide import wide_passes
from polyad.models.recipes.moment_start import (
    MOST_BY_MOMENTS,
    SummedCounts,
    is_sampled,
    moment_bytes,
    with_documents,
)
from polyad.moments.counts.concentration import mean_shares

POLISH_CONCENTRATION = 0.3  # of the shares while topics are polished: their means are smoother than they are
MOSTLY_OWN = 2.0  # one over the part of a topic that no mixture of the others explains, from which it goes all the way
JUDGED_DOCUMENTS = 400  # of which half of the tokens are predicted from the other half
SHARE_ITERATIONS = 8  # for each of them
FAR_BEHIND = 0.004  # bits per token that passes gain from a start that was not near the truth: its total was too small
OTHER_TOTAL = 0.25  # times the total in use, under which they must gain as much: totals in doubt were too large by four


def planned_bytes(corpus: SummedCounts, n_components: int, method: str | Diagonaliser, seconds: float) -> int:
    """Return the working memory of a fit beside X, in bytes, and tell it with the time: before the work, and kept."""
    N, K = corpus.source.n_rows, n_components
    working = max(moment_bytes(corpus, K, method), polishing_bytes(corpus, K))
    return with_documents(corpus, K, working + 8 * 4 * N // _n_held(corpus), seconds)


def polishing_bytes(corpus: SummedCounts, n_components: int) -> int:
    """Return the working memory of polishing, in bytes."""
    summary = corpus.summary
    N, M = summary.n_documents, summary.word_totals.size
    n_own = total(_left_out_cells, corpus.source, summary.word_totals)
    n_held = _n_held(corpus)
    sizes = N // n_held, M, summary.n_cells // n_held, n_own // n_held
    return polish_bytes(*sizes, n_components, in_quarters=has_quarters(corpus.source)) + 8 * M * n_components


def _n_held(corpus: SummedCounts) -> int:
    """Return in how many parts, of about the same size, documents are held: one of them is in memory at a time."""
    return 1 if corpus.source.in_memory else corpus.source.n_shards


def _left_out_cells(block: Block, word_totals: FloatArray) -> int:
    cells = beside_each_other(block.views)
    return int(is_left_out(cells.data, cells.indices, word_totals).sum())


def polish_prior(n_components: int) -> FloatArray:
    """Return the prior of the shares while topics are polished, where the user gives none."""
    return np.full(n_components, POLISH_CONCENTRATION / n_components)


def polish_topics(
    corpus: SummedCounts,
    topics: FloatArray,
    prior: FloatArray | None,
    smoothing: FloatArray | None,
    preset: Preset,
    *,
    near: bool = False,
    restraint: Restraint | None = None,
) -> Polished:
    """Polish topics; with no pass at all, the shares of the tokens are those that make up the words of the corpus.

    From a start that is ``near`` the truth "full" goes as far as "fast", since the passes that follow would lead away
    from it, and a topic goes only a part of the way (:func:`reach`), unless words say that it was not so near.
    """
    if preset.n_passes == 0:
        tokens = corpus.n_tokens * mean_shares(topics, corpus.unigram)
        given = None if smoothing is None else smoothing[None]
        return Polished(topics, tokens[None], (), (0, topics.shape[1]), given)
    alpha = polish_prior(topics.shape[0]) if prior is None else prior
    if near and preset.wide_passes:
        preset = PRESETS["fast"]
    is_many = topics.shape[0] > MOST_BY_MOMENTS
    may_forget = not near and restraint is None and has_long_documents(corpus)
    preset = preset.for_corpus(many_shards=is_sampled(corpus.source), many_topics=is_many, long_documents=may_forget)
    polished = polish(corpus.source, topics, alpha, preset=preset, smoothing=smoothing, near=near, restraint=restraint)
    if near:
        some = side_by_side(first_rows(corpus.source, JUDGED_DOCUMENTS), [range(len(corpus.source.widths))])
        return replace(polished, components=as_far_as_words_say(topics, polished.components, alpha, some, corpus))
    if preset.wide_passes == 0 or smoothing is not None:  # a prior that the user gives is neither wider nor narrower
        return polished
    wide = wide_passes(
        corpus.source,
        polished.components,
        alpha,
        n_passes=preset.wide_passes,
        told=polished.smoothing,
        restraint=restraint,
    )
    return replace(wide, objective=polished.objective + wide.objective)


def has_long_documents(corpus: SummedCounts) -> bool:
    """Tell whether documents have so many tokens that these tell their topics anew in every round."""
    return corpus.n_tokens >= LONG_DOCUMENTS * corpus.summary.n_documents


def as_far_as_words_say(
    topics: FloatArray, polished: FloatArray, prior: FloatArray, some: Source, corpus: SummedCounts
) -> FloatArray:
    """Return topics of the moments after they went with the passes as far as they reach, or all the way.

    They go all the way where words say that they did not start near the truth. Topics were polished under a prior and
    are judged under it: where its total is wrong, they gain by making up for that, and lead away. So the gain must be
    there under a smaller total too.
    """
    n_views = len(corpus.source.widths)  # whose topics sum to 1 each

    def bits(rows: FloatArray, times: float) -> float:
        return predicted_bits(rows / n_views, times * prior, some)

    if all(bits(topics, times) > bits(polished, times) + FAR_BEHIND for times in (1.0, OTHER_TOTAL)):
        return polished
    part = reach(topics, prior / prior.sum(), corpus.unigram)[:, None]
    return part * polished + (1 - part) * topics


def predicted_bits(topics: FloatArray, prior: FloatArray, some: Source) -> float:
    """Return the bits per token of one half of the tokens of some documents, given the other half."""
    return completion_bits(topics, prior, some, max_iter=SHARE_ITERATIONS)


def reach(topics: FloatArray, shares: FloatArray, mean: FloatArray) -> FloatArray:
    """Return how far a topic of the moments goes with the passes, from 0 to 1, where moments and prior are right.

    Passes take the shares of a document for what is most probable of them. What that costs is little for topics that
    many documents are mostly about, and no amount of data makes it less; moments err less the more data there are. So a
    topic with less than an even share of the documents goes the less far, the smaller its share is; and so does one of
    which more than a half, in squares, is a mixture of the other topics, since passes tell such topics apart too
    sharply.

    Examples
    --------
    >>> topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.9, 0.1]])
    >>> reach(topics, np.array([0.2, 0.4, 0.4]), np.array([0.1, 0.1, 0.7, 0.1])).round(3)
    array([0.6  , 0.159, 0.159])
    """
    gram = (topics / mean) @ topics.T
    own = 1 / (np.diagonal(gram) * np.diagonal(linalg.pinvh(gram)))
    return np.minimum(1.0, np.minimum(shares.size * shares, MOSTLY_OWN * own))
