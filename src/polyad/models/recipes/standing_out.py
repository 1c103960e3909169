"""How many directions of the second moment of some documents are there in other documents as well."""

from collections.abc import Callable

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.decompose import RankError, whiten
from polyad.engine import Source, halves

# Times an eigenvalue is larger than the next one, where what follows may be noise; the first may be that of the mean
# or of stop words, and must be larger by twice as much. On AP and NIPS later ones are so by at most 1.45 times.
FALL = 2.0
FLAT = 1.5  # times the K-th eigenvalue that those of noise may be; on text eigenvalues go on falling
HELD = 0.3  # of the variance of a direction that other documents have: noise has 0 on average, topics about 1


Whiteners = tuple[FloatArray, FloatArray]  # W1 and W2, with W1 S W2' = I; the same two where S is symmetric


def n_standing_out(
    second_of: Callable[[Source], LinearOperator],
    whiteners_of: Callable[[LinearOperator, int], Whiteners],
    source: Source,
    spectrum: FloatArray,
    K: int,
) -> int:
    """Return how many of K directions are told by either half of the documents, as far as the other half knows.

    The most negative eigenvalue tells the noise of the largest ones where documents are many and of one length; with
    more words than documents, and where a few long documents have most of the variance, the largest are up to six
    times as large. So each half is whitened by itself, and the variance that the other half has in these directions is
    looked at. That is as much work again as the whitening; it is done where the spectrum falls before its K-th value
    as it does between topics and noise, and is flat from there, and where passes are not dear.

    Parameters
    ----------
    second_of
        The second moment of some documents, of one view or of two.
    whiteners_of
        The whiteners of so many of its directions; it refuses more than there are by a ``RankError``.
    source
        The documents.
    spectrum
        Eigenvalues or singular values of the second moment of all of them, largest first.
    K
        How many directions are asked for.
    """
    if source.passes_are_dear or source.n_rows < 4 * K or not may_end_in_noise(spectrum[:K]):
        return K
    try:
        seconds = [second_of(half) for half in halves(source)]
    except ValueError:  # a half that has no moments says nothing
        return K
    held = np.zeros((2, K))
    for own, (here, there) in zip(held, (seconds, seconds[::-1])):
        first, second = _as_many_as_there_are(whiteners_of, here, K)
        products = first @ (there @ second.T)
        own[: len(first)] = linalg.eigvalsh(products + products.T)[::-1] / 2
    return max(int((held.mean(axis=0) >= HELD).sum()), 1)


def may_end_in_noise(spectrum: FloatArray) -> bool:
    """Tell whether a spectrum falls, and is flat from there on.

    Examples
    --------
    >>> may_end_in_noise(np.array([9.0, 8.0, 1.1, 1.0])), may_end_in_noise(np.array([9.0, 3.0, 2.0, 1.5, 1.2, 1.0]))
    (True, False)
    >>> may_end_in_noise(np.array([3.0, 1.1, 1.0])), may_end_in_noise(np.array([9.0, 1.1, 1.0]))
    (False, True)
    """
    known = np.maximum(spectrum, 1e-300)
    least = np.full(max(known.size - 1, 0), FALL)
    least[:1] *= 2
    return bool(((known[:-1] >= least * known[1:]) & (known[1:] <= FLAT * known[-1:])).any())


def whiteners_in(metric: FloatArray, second: LinearOperator, K: int) -> Whiteners:
    """Return the whitener of a symmetric second moment in a metric, twice."""
    whitener = whiten(second, K, metric=metric, strict=False).whitener
    return whitener, whitener


def _as_many_as_there_are(
    whiteners_of: Callable[[LinearOperator, int], Whiteners], second: LinearOperator, K: int
) -> Whiteners:
    try:
        return whiteners_of(second, K)
    except RankError as error:
        if error.supported:
            return whiteners_of(second, error.supported)
        return np.empty((0, second.shape[0])), np.empty((0, second.shape[1]))
