"""How diagonal a stack of matrices is."""

import numpy as np

from polyad.base.arrays import FloatArray


def off_diagonal_energy(stack: FloatArray) -> float:
    """Return the share of the sum of squares of a P x K x K stack that is off the diagonals, in [0, 1].

    Examples
    --------
    >>> off_diagonal_energy(np.array([[[1.0, 0.0], [0.0, 2.0]]]))
    0.0
    >>> off_diagonal_energy(np.array([[[0.0, 3.0], [3.0, 0.0]]]))
    1.0
    """
    total = float((stack**2).sum())
    if total == 0:
        return 0.0
    on = float((np.diagonal(stack, axis1=1, axis2=2) ** 2).sum())
    if on > 0.999 * total:  # the difference would be rounding only: add up the small terms themselves
        off = stack[:, ~np.eye(stack.shape[1], dtype=bool)]
        return float((off**2).sum()) / total
    return 1 - on / total


def energy_of_squares(squares: FloatArray) -> float:
    """Return the same from the sums of squares over the stack of each entry, K x K.

    Examples
    --------
    >>> energy_of_squares(np.array([[3.0, 0.5], [0.5, 1.0]]))
    0.2
    """
    total = float(squares.sum())
    off = float(squares.sum(where=~np.eye(squares.shape[0], dtype=bool)))
    return off / total if total > 0 else 0.0
