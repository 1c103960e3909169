"""What passes of EM have in common, whatever they improve."""

from dataclasses import dataclass

import numpy as np

from polyad.base.arrays import FloatArray

STRETCH, MOST_STRETCH = 1.3, 8.0  # by which relaxed passes go further each time, and at most
LEAST = 1e-300  # that a number above 0 is taken to be, before its logarithm


@dataclass(frozen=True)
class Passes:
    """How passes went that improved the parameters of a mixture."""

    # Mean log-likelihood of a row, and the logarithm of the prior, that each pass found for the parameters it started
    # from: it never falls.
    objective: tuple[float, ...]
    converged: bool  # whether the last pass gained less than the tolerance


def further(before: FloatArray, after: FloatArray, stretch: float) -> FloatArray:
    """Return numbers from 0 up that lie further along the way from some to others, which is one of their logarithms.

    Examples
    --------
    >>> further(np.array([1.0, 0.5]), np.array([2.0, 0.5]), 2.0)
    array([4. , 0.5])
    """
    first, last = np.log(np.maximum(before, LEAST)), np.log(np.maximum(after, LEAST))
    return np.asarray(np.exp(np.minimum(first + stretch * (last - first), 700.0)))


def further_shares(before: FloatArray, after: FloatArray, stretch: float) -> FloatArray:
    """Return the same for rows of probabilities."""
    found = further(before, after, stretch)
    return np.asarray(found / found.sum(axis=-1, keepdims=True))
