"""How well the data determine each component: by how much their noise turns it.

Two things turn a component. Noise of the matrices that are diagonalised turns it towards the other components, the
more the less their diagonals differ; the noise is read off the entries that the diagonalisation could not remove. And
noise of the second moment turns the whole space of the components towards directions that were left out, the more the
smaller the gap between the eigenvalues is. Both are first-order perturbation theory, in squared angles.
"""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled

TIED = 1e-9  # relative distance below which two eigenvalues, or two diagonals, are the same


def turning(stack: FloatArray) -> FloatArray:
    """Return the squared angle by which noise turns each component towards all others, K.

    Near a solution, noise E of a pair's off-diagonal entries turns its plane by <E, d_i - d_k> / |d_i - d_k|^2, and by
    more where off-diagonal entries r_ik have made the minimum flat: |d_i - d_k|^2 - 4 |r_ik|^2 is its curvature. The
    size of E is that of r_ik, P entries with two degrees of freedom taken.

    Parameters
    ----------
    stack
        P x K x K, the matrices after the diagonalisation.

    Examples
    --------
    >>> turning(np.array([[[2.0, 0.1], [0.1, 0.0]], [[1.0, -0.1], [-0.1, 3.0]]])).round(4)
    array([0.0013, 0.0013])
    >>> turning(np.array([[[1.0, 0.1], [0.1, 1.0]]]))
    array([inf, inf])
    """
    diagonals = np.diagonal(stack, axis1=1, axis2=2)
    gram, squares = diagonals.T @ diagonals, np.einsum("pik,pik->ik", stack, stack)
    angles: FloatArray = squared_angles(gram, squares, stack.shape[0])
    return angles


@compiled
def squared_angles(gram, squares, P):  # type: ignore[no-untyped-def]
    """Return what :func:`turning` does, from the products of the diagonals and the sums of squares of the entries.

    Both are K x K, sums over the P matrices.
    """
    K = gram.shape[0]
    angles = np.zeros(K)
    for i in range(K):
        for k in range(K):
            if i == k:
                continue
            sizes = gram[i, i] + gram[k, k]
            distance, off = max(sizes - 2 * gram[i, k], 0.0), (squares[i, k] + squares[k, i]) / 2
            curvature = distance - 4 * off
            flat = curvature <= TIED * sizes
            angles[k] += np.inf if flat else off / P * distance / (curvature * curvature)
    return angles


def gaussian_turning(statistics: FloatArray) -> FloatArray:
    """Return the squared angle by which noise turns each independent source towards the others, K.

    Two Gaussian sources are told apart by nothing, and one of them by the other's lack of it. The statistics of Jarque
    and Bera of a pair are 4 on average where both are Gaussian, and above 12 in two samples of a hundred.

    Examples
    --------
    >>> gaussian_turning(np.array([900.0, 900.0, 1.0])).round(3)
    array([0.013, 0.013, 0.018])
    >>> gaussian_turning(np.array([900.0, 1.0, 3.0]))[1:]
    array([inf, inf])
    """
    excess = statistics[:, None] + statistics - 4
    squares = np.where(excess > 0, 8 / np.maximum(excess, 1e-300), np.inf)
    np.fill_diagonal(squares, 0.0)
    return np.asarray(squares.sum(axis=0), dtype=np.float64)


def leaving(spectrum: FloatArray, weights: FloatArray, n_columns: int, noise: float) -> FloatArray:
    """Return the squared angle by which noise turns each of the first eigenvectors out of their space.

    To turn two directions of the same weight into each other leaves the space as it is.

    Parameters
    ----------
    spectrum
        Eigenvalues, largest first; those that are not known are taken as zero.
    weights
        Of the first eigenvectors: 1 where they are wholly in the space. The others are not in it.
    n_columns
        Size of the matrix.
    noise
        Norm of the noise: for independent entries of size s it is 2 s sqrt(n_columns).

    Examples
    --------
    >>> leaving(np.array([4.0, 1.0, 0.9]), np.ones(2), 3, noise=0.1).round(4)
    array([0.0001, 0.0833])
    >>> leaving(np.array([4.0, 1.0, 0.9]), np.array([1.0, 0.2, 0.1]), 3, noise=0.1).round(4)
    array([0.0001, 0.0009, 0.0009])
    """
    all_weights = np.zeros(spectrum.size)
    all_weights[: weights.size] = weights
    gaps = np.abs(spectrum[: weights.size, None] - spectrum)
    change = np.abs(weights[:, None] - all_weights)
    entry = noise / (2 * np.sqrt(n_columns))
    tied = gaps <= TIED * float(np.abs(spectrum).max(initial=0.0))
    angles = np.where(tied, np.inf, entry / np.where(tied, 1.0, gaps))
    squares = (np.where(change > 0, change, 0.0) * np.where(change > 0, angles, 0.0)) ** 2
    others = max(n_columns - spectrum.size, 0) * (weights * entry / np.maximum(spectrum[: weights.size], 1e-300)) ** 2
    return np.asarray(squares.sum(axis=1) + others, dtype=np.float64)


def certainty(turned: FloatArray, left: FloatArray | float = 0.0) -> FloatArray:
    """Return the squared cosine of the angle that noise turns each component by, from its squared tangents.

    Examples
    --------
    >>> certainty(np.array([0.0, 0.5, np.inf]), 0.5)
    array([0.66666667, 0.5       , 0.        ])
    """
    return np.asarray(1 / (1 + turned + left), dtype=np.float64)
