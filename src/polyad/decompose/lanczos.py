"""Largest eigenvalues of a symmetric operator by block Lanczos with full reorthogonalisation."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from polyad.engine.blocks import FloatArray

BLOCK = 8  # columns multiplied at a time: small blocks reach further for the same number of columns
NEGLIGIBLE = 1e-11  # of the operator's size: what is left of a new direction after orthogonalisation


@dataclass(frozen=True)
class Eigenpairs:
    """Approximate eigenpairs, largest first.

    Attributes
    ----------
    values
        All Ritz values found, descending.
    vectors
        M x K, for the K largest.
    residuals
        Norms of S u - value u for the K largest.
    """

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray


def largest_eigenpairs(
    operator: LinearOperator,
    n_pairs: int,
    *,
    dimension: int,
    block_columns: int = BLOCK,
    random_state: int = 0,
    tol: float = 1e-7,
) -> Eigenpairs:
    """Return the algebraically largest eigenpairs of a symmetric operator.

    Parameters
    ----------
    operator
        M x M, symmetric; need not be positive.
    n_pairs
        How many.
    dimension
        Columns of the Krylov basis, to the next multiple of a block: M x dimension numbers are kept. Text spectra
        decay slowly and need 3 K + 20 for few, and 2 K + 50 for many.
    block_columns
        Columns multiplied at a time.
    random_state
        Seed of the first block.
    tol
        Stop early once the residuals are below tol times the smallest eigenvalue sought.
    """
    M = operator.shape[0]
    dimension = min(-(-dimension // block_columns) * block_columns, M)
    start = np.random.default_rng(random_state).standard_normal((M, min(block_columns, M)))
    basis = np.empty((M, dimension), order="F")
    projected = np.zeros((dimension, dimension))
    block = linalg.qr(start, mode="economic")[0]
    filled, scale, next_test = 0, 0.0, 2 * n_pairs
    while True:
        first, filled = filled, filled + block.shape[1]
        basis[:, first:filled] = block
        image = operator @ block
        scale = max(scale, float(np.abs(image).max(initial=0.0)))
        seen = basis[:, :filled]
        # In exact arithmetic an image has parts in its own block and the one before it alone: take these out first,
        # and what rounding has left along the whole basis after that.
        recent = slice(max(first - block_columns, 0), filled)
        local = basis[:, recent].T @ image
        image -= basis[:, recent] @ local
        coefficients = seen.T @ image
        image -= seen @ coefficients
        coefficients[recent] += local
        projected[:filled, first:filled] = coefficients
        projected[first:filled, :filled] = coefficients.T
        block, coupling = _orthonormal_part(image, scale)
        exhausted = block.shape[1] == 0 or filled + block.shape[1] > dimension
        beyond_test = filled + filled // 4  # a test costs more than a step, and near the end more than is left
        if not exhausted and (filled < next_test or beyond_test > dimension):
            continue
        next_test = beyond_test
        values, vectors = linalg.eigh(projected[:filled, :filled])
        values, vectors = values[::-1], vectors[:, ::-1]
        wanted = min(n_pairs, filled)
        residuals = np.linalg.norm(coupling @ vectors[first:filled, :wanted], axis=0)
        if exhausted or residuals.max(initial=0.0) < tol * values[wanted - 1]:
            return Eigenpairs(values, seen @ vectors[:, :wanted], residuals)


def _orthonormal_part(image: FloatArray, scale: float) -> tuple[FloatArray, FloatArray]:
    """Orthonormal basis of the columns that are not rounding noise, and the factor that makes them of it."""
    Q, R, order = linalg.qr(image, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(R)) > NEGLIGIBLE * max(scale, 1e-300) * np.sqrt(image.shape[0])).sum())
    coupling = np.empty_like(R[:rank])
    coupling[:, order] = R[:rank]
    return np.asarray(Q[:, :rank], dtype=np.float64), np.asarray(coupling, dtype=np.float64)
