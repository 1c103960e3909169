"""Moments of a mixture of spherical Gaussians (Hsu and Kakade, "Learning mixtures of spherical Gaussians").

Each component has a mean and a variance of its own. The covariance of all points is that of the means, of rank K - 1,
and the mean variance along every axis; a direction without any of the means shows the variances alone.

Points are taken from their mean and get one more coordinate, the constant 1: the means then need to be in general
position only, not independent of an origin, and their second moment is ``diag(S, 1)`` with S their covariance.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, total
from polyad.moments.signals.ica import signal_covariance
from polyad.moments.symmetric import symmetric_cube
from polyad.moments.views.cross import dense_rows


@dataclass(frozen=True)
class SphericalMoments:
    """Moments of a mixture of K spherical Gaussians, less what its variances add to them."""

    mean: FloatArray  # M
    spectrum: FloatArray  # eigenvalues of the covariance of the points, largest first
    variance: float  # the mean variance of a component along one axis: the mean of the M - K + 1 smallest eigenvalues
    whitener: FloatArray  # K - 1 x M, with W S W' = I for the covariance S of the means
    skew: FloatArray  # W sum_k w_k s_k (m_k - mean), with s_k the variance of component k
    # K x K x K: the third moment of the means, with the constant as the last coordinate, whitened. It is ``sum_k
    # w_k^(-1/2) v_k (x) v_k (x) v_k`` with orthonormal v_k.
    third: FloatArray


def spherical_moments(source: Source, n_components: int, *, shared: bool = False) -> SphericalMoments | None:
    """Return the moments of a mixture of spherical Gaussians, in three passes.

    Parameters
    ----------
    source
        The points.
    n_components
        K, from 2 up to M.
    shared
        Whether all components have the same variance.

    Returns
    -------
    SphericalMoments or None
        None where the points have fewer than K - 1 directions in which the means could differ.
    """
    mean, covariance = signal_covariance(source)
    directions = _directions(covariance, n_components)
    if directions is None:
        return None
    spectrum, whitener, variance, outside = directions
    cube, skew = (found / source.n_rows for found in total(_third_sums, source, mean, whitener, outside))
    if shared:
        skew = np.zeros_like(skew)
    return _assembled(mean, spectrum, variance, whitener, skew, cube)


def _directions(covariance: FloatArray, n_components: int) -> tuple[FloatArray, FloatArray, float, FloatArray] | None:
    """Return the spectrum, the whitener, the mean variance and the directions without means, M - K + 1 x M."""
    M, n_directions = covariance.shape[0], n_components - 1
    if not 0 < n_directions < M:
        return None
    values, vectors = linalg.eigh(covariance)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    variance = float(values[n_directions:].mean())
    excess = values[:n_directions] - variance
    if excess[-1] <= 1e-10 * max(values[0], 1e-300):
        return None
    whitener = (vectors[:, :n_directions] / np.sqrt(excess)).T
    return values, np.ascontiguousarray(whitener), variance, np.ascontiguousarray(vectors[:, n_directions:].T)


def _third_sums(
    block: Block, mean: FloatArray, whitener: FloatArray, outside: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the cube of the whitened rows, and these weighted by their mean square outside of the means."""
    centred = dense_rows(block.rows) - mean
    whitened = centred @ whitener.T
    squares = ((centred @ outside.T) ** 2).mean(axis=1)
    return symmetric_cube(whitened), squares @ whitened


def _assembled(
    mean: FloatArray, spectrum: FloatArray, variance: float, whitener: FloatArray, skew: FloatArray, cube: FloatArray
) -> SphericalMoments:
    """Take off what the variances add to the third moment, and add the constant as the last coordinate."""
    products = whitener @ whitener.T
    added = np.einsum("i,jl->ijl", skew, products)
    K = skew.size + 1
    third = np.zeros((K, K, K))
    third[:-1, :-1, :-1] = cube - added - added.transpose(1, 0, 2) - added.transpose(1, 2, 0)
    axis = np.arange(K)
    third[axis, axis, -1] = third[axis, -1, axis] = third[-1, axis, axis] = 1.0
    return SphericalMoments(mean, spectrum, variance, whitener, skew, third)


def spherical_population(weights: FloatArray, means: FloatArray, variances: FloatArray) -> SphericalMoments:
    """Return what the moments tend to, from the parameters of a mixture.

    Examples
    --------
    >>> moments = spherical_population(np.array([0.5, 0.5]), np.array([[2.0, 0.0], [0.0, 0.0]]), np.ones(2))
    >>> moments.mean, moments.variance, moments.spectrum
    (array([1., 0.]), 1.0, array([2., 1.]))
    """
    mean = weights @ means
    centred, M = means - mean, means.shape[1]
    found = _directions((weights[:, None] * centred).T @ centred + weights @ variances * np.eye(M), weights.size)
    if found is None:
        raise ValueError("The means are not in general position.")
    spectrum, whitener, variance, _ = found
    whitened = centred @ whitener.T
    skew = (weights * variances) @ whitened
    products = whitener @ whitener.T
    added = np.einsum("i,jl->ijl", skew, products)
    cube = np.einsum("k,ki,kj,kl->ijl", weights, whitened, whitened, whitened)
    cube += added + added.transpose(1, 0, 2) + added.transpose(1, 2, 0)
    return _assembled(mean, spectrum, variance, whitener, skew, cube)
