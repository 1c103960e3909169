"""The moments of a two-view model, and the passes that all of its statistics share.

In every model here the views share the sources and nothing else, so whatever mixes the two of them is diagonal in
the columns of both loading matrices: ``S12 = D1 diag(s) D2'``, and every target likewise with another diagonal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from polyad.engine import Block, Blocks, Runner
from polyad.engine.blocks import FloatArray
from polyad.moments.cross_blocks import PairedBlock, PairedBlocks


@dataclass(frozen=True)
class CrossMoments:
    """The moments of a model with two views, diagonal in the model's pairs of loadings.

    Attributes
    ----------
    x_mean, y_mean
        The means of the views, M1 and M2.
    second
        S12 as an operator, M1 x M2; applying it, or its transpose, is one pass over the data.
    targets
        ``targets(x_whitener, y_whitener)`` with K x M1 and K x M2 whiteners is a P x K x K stack of matrices
        V diag V^-1 with the same V.
    """

    x_mean: FloatArray
    y_mean: FloatArray
    second: LinearOperator
    targets: Callable[[FloatArray, FloatArray], FloatArray]


def cross_means(pairs: PairedBlocks, run: Runner) -> tuple[FloatArray, FloatArray]:
    """Return the means of both views, in one pass."""

    def block_sums(pair: PairedBlock) -> tuple[FloatArray, FloatArray]:
        return column_sums(pair.left), column_sums(pair.right)

    x_total, y_total = run(block_sums, pairs)
    return x_total / pairs.n_rows, y_total / pairs.n_rows


def column_sums(rows: Any) -> FloatArray:
    """Return the sums of the columns of a block as a new array."""
    return np.array(rows.sum(axis=0), dtype=np.float64).ravel()


def cross_covariance(pairs: PairedBlocks, run: Runner, x_mean: FloatArray, y_mean: FloatArray) -> LinearOperator:
    """Return the unbiased cross-covariance of the views, eq. (43) of "Beyond CCA", as an M1 x M2 operator."""
    if pairs.n_rows < 2:
        raise ValueError(f"A covariance needs at least 2 samples; X and Y have {pairs.n_rows}.")
    scale = 1 / (pairs.n_rows - 1)

    def forward(columns: FloatArray) -> FloatArray:
        shift = y_mean @ columns

        def block_product(pair: PairedBlock) -> FloatArray:
            projected = pair.right @ columns - shift
            return pair.left.T @ projected - np.outer(x_mean, projected.sum(axis=0))

        return scale * run(block_product, pairs)

    def backward(columns: FloatArray) -> FloatArray:
        shift = x_mean @ columns

        def block_product(pair: PairedBlock) -> FloatArray:
            projected = pair.left @ columns - shift
            return pair.right.T @ projected - np.outer(y_mean, projected.sum(axis=0))

        return scale * run(block_product, pairs)

    return cross_operator(pairs.n_columns, forward, backward)


def view_covariance(blocks: Blocks, run: Runner, mean: FloatArray) -> FloatArray:
    """Return the covariance of one view, M x M, in one pass."""

    def block_sum(block: Block) -> FloatArray:
        centred = dense_rows(block.rows) - mean
        return centred.T @ centred

    return run(block_sum, blocks) / (blocks.shape[0] - 1)


def view_variances(blocks: Blocks, run: Runner, mean: FloatArray) -> FloatArray:
    """Return the variances of the columns of one view, M, in one pass; rows may be sparse."""

    def block_sum(block: Block) -> FloatArray:
        return column_sums(block.rows * block.rows)

    return np.maximum(run(block_sum, blocks) / blocks.shape[0] - mean**2, 0.0)


def projected_covariances(
    pairs: PairedBlocks, run: Runner, x_weights: FloatArray, y_weights: FloatArray, means: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the K x K covariances of ``X @ x_weights.T`` and of ``Y @ y_weights.T``, in one pass."""
    x_shift, y_shift = x_weights @ means[0], y_weights @ means[1]
    x_columns, y_columns = (np.ascontiguousarray(weights.T) for weights in (x_weights, y_weights))

    def block_sums(pair: PairedBlock) -> tuple[FloatArray, FloatArray]:
        left, right = pair.left @ x_columns - x_shift, pair.right @ y_columns - y_shift
        return left.T @ left, right.T @ right

    x_sum, y_sum = run(block_sums, pairs)
    return x_sum / (pairs.n_rows - 1), y_sum / (pairs.n_rows - 1)


def dense_rows(rows: Any) -> FloatArray:
    """Return the rows of a block as a dense array."""
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64)


def cross_operator(
    shape: tuple[int, int], forward: Callable[[FloatArray], FloatArray], backward: Callable[[FloatArray], FloatArray]
) -> LinearOperator:
    """Return an M1 x M2 operator from the functions that multiply it, and its transpose, with columns."""
    return LinearOperator(
        shape,
        matvec=lambda vector: forward(np.reshape(vector, (-1, 1))).ravel(),
        rmatvec=lambda vector: backward(np.reshape(vector, (-1, 1))).ravel(),
        matmat=forward,
        rmatmat=backward,
        dtype=np.float64,
    )


def cross_population(
    x_loadings: FloatArray, y_loadings: FloatArray, variances: FloatArray, target_diagonals: FloatArray
) -> CrossMoments:
    """Return exact moments from the parameters: what every estimate tends to.

    Parameters
    ----------
    x_loadings, y_loadings
        D1, M1 x K, and D2, M2 x K.
    variances
        K, of the sources.
    target_diagonals
        P x K, the diagonals of the targets: third cumulants times a direction, generalised variances, and so on.

    Examples
    --------
    >>> D = np.eye(3)[:, :2]
    >>> moments = cross_population(D, D, np.array([1.0, 2.0]), np.ones((1, 2)))
    >>> moments.second @ np.eye(3)
    array([[1., 0., 0.], [0., 2., 0.], [0., 0., 0.]])
    """
    D1, D2 = (np.asarray(loadings, dtype=np.float64) for loadings in (x_loadings, y_loadings))

    def targets(x_whitener: FloatArray, y_whitener: FloatArray) -> FloatArray:
        left, right = x_whitener @ D1, y_whitener @ D2
        return np.einsum("pk,ik,jk->pij", target_diagonals, left, right, optimize=True)

    second = cross_operator(
        (D1.shape[0], D2.shape[0]),
        lambda columns: D1 @ (variances[:, None] * (D2.T @ columns)),
        lambda columns: D2 @ (variances[:, None] * (D1.T @ columns)),
    )
    return CrossMoments(np.zeros(D1.shape[0]), np.zeros(D2.shape[0]), second, targets)
