"""One pass of EM over some documents: the E step by document, the M step by word."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.engine import Runner
from polyad.engine.blocks import FloatArray
from polyad.inference.cells import Cells, Range, index_words
from polyad.inference.kernels import collect_words, expect_documents, padded

OWN = 0.01  # a document with this share of a word's tokens learns from the others what topics the word is in

Table = NDArray[np.float32]
Worth = tuple[NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True)
class ByWord:
    """The cells once more, word by word, for the M step to read them in the order in which they lie."""

    indptr: NDArray[np.int64]
    documents: NDArray[np.int32]
    counts: NDArray[np.float32]
    kept_at: NDArray[np.int32]
    ranges: list[Range]


@dataclass(frozen=True)
class Documents:
    """Some documents, and what they keep from pass to pass.

    Attributes
    ----------
    cells, by_word
        The counts.
    lengths
        Tokens of every document.
    shares, tokens
        Topic shares and expected tokens of every document, N x K with K padded.
    inverse
        1 / (row shares) of every cell.
    kept_at, kept
        Where the responsibilities of a cell are kept (-1: nowhere), and these responsibilities.
    """

    cells: Cells
    by_word: ByWord
    lengths: FloatArray
    shares: Table
    tokens: Table
    inverse: NDArray[np.float32]
    kept_at: NDArray[np.int32]
    kept: NDArray[np.uint16]


def is_own(counts: NDArray[Any], words: NDArray[Any], word_totals: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell for each cell whether its document has so many of the word's tokens that it must not see them."""
    return counts >= OWN * word_totals[words]


def prepare_documents(cells: Cells, word_totals: NDArray[Any] | None, K: int) -> Documents:
    """Set up what documents keep from pass to pass.

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
    rows = np.repeat(np.arange(n_documents), np.diff(cells.indptr))
    index = index_words(cells)
    return Documents(
        cells=cells,
        by_word=ByWord(index.indptr, index.documents, cells.counts[index.cells], kept_at[index.cells], index.ranges),
        lengths=np.bincount(rows, cells.counts, n_documents).astype(np.float64),
        shares=np.zeros((n_documents, width), np.float32),
        tokens=np.zeros((n_documents, width), np.float32),
        inverse=np.empty(cells.words.size, np.float32),
        kept_at=kept_at,
        kept=np.zeros((n_kept, width), np.uint16),
    )


def expect(
    state: Documents,
    table: Table,
    prior: NDArray[np.float32],
    run: Runner,
    inner: int,
    *,
    warm: bool = False,
    beyond: float = 0.0,
    worth: Worth | None = None,
) -> float:
    """E step: write the shares of the documents, and return the log-likelihood given them.

    Parameters
    ----------
    state
        The documents.
    table, prior
        Topics, words x K, and Dirichlet parameters of the shares, both padded.
    run
        How ranges of documents are run.
    inner
        Iterations for each document.
    warm
        Go on from the shares of the last pass.
    beyond
        How far a step in the shares goes beyond its change.
    worth
        What one token is worth in each topic, and the least a word can have: with them a document does not see its own
        tokens where it keeps their responsibilities.
    """
    cells = state.cells
    one_token, floor = (prior, prior) if worth is None else worth  # not looked at without

    def expect_range(documents: Range) -> float:
        first, last = documents
        expect_documents(
            first, last, cells.indptr, cells.words, cells.counts, table, prior, inner, np.float32(beyond), warm,
            state.shares, state.tokens, state.inverse, state.kept_at, state.kept,
            worth is not None, one_token, floor,
        )  # fmt: skip
        return _log_likelihood(state, first, last)

    return run(expect_range, cells.document_ranges)


def collect(state: Documents, table: Table, run: Runner, out: Table) -> None:
    """M step: write the expected tokens of each word in each topic that the last E step has found."""
    run.each(lambda words: collect_range(state, table, words, out), state.by_word.ranges)


def collect_range(state: Documents, table: Table, words: Range, out: Table) -> None:
    """M step of some words; what it reads and writes of both tables is the rows of these words alone."""
    by_word = state.by_word
    collect_words(
        *words, by_word.indptr, by_word.documents, by_word.counts, state.shares, table,
        by_word.kept_at, state.kept, out,
    )  # fmt: skip


def _log_likelihood(state: Documents, first: int, last: int) -> float:
    """Sum of x log(row . shares / sum of shares), from what the E step left behind."""
    own = slice(state.cells.indptr[first], state.cells.indptr[last])
    logs = np.log(state.inverse[own])
    totals = state.shares[first:last].sum(axis=1, dtype=np.float64)
    within = float(np.dot(state.cells.counts[own].astype(np.float64), logs))
    return -within - float(state.lengths[first:last] @ np.log(totals))
