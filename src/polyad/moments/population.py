"""Population moments: what the estimates tend to, from the parameters of a model.

They are the exact input on which every decomposition must give the parameters back.
"""

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.moments.symmetric import SymmetricMoments, symmetric_operator


def single_topic_population(components: FloatArray, weights: FloatArray) -> SymmetricMoments:
    """Return the moments of a single-topic model: S and T with the topic probabilities as weights."""
    weights = np.asarray(weights, dtype=np.float64)
    return _polyadic(components, weights, weights, weights)


def lda_population(components: FloatArray, prior: FloatArray) -> SymmetricMoments:
    """Return the moments of LDA with a Dirichlet prior (eqs 41 and 42 of the discrete ICA paper)."""
    c = np.asarray(prior, dtype=np.float64)
    c0 = c.sum()
    return _polyadic(components, c / c0, c / (c0 * (c0 + 1)), 2 * c / (c0 * (c0 + 1) * (c0 + 2)))


def discrete_ica_population(
    components: FloatArray, means: FloatArray, variances: FloatArray, third_cumulants: FloatArray
) -> SymmetricMoments:
    """Return the cumulants of discrete ICA from those of its sources (eqs 8, 11 and 13 of the discrete ICA paper).

    For the gamma-Poisson model they are ``c/b``, ``c/b**2`` and ``2*c/b**3``.

    Examples
    --------
    >>> topics = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> ones = np.ones(2)
    >>> discrete_ica_population(topics, ones, ones, ones).mean
    array([0.5, 1. , 0.5])
    """
    return _polyadic(components, means, variances, third_cumulants)


def _polyadic(components: FloatArray, first: FloatArray, second: FloatArray, third: FloatArray) -> SymmetricMoments:
    D = np.asarray(components, dtype=np.float64)

    def second_product(columns: FloatArray) -> FloatArray:
        return D.T @ (second[:, None] * (D @ columns))

    def whitened_third(whitener: FloatArray, images: FloatArray | None = None) -> FloatArray:
        projected = D @ whitener.T
        return np.einsum("k,ka,kb,kc->abc", third, projected, projected, projected, optimize=True)

    def third_rows(directions: FloatArray) -> FloatArray:
        return (directions @ D.T) ** 2 @ (third[:, None] * D)

    def within(words: NDArray[np.intp]) -> SymmetricMoments:
        return _polyadic(D[:, words], first, second, third)

    operator = symmetric_operator(D.shape[1], second_product)
    return SymmetricMoments(first @ D, operator, whitened_third, third_rows, within)
