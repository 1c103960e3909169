"""Independent component analysis by the method of moments."""

from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from polyad.base.arrays import FloatArray, Floats, in_precision_of
from polyad.base.fixed import fixed_directions
from polyad.decompose.certainty import certainty, gaussian_turning
from polyad.decompose.diagonalisation import Diagonalisation, Diagonaliser
from polyad.decompose.orthogonal.registry import diagonaliser
from polyad.decompose.similarity.registry import similarity_diagonaliser
from polyad.decompose.similarity.sweeps import SimilarityDiagonalisation, SimilarityDiagonaliser
from polyad.decompose.whitening.symmetric import RankError
from polyad.engine import Block, Source, rows, signal_blocks, single_threaded_blas
from polyad.engine.checks import is_parts
from polyad.engine.inputs import matrix_of
from polyad.models.fitting import fitted_at_once, running
from polyad.models.recipes.cross import SKEWED, STATISTICS
from polyad.models.saving import SavedModel
from polyad.models.stopwatch import StopWatch
from polyad.models.views.diagnostics import FactorDiagnostics
from polyad.moments.signals import ica as moments
from polyad.moments.views.cross import dense_rows

N_COMBINATIONS = 100  # of matrices, among which a well-conditioned one is looked for


class ICA(SavedModel, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Independent sources of a mixture, from cumulants or characteristic functions.

    Without noise a likelihood method (FastICA with its default contrast, Picard) is a little more accurate on
    heavy-tailed sources. This one is better on skewed sources, and far better where the mixtures carry Gaussian
    noise, correlated or not: its statistics do not see it (``noise="gaussian"``).

    Parameters
    ----------
    n_components
        K; None takes as many as the signals have directions with a variance.
    statistics
        "third" (skewness), "fourth" (kurtosis, as in JADE), "characteristic" (generalised covariances at imaginary
        points, which see both), "generalised" (at real points), or "auto": "characteristic" for skewed sources,
        "fourth" otherwise.
    noise
        "none", or "gaussian" for mixtures with Gaussian noise of any covariance.
    method
        A diagonaliser: "jacobi" and the others of :data:`polyad.decompose.DIAGONALISERS`, or with noise one by
        similarity, "jdtm" or another; None takes the best measured. A callable is used as it is.
    step
        Size of the processing points, in standard deviations of the whitened signals.
    max_iter
        Of the diagonaliser.
    random_state
        Has no effect: nothing in a fit is drawn. It is there for those who set it on every estimator.
    n_jobs
        Threads; None for all cores. The result does not depend on it.

    Attributes
    ----------
    components_
        K x M, the unmixing matrix: ``(X - mean_) @ components_.T`` are the sources, with variance 1.
    mixing_
        M x K, its pseudo-inverse. Columns are ordered by the variance that they explain, largest first, and their
        largest entry is positive.
    mean_
        M.
    n_iter_
        Sweeps or iterations of the diagonaliser.
    diagnostics_
        A :class:`polyad.models.views.diagnostics.FactorDiagnostics`.

    Examples
    --------
    >>> from polyad.datasets.signals import make_ica
    >>> from polyad.metrics import amari_distance
    >>> sample = make_ica(5000, 4, sources="skewed")
    >>> model = ICA(4).fit(sample.X)
    >>> model.diagnostics_.statistics, bool(amari_distance(model.components_, sample.mixing) < 0.03)
    ('characteristic', True)
    """

    has_topics: ClassVar[bool] = False
    n_views: ClassVar[int] = 1

    def __init__(
        self,
        n_components: int | None = None,
        *,
        statistics: Literal["auto", "third", "fourth", "characteristic", "generalised"] = "auto",
        noise: Literal["none", "gaussian"] = "none",
        method: str | Diagonaliser | SimilarityDiagonaliser | None = None,
        step: float = 1.0,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.statistics = statistics
        self.noise = noise
        self.method = method
        self.step = step
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fitted_at_once
    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the unmixing matrix.

        Parameters
        ----------
        X
            Samples x channels: an array, a DataFrame, an iterable of blocks, or a source.
        y
            Not used.
        """
        _refuse_unknown(self.statistics, self.noise)
        watch, source = StopWatch(), self._source(X)
        with watch("whiten"):
            self.mean_, covariance = moments.signal_covariance(source)
            whitener, spectrum = _pca_whitener(covariance, self.n_components)
            whitening = moments.SignalWhitening(whitener, self.mean_)
        with watch("moments"):
            statistics, reliability = _choose(self.statistics, source, whitening)
            stack = _matrices(statistics, source, whitening, self.step)
        with watch("diagonalise"):
            unmixing, found = self._diagonalise(stack)
        self.components_, self.mixing_ = _canonical(unmixing @ whitener, covariance)
        K = whitener.shape[0]
        gap = float(spectrum[K - 1] / spectrum[K]) if spectrum.size > K and spectrum[K] > 0 else float("inf")
        sources = moments.SignalWhitening(self.components_, self.mean_)
        sure = certainty(gaussian_turning(moments.gaussianity(source, sources)))
        self.diagnostics_ = FactorDiagnostics(
            spectrum, gap, found.energy, statistics, reliability, found.n_iter, found.converged, watch.seconds, sure
        )
        return self

    def fit_transform(self, X: Any, y: object = None) -> Floats:
        """Fit, and return the sources of the same samples; X may be an iterator, which is read once."""
        X = signal_blocks(X) if hasattr(X, "__next__") else X
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Floats:
        """Return the sources, N x K; in single precision where X has it."""
        check_is_fitted(self)
        with running(self.n_jobs):
            whitening = moments.SignalWhitening(self.components_, self.mean_)
            return in_precision_of(X, rows(moments.whitened_rows, self._like_fitted(X), whitening))

    @single_threaded_blas()
    def inverse_transform(self, X: Any) -> FloatArray:
        """Return the mixtures, N x M, that the sources X make."""
        check_is_fitted(self)
        with running(self.n_jobs):
            return rows(_mixtures, signal_blocks(X), self.mixing_, self.mean_)

    @property
    def n_iter_(self) -> int:
        """Sweeps or iterations of the diagonaliser."""
        return self.diagnostics_.n_iter

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that single precision is kept."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _source(self, X: Any) -> Source:
        X = matrix_of(X)
        if not is_parts(X) and not isinstance(X, Source):
            # Values are checked on the way into a source, whose message names the cell.
            X = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2)
            return signal_blocks(X)
        source = signal_blocks(X)
        if source.n_rows < 2:
            raise ValueError(f"X has {source.n_rows} row(s); a minimum of 2 is required.")
        self.n_features_in_ = source.n_columns
        return source

    def _like_fitted(self, X: Any) -> Source:
        X = matrix_of(X)
        if not is_parts(X) and not isinstance(X, Source):
            X = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False)
        source = signal_blocks(X)
        if source.n_columns != self.n_features_in_:
            raise ValueError(
                f"X has {source.n_columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features."
            )
        return source

    def _diagonalise(self, stack: FloatArray) -> tuple[FloatArray, Diagonalisation | SimilarityDiagonalisation]:
        options: dict[str, Any] = {"max_iter": self.max_iter}
        if self.noise == "none":
            method: Any = diagonaliser("jacobi" if self.method is None else self.method)  # type: ignore[arg-type]
            found = method(stack, **options)
            return found.rotation.T, found
        by_similarity: Any = similarity_diagonaliser("jdtm" if self.method is None else self.method)  # type: ignore[arg-type]
        similar = by_similarity(stack @ linalg.inv(_reference(stack)), **options)
        return similar.inverse, similar


def _refuse_unknown(statistics: str, noise: str) -> None:
    if statistics not in STATISTICS:
        raise ValueError(f"statistics is {statistics!r}; give one of {', '.join(map(repr, STATISTICS))}.")
    if noise not in ("none", "gaussian"):
        raise ValueError(f'noise is {noise!r}; give "none" or "gaussian".')


def _pca_whitener(covariance: FloatArray, n_components: int | None) -> tuple[FloatArray, FloatArray]:
    """Return W, K x M, with W covariance W' = I, and all eigenvalues."""
    values, vectors = linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = int((values > 1e-12 * covariance.shape[0] * max(values[0], 0.0)).sum())
    K = max(rank, 1) if n_components is None else n_components
    if not isinstance(K, int | np.integer) or isinstance(K, bool) or K < 1:
        raise ValueError(f"n_components is {n_components!r}; give a whole number from 1 up, or None.")
    if rank < K:
        raise RankError(
            f"The signals vary in only {rank} directions, and {K} components were asked for: ask for at most "
            f"{max(rank, 1)}, give more samples, or drop channels that are constant or copies of others.",
            supported=rank,
            spectrum=values,
        )
    return (vectors[:, :K] / np.sqrt(values[:K])).T, values


def _mixtures(block: Block, mixing: FloatArray, mean: FloatArray) -> FloatArray:
    return dense_rows(block.rows) @ mixing.T + mean


def _choose(statistics: str, source: Source, whitening: moments.SignalWhitening) -> tuple[str, float]:
    if statistics != "auto":
        return statistics, float("nan")
    reliability = moments.third_reliability(source, whitening)
    return ("characteristic" if reliability > SKEWED else "fourth"), reliability


def _matrices(statistics: str, source: Source, whitening: moments.SignalWhitening, step: float) -> FloatArray:
    """Return matrices A diag A' that Gaussian noise adds nothing to."""
    K = whitening.n_components
    if statistics == "third":
        return moments.third_cumulants(source, whitening)
    if statistics == "fourth":
        return moments.fourth_cumulants(source, whitening)
    points = step * np.eye(K)
    if statistics == "generalised":
        return moments.generalised_covariances(source, whitening, points) - np.eye(K)
    complex_stack = moments.characteristic_covariances(source, whitening, points)
    return np.concatenate([complex_stack.real - np.eye(K), complex_stack.imag])


def _reference(stack: FloatArray) -> FloatArray:
    """Return a well-conditioned combination C of matrices A diag A': A_p C^-1 are then similar to diagonal ones.

    Weighting by the traces adds up what all matrices agree on; it can cancel only where the diagonals have both
    signs, and then the best of some combinations of the principal ones is better.
    """
    P, K, _ = stack.shape
    by_trace = np.tensordot(np.trace(stack, axis1=1, axis2=2), stack, axes=1)
    _, sizes, rows = linalg.svd(stack.reshape(P, K * K), full_matrices=False)
    principal = (sizes[:, None] * rows)[:K].reshape(-1, K, K)
    directions = fixed_directions(principal.shape[0], N_COMBINATIONS)
    best = min((np.tensordot(direction, principal, axes=1) for direction in directions), key=np.linalg.cond)
    if not np.linalg.cond(best) < 1e12:
        message = "Some components look Gaussian: no statistic tells them apart. Ask for fewer components."
        raise RankError(message, supported=0, spectrum=sizes)
    return by_trace if np.linalg.cond(by_trace) < 5 * np.linalg.cond(best) else best


def _canonical(unmixing: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Scale sources to variance 1, order them by the variance they explain, make their largest entry positive."""
    unmixing = unmixing / np.sqrt(np.einsum("ki,ij,kj->k", unmixing, covariance, unmixing))[:, None]
    mixing = covariance @ unmixing.T @ linalg.pinv(unmixing @ covariance @ unmixing.T)
    order = np.argsort(-(mixing**2).sum(axis=0), kind="stable")
    largest = np.abs(mixing).argmax(axis=0)
    signs = np.where(mixing[largest, np.arange(mixing.shape[1])] < 0, -1.0, 1.0)
    return (unmixing * signs[:, None])[order], (mixing * signs)[:, order]
