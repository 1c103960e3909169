"""Latent Dirichlet allocation."""

from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.decompose import Diagonaliser
from polyad.decompose.orthogonal.registry import MethodName
from polyad.engine import Source, expect, ordered_by_content, resident
from polyad.inference.gibbs import gibbs_shares
from polyad.inference.posterior import topic_shares
from polyad.inference.presets import Polish, preset_of
from polyad.models.checks import refuse_unknown
from polyad.models.fitting import running
from polyad.models.recipes.background import (
    N_SHAPES,
    TopicStart,
    background_prior,
    found_topics,
    in_one_column,
    patient,
    prior_beside_background,
    start_background,
    with_shapes,
)
from polyad.models.recipes.dirichlet import planned_bytes, polish_topics
from polyad.models.recipes.moment_start import LENGTH_POWER, SummedCounts, first_sample
from polyad.models.recipes.own_prior import (
    PriorStart,
    begin,
    begin_with_prior,
    begin_with_total,
    document_shares,
    estimated_prior,
)
from polyad.models.recipes.plan import dirichlet_pass_cost, prior_cost, seconds_of, topic_plan
from polyad.models.stopwatch import StopWatch
from polyad.models.stream import copied, grown, take_over, tokens_in, tokens_of
from polyad.models.topics.base import INFERENCE_ITERATIONS, TopicModel, given_prior
from polyad.models.topics.diagnostics import diagnose
from polyad.moments import RawMoments, raw_moments

POSTERIOR_ITERATIONS = 50  # of the methods that come near the posterior mean, and more slowly than "map" to rest

Inference = Literal["map", "variational", "cvb0", "gibbs"]


class LDA(TopicModel):
    """Latent Dirichlet allocation by moments and a few passes of likelihood.

    Documents are mixtures of topics with Dirichlet proportions. The topics are found from the second and third
    moments of the words, which is deterministic and needs no restarts, and then polished by a few passes of EM.

    Parameters
    ----------
    n_components
        Number of topics.
    method
        Diagonaliser of the third moment: "power", "jacobi", "tensor_power", "spectral", "svtd", or a callable.
    weights
        Weights of the documents in the moments: "uniform", "length", or a power of the length. The 1.25 of the
        default is best on average over corpora and numbers of topics; from 1 to 2 it matters little.
    concentration
        Total of the Dirichlet prior, or "auto" to estimate it: from the third moment where that has the shape of a
        Dirichlet prior and predicts words, and otherwise, as on text, from pairs of words.
    doc_topic_prior
        Dirichlet parameters of the shares: None to estimate them, a number for each topic, or one for all. Of numbers
        for each topic, in any order, the largest belongs to the topic with the largest share of the documents, and so
        on.
    topic_word_prior
        Dirichlet parameters of the topics: tokens that the prior adds to every word of a topic, one number or one for
        each. None estimates it where topics look drawn from such a prior and the data tell it, and otherwise, as on
        text, adds 2 over all topics together.
    polish
        Likelihood passes after the moments: "off", "fast" (4 to 11, for as long as they gain), "full" (40 to 64, and
        30 under a wide prior of the topics; as "fast" where the prior is given or that of the moments), or a number of
        passes.
    inference
        How :meth:`transform` finds shares: "map" (a few steps of EM, the fastest), "variational" (Blei, Ng and Jordan
        2003), "cvb0" (Asuncion et al. 2009, the closest to the posterior mean of the fast ones) or "gibbs" (the mean
        of 150 sweeps of a sampler: slow and sure). The topics do not depend on it.
    background
        Learn one topic more, for what all documents share: stop words then need no list. It comes last.
    random_state
        Seed of the split of tokens in :meth:`score`, and of the sampler of ``inference="gibbs"``: None, a number, a
        ``RandomState`` or a ``Generator``. Nothing in a fit is drawn: topics depend on the data alone.
    n_jobs
        Threads; None for all cores. The result does not depend on it.
    verbose
        With 1 or more, standard error shows how far the fit is, and a summary when it is done. On a terminal, and with
        rich installed, that is a bar with percent, likelihood passes and the time left; elsewhere a line after every
        step and every likelihood pass. The logger "polyad" always gets the same lines at level INFO, and one for
        every pass over the data at DEBUG. It changes nothing in the result.

    Attributes
    ----------
    components_
        Topics: rows are word probabilities and sum to 1; the largest share of tokens first. With a background there
        are K + 1, and the last is the background.
    doc_topic_prior_
        Dirichlet parameters of the shares: proportions of documents, where ``topic_shares_`` are those of tokens; K + 1
        with a background.
    topic_word_prior_
        Tokens that the prior has added to every word of each topic; K + 1 with a background.
    topic_shares_
        Share of the corpus' tokens in each topic; K + 1 with a background.
    background_, background_prior_
        The shapes that the background has inside, because texts differ in how they use the words that all of them have,
        and their Dirichlet parameters: documents are explained by these rows in place of the last of ``components_``.
    word_probabilities_
        Word probabilities of the whole corpus.
    diagnostics_
        Spectrum, energy, what was too short or never seen, seconds of each step.

    Examples
    --------
    >>> from polyad.datasets import make_lda
    >>> from polyad.metrics import l1_error
    >>> sample = make_lda(2000, 300, 5, length=100)
    >>> model = LDA(5).fit(sample.counts)
    >>> l1_error(model.components_, sample.components) < 0.06
    True
    >>> model.transform(sample.counts[:2]).sum(axis=1).round(6)
    array([1., 1.])
    """

    background_: FloatArray | None
    background_prior_: FloatArray | None

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: MethodName | Diagonaliser = "power",
        weights: Literal["uniform", "length"] | float = LENGTH_POWER,
        concentration: float | Literal["auto"] = "auto",
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        polish: Polish = "fast",
        inference: Inference = "map",
        background: bool = False,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.weights = weights
        self.concentration = concentration
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.polish = polish
        self.inference = inference
        self.background = background
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_corpus(self, corpus: SummedCounts, watch: StopWatch) -> None:
        refuse_unknown("inference", self.inference, get_args(Inference))
        K, preset, n_rows = self.n_components, preset_of(self.polish), self.n_components
        if self._has_background():
            n_rows, preset = K + N_SHAPES, patient(preset)
        plan = topic_plan(K, preset.n_passes, pass_cost=dirichlet_pass_cost(n_rows), prior_cost=prior_cost(K))
        expect(plan)
        given = given_prior(self.doc_topic_prior, K, "doc_topic_prior")
        smoothing = given_prior(self.topic_word_prior, K, "topic_word_prior")
        memory = planned_bytes(corpus, n_rows, self.method, seconds_of(plan, corpus, preset))
        with watch("moments"):
            raw = raw_moments(first_sample(corpus.source, preset.n_passes), self.weights)
            begun = self._begin(raw, corpus, given, polished=preset.n_passes > 0)
            if self.background:
                start = start_background(raw, corpus, begun.start.topics)
            else:
                start = TopicStart(begun.topics, K)
        with watch("polish"):
            prior = start.prior(self._background_prior(given, begun) if self.background else begun.prior)
            near = begun.is_own and not self.background
            polished = polish_topics(
                corpus, start.rows, prior, start.smoothing(smoothing), preset, near=near, restraint=start.restraint
            )
        with watch("prior"):
            found = found_topics(start, polished)
            order = self._keep(found.components, found.tokens, corpus, n_topics=K)
            if given is not None and prior is not None:
                self.doc_topic_prior_ = start.in_one(prior)[order]
            elif self.background and self._given_total() is None:
                self.doc_topic_prior_ = background_prior(self.topic_shares_)
            else:
                self.doc_topic_prior_ = self._estimated_prior(raw, corpus, begun)
            self.background_ = found.shapes if self.background else None
            self.background_prior_ = found.parts * self.doc_topic_prior_[-1] if self.background else None
        self.diagnostics_ = diagnose(
            corpus,
            begun.start,
            polished.objective,
            watch,
            memory,
            order,
            topic_word_prior=start.in_one(polished.added[0]),
            concentration=begun.concentration,
        )

    def _begin(self, raw: RawMoments, corpus: SummedCounts, given: FloatArray | None, *, polished: bool) -> PriorStart:
        """Return where polishing begins: with the prior or the total that the user gives, or with those of the data."""
        K, total = self.n_components, self._given_total()
        if given is not None:
            return begin_with_prior(raw, corpus, K, self.method, given)
        if total is not None:
            return begin_with_total(raw, corpus, K, self.method, total)
        return begin(raw, corpus, K, self.method, polished=polished)

    def _background_prior(self, given: FloatArray | None, begun: PriorStart) -> FloatArray | None:
        """Return the prior of the topics beside a background: as given, or their part of a given total, even.

        Shares that topics have of documents before they are stripped of the background say little of those after.
        """
        total = self._given_total()
        if given is not None:
            return begun.prior
        return None if total is None else prior_beside_background(total, self.n_components)

    def _has_background(self) -> bool:
        if not isinstance(self.background, bool | np.bool_):
            raise ValueError(f"background is {self.background!r}; give True or False.")
        return bool(self.background)

    def _inference_topics(self) -> tuple[FloatArray, FloatArray]:
        if self.background_ is None or self.background_prior_ is None:
            return super()._inference_topics()
        return with_shapes(self.components_, self.doc_topic_prior_, self.background_, self.background_prior_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of :meth:`transform`: topic_0, topic_1, ..., and background."""
        names = super().get_feature_names_out(input_features)
        if self.background_ is not None:
            names[-1] = "background"
        return names

    def _shares(self, source: Source) -> FloatArray:
        topics, prior = self._inference_topics()
        if self.inference == "gibbs":
            shares = gibbs_shares(topics, prior, source, random_state=self.random_state)
        else:
            n_iter = INFERENCE_ITERATIONS if self.inference == "map" else POSTERIOR_ITERATIONS
            shares = topic_shares(topics, prior, source, method=self.inference, max_iter=n_iter)
        return shares if self.background_ is None else in_one_column(shares, len(self.background_))

    def partial_fit(self, X: Any, y: object = None, *, forget: float = 0.0, grow: bool = False) -> Self:
        """Learn from more documents, which need not be kept.

        The first call is a fit. Each later one finds the expected tokens of the new documents under the topics so far
        and adds them: a step of EM in which documents seen before keep the tokens that they had. Topics keep their
        numbers. A fit to all documents at once is better, since it looks at each again with better topics; a large
        first batch is what counts most, since all topics are found there.

        Parameters
        ----------
        X
            As for :meth:`fit`, over the same words. Text (:class:`polyad.corpus.CorpusSource`) is counted over the
            words of the model, and words that it lacks are lost. Hashed words are a vocabulary like any other.
        y
            Not used.
        forget
            The share of all tokens so far that is forgotten before these are added, from 0 (nothing) to below 1: for
            topics that change with time. ``diagnostics_.n_tokens`` is then what is left.
        grow
            Take words of a corpus that the model lacks as new words, after its own. They are new to all topics, and
            tokens of them in documents seen before stay lost.
        """
        if not hasattr(self, "components_"):
            return self.fit(X)
        given: Any = forget  # whatever a user hands in
        if isinstance(given, str) or not 0 <= given < 1:
            raise ValueError(f"forget is {forget!r}; give a share from 0 to below 1.")
        words, before = self.vocabulary_, tokens_of(self).kept(1 - forget)
        model = copied(self)  # what went wrong half way must leave no trace
        if grow:
            words, X = grown(self, X)
            before = before.with_words(len(words) - self.n_features_in_)
            model.vocabulary_, model.n_features_in_ = words, len(words)
        source = model._checked_input(X)
        with running(self.n_jobs):
            source = resident(ordered_by_content(source))
            found, likelihood = tokens_in(source, before, self.doc_topic_prior_)
        take_over(model, before.plus(found), (likelihood,))
        self.__dict__ = model.__dict__
        return self

    def _given_total(self) -> float | None:
        """Return the prior's total where the user gives it."""
        if isinstance(self.concentration, str):
            if self.concentration != "auto":
                raise ValueError(f"concentration is {self.concentration!r}; give 'auto' or a positive number.")
            return None
        if not (np.isfinite(self.concentration) and self.concentration > 0):
            raise ValueError(f"concentration is {self.concentration}; give 'auto' or a positive number.")
        return float(self.concentration)

    def _estimated_prior(self, raw: RawMoments, corpus: SummedCounts, begun: PriorStart) -> FloatArray:
        """Return the topics' shares of the mean document times the total, given or estimated."""
        total = self._given_total()
        if total is not None:
            return total * document_shares(self.components_, corpus.source)
        return estimated_prior(raw, corpus.source, begun, self.components_, self.weights)
