"""Samplers of mixtures: models in which what is seen is independent given something hidden."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from polyad.base.arrays import FloatArray


@dataclass(frozen=True)
class MixtureSample:
    """Points of a mixture of spherical Gaussians, and the truth.

    Attributes
    ----------
    X
        N x M.
    labels
        The component of every point.
    weights, means, variances
        K, K x M and K.
    """

    X: FloatArray
    labels: NDArray[np.intp]
    weights: FloatArray
    means: FloatArray
    variances: FloatArray


def make_spherical_mixture(
    n_samples: int = 1000,
    n_features: int = 10,
    n_components: int = 3,
    *,
    separation: float = 4.0,
    shared: bool = False,
    weights: ArrayLike | None = None,
    means: ArrayLike | None = None,
    variances: ArrayLike | None = None,
    random_state: int = 0,
) -> MixtureSample:
    """Draw points from a mixture of spherical Gaussians.

    Parameters
    ----------
    n_samples, n_features, n_components
        N, M and K.
    separation
        Root mean square of the distance between two means, in standard deviations of a component along one axis.
    shared
        Whether all components have the variance 1; otherwise variances are drawn between 1/2 and 3/2.
    weights, means, variances
        To use instead of drawing them: K probabilities (drawn from a Dirichlet distribution with parameter 10), K x M
        means, K variances.
    random_state
        Seed.

    Examples
    --------
    >>> sample = make_spherical_mixture(500, 8, 3)
    >>> sample.X.shape, sample.means.shape, sample.variances.shape
    ((500, 8), (3, 8), (3,))
    """
    rng = np.random.default_rng(random_state)
    centres = _drawn_means(rng, n_components, n_features, separation) if means is None else np.asarray(means, float)
    K, M = centres.shape
    shares = drawn_weights(rng, K, weights)
    drawn = np.ones(K) if shared else np.asarray(rng.uniform(0.5, 1.5, K))
    sizes: FloatArray = drawn if variances is None else np.broadcast_to(np.asarray(variances, float), (K,)).copy()
    labels = rng.choice(K, n_samples, p=shares)
    X = centres[labels] + np.sqrt(sizes[labels])[:, None] * rng.standard_normal((n_samples, M))
    return MixtureSample(X, labels, shares, centres, sizes)


def _drawn_means(rng: Generator, K: int, M: int, separation: float) -> FloatArray:
    return rng.standard_normal((K, M)) * (separation / np.sqrt(2 * M))


def drawn_weights(rng: Generator, n_components: int, weights: ArrayLike | None) -> FloatArray:
    """Return probabilities of components: those given, or such as are drawn, none of them very small."""
    if weights is None:
        return rng.dirichlet(np.full(n_components, 10.0))
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != (n_components,) or shares.min() < 0 or abs(shares.sum() - 1) > 1e-8:
        raise ValueError(f"weights are {weights!r}; give {n_components} probabilities that sum to 1.")
    return shares


@dataclass(frozen=True)
class ChainSample:
    """Sequences of a hidden Markov model, and the truth.

    Attributes
    ----------
    X
        The rows of all sequences under each other: N x 1 symbols ("categorical"), or N x M.
    lengths
        Rows of each sequence.
    states
        The state of every row.
    start, transitions
        K and K x K.
    emissions
        K x M: probabilities of symbols, means or rates.
    variances
        K x M of Gaussian columns; ones for other kinds.
    """

    X: NDArray[Any]
    lengths: NDArray[np.int64]
    states: NDArray[np.intp]
    start: FloatArray
    transitions: FloatArray
    emissions: FloatArray
    variances: FloatArray


def make_hmm(
    n_sequences: int = 10,
    length: int | tuple[int, int] = 200,
    n_features: int = 8,
    n_components: int = 3,
    *,
    emission: str = "categorical",
    stay: float = 0.7,
    separation: float = 4.0,
    trials: int = 10,
    start: ArrayLike | None = None,
    transitions: ArrayLike | None = None,
    emissions: ArrayLike | None = None,
    variances: ArrayLike | None = None,
    random_state: int = 0,
) -> ChainSample:
    """Draw sequences from a hidden Markov model.

    Parameters
    ----------
    n_sequences, length
        How many, and the rows of each: a number, or the smallest and the largest.
    n_features, n_components
        M, symbols or columns, and K.
    emission
        "categorical", "multinomial" (with ``trials`` counts per row), "poisson" or "gaussian".
    stay
        Probability of staying in a state, where transitions are drawn.
    separation
        Of the means of Gaussian columns, as in :func:`make_spherical_mixture`.
    trials
        Counts of a row.
    start, transitions, emissions, variances
        To use instead of drawing them.
    random_state
        Seed.

    Examples
    --------
    >>> sample = make_hmm(5, (20, 40), 6, 2)
    >>> sample.X.shape[0] == sample.lengths.sum(), sample.emissions.shape
    (np.True_, (2, 6))
    """
    rng = np.random.default_rng(random_state)
    if emission not in ("categorical", "multinomial", "poisson", "gaussian"):
        raise ValueError(f"emission is {emission!r}; give 'categorical', 'multinomial', 'poisson' or 'gaussian'.")
    shown = _drawn_emissions(rng, emission, n_components, n_features, separation) if emissions is None else emissions
    rates = np.asarray(shown, dtype=np.float64)
    K, M = rates.shape
    first = drawn_weights(rng, K, start)
    moves = _drawn_transitions(rng, K, stay) if transitions is None else np.asarray(transitions, dtype=np.float64)
    spread = np.ones((K, M)) if variances is None else np.broadcast_to(np.asarray(variances, float), (K, M)).copy()
    low, high = (length, length) if isinstance(length, int | np.integer) else length
    lengths = rng.integers(low, high + 1, n_sequences)
    states = np.concatenate([_path(rng, first, moves, int(size)) for size in lengths])
    return ChainSample(
        _shown(rng, emission, rates, spread, states, trials), lengths, states, first, moves, rates, spread
    )


def _drawn_emissions(rng: Generator, emission: str, K: int, M: int, separation: float) -> FloatArray:
    if emission == "gaussian":
        return _drawn_means(rng, K, M, separation)
    if emission == "poisson":
        return np.asarray(rng.gamma(1.0, 5.0, (K, M)))
    return np.asarray(rng.dirichlet(np.full(M, 0.5), K))


def _drawn_transitions(rng: Generator, K: int, stay: float) -> FloatArray:
    if K == 1:
        return np.ones((1, 1))
    others = rng.dirichlet(np.ones(K - 1), K) * (1 - stay)
    moves = np.full((K, K), stay)
    moves[~np.eye(K, dtype=bool)] = others.ravel()
    return moves


def _path(rng: Generator, start: FloatArray, transitions: FloatArray, size: int) -> NDArray[np.intp]:
    draws, first, steps = rng.random(size), np.cumsum(start), np.cumsum(transitions, axis=1)
    states = np.zeros(size, np.intp)
    for t in range(size):
        cumulated = first if t == 0 else steps[states[t - 1]]
        states[t] = min(int(np.searchsorted(cumulated, draws[t], side="right")), start.size - 1)
    return states


def _shown(
    rng: Generator, emission: str, rates: FloatArray, spread: FloatArray, states: NDArray[np.intp], trials: int
) -> NDArray[Any]:
    if emission == "gaussian":
        return rates[states] + np.sqrt(spread[states]) * rng.standard_normal((states.size, rates.shape[1]))
    if emission == "poisson":
        return rng.poisson(rates[states])
    if emission == "multinomial":
        return rng.multinomial(trials, rates[states] / rates[states].sum(axis=1, keepdims=True))
    cumulated = np.cumsum(rates, axis=1)[states]
    symbols = (rng.random((states.size, 1)) > cumulated).sum(axis=1)
    return np.minimum(symbols, rates.shape[1] - 1)[:, None]


@dataclass(frozen=True)
class MultiViewSample:
    """Rows of a mixture with several views, and the truth.

    Attributes
    ----------
    views
        A list, one array for each view; NaN where nothing was seen.
    labels
        The class of every row.
    weights
        K.
    components
        A list, K x M_v: probabilities of columns or of ones, or means; Gaussian columns have the variance 1.
    kinds
        The kind of each view.
    """

    views: list[Any]
    labels: NDArray[np.intp]
    weights: FloatArray
    components: list[FloatArray]
    kinds: tuple[str, ...]


def make_multiview_mixture(
    n_samples: int = 1000,
    n_features: Sequence[int] = (10, 10, 10),
    n_components: int = 3,
    *,
    kinds: Sequence[str] = ("counts", "binary", "gaussian"),
    length: int = 20,
    separation: float = 4.0,
    missing: float = 0.0,
    weights: ArrayLike | None = None,
    components: Sequence[ArrayLike] | None = None,
    random_state: int = 0,
) -> MultiViewSample:
    """Draw rows from a mixture of classes that several views show.

    Parameters
    ----------
    n_samples, n_features, n_components
        N, columns (or categories) of each view, and K.
    kinds
        Of each view: "counts", "categorical", "binary" or "gaussian".
    length
        Counts of a row of a view of counts.
    separation
        Of the means of Gaussian views, as in :func:`make_spherical_mixture`.
    missing
        Share of the values of binary, Gaussian and categorical views that are NaN.
    weights, components
        To use instead of drawing them.
    random_state
        Seed.

    Examples
    --------
    >>> sample = make_multiview_mixture(100, (5, 4, 3), 2, missing=0.1)
    >>> [view.shape for view in sample.views], bool(np.isnan(sample.views[1]).any())
    ([(100, 5), (100, 4), (100, 3)], True)
    """
    rng = np.random.default_rng(random_state)
    shares = drawn_weights(rng, n_components, weights)
    if len(kinds) != len(n_features):
        raise ValueError(
            f"There are {len(kinds)} kinds and {len(n_features)} numbers of columns: give one of each for every view."
        )
    drawn = [_drawn_view(rng, kind, shares.size, M, separation) for kind, M in zip(kinds, n_features)]
    shown = drawn if components is None else [np.asarray(view, dtype=np.float64) for view in components]
    labels = rng.choice(shares.size, n_samples, p=shares)
    views = draw_views(rng, kinds, shown, [np.ones_like(view) for view in shown], labels, length)
    for number, kind in enumerate(kinds):
        if kind != "counts" and missing > 0:
            values = views[number].astype(np.float64)
            values[rng.random(values.shape) < missing] = np.nan
            views[number] = values
    return MultiViewSample(views, labels, shares, shown, tuple(kinds))


def _drawn_view(rng: Generator, kind: str, K: int, M: int, separation: float) -> FloatArray:
    if kind == "gaussian":
        return _drawn_means(rng, K, M, separation)
    if kind == "binary":
        return np.asarray(rng.beta(0.7, 0.7, (K, M)))
    if kind in ("counts", "categorical"):
        return np.asarray(rng.dirichlet(np.full(M, 0.5), K))
    raise ValueError(f"kinds has {kind!r}; the kinds are 'counts', 'categorical', 'binary' and 'gaussian'.")


def draw_views(
    rng: Generator,
    kinds: Sequence[str],
    components: Sequence[FloatArray],
    variances: Sequence[FloatArray | None],
    labels: NDArray[np.intp],
    length: int,
) -> list[Any]:
    """Return rows of every view for given classes; counts are sparse."""
    views: list[Any] = []
    for kind, shown, spread in zip(kinds, components, variances):
        means = shown[labels]
        if kind == "gaussian":
            scale = 1.0 if spread is None else np.sqrt(spread[labels])
            views.append(means + scale * rng.standard_normal(means.shape))
        elif kind == "binary":
            views.append((rng.random(means.shape) < means).astype(np.float64))
        else:
            drawn = rng.multinomial(length if kind == "counts" else 1, means / means.sum(axis=1, keepdims=True))
            views.append(sparse.csr_array(drawn) if kind == "counts" else drawn.argmax(axis=1)[:, None])
    return views
