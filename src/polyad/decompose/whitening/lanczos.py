"""Largest eigenvalues of a symmetric operator by block Lanczos with reorthogonalisation."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.base.fixed import fixed_columns
from polyad.engine import sum_over

BLOCK = 8  # columns multiplied at a time: small blocks need fewer columns in all, large ones fewer products
NEGLIGIBLE = 1e-11  # of the operator's size: what is left of a new direction after orthogonalisation
ROUNDING = 1e-13  # of the largest eigenvalue: residuals below are as small as they get
CHUNK_ROWS = 1 << 13  # rows of the basis that one thread multiplies at a time


@dataclass(frozen=True)
class Eigenpairs:
    """Approximate eigenpairs, largest first.

    Attributes
    ----------
    values
        All Ritz values found, descending.
    vectors
        M x K, for the K largest, or more where more were asked for.
    residuals
        Norms of S u - value u for the K largest.
    n_columns
        Columns that were multiplied by the operator.
    converged
        Whether the tolerance was met.
    """

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray
    n_columns: int
    converged: bool

    @property
    def subspace_error(self) -> float:
        """Bound of the sine of the angle between the K vectors and the true ones: the residual over the gap."""
        return _subspace_error(self.values, self.residuals)


def largest_eigenpairs(
    operator: LinearOperator,
    n_pairs: int,
    *,
    most_columns: int,
    n_beyond: int = 0,
    block_columns: int = BLOCK,
    start: FloatArray | None = None,
    tol: float = 1e-6,
) -> Eigenpairs:
    """Return the algebraically largest eigenpairs of a symmetric operator.

    Parameters
    ----------
    operator
        M x M, symmetric; need not be positive.
    n_pairs
        How many, K.
    most_columns
        Columns of the Krylov basis at most, to the next multiple of a block: M x that many numbers may be kept. Text
        spectra decay slowly: with blocks of 8 columns some 5 K + 60 are needed.
    n_beyond
        Vectors to return beyond the K, as accurate as they are by then.
    block_columns
        Columns multiplied at a time.
    start
        M x block_columns, the first block; None takes fixed columns in general position. Once converged, it does not
        matter.
    tol
        Converged when the space of the K vectors is known to this angle: when the residuals are below tol times the
        gap between the K-th eigenvalue and the next, or at rounding.

    Examples
    --------
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> pairs = largest_eigenpairs(aslinearoperator(np.diag(0.9 ** np.arange(300))), 2, most_columns=120)
    >>> pairs.values[:2].round(8), pairs.converged
    (array([1. , 0.9]), True)
    """
    M = operator.shape[0]
    most_columns = min(-(-most_columns // block_columns) * block_columns, M)
    if start is None:
        start = fixed_columns(M, min(block_columns, M))
    basis = np.empty((M, most_columns), order="F")
    projected = np.zeros((most_columns, most_columns))
    block = linalg.qr(start, mode="economic")[0]
    filled, n_products, scale, tests = 0, 0, 0.0, _Tests(n_pairs, block_columns)
    while True:
        first, filled = filled, filled + block.shape[1]
        basis[:, first:filled] = block
        image = operator @ block
        scale = max(scale, float(np.abs(image).max(initial=0.0)))
        seen = basis[:, :filled]
        # In exact arithmetic an image has parts in its own block and the one before it alone: take these out, and what
        # rounding has left along the whole basis after every other pair of products, before it grows (Simon 1984).
        recent = slice(max(first - block_columns, 0), filled)
        local = basis[:, recent].T @ image
        image -= basis[:, recent] @ local
        if n_products % 4 < 2:
            local += _project_out(seen, image)[recent]
        n_products += 1
        projected[recent, first:filled] = local
        projected[first:filled, recent] = local.T
        block, coupling = _orthonormal_part(image, scale)
        exhausted = block.shape[1] == 0 or filled + block.shape[1] > most_columns
        if not exhausted and filled < tests.next:
            continue
        values, vectors = linalg.eigh(projected[:filled, :filled])
        values, vectors = values[::-1], vectors[:, : -min(n_pairs + n_beyond, filled) - 1 : -1]
        residuals = np.linalg.norm(coupling @ vectors[first:filled, :n_pairs], axis=0)
        converged = tests.passed(filled, values, residuals, tol)
        if exhausted or converged:
            return Eigenpairs(values, seen @ vectors, residuals, filled, converged)


class _Tests:
    """Decides when to look whether the eigenpairs have converged: a test costs as much as several steps.

    Residuals fall faster and faster: where the line through the logarithms of the last two meets the target, there are
    more columns than needed. The next test is half way there.
    """

    def __init__(self, n_pairs: int, block_columns: int) -> None:
        self.next, self.block = (7 * n_pairs) // 2 + 8 * block_columns, block_columns
        self.seen: tuple[int, float] | None = None

    def passed(self, n_columns: int, values: FloatArray, residuals: FloatArray, tol: float) -> bool:
        """Tell whether residuals are small enough, and choose when to look next."""
        largest = float(residuals.max(initial=0.0))
        allowed = max(tol * _gap(values, residuals.size), ROUNDING * float(np.abs(values).max(initial=0.0)))
        if largest <= allowed:
            return True
        ahead = max(2 * self.block, n_columns // 10)
        if self.seen is not None and largest < self.seen[1]:
            per_column = np.log(self.seen[1] / largest) / (n_columns - self.seen[0])
            distance = np.log(largest / max(allowed, 1e-300)) / per_column
            ahead = int(np.clip(distance / 2, 2 * self.block, max(n_columns // 8, 2 * self.block)))
        self.seen = n_columns, largest
        self.next = n_columns + ahead
        return False


def _gap(values: FloatArray, n_pairs: int) -> float:
    """Return how far the K-th value is above the next; above zero where there is none."""
    following = float(values[n_pairs]) if values.size > n_pairs else 0.0
    return float(values[n_pairs - 1]) - following if n_pairs else 0.0


def _subspace_error(values: FloatArray, residuals: FloatArray) -> float:
    largest = float(residuals.max(initial=0.0))
    return largest / max(_gap(values, residuals.size), 1e-300) if largest > 0 else 0.0


def _project_out(basis: FloatArray, image: FloatArray) -> FloatArray:
    """Take the parts along an orthonormal basis out of columns, in place; return their coefficients."""
    n_chunks = 2 * -(-image.shape[0] // (2 * CHUNK_ROWS))
    edges = [image.shape[0] * chunk // n_chunks for chunk in range(n_chunks + 1)]
    chunks = [slice(first, last) for first, last in pairwise(edges)]
    coefficients = sum_over(lambda rows: basis[rows].T @ image[rows], chunks)

    def subtract(rows: slice) -> int:
        image[rows] -= basis[rows] @ coefficients
        return 0

    sum_over(subtract, chunks)
    return coefficients


def _orthonormal_part(image: FloatArray, scale: float) -> tuple[FloatArray, FloatArray]:
    """Orthonormal basis of the columns that are not rounding noise, and the factor that makes them of it."""
    Q, R, order = linalg.qr(image, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(R)) > NEGLIGIBLE * max(scale, 1e-300) * np.sqrt(image.shape[0])).sum())
    coupling = np.empty_like(R[:rank])
    coupling[:, order] = R[:rank]
    return np.asarray(Q[:, :rank], dtype=np.float64), np.asarray(coupling, dtype=np.float64)
