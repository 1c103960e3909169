"""Discrete CCA: topics, or independent intensities, shared by two views of counts."""

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from polyad.decompose.similarity import SimilarityDiagonaliser
from polyad.engine import Runner, count_blocks, runner_for, single_threaded_blas
from polyad.engine.blocks import FloatArray
from polyad.inference.polylingual import Text, topic_mixtures
from polyad.models.cca_factors import (
    estimated_sources,
    linear_factors,
    nonnegative_columns,
    refuse_other_columns,
)
from polyad.models.cca_fit import CrossOptions, fit_cross, paired_views
from polyad.models.cca_texts import POLISH, TextOptions, fit_texts, standard_projection, unit_projections
from polyad.moments.cross_blocks import PairedBlocks


class DiscreteCCA(BaseEstimator):  # type: ignore[misc]
    """Components shared by two aligned views of counts, such as a text and its translation.

    Parameters
    ----------
    n_components
        K.
    model
        "proportions" for texts: the two texts of a pair share their topic proportions, documents are weighted by
        their lengths, and the topics of the moments are polished by likelihood. "poisson" for the model of the paper
        "Beyond CCA": X ~ Poisson(D1 a + e1), Y ~ Poisson(D2 a + e2) with independent intensities a, and noise of any
        kind in each view; long documents dominate it.
    polish
        Likelihood passes after the moments ("proportions" only): "off", "fast", "full", or a number of passes.
    n_private
        Topics that each text has for itself ("proportions" with a polish only).
    concentration
        Total of the Dirichlet parameters of the topic proportions ("proportions" only).
    min_frequency
        Words in fewer documents are left out of the whitening, not of the topics; None chooses by the number of
        documents ("proportions" only).
    statistics, metric, step
        Of "poisson": see :class:`polyad.models.cca_nongaussian.NonGaussianCCA`.
    method
        A diagonaliser by similarity: "exact", "sh-rt", "just", "jdtm", "first_order", "spectral", or a callable.
    max_iter
        Of the diagonaliser.
    random_state
        Seed of what is drawn.
    n_jobs
        Threads; None for all cores. The result does not depend on it.

    Attributes
    ----------
    x_loadings_, y_loadings_
        M1 x K and M2 x K, not negative, columns sum to 1 and belong together. The order is by the share of tokens,
        largest first ("poisson": by the correlation between the views' estimates of a source, strongest first).
    shares_
        K, the shares of tokens ("proportions").
    correlations_
        K, the correlations ("poisson").
    topics_
        All topics with their prior, those that one text has for itself last ("proportions"): a
        :class:`polyad.inference.polylingual.PairedTopics`.
    factors_
        What linear inference needs ("poisson"): a :class:`polyad.models.cca_factors.LinearFactors`.
    x_projection_, y_projection_
        K x M1 and K x M2, of :meth:`project`.
    x_centre_, y_centre_
        K, what :meth:`project` takes off: the mean of the documents fitted to ("poisson": nothing).
    x_vocabulary_, y_vocabulary_
        The words of the two corpora; None where the counts came without words.
    diagnostics_
        A :class:`polyad.models.cca_diagnostics.FactorDiagnostics`.

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
        model: str = "proportions",
        polish: str | int = "fast",
        n_private: int = 0,
        concentration: float = 2.0,
        min_frequency: int | None = None,
        statistics: str = "auto",
        method: str | SimilarityDiagonaliser = "jdtm",
        metric: str = "auto",
        step: float = 0.6,
        max_iter: int | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.model = model
        self.polish = polish
        self.n_private = n_private
        self.concentration = concentration
        self.min_frequency = min_frequency
        self.statistics = statistics
        self.method = method
        self.metric = metric
        self.step = step
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn the components of both views.

        Parameters
        ----------
        X, Y
            Documents x words, aligned: row i of both belongs together. Sparse or dense counts, or re-iterables of
            blocks.
        """
        if self.model not in ("proportions", "poisson"):
            raise ValueError(f'model is {self.model!r}; give "proportions" or "poisson".')
        run = runner_for(self.n_jobs)
        pairs = paired_views(X, Y, x_counts=True, y_counts=True)
        with single_threaded_blas():
            if self.model == "poisson":
                self._fit_poisson(pairs, run)
            else:
                self._fit_proportions(pairs, run)
        # A corpus brings its words; those of an earlier fit are forgotten.
        words = (getattr(view, "vocabulary", None) for view in (X, Y))
        self.x_vocabulary_, self.y_vocabulary_ = (listed if isinstance(listed, tuple) else None for listed in words)
        self.x_text_options_ = self.y_text_options_ = None
        return self

    def transform(self, X: Any = None, Y: Any = None) -> FloatArray:
        """Return what the documents are made of, from one view or both, N x K.

        "proportions": topic proportions, rows sum to 1. "poisson": the best linear estimate of the intensities,
        centred, with variance 1.
        """
        check_is_fitted(self)
        run = runner_for(self.n_jobs)
        x_blocks, y_blocks = (None if view is None else count_blocks(view) for view in (X, Y))
        if self.model == "poisson":
            return estimated_sources(self.factors_, run, x_blocks, y_blocks)
        for blocks, loadings, name in ((x_blocks, self.x_loadings_, "X"), (y_blocks, self.y_loadings_, "Y")):
            if blocks is not None:
                refuse_other_columns(blocks.shape[1], loadings.shape[0], name)
        x_text, y_text = (
            None if blocks is None else Text.from_blocks(blocks, by_word=False) for blocks in (x_blocks, y_blocks)
        )
        mixtures = topic_mixtures(self.topics_, run, x_text, y_text)[:, : self.n_components]
        return mixtures / mixtures.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> FloatArray:
        """Return the expected second view, N x M2: word probabilities ("proportions") or counts ("poisson")."""
        sources = self.transform(X)
        if self.model == "proportions":
            return sources @ self.y_loadings_.T
        return np.maximum(sources @ self.factors_.y_loadings.T + self.factors_.y_mean, 0.0)

    def project(self, X: Any = None, Y: Any = None) -> FloatArray:
        """Return unit vectors, N x K, under which a document of one view lies close to its partner in the other.

        Products of the projections of X and of Y are cosines: for retrieval across languages they are better than
        topic proportions. The length of a document does not matter. Give one of the two views.
        """
        check_is_fitted(self)
        if (X is None) == (Y is None):
            raise ValueError("Give one view to project: X or Y.")
        run = runner_for(self.n_jobs)
        blocks = count_blocks(X if Y is None else Y)
        whitener, centre = (self.x_projection_, self.x_centre_) if Y is None else (self.y_projection_, self.y_centre_)
        refuse_other_columns(blocks.shape[1], whitener.shape[1], "X" if Y is None else "Y")
        return unit_projections(blocks, run, whitener, centre)

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

    def _fit_poisson(self, pairs: PairedBlocks, run: Runner) -> None:
        options = CrossOptions(
            n_components=self.n_components,
            statistics=self.statistics,
            method=self.method,
            metric=self.metric,
            step=self.step,
            max_iter=self.max_iter,
            random_state=self.random_state,
            x_counts=True,
            y_counts=True,
        )
        found = fit_cross(pairs, run, options)
        self.factors_ = linear_factors(found, pairs, run, signs_by="both")
        self.diagnostics_ = found.diagnostics
        self._unfold()

    def _fit_proportions(self, pairs: PairedBlocks, run: Runner) -> None:
        options = TextOptions(
            n_components=self.n_components,
            method=self.method,
            concentration=self.concentration,
            min_frequency=self.min_frequency,
            n_passes=_n_passes(self.polish),
            n_private=self.n_private,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        found = fit_texts(pairs, run, options)
        self.topics_ = found.topics
        x_blocks, y_blocks = pairs.views
        self.x_projection_, self.x_centre_ = standard_projection(x_blocks, run, found.x_whitener)
        self.y_projection_, self.y_centre_ = standard_projection(y_blocks, run, found.y_whitener)
        self.shares_ = found.shares
        self.diagnostics_ = found.diagnostics
        self._unfold()

    def _unfold(self) -> None:
        """Set what follows from the topics, or from the factors; a model that was loaded has only these."""
        if self.model == "poisson":
            self.x_loadings_ = nonnegative_columns(self.factors_.x_loadings)
            self.y_loadings_ = nonnegative_columns(self.factors_.y_loadings)
            self.x_projection_, self.y_projection_ = self.factors_.x_projection, self.factors_.y_projection
            self.x_centre_ = self.y_centre_ = np.zeros(self.x_projection_.shape[0])
            self.correlations_ = self.factors_.correlations
        else:
            # Rows one after another, as in a loaded model: the same products then have the same bytes.
            self.x_loadings_, self.y_loadings_ = (
                np.ascontiguousarray(topics[:, : self.n_components])
                for topics in (self.topics_.x_topics, self.topics_.y_topics)
            )


def _n_passes(polish: str | int) -> int:
    if isinstance(polish, str):
        if polish not in POLISH:
            raise ValueError(f"polish is {polish!r}; give one of {', '.join(map(repr, POLISH))}, or a number.")
        return POLISH[polish]
    if isinstance(polish, bool) or polish != int(polish) or polish < 0:
        raise ValueError(f"polish is {polish!r}; give a whole number of passes from 0 up.")
    return int(polish)
