"""One pass of EM over a shard: the E step by document, the M step by word."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.engine import Block, for_each, sum_over
from polyad.inference.cells import Cells, Range, all_read_only, by_word, cells_of_block, even_ranges, read_only
from polyad.inference.kernels.topics import (
    DocumentCells,
    EStep,
    Expected,
    TopicRows,
    collect_words,
    expect_documents,
    padded,
)

LEAVE_OUT_SHARE = (
    0.01  # a document with this share of a word's tokens learns from the others what topics the word is in
)

Table = NDArray[np.float32]


@dataclass(frozen=True)
class TokenScale:
    """What turns counts of words in topics into probabilities, for each view."""

    one_token: Table  # what one token is worth in each topic, views x K with K padded
    floor: Table  # the least that a word can have in each topic, likewise


@dataclass(frozen=True)
class TopicTable:
    """The topics that a pass sees."""

    topics: Table  # words x K with K padded by zeros; the words of several views one after the other
    prior: NDArray[np.float32]  # Dirichlet parameters of the shares, K padded by zeros
    edges: tuple[int, ...]  # the first word of each view, and the number of all words
    # Given, a document does not see its own tokens where it keeps their responsibilities, and a token not its own vote
    # in the shares of its document.
    token_scale: TokenScale | None = None

    @property
    def view_of(self) -> NDArray[np.uint16]:
        """The view of each word."""
        return read_only(np.repeat(np.arange(len(self.edges) - 1, dtype=np.uint16), np.diff(self.edges)))


@dataclass(frozen=True)
class Iterations:
    """How an E step iterates."""

    inner: int  # iterations for each document
    warm: bool = False  # whether to go on from the expected tokens of the last pass
    relaxation: float = 0.0  # over-relaxation: how far a step in the shares goes beyond its change


@dataclass(frozen=True)
class Documents:
    """The documents of a shard in the layout of the loops, and what they keep from pass to pass."""

    cells: Cells  # the counts by document
    # The same cells word by word, for the M step to read them in the order in which they lie.
    word_ptr: NDArray[np.int64]
    word_documents: NDArray[np.int32]
    word_counts: NDArray[np.float32]
    word_responsibility_at: NDArray[np.int32]
    responsibility_at: NDArray[np.int32]  # where the responsibilities of a cell are kept (-1: nowhere)
    tokens: Table  # expected tokens of each topic in every document, N x K with K padded
    responsibilities: NDArray[np.uint16]  # responsibilities of some cells, in parts of a token


def is_left_out(counts: NDArray[Any], words: NDArray[Any], word_totals: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell for each cell whether its document has so many of the word's tokens that it must not see them."""
    return counts >= LEAVE_OUT_SHARE * word_totals[words]


def prepare_documents(shard: Block, _: None, word_totals: NDArray[Any] | None, K: int) -> tuple[int, Documents]:
    """Set up a shard for the passes: its cells by document and by word, and nothing expected yet.

    ``word_totals``, the tokens of each word in the whole corpus, tell which cells keep their responsibilities; without
    them none does. Returns how many do, and the documents.
    """
    cells = cells_of_block(shard)
    index = by_word(cells)
    responsibility_at, n_left_out = np.full(cells.words.size, -1, np.int32), 0
    if word_totals is not None:
        left_out_cells = np.flatnonzero(is_left_out(cells.counts, cells.words, word_totals))
        n_left_out = left_out_cells.size
        responsibility_at[left_out_cells] = np.arange(n_left_out, dtype=np.int32)
    documents = Documents(
        cells=cells,
        word_ptr=index.indptr,
        word_documents=index.documents,
        word_counts=read_only(cells.counts[index.cells]),
        word_responsibility_at=read_only(responsibility_at[index.cells]),
        responsibility_at=read_only(responsibility_at),
        tokens=read_only(np.zeros((cells.shape[0], padded(K)), np.float32)),
        responsibilities=read_only(np.zeros((n_left_out, padded(K)), np.uint16)),
    )
    return n_left_out, documents


@dataclass(frozen=True)
class Likelihood:
    """What a pass finds of the log-likelihood of tokens given the shares of their documents, to be added up."""

    all: float  # of all tokens
    # Of the tokens that are a small part of all tokens of their word. What topics these words are in is no opinion of
    # single documents, and tokens do not vote for themselves in the shares: a gain here is one for new documents as
    # well.
    frequent: float

    def __add__(self, other: "Likelihood") -> "Likelihood":
        return Likelihood(self.all + other.all, self.frequent + other.frequent)


def em_step(
    shard: Block, documents: Documents, table: TopicTable, iterations: Iterations
) -> tuple[tuple[Table, Likelihood], Documents]:
    """One pass of EM over a shard.

    Returns the expected tokens of each word in each topic and the log-likelihood given the shares of the documents,
    both to be added over shards; and the documents with what this pass expects.
    """
    shares, likelihood, expected = e_step(documents, table, iterations)
    return (collect(expected, shares, table.topics, leave_out=table.token_scale is not None), likelihood), expected


def e_step(documents: Documents, table: TopicTable, iterations: Iterations) -> tuple[Table, Likelihood, Documents]:
    """E step: return the shares of the documents, the log-likelihood given them, and the documents renewed."""
    cells, leave_out = documents.cells, table.token_scale is not None
    none = read_only(np.zeros((1, table.prior.size), np.float32))  # not looked at without
    token_scale = table.token_scale or TokenScale(none, none)
    known = TopicRows(
        *all_read_only(table.topics, table.prior, table.view_of, token_scale.one_token, token_scale.floor)
    )
    how = EStep(iterations.inner, np.float32(iterations.relaxation), iterations.warm, leave_out)
    new = Expected(
        np.empty_like(documents.tokens),
        np.empty_like(documents.tokens),
        np.empty_like(documents.responsibilities),
        np.empty((cells.shape[0], 2)),
    )
    own = DocumentCells(*all_read_only(cells.indptr, cells.words, cells.counts))
    responsibility_at, tokens, responsibilities = all_read_only(
        documents.responsibility_at, documents.tokens, documents.responsibilities
    )

    def expect_range(between: Range) -> Likelihood:
        expect_documents(*between, own, responsibility_at, known, how, tokens, responsibilities, new)
        return Likelihood(*new.likelihood[slice(*between)].sum(axis=0))

    found = sum_over(expect_range, cells.ranges)
    renewed = replace(documents, tokens=read_only(new.tokens), responsibilities=read_only(new.responsibilities))
    return read_only(new.shares), found, renewed


def collect(documents: Documents, shares: Table, topics: Table, *, leave_out: bool = False) -> Table:
    """M step: return the expected tokens of each word in each topic that the E step has found.

    ``leave_out`` tells whether tokens did not see their own vote in the shares.
    """
    found = np.empty_like(topics)
    word_cells = all_read_only(documents.word_ptr, documents.word_documents, documents.word_counts)
    shares, topics, responsibility_at, responsibilities = all_read_only(
        shares, topics, documents.word_responsibility_at, documents.responsibilities
    )

    def collect_range(words: Range) -> None:
        collect_words(*words, *word_cells, shares, topics, responsibility_at, responsibilities, leave_out, found)

    for_each(collect_range, even_ranges(documents.word_ptr))
    return found
