"""Mixed CCA: independent factors shared by measurements and counts."""

from typing import Any

import numpy as np

from polyad.engine import Source
from polyad.engine.blocks import is_sparse
from polyad.engine.checks import is_parts
from polyad.engine.inputs import matrix_of
from polyad.models.recipes.factors import LinearFactors
from polyad.models.views.base import TwoViewModel
from polyad.models.views.diagnostics import FactorDiagnostics


class MixedCCA(TwoViewModel):
    """Independent sources shared by measurements and counts: X = D1 a + e1, Y ~ Poisson(D2 a + e2).

    The views come in either order: where the first is sparse, or of whole numbers from 0 up, and the second is not, the
    first holds the counts.

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
    counts_view_
        Which view holds the counts: 1 for X, 2 for Y.
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

    counts_view_: int

    signs_by = "y"

    def _tell_kinds(self, X: Any, Y: Any) -> None:
        """Take the first view for the counts only where it looks like them, and the second does not."""
        self.counts_view_ = 1 if looks_like_counts(X) and not looks_like_counts(Y) else 2

    def _counts(self) -> tuple[bool, bool]:
        return self.counts_view_ == 1, self.counts_view_ == 2

    def _learned(self, x_view: Source, y_view: Source) -> tuple[LinearFactors, FactorDiagnostics]:
        """Return the factors; measurements come first in all steps, so that the order of the views does not matter."""
        if self.counts_view_ == 2:
            return self._learned_of(x_view, y_view, (False, True))
        factors, diagnostics = self._learned_of(y_view, x_view, (False, True))
        return factors.swapped(), diagnostics

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that a second view of counts is not negative."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _unfold(self) -> None:
        super()._unfold()
        if self.counts_view_ not in (1, 2):
            raise ValueError(f"counts_view_ is {self.counts_view_}, and there are views 1 and 2")
        self.counts_view_ = int(self.counts_view_)
        if self.counts_view_ == 1:
            self.x_loadings_ = np.maximum(self.x_loadings_, 0.0)
        else:
            self.y_loadings_ = np.maximum(self.y_loadings_, 0.0)


def looks_like_counts(view: Any) -> bool:
    """Tell whether a view is sparse, or of whole numbers from 0 up; blocks that come in turn cannot be looked at.

    Examples
    --------
    >>> looks_like_counts([[0, 3], [1, 0]]), looks_like_counts([[0.5, 3.0]]), looks_like_counts(iter([[[1, 2]]]))
    (True, False, False)
    """
    if isinstance(view, Source):
        return is_sparse(view.shard(0).rows)
    view = matrix_of(view)
    if is_parts(view):
        return isinstance(view, list | tuple) and all(map(looks_like_counts, view))
    if is_sparse(view):
        return True
    values = np.asarray(view)
    if values.dtype.kind not in "biuf":
        return False
    return values.dtype.kind in "bu" or bool((values >= 0).all() and (np.floor(values) == values).all())
