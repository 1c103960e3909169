"""Mixed CCA: independent factors shared by measurements and counts."""

import os
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray
from polyad.decompose.similarity.sweeps import SimilarityDiagonaliser
from polyad.engine import count_blocks, ordered_by_content, signal_blocks, single_threaded_blas
from polyad.models.fitting import fitted_at_once, running
from polyad.models.recipes.cross import CrossOptions, fit_cross, paired_views
from polyad.models.recipes.factors import estimated_sources, linear_factors


class MixedCCA(BaseEstimator):  # type: ignore[misc]
    """Independent sources shared by measurements and counts: X = D1 a + e1, Y ~ Poisson(D2 a + e2).

    Parameters
    ----------
    n_components
        K.
    statistics
        "characteristic", "third" or "generalised", as in :class:`polyad.models.views.nongaussian.NonGaussianCCA`;
        "auto" is "characteristic".
    method, metric, max_iter, random_state, n_jobs
        As there; the scale of a column of counts is its mean.
    step
        Size of the processing points: in standard deviations for characteristic functions, and for "generalised" the
        delta of eq. (46) of "Beyond CCA", over the mean size of a view's entries. None takes 0.6, and the paper's .1.

    Attributes
    ----------
    x_loadings_, y_loadings_
        M1 x K and M2 x K, for sources of variance 1; columns belong together. Loadings of counts are not negative.
        The order is by the correlation between the two views' estimates of a source, strongest first.
    correlations_
        K, these correlations.
    x_mean_, y_mean_
        The means of the views.
    factors_
        What linear inference needs: a :class:`polyad.models.recipes.factors.LinearFactors`.
    diagnostics_
        A :class:`polyad.models.views.diagnostics.FactorDiagnostics`.

    Examples
    --------
    >>> from polyad.datasets.views import make_mixed_cca
    >>> sample = make_mixed_cca(2000, (6, 20), 2)
    >>> model = MixedCCA(2).fit(sample.X, sample.Y)
    >>> model.y_loadings_.shape, bool((model.y_loadings_ >= 0).all())
    ((20, 2), True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        statistics: str = "auto",
        method: str | SimilarityDiagonaliser = "jdtm",
        metric: str = "auto",
        step: float | None = None,
        max_iter: int | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.statistics = statistics
        self.method = method
        self.metric = metric
        self.step = step
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fitted_at_once
    def fit(self, X: Any, Y: Any) -> Self:
        """Learn the loadings of both views.

        Parameters
        ----------
        X
            Samples x channels: measurements. An array, a DataFrame, an iterable of blocks, or a source.
        Y
            Samples x words: counts of the same samples, sparse or dense.
        """
        options = self._options()
        views = ordered_by_content(paired_views(X, Y, x_counts=False, y_counts=True))
        found = fit_cross(views, options)
        self.factors_, self.diagnostics_ = linear_factors(found, views, signs_by="y")
        self._unfold()
        return self

    def transform(self, X: Any = None, Y: Any = None) -> FloatArray:
        """Return the best linear estimate of the sources from one view or both, N x K, centred."""
        check_is_fitted(self)
        with running(self.n_jobs):
            x_view = None if X is None else signal_blocks(X)
            y_view = None if Y is None else count_blocks(Y)
            return estimated_sources(self.factors_, x_view, y_view)

    @single_threaded_blas()
    def predict(self, X: Any) -> FloatArray:
        """Return the expected counts of the second view, N x M2; none is negative."""
        return np.maximum(self.transform(X) @ self.factors_.y_loadings.T + self.y_mean_, 0.0)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model as one file without any code in it; :func:`polyad.load` reads it."""
        from polyad.io import save  # the file knows the models, and not the other way round

        save(self, path)

    def _unfold(self) -> None:
        """Set what follows from the factors; a model that was loaded has only these."""
        self.x_loadings_, self.y_loadings_ = self.factors_.x_loadings, np.maximum(self.factors_.y_loadings, 0.0)
        self.x_mean_, self.y_mean_ = self.factors_.x_mean, self.factors_.y_mean
        self.correlations_ = self.factors_.correlations

    def _options(self) -> CrossOptions:
        return CrossOptions(
            n_components=self.n_components,
            statistics=self.statistics,
            method=self.method,
            metric=self.metric,
            step=self.step,
            usual_step=0.6,
            max_iter=self.max_iter,
            x_counts=False,
            y_counts=True,
        )
