"""A soft edge of the space that components are looked for in.

Text has no number of topics: after the K-th eigenvalue of its second moment the next one is smaller by a hundredth or
less. A space that ends sharply after the K-th eigenvector then turns where one document in a hundred is left out, since
the last direction changes places with the next, and every topic with a share in it turns as well. So the directions
near the K-th count with a weight that falls with their eigenvalue. To exchange two of them then changes nothing. Where
the spectrum has a gap after K, as that of a model with K components has, the edge is sharp: all weights are 1 or 0.
"""

import numpy as np

from polyad.base.arrays import FloatArray

NEAR = 0.08  # of the K-th eigenvalue: those that are smaller by more have no weight
WIDEST = 10  # directions beyond K: the work goes with the fourth power of all
NOISE = 2.0  # times the most negative eigenvalue: what is smaller may be noise, whose positive side is the longer one
INWARDS = 0.5  # of the fall of eigenvalues beyond K: how far above the K-th weights begin to fall
LEAST_WEIGHT = 0.02  # a direction with less weight has no part in a third moment worth its work


def edge_weights(spectrum: FloatArray, n_components: int, width: int = WIDEST) -> FloatArray:
    """Return the weights of the first K + width directions, or of as many as there are.

    Parameters
    ----------
    spectrum
        Eigenvalues, largest first, with the most negative one: what is not larger than it is noise.
    n_components, width
        K, and the most directions beyond it.

    Examples
    --------
    >>> edge_weights(np.array([6.0, 4.0, 3.5, 3.4]), 2, 1)
    array([1., 1., 0.])
    >>> edge_weights(np.array([6.0, 4.1, 4.0, 3.9, 2.9]), 2).round(2)
    array([1.  , 0.74, 0.52, 0.29, 0.  ])
    """
    K, known = n_components, spectrum[: n_components + width]
    if spectrum.size <= K or width == 0:
        return np.ones(min(K, spectrum.size))
    last, noise = float(spectrum[K - 1]), -NOISE * float(spectrum[-1])
    none = max(float(spectrum[min(K + width, spectrum.size - 1)]), (1 - NEAR) * last, noise)
    whole = last + INWARDS * max(float(spectrum[K]) - none, 0.0)
    if last <= none:  # a tie over the whole width, or noise: nothing is gained by more of it
        return (np.arange(known.size) < K).astype(np.float64)
    return np.clip((known - none) / (whole - none), 0.0, 1.0)
