"""Cumulants of the sources of discrete ICA when the topics are known."""

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.moments.symmetric import SymmetricMoments


def source_cumulants(moments: SymmetricMoments, components: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, variance and third cumulant of every source, K numbers each; two passes.

    S = D' diag(variance) D and T is diagonal likewise, so that a left inverse of D reads them off, without bias; it is
    that of least squares in the metric of the counts.

    Parameters
    ----------
    moments
        Of discrete ICA: :func:`polyad.moments.discrete_ica_moments`.
    components
        Topics, K x M.

    Examples
    --------
    >>> from polyad.moments import discrete_ica_population
    >>> topics = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> cumulants = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> np.round(source_cumulants(discrete_ica_population(topics, *cumulants), topics), 8)
    array([[1., 2.], [3., 4.], [5., 6.]])
    """
    inverse = left_inverse(components, moments.mean)
    means = moments.mean @ inverse
    variances = np.einsum("mk,mk->k", inverse, moments.second @ inverse)
    thirds = np.einsum("mk,km->k", inverse, moments.third_rows(np.ascontiguousarray(inverse.T)))
    return means, variances, thirds


def left_inverse(components: FloatArray, mean: FloatArray) -> FloatArray:
    """Return an M x K matrix with components @ inverse = 1: least squares in the metric of the counts.

    Examples
    --------
    >>> left_inverse(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]), np.ones(3))
    array([[1., 0.], [1., 0.], [0., 1.]])
    """
    weighted = components.T / np.maximum(mean, 1e-12 * float(mean.max(initial=0.0)))[:, None]
    inverse: FloatArray = weighted @ linalg.pinvh(components @ weighted)
    return inverse
