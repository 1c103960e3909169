"""The total of a Dirichlet prior from second moments, with the topics known."""

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.moments.counts.lda import RawMoments

SMALLEST, LARGEST = 0.05, 100.0
FREQUENT = 0.9  # of all tokens are of the words looked at: the rows of rarer ones are as noisy as what they would tell
DISTINCT = 1e-3  # least eigenvalue of the correlations of topics that words can tell apart; on text it is .4 and more


def estimate_concentration(
    raw: RawMoments, components: FloatArray, mean_document: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Return the total concentration c0 and the mean topic shares of the documents.

    Pairs of distinct words have the moment M2 = D' E[t t'] D, so that the topics' second moments A = E[t t'] follow
    by least squares, and with mean shares m a Dirichlet has A_kk = m_k (m_k c0 + 1) / (c0 + 1). Expected topic counts
    of documents, from which likelihood methods estimate c0, are smoother than the topics they stand for, and drive
    the estimate up from iteration to iteration; pairs of words are unbiased. One pass.

    Parameters
    ----------
    raw
        Raw moments of the corpus.
    components
        Topics, K x M.
    mean_document
        Word proportions that the mean shares make up, M; None takes the first of the raw moments.
    """
    mean = raw.moments.mean
    inverse = _left_inverse(components, mean)
    means = _mean_shares(mean, inverse)
    squares = raw.pair_energies(inverse.T)
    spread = float((squares - means**2).sum())
    # Less variance than no variance at all are shares that hardly differ.
    total = LARGEST if spread <= 0 else float(np.clip((means - squares).sum() / spread, SMALLEST, LARGEST))
    return total, means if mean_document is None else _mean_shares(mean_document, inverse)


def total_error(prior: FloatArray, n_documents: float) -> float:
    """Return the standard error, relative to the total, with which documents of a Dirichlet prior can tell its total.

    The total follows from the spread of the shares, ``E |t - m|^2 = (1 - |m|^2) / (c0 + 1)``. Its estimate has the
    relative variance ``(E |t - m|^4 / (E |t - m|^2)^2 - 1) / n`` at least, with the shares of n documents known: it is
    large where one topic makes up most of them, and few others tell the spread.

    Parameters
    ----------
    prior
        Dirichlet parameters, K.
    n_documents
        How many, or as many of the same weight as some of different weights are worth.

    Examples
    --------
    >>> round(total_error(np.full(5, 0.2), 1000.0), 3), round(total_error(np.array([3, 0.05, 0.05]), 1000.0), 3)
    (0.032, 0.202)
    """
    c0, size = float(prior.sum()), prior.size
    means = prior / c0
    rising = np.stack(
        [np.prod([prior + i for i in range(order)], axis=0) if order else np.ones(size) for order in range(5)]
    )
    scale = np.array([np.prod([c0 + i for i in range(order)]) for order in range(5)])
    signs = np.array([[1.0, -2.0, 1.0]]).T * np.stack([means**2, means, np.ones(size)])  # of (t - m)^2, by powers of t
    pairs = sum(np.outer(signs[a] * rising[a], signs[b] * rising[b]) / scale[a + b] for a in range(3) for b in range(3))
    fours = sum(
        sign * (-means) ** (4 - order) * rising[order] / scale[order] for order, sign in enumerate((1, 4, 6, 4, 1))
    )
    fourth = float(pairs.sum() - np.trace(pairs) + np.sum(fours))
    second = (1 - float(means @ means)) / (c0 + 1)
    relative = np.sqrt(max(fourth / second**2 - 1, 0.0) / max(n_documents, 1.0))
    return float(relative * (c0 + 1) / c0)


def mean_shares(components: FloatArray, mean: FloatArray) -> FloatArray:
    """Return the shares in which topics make up a distribution of words, K, by least squares; none is negative."""
    return _mean_shares(mean, _left_inverse(components, mean))


def _mean_shares(mean: FloatArray, inverse: FloatArray) -> FloatArray:
    means = np.maximum(mean @ inverse, 0)
    return means / max(float(means.sum()), 1e-300)


def _left_inverse(components: FloatArray, mean: FloatArray) -> FloatArray:
    """Return an M x K matrix with components @ inverse = 1: least squares in the metric of the counts.

    It looks at the frequent words alone, if these tell the topics apart.
    """
    inverse = np.zeros(components.T.shape)
    for words in (_frequent_words(mean, at_least=4 * components.shape[0]), np.flatnonzero(mean > 0)):
        topics = components[:, words]
        weighted = np.multiply(topics.T, 1 / mean[words, None], order="C")
        gram = topics @ weighted
        if _tell_apart(gram):
            break
    inverse[words] = weighted @ linalg.pinvh(gram)
    return inverse


def _tell_apart(gram: FloatArray) -> bool:
    """Tell from the inner products of topics whether none is nearly a mixture of others."""
    sizes = np.sqrt(np.maximum(np.diagonal(gram), 1e-300))
    smallest = linalg.eigvalsh(gram / np.outer(sizes, sizes), subset_by_index=(0, 0))[0]
    return bool(smallest > DISTINCT)


def _frequent_words(mean: FloatArray, at_least: int) -> NDArray[np.intp]:
    """Return the words that make up most of all tokens, in increasing order."""
    order = np.argsort(-mean, kind="stable")[: int((mean > 0).sum())]
    running = np.cumsum(mean[order])
    n_words = int(np.searchsorted(running, FREQUENT * running[-1])) + 1
    return np.sort(order[: max(n_words, at_least)])
