"""The single-topic model: one topic a document, so that the posterior is exact."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from polyad.engine import Block, Blocks, Runner
from polyad.engine.blocks import FloatArray


@dataclass(frozen=True)
class MixturePolished:
    """Topics and their probabilities after the last pass of EM.

    Attributes
    ----------
    components, weights
        K x M topics and K probabilities.
    topic_tokens
        Expected tokens of each topic.
    objective
        Penalised log-likelihood per token that each pass found, of the parameters it started from: it never falls.
    """

    components: FloatArray
    weights: FloatArray
    topic_tokens: FloatArray
    objective: tuple[float, ...]


def topic_posterior(components: FloatArray, weights: FloatArray, blocks: Blocks, run: Runner) -> FloatArray:
    """Return the exact posterior of each document's topic, N x K (Remark 1 of the SVTD paper).

    A document without tokens gets the topic probabilities themselves.
    """
    log_topics = np.log(np.maximum(components, 1e-300)).T.copy()
    log_weights = np.log(np.maximum(weights, 1e-300))
    posterior = np.empty((blocks.shape[0], weights.size))

    def block_posterior(block: Block) -> int:
        joint = block.rows @ log_topics + log_weights
        posterior[block.slice] = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        return 0

    run(block_posterior, blocks)
    return posterior


def mixture_log_likelihood(components: FloatArray, weights: FloatArray, blocks: Blocks, run: Runner) -> float:
    """Return the exact log-likelihood of the token sequences of all documents."""
    log_topics = np.log(np.maximum(components, 1e-300)).T.copy()
    log_weights = np.log(np.maximum(weights, 1e-300))
    return run(lambda block: float(logsumexp(block.rows @ log_topics + log_weights, axis=1).sum()), blocks)


def polish_mixture(
    blocks: Blocks,
    components: FloatArray,
    weights: FloatArray,
    run: Runner,
    *,
    n_passes: int,
    smoothing: float,
    progress: Callable[[int], object] | None = None,
) -> MixturePolished:
    """Improve a mixture of topics by passes of EM, each a sum over blocks.

    Parameters
    ----------
    blocks, run
        The counts, and how a pass over them is run.
    components, weights
        Where to start.
    n_passes
        How many passes.
    smoothing
        Tokens added to every word of every topic.
    progress
        Called with the number of each finished pass.
    """
    N, M = blocks.shape
    K = weights.size
    topics, shares = components, weights
    objective: list[float] = []
    tokens = np.zeros(K)
    for number in range(n_passes):
        log_topics = np.log(np.maximum(topics, 1e-300)).T.copy()
        log_shares = np.log(np.maximum(shares, 1e-300))

        def block_sums(
            block: Block, log_topics: FloatArray = log_topics, log_shares: FloatArray = log_shares
        ) -> tuple[FloatArray, FloatArray, float, float]:
            joint = block.rows @ log_topics + log_shares
            evidence = logsumexp(joint, axis=1, keepdims=True)
            posterior = np.exp(joint - evidence)
            return block.rows.T @ posterior, posterior.sum(axis=0), float(evidence.sum()), float(block.rows.sum())

        counts, documents, likelihood, n_tokens = run(block_sums, blocks)
        penalty = smoothing * float(log_topics.sum()) + float(log_shares.sum())
        objective.append((likelihood + penalty) / max(n_tokens, 1.0))
        tokens = counts.sum(axis=0)
        topics = ((counts + smoothing) / (tokens + M * smoothing)).T
        shares = (documents + 1) / (N + K)
        if progress is not None:
            progress(number + 1)
    return MixturePolished(topics, shares, tokens, tuple(objective))
