"""Documents that come in batches and are not kept: topics go on from the tokens that they stand for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.base.plurals import how_many
from polyad.corpus import Corpus, align_vocabulary
from polyad.engine import Block, Source, step
from polyad.inference.cells import padded_vector, topic_table
from polyad.inference.expectation import Iterations, Likelihood, Table, TopicTable, collect, e_step, prepare_documents
from polyad.inference.topic_prior import split_smoothing
from polyad.models.features import refuse_other_words
from polyad.models.topics.base import INFERENCE_ITERATIONS
from polyad.moments import summarise_counts

if TYPE_CHECKING:
    from polyad.models.topics.lda import LDA

PASSES = 2  # over a batch: the second sees topics that have learned from the first


@dataclass(frozen=True)
class Tokens:
    """What a model has learned from, as expected tokens: additive over documents."""

    by_topic: FloatArray  # K x M: expected tokens of each word in each topic
    words: FloatArray  # M: tokens of each word
    n_documents: int  # documents seen
    added: FloatArray  # K: tokens that the prior adds to every word of each topic

    @property
    def total(self) -> float:
        """Tokens in all."""
        return float(self.by_topic.sum())

    def plus(self, other: Tokens, weight: float = 1.0) -> Tokens:
        """Return the sum with a part of another."""
        return Tokens(
            self.by_topic + weight * other.by_topic,
            self.words + weight * other.words,
            self.n_documents + int(np.sign(weight)) * other.n_documents,
            self.added,
        )

    def kept(self, share: float) -> Tokens:
        """Return the share that is not forgotten; documents stay counted.

        Who forgets expects topics to change: under a prior narrower than the usual one new words would hardly enter.
        """
        usual = split_smoothing(self.by_topic.sum(axis=1)) if share < 1 else 0.0
        added = np.maximum(self.added, usual)
        return replace(self, by_topic=share * self.by_topic, words=share * self.words, added=added)

    def with_words(self, n_new: int) -> Tokens:
        """Return the same with new words, of which nothing is known yet."""
        return replace(self, by_topic=np.pad(self.by_topic, ((0, 0), (0, n_new))), words=np.pad(self.words, (0, n_new)))


def tokens_of(model: Any) -> Tokens:
    """Return the tokens that the topics of a fitted model stand for, without those of the prior."""
    n_tokens, M = float(model.diagnostics_.n_tokens), model.components_.shape[1]
    of_topics = n_tokens * model.topic_shares_
    told = model.topic_word_prior_
    added = np.maximum(told if told.size else split_smoothing(of_topics), 1e-8)  # files of older versions have none
    by_topic = np.maximum(model.components_ * (of_topics + M * added)[:, None] - added[:, None], 0.0)
    words = np.maximum(model.word_probabilities_ * (n_tokens + 0.5 * M) - 0.5, 0.0)
    return Tokens(by_topic, words, model.diagnostics_.n_documents, added)


def topics_of(tokens: Tokens) -> FloatArray:
    """Return the topics that tokens stand for, K x M; rows sum to 1."""
    topics = tokens.by_topic + tokens.added[:, None]
    return topics / topics.sum(axis=1, keepdims=True)


def tokens_in(source: Source, before: Tokens, prior: FloatArray) -> tuple[Tokens, float]:
    """Return the expected tokens of new documents under topics that have learned from others, and their likelihood.

    Topics of the first pass have not seen the documents: their log-likelihood per token is that of a prediction, given
    the shares of each document.
    """
    summary = summarise_counts(source)
    found, likelihood, n_words = before, 0.0, source.n_columns
    for number in range(PASSES):
        topics = topics_of(before if number == 0 else before.plus(found))
        table = TopicTable(topic_table(topics), padded_vector(prior), (0, n_words))
        (counts, fit), _ = step(_expected, source, [None] * source.n_shards, table, prior.size)
        by_topic = counts[:, : prior.size].T.astype(np.float64)
        found = Tokens(by_topic, summary.word_totals, source.n_rows, before.added)
        if number == 0:
            likelihood = fit.all / max(float(summary.tokens), 1.0)
    return found, likelihood


def _expected(shard: Block, _: None, table: TopicTable, K: int) -> tuple[tuple[Table, Likelihood], None]:
    documents = prepare_documents(shard, None, None, K)[1]
    shares, likelihood, expected = e_step(documents, table, Iterations(INFERENCE_ITERATIONS))
    return (collect(expected, shares, table.topics), likelihood), None


def take_over(model: Any, tokens: Tokens, objective: tuple[float, ...] = ()) -> None:
    """Give a model the topics that tokens stand for; topics keep their numbers."""
    total = float(model.doc_topic_prior_.sum())
    of_topics = tokens.by_topic.sum(axis=1)
    shares = of_topics / max(tokens.total, 1e-300)
    words = tokens.words + 0.5
    found = {
        "components_": topics_of(tokens),
        "topic_shares_": shares,
        "word_probabilities_": words / words.sum(),
        "doc_topic_prior_": np.maximum(total * shares, 1e-4 * total / shares.size),
        "diagnostics_": replace(
            model.diagnostics_,
            n_documents=tokens.n_documents,
            n_words=tokens.words.size,
            n_tokens=round(tokens.total),
            n_unseen_words=int((tokens.words == 0).sum()),
            objective=model.diagnostics_.objective + objective,
            topic_word_prior=tokens.added,
        ),
    }
    model.__dict__.update(found)


def grown(model: Any, X: Any) -> tuple[tuple[str, ...], Any]:
    """Return the words of a model and those of a corpus that it lacks after them, and the corpus over all of these."""
    if not isinstance(X, Corpus) or model.vocabulary_ is None:
        raise ValueError("A vocabulary grows by a corpus that has words, with a model that knows its own: give both.")
    known = set(model.vocabulary_)
    words = (*model.vocabulary_, *(word for word in X.vocabulary if word not in known))
    return words, align_vocabulary(X, words)


def merge(*models: LDA, start: LDA | None = None) -> LDA:
    """Return one model of all documents that several models of the same topics have seen.

    Parameters
    ----------
    models
        LDA models that went on (:meth:`polyad.LDA.partial_fit`) from one start, each with other documents: their topics
        must mean the same, topic by topic. Models of separate fits do not; :func:`polyad.align` tells how alike they
        are.
    start
        The model that they went on from, whose own documents are then counted once, and not once for each model; None
        counts all.

    Returns
    -------
    LDA
        A copy of the first with the tokens of all.

    Examples
    --------
    >>> from polyad import LDA
    >>> from polyad.datasets import make_lda
    >>> X = make_lda(900, 100, 3, length=60).counts
    >>> start = LDA(3).fit(X[:300])
    >>> parts = [copied(start).partial_fit(X[first : first + 300]) for first in (300, 600)]
    >>> merge(*parts, start=start).diagnostics_.n_documents
    900
    """
    if not models:
        raise ValueError("There is no model to merge: give at least one.")
    first, *others = models
    tokens = tokens_of(first)
    for other in others:
        if other.components_.shape != first.components_.shape:
            raise ValueError(
                f"The models have topics x words of {first.components_.shape} and {other.components_.shape}: only "
                "models that went on from one start can be merged."
            )
        if first.vocabulary_ is not None and other.vocabulary_ is not None:
            refuse_other_words(other.vocabulary_, first.vocabulary_)
        _warn_of_other_topics(first.components_, other.components_)
        tokens = tokens.plus(tokens_of(other))
    if start is not None:
        own = tokens_of(start)
        tokens = tokens.plus(own, -float(len(others)))
        n_documents = sum(model.diagnostics_.n_documents for model in models) - len(others) * own.n_documents
        tokens = replace(
            tokens,
            by_topic=np.maximum(tokens.by_topic, 0.0),
            words=np.maximum(tokens.words, 0.0),
            n_documents=n_documents,
        )
    merged: LDA = copied(first)
    take_over(merged, tokens)
    return merged


def _warn_of_other_topics(first: FloatArray, other: FloatArray) -> None:
    """Warn where topics of two models are like another topic's more than like each other: they mean something else."""
    shared = np.array([np.minimum(topic, other).sum(axis=1) for topic in first])
    apart = np.flatnonzero(shared.argmax(axis=1) != np.arange(len(first)))
    if apart.size:
        k = int(apart[0])
        warn_caller(
            f"{how_many(apart.size, 'topics')} of the models to be merged seem to mean something else in each: topic "
            f"{k} of the first is most like topic {int(shared[k].argmax())} of another. Only models that went on from "
            "one start can be merged; of separate fits polyad.align tells how alike they are."
        )


def copied(model: Any) -> Any:
    """Return a model that can go on by itself: a later change of the one leaves the other as it is."""
    other = object.__new__(type(model))
    other.__dict__.update(model.__dict__)
    return other
