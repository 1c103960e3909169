"""What tells the components of a mixture apart: what its likelihood loses where two of them are put together.

Two components put together have the weight, the mean and the second moment of both: of all mixtures with one component
fewer and the others as they are, EM would go there from the two. Everything is read off the parameters, and one pass
over the data finds the losses of all pairs.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, new_states, step, total
from polyad.inference.kernels.chains import forward_likelihood
from polyad.inference.mixtures.chains import Chain, in_ranges
from polyad.inference.mixtures.classes import ClassMixture
from polyad.inference.mixtures.emissions import TINY, Bernoulli, Emission, Gaussian, Multinomial, Poisson
from polyad.inference.mixtures.gaussian import GaussianMixtureParameters, joint_densities

N_NEAR = 2  # others that each component is put together with: the nearest ones
EMPTY = 1e-12  # weight below which a component has no rows, and rounding is all that is known of its distances
FAR = 1e300

Pairs = NDArray[np.intp]  # P x 2


def near_pairs(distances: FloatArray, weights: FloatArray) -> Pairs:
    """Return the pairs of every component with those nearest to it, P x 2.

    Near for the row of a component, not for all rows: of those, a component with few of them, however far away, loses
    less by any pair than two halves of one.

    Parameters
    ----------
    distances
        What a row loses on average by each pair put together, K x K.
    weights
        K.

    Examples
    --------
    >>> distances = np.array([[0.0, 1, 9, 8], [1, 0, 7, 9], [9, 7, 0, 2], [8, 9, 2, 0]])
    >>> near_pairs(distances, np.full(4, 0.25)).tolist()
    [[0, 1], [0, 3], [1, 2], [2, 3]]
    """
    sums = np.maximum(weights[:, None] + weights, TINY)
    of_both = weights[:, None] * weights / sums  # that of the lighter one, but for a factor of 2 at most
    away = np.where(of_both > EMPTY, distances / np.maximum(of_both, EMPTY), FAR)
    np.fill_diagonal(away, np.inf)
    nearest = np.argsort(away, axis=1, kind="stable")[:, : min(N_NEAR, len(away) - 1)]
    pairs = np.stack([np.repeat(np.arange(len(away)), nearest.shape[1]), nearest.ravel()], axis=1)
    return np.unique(np.sort(pairs, axis=1), axis=0)


def shares_in_pairs(weights: FloatArray, pairs: Pairs) -> FloatArray:
    """Return the share of each component in the weight of its pair, P x 2; halves where neither has any."""
    of_pairs = weights[pairs]
    sums = of_pairs.sum(axis=1, keepdims=True)
    return np.where(sums > 0, of_pairs / np.maximum(sums, TINY), 0.5)


def merged_emission(emission: Emission, pairs: Pairs, shares: FloatArray) -> Emission:
    """Return what pairs of components show together."""

    def mean(values: FloatArray) -> FloatArray:
        return np.asarray(shares[:, :1] * values[pairs[:, 0]] + shares[:, 1:] * values[pairs[:, 1]])

    if isinstance(emission, Poisson):
        return replace(emission, rates=mean(emission.rates))
    if isinstance(emission, Multinomial | Bernoulli):
        return replace(emission, probabilities=mean(emission.probabilities))
    assert isinstance(emission, Gaussian)
    between = shares.prod(axis=1)[:, None] * (emission.means[pairs[:, 0]] - emission.means[pairs[:, 1]]) ** 2
    return replace(emission, means=mean(emission.means), variances=mean(emission.variances) + between)


def merged_gaussians(mixture: GaussianMixtureParameters, pairs: Pairs) -> GaussianMixtureParameters:
    """Return what pairs of Gaussians are together, with covariances of the same kind; weights are those of both."""
    shares = shares_in_pairs(mixture.weights, pairs)
    first, second = pairs.T
    means = shares[:, :1] * mixture.means[first] + shares[:, 1:] * mixture.means[second]
    apart = mixture.means[first] - mixture.means[second]
    kind = mixture.covariances.ndim
    between = (apart**2).mean(axis=1) if kind == 1 else apart**2 if kind == 2 else apart[:, :, None] * apart[:, None, :]
    one, other, product = (
        share.reshape(-1, *[1] * (kind - 1)) for share in (shares[:, 0], shares[:, 1], shares.prod(axis=1))
    )
    within = one * mixture.covariances[first] + other * mixture.covariances[second]
    return GaussianMixtureParameters(mixture.weights[pairs].sum(axis=1), means, within + product * between)


def emission_distances(emission: Emission, weights: FloatArray) -> FloatArray:
    """Return what a row (a token, of counts) would lose on average by a pair put together, were its component known.

    K x K. It is the weight of both times the divergence of Jensen and Shannon; of Gaussians it is measured from the
    Gaussian with their mean and variance.
    """
    K = emission.n_components
    own = _contents(emission)
    distances = np.zeros((K, K))
    for k in range(1, K):
        pairs = np.stack([np.arange(k), np.full(k, k)], axis=1)
        together = _contents(merged_emission(emission, pairs, shares_in_pairs(weights, pairs)))
        of_both = weights[pairs].sum(axis=1)
        distances[k, :k] = weights[:k] * own[:k] + weights[k] * own[k] - of_both * together
    return distances + distances.T


def gaussian_distances(mixture: GaussianMixtureParameters) -> FloatArray:
    """Return the same for Gaussians with covariances of any kind."""
    K = mixture.weights.size
    own = _log_determinants(mixture)
    distances = np.zeros((K, K))
    for k in range(1, K):
        pairs = np.stack([np.arange(k), np.full(k, k)], axis=1)
        together = merged_gaussians(mixture, pairs)
        within = mixture.weights[:k] * own[:k] + mixture.weights[k] * own[k]
        distances[k, :k] = 0.5 * (together.weights * _log_determinants(together) - within)
    return distances + distances.T


def _contents(emission: Emission) -> FloatArray:
    """Return what each component's rows say on average, in nats, but for a part that is linear in its means."""
    if isinstance(emission, Poisson):
        return np.asarray(xlogy(emission.rates, emission.rates).sum(axis=1))
    if isinstance(emission, Multinomial):
        return np.asarray(xlogy(emission.probabilities, emission.probabilities).sum(axis=1))
    if isinstance(emission, Bernoulli):
        ones = emission.probabilities
        return np.asarray((xlogy(ones, ones) + xlogy(1 - ones, 1 - ones)).sum(axis=1))
    assert isinstance(emission, Gaussian)
    return np.asarray(-0.5 * np.log(emission.variances).sum(axis=1))


def _log_determinants(mixture: GaussianMixtureParameters) -> FloatArray:
    covariances, M = mixture.covariances, mixture.means.shape[1]
    if covariances.ndim == 1:
        return M * np.log(covariances)
    return np.log(covariances).sum(axis=1) if covariances.ndim == 2 else np.linalg.slogdet(covariances)[1]


def n_told(emission: Emission, amounts: FloatArray) -> FloatArray:
    """Return how many of its parameters the rows of each component can tell.

    A word of which a component is expected to have less than one says as much less.

    Parameters
    ----------
    emission
        Of some components.
    amounts
        Of each, its expected rows; of counts its tokens.

    Examples
    --------
    >>> n_told(Multinomial(np.array([[0.9, 0.09, 0.01]])), np.array([10.0])).round(6)
    array([1.])
    """
    if isinstance(emission, Gaussian):
        return np.full(emission.n_components, 2.0 * emission.means.shape[1])
    per_column = amounts[:, None]
    if isinstance(emission, Poisson):
        return np.asarray(np.minimum(per_column * emission.rates, 1.0).sum(axis=1))
    assert isinstance(emission, Multinomial | Bernoulli)
    ones = emission.probabilities
    if isinstance(emission, Bernoulli):
        return np.asarray(np.minimum(per_column * np.minimum(ones, 1 - ones), 1.0).sum(axis=1))
    return np.asarray(np.maximum(np.minimum(per_column * ones, 1.0).sum(axis=1) - 1, 0.0))


def amounts_of(source: Source, emissions: Sequence[Emission]) -> FloatArray:
    """Return how much of each view there is, V: the tokens of counts, and the rows of others."""
    return np.asarray(total(_amounts, source, tuple(isinstance(shown, Multinomial) for shown in emissions)))


def _amounts(block: Block, are_counts: tuple[bool, ...]) -> FloatArray:
    sizes = [float(view.sum()) if counts else block.n_rows for view, counts in zip(block.views, are_counts)]
    return np.array(sizes, dtype=np.float64)


def class_losses(source: Source, mixture: ClassMixture, pairs: Pairs) -> FloatArray:
    """Return what the log-likelihood of all rows loses by each pair of classes put together, P."""
    shares = shares_in_pairs(mixture.weights, pairs)
    shown = tuple(None if one is None else merged_emission(one, pairs, shares) for one in mixture.emissions)
    together = ClassMixture(mixture.weights[pairs].sum(axis=1), shown)
    return np.asarray(total(_class_losses, source, mixture, together, pairs))


def _class_losses(block: Block, mixture: ClassMixture, together: ClassMixture, pairs: Pairs) -> FloatArray:
    return lost(mixture.joint(block), together.joint(block), pairs)


def gaussian_losses(source: Source, mixture: GaussianMixtureParameters, pairs: Pairs) -> FloatArray:
    """Return the same for a mixture of Gaussians."""
    return np.asarray(total(_gaussian_losses, source, mixture, merged_gaussians(mixture, pairs), pairs))


def _gaussian_losses(
    block: Block, mixture: GaussianMixtureParameters, together: GaussianMixtureParameters, pairs: Pairs
) -> FloatArray:
    centre = mixture.weights @ mixture.means
    return lost(joint_densities(block, mixture, centre), joint_densities(block, together, centre), pairs)


def lost(joint: FloatArray, together: FloatArray, pairs: Pairs) -> FloatArray:
    """Return the loss of each pair in some rows, P, from log p(component, row), n x K, and those of pairs, n x P.

    Examples
    --------
    >>> densities = np.log(np.array([[0.2, 0.1, 0.1]]))
    >>> lost(densities, np.log(np.array([[0.1], ])), np.array([[0, 1]])).round(6) == np.log(2).round(6)
    array([ True])
    """
    largest = joint.max(axis=1, keepdims=True)
    posterior = np.exp(joint - largest)
    sums = posterior.sum(axis=1, keepdims=True)
    evidence = largest + np.log(sums)
    posterior /= sums
    found = np.empty(len(pairs))
    for number, (one, other) in enumerate(pairs):
        rest = np.maximum(1 - posterior[:, one] - posterior[:, other], TINY)
        found[number] = -np.logaddexp(np.log(rest), together[:, number] - evidence[:, 0]).sum()
    return found


def merged_chain(chain: Chain, weights: FloatArray, pair: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Return the first states and the transitions of a chain with two states put together, which come last.

    Parameters
    ----------
    chain
        With K states.
    weights
        Rows of each in the long run, K.
    pair
        Two numbers.
    """
    K = weights.size
    share = shares_in_pairs(weights, pair[None])[0]
    others = np.delete(np.arange(K), pair)
    rows = np.vstack([chain.transitions[others], share @ chain.transitions[pair]])
    return np.append(chain.start[others], chain.start[pair].sum()), np.ascontiguousarray(
        np.hstack([rows[:, others], rows[:, pair].sum(axis=1, keepdims=True)])
    )


def chain_losses(source: Source, chain: Chain, weights: FloatArray, pairs: Pairs) -> FloatArray:
    """Return what the log-likelihood of all sequences loses by each pair of states put together, P."""
    shown = merged_emission(chain.emission, pairs, shares_in_pairs(weights, pairs))
    chains = tuple(merged_chain(chain, weights, pair) for pair in pairs)
    return np.asarray(step(_chain_losses, source, new_states(source), chain, shown, chains, pairs)[0])


def _chain_losses(
    shard: Block,
    state: None,
    chain: Chain,
    together: Emission,
    chains: tuple[tuple[FloatArray, FloatArray], ...],
    pairs: Pairs,
) -> tuple[FloatArray, None]:
    def work(block: Block, begins: NDArray[np.int64]) -> Any:
        logs, of_pairs = chain.emission.log_densities(block.views[0]), together.log_densities(block.views[0])
        whole = forward_likelihood(np.ascontiguousarray(logs), begins, chain.start, chain.transitions)
        found = np.empty(len(pairs))
        for number, (pair, (start, transitions)) in enumerate(zip(pairs, chains)):
            columns = np.hstack([np.delete(logs, pair, axis=1), of_pairs[:, number : number + 1]])
            found[number] = whole - forward_likelihood(columns, begins, start, transitions)
        return found

    return in_ranges(shard, work), None
