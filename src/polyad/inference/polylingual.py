"""Likelihood passes for two aligned texts: one topic mixture a pair, a topic-word matrix for each language.

An E step goes document by document, an M step word by word: both write to disjoint rows, so documents and words are
cut into fixed ranges that run in any order and in any number of threads with the same bytes as the answer. The
layout is that of :mod:`polyad.inference.kernels`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from polyad.engine import Blocks, Runner
from polyad.engine.blocks import FloatArray
from polyad.inference.cells import even_ranges
from polyad.inference.kernels import TINY, ZERO, fixed_point, padded

Float32 = NDArray[np.float32]


@dataclass(frozen=True)
class Text:
    """Counts of one language, by document and by word.

    Attributes
    ----------
    by_document
        CSR, documents x words, float32.
    by_word
        The same counts as CSC, or None where only documents are inferred.
    """

    by_document: sparse.csr_array
    by_word: sparse.csc_array | None

    @classmethod
    def from_blocks(cls, blocks: Blocks, *, by_word: bool = True) -> "Text":
        """Gather the blocks of a text into one float32 matrix, with an index by word where it is needed."""
        rows = [block.rows.astype(np.float32) for block in blocks]
        counts = rows[0] if len(rows) == 1 else sparse.vstack(rows, format="csr")
        counts = sparse.csr_array(counts)
        return cls(counts, sparse.csc_array(counts) if by_word else None)


@dataclass(frozen=True)
class PairedTopics:
    """Topics of two languages.

    Attributes
    ----------
    x_topics, y_topics
        M1 x K and M2 x K; columns sum to 1. A column of zeros is a topic that the language does not have.
    prior
        K, the Dirichlet parameters of the topic mixtures.
    """

    x_topics: FloatArray
    y_topics: FloatArray
    prior: FloatArray


def topic_mixtures(
    topics: PairedTopics,
    run: Runner,
    x_text: Text | None,
    y_text: Text | None,
    *,
    n_iter: int = 50,
) -> FloatArray:
    """Return the topic mixture of every document from one language or both, N x K; rows sum to 1.

    Parameters
    ----------
    topics
        The topics, and the prior of the mixtures.
    run
        How the ranges of documents are run.
    x_text, y_text
        The documents; None for the language that is not known.
    n_iter
        Fixed-point iterations a document, from the prior.
    """
    x, y = _views(topics, x_text, y_text)
    theta = np.zeros((x.indptr.size - 1, x.topics.shape[1]), dtype=np.float32)
    _infer(x, y, _padded(topics.prior[None])[0], theta, run, n_iter, warm=False)
    mixtures = theta[:, : topics.prior.size].astype(np.float64)
    return mixtures / mixtures.sum(axis=1, keepdims=True)


def polish_topics(
    topics: PairedTopics,
    run: Runner,
    x_text: Text,
    y_text: Text,
    *,
    n_passes: int,
    smoothing: float = 0.02,
    n_frozen: int = 0,
    frozen_passes: int = 0,
    on_pass: Callable[[int, PairedTopics], None] | None = None,
) -> tuple[PairedTopics, FloatArray]:
    """Raise the likelihood of two aligned texts by EM passes from given topics.

    Each pass infers the mixtures of the pairs (10 iterations in the first pass, 3 from where it stood in later ones)
    and then the words of the topics. It maximises the likelihood with Dirichlet priors on mixtures and topics, which
    no pass lowers.

    Parameters
    ----------
    topics
        Where to start.
    run
        How ranges of documents and words are run.
    x_text, y_text
        The texts, with their index by word.
    n_passes
        How many.
    smoothing
        Dirichlet parameter of the words of a topic: pseudo-counts of every word.
    n_frozen, frozen_passes
        The first ``n_frozen`` topics are left as they are in the first ``frozen_passes`` passes.
    on_pass
        Called after every pass with its number and the topics.

    Returns
    -------
    tuple
        The topics, and the topic mixtures of the last E step, N x K, with rows that sum to 1.
    """
    K = topics.prior.size
    x, y = _views(topics, x_text, y_text)
    prior = _padded(topics.prior[None])[0]
    theta = np.zeros((x.indptr.size - 1, prior.size), dtype=np.float32)
    for n in range(n_passes):
        _infer(x, y, prior, theta, run, 10 if n == 0 else 3, warm=n > 0)
        frozen = n_frozen if n < frozen_passes else 0
        x = _with_topics(x, _word_step(x, x_text, theta, run, smoothing, frozen))
        y = _with_topics(y, _word_step(y, y_text, theta, run, smoothing, frozen))
        if on_pass is not None:
            on_pass(n, _unpadded(x, y, topics.prior))
    mixtures = theta[:, :K].astype(np.float64)
    return _unpadded(x, y, topics.prior), mixtures / np.maximum(mixtures.sum(axis=1, keepdims=True), 1e-300)


@dataclass(frozen=True)
class _View:
    """What the kernels read of one language."""

    indptr: NDArray[Any]
    indices: NDArray[np.int32]
    counts: Float32
    topics: Float32


def _views(topics: PairedTopics, x_text: Text | None, y_text: Text | None) -> tuple[_View, _View]:
    known = x_text if x_text is not None else y_text
    if known is None:
        raise ValueError("Both texts are None: give X, Y, or both.")
    n_documents = known.by_document.shape[0]
    return _view(x_text, topics.x_topics, n_documents), _view(y_text, topics.y_topics, n_documents)


def _view(text: Text | None, topics: FloatArray, n_documents: int) -> _View:
    if text is None:
        nothing = np.zeros(0, dtype=np.float32)
        return _View(np.zeros(n_documents + 1, dtype=np.int32), nothing.astype(np.int32), nothing, _padded(topics))
    counts = text.by_document
    if counts.shape != (n_documents, topics.shape[0]):
        raise ValueError(f"A text is {counts.shape}; expected {n_documents} documents x {topics.shape[0]} words.")
    return _View(counts.indptr, counts.indices, counts.data, _padded(topics))


def _padded(rows: FloatArray) -> Float32:
    """Return rows as float32 with zeros up to whole vector registers."""
    out = np.zeros((rows.shape[0], padded(rows.shape[1])), dtype=np.float32)
    out[:, : rows.shape[1]] = rows
    return out


def _with_topics(view: _View, topics: Float32) -> _View:
    return _View(view.indptr, view.indices, view.counts, topics)


def _unpadded(x: _View, y: _View, prior: FloatArray) -> PairedTopics:
    x_topics, y_topics = (view.topics[:, : prior.size].astype(np.float64) for view in (x, y))
    return PairedTopics(x_topics, y_topics, prior)


def _infer(x: _View, y: _View, prior: Float32, theta: Float32, run: Runner, n_iter: int, *, warm: bool) -> None:
    def infer(span: tuple[int, int]) -> None:
        _documents(
            x.indptr, x.indices, x.counts, x.topics, y.indptr, y.indices, y.counts, y.topics,
            prior, theta, span[0], span[1], n_iter, warm,
        )  # fmt: skip

    run.each(infer, even_ranges(x.indptr.astype(np.int64) + y.indptr))


def _word_step(view: _View, text: Text, theta: Float32, run: Runner, smoothing: float, n_frozen: int) -> Float32:
    """Return the topics of a language from the mixtures: expected counts, smoothed, with columns that sum to 1."""
    index = text.by_word
    if index is None:
        raise ValueError("The text has no index by word: make it with by_word=True.")
    expected = np.empty_like(view.topics)

    def count(span: tuple[int, int]) -> None:
        _words(index.indptr, index.indices, index.data, theta, view.topics, expected, span[0], span[1])

    run.each(count, even_ranges(index.indptr.astype(np.int64)))
    present = view.topics.any(axis=0)
    topics = np.where(present, expected + np.float32(smoothing), np.float32(0.0))
    totals = topics.sum(axis=0, dtype=np.float64)
    topics = (topics / np.where(totals > 0, totals, 1.0)).astype(np.float32)
    topics[:, :n_frozen] = view.topics[:, :n_frozen]
    return np.ascontiguousarray(topics)


@njit(cache=True, nogil=True, fastmath=True)
def _gather_rows(indices, topics, buffer, first, last, filled):  # type: ignore[no-untyped-def]
    """Copy the topics of a document's words into consecutive rows of the buffer: they are gone over again and again."""
    K = topics.shape[1]
    for cell in range(first, last):
        word = indices[cell]
        for k in range(K):
            buffer[filled, k] = topics[word, k]
        filled += 1
    return filled


@njit(cache=True, nogil=True, fastmath=True)
def _documents(  # type: ignore[no-untyped-def]
    xp, xi, xc, x_topics, yp, yi, yc, y_topics, prior, theta, first, last, n_iter, warm
):
    """Fixed-point iterations of the mixtures of documents first to last, in place."""
    K = prior.shape[0]
    longest = 0
    for d in range(first, last):
        longest = max(longest, xp[d + 1] - xp[d] + yp[d + 1] - yp[d])
    buffer = np.empty((longest, K), dtype=np.float32)
    counts, inverse = np.empty(longest, dtype=np.float32), np.empty(longest, dtype=np.float32)
    mixture, gathered = np.empty(K, dtype=np.float32), np.empty(K, dtype=np.float32)
    for d in range(first, last):
        n_left = xp[d + 1] - xp[d]
        n_cells = _gather_rows(xi, x_topics, buffer, xp[d], xp[d + 1], 0)
        n_cells = _gather_rows(yi, y_topics, buffer, yp[d], yp[d + 1], n_cells)
        for i in range(n_left):
            counts[i] = xc[xp[d] + i]
        for i in range(n_left, n_cells):
            counts[i] = yc[yp[d] + i - n_left]
        for k in range(K):
            mixture[k] = theta[d, k] if warm else prior[k]
        fixed_point(buffer[:n_cells], counts[:n_cells], prior, mixture, gathered, inverse, n_iter, ZERO)
        for k in range(K):
            theta[d, k] = prior[k] + mixture[k] * gathered[k]


@njit(cache=True, nogil=True, fastmath=True)
def _words(indptr, documents, counts, theta, topics, expected, first, last):  # type: ignore[no-untyped-def]
    """Write the expected counts of words first to last in every topic."""
    K = theta.shape[1]
    row, gathered = np.empty(K, dtype=np.float32), np.empty(K, dtype=np.float32)
    for w in range(first, last):
        for k in range(K):
            row[k] = topics[w, k]
            gathered[k] = 0
        for cell in range(indptr[w], indptr[w + 1]):
            d = documents[cell]
            total = TINY
            for k in range(K):
                total += theta[d, k] * row[k]
            share = counts[cell] / total
            for k in range(K):
                gathered[k] += share * theta[d, k]
        for k in range(K):
            expected[w, k] = gathered[k] * row[k]
