"""How well rows determine each component of a mixture: what the likelihood loses without it, beside noise."""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.decompose.certainty import certainty
from polyad.engine import Source
from polyad.inference.mixtures.chains import Chain, stationary
from polyad.inference.mixtures.classes import ClassMixture
from polyad.inference.mixtures.emissions import Multinomial
from polyad.inference.mixtures.gaussian import GaussianMixtureParameters
from polyad.inference.mixtures.merging import (
    Pairs,
    amounts_of,
    chain_losses,
    class_losses,
    emission_distances,
    gaussian_distances,
    gaussian_losses,
    merged_emission,
    n_told,
    near_pairs,
    shares_in_pairs,
)
from polyad.inference.mixtures.moves import parameters_of_one


def pairs_certainty(losses: FloatArray, n_parameters: FloatArray, weights: FloatArray, pairs: Pairs) -> FloatArray:
    """Return the certainty of each component, K, from what is lost by pairs of them put together.

    In the metric of the information that the rows have of what tells the two of a pair apart, it has a length d of
    which the likelihood loses d^2 / 2 without the one. Noise adds h to d^2 in a direction that is given
    (:func:`noise_gain`), and up to 2 h in the one that it chooses itself: h / (d^2 - 2 h) is the squared tangent of the
    angle by which it turns what tells them apart. Where nothing does, any other parting of what both have would do as
    well: of the rows of a component of weight w, beside one of weight v, a share 1 - v / w is in it in all of them.

    Parameters
    ----------
    losses
        Of the log-likelihood of all rows, by each pair put together, P.
    n_parameters
        That tell the two of a pair apart, P.
    weights
        K.
    pairs
        P x 2.

    Examples
    --------
    >>> pairs_certainty(np.array([40.0]), np.array([4.0]), np.array([0.5, 0.5]), np.array([[0, 1]])).round(3)
    array([0.889, 0.889])
    >>> pairs_certainty(np.array([1.0]), np.array([4.0]), np.array([0.8, 0.2]), np.array([[0, 1]]))
    array([0.75, 0.  ])
    """
    noise = noise_gain(n_parameters)
    left = np.maximum(2 * losses - 2 * noise, 0.0)
    told = left / (left + noise)
    turned = np.zeros(weights.size)
    for pair, sure in zip(pairs, told):
        for own, other in (pair, pair[::-1]):
            kept = max(1 - weights[other] / weights[own], 0.0) if weights[own] > 0 else 0.0
            cosine = sure + (1 - sure) * kept
            turned[own] += 1 / cosine - 1 if cosine > 0 else np.inf
    return certainty(turned)


def noise_gain(n_parameters: FloatArray) -> FloatArray:
    """Return how much noise adds to the squared length of p parameters, in the metric of their information.

    Twice the log-likelihood that p parameters of noise gain has the mean p and the standard deviation sqrt(2 p): this
    is p + 2 sqrt(p). EM parts a component where noise does most, and that is twice as much: of N points of noise in M
    columns the largest eigenvalue of the covariance is 1 + 2 sqrt(M / N), and two components along it gain 2 M.

    Examples
    --------
    >>> noise_gain(np.array([4.0, 100.0]))
    array([  8., 120.])
    """
    return np.asarray(n_parameters + 2 * np.sqrt(n_parameters), dtype=np.float64)


def class_certainty(source: Source, mixture: ClassMixture) -> FloatArray:
    """Return the certainty of each class of a mixture with several views, K."""
    weights = mixture.weights
    if weights.size < 2:
        return np.ones(weights.size)
    emissions = [emission for emission in mixture.emissions if emission is not None]
    amounts = amounts_of(source, emissions)
    distances = sum(
        emission_distances(emission, weights) * amount for emission, amount in zip(emissions, amounts / source.n_rows)
    )
    pairs = near_pairs(np.asarray(distances), weights)
    shares, of_pairs = shares_in_pairs(weights, pairs), weights[pairs].sum(axis=1)
    n_parameters = np.ones(len(pairs))  # how much of the two each is
    for emission, amount in zip(emissions, amounts):
        n_parameters += n_told(merged_emission(emission, pairs, shares), amount * of_pairs)
    return pairs_certainty(class_losses(source, mixture, pairs), n_parameters, weights, pairs)


def gaussian_certainty(source: Source, mixture: GaussianMixtureParameters, *, shared: bool) -> FloatArray:
    """Return the certainty of each component of a mixture of Gaussians, K."""
    K, M = mixture.means.shape
    if K < 2:
        return np.ones(K)
    pairs = near_pairs(gaussian_distances(mixture), mixture.weights)
    kind = {1: "spherical", 2: "diag", 3: "full"}[mixture.covariances.ndim]
    n_parameters = np.full(len(pairs), 1.0 + M if shared else parameters_of_one(M, kind))
    return pairs_certainty(gaussian_losses(source, mixture, pairs), n_parameters, mixture.weights, pairs)


def chain_certainty(source: Source, chain: Chain) -> FloatArray:
    """Return the certainty of each state of a hidden Markov model, K."""
    weights = stationary(chain.transitions)
    if weights.size < 2:
        return np.ones(weights.size)
    N, amount = source.n_rows, amounts_of(source, [chain.emission])[0]
    following = Multinomial(chain.transitions)
    shown = emission_distances(chain.emission, weights) * (amount / N)
    pairs = near_pairs(shown + emission_distances(following, weights), weights)
    shares, of_pairs = shares_in_pairs(weights, pairs), weights[pairs].sum(axis=1)
    n_parameters = 1 + n_told(merged_emission(chain.emission, pairs, shares), amount * of_pairs)
    n_parameters += n_told(merged_emission(following, pairs, shares), N * of_pairs)
    arriving = N * weights[:, None] * chain.transitions  # rows in a state that come from another, K x K
    n_parameters += np.minimum(arriving[:, pairs].sum(axis=2), 1.0).sum(axis=0)
    return pairs_certainty(chain_losses(source, chain, weights, pairs), n_parameters, weights, pairs)
