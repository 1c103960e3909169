"""Hidden Markov models: passes over sequences, each a step over shards of whole ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, Stacked, new_states, step, sum_over
from polyad.inference.kernels.chains import forward_backward, likeliest_paths
from polyad.inference.mixtures.emissions import TINY, Emission, log_prior, stretched
from polyad.inference.mixtures.passes import Passes, further_shares, passes_of_em

RANGE_ROWS = 1 << 14  # of the sequences that one thread works on at a time


@dataclass(frozen=True)
class Chain:
    """Parameters of a hidden Markov model."""

    # K probabilities of the first state, and K x K, rows of probabilities of the next one.
    start: FloatArray
    transitions: FloatArray
    emission: Emission  # what states show

    def taken(self, order: Any) -> "Chain":
        """Return the states in another order."""
        return Chain(self.start[order], self.transitions[np.ix_(order, order)], self.emission.taken(order))


@dataclass(frozen=True)
class PolishedChain(Passes):
    """A chain after passes of Baum and Welch."""

    chain: Chain  # its parameters


def polish_chain(
    source: Source,
    chain: Chain,
    *,
    max_iter: int,
    tol: float,
    prior: float = 0.0,
    first: int = 1,
    most: int | None = None,
) -> PolishedChain:
    """Improve a hidden Markov model by passes of EM (Baum and Welch), which go further than EM says.

    Parameters
    ----------
    source
        Sequences: see :func:`polyad.engine.sequences.sequences_of`.
    chain
        Where to start.
    max_iter, tol
        Passes at most, and the gain per row, in nats, below which they end.
    prior
        Transitions of each kind, and first states, that are added to those expected.
    first, most
        Number of the first pass, and of passes in all, for the report of progress.
    """
    states: Sequence[Any] = new_states(source)

    def expected(chain: Chain) -> tuple[float, Callable[[], Chain]]:
        nonlocal states
        sums, states = step(_expected, source, states, chain)
        return (sums[3] + _log_prior(chain, prior)) / source.n_rows, lambda: _maximised(sums, chain, prior)

    went, found = passes_of_em(
        chain, expected, max_iter=max_iter, tol=tol, stretched=_stretched, first=first, most=most
    )
    return PolishedChain(went.objective, went.converged, found)


def _maximised(sums: Sequence[Any], chain: Chain, prior: float) -> Chain:
    """Return the chain that the expected sums of a pass ask for."""
    return Chain(
        _normalised(sums[1] + prior, chain.start),
        _normalised(sums[2] + prior, chain.transitions),
        chain.emission.maximised(sums[0]),
    )


def _stretched(before: Chain, after: Chain, stretch: float) -> Chain:
    """Return a chain further along the way from one to another."""
    return Chain(
        further_shares(before.start, after.start, stretch),
        further_shares(before.transitions, after.transitions, stretch),
        stretched(before.emission, after.emission, stretch),
    )


def _log_prior(chain: Chain, prior: float) -> float:
    logs = np.log(np.maximum(chain.transitions, TINY)).sum() + np.log(np.maximum(chain.start, TINY)).sum()
    return prior * float(logs) + log_prior(chain.emission)


def _normalised(counts: FloatArray, before: FloatArray) -> FloatArray:
    """Return shares of counts; where there are none, those of before."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.where(totals > 1e-12, counts / np.maximum(totals, TINY), before)


def in_ranges(shard: Block, work: Callable[[Block, NDArray[np.int64]], Any]) -> Any:
    """Return the sum of what is found in ranges of whole sequences, cut by their lengths alone.

    ``work`` is called with the rows of some sequences, and the first row of each of them and the number of rows.
    """
    begins = np.append(np.flatnonzero(shard.views[1][:, 0]), shard.n_rows).astype(np.int64)
    goals = np.arange(RANGE_ROWS, shard.n_rows, RANGE_ROWS)
    cuts = np.unique(np.concatenate([[0], np.searchsorted(begins, goals), [begins.size - 1]]))

    def in_range(bounds: tuple[int, int]) -> Any:
        first, last = bounds
        rows = shard.between(int(begins[first]), int(begins[last]))
        return work(rows, begins[first : last + 1] - begins[first])

    return sum_over(in_range, list(pairwise(int(cut) for cut in cuts)))


def _expected(shard: Block, state: None, chain: Chain) -> tuple[tuple[Any, ...], None]:
    """Return expected sums of the emission, first states and transitions, and the log-likelihood."""

    def work(block: Block, begins: NDArray[np.int64]) -> tuple[Any, ...]:
        logs = chain.emission.log_densities(block.views[0])
        posterior, firsts, pairs, likelihood = forward_backward(logs, begins, chain.start, chain.transitions)
        return chain.emission.sums(block.views[0], posterior), firsts, pairs, likelihood

    return in_ranges(shard, work), None


def chain_posterior(source: Source, chain: Chain) -> FloatArray:
    """Return the posterior of the state of each row given its whole sequence, N x K."""
    found: Stacked = step(_smoothed, source, new_states(source), chain)[0]
    return found.rows()


def _smoothed(shard: Block, state: None, chain: Chain) -> tuple[Stacked, None]:
    def work(block: Block, begins: NDArray[np.int64]) -> Stacked:
        logs = chain.emission.log_densities(block.views[0])
        return Stacked((forward_backward(logs, begins, chain.start, chain.transitions)[0],))

    return in_ranges(shard, work), None


def chain_log_likelihood(source: Source, chain: Chain) -> float:
    """Return the log-likelihood of all sequences."""
    return float(step(_likelihood, source, new_states(source), chain)[0])


def _likelihood(shard: Block, state: None, chain: Chain) -> tuple[float, None]:
    def work(block: Block, begins: NDArray[np.int64]) -> float:
        logs = chain.emission.log_densities(block.views[0])
        return float(forward_backward(logs, begins, chain.start, chain.transitions)[3])

    return in_ranges(shard, work), None


def chain_paths(source: Source, chain: Chain) -> tuple[float, NDArray[np.int64]]:
    """Return the log-probability of the likeliest states of all sequences, and these states, N."""
    logs = np.log(np.maximum(chain.start, TINY)), np.log(np.maximum(chain.transitions, TINY))
    (likelihood, found), _ = step(_paths, source, new_states(source), chain, *logs)
    return float(likelihood), found.rows()


def _paths(
    shard: Block, state: None, chain: Chain, log_start: FloatArray, log_transitions: FloatArray
) -> tuple[tuple[float, Stacked], None]:
    def work(block: Block, begins: NDArray[np.int64]) -> tuple[float, Stacked]:
        logs = chain.emission.log_densities(block.views[0])
        path, found = likeliest_paths(logs, begins, log_start, log_transitions)
        return float(found.sum()), Stacked((path,))

    return in_ranges(shard, work), None


def stationary(transitions: FloatArray) -> FloatArray:
    """Return the distribution that transitions leave as it is; the mean over time where there are several.

    Examples
    --------
    >>> stationary(np.array([[0.9, 0.1], [0.3, 0.7]])).round(8)
    array([0.75, 0.25])
    """
    K = transitions.shape[0]
    power = (transitions + np.eye(K)) / 2  # the same distribution, and no cycles
    for _ in range(60):
        power = power @ power
        power /= power.sum(axis=1, keepdims=True)
    found = power.mean(axis=0)
    return found / found.sum()
