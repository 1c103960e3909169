"""Polishing: a few passes of likelihood over the corpus, started from the topics of the moments.

Every pass is an E step over ranges of documents and an M step over ranges of words, for one half of the documents
and then for the other. No pass depends on the number of threads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.engine import Runner
from polyad.engine.blocks import FloatArray, rows_between
from polyad.inference.cells import Cells, cells_of, index_words, padded_vector, topic_table
from polyad.inference.kernels import (
    collect_words,
    column_sums,
    expect_documents,
    go_beyond,
    padded,
    scale_and_raise,
)

INNER = 4  # iterations for each document in a pass; later passes go on from the shares of the last one
OWN = 0.01  # a document with this share of a word's tokens learns from the others what topics the word is in
SHARES_BEYOND = 0.7  # of its last change by which a step in the shares of a document goes on: EM creeps
COUNTS_BEYOND = 1.25  # the same for the counts of words, of the change in one half of the documents
SMOOTHING = 2.0  # tokens that the prior of topics adds to every word, over all topics together

Table = NDArray[np.float32]


@dataclass(frozen=True)
class Polished:
    """Topics after the last pass.

    Attributes
    ----------
    components
        K x M, rows sum to 1, all positive.
    topic_tokens
        Expected tokens of each topic in the corpus.
    objective
        Log-likelihood per token that each pass found, of the topics it saw (before words are settled).
    """

    components: FloatArray
    topic_tokens: FloatArray
    objective: tuple[float, ...]


@dataclass(frozen=True)
class _ByWord:
    """The cells once more, word by word, for the M step to read them in the order in which they lie."""

    indptr: NDArray[np.int64]
    documents: NDArray[np.int32]
    counts: NDArray[np.float32]
    kept_at: NDArray[np.int32]
    ranges: list[tuple[int, int]]


@dataclass(frozen=True)
class _Documents:
    """What one part of the corpus keeps from pass to pass."""

    cells: Cells
    by_word: _ByWord
    shares: Table
    tokens: Table
    inverse: NDArray[np.float32]
    kept_at: NDArray[np.int32]
    kept: NDArray[np.uint16]


def is_own(counts: NDArray[Any], words: NDArray[Any], word_totals: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell for each cell whether its document has so many of the word's tokens that it must not see them."""
    return counts >= OWN * word_totals[words]


def polish_bytes(n_documents: int, n_words: int, n_cells: int, n_own_cells: int, n_components: int) -> int:
    """Return the memory that :func:`polish` needs beside the counts themselves, in bytes."""
    K = padded(n_components)
    by_document, by_word = n_cells * (4 + 4 + 4), n_cells * (4 + 4 + 4)  # counts, kept places; inverse, documents
    transposition = 8 * n_cells
    return by_document + by_word + transposition + 4 * K * (2 * n_documents + 7 * n_words) + 2 * K * n_own_cells


def polish(
    parts: list[sparse.csr_array],
    components: FloatArray,
    prior: FloatArray,
    run: Runner,
    *,
    n_passes: int,
    smoothing: FloatArray | None = None,
    leave_out: bool = True,
    progress: Callable[[int], object] | None = None,
) -> Polished:
    """Improve topics by passes of EM in which a document's own tokens do not count for themselves.

    Plain EM explains a rare word by the topic that this very document has put the word in, and a frequent one by a
    document that repeats it again and again; it overfits from the third pass on. What predicts other documents is a
    word's row without the document at hand. The document's tokens are left out where they are a hundredth of the
    word's tokens or more, which costs keeping the responsibilities of these cells; where they are fewer it makes no
    difference. A collapsed sampler leaves out one token, and the others of a bursty word stand for it. And the fewer
    tokens a word has, the more of its row in the end is that of the first pass (:func:`settle_words`).

    Topics are renewed after each half of the documents. Were it after all of them, two documents that share a word
    and leave out their own tokens would go on swapping what they think of it, and steps beyond the change would make
    that worse from pass to pass.

    Parameters
    ----------
    parts
        Counts, in one or more groups of rows with the same columns. The first half of the documents (by cells) and the
        second should be alike: see :func:`polyad.engine.ordered_by_content`.
    components
        Where to start: K x M, rows sum to 1.
    prior
        Dirichlet parameters of the topic shares, K.
    run
        How ranges of documents and of words are run.
    n_passes
        How many passes.
    smoothing
        Tokens added to every word of each topic, K; None adds ``SMOOTHING`` in all, split by the topics' tokens.
    leave_out
        False gives plain EM: no halves, no step beyond a change and no word settled. With a given ``smoothing`` its
        penalised likelihood never gets worse.
    progress
        Called with the number of each finished pass.
    """
    K, parts = components.shape[0], [part for part in parts if part.shape[0]]
    word_totals = np.sum([np.bincount(part.indices, part.data, part.shape[1]) for part in parts], axis=0)
    kept_for = word_totals if leave_out else None
    groups = [
        [prepare_part(cells_of(part), kept_for, K) for part in group]
        for group in (halves(parts) if leave_out else [parts])
    ]
    # All tokens of a rarer word are own ones, and going beyond them would show documents a part of them again.
    may_go_beyond = leave_out & (word_totals * OWN > 1)
    shares_of_change = np.where(may_go_beyond, COUNTS_BEYOND, 0.0).astype(np.float32)
    table, padded_prior = topic_table(components), padded_vector(prior)
    one_token, floor = np.zeros_like(padded_prior), np.zeros_like(padded_prior)
    counts, early, objective = [np.zeros_like(table) for _ in groups], None, []
    for number in range(n_passes):
        later, likelihood = number > 0, 0.0
        for turn, group in enumerate(groups):
            value, fresh = _expect_group(group, table, padded_prior, run, later, leave_out, one_token, floor)
            likelihood += value
            before, counts[turn] = counts[turn], fresh
            if not later and turn < len(groups) - 1:
                continue  # there are no counts of the other half yet
            room = np.empty_like(table) if table is early else table
            others = counts[1 - turn] if len(groups) > 1 else np.zeros_like(table)
            go_beyond(others, before, fresh, shares_of_change if later else np.zeros_like(shares_of_change), room)
            table, one_token, floor = normalised_topics(room, K, smoothing, room)
        objective.append(likelihood / max(float(word_totals.sum()), 1.0))
        if early is None:
            early = table
        if progress is not None:
            progress(number + 1)
    if leave_out and early is not None:
        table = settle_words(early, table, word_totals.astype(np.float32), K)
    topics = np.ascontiguousarray(table[:, :K].T, dtype=np.float64)
    topics /= topics.sum(axis=1, keepdims=True)
    topic_tokens = np.sum([column_sums(half)[:K] for half in counts], axis=0)
    return Polished(topics, topic_tokens, tuple(objective))


def halves(parts: list[sparse.csr_array]) -> list[list[sparse.csr_array]]:
    """Cut groups of rows into two with about as many cells, the first rows and the others, without copying.

    There is but one half where one row has most of the cells.
    """
    first, second = [], []
    wanted = sum(part.nnz for part in parts) / 2
    for part in parts:
        n_rows = part.shape[0]
        cut = min(int(np.searchsorted(part.indptr, wanted)), n_rows)
        wanted -= part.nnz
        if cut > 0:
            first.append(rows_between(part, 0, cut))
        if cut < n_rows:
            second.append(rows_between(part, cut, n_rows))
    return [half for half in (first, second) if half]


def _expect_group(
    group: list[_Documents],
    table: Table,
    prior: NDArray[np.float32],
    run: Runner,
    later: bool,
    leave_out: bool,
    one_token: NDArray[np.float32],
    floor: NDArray[np.float32],
) -> tuple[float, Table]:
    """Sum :func:`expect_part` over some parts."""
    beyond = SHARES_BEYOND if leave_out else 0.0
    likelihood, counts = 0.0, None
    for state in group:
        value, fresh = expect_part(
            state, table, prior, run, INNER, later, leave_out and later, one_token, floor, beyond
        )
        likelihood += value
        counts = fresh if counts is None else np.add(counts, fresh, out=counts)
    return likelihood, np.zeros_like(table) if counts is None else counts


def prepare_part(cells: Cells, word_totals: NDArray[Any] | None, K: int) -> _Documents:
    """Set up what a part of the corpus keeps from pass to pass.

    ``word_totals``, the tokens of each word in the whole corpus, tell which cells keep their responsibilities; without
    them none does.
    """
    kept_at = np.full(cells.words.size, -1, np.int32)
    n_kept = 0
    if word_totals is not None:
        kept_cells = np.flatnonzero(is_own(cells.counts, cells.words, word_totals))
        n_kept = kept_cells.size
        kept_at[kept_cells] = np.arange(n_kept, dtype=np.int32)
    width, n_documents = padded(K), cells.shape[0]
    index = index_words(cells)
    return _Documents(
        cells=cells,
        by_word=_ByWord(index.indptr, index.documents, cells.counts[index.cells], kept_at[index.cells], index.ranges),
        shares=np.zeros((n_documents, width), np.float32),
        tokens=np.zeros((n_documents, width), np.float32),
        inverse=np.empty(cells.words.size, np.float32),
        kept_at=kept_at,
        kept=np.zeros((n_kept, width), np.uint16),
    )


def expect_part(
    state: _Documents,
    table: Table,
    prior: NDArray[np.float32],
    run: Runner,
    inner: int,
    warm: bool,
    leave_out: bool,
    one_token: NDArray[np.float32],
    floor: NDArray[np.float32],
    relaxation: float = 0.0,
) -> tuple[float, Table]:
    """Return the log-likelihood of a part given its shares, and the expected tokens of each word in each topic."""
    cells, by_word, beyond = state.cells, state.by_word, np.float32(relaxation)
    tokens = np.empty_like(table)

    def expect_range(documents: tuple[int, int]) -> float:
        first, last = documents
        expect_documents(
            first, last, cells.indptr, cells.words, cells.counts, table, prior, inner, beyond, warm,
            state.shares, state.tokens, state.inverse, state.kept_at, state.kept,
            leave_out, one_token, floor,
        )  # fmt: skip
        return _log_likelihood(state, first, last)

    def collect_range(words: tuple[int, int]) -> None:
        first, last = words
        collect_words(
            first, last, by_word.indptr, by_word.documents, by_word.counts, state.shares, table,
            by_word.kept_at, state.kept, tokens,
        )  # fmt: skip

    likelihood = run(expect_range, cells.document_ranges)
    run.each(collect_range, by_word.ranges)
    return likelihood, tokens


def _log_likelihood(state: _Documents, first: int, last: int) -> float:
    """Sum of x log(row . shares / sum of shares), from what the E step left behind."""
    indptr = state.cells.indptr
    own = slice(indptr[first], indptr[last])
    counts = state.cells.counts[own]
    lengths = np.add.reduceat(np.append(counts, np.float32(0)), indptr[first:last] - indptr[first], dtype=np.float64)
    lengths[np.diff(indptr[first : last + 1]) == 0] = 0.0  # reduceat gives an empty document its neighbour's count
    totals = state.shares[first:last].sum(axis=1, dtype=np.float64)
    logs = np.log(state.inverse[own])
    return -float(np.dot(counts.astype(np.float64), logs)) - float(lengths @ np.log(totals))


def settle_words(early: Table, late: Table, word_totals: NDArray[np.float32], K: int) -> Table:
    """Take up to half of a word's row back to the first pass, the more the fewer tokens it has for each topic.

    Every pass sharpens all rows. For a word with few tokens that is learning by heart, and how early to stop depends
    on the word: one that occurs n times keeps 1/2 K / (K + n) of its early row.
    """
    share = (0.5 * K / (K + word_totals))[:, None]
    settled = late + share * (early - late)
    settled[:, :K] /= settled[:, :K].sum(axis=0)
    return settled


def normalised_topics(
    counts: Table, K: int, smoothing: FloatArray | None, out: Table | None = None
) -> tuple[Table, NDArray[np.float32], NDArray[np.float32]]:
    """Topics from expected counts; with them what one token is worth in each topic, and the least a word can have.

    The topics are written to ``out`` where it is given, which may be the counts.
    """
    tokens = column_sums(counts)[:K]
    added = SMOOTHING * tokens / max(tokens.sum(), 1e-300) if smoothing is None else smoothing
    added = np.maximum(added, 1e-8)  # a topic that lost all its tokens still has every word
    totals = tokens + counts.shape[0] * added
    one_token, floor = padded_vector(1 / totals), padded_vector(added / totals)
    table = np.empty_like(counts) if out is None else out
    scale_and_raise(counts, one_token, floor, table)
    return table, one_token, floor
