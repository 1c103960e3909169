"""The single-topic model."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.decompose import Diagonaliser
from polyad.decompose.orthogonal.registry import MethodName
from polyad.engine import Source, expect
from polyad.inference.presets import Polish, Preset, preset_of
from polyad.inference.single_topic import MixturePolished, mixture_completion, polish_mixture, topic_posterior
from polyad.models.fitting import running
from polyad.models.recipes.moment_start import (
    UNIGRAM_SHARE,
    SummedCounts,
    first_sample,
    moment_bytes,
    start_from_moments,
    with_documents,
)
from polyad.models.recipes.own_prior import document_shares, floor_share
from polyad.models.recipes.plan import mixture_pass_cost, seconds_of, topic_plan
from polyad.models.stopwatch import StopWatch
from polyad.models.topics.base import TopicModel, given_prior
from polyad.models.topics.diagnostics import diagnose
from polyad.moments import raw_moments
from polyad.moments.counts.concentration import mean_shares

SMOOTHING = 0.05  # tokens that the prior adds to every word of every topic, where none are given


class SingleTopic(TopicModel):
    """The single-topic model: every document has exactly one topic. For short texts, and for clustering documents.

    Topics and their probabilities come from the raw moments of pairs and triples of words, and are polished by EM,
    whose likelihood never falls.

    Parameters
    ----------
    n_components
        Number of topics.
    method
        Diagonaliser of the third moment: "power", "jacobi", "tensor_power", "spectral", "svtd", or a callable.
    weights
        Weights of the documents in the moments: "uniform", "length", or a power of the length.
    topic_word_prior
        Tokens that the prior adds to every word of a topic; 0.05 by default.
    polish
        Likelihood passes after the moments: "off", "fast" (4 to 11, for as long as they gain), "full" (40 to 64), or
        a number of passes.
    random_state, n_jobs, verbose
        As in :class:`polyad.LDA`.

    Attributes
    ----------
    components_, topic_shares_, word_probabilities_, diagnostics_
        As in :class:`polyad.LDA`.
    weights_
        Probability of each topic.

    Examples
    --------
    >>> from polyad.datasets import make_single_topic
    >>> sample = make_single_topic(1000, 200, 4, length=50)
    >>> model = SingleTopic(4).fit(sample.counts)
    >>> model.weights_.sum().round(6), model.predict(sample.counts).shape
    (np.float64(1.0), (1000,))
    """

    weights_: FloatArray

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: MethodName | Diagonaliser = "power",
        weights: Literal["uniform", "length"] | float = "length",
        topic_word_prior: float | None = None,
        polish: Polish = "fast",
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.weights = weights
        self.topic_word_prior = topic_word_prior
        self.polish = polish
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_corpus(self, corpus: SummedCounts, watch: StopWatch) -> None:
        K, preset = self.n_components, preset_of(self.polish)
        plan = topic_plan(K, preset.n_passes, pass_cost=mixture_pass_cost(K))
        expect(plan)
        given = given_prior(self.topic_word_prior, 1, "topic_word_prior")
        smoothing = SMOOTHING if given is None else float(given[0])
        working = moment_bytes(corpus, K, self.method) + 8 * corpus.source.n_rows
        memory = with_documents(corpus, K, working, seconds_of(plan, corpus, preset, few_passes=False))
        with watch("moments"):
            raw = raw_moments(first_sample(corpus.source, preset.n_passes), self.weights)
            start = start_from_moments(raw.moments, corpus, K, self.method, second_of=self._second_of)
            topics = start.with_background(corpus, UNIGRAM_SHARE if preset.n_passes else floor_share(corpus))
            # Step 9 of SVTD, with documents that count the same; 1 / value^2 of the third moment is far noisier.
            weights = document_shares(topics, corpus.source)
        with watch("polish"):
            found = self._polished(corpus, topics, weights, smoothing, preset)
        order = self._keep(found.components, found.topic_tokens, corpus)
        self.weights_ = found.weights[order]
        self.doc_topic_prior_ = self.weights_
        self.diagnostics_ = diagnose(
            corpus,
            start,
            found.objective,
            watch,
            memory,
            order,
            topic_word_prior=np.full(K, smoothing),
            concentration=0.0,
        )

    def _second_of(self, source: Source) -> LinearOperator:
        return raw_moments(source, self.weights).moments.second

    @staticmethod
    def _polished(
        corpus: SummedCounts, topics: FloatArray, weights: FloatArray, smoothing: float, preset: Preset
    ) -> MixturePolished:
        """Polish the mixture; with no pass at all, the tokens of the topics are those that make up the words."""
        if preset.n_passes == 0:
            return MixturePolished(topics, weights, corpus.n_tokens * mean_shares(topics, corpus.unigram), ())
        return polish_mixture(corpus.source, topics, weights, preset=preset, smoothing=smoothing)

    def _shares(self, source: Source) -> FloatArray:
        """Return the exact posterior of each document's topic."""
        return topic_posterior(self.components_, self.weights_, source)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the most probable topic of each document."""
        return np.asarray(self.transform(X)).argmax(axis=1)

    def _completion(self, source: Source) -> tuple[float, float]:
        """Return the exact log-likelihood of the hidden halves given the others, and their tokens."""
        with running(self.n_jobs):
            return mixture_completion(self.components_, self.weights_, source, random_state=self.random_state)
