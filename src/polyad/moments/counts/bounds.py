"""How accurate the moments of a sample are: bounds that hold with a given probability.

All that is used is that documents are independent of each other, so the bounds hold for the single-topic model and for
LDA alike; the words of one document may depend on each other as they like. docs/theory.md has the proofs.
"""

from dataclasses import dataclass

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.moments.counts.weights import shares_of_lengths


@dataclass(frozen=True)
class SampleAccuracy:
    """Bounds on the Frobenius error of moments; each of them holds with a given probability.

    Attributes
    ----------
    first, second, third
        Of the moments M1, M2 and M3 of one, two and three distinct words of a document.
    """

    first: float
    second: float
    third: float


def sample_accuracy(
    lengths: FloatArray,
    *,
    weights: str | float = "length",
    failure: float = 0.05,
    first_norm: float = 0.0,
    second_norm: float = 0.0,
    third_norm: float = 0.0,
) -> SampleAccuracy:
    """Bound the error of the moments that documents of given lengths will have.

    With w_n the share of a document in a moment and W the sum of their squares, the error is below
    ``sqrt(W) (sqrt(1 - |M|^2) + sqrt(log(1 / failure)))`` but for a probability ``failure``: McDiarmid's inequality
    over documents. Theorem 2 of the SVTD paper has a smaller second term, as it takes the words of a document as
    independent of each other; they are not, and it does not hold.

    Parameters
    ----------
    lengths
        Tokens of every document.
    weights
        Of the documents, as in :func:`polyad.moments.raw_moments`.
    failure
        The probability, in (0, 1), with which each bound may fail.
    first_norm, second_norm, third_norm
        Frobenius norms of the true moments where known; 0 gives the wider bound.

    Examples
    --------
    >>> few, many = (sample_accuracy(np.full(n, 100.0)) for n in (100, 10_000))
    >>> round(few.second / many.second, 3)  # a hundred times the documents, a tenth of the error
    10.0
    """
    if not 0 < failure < 1:
        raise ValueError(f"failure is {failure}; give a probability strictly between 0 and 1.")
    c = np.asarray(lengths, dtype=np.float64)
    if c.size == 0 or c.max() < 3:
        raise ValueError("No document has three words: there is no third moment to bound.")
    deviation = np.sqrt(np.log(1 / failure))

    def bound(shares: FloatArray, norm: float) -> float:
        spread = float((shares**2).sum() / shares.sum() ** 2)  # W_2 and W_3 of the SVTD paper
        return float(np.sqrt(spread) * (np.sqrt(max(1 - norm**2, 0.0)) + deviation))

    words, pairs, triples = shares_of_lengths(c, weights)
    return SampleAccuracy(bound(words, first_norm), bound(pairs, second_norm), bound(triples, third_norm))


def lda_accuracy(
    accuracy: SampleAccuracy, concentration: float, *, first_norm: float = 1.0, second_norm: float = 1.0
) -> tuple[float, float]:
    """Return bounds on the Frobenius errors of S and T of LDA, from those of the moments they are made of.

    They hold together with the probability with which the three bounds of ``accuracy`` do: at least
    1 - 3 ``failure``.

    Parameters
    ----------
    accuracy
        Of the moments.
    concentration
        c0; 0 for the single-topic model, where S and T are M2 and M3.
    first_norm, second_norm
        Frobenius norms of the true M1 and M2 where known; 1 gives the wider bound.

    Examples
    --------
    >>> lda_accuracy(SampleAccuracy(0.1, 0.2, 0.3), 0.0)
    (0.2, 0.3)
    """
    c0, m1, m2 = concentration, first_norm, second_norm
    e1, e2, e3 = accuracy.first, accuracy.second, accuracy.third
    pair, triple = c0 / (c0 + 2), 2 * c0**2 / ((c0 + 1) * (c0 + 2))
    second = e2 + c0 / (c0 + 1) * (2 * m1 * e1 + e1**2)
    third = e3 + 3 * pair * (m1 * e2 + m2 * e1 + e1 * e2) + triple * (3 * m1**2 * e1 + 3 * m1 * e1**2 + e1**3)
    return second, third
