"""How accurate moments from a given set of document lengths can be."""

from dataclasses import dataclass

import numpy as np

from polyad.base.arrays import FloatArray


@dataclass(frozen=True)
class SampleAccuracy:
    """Bounds on the Frobenius error of length-weighted moments that hold with a given probability.

    Attributes
    ----------
    second, third
        The bounds of Theorem 2 of the SVTD paper for the second and the third moment.
    """

    second: float
    third: float


def sample_accuracy(
    lengths: FloatArray, *, failure: float = 0.05, second_norm: float = 0.0, third_norm: float = 0.0
) -> SampleAccuracy:
    """Bound the error of the length-weighted moments of the single-topic model (Theorem 2 of the SVTD paper).

    The statement prints the second term with the ratio of lengths under the square root; the proof, and Remark 2,
    have it outside, and so has this function. The proof treats words as independent given the topics.

    Parameters
    ----------
    lengths
        Tokens of every document.
    failure
        The probability delta, in (0, 1), with which a bound may fail.
    second_norm, third_norm
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
    pairs, triples = c * (c - 1), np.maximum(c * (c - 1) * (c - 2), 0.0)
    deviation = np.sqrt(np.log(1 / failure)) * np.sqrt(c.sum())

    def bound(counts: FloatArray, norm: float, largest: float) -> float:
        spread = (counts**2).sum() / counts.sum() ** 2  # W_2 and W_3
        return float(np.sqrt(spread * (1 - norm**2)) + deviation * largest / counts.sum())

    return SampleAccuracy(second=bound(pairs, second_norm, c.max()), third=bound(triples, third_norm, pairs.max()))
