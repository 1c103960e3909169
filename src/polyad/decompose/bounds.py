"""How far errors of the moments carry: into the whitened tensor, into components, and back to numbers of documents.

The steps are those of Theorem 3 of the spectral LDA paper and of eq. (34) of the discrete ICA paper, with every
constant worked out (docs/theory.md has the proof); the papers leave them as universal constants.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.moments.counts.bounds import SampleAccuracy, lda_accuracy, sample_accuracy

POWER_METHOD = 8.0  # angle per relative error of a tensor: Theorem 5.1 of Anandkumar et al. 2014


@dataclass(frozen=True)
class RecoveryBound:
    """What errors of S and T do to components.

    Attributes
    ----------
    whitened
        Bound on the operator norm of the error of the whitened tensor; infinite where S may have lost a direction.
    components
        K: bounds on the Euclidean error of the components, scaled as in S = components' components.
    values
        Bound on the error of the values of the whitened tensor.
    """

    whitened: float
    components: FloatArray
    values: float


def whitened_error(second_error: float, third_error: float, smallest: float, largest_value: float) -> float:
    """Bound the error of the whitened tensor, eq. (34) of the discrete ICA paper with its constant.

    With r = second_error / smallest, the whitened second moment is off by at most e = r / (1 - r), and the tensor by
    ``third_error / ((1 - r) smallest)^(3/2) + largest_value (1 - sqrt(1 - e)) (2 + e + sqrt(1 + e))``.

    Parameters
    ----------
    second_error, third_error
        Bounds on the operator norms of the errors of S and T (Frobenius norms are such bounds).
    smallest
        K-th eigenvalue of S, the smallest that is not zero.
    largest_value
        Largest value of the whitened tensor: 2 sqrt(c0 (c0+1) / (c_k (c0+2)^2)) for LDA, 2 / sqrt(c_k) for the
        gamma-Poisson model, at the smallest c_k.

    Examples
    --------
    >>> whitened_error(0.0, 0.1, 1.0, 5.0)
    0.1
    >>> whitened_error(0.6, 0.1, 1.0, 5.0)
    inf
    """
    r = second_error / smallest
    if r >= 0.5:
        return float("inf")
    e = r / (1 - r)
    turned = largest_value * (1 - np.sqrt(1 - e)) * (2 + e + np.sqrt(1 + e))
    return float(third_error / ((1 - r) * smallest) ** 1.5 + turned)


def recovery_bound(
    second_error: float, third_error: float, *, eigenvalues: FloatArray, values: FloatArray, sizes: FloatArray
) -> RecoveryBound:
    """Bound the errors of components (Theorem 3 of the spectral LDA paper, with the constants of its proof).

    The proof leans on Theorem 5.1 of Anandkumar et al. 2014, whose condition, an error of the whitened tensor below
    C1 ``min(values) / K``, has a constant that nobody has worked out: where the bound is not small, read nothing
    into it.

    Parameters
    ----------
    second_error, third_error
        Bounds on the errors of S and T.
    eigenvalues
        The K eigenvalues of S that are not zero.
    values
        K values of the whitened tensor.
    sizes
        K Euclidean norms of the components, scaled as in S = components' components.
    """
    smallest, largest = float(np.min(eigenvalues)), float(np.max(eigenvalues))
    error = whitened_error(second_error, third_error, smallest, float(np.max(values)))
    if not np.isfinite(error):
        return RecoveryBound(error, np.full(len(values), np.inf), error)
    r = second_error / smallest
    e = r / (1 - r)
    # Back from the whitened space, which scales by the root of the largest eigenvalue; and out of the space of S.
    components = np.sqrt(largest + second_error) * (POWER_METHOD * error / values + 1 - np.sqrt(1 - e)) + e * sizes
    return RecoveryBound(error, components, 5 * error)


def documents_needed(
    components: FloatArray,
    prior: FloatArray,
    *,
    error: float = 0.1,
    failure: float = 0.05,
) -> int:
    """Return how many documents of one length guarantee topics, by the bounds proved here: far more than are needed.

    All topics of LDA then are within ``error`` of their Euclidean size, but for a probability ``failure``. Every step
    takes the worst case, in a Frobenius norm over all words and pairs: it tells how the number grows (with the square
    of one over the smallest eigenvalue of S, cubed), and is thousands of times what a sample needs.

    Parameters
    ----------
    components
        Topics, K x M: of a fitted model, or as one expects them to be.
    prior
        Dirichlet parameters of the shares.
    error
        Relative error allowed.
    failure
        Probability with which it may be exceeded.

    Examples
    --------
    >>> topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    >>> few, many = (documents_needed(topics, np.array([0.5, 0.5]), error=error) for error in (0.1, 0.01))
    >>> 90 < many / few < 110
    True
    """
    D, c = np.asarray(components, dtype=np.float64), np.asarray(prior, dtype=np.float64)
    if not (np.isfinite(error) and error > 0):
        raise ValueError(f"error is {error}; give a positive number.")
    if not 0 < failure < 1:
        raise ValueError(f"failure is {failure}; give a probability strictly between 0 and 1.")
    c0 = float(c.sum())
    scaled = np.sqrt(c / (c0 * (c0 + 1)))[:, None] * D  # S = scaled' scaled
    eigenvalues: FloatArray = np.asarray(linalg.eigvalsh(scaled @ scaled.T), dtype=np.float64)
    if eigenvalues[0] <= 1e-12 * eigenvalues[-1]:
        raise ValueError("One topic is a mixture of the others: no number of documents tells them apart.")
    values = 2 * np.sqrt(c0 * (c0 + 1) / (c * (c0 + 2) ** 2))
    sizes = np.linalg.norm(scaled, axis=1)
    at_one = sample_accuracy(np.full(1, 3.0), failure=failure / 3)

    def is_enough(n_documents: float) -> bool:
        accuracy = SampleAccuracy(*(bound / np.sqrt(n_documents) for bound in _three(at_one)))
        bound = recovery_bound(*lda_accuracy(accuracy, c0), eigenvalues=eigenvalues, values=values, sizes=sizes)
        return bool((bound.components <= error * sizes).all())

    low, high = 1.0, 2.0
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > max(1.0, 1e-3 * low):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return int(np.ceil(high))


def _three(accuracy: SampleAccuracy) -> tuple[float, float, float]:
    return accuracy.first, accuracy.second, accuracy.third
