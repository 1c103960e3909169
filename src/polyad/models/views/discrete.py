"""Discrete CCA: independent intensities shared by two views of counts."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray
from polyad.models.fitting import running
from polyad.models.recipes.factors import nonnegative_columns
from polyad.models.recipes.projection import Projection, unit_projections
from polyad.models.views.base import TwoViewModel


class DiscreteCCA(TwoViewModel):
    """Components shared by two aligned views of counts.

    The model of the paper "Beyond CCA": X ~ Poisson(D1 a + e1), Y ~ Poisson(D2 a + e2) with independent intensities a,
    and noise of any kind in each view. Documents of large counts dominate it: for a text and its translation take
    :class:`PolylingualLDA`.

    Parameters
    ----------
    n_components
        K.
    statistics, metric, step
        See :class:`polyad.models.views.nongaussian.NonGaussianCCA`.
    method
        By similarity: "exact", "sh-rt", "just", "jdtm", "first_order", "schur", "spectral", or a callable.
    max_iter
        Of the diagonaliser.
    random_state
        Has no effect: nothing in a fit is drawn. It is there for those who set it on every estimator.
    n_jobs
        Threads; None for all cores. The result does not depend on it.

    Attributes
    ----------
    x_loadings_, y_loadings_
        M1 x K and M2 x K, not negative, columns sum to 1 and belong together. The order is by the correlation between
        the views' estimates of a source, strongest first.
    correlations_
        K, the correlations.
    factors_
        What linear inference needs: a :class:`polyad.models.recipes.factors.LinearFactors`.
    x_projection_, y_projection_
        K x M1 and K x M2, of :meth:`project`.
    x_vocabulary_, y_vocabulary_
        The words of the two corpora; None where the counts came without words.
    diagnostics_
        A :class:`polyad.models.views.diagnostics.FactorDiagnostics`.

    Examples
    --------
    >>> from polyad.datasets.views import make_discrete_cca
    >>> sample = make_discrete_cca(1000, (20, 30), 3, n_private=1, private_length=50.0)
    >>> model = DiscreteCCA(3).fit(sample.X, sample.Y)
    >>> model.y_loadings_.shape, model.transform(sample.X).shape, model.predict(sample.X).shape
    ((30, 3), (1000, 3), (1000, 30))
    """

    has_topics: ClassVar[bool] = True
    signs_by = "both"

    def _counts(self) -> tuple[bool, bool]:
        return True, True

    def _unfold(self) -> None:
        super()._unfold()
        # In one order of memory: sums of columns round by it, and a file keeps none.
        self.x_loadings_ = nonnegative_columns(np.ascontiguousarray(self.factors_.x_loadings))
        self.y_loadings_ = nonnegative_columns(np.ascontiguousarray(self.factors_.y_loadings))
        self.x_projection_, self.y_projection_ = self.factors_.x_projection, self.factors_.y_projection

    def project(self, X: Any = None, Y: Any = None) -> FloatArray:
        """Return unit vectors, N x K, under which a document of one view lies close to its partner in the other.

        Products of the projections of X and of Y are cosines. The length of a document does not matter. Give one of
        the two views.
        """
        check_is_fitted(self)
        if (X is None) == (Y is None):
            raise ValueError("Give one view to project: X or Y.")
        weights = self.x_projection_ if Y is None else self.y_projection_
        view = self._like_fitted(X, "X") if Y is None else self._like_fitted(Y, "Y")
        with running(self.n_jobs):
            return unit_projections(view, Projection(weights, np.zeros(weights.shape[0])))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that both views hold counts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.target_tags.positive_only = True
        return tags
