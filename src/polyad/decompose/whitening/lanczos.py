"""Largest eigenvalues of a symmetric operator by block Lanczos with reorthogonalisation."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.base.fixed import fixed_columns
from polyad.engine import for_each, sum_over

BLOCK = 8  # columns multiplied at a time: small blocks need fewer columns in all, large ones fewer products
NEGLIGIBLE = 1e-11  # of the operator's size: what is left of a new direction after orthogonalisation
ROUNDING = 1e-13  # of the largest eigenvalue: residuals below are as small as they get
LOOKED_AT = 6  # eigenvectors whose residuals are computed to test
FALL = 2.2  # by how much another block divides the residuals near the end: 2 to 5
READY = 0.7  # of the residuals allowed: those of a few eigenvectors, when it is worth computing all of them
SEMI_ORTHOGONAL = 1e-9  # of a basis, as far as it may be lost: its square is rounding in the projection (Simon 1984)
LEARNING = 6  # products, each with a whole orthogonalisation, that tell the size of the operator
CHUNK_ROWS = 1 << 13  # rows of the basis that one thread multiplies at a time
EPSILON = float(np.finfo(np.float64).eps)
UNEVEN = 1e-4  # sizes of new directions relative to the largest: below, Cholesky factors would be rounding


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
    weigh: Callable[[FloatArray], FloatArray] | None = None,
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
    weigh
        For a space without a sharp edge: a function that gives the weights of the K vectors from the eigenvalues. It
        has converged when the residuals, relative to their eigenvalues and times their weights, are below tol. No gap
        is needed, since to mix vectors of like weight changes nothing.

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
    filled, scale = 0, 0.0
    orthogonality = _Orthogonality()
    test = _Test(n_pairs, tol, weigh)
    next_test = 3 * n_pairs + 4 * block_columns  # most text needs more
    while True:
        first, filled = filled, filled + block.shape[1]
        basis[:, first:filled] = block
        image = operator @ block
        scale = max(scale, float(np.abs(image).max(initial=0.0)))
        seen = basis[:, :filled]
        # In exact arithmetic an image has parts in its own block and the one before it alone: take these out, and what
        # rounding has left along the whole basis before it has grown too large.
        recent = slice(max(first - block_columns, 0), filled)
        local = basis[:, recent].T @ image
        image -= _times(basis[:, recent], local)
        is_whole = orthogonality.must_be_restored()
        if is_whole:
            local += _project_out(seen, image)[recent]
        block, coupling = _orthonormal_part(image, scale)
        growth = orthogonality.growth_by(coupling)
        if not is_whole and orthogonality.is_lost_by(growth):
            local += _project_out(seen, image)[recent]
            block, coupling = _orthonormal_part(image, scale)
            is_whole, growth = True, orthogonality.growth_by(coupling)
        projected[recent, first:filled] = local
        projected[first:filled, recent] = local.T
        orthogonality.follow(projected[:filled, :filled], growth, is_whole)
        exhausted = block.shape[1] == 0 or filled + block.shape[1] > most_columns
        if not exhausted:
            if filled < next_test:
                continue
            excess = test.excess(projected[:filled, :filled], coupling, 2 * block_columns)
            next_test = filled + block_columns * _blocks_left(excess, filled // (4 * block_columns))
            if excess > READY:
                continue
        values, vectors = linalg.eigh(projected[:filled, :filled], driver="evd")
        values, vectors = values[::-1], vectors[:, : -min(n_pairs + n_beyond, filled) - 1 : -1]
        residuals = np.linalg.norm(coupling @ vectors[first:filled, :n_pairs], axis=0)
        converged = test.excess_of(values, residuals, np.arange(residuals.size)) <= 1
        if exhausted or converged:
            return Eigenpairs(values, _products(seen, vectors), residuals, filled, converged)


class _Orthogonality:
    """How much of the orthogonality of a Krylov basis rounding has taken, without a look at the basis.

    Each product without a whole orthogonalisation multiplies what is lost by the size of the operator over that of the
    image's new part at most. Two whole ones in a row bring it back to rounding, since a block follows from two others.
    """

    def __init__(self) -> None:
        self.lost, self.growth, self.size, self.n_products, self.n_whole = EPSILON, 1.0, np.inf, 0, 0

    def must_be_restored(self) -> bool:
        """Tell whether the next image is to be made orthogonal to the whole basis."""
        return self.n_products < LEARNING or self.n_whole == 1 or self.lost * self.growth > SEMI_ORTHOGONAL

    def growth_by(self, coupling: FloatArray) -> float:
        """Return by how much a product with some new part multiplies what is lost; infinite while that is not known."""
        if coupling.shape[0] < coupling.shape[1] or not np.isfinite(self.size):
            return np.inf
        smallest = float(np.linalg.svd(coupling, compute_uv=False)[-1])
        return max(self.size / max(smallest, 1e-300), 1.0)

    def is_lost_by(self, growth: float) -> bool:
        """Tell whether an image that was not has turned out to have a new part that is smaller than expected."""
        return self.lost * growth > SEMI_ORTHOGONAL

    def follow(self, projected: FloatArray, growth: float, is_whole: bool) -> None:
        """Take note of a product: the projection so far, the growth, and whether it was made orthogonal to all."""
        self.n_products += 1
        self.n_whole = self.n_whole % 2 + 1 if is_whole else 0
        if self.n_products == LEARNING:
            self.size = float(np.linalg.norm(projected, 2))
        self.growth = growth
        self.lost = EPSILON if is_whole else self.lost * growth


@dataclass(frozen=True)
class _Test:
    """Whether the eigenpairs have converged."""

    n_pairs: int
    tol: float
    weigh: Callable[[FloatArray], FloatArray] | None

    def excess_of(self, values: FloatArray, residuals: FloatArray, places: NDArray[np.integer]) -> float:
        """Return the residuals of the eigenpairs at some places, largest first, over what is allowed: the largest."""
        rounding = max(ROUNDING * float(np.abs(values).max(initial=0.0)), 1e-300)
        if self.weigh is None:
            allowed = max(self.tol * _gap(values, self.n_pairs), rounding)
            return float(residuals.max(initial=0.0)) / allowed
        places = places[: values.size]
        weights = np.zeros(values.size)
        weighed = self.weigh(values)
        weights[: weighed.size] = weighed
        allowed_each = np.maximum(self.tol * np.abs(values[places]), rounding)
        return float((weights[places] * residuals / allowed_each).max(initial=0.0))

    def excess(self, projected: FloatArray, coupling: FloatArray, width: int) -> float:
        """Return :meth:`excess_of` of a few pairs, at a fraction of the cost of the eigenvectors of all.

        The projection of the operator on a Krylov space has a narrow band. Its eigenvalues alone are found quickly, and
        so are a few eigenvectors, by inverse iteration; the last of the K pairs are the last to converge.
        """
        n = projected.shape[0]
        if n <= self.n_pairs:
            return np.inf
        band = np.zeros((2 * width - 1, n))
        for place in range(width):
            diagonal = np.diagonal(projected, -place)
            band[width - 1 + place, : n - place] = diagonal
            band[width - 1 - place, place:] = diagonal
        values: FloatArray = linalg.eigvals_banded(band[width - 1 :], lower=True)[::-1].astype(np.float64, copy=False)
        first = self.n_pairs - 1
        if self.weigh is not None:
            first = min(int((self.weigh(values) >= 1).sum()), first)
        places = np.unique(np.linspace(max(first - 1, 0), self.n_pairs - 1, LOOKED_AT).astype(np.intp))
        residuals = [_residual(band, float(values[place]), coupling) for place in places]
        return self.excess_of(values, np.array(residuals), places)


def _blocks_left(excess: float, most: int) -> int:
    """Return after how many blocks to test again: as many as it takes if residuals fall as on most text."""
    return max(1, min(most, int(np.ceil(np.log(np.clip(excess / READY, 1.0, 1e300)) / np.log(FALL)))))


def _residual(band: FloatArray, value: float, coupling: FloatArray) -> float:
    """Residual of the eigenvector of a band matrix to an eigenvalue, by inverse iteration."""
    width, n = band.shape[0] // 2, band.shape[1]
    shifted = band.copy()
    shifted[width] -= value + 1e-14 * max(float(np.abs(band).max()), 1e-300)  # not singular
    vector = fixed_columns(n, 1)
    for _ in range(2):
        vector = linalg.solve_banded((width, width), shifted, vector)
        vector /= np.linalg.norm(vector)
    return float(np.linalg.norm(coupling @ vector[n - coupling.shape[1] :]))


def _products(basis: FloatArray, vectors: FloatArray) -> FloatArray:
    """Multiply a tall basis, some of its rows at a time."""
    products = np.empty((basis.shape[0], vectors.shape[1]))

    def multiply(rows: slice) -> None:
        products[rows] = _times(basis[rows], vectors)

    for_each(multiply, _row_chunks(basis.shape[0]))
    return products


def _times(columns: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return a product in the order of memory of tall columns: with few of them that takes a third of the time."""
    product = np.empty((columns.shape[0], matrix.shape[1]), order="F")
    return np.matmul(columns, matrix, out=product)


def _gap(values: FloatArray, n_pairs: int) -> float:
    """Return how far the K-th value is above the next; above zero where there is none."""
    following = float(values[n_pairs]) if values.size > n_pairs else 0.0
    return float(values[n_pairs - 1]) - following if n_pairs else 0.0


def _subspace_error(values: FloatArray, residuals: FloatArray) -> float:
    largest = float(residuals.max(initial=0.0))
    return largest / max(_gap(values, residuals.size), 1e-300) if largest > 0 else 0.0


def _project_out(basis: FloatArray, image: FloatArray) -> FloatArray:
    """Take the parts along an orthonormal basis out of columns, in place; return their coefficients."""
    chunks = _row_chunks(image.shape[0])
    coefficients = sum_over(lambda rows: basis[rows].T @ image[rows], chunks)

    def subtract(rows: slice) -> None:
        image[rows] -= _times(basis[rows], coefficients)

    for_each(subtract, chunks)
    return coefficients


def _row_chunks(n_rows: int) -> list[slice]:
    n_chunks = 2 * -(-n_rows // (2 * CHUNK_ROWS))
    edges = [n_rows * chunk // n_chunks for chunk in range(n_chunks + 1)]
    return [slice(first, last) for first, last in pairwise(edges)]


def _orthonormal_part(image: FloatArray, scale: float) -> tuple[FloatArray, FloatArray]:
    """Orthonormal basis of the columns that are not rounding noise, and the factor that makes them of it."""
    factors = _triangular_factors(image, NEGLIGIBLE * max(scale, 1e-300) * np.sqrt(image.shape[0]))
    if factors is not None:
        return factors
    Q, R, order = linalg.qr(image, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(R)) > NEGLIGIBLE * max(scale, 1e-300) * np.sqrt(image.shape[0])).sum())
    coupling = np.empty_like(R[:rank])
    coupling[:, order] = R[:rank]
    return np.asarray(Q[:, :rank], dtype=np.float64), np.asarray(coupling, dtype=np.float64)


def _triangular_factors(image: FloatArray, negligible: float) -> tuple[FloatArray, FloatArray] | None:
    """Orthonormal columns and the factor that makes the image of them, where that is well determined.

    Cholesky factors of the columns' products take a fraction of the time of reflections; the second round takes away
    the rounding of the first (Yamamoto et al. 2015).
    """
    columns, coupling = image, np.eye(image.shape[1])
    for _ in range(2):
        try:
            factor = np.linalg.cholesky(columns.T @ columns).T
        except np.linalg.LinAlgError:
            return None
        sizes = np.diagonal(factor)
        if not sizes.min() > max(UNEVEN * sizes.max(), negligible if columns is image else 0.0):
            return None
        columns, coupling = columns @ np.linalg.inv(factor), factor @ coupling
    return columns, coupling
