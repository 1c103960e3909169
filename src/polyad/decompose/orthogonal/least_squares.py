"""Alternating least squares: the general method for polyadic decompositions, for comparison."""

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.decompose.diagonalisation import Diagonalisation, checked_tensor, summarise, warn_not_converged
from polyad.decompose.orthogonal.contractions import eigenvectors_of_one
from polyad.engine import single_threaded_blas


@single_threaded_blas()
def least_squares(
    tensor: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
) -> Diagonalisation:
    """Fit sum_k a_k (x) b_k (x) c_k to the tensor, one of the three factors after the other (ALS).

    It knows nothing of orthogonality: the mean of the three factors is made orthonormal at the end, which for an exact
    tensor changes nothing. With noise that costs accuracy, as the comparison of all methods shows.

    Parameters
    ----------
    tensor
        K x K x K, symmetric.
    directions
        F x K: only the first is used, for the start; None takes a fixed one in general position.
    max_iter
        Rounds at most; 500 by default.
    tol
        Converged when no entry of the unit vectors changes by more than this in a round.
    """
    stack = checked_tensor(tensor, "als")
    K, limit = len(stack), 500 if max_iter is None else max_iter
    flat = stack.reshape(K, K * K)
    factors = [eigenvectors_of_one(stack, directions)] * 3
    n_iter, change, mean = 0, np.inf, factors[0]
    while n_iter < limit and change > tol:
        for number in range(3):
            first, second = (factors[other] for other in range(3) if other != number)
            factors[number] = _solved(flat, first, second)
            if number < 2:
                factors[number] = factors[number] / np.maximum(np.linalg.norm(factors[number], axis=0), 1e-300)
        previous, mean = mean, _mean_of(factors)
        change, n_iter = float(np.abs(mean - previous).max()), n_iter + 1
    if change > tol:
        warn_not_converged("als", n_iter, change, tol)
    left, _, right = linalg.svd(mean)
    return summarise(stack, left @ right, n_iter, change <= tol)


def _solved(flat: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the third factor that fits best: the unfolded tensor times the pseudo-inverse of their products."""
    K = len(first)
    products = (first[:, None] * second).reshape(K * K, -1)
    gram = (first.T @ first) * (second.T @ second)
    return np.asarray(flat @ products @ linalg.pinvh(gram), dtype=np.float64)


def _mean_of(factors: list[FloatArray]) -> FloatArray:
    """Return the mean of the three factors with unit columns, all turned to the side of the first."""
    units = [factor / np.maximum(np.linalg.norm(factor, axis=0), 1e-300) for factor in factors]
    signs = [np.where((unit * units[0]).sum(axis=0) < 0, -1.0, 1.0) for unit in units]
    mean = sum(sign * unit for sign, unit in zip(signs, units))
    return np.asarray(mean / np.maximum(np.linalg.norm(mean, axis=0), 1e-300), dtype=np.float64)
