"""Samplers of the two-view models: the synthetic data of the paper "Beyond CCA", and variations of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import sparse

from polyad.base.arrays import FloatArray
from polyad.datasets.signals import draw_sources

Pair = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True)
class ViewSample:
    """Two aligned views, and the truth.

    Attributes
    ----------
    X, Y
        N x M1 and N x M2: CSR arrays of counts, or dense arrays.
    x_loadings, y_loadings
        D1, M1 x K, and D2, M2 x K; columns have the l1 norm 1.
    x_noise_loadings, y_noise_loadings
        F1, M1 x K1, and F2, M2 x K2: what each view has for itself.
    sources
        N x K, shared by the views.
    """

    X: Any
    Y: Any
    x_loadings: FloatArray
    y_loadings: FloatArray
    x_noise_loadings: FloatArray
    y_noise_loadings: FloatArray
    sources: FloatArray

    @property
    def loadings(self) -> FloatArray:
        """D1 above D2, transposed: K x (M1 + M2), the form in which errors are measured."""
        return np.hstack([self.x_loadings.T, self.y_loadings.T])


def make_discrete_cca(
    n_samples: int = 1000,
    n_features: tuple[int, int] = (20, 20),
    n_components: int = 10,
    *,
    n_private: int = 20,
    shape: float = 0.3,
    private_shape: float = 0.1,
    length: float = 1000.0,
    private_length: float = 1000.0,
    loading_prior: float = 0.5,
    loadings: Pair | None = None,
    private_loadings: Pair | None = None,
    random_state: int = 0,
) -> ViewSample:
    """Draw counts from linear discrete CCA, x_j ~ Poisson(D_j a + F_j b_j) (section 5 of "Beyond CCA").

    Parameters
    ----------
    n_samples, n_features, n_components
        N, (M1, M2) and K.
    n_private
        Sources that each view has for itself.
    shape, private_shape
        Gamma shapes of the shared and of the private sources.
    length, private_length
        Expected counts of a sample in one view from the shared and from the private sources; they set the rates.
    loading_prior
        Dirichlet parameter of the columns of all loadings.
    loadings, private_loadings
        (D1, D2) and (F1, F2) to use instead of drawing them.
    random_state
        Seed.

    Examples
    --------
    >>> sample = make_discrete_cca(500)
    >>> sample.X.shape, sample.y_loadings.shape, sample.loadings.shape
    ((500, 20), (20, 10), (10, 40))
    """
    rng = np.random.default_rng(random_state)
    draws = [partial(_simplex_columns, rng, loading_prior)] * 2
    D = _loadings(n_features, n_components, loadings, draws)
    F = _loadings(n_features, n_private, private_loadings, draws)
    sources = _gamma(rng, n_samples, D[0].shape[1], shape, length)
    counts = []
    for shared, private in zip(D, F):
        noise = _gamma(rng, n_samples, private.shape[1], private_shape, private_length)
        counts.append(sparse.csr_array(rng.poisson(sources @ shared.T + noise @ private.T)))
    return ViewSample(counts[0], counts[1], D[0], D[1], F[0], F[1], sources)


def make_nongaussian_cca(
    n_samples: int = 1000,
    n_features: tuple[int, int] = (20, 20),
    n_components: int = 10,
    *,
    n_private: int | None = None,
    sources: str | Sequence[str] = "gamma",
    private_sources: str | Sequence[str] = "gamma",
    shape: float = 0.1,
    private_shape: float = 0.1,
    length: float = 1000.0,
    private_length: float = 1000.0,
    loadings: Pair | None = None,
    private_loadings: Pair | None = None,
    random_state: int = 0,
) -> ViewSample:
    """Draw measurements from linear non-Gaussian CCA, x_j = D_j a + F_j b_j (appendix F.1 of "Beyond CCA").

    Parameters
    ----------
    n_samples, n_features, n_components
        N, (M1, M2) and K.
    n_private
        Sources that each view has for itself; K by default.
    sources, private_sources
        "gamma" for the paper's gamma variables with random signs, or kinds of :func:`make_ica`: "super", "sub",
        "skewed", "gaussian", one for all or several in turn, with variance 1.
    shape, private_shape, length, private_length
        Of the gamma variables, as in :func:`make_discrete_cca`.
    loadings, private_loadings
        (D1, D2) and (F1, F2) to use instead of drawing them.
    random_state
        Seed.

    Examples
    --------
    >>> make_nongaussian_cca(500, (5, 6), 2).Y.shape
    (500, 6)
    """
    rng = np.random.default_rng(random_state)
    draws = [partial(_uniform_columns, rng)] * 2
    D = _loadings(n_features, n_components, loadings, draws)
    F = _loadings(n_features, n_components if n_private is None else n_private, private_loadings, draws)
    shared = _real_sources(rng, sources, n_samples, D[0].shape[1], shape, length)
    views = [
        shared @ own.T
        + _real_sources(rng, private_sources, n_samples, private.shape[1], private_shape, private_length) @ private.T
        for own, private in zip(D, F)
    ]
    return ViewSample(views[0], views[1], D[0], D[1], F[0], F[1], shared)


def make_mixed_cca(
    n_samples: int = 1000,
    n_features: tuple[int, int] = (20, 20),
    n_components: int = 10,
    *,
    n_private: int | None = None,
    shape: float = 0.3,
    private_shape: float = 0.1,
    length: float = 1000.0,
    private_length: float = 1000.0,
    loading_prior: float = 0.5,
    loadings: Pair | None = None,
    private_loadings: Pair | None = None,
    random_state: int = 0,
) -> ViewSample:
    """Draw measurements and counts from mixed CCA: X = D1 a + F1 b1, Y ~ Poisson(D2 a + F2 b2).

    The shared sources are gamma variables; the private ones of X have random signs, those of Y do not. Parameters
    are those of :func:`make_discrete_cca`, with K private sources per view by default.

    Examples
    --------
    >>> sample = make_mixed_cca(500, (5, 30), 3)
    >>> sample.X.dtype.kind, sample.Y.shape
    ('f', (500, 30))
    """
    rng = np.random.default_rng(random_state)
    draws = [partial(_uniform_columns, rng), partial(_simplex_columns, rng, loading_prior)]
    D = _loadings(n_features, n_components, loadings, draws)
    F = _loadings(n_features, n_components if n_private is None else n_private, private_loadings, draws)
    sources = _gamma(rng, n_samples, D[0].shape[1], shape, length)
    noise = _real_sources(rng, "gamma", n_samples, F[0].shape[1], private_shape, private_length)
    rates = sources @ D[1].T + _gamma(rng, n_samples, F[1].shape[1], private_shape, private_length) @ F[1].T
    counts = sparse.csr_array(rng.poisson(rates))
    return ViewSample(sources @ D[0].T + noise @ F[0].T, counts, D[0], D[1], F[0], F[1], sources)


def _loadings(
    n_features: tuple[int, int],
    n_columns: int,
    given: Pair | None,
    draws: Sequence[Callable[[tuple[int, int]], FloatArray]],
) -> list[FloatArray]:
    if given is None:
        return [_normalised(draw((size, n_columns)), size) for draw, size in zip(draws, n_features)]
    return [_normalised(columns, size) for columns, size in zip(given, n_features)]


def _simplex_columns(rng: Generator, prior: float, size: tuple[int, int]) -> FloatArray:
    return rng.dirichlet(np.full(size[0], prior), size[1]).T


def _uniform_columns(rng: Generator, size: tuple[int, int]) -> FloatArray:
    return rng.uniform(-1, 1, size)


def _normalised(columns: ArrayLike, size: int) -> FloatArray:
    """Scale columns to the l1 norm 1, as the paper does."""
    values = np.asarray(columns, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != size:
        raise ValueError(f"Loadings must be features x components with {size} rows; got the shape {values.shape}.")
    return values / np.abs(values).sum(axis=0)


def _gamma(rng: Generator, n_samples: int, n_columns: int, shape: float, length: float) -> FloatArray:
    """Gamma variables whose sum over the columns is the length in expectation: the rate is K c / L."""
    return rng.gamma(shape, length / (max(n_columns, 1) * shape), size=(n_samples, n_columns))


def _real_sources(
    rng: Generator, kinds: str | Sequence[str], n_samples: int, n_columns: int, shape: float, length: float
) -> FloatArray:
    if kinds == "gamma":
        signs = rng.integers(0, 2, size=(n_samples, n_columns)) * 2.0 - 1.0
        return signs * _gamma(rng, n_samples, n_columns, shape, length)
    return draw_sources(rng, kinds, n_samples, n_columns)
