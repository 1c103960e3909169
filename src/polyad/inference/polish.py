"""Polishing: a few passes of likelihood over the corpus, started from the topics of the moments.

Every pass is an E step over ranges of documents and an M step over ranges of words, for one half of the documents
and then for the other. No pass depends on the number of threads.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.engine import Runner
from polyad.engine.blocks import FloatArray, rows_between
from polyad.inference.cells import Range, cells_of, padded_vector, topic_table
from polyad.inference.expectation import OWN, Documents, Table, Worth, collect, collect_range, expect, prepare_documents
from polyad.inference.kernels import column_sums, go_beyond, padded, scale_and_raise

INNER = 4  # iterations for each document in a pass; later passes go on from the shares of the last one
SHARES_BEYOND = 0.7  # of its last change by which a step in the shares of a document goes on: EM creeps
COUNTS_BEYOND = 1.25  # the same for the counts of words, of the change in one half of the documents
SMOOTHING = 2.0  # tokens that the prior of topics adds to every word, over all topics together


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


def polish_bytes(n_documents: int, n_words: int, n_cells: int, n_own_cells: int, n_components: int) -> int:
    """Return the memory that :func:`polish` needs beside the counts themselves, in bytes."""
    K = padded(n_components)
    by_document, by_word = n_cells * (4 + 4 + 4), n_cells * (4 + 4 + 4)  # counts, kept places; inverse, documents
    transposition = 8 * n_cells
    return by_document + by_word + transposition + 4 * K * (2 * n_documents + 7 * n_words) + 2 * K * n_own_cells


def polish(
    counts: sparse.csr_array,
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
    counts
        Canonical CSR counts. The first half of the documents (by cells) and the second should be alike: see
        :func:`polyad.engine.ordered_by_content`.
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
    K = components.shape[0]
    word_totals = np.bincount(counts.indices, counts.data, counts.shape[1]).astype(np.float64)
    groups = [
        prepare_documents(cells_of(group), word_totals if leave_out else None, K)
        for group in (halves(counts) if leave_out else [counts])
    ]
    tables = _Tables.starting_at(topic_table(components), len(groups))
    # All tokens of a rarer word are own ones, and going beyond them would show documents a part of them again.
    may_go_beyond = (len(groups) > 1) & (word_totals * OWN > 1)
    beyond = np.where(may_go_beyond, COUNTS_BEYOND, 0.0).astype(np.float32)
    padded_prior, worth, early = padded_vector(prior), None, tables.topics
    objective: list[float] = []
    for number in range(n_passes):
        likelihood = 0.0
        for turn, group in enumerate(groups):
            likelihood += expect(
                group, tables.topics, padded_prior, run, INNER, warm=number > 0,
                beyond=SHARES_BEYOND if leave_out else 0.0, worth=worth if leave_out else None,
            )  # fmt: skip
            last_turn = turn == len(groups) - 1
            if number == 0 and not last_turn:
                collect(group, tables.topics, run, tables.tokens[turn])  # the topics wait for the other half
                continue
            stays = number == 0 or (number == n_passes - 1 and last_turn)  # the last topics are those of the tokens
            worth = _renew(group, turn, tables, np.zeros_like(beyond) if stays else beyond, run, K, smoothing)
        objective.append(likelihood / max(float(word_totals.sum()), 1.0))
        if number == 0 and leave_out:
            early = tables.topics.copy()
        if progress is not None:
            progress(number + 1)
    if leave_out:
        settle_words(early, tables.topics, word_totals, K)
    topics = np.ascontiguousarray(tables.topics[:, :K].T, dtype=np.float64)
    topics /= topics.sum(axis=1, keepdims=True)
    topic_tokens = np.sum([column_sums(half)[:K] for half in tables.tokens], axis=0)
    return Polished(topics, topic_tokens, tuple(objective))


def halves(counts: sparse.csr_array) -> list[sparse.csr_array]:
    """Cut documents into the first and the others, with about as many cells if that can be, without copying."""
    n_documents = counts.shape[0]
    if n_documents < 2:
        return [counts]
    cut = int(np.clip(np.searchsorted(counts.indptr, counts.nnz / 2), 1, n_documents - 1))
    return [rows_between(counts, 0, cut), rows_between(counts, cut, n_documents)]


@dataclass(frozen=True)
class _Tables:
    """What passes renew in place; all are words x K, with K padded.

    Attributes
    ----------
    topics
        Probabilities of the words in each topic.
    tokens, others
        For each group of documents its expected tokens, and those of all other documents: the other half's.
    room
        For the tokens of a group before they take the place of the old ones.
    """

    topics: Table
    tokens: list[Table]
    others: list[Table]
    room: Table

    @staticmethod
    def starting_at(topics: Table, n_groups: int) -> "_Tables":
        """Return the tables of one group or of two halves, with no tokens yet."""
        tokens = [np.zeros_like(topics) for _ in range(n_groups)]
        others = tokens[::-1] if n_groups > 1 else [np.zeros_like(topics)]
        return _Tables(topics, tokens, others, np.empty_like(topics))


def _renew(
    group: Documents,
    turn: int,
    tables: _Tables,
    beyond: NDArray[np.float32],
    run: Runner,
    K: int,
    smoothing: FloatArray | None,
) -> Worth:
    """M step of a group: renew its expected tokens and all topics; return what :func:`worth_of_tokens` does.

    The counts of every word go ``beyond`` their change by a part of it.
    """
    topics, tokens, others, room = tables.topics, tables.tokens[turn], tables.others[turn], tables.room

    def renew_range(words: Range) -> FloatArray:
        collect_range(group, topics, words, room)
        sums: FloatArray = go_beyond(*words, others, tokens, room, beyond, topics)
        return sums

    sums = run(renew_range, group.by_word.ranges)
    one_token, floor = worth_of_tokens(sums[:K], topics.shape[0], smoothing)
    scale_and_raise(topics, one_token, floor, topics)
    return one_token, floor


def settle_words(early: Table, late: Table, word_totals: FloatArray, K: int) -> None:
    """Take up to half of a word's row back to the first pass, the more the fewer tokens it has for each topic.

    Every pass sharpens all rows. For a word with few tokens that is learning by heart, and how early to stop depends
    on the word: one that occurs n times keeps 1/2 K / (K + n) of its early row. In place; topics need no longer sum
    to 1.
    """
    share = (0.5 * K / (K + word_totals)).astype(np.float32)[:, None]
    late += share * (early - late)


def worth_of_tokens(tokens: FloatArray, n_words: int, smoothing: FloatArray | None) -> Worth:
    """Return what one token is worth in each topic, given the tokens of the topic, and the least a word can have."""
    added = SMOOTHING * tokens / max(tokens.sum(), 1e-300) if smoothing is None else smoothing
    added = np.maximum(added, 1e-8)  # a topic that lost all its tokens still has every word
    totals = tokens + n_words * added
    return padded_vector(1 / totals), padded_vector(added / totals)


def normalised_topics(
    counts: Table, K: int, smoothing: FloatArray | None
) -> tuple[Table, NDArray[np.float32], NDArray[np.float32]]:
    """Topics from expected counts; with them what one token is worth in each topic, and the least a word can have."""
    one_token, floor = worth_of_tokens(column_sums(counts)[:K], counts.shape[0], smoothing)
    table = np.empty_like(counts)
    scale_and_raise(counts, one_token, floor, table)
    return table, one_token, floor
