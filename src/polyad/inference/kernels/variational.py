"""Compiled loops of variational inference (Blei, Ng and Jordan 2003), in the layout of :mod:`.topics`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyad.base.compiled import compiled, inlined
from polyad.inference.kernels.topics import ONE, ZERO, gather_cells, gather_rows, longest_row, write_shares


@inlined
def digamma(x):  # type: ignore[no-untyped-def]
    """Digamma of a positive number: shifted up to 6, then the asymptotic series; right to 1e-9."""
    shift = 0.0
    while x < 6.0:
        shift -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (1.0 / 12 - inverse * (1.0 / 120 - inverse * (1.0 / 252 - inverse * (1.0 / 240))))
    return shift + np.log(x) - 0.5 / x - series


@inlined
def _variational_tokens(rows, counts, prior, n_topics, gamma, weights, gathered, inverse, n_iter):  # type: ignore[no-untyped-def]
    """Iterate ``gamma <- prior + weights * (rows' (counts / (rows weights)))``, weights = exp(digamma(gamma)).

    The last iteration leaves ``gamma`` as it is: ``weights``, ``gathered`` and ``inverse`` belong to it. Returns the
    logarithm of the scale that was taken out of the weights.
    """
    K = rows.shape[1]
    shift = 0.0
    for iteration in range(n_iter):
        shift = digamma(gamma[0])
        for k in range(1, n_topics):
            shift = max(shift, digamma(gamma[k]))
        for k in range(K):
            gathered[k] = ZERO
            # The scale of the weights cancels; the largest is 1, or those of many small topics would underflow.
            weights[k] = np.float32(np.exp(digamma(gamma[k]) - shift)) if k < n_topics else ZERO
        gather_cells(0, rows, counts, weights, gathered, inverse)
        if iteration < n_iter - 1:
            for k in range(K):
                gamma[k] = prior[k] + weights[k] * gathered[k]
    return shift


@compiled(fastmath=True)
def infer_shares_variational(  # type: ignore[no-untyped-def]
    first, last, indptr, words, counts, topics, prior, n_topics, n_iter, out
):
    """Topic shares with fixed topics, for documents first to last: means of the variational posterior."""
    K = topics.shape[1]
    longest = longest_row(first, last, indptr)
    rows = np.empty((longest, K), np.float32)
    inverse = np.empty(longest, np.float32)
    gamma, weights, gathered = np.empty(K, np.float32), np.empty(K, np.float32), np.empty(K, np.float32)
    prior_total = prior.sum()
    for d in range(first, last):
        start, n = indptr[d], indptr[d + 1] - indptr[d]
        length = gather_rows(start, n, words, counts, topics, rows)
        for k in range(K):
            gamma[k] = prior[k] * (ONE + length / prior_total)
        _variational_tokens(
            rows[:n], counts[start : start + n], prior, n_topics, gamma, weights, gathered, inverse, n_iter
        )
        for k in range(K):
            gathered[k] *= weights[k]
        write_shares(gathered, prior, out[d])


class VariationalShares(NamedTuple):
    """What the E step finds: for each document Dirichlet parameters, exp(digamma) of them, and for each cell a number.

    ``shift`` is the logarithm of the scale that was taken out of a document's weights.
    """

    gamma: NDArray[np.float32]
    weights: NDArray[np.float32]
    inverse: NDArray[np.float32]
    shift: NDArray[np.float64]


@compiled(fastmath=True)
def expect_variational(first, last, cells, topics, prior, n_topics, n_iter, warm, found):  # type: ignore[no-untyped-def]
    """Variational E step of documents first to last: ``found`` are :class:`VariationalShares`, written in place."""
    indptr, words, counts, inverse = cells.indptr, cells.words, cells.counts, found.inverse
    K = topics.shape[1]
    longest = longest_row(first, last, indptr)
    rows = np.empty((longest, K), np.float32)
    gathered = np.empty(K, np.float32)
    prior_total = prior.sum()
    for d in range(first, last):
        start, n = indptr[d], indptr[d + 1] - indptr[d]
        length = gather_rows(start, n, words, counts, topics, rows)
        if not warm:
            for k in range(K):
                found.gamma[d, k] = prior[k] * (ONE + length / prior_total)
        found.shift[d] = _variational_tokens(
            rows[:n], counts[start : start + n], prior, n_topics, found.gamma[d], found.weights[d], gathered,
            inverse[start : start + n], n_iter,
        )  # fmt: skip
