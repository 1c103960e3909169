"""The single-topic model: one topic per document, so that the posterior is exact."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, one_round, rows, total
from polyad.inference.heldout import RandomState, refuse_nothing_to_predict, split_block
from polyad.inference.kernels.evaluation import seed_of
from polyad.inference.presets import Preset


@dataclass(frozen=True)
class MixturePolished:
    """Topics and their probabilities after the last pass of EM."""

    # K x M topics and K probabilities.
    components: FloatArray
    weights: FloatArray
    topic_tokens: FloatArray  # expected tokens of each topic
    # Penalised log-likelihood per token that each pass found, of the parameters it started from: it never falls.
    objective: tuple[float, ...]


@dataclass(frozen=True)
class _LogMixture:
    """Logarithms of a mixture: topics M x K, and their probabilities K."""

    topics: FloatArray
    weights: FloatArray

    def joint(self, block: Block) -> FloatArray:
        """Return log p(topic, tokens) of the documents of a block, N x K."""
        joint: FloatArray = block.rows @ self.topics + self.weights
        return joint


def _logarithms(components: FloatArray, weights: FloatArray) -> _LogMixture:
    return _LogMixture(np.log(np.maximum(components, 1e-300)).T.copy(), np.log(np.maximum(weights, 1e-300)))


def topic_posterior(components: FloatArray, weights: FloatArray, source: Source) -> FloatArray:
    """Return the exact posterior of each document's topic, N x K (Remark 1 of the SVTD paper).

    A document without tokens gets the topic probabilities themselves.
    """
    return rows(_posterior, source, _logarithms(components, weights))


def _posterior(block: Block, mixture: _LogMixture) -> FloatArray:
    joint = mixture.joint(block)
    return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


def mixture_completion(
    components: FloatArray, weights: FloatArray, source: Source, *, random_state: RandomState = 0
) -> tuple[float, float]:
    """Return log p(second half | first half) of all documents, exactly, and the tokens of the second halves.

    The halves are those of :func:`polyad.inference.completion_bits`.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> mixture_completion(np.array([[0.5, 0.5]]), np.ones(1), count_blocks([[2, 1]]))
    (-1.386..., 2.0)
    """
    found, n_tokens = total(_completed, source, _logarithms(components, weights), seed_of(random_state))
    if n_tokens == 0:
        refuse_nothing_to_predict(source.n_rows)
    return found, n_tokens


def _completed(block: Block, mixture: _LogMixture, seed: np.uint64) -> tuple[float, float]:
    observed, hidden = split_block(block, seed)
    given = observed @ mixture.topics + mixture.weights
    both = given + hidden @ mixture.topics
    log_likelihood = logsumexp(both, axis=1) - logsumexp(given, axis=1)
    return float(log_likelihood.sum()), float(hidden.sum())


def polish_mixture(
    source: Source, components: FloatArray, weights: FloatArray, *, preset: Preset, smoothing: float
) -> MixturePolished:
    """Improve a mixture of topics by passes of EM, each a sum over blocks.

    Parameters
    ----------
    source
        The counts.
    components, weights
        Where to start.
    preset
        How many passes, and when to stop.
    smoothing
        Tokens added to every word of every topic.
    """
    N, M = source.shape
    K = weights.size
    topics, shares = components, weights
    objective: list[float] = []
    tokens = np.zeros(K)
    for number in range(1, preset.most_passes + 1):
        with one_round(number, preset.most_passes, passes=1) as found:
            mixture = _logarithms(topics, shares)
            counts, documents, likelihood, n_tokens = total(_expected_counts, source, mixture)
            penalty = smoothing * float(mixture.topics.sum()) + float(mixture.weights.sum())
            objective.append((likelihood + penalty) / max(n_tokens, 1.0))
            found.append(objective[-1])
        tokens = counts.sum(axis=0)
        topics = ((counts + smoothing) / (tokens + M * smoothing)).T
        shares = (documents + 1) / (N + K)
        gained = (objective[-1] - objective[-2]) * n_tokens / N if number > 1 else np.inf
        if preset.has_enough(gained, number, K, n_tokens):
            break
    return MixturePolished(topics, shares, tokens, tuple(objective))


def _expected_counts(block: Block, mixture: _LogMixture) -> tuple[FloatArray, FloatArray, float, float]:
    joint = mixture.joint(block)
    evidence = logsumexp(joint, axis=1, keepdims=True)
    posterior = np.exp(joint - evidence)
    return block.rows.T @ posterior, posterior.sum(axis=0), float(evidence.sum()), float(block.tokens.sum())
