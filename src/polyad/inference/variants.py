"""Other likelihood passes, from any start: variational EM, CVB0 and minibatch EM.

:func:`polyad.inference.polish` is the one the models use; these are for comparison, and for those who want them.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln, psi

from polyad.engine import Runner
from polyad.engine.blocks import FloatArray
from polyad.inference.cells import Cells, cells_of, index_words, padded_vector, topic_table
from polyad.inference.expectation import Table, collect, expect, prepare_documents
from polyad.inference.kernels import collect_kept, collect_words, expect_cvb0, expect_variational, padded
from polyad.inference.polish import Polished, normalised_topics

INNER = 5  # iterations for each document in a pass

Progress = Callable[[int], object] | None


def variational_passes(
    counts: sparse.csr_array,
    components: FloatArray,
    prior: FloatArray,
    run: Runner,
    *,
    n_passes: int,
    smoothing: FloatArray,
    progress: Progress = None,
) -> Polished:
    """Improve topics by variational EM (Blei, Ng and Jordan 2003); the bound on the evidence never gets worse.

    Parameters
    ----------
    counts
        Canonical CSR counts.
    components, prior
        Where to start, K x M, and the Dirichlet parameters of the shares, K.
    run
        How ranges of documents and words are run.
    n_passes
        How many passes.
    smoothing
        Tokens added to every word of each topic, K.
    progress
        Called with the number of each finished pass.
    """
    K = prior.size
    cells, table, alpha = cells_of(counts), topic_table(components), padded_vector(prior)
    index = index_words(cells)
    gamma, weights = np.zeros((2, cells.shape[0], padded(K)), np.float32)
    shift = np.empty(cells.shape[0])
    inverse, nothing_kept = np.empty(cells.words.size, np.float32), np.full(cells.words.size, -1, np.int32)
    none, word_counts = np.zeros((0, padded(K)), np.uint16), cells.counts[index.cells]
    totals = np.empty_like(table)
    objective: list[float] = []
    for number in range(n_passes):
        current = table

        def expect_range(documents: tuple[int, int], table: Table = current, warm: bool = number > 0) -> float:
            first, last = documents
            expect_variational(
                first, last, cells.indptr, cells.words, cells.counts, table, alpha, K, INNER, warm,
                gamma, weights, inverse, shift,
            )  # fmt: skip
            return _evidence_bound(cells, gamma[first:last, :K], inverse, shift[first:last], prior, first, last)

        def collect_range(words: tuple[int, int], table: Table = current) -> None:
            first, last = words
            collect_words(
                first, last, index.indptr, index.documents, word_counts, weights, table, nothing_kept, none, totals
            )

        bound = run(expect_range, cells.document_ranges)
        log_topics = np.log(np.maximum(table[:, :K], 1e-30)).sum(axis=0, dtype=np.float64)
        objective.append((bound + float(smoothing @ log_topics)) / max(float(counts.sum()), 1.0))
        run.each(collect_range, index.ranges)
        table = normalised_topics(totals, K, smoothing)[0]
        if progress is not None:
            progress(number + 1)
    return _polished(table, totals, K, objective)


def _evidence_bound(
    cells: Cells,
    gamma: NDArray[np.float32],
    inverse: NDArray[np.float32],
    shift: FloatArray,
    prior: FloatArray,
    first: int,
    last: int,
) -> float:
    """Variational bound of documents first to last, at the best responsibilities for their Dirichlet parameters."""
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


def cvb0_passes(
    counts: sparse.csr_array,
    components: FloatArray,
    prior: FloatArray,
    run: Runner,
    *,
    n_passes: int,
    smoothing: FloatArray,
    progress: Progress = None,
) -> Polished:
    """Improve topics by CVB0 (Asuncion et al. 2009), with the topics of the last pass for all documents.

    Parameters are those of :func:`variational_passes`. It keeps non-zeros x K numbers of 4 bytes. The objective is
    the log-likelihood per token of the topics each pass has made.
    """
    K = prior.size
    cells, table, alpha = cells_of(counts), topic_table(components), padded_vector(prior)
    index = index_words(cells)
    kept = np.zeros((cells.words.size, padded(K)), np.float32)
    tokens = np.zeros((cells.shape[0], padded(K)), np.float32)
    one_token, floor = np.zeros((2, padded(K)), np.float32)
    totals = np.empty_like(table)
    objective: list[float] = []
    for number in range(n_passes):

        def expect_range(
            documents: tuple[int, int],
            table: Table = table,
            worth: tuple[Table, Table] = (one_token, floor),
            warm: bool = number > 0,
        ) -> None:
            first, last = documents
            expect_cvb0(
                first, last, cells.indptr, cells.words, cells.counts, table, alpha, 1, warm, tokens, kept, *worth
            )

        def collect_range(words: tuple[int, int]) -> None:
            first, last = words
            collect_kept(first, last, index.indptr, index.cells, cells.counts, kept, totals)

        run.each(expect_range, cells.document_ranges)
        run.each(collect_range, index.ranges)
        table, one_token, floor = normalised_topics(totals, K, smoothing)
        objective.append(_token_likelihood(cells, tokens, table, prior, run))
        if progress is not None:
            progress(number + 1)
    return _polished(table, totals, K, objective)


def _token_likelihood(cells: Cells, tokens: Table, table: Table, prior: FloatArray, run: Runner) -> float:
    """Log-likelihood per token with shares in proportion to prior + tokens."""
    K = prior.size

    def of_range(documents: tuple[int, int]) -> float:
        first, last = documents
        shares = tokens[first:last, :K] + prior
        shares /= shares.sum(axis=1, keepdims=True)
        own = slice(cells.indptr[first], cells.indptr[last])
        rows = np.repeat(np.arange(last - first), np.diff(cells.indptr[first : last + 1]))
        p = np.einsum("ik,ik->i", shares[rows], table[cells.words[own], :K])
        return float(cells.counts[own] @ np.log(np.maximum(p, 1e-30)))

    return run(of_range, cells.document_ranges) / max(float(cells.counts.sum(dtype=np.float64)), 1.0)


def minibatch_passes(
    counts: sparse.csr_array,
    components: FloatArray,
    prior: FloatArray,
    run: Runner,
    *,
    n_passes: int,
    smoothing: FloatArray,
    batch_documents: int = 256,
    decay: float = 0.7,
    progress: Progress = None,
) -> Polished:
    """Improve topics by stepwise EM: topics are renewed after every batch of documents (Cappe and Moulines 2009).

    Parameters are those of :func:`variational_passes`, and the size of a batch and the exponent with which the weight
    of a new batch falls, in (0.5, 1]. It needs no memory of non-zeros x K; unlike the other two it depends on the order
    of the documents.
    """
    K, N = prior.size, counts.shape[0]
    alpha, table = padded_vector(prior), topic_table(components)
    batches = [sparse.csr_array(counts[first : first + batch_documents]) for first in range(0, N, batch_documents)]
    states = [prepare_documents(cells_of(batch), None, K) for batch in batches]
    n_tokens = max(float(counts.sum()), 1.0)
    fresh, running, step = np.empty_like(table), np.zeros(table.shape, np.float64), 0
    objective: list[float] = []
    for number in range(n_passes):
        likelihood = 0.0
        for batch, state in zip(batches, states):
            likelihood += expect(state, table, alpha, run, INNER, warm=number > 0)
            collect(state, table, run, fresh)
            weight = (step + 1.0) ** -decay
            step += 1
            running = (1 - weight) * running + weight * n_tokens / max(float(batch.sum()), 1.0) * fresh
            table = normalised_topics(running.astype(np.float32), K, smoothing)[0]
        objective.append(likelihood / n_tokens)
        if progress is not None:
            progress(number + 1)
    return _polished(table, running.astype(np.float32), K, objective)


def _polished(table: Table, totals: Table, K: int, objective: list[float]) -> Polished:
    topics = table[:, :K].T.astype(np.float64)
    tokens = totals[:, :K].sum(axis=0, dtype=np.float64)
    return Polished(topics / topics.sum(axis=1, keepdims=True), tokens, tuple(objective))
