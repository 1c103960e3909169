"""Discrete ICA, with the gamma-Poisson model as its parametric case."""

from typing import Any

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.decompose import Diagonaliser, gamma_prior
from polyad.engine import Block, expect, rows
from polyad.inference.presets import preset_of
from polyad.models.fitting import running
from polyad.models.recipes.dirichlet import planned_bytes, polish_topics
from polyad.models.recipes.moment_start import (
    FLOOR_SHARE,
    UNIGRAM_SHARE,
    Corpus,
    MomentStart,
    moment_sample,
    start_from_moments,
)
from polyad.models.recipes.plan import dirichlet_pass_cost, topic_plan
from polyad.models.stopwatch import StopWatch
from polyad.models.topics.base import TopicModel, given_prior
from polyad.models.topics.diagnostics import diagnose
from polyad.moments import discrete_ica_moments


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
        Diagonaliser of the third cumulant: "power", "jacobi", "tensor_power", "spectral", "svtd", or a callable.
    normalize
        Whether :meth:`transform` gives shares that sum to 1, or intensities: expected tokens of each topic.
    doc_topic_prior
        Gamma shapes of the intensities: None to estimate them, a number for each topic, or one for all.
    topic_word_prior
        Tokens that the prior adds to every word of a topic; None adds 2 over all topics together.
    polish
        Likelihood passes after the moments: "off", "fast" (4 to 11, for as long as they gain), "full" (40 to 64, and
        30 under a wide prior of the topics), or a number of passes.
    random_state, n_jobs, verbose
        As in :class:`polyad.LDA`.

    Attributes
    ----------
    components_, topic_shares_, word_probabilities_, diagnostics_
        As in :class:`polyad.LDA`.
    doc_topic_prior_ : ndarray of shape (K,)
        Gamma shapes of the intensities.
    rate_ : float
        Rate of the intensities: the sum of the shapes over the mean length.

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
        n_components: int = 10,
        *,
        method: str | Diagonaliser = "power",
        normalize: bool = True,
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        polish: str | int = "fast",
        random_state: int = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.normalize = normalize
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.polish = polish
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_corpus(self, corpus: Corpus, watch: StopWatch) -> None:
        K, preset = self.n_components, preset_of(self.polish)
        expect(topic_plan(K, preset.n_passes, pass_cost=dirichlet_pass_cost(K), prior_cost=0.0))
        given = given_prior(self.doc_topic_prior, K, "doc_topic_prior")
        smoothing = given_prior(self.topic_word_prior, K, "topic_word_prior")
        memory = planned_bytes(corpus, K, self.method)
        with watch("moments"):
            moments = discrete_ica_moments(moment_sample(corpus.source, preset.n_passes))
            start = start_from_moments(moments, corpus, K, self.method)
            topics = start.with_background(corpus, UNIGRAM_SHARE if preset.n_passes else FLOOR_SHARE)
        with watch("polish"):
            polished = polish_topics(corpus, topics, given, smoothing, preset)
        with watch("prior"):
            order = self._keep(polished.components, polished.topic_tokens, corpus)
            self.doc_topic_prior_ = given[order] if given is not None else self._estimated_shapes(corpus, start)
            self.rate_ = float(self.doc_topic_prior_.sum() / corpus.summary.mean_length)
        self.diagnostics_ = diagnose(corpus, start, polished.objective, watch, memory, order)

    def _estimated_shapes(self, corpus: Corpus, start: MomentStart) -> FloatArray:
        """Return the topics' shares of tokens times their total, which the spread of the lengths tells (eq. 23).

        Where lengths vary less than a gamma-Poisson model can (all documents alike), the third cumulants' own
        estimate is taken.
        """
        mean = corpus.summary.mean_length
        excess = corpus.summary.length_variance - mean
        total = mean**2 / excess if excess > 0 else float(gamma_prior(start.values, mean)[0].sum())
        return np.maximum(total * self.topic_shares_, 1e-4 * total / self.n_components)

    def transform(self, X: Any) -> Any:
        """Return topic shares (rows sum to 1), or intensities with ``normalize=False``; N x K.

        The intensities are posterior means: (shape + expected tokens) / (rate + 1).
        """
        source = self._checked_input(X)
        with running(self.n_jobs):
            shares = self._shares(source)
            if self.normalize:
                return shares
            total = self.doc_topic_prior_.sum()
            return shares * ((total + rows(document_tokens, source)) / (self.rate_ + 1))[:, None]


def document_tokens(block: Block) -> FloatArray:
    """Return the tokens of every document of a block."""
    return block.tokens
