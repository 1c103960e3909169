"""Cumulants of discrete ICA and of its parametric case, the gamma-Poisson model."""

import numpy as np
from numpy.typing import NDArray

from polyad.engine import Block, Blocks, Runner
from polyad.engine.blocks import FloatArray
from polyad.moments.factored import FactoredThird, factor_third
from polyad.moments.pieces import subtract_diagonal, subtract_outer
from polyad.moments.symmetric import (
    SymmetricMoments,
    factorial_third,
    factorial_third_rows,
    symmetric_operator,
)


def discrete_ica_moments(blocks: Blocks, run: Runner) -> SymmetricMoments:
    """Return the unbiased S- and T-cumulants of discrete ICA (eqs 29 and 30 of the discrete ICA paper).

    In expectation S = D diag(var a) D' and T is the third cumulant of the sources a along the columns of D.

    Raises
    ------
    ValueError
        With fewer than three documents, for which the third cumulant has no unbiased estimate.

    Examples
    --------
    >>> import numpy as np
    >>> from polyad.engine import Serial, count_blocks
    >>> moments = discrete_ica_moments(count_blocks([[2, 0], [0, 2], [1, 1]]), Serial())
    >>> moments.second @ np.eye(2)
    array([[ 0., -1.], [-1.,  0.]])
    """
    N, M = blocks.shape
    if N < 3:
        raise ValueError(f"Third cumulants need at least 3 documents; X has {N}.")
    totals, n_cells = run(lambda block: (np.asarray(block.rows.sum(axis=0)).ravel(), block.rows.nnz), blocks)
    mean = totals / N
    pair, cube = np.full(N, 1 / (N - 1)), np.full(N, N / ((N - 1) * (N - 2)))

    def second_product(columns: FloatArray) -> FloatArray:
        columns = np.ascontiguousarray(columns)  # or every block would make its own copy
        products = run(lambda block: block.rows.T @ (block.rows @ columns), blocks)
        products /= N - 1
        centred = subtract_outer(products, mean, N / (N - 1) * (mean @ columns))
        return subtract_diagonal(centred, mean, columns)

    def third(whitener: FloatArray, images: FloatArray | None = None) -> FloatArray:
        return factorial_third(blocks, run, whitener, cube, pair, mean, whitener @ mean)

    def third_rows(directions: FloatArray) -> FloatArray:
        return factorial_third_rows(blocks, run, directions, cube, pair, mean, directions @ mean, mean)

    def factored(whitener: FloatArray, images: FloatArray | None = None) -> FactoredThird:
        return factor_third(blocks, run, whitener, cube, pair, mean, whitener @ mean)

    def within(words: NDArray[np.intp]) -> SymmetricMoments:
        return discrete_ica_moments(blocks.columns(words), run)

    operator = symmetric_operator(M, second_product)
    return SymmetricMoments(mean, operator, third, third_rows, factored, within, N, n_cells)


def generalised_covariances(blocks: Blocks, run: Runner, whitener: FloatArray, points: FloatArray) -> FloatArray:
    """Return the whitened generalised S-covariances of discrete ICA at some processing points.

    For each point t, with document weights w proportional to exp(t'x) and E, C the weighted mean and covariance,
    the matrix ``W e^-t (C - diag E) e^-t W'`` is diagonal in the columns of ``W D`` (eqs 4.35, 4.36 of the thesis).
    At t = 0 it is W S W', with 1/N in place of 1/(N-1).

    Parameters
    ----------
    blocks, run
        The counts, and how a pass over them is run.
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
    N, _ = blocks.shape
    points = np.atleast_2d(points)
    exponents = np.empty((N, points.shape[0]))

    def project(block: Block) -> int:
        exponents[block.slice] = block.rows @ points.T
        return 0

    run(project, blocks)
    weights = np.exp(exponents - exponents.max(axis=0))  # the largest weight is 1: nothing overflows
    weights /= weights.sum(axis=0)
    effective = 1 / (weights**2).sum(axis=0)
    if effective.min() < 2:
        worst = int(effective.argmin())
        raise ValueError(
            f"Processing point {worst} gives nearly all the weight to one document "
            f"(effective sample size {effective[worst]:.2f} of {N}). Use a point with smaller entries."
        )
    return np.stack([_covariance_at(blocks, run, whitener, point, weights[:, p]) for p, point in enumerate(points)])


def _covariance_at(
    blocks: Blocks, run: Runner, whitener: FloatArray, point: FloatArray, weights: FloatArray
) -> FloatArray:
    scaled = whitener * np.exp(-point)
    loadings = np.ascontiguousarray(scaled.T)

    def block_sums(block: Block) -> tuple[FloatArray, FloatArray, FloatArray]:
        projected = block.rows @ loadings
        weighted = weights[block.slice, None] * projected
        return projected.T @ weighted, weighted.sum(axis=0), block.rows.T @ weights[block.slice]

    second, mean, expectation = run(block_sums, blocks)
    return second - np.outer(mean, mean) - (scaled * expectation) @ scaled.T
