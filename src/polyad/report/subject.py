"""What a page of topics is about: the topics in one or several languages, and how to find the shares of documents."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.engine import Source
from polyad.engine.sources import aligned
from polyad.inference.posterior import topic_shares
from polyad.models.text_sources import words_of
from polyad.models.topics.base import INFERENCE_ITERATIONS

Shares = Callable[[Source], FloatArray]


@dataclass(frozen=True)
class TopicView:
    """The topics of one text, or of one language of aligned texts."""

    name: str  # what the text is called; empty where there is only one
    # K x M and M.
    components: FloatArray
    word_probabilities: FloatArray
    words: tuple[str, ...]  # M
    text_options: Any  # how text was split; None where it is not known


@dataclass(frozen=True)
class Subject:
    """A fitted model as a page shows it."""

    model: Any  # the estimator
    views: tuple[TopicView, ...]  # one, or one for each language
    source: Source | None  # documents; None where only the model is shown
    shares: Shares  # gives the topic shares of documents of such a source, N x K

    @property
    def n_topics(self) -> int:
        """Topics."""
        return len(self.model.topic_shares_)


def subject_of(model: Any, X: Any, view_names: Sequence[str] | None = None) -> Subject:
    """Check a model of topics and its documents.

    Parameters
    ----------
    model
        A fitted LDA, DiscreteICA, SingleTopic or PolylingualLDA.
    X
        Documents; of aligned texts a list with one entry for each. None shows the model alone.
    view_names
        What the texts of aligned ones are called; by default as in the fit.
    """
    if model.n_views == 1:
        view = TopicView(
            "", model.components_, model.word_probabilities_, words_of(model), getattr(model, "text_options_", None)
        )
        return Subject(model, (view,), None if X is None else model._checked_input(X), model._shares)
    return _aligned_subject(model, X, view_names)


def _aligned_subject(model: Any, X: Any, view_names: Sequence[str] | None) -> Subject:
    n_views = len(model.components_)
    numbered = [f"Text {number + 1}" for number in range(n_views)]
    names = list(view_names or model.view_names_ or numbered)
    if len(names) != n_views:
        raise ValueError(f"{len(names)} names of texts are given, and the model has {n_views}: give one for each.")
    views = tuple(
        TopicView(
            name,
            topics,
            model.topic_shares_ @ topics,
            tuple(map(str, range(topics.shape[1]))) if words is None else tuple(words),
            options,
        )
        for name, topics, words, options in zip(names, model.components_, model.vocabularies_, model.text_options_)
    )
    if X is None:
        return Subject(model, views, None, lambda part: np.empty((0, len(model.topic_shares_))))
    known = model._known_views(X)
    if len(known) < n_views:
        raise ValueError("A page shows all texts side by side: give each of them, and not None.")
    topics = np.hstack(model.all_components_)

    def shares(part: Source) -> FloatArray:
        found = topic_shares(topics, model.doc_topic_prior_, part, method="map", max_iter=INFERENCE_ITERATIONS)
        found = found[:, : model.n_components]
        return found / found.sum(axis=1, keepdims=True)

    return Subject(model, views, aligned(*known.values()), shares)
