"""LDA with a background: topics for what documents differ in, and one more for what they share.

The background is one topic to whoever looks at the model. Inside it has a few shapes, because texts differ in how they
use the words that all of them have (one asks, another one orders): with a single shape the topics would have to tell
that, and held-out bits were .02 worse.
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.decompose import RankError, polyadic_decomposition
from polyad.decompose.unmixing import simplex_rows
from polyad.inference.background import Restraint, background_words
from polyad.inference.polish import Polished
from polyad.inference.presets import Preset
from polyad.models.recipes.moment_start import UNIGRAM_SHARE, SummedCounts, word_metric
from polyad.moments import RawMoments

N_SHAPES = 6  # with 4 held-out bits are .003 to .01 worse, with more hardly better
WORDS_OF_A_SHAPE = 10  # of the background at least, for another shape
SHAPE_CONCENTRATION = 20.0  # of the moments that shapes start from: how texts use shared words differs little
SHAPE_SHARE = 0.35  # of a shape when polishing starts; the rest is the word distribution of the corpus
STRIPPED = 0.9  # of the word distribution of the corpus that topics lose when polishing starts
TOPIC_CONCENTRATION = 0.5  # of the shares of the topics while they are polished
BACKGROUND_PRIOR = 2.0  # of the background, in totals of the topics' prior
LEAST_PART = 1e-8  # of all tokens in a shape that has lost its own: its prior must not be 0


@dataclass(frozen=True)
class TopicStart:
    """Where polishing starts: topics, and after them the shapes of a background, if there is one."""

    rows: FloatArray  # (K + B) x M
    n_topics: int  # K
    restraint: Restraint | None = None  # keeps words of the background from leading topics

    @property
    def n_shapes(self) -> int:
        """Rows that are the background, B."""
        return self.rows.shape[0] - self.n_topics

    def prior(self, given: FloatArray | None) -> FloatArray | None:
        """Return the prior of all rows while they are polished, given that of the topics or not."""
        if self.n_shapes == 0:
            return given
        topics = np.full(self.n_topics, TOPIC_CONCENTRATION / self.n_topics) if given is None else given
        return np.append(topics, np.full(self.n_shapes, BACKGROUND_PRIOR * topics.sum() / self.n_shapes))

    def smoothing(self, given: FloatArray | None) -> FloatArray | None:
        """Return the tokens added to every word of all rows, given those of the topics or not."""
        return None if given is None else np.append(given, np.full(self.n_shapes, given.mean()))

    def in_one(self, values: FloatArray) -> FloatArray:
        """Add up numbers of the shapes to one of the background: K + B to K + 1; without a background all as they are.

        Examples
        --------
        >>> TopicStart(np.ones((5, 9)), 2).in_one(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
        array([ 1.,  2., 12.])
        """
        topics, shapes = np.split(values, [self.n_topics])
        return np.append(topics, shapes.sum()) if self.n_shapes else topics


@dataclass(frozen=True)
class FoundTopics:
    """Topics after polishing, the background as one of them."""

    components: FloatArray  # K x M, and one row more for a background
    tokens: FloatArray  # expected tokens of each in the corpus
    # Of the background, B x M, and what part of it each shape is, B.
    shapes: FloatArray
    parts: FloatArray


def patient(preset: Preset) -> Preset:
    """Return a preset that takes all its passes: under restraint topics settle more slowly than gains tell."""
    return replace(preset, least_passes=preset.most_passes)


def background_prior(topic_shares: FloatArray) -> FloatArray:
    """Return the prior of topics and a background, the last, where none is given.

    The total that pairs of words tell would be that of shares which the shapes of the background have a part in. Bits
    do not notice a factor of two; this one, under which topics are polished, is .003 better than that on Canada's Acts.
    """
    topics = np.maximum(topic_shares[:-1], 1e-4 / topic_shares.size)
    return TOPIC_CONCENTRATION * np.append(topics / topics.sum(), BACKGROUND_PRIOR)


def found_topics(start: TopicStart, polished: Polished) -> FoundTopics:
    """Put the shapes of a background together to one topic."""
    tokens, (topics, shapes) = polished.topic_tokens, np.split(polished.components, [start.n_topics])
    if start.n_shapes == 0:
        return FoundTopics(topics, tokens, shapes, tokens[start.n_topics :])
    parts = np.maximum(tokens[start.n_topics :], LEAST_PART * max(float(tokens.sum()), 1.0))
    parts = parts / parts.sum()
    return FoundTopics(np.vstack([topics, parts @ shapes]), start.in_one(tokens), shapes, parts)


def with_shapes(
    components: FloatArray, prior: FloatArray, shapes: FloatArray, shape_prior: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the rows and the prior that documents are explained by: those of the shapes for that of the background."""
    return np.vstack([components[:-1], shapes]), np.append(prior[:-1], shape_prior)


def in_one_column(shares: FloatArray, n_shapes: int) -> FloatArray:
    """Add up the shares of the shapes, N x (K + B) to N x (K + 1).

    Examples
    --------
    >>> in_one_column(np.array([[0.5, 0.25, 0.25]]), 2)
    array([[0.5, 0.5]])
    """
    topics, shapes = np.split(shares, [shares.shape[1] - n_shapes], axis=1)
    return np.column_stack([topics, shapes.sum(axis=1)])


def start_background(raw: RawMoments, corpus: SummedCounts, topics: FloatArray) -> TopicStart:
    """Strip topics of what the corpus shares, and start the shapes of the background from how texts differ in it."""
    summary = corpus.summary
    shared = background_words(corpus.source, summary.word_totals, summary.document_frequency)
    unigram = corpus.unigram
    own = simplex_rows(np.maximum(topics - STRIPPED * unigram, 1e-12))
    own = (1 - UNIGRAM_SHARE) * own + UNIGRAM_SHARE * unigram
    rows = np.vstack([own, _shapes(raw, corpus, shared)])
    K = topics.shape[0]
    return TopicStart(rows, K, Restraint(np.flatnonzero(shared), K, summary.word_totals))


def _shapes(raw: RawMoments, corpus: SummedCounts, shared: NDArray[np.bool_]) -> FloatArray:
    unigram = corpus.unigram
    metric = np.where(shared, word_metric(corpus, 1), 0.0)
    n_shapes = min(N_SHAPES, int((metric > 0).sum()) // WORDS_OF_A_SHAPE)
    while n_shapes > 1:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # shapes are no topics: nobody reads anything into them
                found = polyadic_decomposition(
                    raw.at(SHAPE_CONCENTRATION), n_shapes, method="power", metric=metric, strict=False
                )
        except RankError as error:
            n_shapes = min(error.supported, n_shapes - 1)
            continue
        return SHAPE_SHARE * simplex_rows(np.where(shared, found.components, 0.0)) + (1 - SHAPE_SHARE) * unigram
    return unigram[None, :]
