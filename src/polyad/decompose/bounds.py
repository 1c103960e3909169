"""How far errors of the moments carry: into the whitened tensor, into components, and back to numbers of documents.

The steps are those of Theorem 3 of the spectral LDA paper and of eqs. (34) and (35) of the discrete ICA paper, with
every constant worked out (docs/theory.md has the proof); the papers leave them as universal constants.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.moments.counts.bounds import SampleAccuracy, lda_accuracy, sample_accuracy
from polyad.moments.counts.discrete_ica_accuracy import discrete_ica_accuracy, gamma_cumulants, gamma_third_accuracy

SMALL_NOISE = 2 / 27  # times min^3 / max^2 of its values: noise of a tensor that leaves a maximum near each component
TURNED = 1.2  # distance of that maximum from the component, per relative error
CHANGED = 1.01  # of the value there, per error


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
    """Bound the errors of components (Theorem 3 of the spectral LDA paper, with constants).

    The components are those that the local maxima of the whitened tensor on the sphere give: near each of the true
    ones there is one, wherever the error of the whitened tensor is below ``2/27 min(values)^3 / max(values)^2``. The
    paper leans on Theorem 5.1 of Anandkumar et al. 2014 instead, whose condition has a constant that nobody has worked
    out.

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
    if not error < SMALL_NOISE * float(np.min(values)) ** 3 / float(np.max(values)) ** 2:
        return RecoveryBound(error, np.full(len(values), np.inf), float("inf"))
    r = second_error / smallest
    e = r / (1 - r)
    # Back from the whitened space, which scales by the root of the largest eigenvalue; and out of the space of S.
    components = np.sqrt(largest + second_error) * (TURNED * error / values + 1 - np.sqrt(1 - e)) + e * sizes
    return RecoveryBound(error, components, CHANGED * error)


def documents_needed(
    components: FloatArray,
    prior: FloatArray,
    *,
    model: Literal["lda", "single topic", "discrete ica"] = "lda",
    length: float | None = None,
    error: float = 0.1,
    failure: float = 0.05,
) -> int:
    """Return how many documents guarantee topics, by the bounds proved here: far more than are needed.

    All topics then are within ``error`` of their Euclidean size, but for a probability ``failure``, where they are
    taken from the maxima of the whitened third moment (see :func:`recovery_bound`). Every step takes the worst case, in
    a Frobenius norm over all words and pairs: it tells how the number grows (with the square of one over the smallest
    eigenvalue of S, cubed), and is thousands of times what a sample needs.

    Parameters
    ----------
    components
        Topics, K x M: of a fitted model, or as one expects them to be.
    prior
        Dirichlet parameters of the shares ("lda"), probabilities of the topics ("single topic"), or the shapes of the
        gamma intensities ("discrete ica").
    model
        What the documents are drawn from: "lda" and "single topic" with documents of one length, three words or more;
        "discrete ica", the gamma-Poisson model, whose documents have lengths of their own.
    length
        Mean number of words of a document; for "discrete ica" alone.
    error
        Relative error allowed.
    failure
        Probability with which it may be exceeded.

    Examples
    --------
    >>> topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    >>> few, many = (documents_needed(topics, np.array([0.5, 0.5]), error=error) for error in (0.01, 0.001))
    >>> 90 < many / few < 110
    True
    >>> documents_needed(topics, np.array([0.5, 0.5]), model="single topic", error=0.01) < few  # not mixed
    True
    """
    D, c = np.asarray(components, dtype=np.float64), np.asarray(prior, dtype=np.float64)
    _refuse_bad(D, c, model, length, error, failure)
    c0 = float(c.sum())
    if model == "discrete ica":
        rate = c0 / float(length or 0.0)
        variances, values = c / rate**2, 2 / np.sqrt(c)
        accuracy = _discrete_ica(D, c, rate, failure)
    elif model == "single topic":
        variances, values = c, 1 / np.sqrt(c)
        accuracy = _of_words(0.0, failure / 2)  # two bounds hold at once
    else:
        variances, values = c / (c0 * (c0 + 1)), 2 * np.sqrt(c0 * (c0 + 1) / (c * (c0 + 2) ** 2))
        accuracy = _of_words(c0, failure / 3)
    scaled = np.sqrt(variances)[:, None] * D  # S = scaled' scaled
    eigenvalues: FloatArray = np.asarray(linalg.eigvalsh(scaled @ scaled.T), dtype=np.float64)
    if eigenvalues[0] <= 1e-12 * eigenvalues[-1]:
        raise ValueError("One topic is a mixture of the others: no number of documents tells them apart.")
    sizes = np.linalg.norm(scaled, axis=1)

    def is_enough(n_documents: int) -> bool:
        bound = recovery_bound(*accuracy(n_documents), eigenvalues=eigenvalues, values=values, sizes=sizes)
        return bool((bound.components <= error * sizes).all())

    low, high = 3, 6
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > max(1.0, 1e-3 * low):
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _of_words(concentration: float, failure: float) -> Callable[[int], tuple[float, float]]:
    """Return what bounds the errors of S and T of so many documents, from the moments of their words."""
    at_one = sample_accuracy(np.full(1, 3.0), failure=failure)

    def accuracy(n_documents: int) -> tuple[float, float]:
        root = np.sqrt(float(n_documents))  # there may be more of them than an integer of NumPy holds
        bounds = SampleAccuracy(at_one.first / root, at_one.second / root, at_one.third / root)
        return lda_accuracy(bounds, concentration)

    return accuracy


def _discrete_ica(D: FloatArray, c: FloatArray, rate: float, failure: float) -> Callable[[int], tuple[float, float]]:
    """Return the same for the cumulants of the gamma-Poisson model: each fails with half of the probability."""
    sources, times = gamma_cumulants(c, rate), 1 / np.sqrt(failure / 2)  # Markov's inequality

    def accuracy(n_documents: int) -> tuple[float, float]:
        second = discrete_ica_accuracy(D, sources, n_documents)
        return times * second, times * gamma_third_accuracy(float(c.sum()), rate, n_documents)

    return accuracy


def _refuse_bad(D: FloatArray, c: FloatArray, model: str, length: float | None, error: float, failure: float) -> None:
    if D.ndim != 2 or D.size == 0 or not np.isfinite(D).all() or D.min() < 0 or np.abs(D.sum(axis=1) - 1).max() > 1e-6:
        raise ValueError(f"components have the shape {D.shape}; give topics, K x M, rows of probabilities.")
    if c.shape != (len(D),) or not (np.isfinite(c) & (c > 0)).all():
        raise ValueError(f"prior is {c!r}; give {len(D)} positive numbers, one for each topic.")
    if model not in ("lda", "single topic", "discrete ica"):
        raise ValueError(f"model is {model!r}; give 'lda', 'single topic' or 'discrete ica'.")
    if model == "single topic" and abs(c.sum() - 1) > 1e-6:
        raise ValueError(f"prior sums to {c.sum():g}; for single topics give the probabilities of the topics.")
    if (model == "discrete ica") != (length is not None):
        raise ValueError(f"length is {length!r} and model is {model!r}; discrete ICA has a mean length, and it alone.")
    if length is not None and not (np.isfinite(length) and length > 0):
        raise ValueError(f"length is {length}; give a positive number.")
    if not (np.isfinite(error) and error > 0):
        raise ValueError(f"error is {error}; give a positive number.")
    if not 0 < failure < 1:
        raise ValueError(f"failure is {failure}; give a probability strictly between 0 and 1.")
