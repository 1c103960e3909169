"""Exchangeable views of independent factors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import sparse

from polyad.base.arrays import FloatArray

FACTORS = ("skewed", "kurtotic", "binary")


@dataclass(frozen=True)
class FactorSample:
    """Views that are linear in independent factors, and the truth.

    Attributes
    ----------
    views
        A list of N x M arrays: values, or sparse counts.
    components
        K x M: a view has the mean ``factors @ components`` given the factors.
    factors
        N x K.
    """

    views: list[Any]
    components: FloatArray
    factors: FloatArray


def make_independent_factors(
    n_samples: int = 5000,
    n_features: int = 20,
    n_components: int = 4,
    *,
    n_views: int = 3,
    factors: str = "skewed",
    observation: str = "gaussian",
    noise: float = 1.0,
    length: float = 50.0,
    components: ArrayLike | None = None,
    random_state: int = 0,
) -> FactorSample:
    """Draw exchangeable views of independent factors (section 2.1 of the spectral LDA paper).

    Parameters
    ----------
    n_samples, n_features, n_components
        N, M and K.
    n_views
        How many views; given the factors they are independent and have the same distribution.
    factors
        "skewed" (gamma), "kurtotic" (Laplace, or uniform where rates must not be negative), or "binary" (0 and 1, with
        probabilities of 1 between 0.2 and 0.4).
    observation
        "gaussian" for noise of variance ``noise``, with a standard deviation for each column between a half and three
        halves of that of all; or "poisson" for counts, whose components are probabilities of the columns.
    noise
        The variance of the noise where components have entries of about 1.
    length
        Mean of the counts of a row of each view.
    components
        K x M to use instead of drawing them.
    random_state
        Seed.

    Examples
    --------
    >>> sample = make_independent_factors(100, 8, 2, observation="poisson", n_views=2)
    >>> [view.shape for view in sample.views], sample.components.sum(axis=1)
    ([(100, 8), (100, 8)], array([1., 1.]))
    """
    if factors not in FACTORS:
        raise ValueError(f"factors is {factors!r}; give one of {', '.join(map(repr, FACTORS))}.")
    if observation not in ("gaussian", "poisson"):
        raise ValueError(f"observation is {observation!r}; give 'gaussian' or 'poisson'.")
    rng = np.random.default_rng(random_state)
    counts = observation == "poisson"
    if components is None:
        shape = (n_components, n_features)
        drawn = rng.dirichlet(np.full(n_features, 0.3), n_components) if counts else rng.standard_normal(shape)
    else:
        drawn = np.asarray(components, dtype=np.float64)
    values = _drawn_factors(rng, factors, n_samples, drawn.shape[0], counts, length)
    means = values @ drawn
    if counts:
        return FactorSample([sparse.csr_array(rng.poisson(means)) for _ in range(n_views)], drawn, values)
    deviations = np.sqrt(noise) * rng.uniform(0.5, 1.5, drawn.shape[1])
    views = [means + deviations * rng.standard_normal(means.shape) for _ in range(n_views)]
    return FactorSample(views, drawn, values)


def _drawn_factors(rng: Generator, kind: str, N: int, K: int, counts: bool, length: float) -> FloatArray:
    scale = length / K if counts else 1.0
    if kind == "binary":
        chances = rng.uniform(0.2, 0.4, K)
        return (rng.random((N, K)) < chances) * (scale / chances.mean() if counts else 1.0)
    if kind == "skewed":
        return rng.gamma(1.0, scale, (N, K))
    if counts:
        return rng.uniform(0, 2 * scale, (N, K))
    return rng.laplace(scale=np.sqrt(0.5), size=(N, K))
