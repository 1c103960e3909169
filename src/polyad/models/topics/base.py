"""What the topic models share: reading, inference, evaluation, word lists."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray, Floats, in_precision_of
from polyad.base.plurals import how_many
from polyad.base.words import Vocabulary, listed_words
from polyad.engine import Source, count_blocks, ordered_by_content, resident
from polyad.engine.sources import part_of
from polyad.engine.sources.repeated import weighted
from polyad.engine.sources.scaled import scaled
from polyad.inference.heldout import completion_log_likelihood
from polyad.inference.posterior import topic_shares
from polyad.metrics.names import topic_names
from polyad.metrics.words import top_documents, top_words, word_scores
from polyad.models.checks import tags_of_counts
from polyad.models.fitting import fitted_at_once, running
from polyad.models.recipes.moment_start import SummedCounts
from polyad.models.saving import SavedModel
from polyad.models.showing import ShownModel
from polyad.models.stopwatch import StopWatch
from polyad.models.text_sources import counted, counted_over, known_words, read_once, remember_words
from polyad.models.topics.diagnostics import Diagnostics
from polyad.moments import summarise_counts

INFERENCE_ITERATIONS = 12
PROPORTIONS_LENGTH = 100.0  # tokens of a document on average, where counts are proportions


class TopicModel(SavedModel, ShownModel, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the topic models; not a model by itself.

    A subclass implements ``_fit_corpus``, and for anything but Dirichlet shares its own ``_shares``.
    """

    has_topics: ClassVar[bool] = True
    n_views: ClassVar[int] = 1
    plans_memory: ClassVar[bool] = True

    components_: FloatArray
    doc_topic_prior_: FloatArray
    topic_shares_: FloatArray
    word_probabilities_: FloatArray
    diagnostics_: Diagnostics
    n_features_in_: int
    vocabulary_: tuple[str, ...] | None
    text_options_: Any
    names_: dict[int, str]

    @property
    def topic_word_prior_(self) -> FloatArray:
        """Tokens that the prior adds to every word of each topic, K: given, or what the data tell."""
        return self.diagnostics_.topic_word_prior

    @fitted_at_once
    def fit(
        self,
        X: Any,
        y: object = None,
        sample_weight: Any = None,
        *,
        checkpoint: Any = None,
        client: Any = None,
        memory_limit: Any = None,
    ) -> Self:
        """Learn topics from documents x words counts.

        Parameters
        ----------
        X
            Counts: sparse matrix or array, dense array, DataFrame, an iterable of blocks of these, a corpus, a source;
            or a :class:`polyad.corpus.CorpusSource`, which is read once, its words chosen as the command does.
            The documents are copied, in an order of their own: the order of X does not matter.
        y
            Not used.
        sample_weight
            How often each document counts, whole numbers from 0 up: the same as repeating its row.
        checkpoint
            A folder to keep the results of passes in: called again after a kill, a full disk or Ctrl-C, the same fit
            goes on from there, with the same result. See :class:`polyad.engine.Checkpoint`.
        client
            A Dask client: passes run on its cluster, with the same result. See :class:`polyad.engine.DaskRunner`.
        memory_limit
            A size such as "4GB": a fit that is planned to need more working memory is refused before the work.
        """
        watch = StopWatch()
        with watch("read"):
            corpus = self._read(X, sample_weight)
        self._fit_corpus(corpus, watch)
        return self

    def _fit_corpus(self, corpus: SummedCounts, watch: StopWatch) -> None:
        raise NotImplementedError

    def _read(self, X: Any, sample_weight: Any = None) -> SummedCounts:
        """Check the data and sum them up in one pass."""
        n_components = checked_n_components(self.n_components)
        X = counted(X)
        source = count_blocks(X)
        remember_words(self, X, source.n_columns, reset=True)
        source = weighted(source, sample_weight)
        N, M = source.shape
        if N < 3:
            raise ValueError(
                f"X has n_samples={N}, and topics are learned from what documents have in common: give at least 3."
            )
        if n_components > M:
            raise ValueError(f"n_components is {n_components}, but X has only n_features={M} words: ask for fewer.")
        if n_components > N:
            raise ValueError(
                f"n_components is {n_components}, but X has only {how_many(N, 'documents')}: ask for fewer."
            )
        source = resident(ordered_by_content(source))
        corpus = in_tokens(source)
        n_words = int((corpus.summary.document_frequency > 0).sum())
        if n_words < max(n_components, 2):
            raise ValueError(
                f"Only {n_words} of the n_features={M} words occur in X, too few for "
                f"{how_many(n_components, 'topics')}."
            )
        return corpus

    def _keep(
        self, components: FloatArray, topic_tokens: FloatArray, corpus: SummedCounts, n_topics: int | None = None
    ) -> NDArray[np.intp]:
        """Store topics in the canonical order, largest share of tokens first; return the order.

        Only the first ``n_topics`` are topics, where it is given; what comes after them stays there.
        """
        order = np.argsort(-topic_tokens[:n_topics], kind="stable")
        order = np.append(order, np.arange(order.size, topic_tokens.size))
        self.components_ = np.ascontiguousarray(components[order])
        shares = topic_tokens[order] / max(float(topic_tokens.sum()), 1e-300)
        self.topic_shares_ = shares
        self.word_probabilities_ = corpus.unigram
        return order

    def _checked_input(self, X: Any) -> Source:
        """Return new documents, counted over the fitted words."""
        check_is_fitted(self, "components_")
        X = counted_over(X, known_words(self), self.n_features_in_, self.text_options_)
        source = count_blocks(X)
        remember_words(self, X, source.n_columns, reset=False)
        return source

    def fit_transform(self, X: Any, y: object = None, sample_weight: Any = None) -> Floats:
        """Fit, and return the topic shares of the same documents; X may be an iterator, which is read once."""
        X = read_once(X)
        return self.fit(X, y, sample_weight).transform(X)

    def transform(self, X: Any) -> Floats:
        """Return the topic shares of documents, N x K; rows sum to 1.

        A document without tokens gets the prior's mean. One row for every input row, in the same order; single
        precision where X has it.
        """
        source = self._checked_input(X)
        with running(self.n_jobs):
            return in_precision_of(X, self._shares(source))

    def _shares(self, source: Source) -> FloatArray:
        topics, prior = self._inference_topics()
        return topic_shares(topics, prior, source, method="map", max_iter=INFERENCE_ITERATIONS)

    def _inference_topics(self) -> tuple[FloatArray, FloatArray]:
        """Return the topics and the prior that documents are explained by."""
        return self.components_, self.doc_topic_prior_

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean held-out log-likelihood per token (natural logarithm; higher is better).

        By document completion: shares are inferred from one half of each document's tokens, the other half is scored.
        """
        log_likelihood, n_tokens = self._completion(self._checked_input(X))
        return log_likelihood / n_tokens

    def _completion(self, source: Source) -> tuple[float, float]:
        topics, prior = self._inference_topics()
        return completion_log_likelihood(topics, prior, source, random_state=self.random_state, n_jobs=self.n_jobs)

    def perplexity(self, X: Any) -> float:
        """Return exp(-score(X)): as uncertain as a fair choice among so many words."""
        return float(np.exp(-self.score(X)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of :meth:`transform`: topic_0, topic_1, ..."""
        check_is_fitted(self, "components_")
        return column_names(self.components_.shape[0])

    @overload
    def topics(
        self,
        n: int = 10,
        by: str = "relevance",
        *,
        vocabulary: Vocabulary | None = None,
        as_frame: Literal[False] = False,
        weight: float = 0.6,
    ) -> list[list[str]]: ...

    @overload
    def topics(
        self,
        n: int = 10,
        by: str = "relevance",
        *,
        vocabulary: Vocabulary | None = None,
        as_frame: bool,
        weight: float = 0.6,
    ) -> Any: ...

    def topics(
        self,
        n: int = 10,
        by: str = "relevance",
        *,
        vocabulary: Vocabulary | None = None,
        as_frame: bool = False,
        weight: float = 0.6,
    ) -> Any:
        """Return the most telling words of every topic.

        Parameters
        ----------
        n
            Words for each topic.
        by
            "relevance" (Sievert and Shirley 2014), "probability" or "lift".
        vocabulary
            The words, a list, an array or a mapping such as ``CountVectorizer().vocabulary_``; None takes those of
            the corpus or the column names that the model was fitted with, or x0, x1, ...
        as_frame
            Return a pandas table with topic, name, rank, word, probability, score and the topic's certainty (see
            :class:`polyad.models.Diagnostics`) in place of a list of lists.
        weight
            Of the probability against the lift in the relevance (lambda).
        """
        check_is_fitted(self, "components_")
        words = self._words(vocabulary)
        scores = word_scores(self.components_, self.word_probabilities_, by, weight=weight)
        ranked = top_words(scores, min(n, scores.shape[1]))
        if not as_frame:
            return [[words[w] for w in row] for row in ranked]
        import pandas  # optional: only for tables

        known = self.diagnostics_.certainty
        certainty = known if known.size else np.full(len(ranked), np.nan)
        names = topic_names(self, self.components_, self.word_probabilities_, words)
        return pandas.DataFrame(
            [
                (topic, names[topic], rank, words[w], self.components_[topic, w], scores[topic, w], certainty[topic])
                for topic, row in enumerate(ranked)
                for rank, w in enumerate(row)
            ],
            columns=["topic", "name", "rank", "word", "probability", "score", "certainty"],
        )

    def _words(self, vocabulary: Vocabulary | None) -> Sequence[str]:
        if vocabulary is None:
            names = getattr(self, "vocabulary_", None)
            if names is None:
                names = getattr(self, "feature_names_in_", None)
            return [f"x{m}" for m in range(self.n_features_in_)] if names is None else [str(name) for name in names]
        words = listed_words(vocabulary)
        if len(words) != self.n_features_in_:
            raise ValueError(
                f"The vocabulary has {how_many(len(words), 'words')}, and the model was fitted with "
                f"{self.n_features_in_}."
            )
        return words

    def stability(self, X: Any, *, n_groups: int = 32, n_replicates: int = 200, random_state: int = 0) -> FloatArray:
        """Return for each topic the mean probability mass that it shares with its bootstrap replicates, K numbers.

        1 does not change at all. See :func:`polyad.bootstrap`, which also gives standard errors.

        Parameters
        ----------
        X
            The documents that the model was fitted on, or others of the same kind.
        n_groups, n_replicates
            Groups of documents, and how often they are drawn.
        random_state
            Seed of the draws.
        """
        from polyad.models.uncertainty import bootstrap  # it knows the models

        found = bootstrap(
            self, X, n_groups=n_groups, n_replicates=n_replicates, random_state=random_state, n_jobs=self.n_jobs
        )
        return found.stability

    def to_pyldavis(self, X: Any) -> dict[str, Any]:
        """Return what ``pyLDAvis.prepare`` takes; see :func:`polyad.report.exchange.to_pyldavis`."""
        from polyad.report.exchange import to_pyldavis

        return to_pyldavis(self, X)

    def to_gensim(self) -> Any:
        """Return a gensim ``LdaModel`` with these topics; see :func:`polyad.report.exchange.gensim_model`."""
        from polyad.report.exchange import gensim_model

        return gensim_model(self)

    def to_anndata(self, data: Any, *, key: str = "topics") -> None:
        """Write shares, topics and names into an AnnData; see :func:`polyad.report.exchange.write_to_anndata`."""
        from polyad.report.exchange import write_to_anndata

        write_to_anndata(self, data, key=key)

    def top_documents(self, X: Any, n: int = 5) -> NDArray[np.intp]:
        """Return for every topic the rows of X with the largest share of it, K x n.

        One shard is looked at after the other: the shares of all documents are never in memory together.
        """
        source = self._checked_input(X)
        n_topics = self.components_.shape[0]
        best: FloatArray = np.empty((0, n_topics))
        best_rows: NDArray[np.intp] = np.empty((0, n_topics), np.intp)
        with running(self.n_jobs):
            for number, (first, last) in enumerate(pairwise(source.edges)):
                shares = self._shares(part_of(source, ((number, 0, last - first),)))
                rows = np.broadcast_to(np.arange(first, last)[:, None], shares.shape)
                best, best_rows = np.vstack([best, shares]), np.vstack([best_rows, rows])
                kept = top_documents(best, n).T
                best, best_rows = np.take_along_axis(best, kept, 0), np.take_along_axis(best_rows, kept, 0)
        return np.ascontiguousarray(best_rows.T)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that the input is non-negative and may be sparse."""
        return tags_of_counts(super().__sklearn_tags__())


def in_tokens(source: Source) -> SummedCounts:
    """Return documents summed up; proportions as documents of so many tokens.

    Counts that are there are 1 or more. Where they are less on average they are proportions, or weights such as tf-idf:
    taken for tokens, they would leave most documents too short for a triple of words, and for likelihood to tell
    topics apart.
    """
    summary = summarise_counts(source)
    if 0 < summary.tokens < summary.n_cells:
        source = scaled(source, PROPORTIONS_LENGTH / summary.mean_length)
        summary = summarise_counts(source)
    return SummedCounts(source, summary)


def column_names(n_topics: int) -> NDArray[np.object_]:
    """Return topic_0, topic_1, ..."""
    return np.array([f"topic_{k}" for k in range(n_topics)], dtype=object)


def checked_n_components(n_components: Any) -> int:
    """Return a number of topics, or say what is wrong with it."""
    if isinstance(n_components, bool) or not isinstance(n_components, int | np.integer) or n_components < 1:
        raise ValueError(f"n_components is {n_components!r}; give a whole number from 1 up.")
    return int(n_components)


def given_prior(prior: Any, n_components: int, name: str) -> FloatArray | None:
    """Return a prior that the user gave, one number for each topic; None where it is to be estimated."""
    if prior is None:
        return None
    refusal = ValueError(
        f"{name} must be None, a positive number, or {n_components} positive numbers, one for each topic."
    )
    try:
        values = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise refusal from None
    values = np.full(n_components, float(values)) if values.ndim == 0 else values.copy()
    if values.shape != (n_components,) or not np.isfinite(values).all() or values.min() <= 0:
        raise refusal
    return values
