"""Collapsed Gibbs sweeps from a good start, averaged: the last hundredths of a bit."""

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from polyad.engine import Runner
from polyad.engine.blocks import FloatArray
from polyad.inference.cells import Cells, cells_of, index_words, padded_vector, topic_table
from polyad.inference.evaluation_kernels import next_uniform, start_stream
from polyad.inference.expectation import Table
from polyad.inference.kernels import TINY, ZERO, infer_shares, padded
from polyad.inference.polish import SMOOTHING, Polished, normalised_topics


def gibbs_sweeps(
    counts: sparse.csr_array,
    components: FloatArray,
    prior: FloatArray,
    run: Runner,
    *,
    n_sweeps: int,
    burn_in: int,
    smoothing: FloatArray | None = None,
    random_state: int = 0,
    progress: Callable[[int], object] | None = None,
) -> Polished:
    """Average the topics of collapsed Gibbs sweeps that start from given topics.

    All documents of a sweep see the topics of the sweep before, less the token at hand, so that sweeps run in any
    number of threads with the same result. Every document has a random stream of its own, made of the seed, the sweep
    and its row: another order of the documents gives another sample of the same distribution.

    Parameters
    ----------
    counts
        Canonical CSR counts.
    components, prior
        Where to start, K x M, and the Dirichlet parameters of the shares, K.
    run
        How ranges of documents and words are run.
    n_sweeps, burn_in
        Sweeps in all, and those that are left out of the average.
    smoothing
        Tokens added to every word of each topic, K; None adds ``SMOOTHING`` in all, in equal parts.
    random_state
        Seed.
    progress
        Called with the number of each finished sweep.
    """
    K = prior.size
    cells = cells_of(counts)
    index, first_token = index_words(cells), _token_offsets(cells)
    alpha, added = padded_vector(prior), np.full(K, SMOOTHING / K) if smoothing is None else smoothing
    topics = np.zeros(int(first_token[-1]), np.uint16)
    table, one_token, floor = topic_table(components), np.zeros(padded(K), np.float32), np.zeros(padded(K), np.float32)
    shares = np.zeros((cells.shape[0], padded(K)), np.float32)
    total, tokens = np.zeros(table.shape), np.empty_like(table)

    def infer(documents: tuple[int, int]) -> None:
        first, last = documents
        infer_shares(first, last, cells.indptr, cells.words, cells.counts, table, alpha, K, 10, shares)

    def count(words: tuple[int, int]) -> None:
        first, last = words
        count_topics(first, last, index.indptr, index.cells, first_token, topics, tokens)

    run.each(infer, cells.document_ranges)
    for sweep in range(n_sweeps):

        def sample(
            documents: tuple[int, int], worth: tuple[Table, ...] = (table, one_token, floor), sweep: int = sweep
        ) -> None:
            first, last = documents
            seed = random_state + 7919 * sweep  # streams of neighbouring seeds are hashed apart
            sample_documents(
                first, last, cells.indptr, cells.words, first_token, topics, alpha, *worth, shares, sweep == 0, seed, K
            )

        run.each(sample, cells.document_ranges)
        run.each(count, index.ranges)
        table, one_token, floor = normalised_topics(tokens, K, added)
        if sweep >= burn_in:
            total += tokens
        if progress is not None:
            progress(sweep + 1)
    average = (total / max(n_sweeps - burn_in, 1)).astype(np.float32)
    final = normalised_topics(average, K, added)[0][:, :K].T.astype(np.float64)
    by_topic = average[:, :K].sum(axis=0, dtype=np.float64)
    return Polished(final / final.sum(axis=1, keepdims=True), by_topic, ())


def _token_offsets(cells: Cells) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(cells.counts, dtype=np.int64)])


@njit(cache=True, nogil=True, fastmath=True)
def sample_documents(  # type: ignore[no-untyped-def]
    first, last, indptr, words, first_token, topics, alpha, table, one_token, floor, shares, start, seed, n_topics
):
    """Draw the topic of every token of documents first to last.

    The first sweep draws from given shares; the others from the document's other tokens and the word's other tokens.
    """
    K = table.shape[1]
    stream = np.empty(1, np.uint64)
    document, weights = np.empty(K, np.float32), np.empty(K, np.float32)
    for d in range(first, last):
        start_stream(stream, seed, d)
        for k in range(K):
            document[k] = alpha[k]
        if not start:
            for token in range(first_token[indptr[d]], first_token[indptr[d + 1]]):
                document[topics[token]] += np.float32(1)
        for cell in range(indptr[d], indptr[d + 1]):
            word = words[cell]
            for token in range(first_token[cell], first_token[cell + 1]):
                total = TINY
                if start:
                    for k in range(K):
                        weights[k] = shares[d, k] * table[word, k]
                        total += weights[k]
                else:
                    old = topics[token]
                    document[old] -= np.float32(1)
                    for k in range(K):
                        weights[k] = document[k] * table[word, k]
                        total += weights[k]
                    own = document[old] * max(table[word, old] - one_token[old], floor[old])
                    total += own - weights[old]
                    weights[old] = own
                left = np.float32(next_uniform(stream)) * total
                chosen = 0
                while chosen < n_topics - 1 and left > weights[chosen]:
                    left -= weights[chosen]
                    chosen += 1
                topics[token] = chosen
                if not start:
                    document[chosen] += np.float32(1)


@njit(cache=True, nogil=True)
def count_topics(first, last, word_ptr, word_cells, first_token, topics, out):  # type: ignore[no-untyped-def]
    """Count the tokens of words first to last in every topic."""
    K = out.shape[1]
    for word in range(first, last):
        for k in range(K):
            out[word, k] = ZERO
        for p in range(word_ptr[word], word_ptr[word + 1]):
            cell = word_cells[p]
            for token in range(first_token[cell], first_token[cell + 1]):
                out[word, topics[token]] += np.float32(1)
