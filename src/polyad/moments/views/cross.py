"""The moments of a two-view model, and the passes that all of its statistics share.

In every model here the views share the sources and nothing else, so whatever mixes the two of them is diagonal in
the columns of both loading matrices: ``S12 = D1 diag(s) D2'``, and every target likewise with another diagonal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled
from polyad.engine import Block, Source, total

SQUARE = 64  # rows that are turned at a time: what is read of them stays in the nearest cache
# Entries of a matrix up to which a loop takes less time than BLAS does, and rows it looks at at a time.
SMALL = 64
SMALL_ROWS = 128


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


@dataclass(frozen=True)
class CentredProjection:
    """Rows of a view, less its mean, along K directions; sparse rows stay sparse until they are projected."""

    columns: FloatArray  # M x K, the directions
    shift: FloatArray  # K, the mean along them

    def __call__(self, rows: Any) -> FloatArray:
        """Return the projected rows."""
        projected: FloatArray = rows @ self.columns - self.shift
        return projected


def centred_projection(weights: FloatArray, mean: FloatArray) -> CentredProjection:
    """Return the projection ``(X - mean) @ weights.T`` for K x M weights."""
    return CentredProjection(np.ascontiguousarray(weights.T), weights @ mean)


def cross_means(source: Source) -> tuple[FloatArray, FloatArray]:
    """Return the means of both views, in one pass."""
    x_total, y_total = total(_view_sums, source)
    return x_total / source.n_rows, y_total / source.n_rows


def _view_sums(block: Block) -> tuple[FloatArray, FloatArray]:
    x_rows, y_rows = block.views
    return column_sums(x_rows), column_sums(y_rows)


def column_sums(rows: Any) -> FloatArray:
    """Return the sums of the columns of a block as a new array."""
    return np.array(rows.sum(axis=0), dtype=np.float64).ravel()


def cross_covariance(source: Source, x_mean: FloatArray, y_mean: FloatArray) -> LinearOperator:
    """Return the unbiased cross-covariance of the views, eq. (43) of "Beyond CCA", as an M1 x M2 operator."""
    if source.n_rows < 2:
        raise ValueError(f"A covariance needs at least 2 samples; X and Y have n_samples={source.n_rows}.")
    scale = 1 / (source.n_rows - 1)

    def forward(columns: FloatArray) -> FloatArray:
        return scale * total(_cross_products, source, 0, x_mean, CentredProjection(columns, y_mean @ columns))

    def backward(columns: FloatArray) -> FloatArray:
        return scale * total(_cross_products, source, 1, y_mean, CentredProjection(columns, x_mean @ columns))

    return cross_operator(source.widths, forward, backward)


def _cross_products(block: Block, view: int, mean: FloatArray, project: CentredProjection) -> FloatArray:
    """Return the products of one view, centred, with projections of the other."""
    projected = project(block.views[1 - view])
    return block.views[view].T @ projected - np.outer(mean, projected.sum(axis=0))


def view_covariance(source: Source, mean: FloatArray) -> FloatArray:
    """Return the covariance of one view, M x M, in one pass."""
    return total(centred_products, source, mean) / (source.n_rows - 1)


def centred_products(block: Block, mean: FloatArray) -> FloatArray:
    """Return the products of the columns of a block of one view, less their means, M x M."""
    columns = centred_columns(block.rows, mean)
    return products_of_columns(columns, columns)


def view_variances(source: Source, mean: FloatArray) -> FloatArray:
    """Return the variances of the columns of one view, M, in one pass; rows may be sparse."""
    return np.maximum(total(_squares, source) / source.n_rows - mean**2, 0.0)


def _squares(block: Block) -> FloatArray:
    return column_sums(block.rows * block.rows)


def projected_covariances(
    source: Source, x_weights: FloatArray, y_weights: FloatArray, means: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the K x K covariances of ``X @ x_weights.T`` and of ``Y @ y_weights.T``, in one pass."""
    project_x, project_y = (centred_projection(*view) for view in zip((x_weights, y_weights), means))
    x_sum, y_sum = total(_projected_products, source, project_x, project_y)
    return x_sum / (source.n_rows - 1), y_sum / (source.n_rows - 1)


def _projected_products(
    block: Block, project_x: CentredProjection, project_y: CentredProjection
) -> tuple[FloatArray, FloatArray]:
    x_rows, y_rows = block.views
    left, right = project_x(x_rows), project_y(y_rows)
    return left.T @ left, right.T @ right


def dense_rows(rows: Any) -> FloatArray:
    """Return the rows of a block as a dense array."""
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64)


def centred_columns(rows: Any, mean: FloatArray) -> FloatArray:
    """Return the rows of a block less their mean, turned: M x rows.

    In one go; a difference that is turned afterwards takes three times as long.

    Examples
    --------
    >>> centred_columns(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([2.0, 5.0]))
    array([[-1.,  1.], [ 0.,  0.]])
    """
    columns: FloatArray = _centred_columns(dense_rows(rows), mean)
    return columns


@compiled
def _centred_columns(rows, mean):  # type: ignore[no-untyped-def]
    N, M = rows.shape
    columns = np.empty((M, N))
    for first in range(0, N, SQUARE):
        last = min(first + SQUARE, N)
        for m in range(M):
            for i in range(first, last):
                columns[m, i] = rows[i, m] - mean[m]
    return columns


def weighed_columns(rows: Any, mean: FloatArray, weights: FloatArray) -> FloatArray:
    """Return sums of the columns of a block less their means, by K x M weights: K x rows.

    Examples
    --------
    >>> weighed_columns(np.array([[1.0, 5.0], [3.0, 6.0]]), np.array([2.0, 5.0]), np.array([[1.0, 10.0]]))
    array([[-1., 11.]])
    """
    if weights.size > SMALL:
        return np.asarray(weights @ centred_columns(rows, mean))
    columns: FloatArray = _weighed_columns(dense_rows(rows), mean, weights)
    return columns


@compiled
def _weighed_columns(rows, mean, weights):  # type: ignore[no-untyped-def]
    N, M = rows.shape
    found, centred = np.empty((weights.shape[0], N)), np.empty((M, SMALL_ROWS))
    for first in range(0, N, SMALL_ROWS):
        n = min(SMALL_ROWS, N - first)
        for m in range(M):
            for i in range(n):
                centred[m, i] = rows[first + i, m] - mean[m]
        for k in range(weights.shape[0]):
            column = found[k, first : first + n]
            column[:] = 0.0
            m = 0
            while m + 1 < M:  # two at a time: sums are read and written half as often
                one, two = centred[m], centred[m + 1]
                left, right = weights[k, m], weights[k, m + 1]
                for i in range(n):
                    column[i] = (column[i] + left * one[i]) + right * two[i]
                m += 2
            if m < M:
                for i in range(n):
                    column[i] += weights[k, m] * centred[m, i]
    return found


def products_of_columns(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the sums of products of two blocks of columns, K x rows and J x rows: K x J.

    Examples
    --------
    >>> products_of_columns(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]))
    array([[11., 17.]])
    """
    if left.shape[0] * right.shape[0] > SMALL:
        return np.asarray(left @ right.T)
    products: FloatArray = _products_of_columns(left, right)
    return products


@compiled(fastmath=True)
def _products_of_columns(left, right):  # type: ignore[no-untyped-def]
    K, N = left.shape
    products = np.empty((K, right.shape[0]))
    for k in range(K):
        for j in range(right.shape[0]):
            one, other, product = left[k], right[j], 0.0
            for i in range(N):
                product += one[i] * other[i]
            products[k, j] = product
    return products


def cross_operator(
    shape: tuple[int, ...], forward: Callable[[FloatArray], FloatArray], backward: Callable[[FloatArray], FloatArray]
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
