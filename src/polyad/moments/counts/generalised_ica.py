"""Discrete ICA by generalised covariances: the second derivatives of the counts' generating function away from zero."""

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import Source, columns_of
from polyad.moments.counts.discrete_ica import discrete_ica_moments, generalised_covariances
from polyad.moments.symmetric import SymmetricMoments

STEP = 0.1  # of the processing points, in standard deviations of the whitened counts


def generalised_ica_moments(source: Source, step: float = STEP) -> SymmetricMoments:
    """Return the moments of discrete ICA with generalised S-covariances in the place of the third cumulant.

    The K processing points are ``t = step W[p] / std(X @ W[p])`` and their opposites; ``third`` gives the K differences
    ``(C(t) - C(-t)) / (2 step)``, scaled so that they tend to slices of the whitened third cumulant as the step goes
    to zero. For any step each of them is diagonal in the same rotation, without being slices of a symmetric tensor:
    diagonalise them with "jacobi", or another method for stacks of matrices.

    Parameters
    ----------
    source
        The counts.
    step
        Size of the points. Larger ones see further out in the tails, where few documents are.
    """
    if not (np.isfinite(step) and step > 0):
        raise ValueError(f"step is {step}; give a positive number.")
    moments = discrete_ica_moments(source)

    def third(whitener: FloatArray, images: FloatArray | None = None) -> FloatArray:
        sizes = np.sqrt(1 + whitener**2 @ moments.mean)  # of W x: its covariance is W S W' = I, and W diag(mean) W'
        points = step * whitener / sizes[:, None]
        covariances = generalised_covariances(source, whitener, np.concatenate([points, -points]))
        ahead, behind = covariances[: len(points)], covariances[len(points) :]
        return (ahead - behind) * (sizes / (2 * step))[:, None, None]

    def third_rows(directions: FloatArray) -> FloatArray:
        raise ValueError('Generalised covariances have no word rows, which "svtd" reads: use "jacobi" or "spectral".')

    def within(words: NDArray[np.intp]) -> SymmetricMoments:
        return generalised_ica_moments(columns_of(source, words), step)

    return SymmetricMoments(
        moments.mean, moments.second, third, third_rows, within, moments.n_rows, moments.n_cells, source.passes_are_dear
    )
