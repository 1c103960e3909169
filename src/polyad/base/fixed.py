"""Columns and directions in general position that are the same for all data: where an iteration starts must not matter.

They stand where random numbers are usual. No seed chooses them, and methods that begin with them go on until the
beginning is forgotten.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def fixed_columns(size: int, n_columns: int) -> FloatArray:
    """Return columns of numbers between -1/2 and 1/2 without order, size x n_columns.

    Column j holds the fractional parts of i^2 sqrt(p_j), p_j the j-th number that is no square: such sequences are
    spread evenly and unlike each other (Weyl 1916).

    Examples
    --------
    >>> fixed_columns(3, 2).round(3)
    array([[-0.086,  0.232], [ 0.157,  0.428], [ 0.228,  0.088]])
    """
    squares = np.arange(1.0, size + 1)[:, None] ** 2
    numbers = np.arange(2, 2 * n_columns + 8)
    numbers = numbers[np.floor(np.sqrt(numbers)) ** 2 != numbers][:n_columns]
    return np.mod(squares * np.sqrt(numbers), 1.0) - 0.5


def fixed_directions(size: int, n_directions: int) -> FloatArray:
    """Return directions of unit length in general position, n_directions x size."""
    directions = fixed_columns(size, n_directions).T
    return np.ascontiguousarray(directions / np.linalg.norm(directions, axis=1, keepdims=True))


def fixed_orthonormal(size: int, n_directions: int) -> FloatArray:
    """Return orthonormal directions in general position, n_directions x size, with n_directions <= size."""
    return np.ascontiguousarray(np.linalg.qr(fixed_columns(size, n_directions))[0].T)
