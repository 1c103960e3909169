"""Independent factors of exchangeable views, by the method of moments, then likelihood steps."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from scipy.optimize import nnls
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray
from polyad.base.fixed import fixed_directions
from polyad.base.plurals import how_many, there_are
from polyad.decompose.certainty import certainty, gaussian_turning
from polyad.decompose.diagonalisation import Diagonaliser
from polyad.decompose.orthogonal.registry import diagonaliser
from polyad.decompose.unmixing import simplex_rows
from polyad.decompose.whitening.symmetric import whiten
from polyad.engine import Block, Source, aligned, count_blocks, ordered_by_content, rows, signal_blocks
from polyad.engine.blocks import is_sparse
from polyad.engine.inputs import names_of_columns
from polyad.engine.sources.repeated import weighted
from polyad.engine.sources.views import warn_of_unknown_orders
from polyad.inference.factors import polish_factors
from polyad.models.checks import refuse_unknown
from polyad.models.features import refuse_other_names
from polyad.models.fitting import fitted_at_once, running
from polyad.models.mixtures.views import kind_of
from polyad.models.stopwatch import StopWatch
from polyad.models.views.diagnostics import FactorDiagnostics
from polyad.models.views.factor_model import FactorModel
from polyad.moments.views.exchangeable import OBSERVATIONS, FactorMoments, Halves, exchangeable_moments

STATISTICS = ("auto", "third", "fourth")
MOST_STEPS = {"off": 0, "fast": 8}


class IndependentFactors(FactorModel):
    """Independent factors that two or more exchangeable views are linear in.

    The same thing measured several times, sentences of one document, repetitions of an experiment: given the factors,
    views are independent and have the same mean, ``factors @ components_``. Noise within a view may be of any size and
    correlated in any way: it is not shared, and no statistic that is used sees it. Nothing is drawn; the same rows, in
    any order, give the same factors.

    Parameters
    ----------
    n_components
        K.
    observation
        What is in a view besides the factors: "gaussian" for noise that does not depend on them (of whatever law),
        "poisson" for counts, "any" for anything (three views are then needed for skewed factors, four for others), or
        "auto": "poisson" for sparse or whole numbers, otherwise "gaussian".
    factors
        "any", or "binary" for factors that are 0 or 1: then their scale and how often they are 1 are known, too.
    statistics
        "third" for skewed factors (Lemma 1 of the spectral LDA paper), "fourth" for others (Lemma 2), or "auto" for the
        one on which the even and the odd rows agree more.
    polish
        Likelihood steps after the moments: "fast" (at most 8 of Newton, with a score fitted to each factor and taken
        across views, so that noise of any law does no harm) or "off". None are made where ``observation`` is "any".
    method
        A diagonaliser of :data:`polyad.decompose.DIAGONALISERS`, or a callable.
    max_iter
        Of the diagonaliser.
    n_jobs
        Threads; None for all cores. The result does not depend on it.
    verbose
        1 draws a progress bar and tells how the fit went.

    Attributes
    ----------
    components_
        K x M, by the variance that factors explain, largest first. Of counts they are probabilities of columns; of
        binary factors what a factor adds; otherwise scaled to factors of variance 1.
    mean_
        M, of all views.
    factor_means_, factor_variances_
        K each; the means as far as the mean of the views is a combination of the components.
    cumulants_
        K: the skewness of the factors where the statistics used are of third order, otherwise their excess kurtosis.
    feature_names_in_
        The names of the columns, where all views were tables with the same names.
    view_columns_
        The names of the columns of each view that was a table, and None for others.
    diagnostics_
        A :class:`polyad.models.views.diagnostics.FactorDiagnostics`.

    Examples
    --------
    >>> from polyad.datasets import make_independent_factors
    >>> sample = make_independent_factors(20_000, 12, 3, factors="binary", n_views=2)
    >>> model = IndependentFactors(3, factors="binary").fit(sample.views)
    >>> model.factor_means_.shape, model.transform(sample.views).shape
    ((3,), (20000, 3))
    """

    n_views: ClassVar[int] = 0  # any number of them

    view_columns_: list[tuple[str, ...] | None]

    def __init__(
        self,
        n_components: int = 1,
        *,
        observation: str = "auto",
        factors: str = "any",
        statistics: str = "auto",
        polish: str = "fast",
        method: str | Diagonaliser = "jacobi",
        max_iter: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.observation = observation
        self.factors = factors
        self.statistics = statistics
        self.polish = polish
        self.method = method
        self.max_iter = max_iter
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
    ) -> Self:
        """Learn the components.

        Parameters
        ----------
        views
            A list of two or more, samples x columns each, rows in the same order and columns with the same meaning.
        y
            Not used.
        sample_weight
            How often each sample counts, whole numbers from 0 up: the same as repeating its rows.
        checkpoint, client
            As of :meth:`polyad.LDA.fit`.
        """
        self._refuse_bad_parameters()
        watch = StopWatch()
        with watch("read"):
            observation = self._observation_of(views)
            source = weighted(_source_of(views, observation == "poisson", least=2), sample_weight)
            source = ordered_by_content(source)
            moments = exchangeable_moments(source, observation)
        with watch("whiten"):
            whitening = whiten(moments.second, self.n_components)
            images = moments.second @ whitening.whitener.T
        with watch("moments"):
            statistics, reliability, halves = _chosen(moments, whitening.whitener, images, self.statistics)
        with watch("diagonalise"):
            found = diagonaliser(self.method)((halves[0] + halves[1]) / 2, max_iter=self.max_iter)
            whitener = found.rotation.T @ whitening.whitener
            columns, n_iter, converged = (images @ found.rotation).T, found.n_iter, found.converged
            cumulants = _cumulants(moments, whitener, images @ found.rotation, statistics)
        turned = np.maximum(found.turned, gaussian_turning(_significance(cumulants, halves)))
        sure = certainty(turned, whitening.left @ found.rotation**2)
        if self.polish != "off" and observation != "any":
            with watch("polish"):
                counts = observation == "poisson"
                polished = polish_factors(
                    source, moments.mean, columns, counts=counts, max_steps=MOST_STEPS[self.polish]
                )
            if polished.n_steps > 0:
                columns, whitener = polished.components, polished.whitener
                n_iter, converged = polished.n_steps, polished.converged
                cumulants = _cumulants(moments, whitener, moments.second @ whitener.T, statistics)
        self.mean_, self.n_features_in_ = moments.mean, moments.mean.size
        self._set_columns([names_of_columns(view) for view in views])
        order = np.argsort(-(columns**2).sum(axis=1), kind="stable")
        scaled = self._scaled(columns[order], cumulants[order], statistics, observation == "poisson")
        self.components_, self.cumulants_ = scaled.components, scaled.cumulants
        self.factor_means_, self.factor_variances_ = scaled.means, scaled.variances
        self.whitener_ = scaled.signs[:, None] * whitener[order]
        self.noise_ = moments.spread(self.whitener_) - np.eye(self.n_components)
        self.diagnostics_ = FactorDiagnostics(
            whitening.spectrum,
            whitening.gap,
            found.energy,
            statistics,
            reliability,
            n_iter,
            converged,
            watch.seconds,
            sure[order],
        )
        return self

    def transform(self, views: Any) -> FloatArray:
        """Return the best linear estimate of the factors of each row, N x K, from any number of views."""
        check_is_fitted(self)
        with running(self.n_jobs):
            source = _source_of(views, self._is_sparse(views), least=1)
            if source.widths[0] != self.n_features_in_:
                raise ValueError(
                    f"The views have {how_many(source.widths[0], 'columns')}, and the model was fitted on "
                    f"{self.n_features_in_}."
                )
            self._refuse_other_names(views)
            # Of n views together a factor of variance 1 has the covariance I, and their mean I + noise / n.
            trust = linalg.inv(np.eye(self.noise_.shape[0]) + self.noise_ / len(source.widths))
            weights = np.sqrt(self.factor_variances_)[:, None] * (trust @ self.whitener_)
            return rows(_estimates, source, weights, self.mean_, self.factor_means_)

    def fit_transform(self, views: Any, y: object = None, sample_weight: Any = None) -> FloatArray:
        """Fit, and return the estimates of the factors."""
        return self.fit(views, y, sample_weight).transform(views)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that the input is a list of views, which its own checks do not know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def _set_columns(self, columns: list[tuple[str, ...] | None] | None) -> None:
        """Set the names of the columns of each view of the fit; None where none are known."""
        self.view_columns_ = [] if columns is None else columns
        known = {names for names in self.view_columns_ if names is not None}
        if any(len(names) != self.n_features_in_ for names in known):
            raise ValueError(f"its views have {self.n_features_in_} columns, and there are names for another number")
        if len(known) == 1 and None not in self.view_columns_:
            self.feature_names_in_ = np.array(known.pop(), dtype=object)

    def _refuse_other_names(self, views: Any) -> None:
        """Refuse a table whose columns are those of no view of the fit; views are exchangeable, so any will do."""
        known = [names for names in self.view_columns_ if names is not None]
        if not known and hasattr(self, "feature_names_in_"):  # of a model that was loaded
            known = [tuple(self.feature_names_in_)]
        for number, view in enumerate(views):
            if known and names_of_columns(view) not in known:
                refuse_other_names(view, known[min(number, len(known) - 1)], f"view {number}")

    def _refuse_bad_parameters(self) -> None:
        refuse_unknown("observation", self.observation, ("auto", *OBSERVATIONS))
        refuse_unknown("factors", self.factors, ("any", "binary"))
        refuse_unknown("statistics", self.statistics, STATISTICS)
        refuse_unknown("polish", self.polish, tuple(MOST_STEPS))

    def _observation_of(self, views: Any) -> str:
        _refuse_few(views, 2)
        if self.observation != "auto":
            return self.observation
        kinds = {kind_of(view, f"View {number}") for number, view in enumerate(views)}
        return "poisson" if kinds <= {"counts", "categorical"} else "gaussian"

    def _is_sparse(self, views: Any) -> bool:
        return isinstance(views, list | tuple) and all(is_sparse(view) for view in views)

    def _scaled(self, columns: FloatArray, cumulants: FloatArray, statistics: str, counts: bool) -> "ScaledFactors":
        """Return components with the scale and the sign that the model says; columns have factors of variance 1."""
        K = columns.shape[0]
        weights = linalg.lstsq(columns.T, self.mean_)[0]  # means of factors of variance 1
        if self.factors == "binary" or counts:  # factors are not negative
            signs = np.where(weights < 0, -1.0, 1.0)
        elif statistics == "third":
            signs = np.where(cumulants < 0, -1.0, 1.0)
        else:
            signs = np.where(columns[np.arange(K), np.abs(columns).argmax(axis=1)] < 0, -1.0, 1.0)
        columns, weights = columns * signs[:, None], weights * signs
        cumulants = cumulants * (signs if statistics == "third" else 1.0)
        if self.factors == "binary":
            chances = _chances(cumulants, statistics, weights)
            scales = np.sqrt(chances * (1 - chances))
            return ScaledFactors(columns / scales[:, None], chances, scales**2, cumulants, signs)
        if counts:
            scales = np.maximum(np.maximum(columns, 0).sum(axis=1), 1e-300)
            components = simplex_rows(columns)
            return ScaledFactors(components, nnls(components.T, self.mean_)[0], scales**2, cumulants, signs)
        return ScaledFactors(columns, weights, np.ones(K), cumulants, signs)


@dataclass(frozen=True)
class ScaledFactors:
    """Components, the means, variances and cumulants of their factors, and which of them were turned over (-1)."""

    components: FloatArray
    means: FloatArray
    variances: FloatArray
    cumulants: FloatArray
    signs: FloatArray


def _chances(cumulants: FloatArray, statistics: str, weights: FloatArray) -> FloatArray:
    """Return how often a binary factor is 1, from its skewness, or from its kurtosis and whether that is above a half.

    With p for it the skewness is (1 - 2p) / sqrt(p (1 - p)) and the excess kurtosis 1 / (p (1 - p)) - 6.
    """
    if statistics == "third":
        chances = (1 - cumulants / np.sqrt(cumulants**2 + 4)) / 2
    else:
        root = np.sqrt(np.maximum(1 - 4 / np.maximum(cumulants + 6, 4.0), 0.0))
        chances = (1 - np.where(weights > 1, -root, root)) / 2  # the weight is sqrt(p / (1 - p))
    return np.asarray(np.clip(chances, 1e-6, 1 - 1e-6))


def _chosen(moments: FactorMoments, whitener: FloatArray, images: FloatArray, asked: str) -> tuple[str, float, Halves]:
    """Return the statistics to use, how well the two halves of the rows agree on them, and their matrices by halves."""
    found: dict[str, Halves] = {}
    if asked != "fourth" and moments.third is not None:
        found["third"] = moments.third(whitener, images)
    if asked != "third" and moments.fourth is not None:
        K = whitener.shape[0]
        directions = np.vstack([np.eye(K), fixed_directions(K, 2 * K)])
        found["fourth"] = moments.fourth(whitener, images, directions)
    if not found:
        order, least = ("third", "three") if asked != "fourth" else ("fourth", "four")
        raise ValueError(
            f'Statistics of {order} order need {least} views where observation is "any". Give more views, or say what '
            'is in them: observation="gaussian" or "poisson".'
        )
    agreement = {name: _correlation(*halves) for name, halves in found.items()}
    best = max(agreement, key=lambda name: agreement[name])
    return best, agreement[best], found[best]


def _significance(cumulants: FloatArray, halves: Halves) -> FloatArray:
    """Return the squares of the cumulants over that of their noise, which is what the halves of the rows differ by."""
    noise = float(np.mean((halves[0] - halves[1]) ** 2)) / 4
    return cumulants**2 / max(noise, 1e-300)


def _correlation(even: FloatArray, odd: FloatArray) -> float:
    size = np.linalg.norm(even) * np.linalg.norm(odd)
    return float((even * odd).sum() / size) if size > 0 else 0.0


def _cumulants(moments: FactorMoments, whitener: FloatArray, images: FloatArray, statistics: str) -> FloatArray:
    """Return the skewness of the factors that a whitener gives, or their kurtosis."""
    if statistics == "third":
        assert moments.third is not None
        even, odd = moments.third(whitener, images)
        return np.asarray(np.einsum("kkk->k", even + odd) / 2)
    assert moments.fourth is not None
    even, odd = moments.fourth(whitener, images, np.eye(len(whitener)))
    return np.asarray(np.einsum("kkk->k", even + odd) / 2)


def _refuse_few(views: Any, least: int) -> None:
    if not isinstance(views, list | tuple):
        raise ValueError(f"The views are one {type(views).__name__}; give a list of them: fit([X1, X2]).")
    if len(views) < least:
        raise ValueError(
            f"{there_are(len(views), 'views')}, and {least} or more are needed: what they share is learnt."
        )
    absent = [number for number, view in enumerate(views) if view is None]
    if absent:
        raise ValueError(f"View {absent[0]} is None: views are exchangeable, leave out one that is not there.")


def _source_of(views: Any, counts: bool, least: int) -> Source:
    _refuse_few(views, least)
    read = count_blocks if counts else signal_blocks
    sources = [read(view, name=f"View {number}") for number, view in enumerate(views)]
    widths = [source.n_columns for source in sources]
    if len(set(widths)) > 1:
        raise ValueError(f"The views have {widths} columns; exchangeable views have the same ones.")
    warn_of_unknown_orders(sources)
    return aligned(*sources)


def _estimates(block: Block, weights: FloatArray, mean: FloatArray, centre: FloatArray) -> FloatArray:
    columns = np.ascontiguousarray(weights.T)
    together = np.asarray(sum(view @ columns for view in block.views)) / len(block.views)
    return np.asarray(together - weights @ mean + centre)
