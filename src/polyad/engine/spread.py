"""How words would be spread over documents by chance alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def expected_documents(lengths: NDArray[Any], frequencies: NDArray[Any]) -> NDArray[np.float64]:
    """Return in how many documents words would be if their tokens fell on documents by their lengths alone.

    Parameters
    ----------
    lengths
        Tokens of each document.
    frequencies
        Of words: their shares of all tokens.

    Examples
    --------
    >>> expected_documents(np.array([10, 10, 1000]), np.array([0.001, 0.5])).round(2)
    array([0.65, 2.99])
    """
    different, n_documents = np.unique(lengths, return_counts=True)  # many documents have the same length
    return np.array([n_documents @ -np.expm1(-frequency * different) for frequency in frequencies])
