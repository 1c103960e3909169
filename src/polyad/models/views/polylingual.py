"""Polylingual topics: two or more aligned texts whose documents share their topics."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray
from polyad.base.plurals import how_many, there_are
from polyad.base.words import Vocabulary, listed_words
from polyad.decompose.similarity.sweeps import SimilarityDiagonaliser
from polyad.engine import Source, aligned, count_blocks, expect, first_rows, side_by_side, view_of
from polyad.engine.sources.repeated import weighted
from polyad.engine.sources.views import warn_of_unknown_orders
from polyad.inference.heldout import completion_log_likelihood
from polyad.inference.polish import Polished
from polyad.inference.posterior import topic_shares
from polyad.inference.prediction import cross_log_likelihood
from polyad.inference.presets import Polish, Preset, preset_of
from polyad.metrics.words import top_words, word_scores
from polyad.models.features import refuse_other_columns, refuse_other_words, views_by_name
from polyad.models.fitting import fitted_at_once, running
from polyad.models.recipes.aligned_prior import LargestText, largest_text, shares_of_documents
from polyad.models.recipes.aligned_start import (
    AlignedStart,
    AlignedTexts,
    align_texts,
    aligned_bytes,
    start_from_aligned,
)
from polyad.models.recipes.dirichlet import polish_prior, polish_topics
from polyad.models.recipes.moment_start import FLOOR_SHARE, UNIGRAM_SHARE
from polyad.models.recipes.own_prior import USUAL_CONCENTRATION, floor_share
from polyad.models.recipes.plan import aligned_plan, dirichlet_pass_cost, seconds_of
from polyad.models.recipes.private_topics import with_private_topics
from polyad.models.recipes.projection import Projection, shared_projections, unit_projections
from polyad.models.saving import SavedModel
from polyad.models.showing import ShownModel
from polyad.models.stopwatch import StopWatch
from polyad.models.text_sources import counted, counted_over, known_columns, refuse_other_documents
from polyad.models.topics.base import INFERENCE_ITERATIONS, checked_n_components, column_names
from polyad.models.topics.diagnostics import Diagnostics
from polyad.models.views.base import SimilarityMethod

TOTALS = 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0  # of the prior, to choose from: a factor of two changes little
PRIOR_ROWS = 2000  # documents to choose by


class PolylingualLDA(SavedModel, ShownModel, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Topics of two or more aligned texts, such as documents and their translations.

    The texts of a row share their topic shares, and each view has its own words for every topic. The topics are found
    from the cross moments of the views, and then polished by the same passes of EM as those of :class:`LDA`. Neither
    the order of the rows nor that of the views matters.

    Parameters
    ----------
    n_components
        Number of topics, K.
    polish
        Likelihood passes after the moments: "off", "fast", "full", or a number of passes.
    n_private
        Topics that each view has for itself beside the K that all share; they need passes of likelihood.
    concentration
        Total of the Dirichlet prior of the topic shares, or "auto": the one that the third moment of the largest view
        tells, where it has the shape of a Dirichlet prior and predicts words, and otherwise, as on text, the one under
        which views predict each other best.
    min_frequency
        Words in fewer documents are left out of the whitening, not of the topics; None chooses by the number of
        documents.
    method
        A diagonaliser by similarity: "jdtm", "exact", "sh-rt", "just", "first_order", "spectral", or a callable.
    max_iter
        Of the diagonaliser.
    random_state
        Seed of the split of tokens in :meth:`score`. Nothing in a fit is drawn.
    n_jobs
        Threads; None for all cores. The result does not depend on it.
    verbose
        With 1 or more, a summary of the fit goes to standard error; the logger "polyad" always gets it.

    Attributes
    ----------
    components_
        The topics of each view: rows are word probabilities and sum to 1; the largest share of tokens first.
    all_components_
        The same, followed by the topics that one view has for itself, those of the first view first; zeros in the
        other views. L is K + n_private for each view.
    doc_topic_prior_
        Dirichlet parameters of the shares: proportions of documents where the total is given or told by the moments.
    topic_shares_
        Share of the tokens in each shared topic.
    projections_
        Directions of :meth:`project`, up to two for each topic.
    centres_
        What :meth:`project` takes off: the mean of the documents fitted to.
    vocabularies_
        The words of each view; None for a view whose counts came without words.
    view_names_
        The names of the views, where they were given by name.
    diagnostics_
        Spectrum, energy, what was too short or never seen, seconds of each step.

    Examples
    --------
    >>> from polyad.datasets.views import make_discrete_cca
    >>> sample = make_discrete_cca(1000, (20, 30), 3, n_private=1, private_length=50.0)
    >>> model = PolylingualLDA(3).fit([sample.X, sample.Y])
    >>> [topics.shape for topics in model.components_], model.transform([sample.X, None]).shape
    ([(3, 20), (3, 30)], (1000, 3))
    """

    has_topics: ClassVar[bool] = True
    n_views: ClassVar[int] = 0  # any number of them
    plans_memory: ClassVar[bool] = True

    components_: list[FloatArray]
    all_components_: list[FloatArray]
    doc_topic_prior_: FloatArray
    topic_shares_: FloatArray
    projections_: list[FloatArray]
    centres_: list[FloatArray]
    vocabularies_: list[tuple[str, ...] | None]
    text_options_: list[Any]
    view_names_: tuple[str, ...] | None
    diagnostics_: Diagnostics

    def __init__(
        self,
        n_components: int = 2,
        *,
        polish: Polish = "fast",
        n_private: int = 0,
        concentration: float | Literal["auto"] = "auto",
        min_frequency: int | None = None,
        method: SimilarityMethod | SimilarityDiagonaliser = "jdtm",
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.polish = polish
        self.n_private = n_private
        self.concentration = concentration
        self.min_frequency = min_frequency
        self.method = method
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fitted_at_once
    def fit(
        self,
        views: Any,
        y: object = None,
        sample_weight: Any = None,
        *,
        checkpoint: Any = None,
        client: Any = None,
        memory_limit: Any = None,
    ) -> Self:
        """Learn the topics that aligned texts share.

        Parameters
        ----------
        views
            A list of two or more views, documents x words each: row i of all of them belongs together, and a view
            that lacks a document has an empty row. Each is anything that :meth:`LDA.fit` takes; a source of several
            views is a list of them. Views with names are a mapping, such as ``{"en": X1, "fr": X2}``.
        y
            Not used.
        sample_weight
            How often each document counts, whole numbers from 0 up: the same as repeating its rows.
        checkpoint, client, memory_limit
            As of :meth:`polyad.LDA.fit`.
        """
        watch, K, given = StopWatch(), checked_n_components(self.n_components), self._given_total()
        with watch("read"):
            texts = align_texts([weighted(view, sample_weight) for view in self._checked_views(views)])
            preset = self._preset()
            n_topics = K + self.n_private * len(texts.order)
            plan = aligned_plan(K, preset.n_passes, pass_cost=dirichlet_pass_cost(n_topics))
            seconds = seconds_of(plan, texts.corpus, preset, sampled=False, few_passes=False)
            memory = aligned_bytes(texts, n_topics, seconds)
        expect(plan)
        with watch("moments"):
            largest = None if given is not None or self.n_private else largest_text(texts, K, preset.n_passes)
            own, told = (given, given) if largest is None else (largest.total, largest.concentration)
            c0 = USUAL_CONCENTRATION if told is None else told
            start = start_from_aligned(
                texts, K, concentration=c0, min_frequency=self.min_frequency, method=self.method,
                max_iter=self.max_iter,
            )  # fmt: skip
        with watch("polish"):
            polished = self._polished(texts, start, preset, own)
        with watch("prior"):
            order = self._keep(texts, polished, largest)
        with watch("projections"):
            parts = [start.directions[:, first:last] for first, last in pairwise(texts.edges)]
            self._keep_projections(texts, shared_projections(texts.source, parts))
        self.diagnostics_ = _diagnose(texts, start, polished, watch, c0, memory, order)
        return self

    def _checked_views(self, views: Any) -> list[Source]:
        """Return the views that were given, and keep their words."""
        self.view_names_ = tuple(map(str, views)) if isinstance(views, Mapping) else None
        given = [counted(view, f"View {number}") for number, view in enumerate(_listed(views))]
        refuse_other_documents(given)
        sources = [_counts(view, number) for number, view in enumerate(given)]
        warn_of_unknown_orders(sources)
        # A corpus brings its words and how its text was split; those of an earlier fit are forgotten.
        known = [known_columns(view) for view in given]
        self.vocabularies_, self.text_options_ = [words for words, _ in known], [options for _, options in known]
        n_rows = aligned(*sources).n_rows
        if n_rows < max(3, self.n_components):
            raise ValueError(
                f"The views have {how_many(n_rows, 'rows')}, too few for {how_many(self.n_components, 'topics')}: "
                "give at least 3 and as many as topics."
            )
        return sources

    def _given_total(self) -> float | None:
        """Return the prior's total where the user gives it."""
        value: Any = self.concentration
        if isinstance(value, str) and value == "auto":
            return None
        if isinstance(value, str) or not (np.isfinite(value) and value > 0):
            raise ValueError(f"concentration is {value!r}; give 'auto' or a positive number.")
        return float(value)

    def _preset(self) -> Preset:
        preset = preset_of(self.polish)
        if isinstance(self.n_private, bool) or not isinstance(self.n_private, int | np.integer) or self.n_private < 0:
            raise ValueError(f"n_private is {self.n_private!r}; give a whole number from 0 up.")
        if self.n_private and not preset.n_passes:
            raise ValueError(
                f"n_private is {self.n_private}, and topics that one view has for itself are learned by passes of "
                f"likelihood, of which polish={self.polish!r} gives none: give 'fast', 'full' or a number of passes."
            )
        return preset

    def _polished(self, texts: AlignedTexts, start: AlignedStart, preset: Preset, own: float | None) -> Polished:
        """Polish the topics of the moments; the topics of single views start from what the others do not explain.

        With a total of their ``own``, given or told, topics are near the truth already; text has none.
        """
        near = own is not None and not self.n_private
        share = floor_share(texts.corpus) if near else (UNIGRAM_SHARE if preset.n_passes else FLOOR_SHARE)
        topics = start.with_background(texts, share)
        if not preset.n_passes:
            return Polished(topics, texts.corpus.n_tokens * start.shares[None], (), texts.edges)
        if own is not None and near:
            prior = own * shares_of_documents(texts, topics)
            return polish_topics(texts.corpus, topics, prior, None, preset, near=True)
        if self.n_private:
            topics = with_private_topics(texts, topics, self.n_private)
        prior = polish_prior(self.n_components)
        prior = np.concatenate([prior, np.full(len(topics) - self.n_components, prior[0])])
        return polish_topics(texts.corpus, topics, prior, None, preset)

    def _keep(self, texts: AlignedTexts, polished: Polished, largest: LargestText | None) -> NDArray[np.intp]:
        """Store the topics in their canonical order, and their prior; return the order of those that views share."""
        K, n_private = self.n_components, self.n_private
        order = np.argsort(-polished.topic_tokens[:K], kind="stable")
        for number in range(len(texts.order)):  # the topics of a view, in the order in which the views were given
            first = K + n_private * texts.order.index(number)
            order = np.append(
                order, first + np.argsort(-polished.topic_tokens[first : first + n_private], kind="stable")
            )
        components, tokens = polished.components[order], polished.topic_tokens[order]
        parts = [np.ascontiguousarray(components[:, first:last]) for first, last in pairwise(texts.edges)]
        self.all_components_ = texts.as_given(parts)
        self.topic_shares_ = tokens[:K] / max(float(tokens[:K].sum()), 1e-300)
        if largest is not None and largest.total is not None:
            self.doc_topic_prior_ = largest.prior(components[:, texts.words_of((0,))])
        else:
            self.doc_topic_prior_ = self._prior(texts, components, tokens / max(float(tokens.sum()), 1e-300))
        self._unfold()
        return order[:K]

    def _prior(self, texts: AlignedTexts, components: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the topics' shares times a total: given, or that under which texts predict each other best.

        The total that the moments of pairs of words give is several times as large on translations, and predicts
        worse: words of a document are not drawn one by one.
        """
        floor = np.maximum(shares, 1e-4 / len(shares))
        if self.concentration != "auto":
            return float(self.concentration) * (floor if self.n_private else shares_of_documents(texts, components))
        sample = first_rows(side_by_side(texts.source, texts.groups), PRIOR_ROWS)
        topics = [components[:, texts.words_of(group)] for group in texts.groups]
        priors = [total * floor for total in TOTALS]
        return priors[
            int(np.argmax(cross_log_likelihood(sample, (topics[0], topics[1]), priors, INFERENCE_ITERATIONS)))
        ]

    def _keep_projections(self, texts: AlignedTexts, projections: list[Projection]) -> None:
        self.projections_ = texts.as_given([projection.weights for projection in projections])
        self.centres_ = texts.as_given([projection.centre for projection in projections])

    def _unfold(self) -> None:
        """Set what follows from other attributes; a model that was loaded has only these."""
        self.components_ = [np.ascontiguousarray(topics[: self.n_components]) for topics in self.all_components_]

    def _known_views(self, views: Any) -> dict[int, Source]:
        """Return the views that are given, by their numbers, checked against those fitted to."""
        check_is_fitted(self, "components_")
        given = views_by_name(views, self.view_names_) if isinstance(views, Mapping) else _listed(views, at_least=1)
        if len(given) != len(self.components_):
            raise ValueError(
                f"{there_are(len(given), 'views')}, and the model was fitted with {len(self.components_)}: give one "
                "entry for each, None for a view that is not known."
            )
        refuse_other_documents(given)
        known = {number: self._checked_view(view, number) for number, view in enumerate(given) if view is not None}
        if not known:
            raise ValueError("All views are None: give at least one.")
        warn_of_unknown_orders(list(known.values()))
        return known

    def _checked_view(self, view: Any, number: int) -> Source:
        """Return new documents of one view, counted over its fitted words."""
        fitted, n_words = self.vocabularies_[number], self.components_[number].shape[1]
        view = counted_over(view, fitted, n_words, self.text_options_[number], f"View {number}")
        source, words = _counts(view, number), known_columns(view)[0]
        if words is not None and fitted is not None:
            refuse_other_words(words, fitted)
        refuse_other_columns(source.n_columns, n_words, f"View {number}")
        return source

    def fit_transform(self, views: Any, y: object = None, sample_weight: Any = None) -> FloatArray:
        """Fit, and return the topic shares of the same documents."""
        return self.fit(views, y, sample_weight).transform(views)

    def transform(self, views: Any) -> FloatArray:
        """Return the topic shares of documents from some of their views, N x K; rows sum to 1.

        Parameters
        ----------
        views
            One entry for each view that the model was fitted with, in the same order: documents x words, or None for
            a view that is not known; or a mapping with some of the views by their names.

        Notes
        -----
        A document without a known word in any of the views gets the mean of the prior.
        """
        known = self._known_views(views)
        topics = np.hstack([self.all_components_[number] for number in known])
        with running(self.n_jobs):
            shares = topic_shares(
                topics, self.doc_topic_prior_, aligned(*known.values()), method="map", max_iter=INFERENCE_ITERATIONS
            )[:, : self.n_components]
        return shares / shares.sum(axis=1, keepdims=True)

    def score(self, views: Any, y: object = None) -> float:
        """Return the mean held-out log-likelihood per token (natural logarithm; higher is better).

        As in :class:`LDA`: shares are inferred from one half of the tokens of a document, of all its views together,
        and the other half is scored. The words of a view are scored among the words of all views.

        Parameters
        ----------
        views
            As in :meth:`transform`.
        y
            Not used.
        """
        known = self._known_views(views)
        # p(view, word | topic): how much of a topic's tokens are in a view is not part of the model, and taken as even.
        topics = np.hstack([self.all_components_[number] for number in known])
        there = topics.sum(axis=1) > 0  # not the topics that an absent view has for itself
        topics = topics[there] / topics[there].sum(axis=1, keepdims=True)
        log_likelihood, n_tokens = completion_log_likelihood(
            topics, self.doc_topic_prior_[there], side_by_side(aligned(*known.values()), [range(len(known))]),
            random_state=self.random_state, n_jobs=self.n_jobs,
        )  # fmt: skip
        return log_likelihood / n_tokens

    def perplexity(self, views: Any) -> float:
        """Return exp(-score(views)): as uncertain as a fair choice among so many words."""
        return float(np.exp(-self.score(views)))

    def project(self, X: Any, view: int = 0) -> FloatArray:
        """Return unit vectors, N x D, under which a document lies close to its partners in other views.

        Products of the projections of two views are cosines: for retrieval across languages they are better than
        topic shares. The length of a document does not matter. A document without a known word is a row of zeros.

        Parameters
        ----------
        X
            Documents x words of one view.
        view
            Its number.
        """
        check_is_fitted(self, "components_")
        if isinstance(view, bool) or not isinstance(view, int | np.integer) or not 0 <= view < len(self.components_):
            raise ValueError(f"view is {view!r}; give a number from 0 to {len(self.components_) - 1}.")
        source = self._checked_view(X, int(view))
        with running(self.n_jobs):
            return unit_projections(source, Projection(self.projections_[view], self.centres_[view]))

    def topics(
        self, n: int = 10, by: str = "relevance", *, vocabularies: Sequence[Vocabulary | None] | None = None
    ) -> list[list[list[str]]]:
        """Return the most telling words of every topic, a list of lists for each view.

        Parameters
        ----------
        n
            Words for each topic.
        by
            "relevance" (Sievert and Shirley 2014), "probability" or "lift".
        vocabularies
            The words of each view; None takes those of the corpora that the model was fitted with, or x0, x1, ...
        """
        check_is_fitted(self, "components_")
        given = self.vocabularies_ if vocabularies is None else vocabularies
        found = []
        for topics, words in zip(self.components_, given, strict=True):
            names = [f"x{m}" for m in range(topics.shape[1])] if words is None else listed_words(words)
            scores = word_scores(topics, self.topic_shares_ @ topics, by)
            found.append([[names[w] for w in row] for row in top_words(scores, min(n, topics.shape[1]))])
        return found

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that the input is a list of views, which its own checks do not know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of :meth:`transform`: topic_0, topic_1, ..."""
        check_is_fitted(self, "components_")
        return column_names(self.n_components)


def _listed(views: Any, at_least: int = 2) -> list[Any]:
    """Return views as a list of them, or say what is wrong."""
    if isinstance(views, Source):
        views = [view_of(views, number) for number in range(len(views.widths))]
    if isinstance(views, Mapping):
        views = list(views.values())
    if not isinstance(views, list | tuple):
        raise ValueError(f"The views are one {type(views).__name__}; give a list of them: fit([X1, X2, ...]).")
    if len(views) < at_least:
        raise ValueError(
            f"{len(views)} view is given, and aligned texts are two or more: fit([X1, X2, ...]). For one text there is "
            "LDA."
        )
    if at_least > 1 and any(view is None for view in views):
        raise ValueError("A view is None; only transform, predict and score take views that are not there.")
    return list(views)


def _counts(view: Any, number: int) -> Source:
    """Return the counts of a view; a message says which."""
    source = count_blocks(view, name=f"View {number}")
    if len(source.widths) != 1:
        raise ValueError(f"View {number} is a source of {len(source.widths)} views; give its views one by one.")
    return source


def _diagnose(
    texts: AlignedTexts,
    start: AlignedStart,
    polished: Polished,
    watch: StopWatch,
    concentration: float,
    memory: int,
    order: NDArray[np.intp],
) -> Diagnostics:
    """Put together what the steps of a fit found."""
    summary = texts.corpus.summary
    return Diagnostics(
        n_documents=summary.n_documents,
        n_words=texts.edges[-1],
        n_tokens=texts.corpus.n_tokens,
        n_too_short=summary.n_too_short,
        n_unseen_words=summary.n_unseen_words,
        spectrum=start.whitening.spectrum,
        gap=start.whitening.gap,
        noise=float("nan"),  # singular values have no sign that would tell
        energy=start.similarity.energy,
        certainty=start.certainty[order],
        concentration=concentration,
        topic_word_prior=np.empty(0),
        objective=polished.objective,
        seconds=dict(watch.seconds),
        memory_bytes=memory,
    )
