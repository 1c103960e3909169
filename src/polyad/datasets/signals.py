"""Mixtures of independent sources, with or without Gaussian noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from polyad.base.arrays import FloatArray

# All have mean 0 and variance 1.
SOURCES: dict[str, Callable[[Generator, int], FloatArray]] = {
    "super": lambda rng, size: rng.laplace(scale=np.sqrt(0.5), size=size),
    "sub": lambda rng, size: rng.uniform(-np.sqrt(3), np.sqrt(3), size=size),
    "skewed": lambda rng, size: rng.exponential(size=size) - 1,
    "gaussian": lambda rng, size: rng.standard_normal(size),
}


@dataclass(frozen=True)
class SignalSample:
    """Samples of mixed sources, and the truth.

    Attributes
    ----------
    X
        N x M: ``sources @ mixing.T`` plus the noise.
    mixing
        M x K.
    sources
        N x K, with mean 0 and variance 1.
    noise_covariance
        M x M; zeros where there is no noise.
    """

    X: FloatArray
    mixing: FloatArray
    sources: FloatArray
    noise_covariance: FloatArray


def make_ica(
    n_samples: int = 10_000,
    n_features: int = 5,
    n_components: int | None = None,
    *,
    sources: str | Sequence[str] = "super",
    noise: float = 0.0,
    correlated: bool = True,
    condition: float = 5.0,
    mixing: ArrayLike | None = None,
    random_state: int = 0,
) -> SignalSample:
    """Draw mixtures of independent sources.

    Parameters
    ----------
    n_samples, n_features, n_components
        N, M and K; K is M by default.
    sources
        "super" (Laplace), "sub" (uniform), "skewed" (exponential) or "gaussian": one name for all sources, or
        several that are used in turn.
    noise
        Variance of the Gaussian noise as a share of the mean variance of the mixtures.
    correlated
        Whether the noise has a random full covariance; False makes it white.
    condition
        Condition number of the mixing matrix that is drawn: its largest singular value over its smallest.
    mixing
        M x K to use instead of drawing one.
    random_state
        Seed.

    Examples
    --------
    >>> sample = make_ica(1000, 4, sources=("super", "sub"), noise=0.1)
    >>> sample.X.shape, sample.mixing.shape, sample.sources.std().round(1)
    ((1000, 4), (4, 4), np.float64(1.0))
    """
    rng = np.random.default_rng(random_state)
    K = n_features if n_components is None else n_components
    A = _mixing(rng, n_features, K, condition) if mixing is None else np.asarray(mixing, dtype=np.float64)
    if A.ndim != 2:
        raise ValueError(f"mixing must be features x components; it has {A.ndim} dimension(s).")
    values = draw_sources(rng, sources, n_samples, A.shape[1])
    covariance = _noise_covariance(rng, A, noise, correlated)
    X = values @ A.T
    if noise > 0:
        X += rng.standard_normal(X.shape) @ np.linalg.cholesky(covariance).T
    return SignalSample(X, A, values, covariance)


def draw_sources(rng: Generator, kinds: str | Sequence[str], n_samples: int, n_components: int) -> FloatArray:
    """Return N x K independent sources with mean 0 and variance 1, of the kinds named in :func:`make_ica`."""
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    unknown = [name for name in names if name not in SOURCES]
    if unknown or not names:
        raise ValueError(f"sources is {kinds!r}; give one or several of {', '.join(map(repr, SOURCES))}.")
    return np.column_stack([SOURCES[name](rng, n_samples) for name in islice(cycle(names), n_components)])


def _mixing(rng: Generator, n_features: int, n_components: int, condition: float) -> FloatArray:
    if n_components > n_features or condition < 1:
        raise ValueError(
            f"{n_components} sources in {n_features} features with the condition number {condition:g} cannot be drawn: "
            "give at most as many sources as features, and a condition number from 1 up."
        )
    left = np.linalg.qr(rng.standard_normal((n_features, n_components)))[0]
    right = np.linalg.qr(rng.standard_normal((n_components, n_components)))[0]
    return (left * np.geomspace(1, 1 / condition, n_components)) @ right


def _noise_covariance(rng: Generator, mixing: FloatArray, noise: float, correlated: bool) -> FloatArray:
    M = mixing.shape[0]
    if not (np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise is {noise}; give a share of the variance from 0 up.")
    factor = rng.standard_normal((M, M)) if correlated else np.eye(M)
    covariance = factor @ factor.T
    level = noise * float((mixing**2).sum() / M)  # the mean variance of the mixtures, times the share
    return covariance * (level * M / np.trace(covariance))
