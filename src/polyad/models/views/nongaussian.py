"""Non-Gaussian CCA: independent factors shared by two views of measurements."""

import os
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray
from polyad.decompose.similarity.sweeps import SimilarityDiagonaliser
from polyad.engine import ordered_by_content, signal_blocks, single_threaded_blas
from polyad.models.fitting import fitted_at_once, running
from polyad.models.recipes.cross import CrossOptions, fit_cross, paired_views
from polyad.models.recipes.factors import estimated_sources, linear_factors


class NonGaussianCCA(BaseEstimator):  # type: ignore[misc]
    """Independent sources shared by two views: X = D1 a + e1, Y = D2 a + e2 with any noise in each view.

    Classical CCA finds the space of the shared sources and no more; sources that are not Gaussian make every single
    factor identifiable, up to its sign and scale.

    Parameters
    ----------
    n_components
        K.
    statistics
        "characteristic" (generalised covariances at imaginary points), "third" or "fourth" (cross-cumulants),
        "generalised" (at real points, as in the paper "Beyond CCA"), or "auto": characteristic functions, of which
        the imaginary part is left out where the sources are not skewed.
    method
        By similarity: "exact", "sh-rt", "just", "jdtm", "first_order", "schur", "spectral", or a callable.
    metric
        In which the views are whitened: "cca" (their covariances, the nearer to their diagonals the fewer rows there
        are for a column), "scale" (the scales of their columns), "none" (as in the paper), or "auto": "cca" for up
        to 2,000 columns.
    step
        Size of the processing points: in standard deviations for characteristic functions, and for "generalised" the
        delta of eq. (46) of "Beyond CCA", over the mean size of a view's entries. None takes 1.0, and the paper's .1.
    max_iter
        Of the diagonaliser.
    random_state
        Has no effect: nothing in a fit is drawn. It is there for those who set it on every estimator.
    n_jobs
        Threads; None for all cores. The result does not depend on it.

    Attributes
    ----------
    x_loadings_, y_loadings_
        M1 x K and M2 x K, for sources of variance 1; columns belong together. The order is by the correlation between
        the two views' estimates of a source, strongest first; the largest entry of an x loading is positive.
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
    >>> from polyad.datasets.views import make_nongaussian_cca
    >>> sample = make_nongaussian_cca(2000, (6, 5), 2)
    >>> model = NonGaussianCCA(2).fit(sample.X, sample.Y)
    >>> model.x_loadings_.shape, model.transform(sample.X).shape, model.predict(sample.X).shape
    ((6, 2), (2000, 2), (2000, 5))
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
        X, Y
            Samples x channels, aligned: arrays, DataFrames, iterables of blocks, or sources.
        """
        options = self._options()
        views = ordered_by_content(paired_views(X, Y, x_counts=False, y_counts=False))
        found = fit_cross(views, options)
        self.factors_, self.diagnostics_ = linear_factors(found, views, signs_by="x")
        self._unfold()
        return self

    def transform(self, X: Any = None, Y: Any = None) -> FloatArray:
        """Return the best linear estimate of the sources from one view or both, N x K."""
        check_is_fitted(self)
        with running(self.n_jobs):
            x_view, y_view = (None if view is None else signal_blocks(view) for view in (X, Y))
            return estimated_sources(self.factors_, x_view, y_view)

    @single_threaded_blas()
    def predict(self, X: Any) -> FloatArray:
        """Return the expected second view, N x M2."""
        return self.transform(X) @ self.y_loadings_.T + self.y_mean_

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model as one file without any code in it; :func:`polyad.load` reads it."""
        from polyad.io import save  # the file knows the models, and not the other way round

        save(self, path)

    def _unfold(self) -> None:
        """Set what follows from the factors; a model that was loaded has only these."""
        self.x_loadings_, self.y_loadings_ = self.factors_.x_loadings, self.factors_.y_loadings
        self.x_mean_, self.y_mean_ = self.factors_.x_mean, self.factors_.y_mean
        self.correlations_ = self.factors_.correlations

    def _options(self) -> CrossOptions:
        return CrossOptions(
            n_components=self.n_components,
            statistics=self.statistics,
            method=self.method,
            metric=self.metric,
            step=self.step,
            usual_step=1.0,
            max_iter=self.max_iter,
            x_counts=False,
            y_counts=False,
        )
