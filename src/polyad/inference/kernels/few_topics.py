"""Compiled loops of EM for many topics: of each document only the topics that it has are kept and looked at.

A document of some hundred words has a dozen of five hundred topics, and a pass that multiplies by the shares of all of
them multiplies by nothing nearly always. The first E step looks at all topics; from then on a document has those that
it kept, and loses further ones as their tokens go to nothing.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyad.base.compiled import compiled
from polyad.inference.kernels.topics import (
    ONE,
    PAD,
    PARTS,
    TINY,
    ZERO,
    _leave_own_votes_out,
    _log_likelihoods,
    _weights_of_shares,
    fixed_point,
    longest_row,
)

RAISE = np.float32(1.25)  # of the least tokens that are kept, as long as a document has more topics than places


class Kept(NamedTuple):
    """What is kept of documents, one after the other.

    ``place`` says where the topics of a document begin, of which it has ``sizes``; ``topics``, ``tokens`` and
    ``shares`` are their numbers, expected tokens and shares. ``responsibilities`` are those of the cells that keep
    them, in parts of a token and in the order of the document's topics; ``responsibility_place`` says where.
    """

    place: NDArray[np.int64]
    sizes: NDArray[np.int32]
    topics: NDArray[np.uint16]
    tokens: NDArray[np.float32]
    shares: NDArray[np.float32]
    responsibility_place: NDArray[np.int64]
    responsibilities: NDArray[np.uint16]


@compiled(fastmath=True)
def expect_few(first, last, cells, responsibility_at, known, how, least, old, found, likelihood):  # type: ignore[no-untyped-def]
    """E step of documents first to last, as :func:`~polyad.inference.kernels.topics.expect_documents`.

    ``found`` is a :class:`Kept`, written in place: topics with more than ``least`` tokens, and of these no more than
    there are places for. A document with tokens keeps at least one.
    """
    indptr, words, counts, prior = cells.indptr, cells.words, cells.counts, known.prior
    K = prior.size
    longest = longest_row(first, last, indptr)
    buffer, inverse = np.empty(longest * K, np.float32), np.empty(longest, np.float32)
    ids, own_prior = np.empty(K, np.int64), np.empty(K, np.float32)
    shares, gathered, tokens = np.empty(K, np.float32), np.empty(K, np.float32), np.empty(K, np.float32)
    one_token, floor = np.empty(K, np.float32), np.empty(K, np.float32)
    prior_total = prior.sum()
    for d in range(first, last):
        start, n, place = indptr[d], indptr[d + 1] - indptr[d], old.place[d]
        m = np.int64(old.sizes[d]) if how.warm else K
        width = (m + PAD - 1) // PAD * PAD
        length, frequent = ZERO, ZERO
        for i in range(n):
            length += counts[start + i]
            if responsibility_at[start + i] < 0:
                frequent += counts[start + i]
        scale = ONE + length / prior_total
        for j in range(m):
            ids[j] = old.topics[place + j] if how.warm else j
        for j in range(m, width):
            ids[j] = 0
        for j in range(m):
            own_prior[j] = prior[ids[j]]
        for j in range(m):
            shares[j] = own_prior[j] + old.tokens[place + j] if how.warm else own_prior[j] * scale
        for j in range(m, width):
            own_prior[j], shares[j] = ZERO, ZERO
        rows = buffer[: n * width].reshape(n, width)
        for i in range(n):
            word, own = words[start + i], responsibility_at[start + i]
            row = known.table[word]
            if how.warm:
                for j in range(width):
                    rows[i, j] = row[ids[j]]
            else:  # all topics, in their order: whole registers
                for j in range(width):
                    rows[i, j] = row[j]
            if how.leave_out and own >= 0:
                part, view, at = counts[start + i] / PARTS, known.view_of[word], old.responsibility_place[own]
                for j in range(width):
                    one_token[j], floor[j] = known.one_token[view, ids[j]], known.floor[view, ids[j]]
                for j in range(m):
                    before = part * np.float32(np.int32(old.responsibilities[at + j])) if how.warm else ZERO
                    rows[i, j] = max(rows[i, j] - before * one_token[j], floor[j])
            for j in range(m, width):
                rows[i, j] = ZERO
        if how.leave_out:
            _leave_own_votes_out(rows, shares[:width])
        own_inverse = inverse[:n]
        fixed_point(
            rows, counts[start : start + n], own_prior[:width], shares[:width], gathered[:width], own_inverse,
            how.n_iter, how.relaxation,
        )  # fmt: skip
        total = np.float64(prior_total) - (1.0 if how.leave_out else 0.0)  # one token is not among the others
        for j in range(m):
            total += shares[j] - own_prior[j]
        most = ZERO
        for j in range(m):
            tokens[j] = shares[j] * gathered[j]
        for j in range(m):
            most = max(most, tokens[j])
        places, bound, size = old.place[d + 1] - place, min(least, np.float32(0.5) * most), m + 1
        while size > places:
            size = 0
            for j in range(m):
                size += tokens[j] > bound
            if size > places:
                bound = bound * RAISE + TINY
        size = 0
        for j in range(m):
            if tokens[j] > bound:
                found.topics[place + size] = ids[j]
                found.tokens[place + size] = tokens[j]
                found.shares[place + size] = shares[j]
                ids[size], shares[size] = j, shares[j]  # from here on the columns of those that are kept
                size += 1
        for i in range(n):
            own = responsibility_at[start + i]
            if own >= 0:
                parts, at = PARTS * own_inverse[i], old.responsibility_place[own]
                for j in range(size):
                    part = parts * shares[j] * rows[i, ids[j]] + np.float32(0.5)
                    found.responsibilities[at + j] = np.int32(part)
        found.sizes[d] = size
        of_all, of_some = _log_likelihoods(counts[start : start + n], own_inverse, responsibility_at[start : start + n])
        log_total = np.log(max(total, 1e-30))
        likelihood[d, 0], likelihood[d, 1] = of_all - length * log_total, of_some - frequent * log_total


@compiled(fastmath=True)
def collect_few(first, last, word_ptr, documents, counts, responsibility_at, kept, topics, leave_out, out):  # type: ignore[no-untyped-def]
    """M step of words first to last, as :func:`~polyad.inference.kernels.topics.collect_words`."""
    K = topics.shape[1]
    tokens, scaled, row = np.empty(K, np.float32), np.empty(K, np.float32), np.empty(K, np.float32)
    own = ONE if leave_out else ZERO
    for word in range(first, last):
        for k in range(K):
            tokens[k], scaled[k], row[k] = ZERO, ZERO, topics[word, k]
        for p in range(word_ptr[word], word_ptr[word + 1]):
            d, at = documents[p], responsibility_at[p]
            begin, end = kept.place[d], kept.place[d] + kept.sizes[d]
            if at >= 0:
                part, before = counts[p] / PARTS, kept.responsibility_place[at] - begin
                for j in range(begin, end):
                    tokens[kept.topics[j]] += part * np.float32(np.int32(kept.responsibilities[before + j]))
            else:
                total, squares = TINY, ZERO
                for j in range(begin, end):
                    value = row[kept.topics[j]]
                    total += value * kept.shares[j]
                    squares += value * value * kept.shares[j]
                weight, weight_of_row = _weights_of_shares(counts[p], total, squares, own)
                for j in range(begin, end):
                    k = kept.topics[j]
                    scaled[k] += (weight - weight_of_row * row[k]) * kept.shares[j]
        for k in range(K):
            out[word, k] = tokens[k] + max(scaled[k], ZERO) * row[k]
