"""Discrete ICA, with the gamma-Poisson model as its parametric case."""

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray, Floats, in_precision_of
from polyad.base.caller import warn_caller
from polyad.base.determined import NoiseWarning
from polyad.decompose import Diagonaliser
from polyad.decompose.orthogonal.registry import MethodName
from polyad.engine import Block, Source, expect, rows
from polyad.inference.heldout import completion_log_likelihood
from polyad.inference.posterior import topic_shares
from polyad.inference.presets import Polish, preset_of
from polyad.models.fitting import running
from polyad.models.recipes.dirichlet import planned_bytes, polish_topics
from polyad.models.recipes.moment_start import LENGTH_POWER, SummedCounts, first_sample, start_from_moments
from polyad.models.recipes.own_prior import begin_gamma_poisson
from polyad.models.recipes.plan import dirichlet_pass_cost, prior_cost, seconds_of, topic_plan
from polyad.models.stopwatch import StopWatch
from polyad.models.topics.base import INFERENCE_ITERATIONS, TopicModel, given_prior
from polyad.models.topics.diagnostics import diagnose
from polyad.moments import SymmetricMoments, discrete_ica_moments, raw_moments
from polyad.moments.counts.concentration import estimate_concentration
from polyad.moments.counts.generalised_ica import STEP, generalised_ica_moments
from polyad.moments.counts.source_cumulants import source_cumulants

STATISTICS = ("cumulants", "generalised")
RATES = ("shared", "own")
LENGTHS_VARY = 0.5  # of the variance that independent intensities give the lengths: with less a warning is due
# Factor by which the total that the lengths tell may differ from that of pairs of words, and be believed.
AGREEING = 1.5
FURTHEST = 100.0  # most by which the shape of a topic may differ from what it is with a rate that all share


class DiscreteICA(TopicModel):
    """Discrete ICA: counts are Poisson with rates that are sums of independent topic intensities.

    With gamma intensities it is the gamma-Poisson model, which is LDA with random document lengths: unlike
    LDA it models how long documents are, and is wrong where all have the same length. Topics come from the cumulants
    of the counts, whatever the distribution of the intensities; the prior and the polishing passes are those of
    the gamma-Poisson model.

    Parameters
    ----------
    n_components
        Number of topics.
    method
        Diagonaliser of the third cumulant, one of :data:`polyad.decompose.DIAGONALISERS` or a callable; None takes
        "power", and "jacobi" for generalised covariances, which are no slices of a tensor.
    statistics
        "cumulants" (of order three), or "generalised": covariances of documents weighed by exp(t'x) at 2 K processing
        points t, each of them a pass (section 4.4 of the thesis).
    step
        Size of the processing points, in standard deviations of the whitened counts.
    rates
        Of the gamma intensities: "shared" has one for all topics, which is LDA with random document lengths; "own" lets
        topics differ also in how large their intensities are in the documents that have them.
    normalize
        Whether :meth:`transform` gives shares that sum to 1, or intensities: expected tokens of each topic.
    doc_topic_prior
        Gamma shapes of the intensities: None to estimate them, a number for each topic, or one for all; which belongs
        to which topic is as in :class:`polyad.LDA`.
    topic_word_prior
        Dirichlet parameters of the topics, one number or one for each: None estimates it where topics look drawn from
        such a prior and the data tell it, and otherwise adds 2 tokens to every word over all topics together.
    polish
        Likelihood passes after the moments: "off", "fast" (4 to 11, for as long as they gain), "full" (40 to 64, and
        30 under a wide prior of the topics), or a number of passes.
    random_state, n_jobs, verbose
        As in :class:`polyad.LDA`.

    Attributes
    ----------
    components_, topic_shares_, word_probabilities_, diagnostics_
        As in :class:`polyad.LDA`.
    doc_topic_prior_
        Gamma shapes of the intensities.
    rate_
        The sum of the shapes over the mean length: the rate of the intensities, where they share one.
    rates_
        The rate of each topic's intensities.

    Examples
    --------
    >>> from polyad.datasets import make_gamma_poisson
    >>> from polyad.metrics import l1_error
    >>> sample = make_gamma_poisson(2000, 300, 5, mean_length=100.0, prior=0.3)
    >>> model = DiscreteICA(5).fit(sample.counts)
    >>> l1_error(model.components_, sample.components) < 0.06
    True
    """

    rate_: float

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: MethodName | Diagonaliser | None = None,
        statistics: str = "cumulants",
        step: float = STEP,
        rates: str = "shared",
        normalize: bool = True,
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        polish: Polish = "fast",
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.statistics = statistics
        self.step = step
        self.rates = rates
        self.normalize = normalize
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.polish = polish
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_corpus(self, corpus: SummedCounts, watch: StopWatch) -> None:
        K, preset = self.n_components, preset_of(self.polish)
        plan = topic_plan(K, preset.n_passes, pass_cost=dirichlet_pass_cost(K), prior_cost=prior_cost(K))
        expect(plan)
        given = given_prior(self.doc_topic_prior, K, "doc_topic_prior")
        smoothing = given_prior(self.topic_word_prior, K, "topic_word_prior")
        for name, value, known in (("statistics", self.statistics, STATISTICS), ("rates", self.rates, RATES)):
            if value not in known:
                raise ValueError(f"{name} is {value!r}; give one of {', '.join(map(repr, known))}.")
        method: Any = self.method
        if method is None:
            method = "power" if self.statistics == "cumulants" else "jacobi"
        memory = planned_bytes(corpus, K, method, seconds_of(plan, corpus, preset))
        with watch("moments"):
            sampled = first_sample(corpus.source, preset.n_passes)
            cumulants = discrete_ica_moments(sampled)
            moments = cumulants if self.statistics == "cumulants" else generalised_ica_moments(sampled, self.step)
            start = start_from_moments(moments, corpus, K, method, second_of=_covariances)
            begun = begin_gamma_poisson(start, corpus, given, polished=preset.n_passes > 0)
        with watch("polish"):
            polished = polish_topics(corpus, begun.topics, begun.prior, smoothing, preset, near=begun.is_own)
        with watch("prior"):
            order = self._keep(polished.components, polished.topic_tokens, corpus)
            self.doc_topic_prior_ = (
                begun.prior[order]
                if given is not None
                else self._estimated_shapes(corpus, cumulants, start.topics[order])
            )
            self.rate_ = float(self.doc_topic_prior_.sum() / corpus.summary.mean_length)
        self.diagnostics_ = diagnose(
            corpus, start, polished.objective, watch, memory, order, topic_word_prior=polished.added[0]
        )

    def _estimated_shapes(self, corpus: SummedCounts, cumulants: SymmetricMoments, topics: FloatArray) -> FloatArray:
        """Return the shapes of the intensities: their total over the topics' shares of tokens, or each by itself.

        With rates of their own, each topic's mean and variance tell its shape, mean^2 / variance. The variance is read
        off the cumulants by the topics that these gave: polishing takes all rates to be the same.
        """
        total = self._total_shape(corpus)
        shapes = np.maximum(total * self.topic_shares_, 1e-4 * total / self.n_components)
        if self.rates == "shared":
            return shapes
        means = corpus.summary.mean_length * self.topic_shares_
        _, variances, _ = source_cumulants(cumulants, topics)
        told = (variances > 0) & (means > 0)
        own = means**2 / np.where(told, variances, 1.0)
        return np.where(told, np.clip(own, shapes / FURTHEST, FURTHEST * shapes), shapes)

    def _total_shape(self, corpus: SummedCounts) -> float:
        """Return the total of the shapes, from the spread of the lengths (eq. 23) as far as pairs of words agree.

        Given the lengths, intensities with one rate are LDA, so that pairs of words tell their total as well, whatever
        the law of the lengths is. The spread of the lengths is more accurate where it follows from the intensities.
        """
        by_pairs, _ = estimate_concentration(raw_moments(corpus.source, LENGTH_POWER), self.components_)
        summary = corpus.summary
        excess, expected = summary.length_variance - summary.mean_length, summary.mean_length**2 / by_pairs
        noise = 4 * np.sqrt((2 + 6 / by_pairs) / summary.n_documents)  # four standard errors of a gamma's variance
        if self.n_components == 1 or excess >= min(LENGTHS_VARY, 1 - noise) * expected:
            apart = float(np.log(expected / max(excess, 1e-9 * expected)))  # of the two totals, in logarithms
            # All of the difference counts while it is small, and none of it where the two contradict each other.
            part = float(np.clip(2 - abs(apart) / np.log(AGREEING), 0.0, 1.0))
            if 0 < part < 1 and self.rates == "shared":
                warn_caller(
                    f"These documents do not tell the total of the shapes well: it is {by_pairs * np.exp(apart):.2g} "
                    f"by the lengths of the documents, {by_pairs:.2g} by pairs of words. Give more documents.",
                    NoiseWarning,
                )
            return by_pairs * float(np.exp(part * apart))
        warn_caller(
            "The lengths of the documents vary less than independent topics would make them (variance "
            f"{summary.length_variance:.3g}, of which {summary.mean_length:.3g} is counting; {expected:.3g} more "
            "would be expected): topics that make room for each other are not independent, and discrete ICA stays "
            "wrong with any number of such documents. Use LDA."
        )
        return by_pairs

    @property
    def rates_(self) -> FloatArray:
        """The rate of each topic's intensities: its shape over its mean tokens in a document."""
        if self.rates == "shared":
            return np.full(self.doc_topic_prior_.size, self.rate_)
        mean_length = self.doc_topic_prior_.sum() / self.rate_
        return self.doc_topic_prior_ / (mean_length * np.maximum(self.topic_shares_, 1e-12))

    def _weights(self, exposure: float) -> FloatArray:
        """Return 1 / (exposure + rate) of each topic: what a token of it adds to its posterior mean intensity.

        The exposure is the part of a document that is seen.
        """
        return 1 / (exposure + self.rates_)

    def _shares(self, source: Source) -> FloatArray:
        """Return the shares of the posterior mean intensities, which are (shape + tokens) / (1 + rate)."""
        if self.rates == "shared":
            return super()._shares(source)
        shares = self._expected_tokens(source) * self._weights(1.0)
        return shares / shares.sum(axis=1, keepdims=True)

    def _expected_tokens(self, source: Source) -> FloatArray:
        """Return shape + tokens of each topic, as shares that sum to 1; topics weigh as their intensities do."""
        weights = self._weights(1.0)
        return topic_shares(
            self.components_ * (weights / weights.max())[:, None],
            self.doc_topic_prior_,
            source,
            method="map",
            max_iter=INFERENCE_ITERATIONS,
        )

    def transform(self, X: Any) -> Floats:
        """Return topic shares (rows sum to 1), or intensities with ``normalize=False``; N x K.

        The intensities are posterior means: (shape + expected tokens) / (rate + 1).
        """
        source = self._checked_input(X)
        with running(self.n_jobs):
            if self.normalize:
                return in_precision_of(X, self._shares(source))
            totals = self.doc_topic_prior_.sum() + rows(document_tokens, source)
            return in_precision_of(X, self._expected_tokens(source) * totals[:, None] * self._weights(1.0))

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean held-out log-likelihood per token (natural logarithm; higher is better).

        By document completion: shares are inferred from one half of each document's tokens, the other half is scored.
        """
        if self.rates == "shared":
            return super().score(X, y)
        log_likelihood, n_tokens = completion_log_likelihood(
            self.components_,
            self.doc_topic_prior_,
            self._checked_input(X),
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            weights=self._weights(0.5),
        )
        return log_likelihood / n_tokens


def _covariances(source: Source) -> LinearOperator:
    return discrete_ica_moments(source).second


def document_tokens(block: Block) -> FloatArray:
    """Return the tokens of every document of a block."""
    return block.tokens
