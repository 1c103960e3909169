"""What the models of two views share: reading, inference, names of columns, evaluation."""

from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from polyad.base.arrays import FloatArray
from polyad.decompose.similarity.sweeps import SimilarityDiagonaliser
from polyad.engine import Source, count_blocks, ordered_by_content, signal_blocks, single_threaded_blas
from polyad.engine.blocks import is_sparse
from polyad.engine.checks import is_parts
from polyad.engine.inputs import is_bags, is_lazy_frame, names_of_columns, refuse_texts
from polyad.engine.sources.repeated import weighted
from polyad.engine.sources.views import warn_of_unknown_orders
from polyad.models.features import refuse_other_columns, refuse_other_names, refuse_other_words, remember_columns
from polyad.models.fitting import fitted_at_once, running
from polyad.models.recipes.cross import CrossOptions, fit_cross, paired
from polyad.models.recipes.factors import LinearFactors, estimated_sources, explained_variance, linear_factors
from polyad.models.text_sources import counted, counted_over, known_text, refuse_other_documents
from polyad.models.views.diagnostics import FactorDiagnostics
from polyad.models.views.factor_model import FactorModel
from polyad.models.views.stability import stability_of_factors

Statistics = Literal["auto", "third", "fourth", "characteristic", "generalised"]
Metric = Literal["auto", "cca", "scale", "none"]
SimilarityMethod = Literal["exact", "sh-rt", "just", "jdtm", "first_order", "schur", "spectral"]


class TwoViewModel(FactorModel):
    """Base of the models of two views; not a model by itself.

    A subclass says which views hold counts, and sets its loadings from the factors in ``_unfold``.
    """

    n_views: ClassVar[int] = 2
    signs_by: ClassVar[str] = "x"  # see polyad.models.recipes.factors.linear_factors
    usual_step: ClassVar[float] = 0.6  # of the points at which the characteristic function is taken

    factors_: LinearFactors
    x_loadings_: FloatArray
    y_loadings_: FloatArray
    x_mean_: FloatArray
    y_mean_: FloatArray
    correlations_: FloatArray
    x_vocabulary_: tuple[str, ...] | None
    y_vocabulary_: tuple[str, ...] | None
    x_text_options_: Any
    y_text_options_: Any

    def __init__(
        self,
        n_components: int = 2,
        *,
        statistics: Statistics = "auto",
        method: SimilarityMethod | SimilarityDiagonaliser = "jdtm",
        metric: Metric = "auto",
        step: float | None = None,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
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
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: Any = None,
        client: Any = None,
    ) -> Self:
        """Learn the loadings of both views.

        Parameters
        ----------
        X, y
            The two views, samples x columns, aligned: row i of both belongs together. Arrays, DataFrames, iterables of
            blocks or sources; for counts also sparse matrices, corpora and sources of text
            (:class:`polyad.corpus.CorpusSource`).
        sample_weight
            How often each sample counts, whole numbers from 0 up: the same as repeating its rows.
        checkpoint, client
            As of :meth:`polyad.LDA.fit`.
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: give the second view, "
                "fit(X, Y)."
            )
        refuse_texts(y, "Y")
        columns = _as_columns(y)
        X, Y = counted(X), counted(columns, "Y")
        refuse_other_documents([X, Y])
        self._tell_kinds(X, Y)
        x_view, y_view = self._checked(X, "X"), self._checked(Y, "Y")
        warn_of_unknown_orders([x_view, y_view])
        self._keep_columns(X, Y, x_view.n_columns)
        if sample_weight is not None:
            paired(x_view, y_view)  # or a message would be about the weights
            x_view, y_view = weighted(x_view, sample_weight), weighted(y_view, sample_weight)
        self.factors_, self.diagnostics_ = self._learned(x_view, y_view)
        self._unfold()
        self._one_column = columns is not y  # a vector: predictions are then a vector too
        return self

    def _tell_kinds(self, X: Any, Y: Any) -> None:
        """Find out which view holds counts, where the class leaves it to the data."""

    def _counts(self) -> tuple[bool, bool]:
        """Tell which views hold counts."""
        raise NotImplementedError

    def _learned(self, x_view: Source, y_view: Source) -> tuple[LinearFactors, FactorDiagnostics]:
        """Return the factors of two views."""
        return self._learned_of(x_view, y_view, self._counts())

    def _learned_of(
        self, x_view: Source, y_view: Source, counts: tuple[bool, bool]
    ) -> tuple[LinearFactors, FactorDiagnostics]:
        options = CrossOptions(
            n_components=self.n_components,
            statistics=self.statistics,
            method=self.method,
            metric=self.metric,
            step=self.step,
            usual_step=self.usual_step,
            max_iter=self.max_iter,
            x_counts=counts[0],
            y_counts=counts[1],
        )
        views = ordered_by_content(paired(x_view, y_view))
        found = fit_cross(views, options)
        return linear_factors(found, views, signs_by=self.signs_by)

    def _unfold(self) -> None:
        """Set what follows from the factors; a model that was loaded has only these."""
        self.x_loadings_, self.y_loadings_ = self.factors_.x_loadings, self.factors_.y_loadings
        self.x_mean_, self.y_mean_ = self.factors_.x_mean, self.factors_.y_mean
        self.correlations_ = self.factors_.correlations
        self.n_features_in_ = self.x_mean_.size
        self._one_column = False

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> FloatArray:
        """Fit, and return the sources as the first view alone tells them, as scikit-learn's pipelines do."""
        return self.fit(X, y, sample_weight).transform(X)

    def transform(self, X: Any, Y: Any = None) -> FloatArray:
        """Return the best linear estimate of the sources from one view or both, N x K, centred.

        Parameters
        ----------
        X
            Rows of the first view; None to estimate from the second alone.
        Y
            Rows of the second view; None to estimate from the first alone.
        """
        x_view, y_view = self._views_like_fitted(X, Y)
        with running(self.n_jobs):
            return estimated_sources(self.factors_, x_view, y_view)

    @single_threaded_blas()
    def predict(self, X: Any) -> FloatArray:
        """Return the expected second view, N x M2; counts are never negative."""
        sources = self.transform(X)
        # transform may have been told to give tables
        expected = np.asarray(sources) @ self.factors_.y_loadings.T + self.factors_.y_mean
        expected = np.maximum(expected, 0.0) if self._counts()[1] else expected
        return expected[:, 0] if self._one_column else expected

    def score(self, X: Any, y: Any) -> float:
        """Return the coefficient of determination of :meth:`predict`, R^2, the mean over the columns of y.

        1 is perfect, and 0 what the means of the columns give. It is the score of scikit-learn's ``CCA``; one shard is
        looked at after the other.

        Parameters
        ----------
        X, y
            Rows of the first and of the second view.
        """
        x_view, y_view = self._views_like_fitted(X, _as_columns(y))
        if x_view is None or y_view is None:
            raise ValueError("A view is None: score takes both.")
        with running(self.n_jobs):
            explained = explained_variance(self.factors_, paired(x_view, y_view), not_negative=self._counts()[1])
        return float(explained.mean())

    def stability(self, X: Any, Y: Any, *, n_resamples: int = 5, random_state: int = 0) -> FloatArray:
        """Return for each factor how well it comes back on resampled rows, K numbers from 0 to 1.

        Blocks of consecutive rows are drawn with replacement and the model is fitted again; the number is the mean
        cosine between the loadings of a factor and of its best match, over both views and all resamples. A factor that
        the data do not single out is near what a random one gives.

        Parameters
        ----------
        X, Y
            The data it was fitted to, in memory.
        n_resamples
            How often to fit again.
        random_state
            Seed of the draws.
        """
        check_is_fitted(self)
        return stability_of_factors(self, X, _as_columns(Y), n_resamples, random_state)

    def _checked(self, view: Any, name: str) -> Source:
        """Return a view as a source of its kind; messages say which view it is."""
        is_counts = self._counts()[0 if name == "X" else 1]
        return count_blocks(view, name=name) if is_counts else signal_blocks(view, name=name)

    def _keep_columns(self, X: Any, Y: Any, n_columns: int) -> None:
        """Keep the names and words of the columns; those of an earlier fit are forgotten."""
        remember_columns(self, X, n_columns, reset=True)
        names = names_of_columns(Y)
        if names is not None:
            self.y_feature_names_in_ = np.array(names, dtype=object)
        self.x_vocabulary_, self.x_text_options_ = known_text(X)
        self.y_vocabulary_, self.y_text_options_ = known_text(Y)

    def _views_like_fitted(self, X: Any, Y: Any) -> tuple[Source | None, Source | None]:
        """Return new rows of both views, checked against those of the fit; text is counted over its words."""
        check_is_fitted(self)
        refuse_other_documents([X, Y])
        x_view = None if X is None else self._like_fitted(X, "X")
        y_view = None if Y is None else self._like_fitted(Y, "Y")
        warn_of_unknown_orders([view for view in (x_view, y_view) if view is not None])
        return x_view, y_view

    def _like_fitted(self, view: Any, name: Literal["X", "Y"]) -> Source:
        of_x = name == "X"
        fitted, options = (
            (self.x_vocabulary_, self.x_text_options_) if of_x else (self.y_vocabulary_, self.y_text_options_)
        )
        n_columns = (self.factors_.x_mean if of_x else self.factors_.y_mean).size
        view = counted_over(view, fitted, n_columns, options, name)
        source, words = self._checked(view, name), known_text(view)[0]
        if words is not None and fitted is not None:
            refuse_other_words(words, fitted)
        if of_x:
            remember_columns(self, view, source.n_columns, reset=False)
        else:
            refuse_other_names(view, getattr(self, "y_feature_names_in_", None), "Y")
            refuse_other_columns(source.n_columns, n_columns, "Y")
        return source

    @property
    def _n_features_out(self) -> int:
        return int(self.x_loadings_.shape[1])

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there must be a second view, of any number of columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def _as_columns(Y: Any) -> Any:
    """Return a vector as one column, and anything else as it is."""
    if isinstance(Y, Source) or is_sparse(Y) or is_lazy_frame(Y) or hasattr(Y, "columns") or hasattr(Y, "counts"):
        return Y
    is_array, is_list = hasattr(Y, "__array__"), isinstance(Y, list | tuple) and not is_parts(Y) and not is_bags(Y)
    if not is_array and not is_list:
        return Y
    values = np.asarray(Y)
    return values[:, None] if values.ndim == 1 else Y
