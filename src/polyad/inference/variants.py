"""Other likelihood passes, from any start: variational EM, CVB0 and minibatch EM.

:func:`polyad.inference.polish` is the one the models use; these are for comparison, and for those who want them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, for_each, new_states, step, sum_over, total
from polyad.engine.sources import part_of
from polyad.inference.cells import Cells, Range, by_word, cells_of_block, padded_vector, read_only, topic_table
from polyad.inference.expectation import Iterations, Table, TopicTable, Worth, expect_and_collect, prepare_documents
from polyad.inference.kernels.topics import collect_kept, collect_words, expect_cvb0, expect_variational, padded
from polyad.inference.polish import Polished, normalised_topics

INNER = 5  # iterations for each document in a pass


def variational_passes(
    source: Source, components: FloatArray, prior: FloatArray, *, n_passes: int, smoothing: FloatArray
) -> Polished:
    """Improve topics by variational EM (Blei, Ng and Jordan 2003); the bound on the evidence never gets worse.

    Parameters
    ----------
    source
        The counts.
    components, prior
        Where to start, K x M, and the Dirichlet parameters of the shares, K.
    n_passes
        How many passes.
    smoothing
        Tokens added to every word of each topic, K.
    """
    K, table = prior.size, topic_table(components)
    n_tokens = _n_tokens(source)
    states: Sequence[Any] = new_states(source)
    tokens = np.zeros_like(table)
    objective: list[float] = []
    for _ in range(n_passes):
        (tokens, bound), states = step(_variational_step, source, states, table, prior)
        log_topics = np.log(np.maximum(table[:, :K], 1e-30)).sum(axis=0, dtype=np.float64)
        objective.append((bound + float(smoothing @ log_topics)) / n_tokens)
        table, _ = normalised_topics(tokens, K, smoothing)
    return _polished(table, tokens, K, objective)


def _variational_step(
    shard: Block, gamma: Table | None, table: Table, prior: FloatArray
) -> tuple[tuple[Table, float], Table]:
    """One pass of variational EM over a shard; the state are the Dirichlet parameters of the documents."""
    cells, K, alpha, table = cells_of_block(shard), prior.size, padded_vector(prior), read_only(table)
    fresh = np.zeros((cells.shape[0], padded(K)), np.float32) if gamma is None else np.array(gamma)
    weights, shift = np.empty_like(fresh), np.empty(cells.shape[0])
    inverse = np.empty(cells.words.size, np.float32)

    def expect_range(documents: Range) -> float:
        expect_variational(
            *documents, cells.indptr, cells.words, cells.counts, table, alpha, K, INNER, gamma is not None,
            fresh, weights, inverse, shift,
        )  # fmt: skip
        return _evidence_bound(cells, fresh[slice(*documents), :K], inverse, shift[slice(*documents)], prior, documents)

    bound = sum_over(expect_range, cells.ranges)
    return (_collected(cells, weights, table), bound), fresh


def _collected(cells: Cells, shares: Table, table: Table) -> Table:
    """M step from shares of documents, where no responsibilities are kept."""
    index, found = by_word(cells), np.empty_like(table)
    counts, nothing_kept = read_only(cells.counts[index.cells]), read_only(np.full(cells.words.size, -1, np.int32))
    none, shares = read_only(np.zeros((0, table.shape[1]), np.uint16)), read_only(shares)

    def collect_range(words: Range) -> None:
        collect_words(*words, index.indptr, index.documents, counts, shares, table, nothing_kept, none, False, found)

    for_each(collect_range, index.ranges)
    return found


def _evidence_bound(
    cells: Cells,
    gamma: NDArray[np.float32],
    inverse: NDArray[np.float32],
    shift: FloatArray,
    prior: FloatArray,
    documents: Range,
) -> float:
    """Variational bound of some documents, at the best responsibilities for their Dirichlet parameters."""
    first, last = documents
    wide = gamma.astype(np.float64)
    sums = wide.sum(axis=1)
    expected_log = psi(wide) - psi(sums)[:, None]
    own = slice(cells.indptr[first], cells.indptr[last])
    counts = cells.counts[own].astype(np.float64)
    lengths = np.bincount(
        np.repeat(np.arange(last - first), np.diff(cells.indptr[first : last + 1])), counts, minlength=last - first
    )
    tokens = -float(counts @ np.log(inverse[own])) + float(lengths @ (shift - psi(sums)))
    shares = ((prior - wide) * expected_log + gammaln(wide)).sum(axis=1) - gammaln(sums)
    return tokens + float(shares.sum()) + (last - first) * float(gammaln(prior.sum()) - gammaln(prior).sum())


@dataclass(frozen=True)
class _Assigned:
    """What CVB0 keeps of a shard: expected tokens of its documents, and the responsibilities of every cell."""

    tokens: Table
    kept: Table


def cvb0_passes(
    source: Source, components: FloatArray, prior: FloatArray, *, n_passes: int, smoothing: FloatArray
) -> Polished:
    """Improve topics by CVB0 (Asuncion et al. 2009), with the topics of the last pass for all documents.

    Parameters are those of :func:`variational_passes`. It keeps non-zeros x K numbers of 4 bytes. The objective is
    the log-likelihood per token of the topics each pass has made.
    """
    K, table, worth = prior.size, topic_table(components), None
    n_tokens = _n_tokens(source)
    states: Sequence[Any] = new_states(source)
    tokens = np.zeros_like(table)
    objective: list[float] = []
    for _ in range(n_passes):
        tokens, states = step(_cvb0_step, source, states, table, worth, prior)
        table, worth = normalised_topics(tokens, K, smoothing)
        likelihood, states = step(_token_likelihood, source, states, table, prior)
        objective.append(likelihood / n_tokens)
    return _polished(table, tokens, K, objective)


def _cvb0_step(
    shard: Block, state: _Assigned | None, table: Table, worth: Worth | None, prior: FloatArray
) -> tuple[Table, _Assigned]:
    cells, K = cells_of_block(shard), padded(prior.size)
    alpha, none, table = padded_vector(prior), read_only(np.zeros(K, np.float32)), read_only(table)
    one_token, floor = (none, none) if worth is None else (worth.one_token[0], worth.floor[0])
    if state is None:
        tokens, kept = np.zeros((cells.shape[0], K), np.float32), np.zeros((cells.words.size, K), np.float32)
    else:
        tokens, kept = np.array(state.tokens), np.array(state.kept)

    def expect_range(documents: Range) -> None:
        expect_cvb0(
            *documents, cells.indptr, cells.words, cells.counts, table, alpha, 1, state is not None, tokens, kept,
            one_token, floor,
        )  # fmt: skip

    for_each(expect_range, cells.ranges)
    index, found = by_word(cells), np.empty_like(table)

    def collect_range(words: Range) -> None:
        collect_kept(*words, index.indptr, index.cells, cells.counts, kept, found)

    for_each(collect_range, index.ranges)
    return found, _Assigned(tokens, kept)


def _token_likelihood(shard: Block, state: _Assigned, table: Table, prior: FloatArray) -> tuple[float, _Assigned]:
    """Log-likelihood of a shard with shares in proportion to prior + tokens."""
    cells, K = cells_of_block(shard), prior.size

    def of_range(documents: Range) -> float:
        first, last = documents
        shares = state.tokens[first:last, :K] + prior
        shares /= shares.sum(axis=1, keepdims=True)
        own = slice(cells.indptr[first], cells.indptr[last])
        rows = np.repeat(np.arange(last - first), np.diff(cells.indptr[first : last + 1]))
        p = np.einsum("ik,ik->i", shares[rows], table[cells.words[own], :K])
        return float(cells.counts[own] @ np.log(np.maximum(p, 1e-30)))

    return sum_over(of_range, cells.ranges), state


def minibatch_passes(
    source: Source,
    components: FloatArray,
    prior: FloatArray,
    *,
    n_passes: int,
    smoothing: FloatArray,
    batch_documents: int = 256,
    decay: float = 0.7,
) -> Polished:
    """Improve topics by stepwise EM: topics are renewed after every batch of documents (Cappe and Moulines 2009).

    Parameters are those of :func:`variational_passes`, and the size of a batch and the exponent with which the weight
    of a new batch falls, in (0.5, 1]. It needs no memory of non-zeros x K; unlike the other two it depends on the order
    of the documents.
    """
    K, table, n_tokens = prior.size, topic_table(components), _n_tokens(source)
    batches = _batches(source, batch_documents)
    states = [step(prepare_documents, batch, new_states(batch), None, K)[1] for batch in batches]
    sizes = [_n_tokens(batch) for batch in batches]
    alpha, running, seen = padded_vector(prior), np.zeros(table.shape, np.float64), 0
    objective: list[float] = []
    for number in range(n_passes):
        likelihood = 0.0
        for place, (batch, size) in enumerate(zip(batches, sizes)):
            topics = TopicTable(table, alpha, (0, table.shape[0]))
            iterations = Iterations(INNER, warm=number > 0)
            (fresh, found), states[place] = step(expect_and_collect, batch, states[place], topics, iterations)
            likelihood += found.all
            weight = (seen + 1.0) ** -decay
            seen += 1
            running = (1 - weight) * running + weight * n_tokens / size * fresh
            table, _ = normalised_topics(running.astype(np.float32), K, smoothing)
        objective.append(likelihood / n_tokens)
    return _polished(table, running.astype(np.float32), K, objective)


def _batches(source: Source, n_documents: int) -> list[Source]:
    """Return the documents of a source in batches, none of which crosses a shard."""
    batches = []
    for number, (start, end) in enumerate(pairwise(source.edges)):
        for first in range(0, end - start, n_documents):
            batches.append(part_of(source, ((number, first, min(first + n_documents, end - start)),)))
    return batches


def _n_tokens(source: Source) -> float:
    return max(total(_block_tokens, source), 1.0)


def _block_tokens(block: Block) -> float:
    return float(block.tokens.sum())


def _polished(table: Table, totals: Table, K: int, objective: list[float]) -> Polished:
    topics = table[:, :K].T.astype(np.float64)
    tokens = totals[:, :K].sum(axis=0, dtype=np.float64)
    edges = (0, topics.shape[1])
    return Polished(topics / topics.sum(axis=1, keepdims=True), tokens[None], tuple(objective), edges)
