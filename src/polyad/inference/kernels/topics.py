"""Compiled loops over the non-zero cells of a corpus, for ranges of documents or of words.

Layout: float32; topic tables are words x K with K padded by zeros to a multiple of 16, so that a topic row is
whole vector registers; the rows that a document needs are gathered once into a buffer and used by every iteration.
Loops over a range write to places of their own, so that ranges can run in any number of threads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyad.base.compiled import compiled, inlined

PAD = 16
TINY = np.float32(1e-30)
ONE = np.float32(1)
ZERO = np.float32(0)
# Responsibilities are kept as 16-bit parts of a token, since they are most of the memory that a pass moves; one less
# than the largest number of 16 bits, so that rounding cannot go past it. With 8 bits a pass takes a tenth less time,
# and the steps between them are so large that what rounding does elsewhere shows in the topics.
PARTS = np.float32(65534)
FEW_TOKENS = np.float32(4)  # whose probability, to that power, is far from the smallest number of double precision
LARGE = 1e150
STEP_FLOOR = np.float32(0.2)  # of what a step gives without over-relaxation: nothing may fall below zero
OWN_VOTE_CEILING = np.float32(0.95)  # of a word's probability in a document that a token's own vote can be, likewise


def padded(size: int) -> int:
    """Return a number of topics rounded up to whole vector registers."""
    return -(-size // PAD) * PAD


@inlined
def inverses_of_four(i, rows, shares):  # type: ignore[no-untyped-def]
    """Return 1 / (rows shares) of cells i to i + 3: one cell at a time waits for its sum, four share the loads."""
    a, b, c, d = TINY, TINY, TINY, TINY
    for k in range(rows.shape[1]):
        a += shares[k] * rows[i, k]
        b += shares[k] * rows[i + 1, k]
        c += shares[k] * rows[i + 2, k]
        d += shares[k] * rows[i + 3, k]
    return ONE / a, ONE / b, ONE / c, ONE / d


@inlined
def total_of_cell(i, rows, shares):  # type: ignore[no-untyped-def]
    """Return rows shares of cell i."""
    total = TINY
    for k in range(rows.shape[1]):
        total += shares[k] * rows[i, k]
    return total


@inlined
def gather_cells(first, rows, counts, shares, gathered, inverse):  # type: ignore[no-untyped-def]
    """Keep 1 / (rows shares) of the cells from the first on, and add up what they say of the topics."""
    n, K = rows.shape
    for i in range(first, n):
        total = TINY
        for k in range(K):
            total += shares[k] * rows[i, k]
        inverse[i] = ONE / total
        weight = counts[i] / total
        for k in range(K):
            gathered[k] += weight * rows[i, k]


@inlined
def fixed_point(rows, counts, prior, shares, gathered, inverse, n_iter, relaxation):  # type: ignore[no-untyped-def]
    """Iterate ``shares <- prior + shares * (rows' (counts / (rows shares)))`` for one document.

    With ``relaxation`` above 0 each step goes on by that share of its change (over-relaxed EM, Salakhutdinov and
    Roweis 2003): plain EM takes many small steps, and as long as the share is below 1 it still comes to rest in the
    same place. The last iteration leaves ``shares`` as they are: ``shares * gathered`` are then the expected tokens of
    the topics and ``inverse`` is 1 / (rows shares) for every cell, both for the same shares.
    """
    n, K = rows.shape
    fours = n - n % 4
    for iteration in range(n_iter):
        for k in range(K):
            gathered[k] = ZERO
        for i in range(0, fours, 4):
            a, b, c, d = inverses_of_four(i, rows, shares)
            inverse[i], inverse[i + 1], inverse[i + 2], inverse[i + 3] = a, b, c, d
            a, b, c, d = a * counts[i], b * counts[i + 1], c * counts[i + 2], d * counts[i + 3]
            for k in range(K):
                gathered[k] += a * rows[i, k] + b * rows[i + 1, k] + c * rows[i + 2, k] + d * rows[i + 3, k]
        gather_cells(fours, rows, counts, shares, gathered, inverse)
        if iteration < n_iter - 1:
            for k in range(K):
                step = prior[k] + shares[k] * gathered[k]
                shares[k] = max(step + relaxation * (step - shares[k]), STEP_FLOOR * step)


@inlined
def longest_row(first, last, indptr):  # type: ignore[no-untyped-def]
    """Return the largest number of cells in a row of the range."""
    longest = 0
    for d in range(first, last):
        longest = max(longest, indptr[d + 1] - indptr[d])
    return longest


@inlined
def gather_rows(start, n, words, counts, topics, rows):  # type: ignore[no-untyped-def]
    """Copy the topic rows of a document's words into a buffer; return the document's length."""
    K = topics.shape[1]
    length = ZERO
    for i in range(n):
        word = words[start + i]
        length += counts[start + i]
        for k in range(K):
            rows[i, k] = topics[word, k]
    return length


@inlined
def write_shares(tokens, prior, out):  # type: ignore[no-untyped-def]
    """Write (prior + tokens) scaled to sum to 1."""
    # A sum in a loop that also writes is added up in another order where the compiler cannot rule out that what is
    # written lies on what is read, and that hangs on where small arrays happen to lie: sum first, write after.
    total = ZERO
    for k in range(prior.size):
        total += prior[k] + tokens[k]
    for k in range(prior.size):
        out[k] = (prior[k] + tokens[k]) / total


@compiled(fastmath=True)
def infer_shares(first, last, indptr, words, counts, topics, prior, n_topics, n_iter, out):  # type: ignore[no-untyped-def]
    """Topic shares with fixed topics, for documents first to last, by the fixed point of EM."""
    K = topics.shape[1]
    longest = longest_row(first, last, indptr)
    rows = np.empty((longest, K), np.float32)
    inverse = np.empty(longest, np.float32)
    shares, gathered = np.empty(K, np.float32), np.empty(K, np.float32)
    prior_total = prior.sum()
    for d in range(first, last):
        start, n = indptr[d], indptr[d + 1] - indptr[d]
        scale = ONE + gather_rows(start, n, words, counts, topics, rows) / prior_total
        for k in range(K):
            shares[k] = prior[k] * scale
        fixed_point(rows[:n], counts[start : start + n], prior, shares, gathered, inverse, n_iter, ZERO)
        for k in range(K):
            gathered[k] *= shares[k]
        write_shares(gathered, prior, out[d])


@compiled(fastmath=True)
def infer_shares_cvb0(first, last, indptr, words, counts, topics, prior, n_topics, n_iter, out):  # type: ignore[no-untyped-def]
    """Topic shares with fixed topics, for documents first to last: every token sees the others' assignments."""
    K = topics.shape[1]
    longest = longest_row(first, last, indptr)
    rows, responsibilities = np.empty((longest, K), np.float32), np.empty((longest, K), np.float32)
    inverse = np.empty(longest, np.float32)
    shares, tokens = np.empty(K, np.float32), np.empty(K, np.float32)
    none = np.zeros(K, np.float32)
    prior_total = prior.sum()
    for d in range(first, last):
        start, n = indptr[d], indptr[d + 1] - indptr[d]
        scale = ONE + gather_rows(start, n, words, counts, topics, rows) / prior_total
        for k in range(K):
            shares[k] = prior[k] * scale
        fixed_point(rows[:n], counts[start : start + n], prior, shares, tokens, inverse, 3, ZERO)
        for i in range(n):
            for k in range(K):
                responsibilities[i, k] = shares[k] * rows[i, k] * inverse[i]
        for k in range(K):
            shares[k] = prior[k] + shares[k] * tokens[k]
        cvb0_sweeps(rows[:n], counts[start : start + n], shares, responsibilities[:n], tokens, n_iter)
        write_shares(none, shares, out[d])


@inlined
def cvb0_sweeps(rows, counts, shares, responsibilities, fresh, n_iter):  # type: ignore[no-untyped-def]
    """Sweep over the cells of a document, each leaving one own token out of the document's counts.

    ``shares`` (prior + expected tokens) and ``responsibilities`` (responsibilities of a token) change in place.
    """
    n, K = rows.shape
    for _ in range(n_iter):
        for i in range(n):
            total = TINY
            for k in range(K):
                fresh[k] = max(shares[k] - responsibilities[i, k], ZERO) * rows[i, k]
            for k in range(K):
                total += fresh[k]
            inverse, count = ONE / total, counts[i]
            for k in range(K):
                value = fresh[k] * inverse
                shares[k] += count * (value - responsibilities[i, k])
                responsibilities[i, k] = value


@inlined
def _log_likelihoods(counts, inverse, responsibility_at):  # type: ignore[no-untyped-def]
    """Log-likelihood of a document's tokens, of all of them, and of those in cells that keep no responsibilities.

    A logarithm for every cell would take as long as one of the iterations: probabilities are multiplied up, and the
    logarithm is taken of products of many.
    """
    of_all, of_some = 0.0, 0.0
    product, some = 1.0, 1.0
    for i in range(counts.size):
        if counts[i] <= FEW_TOKENS:
            factor = np.float64(inverse[i])
            for _ in range(1, np.int32(counts[i])):
                factor *= inverse[i]
            product *= factor
            if responsibility_at[i] < 0:
                some *= factor
        else:
            value = counts[i] * np.log(np.float64(inverse[i]))
            of_all += value
            if responsibility_at[i] < 0:
                of_some += value
        if product > LARGE or product < ONE / LARGE:
            of_all += np.log(product)
            product = 1.0
        if some > LARGE or some < ONE / LARGE:
            of_some += np.log(some)
            some = 1.0
    return -(of_all + np.log(product)), -(of_some + np.log(some))


@inlined
def _leave_own_votes_out(rows, shares):  # type: ignore[no-untyped-def]
    """Change the topic rows of a document so that no token sees its own vote in the document's shares, in place.

    A token's responsibilities, ``shares * row / total``, are a part of the shares that it sees. Without them it sees
    ``shares * (1 - row / total)``. Shares are the same for all tokens, so it is the rows that change.
    """
    n, K = rows.shape
    fours = n - n % 4
    for i in range(0, fours, 4):
        a, b, c, d = inverses_of_four(i, rows, shares)
        for k in range(K):
            rows[i, k] *= max(ONE - a * rows[i, k], ZERO)
        for k in range(K):
            rows[i + 1, k] *= max(ONE - b * rows[i + 1, k], ZERO)
        for k in range(K):
            rows[i + 2, k] *= max(ONE - c * rows[i + 2, k], ZERO)
        for k in range(K):
            rows[i + 3, k] *= max(ONE - d * rows[i + 3, k], ZERO)
    for i in range(fours, n):
        inverse = ONE / total_of_cell(i, rows, shares)
        for k in range(K):
            rows[i, k] *= max(ONE - inverse * rows[i, k], ZERO)


class DocumentCells(NamedTuple):
    """The cells of documents, one after the other: where each document begins, the words, and their counts."""

    indptr: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[np.float32]


class TopicRows(NamedTuple):
    """What an E step knows of the topics.

    ``one_token`` and ``floor``, which leaving out needs, have one row for each view: what one token adds to a word's
    probability, and the least that a word can have.
    """

    table: NDArray[np.float32]
    prior: NDArray[np.float32]
    view_of: NDArray[np.uint16]
    one_token: NDArray[np.float32]
    floor: NDArray[np.float32]


class EStep(NamedTuple):
    """How an E step goes.

    ``relaxation`` is the over-relaxation of the fixed point; ``warm`` goes on from the expected tokens of the last
    pass; with ``leave_out`` documents and tokens do not see themselves.
    """

    n_iter: int
    relaxation: np.float32
    warm: bool
    leave_out: bool


class Expected(NamedTuple):
    """What a pass finds of documents: expected tokens, shares, responsibilities in parts of a token, likelihood.

    Responsibilities are of the cells that keep them: ``responsibility_at`` says where, or -1.
    """

    tokens: NDArray[np.float32]
    shares: NDArray[np.float32]
    responsibilities: NDArray[np.uint16]
    likelihood: NDArray[np.float64]


@compiled(fastmath=True)
def expect_documents(first, last, cells, responsibility_at, known, how, old_tokens, old_responsibilities, found):  # type: ignore[no-untyped-def]
    """E step of documents first to last: ``found`` is an :class:`Expected`, written in place.

    With ``leave_out`` a cell whose responsibilities were kept sees its word's row in all other documents
    (leave-one-document-out: the tokens of its own are taken out of it); and every token sees the shares that the other
    tokens of its document give, as in CVB0 (Asuncion et al. 2009). The likelihood is then that of each token given the
    others: of all tokens of the document, and of those that keep no responsibilities.
    """
    indptr, words, counts, prior = cells.indptr, cells.words, cells.counts, known.prior
    K = known.table.shape[1]
    longest = longest_row(first, last, indptr)
    rows, inverse = np.empty((longest, K), np.float32), np.empty(longest, np.float32)
    shares, gathered = np.empty(K, np.float32), np.empty(K, np.float32)
    prior_total = prior.sum()
    for d in range(first, last):
        start, n = indptr[d], indptr[d + 1] - indptr[d]
        length, frequent = ZERO, ZERO
        for i in range(n):
            word, own = words[start + i], responsibility_at[start + i]
            length += counts[start + i]
            if own < 0:
                frequent += counts[start + i]
            if how.leave_out and own >= 0:
                part, view = counts[start + i] / PARTS, known.view_of[word]
                one_token, least = known.one_token[view], known.floor[view]
                before, row = old_responsibilities[own], known.table[word]
                for k in range(K):
                    tokens = part * np.float32(np.int32(before[k]))
                    rows[i, k] = max(row[k] - tokens * one_token[k], least[k])
            else:
                for k in range(K):
                    rows[i, k] = known.table[word, k]
        scale = ONE + length / prior_total
        for k in range(K):
            shares[k] = prior[k] + old_tokens[d, k] if how.warm else prior[k] * scale
        if how.leave_out:
            _leave_own_votes_out(rows[:n], shares)
        own_inverse = inverse[:n]
        fixed_point(
            rows[:n], counts[start : start + n], prior, shares, gathered, own_inverse, how.n_iter, how.relaxation
        )
        for i in range(n):
            own = responsibility_at[start + i]
            if own >= 0:
                parts = PARTS * own_inverse[i]
                for k in range(K):
                    found.responsibilities[own, k] = np.int32(parts * shares[k] * rows[i, k] + np.float32(0.5))
        total = -1.0 if how.leave_out else 0.0  # one token is not among the others
        for k in range(K):  # by itself: how a sum is vectorised beside stores depends on where arrays lie
            total += shares[k]
        for k in range(K):
            found.shares[d, k] = shares[k]
            found.tokens[d, k] = shares[k] * gathered[k]
        of_all, of_some = _log_likelihoods(counts[start : start + n], own_inverse, responsibility_at[start : start + n])
        log_total = np.log(max(total, 1e-30))
        found.likelihood[d, 0], found.likelihood[d, 1] = of_all - length * log_total, of_some - frequent * log_total


@inlined
def _weights_of_shares(count, total, squares, own):  # type: ignore[no-untyped-def]
    """Return a and b such that the tokens of a cell are ``(a - b * row) * shares * row``: b is 0 with ``own`` 0.

    ``total`` and ``squares`` are the sums of ``row * shares`` and of ``row * row * shares``.
    """
    inverse = min(own / total, OWN_VOTE_CEILING * total / max(squares, TINY))
    weight = count / (total - squares * inverse)
    return weight, weight * inverse


@compiled(fastmath=True)
def collect_words(  # type: ignore[no-untyped-def]
    first, last, word_ptr, documents, counts, shares_of, topics, responsibility_at, responsibilities, leave_out, out
):
    """M step of words first to last: expected tokens of each topic, summed document by document.

    Going word by word needs no accumulators, so that there is nothing to merge. What the E step has found for a cell
    lies document by document: it costs less to find 1 / (row shares) again than to fetch it, but for the cells whose
    responsibilities are kept. With ``leave_out`` a token has the responsibilities that the shares without its own vote
    give, as in the E step. They can be less than nothing for a topic that only this token speaks for; over the
    documents of a word they are not.
    """
    K = topics.shape[1]
    tokens, scaled, row = np.empty(K, np.float32), np.empty(K, np.float32), np.empty(K, np.float32)
    own = ONE if leave_out else ZERO
    for word in range(first, last):
        for k in range(K):
            tokens[k], scaled[k], row[k] = ZERO, ZERO, topics[word, k]
        p, end = word_ptr[word], word_ptr[word + 1]
        while p < end:
            place = responsibility_at[p]
            if place >= 0:
                part = counts[p] / PARTS
                for k in range(K):
                    tokens[k] += part * np.float32(np.int32(responsibilities[place, k]))
                p += 1
            elif p + 4 <= end and max(responsibility_at[p + 1], responsibility_at[p + 2], responsibility_at[p + 3]) < 0:
                # Four cells at a time, as in the fixed point.
                i, j, m, n = documents[p], documents[p + 1], documents[p + 2], documents[p + 3]
                a, b, c, d = TINY, TINY, TINY, TINY
                e, f, g, h = ZERO, ZERO, ZERO, ZERO
                for k in range(K):
                    square = row[k] * row[k]
                    a += row[k] * shares_of[i, k]
                    b += row[k] * shares_of[j, k]
                    c += row[k] * shares_of[m, k]
                    d += row[k] * shares_of[n, k]
                    e += square * shares_of[i, k]
                    f += square * shares_of[j, k]
                    g += square * shares_of[m, k]
                    h += square * shares_of[n, k]
                a, e = _weights_of_shares(counts[p], a, e, own)
                b, f = _weights_of_shares(counts[p + 1], b, f, own)
                c, g = _weights_of_shares(counts[p + 2], c, g, own)
                d, h = _weights_of_shares(counts[p + 3], d, h, own)
                for k in range(K):
                    scaled[k] += (
                        (a - e * row[k]) * shares_of[i, k]
                        + (b - f * row[k]) * shares_of[j, k]
                        + (c - g * row[k]) * shares_of[m, k]
                        + (d - h * row[k]) * shares_of[n, k]
                    )
                p += 4
            else:
                document, total, squares = documents[p], TINY, ZERO
                for k in range(K):
                    total += row[k] * shares_of[document, k]
                    squares += row[k] * row[k] * shares_of[document, k]
                total, squares = _weights_of_shares(counts[p], total, squares, own)
                for k in range(K):
                    scaled[k] += (total - squares * row[k]) * shares_of[document, k]
                p += 1
        for k in range(K):
            out[word, k] = tokens[k] + max(scaled[k], ZERO) * row[k]


@compiled(fastmath=True)
def over_relax(first, last, others, before, fresh, parts, out):  # type: ignore[no-untyped-def]
    """Write the counts of words first to last in all documents, gone on in the direction of their last change.

    ``fresh`` are the counts in the documents that were looked at last, ``before`` what they had been, and ``others``
    those in all other documents. Each word goes on by a part of the change. Returns the sums over the words.
    """
    K = fresh.shape[1]
    sums = np.zeros(K)
    for word in range(first, last):
        part = parts[word]
        for k in range(K):
            now = others[word, k] + fresh[word, k]
            value = max(now + part * (fresh[word, k] - before[word, k]), STEP_FLOOR * now)
            out[word, k] = value
            sums[k] += value
    return sums


@compiled(fastmath=True)
def topic_sums(counts):  # type: ignore[no-untyped-def]
    """Return the sums over words, in double precision."""
    totals = np.zeros(counts.shape[1])
    for word in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            totals[k] += counts[word, k]
    return totals


@compiled(fastmath=True)
def scale_and_raise(first, last, counts, scale, floor, out):  # type: ignore[no-untyped-def]
    """Write ``counts * scale + floor`` of words first to last, both with one number for each topic.

    ``out`` may be the counts themselves.
    """
    for word in range(first, last):
        for k in range(counts.shape[1]):
            out[word, k] = counts[word, k] * scale[k] + floor[k]
