"""All pairs at once: a first-order step made of matrix products, for many components."""

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.base.fixed import fixed_directions
from polyad.decompose.diagonalisation import checked_stack, warn_not_converged
from polyad.decompose.similarity.spectral import eigenvector_basis
from polyad.decompose.similarity.sweeps import SimilarityDiagonalisation, combined, summarise_similarity

LARGEST_STEP = 0.5
N_STARTS = 4  # an eigendecomposition costs as much as a step


def similarity_first_order(
    stack: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
) -> SimilarityDiagonalisation:
    """Diagonalise matrices jointly by corrections of all pairs of axes at once.

    Near a solution Q (I + Z) has the off-diagonal entries B_ij + Z_ij (l_i - l_j) to first order, with B = Q^-1 A Q
    and l its diagonal: least squares over the matrices gives every Z_ij by itself. A step is a few products of
    matrices, so for more than about 50 components it is faster than sweeps over pairs; it starts from eigenvectors.

    Parameters
    ----------
    stack
        P x K x K.
    directions
        F x P: diagonalise these combinations of the matrices in place of all.
    max_iter
        Steps at most; 200 by default.
    tol
        Converged when no entry of a step is larger than this.
    """
    given = checked_stack(stack)
    matrices = combined(given, directions)
    limit = 200 if max_iter is None else max_iter
    starts = fixed_directions(matrices.shape[0], N_STARTS)
    Q, _ = eigenvector_basis(np.tensordot(starts, matrices, axes=1))
    n_iter, change, damping, previous = 0, np.inf, 1.0, np.inf
    while n_iter < limit and change > tol:
        step = _step(matrices, Q)
        change = float(np.abs(step).max(initial=0.0))
        if change > 0.9 * previous and change > 1e-6:  # it circles around the solution: shorter steps settle
            damping = max(0.7 * damping, 0.2)
        Q = Q + damping * (Q @ np.clip(step, -LARGEST_STEP, LARGEST_STEP))
        Q /= np.linalg.norm(Q, axis=0)
        n_iter, previous = n_iter + 1, change
    if change > tol:
        warn_not_converged("first_order", n_iter, change, tol)
    return summarise_similarity(given, Q, n_iter, change <= tol)


def _step(matrices: FloatArray, Q: FloatArray) -> FloatArray:
    P, K, _ = matrices.shape
    right = (matrices.reshape(P * K, K) @ Q).reshape(P, K, K)
    similar = linalg.lu_solve(linalg.lu_factor(Q), right.transpose(1, 0, 2).reshape(K, P * K)).reshape(K, P, K)
    values = np.ascontiguousarray(np.einsum("kpk->pk", similar))
    # sum_p B_ij (l_i - l_j) and sum_p (l_i - l_j)^2, without an array of all differences
    products = np.einsum("ipj,pi->ij", similar, values) - np.einsum("ipj,pj->ij", similar, values)
    squares = (values**2).sum(axis=0)
    distances = squares[:, None] + squares - 2 * values.T @ values
    floor = 1e-14 * max(float(squares.max(initial=0.0)), 1e-300)
    step = np.where(distances > floor, -products / np.maximum(distances, floor), 0.0)
    np.fill_diagonal(step, 0.0)
    return step
