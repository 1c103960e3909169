"""From components with a free scale back to topics on the simplex and their priors."""

import numpy as np

from polyad.base.arrays import FloatArray


def simplex_rows(components: FloatArray) -> FloatArray:
    """Return rows turned to their heavier sign, clipped at 0 and scaled to sum to 1.

    Projection onto the simplex would be closer where the model holds exactly, and is far off where it does not;
    clipping is safe. A row that is zero throughout becomes uniform.

    Examples
    --------
    >>> simplex_rows(np.array([[-3.0, -1.0, 0.5], [0.0, 0.0, 0.0]]))
    array([[0.75      , 0.25      , 0.        ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    squares = (components * np.abs(components)).sum(axis=1)  # those of positive entries less those of negative ones
    rows = np.where(squares < 0, -1.0, 1.0)[:, None] * components
    np.maximum(rows, 0, out=rows)
    totals = rows.sum(axis=1)
    rows[totals == 0] = 1.0
    rows /= np.where(totals == 0, rows.shape[1], totals)[:, None]
    return rows


def dirichlet_prior(values: FloatArray, concentration: float) -> FloatArray:
    """Return the Dirichlet parameters of LDA from the values of its whitened tensor.

    With c0 the total that the moments were made for, value_k^2 = 4 c0 (c0+1) / ((c0+2)^2 c_k); the parameters sum
    to c0 again where the model holds.
    """
    c0 = concentration
    return 4 * c0 * (c0 + 1) / ((c0 + 2) ** 2 * _squared(values))


def gamma_prior(values: FloatArray, mean_length: float) -> tuple[FloatArray, float]:
    """Return shapes and rate of the gamma-Poisson model: value_k^2 = 4 / c_k, and c0 / b is the mean length."""
    shapes = 4 / _squared(values)
    return shapes, float(shapes.sum() / mean_length)


def mixture_weights(values: FloatArray) -> FloatArray:
    """Return the topic probabilities of the single-topic model, value_k^2 = 1 / w_k, scaled to sum to 1."""
    weights = 1 / _squared(values)
    return weights / weights.sum()


def _squared(values: FloatArray) -> FloatArray:
    """Squares of the values, kept away from zero: a component without skewness must not get all the weight."""
    squares = np.asarray(values) ** 2
    floor = 1e-6 * float(squares.max(initial=0.0))
    return np.maximum(squares, max(floor, 1e-300))
