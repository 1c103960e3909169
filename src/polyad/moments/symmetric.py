"""The moments of a one-view model, and the tensor algebra that they share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, sum_over, total
from polyad.moments.chunks import UsedColumns, chunks, subtract_diagonal, used_columns
from polyad.moments.counts.weights import Weight


class Third(Protocol):
    """The whitened third moment as a function of the whitener."""

    def __call__(self, whitener: FloatArray, images: FloatArray | None = None) -> FloatArray:
        """Return the K x K x K tensor T(W, W, W)."""
        ...


@dataclass(frozen=True)
class SymmetricMoments:
    """The first three moments of a model with one view, diagonal in the model's components.

    Attributes
    ----------
    mean
        The first moment, M.
    second
        S as an operator, M x M; applying it is one pass over the data.
    third
        ``third(whitener, images)`` with a K x M whitener is the K x K x K tensor T(W, W, W); one pass. ``images`` is
        ``second @ whitener.T`` for models that need it too, and optional: given, it spares them a pass.
    third_rows
        ``third_rows(directions)`` with J x M directions v_j is the J x M array T(v_j, v_j, e_m), the rows that
        the SVTD algorithm reads its components from; one pass and no K x K x M array.
    within
        ``within(words)`` are the moments of some of the words, in increasing order; it copies their counts.
    n_rows, n_cells
        Rows and stored cells of the data that the moments are sums over; 0 for a population. They tell what the last
        one would keep in memory.
    passes_are_dear
        Whether fewer passes with more work in each are to be preferred: see :class:`polyad.engine.Source`.
    """

    mean: FloatArray
    second: LinearOperator
    third: Third
    third_rows: Callable[[FloatArray], FloatArray]
    within: "Callable[[NDArray[np.intp]], SymmetricMoments]"
    n_rows: int = 0
    n_cells: int = 0
    passes_are_dear: bool = False


def symmetrise(tensor: FloatArray) -> FloatArray:
    """Sum over the three places that the last mode of a tensor symmetric in its first two modes can take."""
    return tensor + tensor.transpose(0, 2, 1) + tensor.transpose(2, 0, 1)


def outer_cube(vector: FloatArray) -> FloatArray:
    """Return vector (x) vector (x) vector."""
    return vector[:, None, None] * vector[:, None] * vector


def multilinear(tensor: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return T(A, A, A): every mode of a tensor multiplied by a matrix."""
    for _ in range(3):
        tensor = np.tensordot(tensor, matrix, axes=(0, 1))  # takes the first mode, puts the new one last
    return tensor


PAIR_ROWS = 1 << 11  # words at a time: a K x K x K tensor is added for every part
SINGLE_FROM = 48  # components from which products are made with seven digits, and added up with sixteen


def _precision(n_components: int) -> type[np.floating[Any]]:
    """Return the precision of the products of a third moment: they are far less accurate than that as statistics.

    With many components most of the time of the moments goes into them.
    """
    return np.float32 if n_components >= SINGLE_FROM else np.float64


def symmetric_cube(left: FloatArray, weights: FloatArray | float = 1.0) -> FloatArray:
    """Return the sum over rows n of weights[n] * left[n] (x) left[n] (x) left[n], as a K x K x K tensor."""
    return mirrored(_cube_corners(left, weights))


def _cube_corners(left: FloatArray, weights: FloatArray | float) -> FloatArray:
    """Return the part of :func:`symmetric_cube` with i <= j, k.

    A sixth of the products, those with i <= j <= k, are all there are, and BLAS makes them: j is fixed in each call.
    """
    K = left.shape[1]
    columns, weighted = (np.ascontiguousarray(rows, _precision(K)) for rows in (left.T, left.T * weights))
    corners = np.zeros((K, K, K))
    squares = np.empty_like(columns)
    for j in range(K):
        first = np.multiply(weighted[: j + 1], columns[j], out=squares[: j + 1])
        corner = first @ columns[j:].T
        corners[: j + 1, j, j:] = corner
        corners[: j + 1, j:, j] = corner
    return corners


def _pair_corners(left: FloatArray, right: FloatArray) -> FloatArray:
    """Sum left (x) left (x) right over the rows and over the three places of right, for i <= j, k."""
    K = left.shape[1]
    columns, others = (np.ascontiguousarray(rows.T, _precision(K)) for rows in (left, right))
    halves = others / 2
    corners = np.zeros((K, K, K))
    for i in range(K):
        mixed = columns[i] * others[i:]
        mixed += halves[i] * columns[i:]
        half = columns[i:] @ mixed.T
        corners[i, i:, i:] = half + half.T
    return corners


def mirrored(corners: FloatArray) -> FloatArray:
    """Fill a symmetric tensor from its part with i <= j, k, in place."""
    for i in range(corners.shape[0]):
        corner = corners[i, i:, i:]
        corners[i:, i, i:] = corner
        corners[i:, i:, i] = corner
    return corners


def square_times(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return sum_n left[n, i] left[n, j] right[n, k], symmetric in i and j."""
    columns, other = np.ascontiguousarray(left.T), np.ascontiguousarray(right)
    K = columns.shape[0]
    product = np.empty((K, K, other.shape[1]))
    for i in range(K):
        product[i, i:] = (columns[i:] * columns[i]) @ other
        product[i:, i] = product[i, i:]
    return product


@dataclass(frozen=True)
class CountWeights:
    """What the sums of a third moment of counts are made with."""

    # The weight of a document in the sum of cubes, and in the sums of pairs.
    cubes: Weight
    pairs: Weight
    diagonal: FloatArray  # the sum over documents of ``pairs * x``, M
    mean: FloatArray  # what is taken off the documents, M: zero for raw moments


def factorial_third(source: Source, whitener: FloatArray, weights: CountWeights) -> FloatArray:
    """Third moment of counts without the terms that a token makes with itself, whitened.

    With y = W (x - mean) it is the sum over documents of ``cubes * y (x) y (x) y``, less for each pair of modes the sum
    over words of ``w_m (x) w_m (x) (G - 2/3 diag(diagonal) W)_m``, G the sum of ``pairs * x y'``: eq. (52) of the
    discrete ICA paper and Theorem 1 of the SVTD paper, put in one form.
    """
    used = used_columns(whitener)
    loadings = np.ascontiguousarray(whitener.T)
    corners, pairs = total(_third_sums, source, loadings, used, weights.cubes, weights.pairs, whitener @ weights.mean)
    loadings = loadings[used]
    corrections = subtract_diagonal(pairs, (2 / 3) * weights.diagonal[used], loadings)
    parts = chunks(loadings.shape[0], PAIR_ROWS)
    corners -= sum_over(lambda rows: _pair_corners(loadings[rows], corrections[rows]), parts)
    return mirrored(corners)


def _third_sums(
    block: Block, loadings: FloatArray, used: UsedColumns, cubes: Weight, pairs: Weight, centre: FloatArray
) -> tuple[FloatArray, FloatArray]:
    projected = block.rows @ loadings - centre
    mixed = block.columns @ (pairs(block.tokens)[:, None] * projected)
    return _cube_corners(projected, cubes(block.tokens)), mixed[used]


def factorial_third_rows(source: Source, directions: FloatArray, weights: CountWeights) -> FloatArray:
    """T(v_j, v_j, e_m) of the same tensor for directions v_j, J x M."""
    mean = weights.mean
    loadings = np.ascontiguousarray(directions.T)
    squares = loadings**2
    cubes, pairs, totals = total(
        _third_row_sums, source, loadings, weights.cubes, weights.pairs, directions @ mean, mean @ squares
    )
    rows = cubes - mean[:, None] * totals - 2 * loadings * pairs + 2 * squares * weights.diagonal[:, None]
    return np.ascontiguousarray(rows.T)


def _third_row_sums(
    block: Block,
    loadings: FloatArray,
    cubes: Weight,
    pairs: Weight,
    centre: FloatArray,
    mean_of_squares: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    projected = block.rows @ loadings - centre
    own = block.rows @ loadings**2 - mean_of_squares
    cube, pair = cubes(block.tokens)[:, None], pairs(block.tokens)[:, None]
    powers = cube * projected**2 - pair * own
    return block.rows.T @ powers, block.rows.T @ (pair * projected), powers.sum(axis=0)


def symmetric_operator(size: int, product: Callable[[FloatArray], FloatArray]) -> LinearOperator:
    """Return a symmetric M x M operator from the function that multiplies it with M x J columns."""

    def vector_product(vector: FloatArray) -> FloatArray:
        return product(np.reshape(vector, (-1, 1))).ravel()

    return LinearOperator(
        (size, size),
        matvec=vector_product,
        rmatvec=vector_product,
        matmat=product,
        rmatmat=product,
        dtype=np.float64,
    )
