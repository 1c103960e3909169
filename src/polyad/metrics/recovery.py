"""How well components were recovered, whatever their order, sign and scale."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist


def match_rows(estimated: ArrayLike, true: ArrayLike) -> NDArray[np.intp]:
    """Return the row of ``estimated`` that belongs to each row of ``true``, by the best assignment in l1.

    Examples
    --------
    >>> match_rows([[0.1, 0.9], [0.8, 0.2]], [[1.0, 0.0], [0.0, 1.0]])
    array([1, 0])
    """
    distances = _distances(estimated, true)
    return np.asarray(linear_sum_assignment(distances)[1])


def l1_error(estimated: ArrayLike, true: ArrayLike) -> float:
    """Return the mean l1 distance between matched rows, halved, after scaling rows to unit l1 norm; in [0, 1].

    The error of the discrete ICA paper: 0 is perfect, and two topics that share no word are 1 apart.

    Parameters
    ----------
    estimated, true
        K x M; the order of rows does not matter.

    Examples
    --------
    >>> l1_error([[0.0, 1.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]])
    0.0
    >>> l1_error([[1.0, 0.0, 0.0]], [[0.0, 0.5, 0.5]])
    1.0
    """
    distances = _distances(estimated, true)
    rows, columns = linear_sum_assignment(distances)
    return float(distances[rows, columns].mean() / 2)


def l2_error(estimated: ArrayLike, true: ArrayLike) -> float:
    """Return the mean Euclidean distance between matched rows of unit length, over sqrt(2); in [0, 1] for topics.

    The second error of the discrete ICA paper (its appendix G.5): 0 is perfect, and two topics that share no word are 1
    apart. Frequent words count more than in :func:`l1_error`.

    Parameters
    ----------
    estimated, true
        K x M; the order of rows does not matter.

    Examples
    --------
    >>> l2_error([[0.0, 1.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]])
    0.0
    >>> l2_error([[1.0, 0.0, 0.0]], [[0.0, 0.5, 0.5]])
    1.0
    """
    found, wanted = _checked_rows(estimated, true)
    units = [rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300) for rows in (wanted, found)]
    return float(_matched(cdist(*units)).mean() / np.sqrt(2))


def frobenius_error(estimated: ArrayLike, true: ArrayLike) -> float:
    """Return the Frobenius norm of the difference between matched rows: |M - M~| of the SVTD paper.

    Parameters
    ----------
    estimated, true
        K x M; the order of rows does not matter, their scale does.

    Examples
    --------
    >>> frobenius_error([[0.0, 1.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 0.0]])
    1.0
    """
    return float(np.sqrt(_matched(cdist(*_checked_rows(true, estimated), "sqeuclidean")).sum()))


def _matched(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distances of the best assignment."""
    return np.asarray(distances[linear_sum_assignment(distances)])


def _distances(estimated: ArrayLike, true: ArrayLike) -> NDArray[np.float64]:
    """l1 distances between true rows and estimated rows."""
    found, wanted = _checked_rows(estimated, true)
    scaled = [rows / np.maximum(np.abs(rows).sum(axis=1, keepdims=True), 1e-300) for rows in (wanted, found)]
    return np.asarray(cdist(scaled[0], scaled[1], "cityblock"))


def _checked_rows(estimated: ArrayLike, true: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two finite arrays of components x features with one shape, or say what is wrong with them."""
    found, wanted = (np.asarray(rows, dtype=np.float64) for rows in (estimated, true))
    if found.ndim != 2 or found.shape != wanted.shape:
        raise ValueError(
            f"Expected two arrays of components x features with the same shape; got {found.shape} and {wanted.shape}."
        )
    if not (np.isfinite(found).all() and np.isfinite(wanted).all()):
        raise ValueError("The components contain NaN or infinity.")
    return found, wanted


def amari_distance(unmixing: ArrayLike, mixing: ArrayLike) -> float:
    """Return how far ``unmixing @ mixing`` is from a scaled permutation, in [0, 1].

    Parameters
    ----------
    unmixing
        K x M, what an algorithm found.
    mixing
        M x K, the truth.

    Examples
    --------
    >>> amari_distance([[0.0, 2.0], [-3.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])
    0.0
    >>> amari_distance([[1.0, 1.0], [1.0, -1.0]], [[1.0, 0.0], [0.0, 1.0]])
    1.0
    """
    product = np.abs(np.asarray(unmixing, dtype=np.float64) @ np.asarray(mixing, dtype=np.float64))
    K = product.shape[0]
    if product.shape != (K, K) or not np.isfinite(product).all():
        raise ValueError(f"unmixing @ mixing must be square and finite; it has the shape {product.shape}.")
    if K == 1:
        return 0.0
    rows = product.sum(axis=1) / np.maximum(product.max(axis=1), 1e-300) - 1
    columns = product.sum(axis=0) / np.maximum(product.max(axis=0), 1e-300) - 1
    return float((rows.sum() + columns.sum()) / (2 * K * (K - 1)))
