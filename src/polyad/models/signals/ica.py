"""Independent component analysis by the method of moments."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray, Floats, in_precision_of
from polyad.base.fixed import fixed_directions
from polyad.base.plurals import how_many
from polyad.decompose.certainty import certainty, gaussian_turning
from polyad.decompose.diagonalisation import Diagonalisation, Diagonaliser
from polyad.decompose.orthogonal.registry import diagonaliser
from polyad.decompose.similarity.registry import similarity_diagonaliser
from polyad.decompose.similarity.sweeps import SimilarityDiagonalisation, SimilarityDiagonaliser
from polyad.decompose.whitening.symmetric import RankError
from polyad.engine import Block, Source, ordered_by_content, resident, rows, signal_blocks, single_threaded_blas
from polyad.inference.scores import CONTRASTS
from polyad.inference.separation import separate
from polyad.models.features import signal_source
from polyad.models.fitting import fitted_at_once, running
from polyad.models.recipes.cross import STATISTICS
from polyad.models.recipes.ica_start import (
    BOTH,
    FEW,
    FEW_MATRICES,
    LOOSE,
    Start,
    choose_in_noise,
    likeliest_start,
    rows_for_start,
    start_of_user,
    warn_unfinished,
    warn_where_halves_disagree,
)
from polyad.models.stopwatch import StopWatch
from polyad.models.views.diagnostics import FactorDiagnostics
from polyad.models.views.factor_model import FactorModel
from polyad.moments.signals import ica as moments
from polyad.moments.views.cross import dense_rows

N_COMBINATIONS = 100  # of matrices, among which a well-conditioned one is looked for
MOST_STEPS = {"fast": 16, "full": 200}  # of Newton
FITS = 2  # of scores to all rows, where steps go on to a share of the noise alone
SHARE_OF_NOISE = 0.05  # of the sampling error of a product of sources: closer is not better
# Nats of the likelihood of all rows for each entry of the matrix: a step that promises less is the last, and finds most
# of it. Noise moves the likelihood by a half for each.
ENOUGH = 0.02
SAME_CONTRAST = {"tanh": "logcosh"}  # as Picard calls it
NOT_WHITE = 0.1  # how far a covariance may be from the identity for signals that are called white


class ICA(FactorModel):
    """Independent sources of a mixture: moments, then a few likelihood steps with a density fitted to each source.

    Heavy tails, light tails and skewness are all made use of, and nothing has to be known of them. Where the mixtures
    carry Gaussian noise, correlated or not, the moments alone are far better (``noise="gaussian"``): they do not see
    it.

    Parameters
    ----------
    n_components
        K; None takes as many as the signals have directions with a variance.
    statistics
        "third" (skewness), "fourth" (kurtosis, as in JADE), "characteristic" (generalised covariances at imaginary
        points, which see both), "generalised" (at real points), or "auto": cumulants of both orders where likelihood
        steps follow, otherwise "fourth" or "characteristic", whichever gives the sources that are least like
        Gaussians; with noise by how reliable order three is.
    noise
        "none", or "gaussian" for mixtures with Gaussian noise of any covariance. Its statistics need many samples: a
        :class:`polyad.models.NoiseWarning` says when the two halves of the data give different sources.
    polish
        Likelihood steps after the moments: "fast" (at most 16 of Newton), "full" (until they converge) or "off". None
        are made with ``noise="gaussian"``, which a likelihood without noise does not fit.
    fun
        The densities of the likelihood steps: "adaptive" fits one to each source; "logcosh", "exp" and "cube" are the
        contrasts of FastICA and Picard, which calls the first "tanh", with a factor for each source that fits heavy
        and light tails.
    whiten
        True, which FastICA calls "unit-variance"; or False where the signals are white and centred already, which are
        then taken as they are.
    tol
        Likelihood steps end when no two sources have ``E[score(y_i) y_j]`` above this; None for a twentieth of its
        sampling error, 1 / sqrt(N). With 1e-8 and ``polish="full"`` fits from any start agree to about 1e-7.
    w_init
        K x M, an unmixing matrix to begin at in place of the moments, such as ``components_`` of another fit.
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
        Likelihood steps; without any, sweeps or iterations of the diagonaliser.
    diagnostics_
        A :class:`polyad.models.views.diagnostics.FactorDiagnostics`.

    Examples
    --------
    >>> from polyad.datasets.signals import make_ica
    >>> from polyad.metrics import amari_distance
    >>> sample = make_ica(5000, 4, sources="skewed")
    >>> amari_distance(ICA(4, polish="off").fit(sample.X).components_, sample.mixing) < 0.015
    True
    >>> amari_distance(ICA(4).fit(sample.X).components_, sample.mixing) < 0.005
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        statistics: Literal["auto", "third", "fourth", "characteristic", "generalised"] = "auto",
        noise: Literal["none", "gaussian"] = "none",
        polish: str = "fast",
        fun: str = "adaptive",
        whiten: bool | Literal["unit-variance"] = True,
        tol: float | None = None,
        w_init: ArrayLike | None = None,
        method: str | Diagonaliser | SimilarityDiagonaliser | None = None,
        step: float = 1.0,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.statistics = statistics
        self.noise = noise
        self.polish = polish
        self.fun = fun
        self.whiten = whiten
        self.tol = tol
        self.w_init = w_init
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
        *,
        checkpoint: Any = None,
        client: Any = None,
    ) -> Self:
        """Learn the unmixing matrix.

        Parameters
        ----------
        X
            Samples x channels: an array, a DataFrame, an iterable of blocks, or a source.
        y
            Not used.
        checkpoint, client
            As of :meth:`polyad.LDA.fit`.
        """
        _refuse_unknown(self)
        watch, given = StopWatch(), signal_source(self, X, reset=True)
        # Any order of rows gives the same bytes, but for data of several shards: to rounding there.
        source = ordered_by_content(resident(given)) if given.n_shards == 1 else given
        with watch("whiten"):
            self.mean_, covariance = self._mean_and_covariance(source)
            whitener, spectrum = _pca_whitener(covariance, self.n_components)
            whitener = whitener if self.whiten else np.eye(source.n_columns)
            whitening = moments.SignalWhitening(whitener, self.mean_)
        with watch("moments"):
            few = rows_for_start(source, whitener.shape[0], ordered=source is not given) if self._polishes else source
            start = self._start(source, few, whitening, given)
            unmixing, found = start.rotation @ whitener, start.found
        n_iter, converged = found.n_iter, found.converged
        if self._polishes:
            tol = SHARE_OF_NOISE / source.n_rows**0.5 if self.tol is None else self.tol
            with watch("polish"):
                separation = separate(
                    source,
                    self.mean_,
                    covariance,
                    unmixing,
                    fun=SAME_CONTRAST.get(self.fun, self.fun),
                    tol=tol,
                    max_fixed=0 if start.statistics == BOTH and self.fun == "adaptive" else 64,
                    max_newton=MOST_STEPS[self.polish],
                    max_fits=FITS if self.tol is None else None,
                    enough=ENOUGH * whitener.shape[0] ** 2 if self.tol is None else 0.0,
                    few=few if few.n_rows >= 2 * few.n_columns**2 else source,  # rows for each entry of the matrix
                    begin_with_few=self.w_init is None,
                )
            unmixing, converged = separation.unmixing, separation.converged
            n_iter = separation.n_fixed + separation.n_few + separation.n_newton
        self.components_, self.mixing_ = _canonical(unmixing, covariance)
        K = whitener.shape[0]
        gap = float(spectrum[K - 1] / spectrum[K]) if spectrum.size > K and spectrum[K] > 0 else float("inf")
        sources = moments.SignalWhitening(self.components_, self.mean_)
        sure = certainty(gaussian_turning(moments.gaussianity(source, sources)))
        self.diagnostics_ = FactorDiagnostics(
            spectrum, gap, found.energy, start.statistics, start.reliability, n_iter, converged, watch.seconds, sure
        )
        if self.polish == "full" and not converged:
            warn_unfinished(separation, tol)
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
            return in_precision_of(X, rows(moments.whitened_rows, signal_source(self, X, reset=False), whitening))

    @single_threaded_blas()
    def inverse_transform(self, X: Any) -> FloatArray:
        """Return the mixtures, N x M, that the sources X make."""
        check_is_fitted(self)
        with running(self.n_jobs):
            return _as_given(rows(_mixtures, signal_blocks(X), self.mixing_, self.mean_), X)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that single precision is kept."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _polishes(self) -> bool:
        return self.polish != "off" and self.noise == "none"

    def _mean_and_covariance(self, source: Source) -> tuple[FloatArray, FloatArray]:
        mean, covariance = moments.signal_covariance(source)
        if self.whiten:
            return mean, covariance
        off = max(float(np.abs(covariance - np.eye(mean.size)).max()), float(np.abs(mean).max()))
        if off > NOT_WHITE:
            raise ValueError(
                f"whiten=False takes signals that are white, and these are not: a mean or a covariance is {off:.2g} "
                "away from 0, or a variance from 1. Leave whiten at True."
            )
        if self.n_components not in (None, mean.size):
            raise ValueError(f"whiten=False keeps all {mean.size} channels; n_components is {self.n_components!r}.")
        return np.zeros_like(mean), covariance

    def _start(self, source: Source, few: Source, whitening: moments.SignalWhitening, given: Source) -> Start:
        """Return the sources of white signals that the moments, or the user, begin with."""
        if self.w_init is not None:
            return start_of_user(self.w_init, whitening)
        if self.noise == "gaussian":
            statistics, reliability = choose_in_noise(self.statistics, source, whitening)

            def unmix(rows: Source) -> tuple[FloatArray, Any]:
                return self._by_similarity(_matrices(statistics, rows, whitening, self.step))

            start = Start(statistics, reliability, *unmix(source))
            warn_where_halves_disagree(given, lambda rows: unmix(rows)[0])  # in stretches of time
            return start
        many = self._polishes and whitening.n_components > FEW
        statistics = self.statistics
        if self._polishes and statistics == "auto":
            statistics = "fourth" if many else BOTH
        return likeliest_start(
            statistics,
            few,
            whitening,
            lambda statistics: _matrices(
                statistics, few, whitening, self.step, max(4, FEW_MATRICES // whitening.n_components) if many else None
            ),
            self._diagonalise,
        )

    def _diagonalise(self, stack: FloatArray) -> tuple[FloatArray, Diagonalisation]:
        method: Any = diagonaliser("jacobi" if self.method is None else self.method)  # type: ignore[arg-type]
        loosely = {"tol": LOOSE} if self._polishes and self.method is None else {}
        found = method(stack, max_iter=self.max_iter, **loosely)
        return found.rotation.T, found

    def _by_similarity(self, stack: FloatArray) -> tuple[FloatArray, SimilarityDiagonalisation]:
        method: Any = similarity_diagonaliser("jdtm" if self.method is None else self.method)  # type: ignore[arg-type]
        similar = method(stack @ linalg.inv(_reference(stack)), max_iter=self.max_iter)
        return similar.inverse, similar


def _refuse_unknown(model: ICA) -> None:
    known = {
        "statistics": STATISTICS,
        "noise": ("none", "gaussian"),
        "polish": ("off", *MOST_STEPS),
        "fun": ("adaptive", *CONTRASTS, *SAME_CONTRAST),
        "whiten": (True, False, "unit-variance"),
    }
    for name, values in known.items():
        if (value := getattr(model, name)) not in values:
            raise ValueError(f"{name} is {value!r}; give one of {', '.join(map(repr, values))}.")
    tol: Any = model.tol  # whatever a user hands in
    if tol is not None and not (isinstance(tol, int | float | np.number) and not isinstance(tol, bool) and tol > 0):
        raise ValueError(f"tol is {tol!r}; give a number above 0, or None.")
    if model.w_init is not None and not model._polishes:
        raise ValueError(
            f"w_init is where likelihood steps begin, and polish={model.polish!r} with noise={model.noise!r} makes "
            "none: leave it out, or make steps."
        )


def _pca_whitener(covariance: FloatArray, n_components: int | None) -> tuple[FloatArray, FloatArray]:
    """Return W, K x M, with W covariance W' = I, and all eigenvalues."""
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]
    # Of two signs the same for any order of the samples: what starts from here would differ by the tolerance.
    vectors = vectors * np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(values.size)] < 0, -1.0, 1.0)
    rank = int((values > 1e-12 * covariance.shape[0] * max(values[0], 0.0)).sum())
    K = max(rank, 1) if n_components is None else n_components
    if not isinstance(K, int | np.integer) or isinstance(K, bool) or K < 1:
        raise ValueError(f"n_components is {n_components!r}; give a whole number from 1 up, or None.")
    if rank < K:
        raise RankError(
            f"The signals vary in only {how_many(rank, 'directions')}, and {K} components were asked for: ask for "
            f"at most {max(rank, 1)}, give more samples, or drop channels that are constant or copies of others.",
            supported=rank,
            spectrum=values,
        )
    return (vectors[:, :K] / np.sqrt(values[:K])).T, values


def _as_given(values: FloatArray, X: Any) -> Any:
    return values.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else values


def _mixtures(block: Block, mixing: FloatArray, mean: FloatArray) -> FloatArray:
    return dense_rows(block.rows) @ mixing.T + mean


def _matrices(
    statistics: str, source: Source, whitening: moments.SignalWhitening, step: float, n_matrices: int | None = None
) -> FloatArray:
    """Return matrices A diag A' that Gaussian noise adds nothing to."""
    K = whitening.n_components
    if statistics == "third":
        return moments.third_cumulants(source, whitening)
    if statistics == BOTH:
        return moments.third_and_fourth_cumulants(source, whitening)
    if statistics == "fourth":
        return moments.fourth_cumulants(source, whitening, n_matrices)
    points = step * np.eye(K)
    if statistics == "generalised":
        return moments.generalised_signal_covariances(source, whitening, points) - np.eye(K)
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
    images = covariance @ unmixing.T
    scales = np.sqrt(np.einsum("ki,ik->k", unmixing, images))
    unmixing, images = unmixing / scales[:, None], images / scales
    mixing = images @ np.linalg.inv(unmixing @ images)  # near the identity
    order = np.argsort(-(mixing**2).sum(axis=0), kind="stable")
    largest = np.abs(mixing).argmax(axis=0)
    signs = np.where(mixing[largest, np.arange(mixing.shape[1])] < 0, -1.0, 1.0)
    return (unmixing * signs[:, None])[order], (mixing * signs)[:, order]
