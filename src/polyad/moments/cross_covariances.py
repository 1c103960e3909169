"""Generalised cross-covariances: the second derivatives of the cumulant generating function away from zero."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.engine import Runner
from polyad.engine.blocks import FloatArray
from polyad.moments.cross_blocks import PairedBlock, PairedBlocks


@dataclass(frozen=True)
class ProcessingPoints:
    """Points t = (t1, t2) at which generalised covariances are taken.

    Attributes
    ----------
    x, y
        P x M1 and P x M2.
    """

    x: FloatArray
    y: FloatArray


def processing_points(
    x_whitener: FloatArray, y_whitener: FloatArray, x_scale: FloatArray | float, y_scale: FloatArray | float
) -> ProcessingPoints:
    """Return 2K points: every row of one whitener times its scale, with zero in the other view.

    The paper's scale is one number a view, 0.1 over the mean of its absolute entries (eq. 46 of "Beyond CCA"). A
    step over the standard deviation of each projection, :func:`unit_scales`, needs no care about the data's units.
    """
    x, y = (np.reshape(scale, (-1, 1)) * W for scale, W in ((x_scale, x_whitener), (y_scale, y_whitener)))
    return ProcessingPoints(np.concatenate([x, np.zeros_like(x)]), np.concatenate([np.zeros_like(y), y]))


def unit_scales(covariances: tuple[FloatArray, FloatArray], step: float) -> tuple[FloatArray, FloatArray]:
    """Return step over the standard deviations of the projections whose covariances are given."""
    x_scale, y_scale = (step / np.sqrt(np.maximum(np.diag(covariance), 1e-300)) for covariance in covariances)
    return x_scale, y_scale


def characteristic_targets(
    pairs: PairedBlocks,
    run: Runner,
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
    order four, the imaginary part order three. A view of counts is divided by e^(i t), as eqs (25) and (27) of
    "Beyond CCA" ask for.
    """

    def block_sums(pair: PairedBlock) -> tuple[NDArray[Any], ...]:
        weights = np.exp(1j * (pair.left @ points.x.T + pair.right @ points.y.T))
        return _weighted_sums(pair, weights, x_whitener, y_whitener, means, points, x_counts, y_counts, 1j)

    return _covariances(run(block_sums, pairs))


def generalised_targets(
    pairs: PairedBlocks,
    run: Runner,
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
    exponents = np.empty((pairs.n_rows, points.x.shape[0]))

    def project(pair: PairedBlock) -> int:
        exponents[pair.slice] = pair.left @ points.x.T + pair.right @ points.y.T
        return 0

    run(project, pairs)
    weights = np.exp(exponents - exponents.max(axis=0))  # the largest weight is 1: nothing overflows
    effective = weights.sum(axis=0) ** 2 / (weights**2).sum(axis=0)
    if effective.min() < 2:
        worst = int(effective.argmin())
        raise ValueError(
            f"The exponentials of processing point {worst} give nearly all the weight to one sample (effective "
            f"sample size {effective[worst]:.2f} of {pairs.n_rows}). Use smaller points, or the statistics "
            '"characteristic", which have no exponentials.'
        )

    def block_sums(pair: PairedBlock) -> tuple[NDArray[Any], ...]:
        own = weights[pair.slice]
        return _weighted_sums(pair, own, x_whitener, y_whitener, means, points, x_counts, y_counts, 1.0)

    return np.real(_covariances(run(block_sums, pairs)))


def _weighted_sums(
    pair: PairedBlock,
    weights: NDArray[Any],
    x_whitener: FloatArray,
    y_whitener: FloatArray,
    means: tuple[FloatArray, FloatArray],
    points: ProcessingPoints,
    x_counts: bool,
    y_counts: bool,
    unit: complex,
) -> tuple[NDArray[Any], ...]:
    """Return the sums of w, w z1, w z2 and w z1 z2' over the rows of a block, for every point."""
    P, K = points.x.shape[0], x_whitener.shape[0]
    firsts = np.empty((2, P, K), dtype=weights.dtype)
    seconds = np.empty((P, K, K), dtype=weights.dtype)
    x_plain = _projected(pair.left, x_whitener, means[0])
    y_plain = _projected(pair.right, y_whitener, means[1])
    for p in range(P):
        left, right = x_plain, y_plain
        if x_counts and points.x[p].any():
            left = _projected(pair.left, x_whitener * np.exp(-unit * points.x[p]), means[0])
        if y_counts and points.y[p].any():
            right = _projected(pair.right, y_whitener * np.exp(-unit * points.y[p]), means[1])
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
