"""Discrete CCA: independent intensities shared by two views of counts."""

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray
from polyad.decompose.similarity.sweeps import SimilarityDiagonaliser
from polyad.engine import count_blocks, ordered_by_content, single_threaded_blas
from polyad.models.fitting import fitted_at_once, running
from polyad.models.recipes.cross import CrossOptions, fit_cross, paired_views
from polyad.models.recipes.factors import estimated_sources, linear_factors, nonnegative_columns, refuse_other_columns
from polyad.models.recipes.projection import Projection, unit_projections
from polyad.models.text_sources import counted, counted_over, known_text


class DiscreteCCA(BaseEstimator):  # type: ignore[misc]
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

    def __init__(
        self,
        n_components: int = 10,
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
        """Learn the components of both views.

        Parameters
        ----------
        X, Y
            Documents x words, aligned: row i of both belongs together. Sparse or dense counts, iterables of blocks,
            corpora, sources, or sources of text (:class:`polyad.corpus.CorpusSource`).
        """
        X, Y = counted(X), counted(Y)
        views = ordered_by_content(paired_views(X, Y, x_counts=True, y_counts=True))
        options = CrossOptions(
            n_components=self.n_components,
            statistics=self.statistics,
            method=self.method,
            metric=self.metric,
            step=self.step,
            usual_step=0.6,
            max_iter=self.max_iter,
            x_counts=True,
            y_counts=True,
        )
        found = fit_cross(views, options)
        self.factors_, self.diagnostics_ = linear_factors(found, views, signs_by="both")
        self._unfold()
        # A corpus brings its words and how its text was split; those of an earlier fit are forgotten.
        self.x_vocabulary_, self.x_text_options_ = known_text(X)
        self.y_vocabulary_, self.y_text_options_ = known_text(Y)
        return self

    def _unfold(self) -> None:
        """Set what follows from the factors; a model that was loaded has only these."""
        self.x_loadings_ = nonnegative_columns(self.factors_.x_loadings)
        self.y_loadings_ = nonnegative_columns(self.factors_.y_loadings)
        self.x_projection_, self.y_projection_ = self.factors_.x_projection, self.factors_.y_projection
        self.correlations_ = self.factors_.correlations

    def transform(self, X: Any = None, Y: Any = None) -> FloatArray:
        """Return the best linear estimate of the intensities from one view or both, N x K, centred with variance 1."""
        check_is_fitted(self)
        X, Y = self._counted(X, Y)
        with running(self.n_jobs):
            x_view, y_view = (None if view is None else count_blocks(view) for view in (X, Y))
            return estimated_sources(self.factors_, x_view, y_view)

    @single_threaded_blas()
    def predict(self, X: Any) -> FloatArray:
        """Return the expected counts of the second view, N x M2."""
        return np.maximum(self.transform(X) @ self.factors_.y_loadings.T + self.factors_.y_mean, 0.0)

    def project(self, X: Any = None, Y: Any = None) -> FloatArray:
        """Return unit vectors, N x K, under which a document of one view lies close to its partner in the other.

        Products of the projections of X and of Y are cosines. The length of a document does not matter. Give one of
        the two views.
        """
        check_is_fitted(self)
        if (X is None) == (Y is None):
            raise ValueError("Give one view to project: X or Y.")
        X, Y = self._counted(X, Y)
        weights = self.x_projection_ if Y is None else self.y_projection_
        with running(self.n_jobs):
            view = count_blocks(X if Y is None else Y)
            refuse_other_columns(view.n_columns, weights.shape[1], "X" if Y is None else "Y")
            return unit_projections(view, Projection(weights, np.zeros(weights.shape[0])))

    def _counted(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """Return new documents of both views, sources of text counted over the words of the fit."""
        return (
            counted_over(X, self.x_vocabulary_, len(self.x_loadings_), self.x_text_options_),
            counted_over(Y, self.y_vocabulary_, len(self.y_loadings_), self.y_text_options_),
        )

    def save(
        self, path: str | os.PathLike[str], *, vocabulary: tuple[Sequence[str], Sequence[str]] | None = None
    ) -> None:
        """Save the fitted model as one file without any code in it; :func:`polyad.load` reads it.

        Parameters
        ----------
        path
            The file, by custom named ``.polyad``; it appears only when it is complete.
        vocabulary
            The words of the columns of both views; None takes those of the corpora that the model was fitted with.
        """
        from polyad.io import save  # the file knows the models, and not the other way round

        save(self, path, vocabulary=vocabulary)
