"""Cross whitening: the K pairs of directions in which two views vary most together, and the way back to loadings."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.base.plurals import how_many
from polyad.decompose.similarity.sweeps import SimilarityDiagonalisation
from polyad.decompose.whitening.lanczos import largest_eigenpairs
from polyad.decompose.whitening.symmetric import DENSE_SIZE, RankError
from polyad.engine import single_threaded_blas

RIDGE = 1e-3  # of the mean eigenvalue: keeps the metric of a view finite where its covariance is nearly singular


@dataclass(frozen=True)
class CrossWhitening:
    """Whiteners of a cross moment S12.

    Attributes
    ----------
    x_whitener, y_whitener
        W1, K x M1, and W2, K x M2, with W1 S12 W2' = I.
    spectrum
        Singular values of S12 in the metrics, largest first; more than K of them where they were found on the way.
    residual
        Largest relative residual of the K singular pairs.
    x_beyond, y_beyond
        Rows that follow those of W1 and W2, where they were asked for: whiteners of further directions, which become
        less accurate towards the end.
    """

    x_whitener: FloatArray
    y_whitener: FloatArray
    spectrum: FloatArray
    residual: float
    x_beyond: FloatArray
    y_beyond: FloatArray

    @property
    def gap(self) -> float:
        """The K-th singular value over the next one; near 1 the data do not single out K factors."""
        K = self.x_whitener.shape[0]
        if self.spectrum.size <= K or self.spectrum[K] <= 0:
            return float("inf")
        return float(self.spectrum[K - 1] / self.spectrum[K])


def cca_metric(covariance: FloatArray, ridge: float = RIDGE) -> FloatArray:
    """Return (covariance + ridge * mean eigenvalue)^(-1/2), the metric of classical CCA.

    Examples
    --------
    >>> cca_metric(np.diag([4.0, 1.0]), ridge=0.0)
    array([[0.5, 0. ], [0. , 1. ]])
    """
    values, vectors = linalg.eigh(covariance)
    floor = ridge * max(float(values.mean()), 0.0)
    if values[-1] <= 0:
        message = "All columns of a view are constant: there is nothing that the views could share."
        raise RankError(message, supported=0, spectrum=values)
    scales = 1 / np.sqrt(np.maximum(values + floor, 1e-12 * values[-1]))
    return (vectors * scales) @ vectors.T


def cross_whiten(
    second: LinearOperator,
    n_components: int,
    *,
    x_metric: FloatArray | None = None,
    y_metric: FloatArray | None = None,
    dimension: int | None = None,
    n_beyond: int = 0,
) -> CrossWhitening:
    """Return whiteners with W1 S12 W2' = I from the singular vectors of C1 S12 C2.

    The papers take C1 = C2 = I. The metric of classical CCA weighs the directions of a view by their noise and
    cuts the error of the loadings by a tenth to a third.

    Parameters
    ----------
    second
        S12, an M1 x M2 operator.
    n_components
        K.
    x_metric, y_metric
        C1 and C2: a symmetric matrix, or a scale for each column (0 leaves it out). None is the identity.
    dimension
        Columns of the Krylov basis for large views at most; 6 K + 128 by default. It grows until the space of the K
        directions is known to an angle of 1e-6.
    n_beyond
        Pairs of directions to return beyond the K, as far as there are any above rounding.

    Raises
    ------
    RankError
        Where S12 has fewer than K singular values above rounding; it tells how many it has.

    Examples
    --------
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> S12 = np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> whitening = cross_whiten(aslinearoperator(S12), 2)
    >>> np.allclose(whitening.x_whitener @ S12 @ whitening.y_whitener.T, np.eye(2))
    True
    """
    M1, M2 = second.shape
    _refuse_impossible(n_components, M1, M2)
    to_x, to_y = _scaler(x_metric), _scaler(y_metric)

    def forward(columns: FloatArray) -> FloatArray:
        return to_x(second @ to_y(columns))

    def backward(columns: FloatArray) -> FloatArray:
        return to_y(second.T @ to_x(columns))

    with single_threaded_blas():
        if min(M1, M2) <= max(DENSE_SIZE, 4 * n_components):
            matrix = forward(np.eye(M2)) if M2 <= M1 else backward(np.eye(M1)).T
            U, values, Vt = linalg.svd(matrix, full_matrices=False)
            left, right, residual = U, Vt.T, 0.0
        else:
            size = 6 * n_components + 128 if dimension is None else dimension
            left, values, right, residual = _krylov_svd(
                forward, backward, M1, n_components, min(n_beyond, min(M1, M2) - n_components), size
            )
        supported = _refuse_low_rank(values, n_components, min(M1, M2))
        n_found = min(n_components + n_beyond, supported, left.shape[1])
        roots = np.sqrt(values[:n_found])
        whiteners = (to_x(left[:, :n_found] / roots).T, to_y(right[:, :n_found] / roots).T)
    (x_whitener, x_beyond), (y_whitener, y_beyond) = (
        (np.ascontiguousarray(W[:n_components]), np.ascontiguousarray(W[n_components:])) for W in whiteners
    )
    return CrossWhitening(x_whitener, y_whitener, values, residual, x_beyond, y_beyond)


def _scaler(metric: FloatArray | None) -> Callable[[FloatArray], FloatArray]:
    """Return the function that multiplies columns by a metric."""
    if metric is None:
        return lambda columns: columns
    C = np.asarray(metric, dtype=np.float64)
    return (lambda columns: C[:, None] * columns) if C.ndim == 1 else (lambda columns: C @ columns)


def _krylov_svd(
    forward: Callable[[FloatArray], FloatArray],
    backward: Callable[[FloatArray], FloatArray],
    size: int,
    n_components: int,
    n_beyond: int,
    dimension: int,
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return left vectors, singular values, right vectors and the largest relative residual."""

    def product(columns: FloatArray) -> FloatArray:
        return forward(backward(columns))

    normal = LinearOperator(
        (size, size),
        matvec=lambda vector: product(vector.reshape(-1, 1)).ravel(),
        matmat=product,
        dtype=np.float64,
    )
    pairs = largest_eigenpairs(normal, n_components, n_beyond=n_beyond, most_columns=dimension)
    # The right vectors are made from the left ones, so that W1 S12 W2' = I holds however accurate these are.
    V, values, rotation = linalg.svd(backward(pairs.vectors), full_matrices=False)
    residual = float((pairs.residuals / np.maximum(pairs.values[: pairs.residuals.size], 1e-300)).max())
    spectrum = np.concatenate([values, np.sqrt(np.maximum(pairs.values[len(values) :], 0.0))])
    return pairs.vectors @ rotation.T, spectrum, V, residual


def cross_loadings(
    second: LinearOperator, whitening: CrossWhitening, similarity: SimilarityDiagonalisation
) -> tuple[FloatArray, FloatArray]:
    """Return D1, M1 x K, and D2, M2 x K, with S12 = D1 D2' for exact moments.

    D1 = S12 W2' Q and D2 = S12' W1' Q^-T: eq. (47) of "Beyond CCA" with the inverse transposed, which it misses.
    """
    with single_threaded_blas():
        x_loadings = (second @ whitening.y_whitener.T) @ similarity.rotation
        y_loadings = (second.T @ whitening.x_whitener.T) @ similarity.inverse.T
    return x_loadings, y_loadings


def _refuse_impossible(n_components: int, M1: int, M2: int) -> None:
    if not isinstance(n_components, int | np.integer) or isinstance(n_components, bool) or n_components < 1:
        raise ValueError(f"n_components is {n_components!r}; give a whole number from 1 up.")
    if n_components > min(M1, M2):
        raise ValueError(
            f"n_components is {n_components}, but X has {how_many(M1, 'columns')} and Y has {M2}: "
            f"ask for at most {how_many(min(M1, M2), 'components')}."
        )


def _refuse_low_rank(values: FloatArray, n_components: int, size: int) -> int:
    """Return how many singular values stand above rounding, if there are enough of them."""
    floor = 1e-13 * size * max(float(values.max(initial=0.0)), 1e-300)
    supported = int((values > floor).sum())
    if supported < n_components:
        found = f"vary together in only {how_many(supported, 'directions')}" if supported else "do not vary together"
        fewer = f"ask for at most {supported}, " if supported else ""
        raise RankError(
            f"The two views {found}, and {how_many(n_components, 'components')} were asked for: {fewer}give more "
            "samples, or drop constant columns.",
            supported=supported,
            spectrum=values,
        )
    return supported
