"""Cumulants of discrete ICA and of its parametric case, the gamma-Poisson model."""

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Largest, Source, columns_of, total
from polyad.moments.chunks import subtract_diagonal, subtract_outer
from polyad.moments.counts.weights import SameWeight
from polyad.moments.points import refuse_lopsided
from polyad.moments.symmetric import (
    CountWeights,
    SymmetricMoments,
    factorial_third,
    factorial_third_rows,
    symmetric_operator,
)


def discrete_ica_moments(source: Source) -> SymmetricMoments:
    """Return the unbiased S- and T-cumulants of discrete ICA (eqs 29 and 30 of the discrete ICA paper).

    In expectation S = D diag(var a) D' and T is the third cumulant of the sources a along the columns of D.

    Raises
    ------
    ValueError
        With fewer than three documents, for which the third cumulant has no unbiased estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from polyad.engine import count_blocks
    >>> moments = discrete_ica_moments(count_blocks([[2, 0], [0, 2], [1, 1]]))
    >>> moments.second @ np.eye(2)
    array([[ 0., -1.], [-1.,  0.]])
    """
    N, M = source.shape
    if N < 3:
        raise ValueError(f"Third cumulants need at least 3 documents; X has {N}.")
    totals, n_cells = total(_word_sums, source)
    mean = totals / N
    weights = CountWeights(SameWeight(N / ((N - 1) * (N - 2))), SameWeight(1 / (N - 1)), diagonal=mean, mean=mean)

    def second_product(columns: FloatArray) -> FloatArray:
        columns = np.ascontiguousarray(columns)  # or every block would make its own copy
        products = total(_products, source, columns)
        products /= N - 1
        centred = subtract_outer(products, mean, N / (N - 1) * (mean @ columns))
        return subtract_diagonal(centred, mean, columns)

    def third(whitener: FloatArray, images: FloatArray | None = None) -> FloatArray:
        return factorial_third(source, whitener, weights)

    def third_rows(directions: FloatArray) -> FloatArray:
        return factorial_third_rows(source, directions, weights)

    def within(words: NDArray[np.intp]) -> SymmetricMoments:
        return discrete_ica_moments(columns_of(source, words))

    operator = symmetric_operator(M, second_product)
    return SymmetricMoments(mean, operator, third, third_rows, within, N, n_cells, source.passes_are_dear)


def _word_sums(block: Block) -> tuple[FloatArray, int]:
    return np.array(block.rows.sum(axis=0), dtype=np.float64).ravel(), int(block.rows.nnz)


def _products(block: Block, columns: FloatArray) -> FloatArray:
    products: FloatArray = block.rows.T @ (block.rows @ columns)
    return products


def generalised_covariances(source: Source, whitener: FloatArray, points: FloatArray) -> FloatArray:
    """Return the whitened generalised S-covariances of discrete ICA at some processing points.

    For each point t, with document weights w proportional to exp(t'x) and E, C the weighted mean and covariance,
    the matrix ``W e^-t (C - diag E) e^-t W'`` is diagonal in the columns of ``W D`` (eqs 4.35, 4.36 of the thesis).
    At t = 0 it is W S W', with 1/N in place of 1/(N-1).

    Parameters
    ----------
    source
        The counts.
    whitener
        K x M.
    points
        P x M processing points; small, or a few documents get all the weight.

    Returns
    -------
    ndarray
        P x K x K.

    Raises
    ------
    ValueError
        Where a point leaves fewer than two documents with a noticeable weight.
    """
    points = np.atleast_2d(points)
    largest = total(_largest_exponents, source, points).values
    totals, squares = total(_weight_sums, source, points, largest)
    refuse_lopsided(totals, squares, source.n_rows, "Use a point with smaller entries.")
    return np.stack([_covariance_at(source, whitener, *at) for at in zip(points, largest, totals)])


def _largest_exponents(block: Block, points: FloatArray) -> Largest:
    return Largest((block.rows @ points.T).max(axis=0))


def _weight_sums(block: Block, points: FloatArray, largest: FloatArray) -> tuple[FloatArray, FloatArray]:
    weights = np.exp(block.rows @ points.T - largest)  # the largest weight is 1: nothing overflows
    return weights.sum(axis=0), (weights**2).sum(axis=0)


def _covariance_at(
    source: Source, whitener: FloatArray, point: FloatArray, largest: float, weight_total: float
) -> FloatArray:
    scaled = whitener * np.exp(-point)
    sums = total(_weighted_sums, source, np.ascontiguousarray(scaled.T), point, largest)
    second, mean, expectation = (part / weight_total for part in sums)
    return second - np.outer(mean, mean) - (scaled * expectation) @ scaled.T


def _weighted_sums(
    block: Block, loadings: FloatArray, point: FloatArray, largest: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    weights = np.exp(block.rows @ point - largest)
    projected = block.rows @ loadings
    weighted = weights[:, None] * projected
    return projected.T @ weighted, weighted.sum(axis=0), block.rows.T @ weights
