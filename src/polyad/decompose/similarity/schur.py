"""Simultaneous Schur decomposition: one rotation that makes all matrices triangular, and eigenvectors from there."""

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, lsmr

from polyad.base.arrays import FloatArray
from polyad.base.fixed import fixed_directions
from polyad.decompose.diagonalisation import checked_stack, warn_not_converged
from polyad.decompose.similarity.spectral import eigenvector_basis
from polyad.decompose.similarity.sweeps import SimilarityDiagonalisation, combined, summarise_similarity

N_STARTS = 4
LARGEST_TURN = 0.5


def similarity_schur(
    stack: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
) -> SimilarityDiagonalisation:
    """Make matrices triangular by one rotation, and read their common eigenvectors off (De Lathauwer et al. 2004).

    A rotation cannot be ill-conditioned, whatever the eigenvectors are. It starts from that of one combination of the
    matrices; Gauss-Newton steps make what is left below the diagonals of all of them small (Colombo and Vlassis 2016).
    The triangular matrices then give their eigenvectors one entry after the other, each by least squares over all.

    Parameters
    ----------
    stack
        P x K x K.
    directions
        F x P: decompose these combinations of the matrices in place of all.
    max_iter
        Steps at most; 100 by default.
    tol
        Converged when no entry of a step is larger than this.

    Examples
    --------
    >>> Q = np.array([[1.0, 0.5], [0.2, 1.0]])
    >>> stack = np.stack([Q @ np.diag(values) @ np.linalg.inv(Q) for values in ([1.0, 2.0], [0.5, -1.0])])
    >>> np.sort(similarity_schur(stack).diagonals, axis=1).round(8)
    array([[ 1. ,  2. ], [-1. ,  0.5]])
    """
    given = checked_stack(stack)
    matrices = combined(given, directions)
    starts = np.tensordot(fixed_directions(len(matrices), N_STARTS), matrices, axes=1)
    rotation: FloatArray = np.linalg.qr(eigenvector_basis(starts)[0])[0]
    K, limit = matrices.shape[1], 100 if max_iter is None else max_iter
    n_iter, change = 0, 0.0 if K == 1 else np.inf
    while n_iter < limit and change > tol:
        step = _step(rotation.T @ matrices @ rotation)
        change = float(np.abs(step).max(initial=0.0))
        rotation = rotation @ linalg.expm(step * min(1.0, LARGEST_TURN / max(change, 1e-300)))
        n_iter += 1
    if change > tol:
        warn_not_converged("schur", n_iter, change, tol)
    triangular = rotation.T @ matrices @ rotation
    return summarise_similarity(given, rotation @ triangular_eigenvectors(triangular), n_iter, change <= tol)


def _step(triangular: FloatArray) -> FloatArray:
    """Return the skew matrix X for which (1 - X) U (1 + X) have the least below their diagonals, to first order."""
    P, K, _ = triangular.shape
    low, up = np.tril_indices(K, -1), np.triu_indices(K, 1)

    def skew(vector: FloatArray) -> FloatArray:
        X = np.zeros((K, K))
        X[up] = np.ravel(vector)
        return X - X.T

    def forward(vector: FloatArray) -> FloatArray:
        X = skew(vector)
        return np.asarray((triangular @ X - X @ triangular)[:, low[0], low[1]].ravel())

    def backward(vector: FloatArray) -> FloatArray:
        R = np.zeros((P, K, K))
        R[:, low[0], low[1]] = np.reshape(vector, (P, -1))
        U = triangular.transpose(0, 2, 1)
        G = (U @ R - R @ U).sum(axis=0)
        return np.asarray((G - G.T)[up])

    operator = LinearOperator((P * len(low[0]), len(up[0])), matvec=forward, rmatvec=backward, dtype=np.float64)
    wanted = -triangular[:, low[0], low[1]].ravel()
    return skew(lsmr(operator, wanted, atol=1e-12, btol=1e-12, maxiter=4 * K * K)[0])


def triangular_eigenvectors(triangular: FloatArray) -> FloatArray:
    """Return R, upper triangular with ones, for which R^-1 U_p R are as diagonal as least squares make them, K x K.

    Entry i of eigenvector j solves (u_ii - u_jj) R_ij + sum_l u_il R_lj = 0 over all matrices, l from i + 1 to j.

    Examples
    --------
    >>> triangular_eigenvectors(np.array([[[1.0, 3.0], [0.0, 2.0]]]))
    array([[1., 3.], [0., 1.]])
    """
    K = triangular.shape[1]
    values = np.diagonal(triangular, axis1=1, axis2=2)
    R = np.eye(K)
    for j in range(1, K):
        for i in range(j - 1, -1, -1):
            gaps = values[:, i] - values[:, j]
            rest = triangular[:, i, i + 1 : j + 1] @ R[i + 1 : j + 1, j]
            R[i, j] = -(gaps @ rest) / max(float(gaps @ gaps), 1e-300)
    return R
