"""Generalised cross-covariances: the second derivatives of the cumulant generating function away from zero."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Largest, Source, total
from polyad.moments.points import refuse_lopsided


@dataclass(frozen=True)
class ProcessingPoints:
    """Points t = (t1, t2) at which generalised covariances are taken."""

    # P x M1 and P x M2.
    x: FloatArray
    y: FloatArray


def processing_points(
    x_whitener: FloatArray, y_whitener: FloatArray, x_scale: FloatArray | float, y_scale: FloatArray | float
) -> ProcessingPoints:
    """Return 2K points: every row of one whitener times its scale, with zero in the other view.

    The paper's scale is one number per view, 0.1 over the mean of its absolute entries (eq. 46 of "Beyond CCA"). A
    step over the standard deviation of each projection, :func:`unit_scales`, needs no care about the data's units.
    """
    x, y = (np.reshape(scale, (-1, 1)) * W for scale, W in ((x_scale, x_whitener), (y_scale, y_whitener)))
    return ProcessingPoints(np.concatenate([x, np.zeros_like(x)]), np.concatenate([np.zeros_like(y), y]))


def unit_scales(covariances: tuple[FloatArray, FloatArray], step: float) -> tuple[FloatArray, FloatArray]:
    """Return step over the standard deviations of the projections whose covariances are given."""
    x_scale, y_scale = (step / np.sqrt(np.maximum(np.diag(covariance), 1e-300)) for covariance in covariances)
    return x_scale, y_scale


@dataclass(frozen=True)
class ViewAtPoints:
    """One view seen through a whitener at some processing points."""

    whitener: FloatArray  # K x M
    mean: FloatArray  # M
    points: FloatArray  # P x M
    # Whether the view holds Poisson counts: it is then divided by e^t, as eqs (25) and (27) of "Beyond CCA" ask for.
    is_counts: bool

    def exponents(self, rows: Any) -> FloatArray:
        """Return the products of rows with the points, one column per point."""
        exponents: FloatArray = rows @ self.points.T
        return exponents

    def plain(self, rows: Any) -> FloatArray:
        """Return the whitened rows."""
        return _projected(rows, self.whitener, self.mean)

    def at(self, point: int, rows: Any, plain: FloatArray, unit: complex) -> NDArray[Any]:
        """Return the whitened rows at a point, where they differ from the plain ones."""
        if not (self.is_counts and self.points[point].any()):
            return plain
        return _projected(rows, self.whitener * np.exp(-unit * self.points[point]), self.mean)


def characteristic_targets(
    source: Source,
    x_whitener: FloatArray,
    y_whitener: FloatArray,
    means: tuple[FloatArray, FloatArray],
    points: ProcessingPoints,
    *,
    x_counts: bool,
    y_counts: bool,
) -> NDArray[np.complex128]:
    """Return the generalised cross-covariances at imaginary points i t, whitened, P x K x K and complex.

    These are derivatives of the characteristic function: the weights have size 1, so nothing overflows and no
    sample dominates. The real and the imaginary part are both V diag V^-1; the real part minus the identity sees
    order four, the imaginary part order three.
    """
    x = ViewAtPoints(x_whitener, means[0], points.x, x_counts)
    y = ViewAtPoints(y_whitener, means[1], points.y, y_counts)
    return _covariances(total(_characteristic_sums, source, x, y))


def generalised_targets(
    source: Source,
    x_whitener: FloatArray,
    y_whitener: FloatArray,
    means: tuple[FloatArray, FloatArray],
    points: ProcessingPoints,
    *,
    x_counts: bool,
    y_counts: bool,
) -> FloatArray:
    """Return the generalised cross-covariances at real points (eq. 24 of "Beyond CCA"), whitened, P x K x K.

    Raises
    ------
    ValueError
        Where a point leaves fewer than two samples with a noticeable weight.
    """
    x = ViewAtPoints(x_whitener, means[0], points.x, x_counts)
    y = ViewAtPoints(y_whitener, means[1], points.y, y_counts)
    largest = total(_largest_exponents, source, x, y).values
    advice = 'Use smaller points, or the statistics "characteristic", which have no exponentials.'
    refuse_lopsided(*total(_weight_totals, source, x, y, largest), source.n_rows, advice)
    return np.real(_covariances(total(_generalised_sums, source, x, y, largest)))


def _largest_exponents(block: Block, x: ViewAtPoints, y: ViewAtPoints) -> Largest:
    return Largest(_exponents(block, x, y).max(axis=0))


def _weight_totals(
    block: Block, x: ViewAtPoints, y: ViewAtPoints, largest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    weights = _real_weights(block, x, y, largest)
    return weights.sum(axis=0), (weights**2).sum(axis=0)


def _generalised_sums(
    block: Block, x: ViewAtPoints, y: ViewAtPoints, largest: FloatArray
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    return _weighted_sums(block, x, y, _real_weights(block, x, y, largest), 1.0)


def _characteristic_sums(
    block: Block, x: ViewAtPoints, y: ViewAtPoints
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    return _weighted_sums(block, x, y, np.exp(1j * _exponents(block, x, y)), 1j)


def _exponents(block: Block, x: ViewAtPoints, y: ViewAtPoints) -> FloatArray:
    x_rows, y_rows = block.views
    return x.exponents(x_rows) + y.exponents(y_rows)


def _real_weights(block: Block, x: ViewAtPoints, y: ViewAtPoints, largest: FloatArray) -> FloatArray:
    """Return the weights of samples, of which the largest in the whole data is 1: nothing overflows."""
    return np.exp(_exponents(block, x, y) - largest)


def _weighted_sums(
    block: Block, x: ViewAtPoints, y: ViewAtPoints, weights: NDArray[Any], unit: complex
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the sums of w, of w z1 and w z2, and of w z1 z2' over the rows of a block, for every point."""
    x_rows, y_rows = block.views
    P, K = x.points.shape[0], x.whitener.shape[0]
    firsts = np.empty((2, P, K), dtype=weights.dtype)
    seconds = np.empty((P, K, K), dtype=weights.dtype)
    x_plain, y_plain = x.plain(x_rows), y.plain(y_rows)
    for p in range(P):
        left, right = x.at(p, x_rows, x_plain, unit), y.at(p, y_rows, y_plain, unit)
        weighted = left * weights[:, p : p + 1]
        firsts[0, p], firsts[1, p] = weighted.sum(axis=0), weights[:, p] @ right
        seconds[p] = weighted.T @ right
    return weights.sum(axis=0), firsts, seconds


def _projected(rows: Any, whitener: NDArray[Any], mean: FloatArray) -> NDArray[Any]:
    """Project rows less the mean; covariances do not see the shift, and rounding is smaller with it."""
    columns = np.ascontiguousarray(whitener.T)
    if not np.iscomplexobj(columns):
        return np.asarray(rows @ columns - mean @ columns)
    return np.asarray(rows @ columns.real + 1j * (rows @ columns.imag) - mean @ columns)


def _covariances(sums: tuple[NDArray[Any], ...]) -> NDArray[Any]:
    totals, firsts, seconds = sums
    x_mean, y_mean = firsts / totals[:, None]
    return seconds / totals[:, None, None] - x_mean[:, :, None] * y_mean[:, None, :]
