"""Latent Dirichlet allocation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.decompose import Diagonaliser
from polyad.engine import Source, expect
from polyad.inference.presets import preset_of
from polyad.models.background import (
    N_SHAPES,
    TopicStart,
    background_prior,
    found_topics,
    in_one_column,
    patient,
    start_background,
    with_shapes,
)
from polyad.models.recipes.dirichlet import planned_bytes, polish_topics
from polyad.models.recipes.moment_start import FLOOR_SHARE, LENGTH_POWER, UNIGRAM_SHARE, Corpus, start_from_moments
from polyad.models.recipes.plan import dirichlet_pass_cost, prior_cost, topic_plan
from polyad.models.stopwatch import StopWatch
from polyad.models.topics.base import TopicModel, given_prior
from polyad.models.topics.diagnostics import diagnose
from polyad.moments import RawMoments, raw_moments
from polyad.moments.counts.concentration import estimate_concentration

MOMENT_CONCENTRATION = 2.0  # on real text anything from .1 to 5 gives the same topics after polishing


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
        Total of the Dirichlet prior, or "auto" to estimate it from the moments of pairs of words.
    doc_topic_prior
        Dirichlet parameters of the shares: None to estimate them, a number for each topic, or one for all.
    topic_word_prior
        Tokens that the prior adds to every word of a topic; None adds 2 over all topics together.
    polish
        Likelihood passes after the moments: "off", "fast" (4 to 11, for as long as they gain), "full" (40 to 64, and
        30 under a wide prior of the topics), or a number of passes.
    background
        Learn one topic more, for what all documents share: stop words then need no list. It comes last.
    random_state
        Seed of the split of tokens in :meth:`score`. Nothing in a fit is drawn: topics depend on the data alone.
    n_jobs
        Threads; None for all cores. The result does not depend on it.
    verbose
        With 1 or more, standard error shows how far the fit is, and a summary when it is done. On a terminal, and with
        rich installed, that is a bar with percent, likelihood passes and the time left; elsewhere a line after every
        step and every likelihood pass. The logger "polyad" always gets the same lines at level INFO, and one for
        every pass over the data at DEBUG. It changes nothing in the result.

    Attributes
    ----------
    components_ : ndarray of shape (K, M)
        Topics: rows are word probabilities and sum to 1; the largest share of tokens first. With a background there
        are K + 1, and the last is the background.
    doc_topic_prior_ : ndarray of shape (K,)
        Dirichlet parameters of the shares; K + 1 with a background.
    topic_shares_ : ndarray of shape (K,)
        Share of the corpus' tokens in each topic; K + 1 with a background.
    background_, background_prior_ : ndarray of shape (B, M) and (B,), or None
        The shapes that the background has inside, because texts differ in how they use the words that all of them have,
        and their Dirichlet parameters: documents are explained by these rows in place of the last of ``components_``.
    word_probabilities_ : ndarray of shape (M,)
        Word probabilities of the whole corpus.
    diagnostics_ : Diagnostics
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
        n_components: int = 10,
        *,
        method: str | Diagonaliser = "power",
        weights: str | float = LENGTH_POWER,
        concentration: float | str = "auto",
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        polish: str | int = "fast",
        background: bool = False,
        random_state: int = 0,
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
        self.background = background
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_corpus(self, corpus: Corpus, watch: StopWatch) -> None:
        K, preset, n_rows = self.n_components, preset_of(self.polish), self.n_components
        if self._has_background():
            n_rows, preset = K + N_SHAPES, patient(preset)
        expect(topic_plan(K, preset.n_passes, pass_cost=dirichlet_pass_cost(n_rows), prior_cost=prior_cost(K)))
        given = given_prior(self.doc_topic_prior, K, "doc_topic_prior")
        smoothing = given_prior(self.topic_word_prior, K, "topic_word_prior")
        memory = planned_bytes(corpus, n_rows, self.method)
        c0 = self._moment_concentration(given)
        with watch("moments"):
            raw = raw_moments(corpus.source, self.weights)
            moments = start_from_moments(raw.at(c0), corpus, K, self.method)
            if self.background:
                start = start_background(raw, corpus, moments.topics)
            else:
                start = TopicStart(
                    moments.with_background(corpus, UNIGRAM_SHARE if preset.n_passes else FLOOR_SHARE), K
                )
        with watch("polish"):
            prior, smoothing = start.prior(self._polish_prior(given)), start.smoothing(smoothing)
            polished = polish_topics(corpus, start.rows, prior, smoothing, preset, start.restraint)
        with watch("prior"):
            found = found_topics(start, polished)
            order = self._keep(found.components, found.tokens, corpus, n_topics=K)
            if given is None or prior is None:
                self.doc_topic_prior_ = self._estimated_prior(raw)
            else:
                self.doc_topic_prior_ = start.in_one(prior)[order]
            self.background_ = found.shapes if self.background else None
            self.background_prior_ = found.parts * self.doc_topic_prior_[-1] if self.background else None
        self.diagnostics_ = diagnose(corpus, moments, polished.objective, watch, memory, order, concentration=c0)

    def _has_background(self) -> bool:
        if not isinstance(self.background, bool | np.bool_):
            raise ValueError(f"background is {self.background!r}; give True or False.")
        return bool(self.background)

    def _inference_topics(self) -> tuple[FloatArray, FloatArray]:
        if self.background_ is None or self.background_prior_ is None:
            return super()._inference_topics()
        return with_shapes(self.components_, self.doc_topic_prior_, self.background_, self.background_prior_)

    def _shares(self, source: Source) -> FloatArray:
        shares = super()._shares(source)
        return shares if self.background_ is None else in_one_column(shares, len(self.background_))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of :meth:`transform`: topic_0, topic_1, ..., and background."""
        names = super().get_feature_names_out(input_features)
        if self.background_ is not None:
            names[-1] = "background"
        return names

    def _moment_concentration(self, given: FloatArray | None) -> float:
        """c0 of the moments: the prior's total where it is given, otherwise what works on real text."""
        if isinstance(self.concentration, str):
            if self.concentration != "auto":
                raise ValueError(f"concentration is {self.concentration!r}; give 'auto' or a positive number.")
            return MOMENT_CONCENTRATION if given is None else float(given.sum())
        if not (np.isfinite(self.concentration) and self.concentration > 0):
            raise ValueError(f"concentration is {self.concentration}; give 'auto' or a positive number.")
        return float(self.concentration)

    def _polish_prior(self, given: FloatArray | None) -> FloatArray | None:
        if given is not None or self.concentration == "auto":
            return given
        return np.full(self.n_components, float(self.concentration) / self.n_components)

    def _estimated_prior(self, raw: RawMoments) -> FloatArray:
        """Return the topics' shares of tokens times the total: given, or estimated from pairs of words."""
        if self.concentration != "auto":
            total = float(self.concentration)
        elif self.background:
            return background_prior(self.topic_shares_)
        else:
            total, _ = estimate_concentration(raw, self.components_)
        return np.maximum(total * self.topic_shares_, 1e-4 * total / self.n_components)
