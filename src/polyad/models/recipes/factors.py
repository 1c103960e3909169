"""Linear inference in two-view models: the sources from one view or both, and one view from the other."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.base.plurals import how_many
from polyad.engine import Block, Source, rows, total
from polyad.models.features import refuse_other_columns
from polyad.models.recipes.cross import CrossFit
from polyad.models.views.diagnostics import FactorDiagnostics
from polyad.moments.views.cross import CentredProjection, centred_projection, dense_rows, projected_covariances

CELLS = 1 << 20  # of a second view, that are predicted at a time
NOISELESS = 1e-6  # least variance of the noise of an estimate, as part of the estimate's own


@dataclass(frozen=True)
class LinearFactors:
    """Shared sources of variance 1, with all that is needed to estimate them linearly."""

    # M1 x K and M2 x K: expected change of a view with a source. The two views' estimates of a source have the same
    # variance, so changing the units of a view changes its loadings by the same factor and no source.
    x_loadings: FloatArray
    y_loadings: FloatArray
    # K x M1 and K x M2: unbiased estimates of the sources from one view.
    x_projection: FloatArray
    y_projection: FloatArray
    # K x K, of these estimates: the identity plus the noise of the view.
    x_covariance: FloatArray
    y_covariance: FloatArray
    # The means of the views.
    x_mean: FloatArray
    y_mean: FloatArray

    def swapped(self) -> "LinearFactors":
        """Return the same with the two views in the other order."""
        return LinearFactors(
            *(self.y_loadings, self.x_loadings),
            *(self.y_projection, self.x_projection),
            *(self.y_covariance, self.x_covariance),
            *(self.y_mean, self.x_mean),
        )

    @property
    def correlations(self) -> FloatArray:
        """Correlation between the two views' estimates of each source."""
        return 1 / np.sqrt(np.diag(self.x_covariance) * np.diag(self.y_covariance))

    def from_x(self, X: FloatArray) -> FloatArray:
        """Return the best linear estimate of the sources from centred projections of the first view, N x K."""
        return linalg.solve(self.x_covariance, X.T, assume_a="pos").T

    def from_y(self, Y: FloatArray) -> FloatArray:
        """Return the best linear estimate of the sources from centred projections of the second view, N x K."""
        return linalg.solve(self.y_covariance, Y.T, assume_a="pos").T

    def from_both(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the best linear estimate from both views; their estimates share the sources and nothing else.

        With the noise N1 and N2 of the estimates it is (1 + N1^-1 + N2^-1)^-1 (N1^-1 x + N2^-1 y).
        """
        x_precision, y_precision = (_precision(covariance) for covariance in (self.x_covariance, self.y_covariance))
        joint = np.eye(len(x_precision)) + x_precision + y_precision
        return linalg.solve(joint, x_precision @ X.T + y_precision @ Y.T, assume_a="pos").T


def _precision(covariance: FloatArray) -> FloatArray:
    """Return the inverse of what a covariance has beyond the identity; a sample may have a little less than nothing."""
    values, vectors = linalg.eigh(covariance - np.eye(len(covariance)))
    floor = NOISELESS * float(np.trace(covariance)) / len(covariance)
    precision: FloatArray = (vectors / np.maximum(values, floor)) @ vectors.T
    return precision


def linear_factors(fit: CrossFit, source: Source, *, signs_by: str) -> tuple[LinearFactors, FactorDiagnostics]:
    """Scale, order and sign the factors of a fit; its diagnostics come in the same order.

    Parameters
    ----------
    fit, source
        The fit, and the data for the covariances of the projections.
    signs_by
        "x" makes the largest entry of each x loading positive; "y" and "both" make the positive part of the y
        loadings, or of both together, the heavier one (for views of counts). A sign is flipped in both views.
    """
    means = fit.x_mean, fit.y_mean
    x_cov, y_cov = projected_covariances(source, fit.x_projection, fit.y_projection, means)
    variances = np.diag(x_cov) * np.diag(y_cov)
    order = np.argsort(variances, kind="stable")  # the correlation is one over its root: strongest first
    balance = ((np.diag(y_cov) / np.diag(x_cov)) ** 0.25) * _signs(fit.x_loadings, fit.y_loadings, signs_by)
    a = balance[order]
    diagnostics = replace(fit.diagnostics, certainty=fit.diagnostics.certainty[order])
    factors = LinearFactors(
        x_loadings=fit.x_loadings[:, order] / a,
        y_loadings=fit.y_loadings[:, order] * a,
        x_projection=fit.x_projection[order] * a[:, None],
        y_projection=fit.y_projection[order] / a[:, None],
        x_covariance=x_cov[np.ix_(order, order)] * np.outer(a, a),
        y_covariance=y_cov[np.ix_(order, order)] / np.outer(a, a),
        x_mean=fit.x_mean,
        y_mean=fit.y_mean,
    )
    return factors, diagnostics


def _signs(x_loadings: FloatArray, y_loadings: FloatArray, signs_by: str) -> FloatArray:
    if signs_by == "x":
        largest = np.abs(x_loadings).argmax(axis=0)
        return np.where(x_loadings[largest, np.arange(x_loadings.shape[1])] < 0, -1.0, 1.0)
    views = [y_loadings] if signs_by == "y" else [x_loadings, y_loadings]
    scaled = np.vstack([view / np.maximum(np.linalg.norm(view, axis=0), 1e-300) for view in views])
    return np.where((np.sign(scaled) * scaled**2).sum(axis=0) < 0, -1.0, 1.0)


def nonnegative_columns(loadings: FloatArray) -> FloatArray:
    """Clip loadings at 0 and scale columns to sum to 1; a column without a positive entry becomes uniform."""
    clipped = np.maximum(loadings, 0.0)
    totals = clipped.sum(axis=0)
    return np.where(totals > 0, clipped / np.where(totals > 0, totals, 1.0), 1 / loadings.shape[0])


def projected_rows(source: Source, projection: FloatArray, mean: FloatArray) -> FloatArray:
    """Return ``(X - mean) @ projection.T``, N x K, in one pass."""
    return rows(_projected_block, source, centred_projection(projection, mean))


def _projected_block(block: Block, project: CentredProjection) -> FloatArray:
    return project(block.rows)


def explained_variance(factors: LinearFactors, source: Source, *, not_negative: bool) -> FloatArray:
    """Return the coefficient of determination of every column of the second view, predicted from the first, M2.

    A column that does not vary has 1 where it is predicted without an error, otherwise 0, as in scikit-learn.

    Parameters
    ----------
    factors
        What predicts.
    source
        Both views.
    not_negative
        Whether predictions below 0 are taken as 0.
    """
    n_rows, sums, squares, errors = total(_prediction_errors, source, factors, not_negative)
    spread = np.maximum(squares - sums**2 / n_rows, 0.0)
    varies = spread > 1e-12 * np.maximum(squares, 1e-300)
    return np.where(varies, 1 - errors / np.where(varies, spread, 1.0), np.where(errors > 0, 0.0, 1.0))


def _prediction_errors(
    block: Block, factors: LinearFactors, not_negative: bool
) -> tuple[int, FloatArray, FloatArray, FloatArray]:
    """Return the rows of a block, and for every column of the second view its sum, its squares and those of errors.

    Sums are those of differences from the fitted mean, so that their squares keep their digits.
    """
    x_rows, y_rows = block.views
    found = factors.from_x(centred_projection(factors.x_projection, factors.x_mean)(x_rows))
    sums, squares, errors = (np.zeros(factors.y_mean.size) for _ in range(3))
    some = max(1, CELLS // factors.y_mean.size)
    for first in range(0, block.n_rows, some):
        rows_now = slice(first, first + some)
        expected = found[rows_now] @ factors.y_loadings.T + factors.y_mean
        seen = dense_rows(y_rows[rows_now])
        errors += ((seen - (np.maximum(expected, 0.0) if not_negative else expected)) ** 2).sum(axis=0)
        centred = seen - factors.y_mean
        sums += centred.sum(axis=0)
        squares += (centred**2).sum(axis=0)
    return block.n_rows, sums, squares, errors


def estimated_sources(factors: LinearFactors, x_view: Source | None, y_view: Source | None) -> FloatArray:
    """Return the best linear estimate of the sources from the views given, N x K."""
    if x_view is None and y_view is None:
        raise ValueError("Both views are None: give X, Y, or both.")
    x: Any = None
    y: Any = None
    if x_view is not None:
        refuse_other_columns(x_view.n_columns, factors.x_mean.size, "X")
        x = projected_rows(x_view, factors.x_projection, factors.x_mean)
    if y_view is not None:
        refuse_other_columns(y_view.n_columns, factors.y_mean.size, "Y")
        y = projected_rows(y_view, factors.y_projection, factors.y_mean)
    if y is None:
        return factors.from_x(x)
    if x is None:
        return factors.from_y(y)
    if len(x) != len(y):
        raise ValueError(f"X has {how_many(len(x), 'rows')} and Y has {len(y)}: give one row each for every sample.")
    return factors.from_both(x, y)
