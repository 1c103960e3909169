"""Non-Gaussian CCA: independent factors shared by two views of measurements."""

from typing import Any

from sklearn.base import RegressorMixin

from polyad.models.views.base import TwoViewModel


class NonGaussianCCA(RegressorMixin, TwoViewModel):  # type: ignore[misc]
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

    usual_step = 1.0

    score = TwoViewModel.score  # in passes, and not that of the mixin, which wants all predictions in memory

    def _counts(self) -> tuple[bool, bool]:
        return False, False

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn, as its own CCA does, that predictions are not what the factors are chosen for."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags
