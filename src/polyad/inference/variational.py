"""Variational EM (Blei, Ng and Jordan 2003): the passes that the papers compare with, from any start.

:func:`polyad.inference.polish` is what the models use. These passes are for those who want the bound, and the ground
truth of the papers' experiments is learned by them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, for_each, new_states, step, sum_over, total
from polyad.inference.cells import Cells, Range, by_word, cells_of_block, padded_vector, read_only, topic_table
from polyad.inference.expectation import Table
from polyad.inference.kernels.topics import DocumentCells, collect_words, padded
from polyad.inference.kernels.variational import VariationalShares, expect_variational
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
    inverse, shift = np.empty(cells.words.size, np.float32), np.empty(cells.shape[0])
    given = DocumentCells(cells.indptr, cells.words, cells.counts)
    found = VariationalShares(fresh, np.empty_like(fresh), inverse, shift)

    def expect_range(documents: Range) -> float:
        expect_variational(*documents, given, table, alpha, K, INNER, gamma is not None, found)
        return _evidence_bound(cells, fresh[slice(*documents), :K], inverse, shift[slice(*documents)], prior, documents)

    bound = sum_over(expect_range, cells.ranges)
    return (_collected(cells, found.weights, table), bound), fresh


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


def _n_tokens(source: Source) -> float:
    return max(total(_block_tokens, source), 1.0)


def _block_tokens(block: Block) -> float:
    return float(block.tokens.sum())


def _polished(table: Table, totals: Table, K: int, objective: list[float]) -> Polished:
    topics = table[:, :K].T.astype(np.float64)
    tokens = totals[:, :K].sum(axis=0, dtype=np.float64)
    edges = (0, topics.shape[1])
    return Polished(topics / topics.sum(axis=1, keepdims=True), tokens[None], tuple(objective), edges)
