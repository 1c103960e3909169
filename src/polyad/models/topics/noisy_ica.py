"""Noisy discrete ICA: counts whose rates are sums of independent intensities, and noise of every word."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray, Floats, in_precision_of
from polyad.decompose.similarity.sweeps import SimilarityDiagonaliser
from polyad.engine import Source, aligned, columns_of, count_blocks, ordered_by_content
from polyad.engine.sources.repeated import weighted
from polyad.models.checks import tags_of_counts
from polyad.models.fitting import fitted_at_once, running
from polyad.models.recipes.cross import CrossOptions, supported_loadings
from polyad.models.recipes.factors import projected_rows
from polyad.models.text_sources import counted, counted_over, known_words, read_once, remember_words
from polyad.models.topics.base import checked_n_components
from polyad.models.views.diagnostics import FactorDiagnostics
from polyad.models.views.factor_model import FactorModel
from polyad.moments.counts.discrete_ica import discrete_ica_moments
from polyad.moments.counts.summary import summarise_counts
from polyad.moments.views.cross import view_variances


class NoisyDiscreteICA(FactorModel):
    """Discrete ICA with noise: X ~ Poisson(D a + e), where every word has noise of its own, of any distribution.

    The model (12) of "Beyond CCA". Noise of a word adds to its variance and to no covariance, so that the covariances
    of one half of the words with the other half know nothing of it: two views of the same intensities. Without noise
    :class:`polyad.DiscreteICA` uses more of the data; with it its topics stay wrong.

    Parameters
    ----------
    n_components
        K: at most half of the words.
    statistics, method, step, max_iter
        As in :class:`polyad.DiscreteCCA`.
    random_state
        Has no effect: nothing in a fit is drawn. It is there for those who set it on every estimator.
    n_jobs
        Threads; None for all cores. The result does not depend on it.

    Attributes
    ----------
    components_
        K x M, topics: rows are not negative and sum to 1; the largest variance of intensities first.
    variances_
        K, of the intensities; 0 for a component that the data do not support. Its topic is how frequent the words are,
        and its certainty 0.
    noise_variances_
        M, of the noise of every word. Its mean is not to be told from that of the intensities.
    mean_
        M, of the counts.
    vocabulary_
        The words of the corpus; None where the counts came without words.
    diagnostics_
        A :class:`polyad.models.views.diagnostics.FactorDiagnostics`.

    Examples
    --------
    >>> from polyad.datasets import make_noisy_discrete_ica
    >>> from polyad.metrics import l1_error
    >>> sample = make_noisy_discrete_ica(8000, 40, 3)
    >>> model = NoisyDiscreteICA(3).fit(sample.counts)
    >>> l1_error(model.components_, sample.components) < 0.1
    True
    """

    # No shares of topics (has_topics): means of the intensities are not to be told from the means of the noise.
    vocabulary_: tuple[str, ...] | None
    text_options_: Any

    def __init__(
        self,
        n_components: int = 1,
        *,
        statistics: str = "auto",
        method: str | SimilarityDiagonaliser = "jdtm",
        step: float | None = None,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.statistics = statistics
        self.method = method
        self.step = step
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fitted_at_once
    def fit(
        self,
        X: Any,
        y: object = None,
        sample_weight: Any = None,
        *,
        checkpoint: Any = None,
        client: Any = None,
    ) -> Self:
        """Learn topics and noise.

        Parameters
        ----------
        X
            Documents x words: counts, sparse or dense, a corpus, or a source of them.
        y
            Not used.
        sample_weight
            How often each document counts, whole numbers from 0 up: the same as repeating its row.
        checkpoint, client
            As of :meth:`polyad.LDA.fit`.
        """
        K, X = checked_n_components(self.n_components), counted(X)
        source = count_blocks(X)
        remember_words(self, X, source.n_columns, reset=True)
        source = weighted(source, sample_weight)
        _refuse_few(source, K)
        source = ordered_by_content(source)
        halves = word_halves(_occurring(summarise_counts(source).word_totals))
        views = [columns_of(source, words) for words in halves]
        options = CrossOptions(
            self.n_components, self.statistics, self.method, "auto", self.step, 0.6, self.max_iter, True, True
        )
        first, second, diagnostics = supported_loadings(aligned(*views), options)
        self._keep(source, self._joined(views, halves, first, second), diagnostics)
        return self

    def _joined(
        self, views: list[Source], halves: list[NDArray[np.intp]], first: FloatArray, second: FloatArray
    ) -> FloatArray:
        """Return the loadings of all words, M x K, for intensities of variance 1."""
        sizes = [_square_scales(view, loadings) for view, loadings in zip(views, (first, second))]
        # Loadings of one half may be too large by what those of the other are too small by.
        ratio = np.where((sizes[0] > 0) & (sizes[1] > 0), sizes[0] / np.where(sizes[1] > 0, sizes[1], 1.0), 1.0)
        scale = np.clip(ratio, 1e-12, 1e12) ** 0.25
        loadings = np.empty((sum(words.size for words in halves), len(scale)))
        loadings[halves[0]], loadings[halves[1]] = first * scale, second / scale
        return loadings

    def _keep(self, source: Source, loadings: FloatArray, diagnostics: FactorDiagnostics) -> None:
        signs = np.where((loadings * np.abs(loadings)).sum(axis=0) < 0, -1.0, 1.0)
        positive = np.maximum(loadings * signs, 0.0)
        sums = positive.sum(axis=0)
        order = np.argsort(-sums, kind="stable")
        self.mean_ = discrete_ica_moments(source).mean
        self.variances_ = sums[order] ** 2
        # Of a component that the data do not support, no more is known than how frequent the words are.
        positive[:, sums == 0] = self.mean_[:, None]
        self.components_ = np.ascontiguousarray((positive / positive.sum(axis=0)).T[order])
        own = view_variances(source, self.mean_) - self.mean_
        self.noise_variances_ = np.maximum(own - self.variances_ @ self.components_**2, 0.0)
        self.diagnostics_ = replace(diagnostics, certainty=diagnostics.certainty[order])

    def fit_transform(self, X: Any, y: object = None, sample_weight: Any = None) -> Floats:
        """Fit, and return the intensities of the same documents; X may be an iterator, which is read once."""
        X = read_once(X)
        return self.fit(X, y, sample_weight).transform(X)

    def transform(self, X: Any) -> Floats:
        """Return the best linear estimate of the intensities less their means, N x K.

        With V the variances of the intensities and P those of a word given them (noise and counting), it is
        (V^-1 + D P^-1 D')^-1 D P^-1 (x - mean). In single precision where X has it.
        """
        check_is_fitted(self)
        counts = counted_over(X, known_words(self), self.n_features_in_, self.text_options_)
        source = count_blocks(counts)
        remember_words(self, counts, source.n_columns, reset=False)
        with running(self.n_jobs):
            spreads = self.noise_variances_ + self.mean_
            # For intensities of variance 1, as some of a fit may not vary at all: 1/V is then infinite.
            scales = np.sqrt(self.variances_)[:, None]
            topics = scales * self.components_
            by_spread = topics / np.where(spreads > 0, spreads, np.inf)
            precision = np.eye(len(topics)) + by_spread @ topics.T
            projection = scales * linalg.solve(precision, by_spread, assume_a="pos")
            return in_precision_of(X, projected_rows(source, projection, self.mean_))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that the input is non-negative and may be sparse."""
        return tags_of_counts(super().__sklearn_tags__())


def _refuse_few(source: Source, n_components: int) -> None:
    N, M = source.shape
    if N < 2:
        raise ValueError(f"X has n_samples={N}, and covariances are learned from documents: give at least 2.")
    if n_components > M // 2:
        raise ValueError(
            f"n_components is {n_components}, and X has n_features={M} words: each half of them must have as many as "
            "components. Ask for fewer."
        )


def _occurring(totals: FloatArray) -> FloatArray:
    if not totals.any():
        raise ValueError("Every count in X is 0: there are no words to learn from.")
    return totals


def word_halves(totals: FloatArray) -> list[NDArray[np.intp]]:
    """Return two halves of the words with about the same tokens: every other word by their number.

    Examples
    --------
    >>> word_halves(np.array([9.0, 1.0, 5.0, 3.0]))
    [array([0, 1]), array([2, 3])]
    """
    order = np.argsort(-totals, kind="stable")
    place = np.empty(totals.size, np.intp)
    place[order] = np.arange(totals.size)
    # The first, fourth, fifth, eighth and so on: the two halves then take turns in having the larger of a pair.
    return [np.flatnonzero(np.isin(place % 4, (0, 3)) == first) for first in (True, False)]


def _square_scales(view: Source, loadings: FloatArray) -> FloatArray:
    """Return r with cov(x) = sum_k r_k d_k d_k' beside the diagonal, by least squares over all pairs of words, K."""
    moments = discrete_ica_moments(view)
    own = view_variances(view, moments.mean) * view.n_rows / (view.n_rows - 1) - moments.mean
    squares = loadings**2
    gram = (loadings.T @ loadings) ** 2 - squares.T @ squares
    wanted = np.einsum("mk,mk->k", loadings, moments.second @ loadings) - own @ squares
    return np.asarray(linalg.lstsq(gram, wanted)[0], dtype=np.float64)
