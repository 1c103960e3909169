"""How accurate the cumulants of discrete ICA are: the mean squared error of S, exactly, and a bound on that of T."""

from dataclasses import dataclass

import numpy as np

from polyad.base.arrays import FloatArray


@dataclass(frozen=True)
class SourceCumulants:
    """The first four cumulants of the sources of discrete ICA, K numbers each."""

    mean: FloatArray
    variance: FloatArray
    third: FloatArray
    fourth: FloatArray


def gamma_cumulants(shapes: FloatArray, rates: FloatArray | float) -> SourceCumulants:
    """Return the cumulants of gamma sources: c/b, c/b^2, 2 c/b^3, 6 c/b^4.

    Examples
    --------
    >>> gamma_cumulants(np.array([2.0]), 0.5).third
    array([32.])
    """
    c, b = np.asarray(shapes, dtype=np.float64), np.asarray(rates, dtype=np.float64)
    return SourceCumulants(c / b, c / b**2, 2 * c / b**3, 6 * c / b**4)


def discrete_ica_accuracy(components: FloatArray, sources: SourceCumulants, n_documents: int) -> float:
    """Return the root mean squared Frobenius error of the S-cumulant that a sample of documents will have.

    S is a U-statistic of pairs of documents, so that its variance has a closed form in the first four cumulants of
    the counts. Proposition 3.1 of the discrete ICA paper bounds the same number up to constants and O(1/N^2); its last
    step loses a factor 1 / min(1, c0)^3 of the square, which is what makes few topics per document costly. By Markov's
    inequality the error is below ``accuracy / sqrt(failure)`` but for a probability ``failure``.

    Parameters
    ----------
    components
        Topics, K x M; rows sum to 1.
    sources
        Cumulants of the intensities: :func:`gamma_cumulants` for the gamma-Poisson model.
    n_documents
        N.

    Examples
    --------
    >>> topics = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> sources = gamma_cumulants(np.array([0.5, 0.5]), 0.1)
    >>> round(discrete_ica_accuracy(topics, sources, 100) / discrete_ica_accuracy(topics, sources, 10_000), 1)
    10.0
    """
    if n_documents < 2:
        raise ValueError(f"n_documents is {n_documents}; a covariance needs at least 2.")
    D = np.asarray(components, dtype=np.float64)
    N, mean, second = n_documents, sources.mean @ D, sources.variance @ D**2
    variances = second + mean  # of the counts, a Poisson count having its mean as variance
    thirds = sources.third @ D**3 + 3 * second + mean
    fourth = _sum_of_fourth_cumulants(D, sources)
    size = float(((D @ D.T) ** 2 * np.outer(sources.variance, sources.variance)).sum())  # |S|^2
    pairs = size + float((2 * second * mean + mean**2).sum())  # |cov(x)|^2
    squares = float(variances.sum()) ** 2
    own = float((variances + mean**2).sum())
    # E |z z' - diag x|^2 - |S|^2, with z = x - mean: what one document adds
    one = fourth + squares + 2 * pairs - 2 * float((thirds + mean * variances).sum()) + own - size
    # E |d d'/2 - diag (x + y)/2|^2 - |S|^2, with d = x - y: what a pair of documents adds
    two = (2 * fourth + 4 * squares + 8 * pairs) / 4 - float((thirds + 2 * mean * variances).sum())
    two += float((2 * variances + 4 * mean**2).sum()) / 4 - size
    return float(np.sqrt((N - 2) / (N * (N - 1)) * one + 2 / (N * (N - 1)) * two))


def _sum_of_fourth_cumulants(D: FloatArray, sources: SourceCumulants) -> float:
    """Sum of cum(x_m, x_m, x_n, x_n) over all pairs of words, from the factorial cumulants of the counts."""
    powers = [(D**order).sum(axis=1) for order in range(1, 5)]
    k2, k3, k4 = sources.variance, sources.third, sources.fourth
    all_pairs = k4 @ powers[1] ** 2 + 2 * k3 @ (powers[0] * powers[1]) + k2 @ powers[0] ** 2
    # A word with itself has 6, 7 and 1 in the place of 2, 1 and 0 of these terms.
    return float(all_pairs + 4 * k3 @ powers[2] + 6 * k2 @ powers[1] + sources.mean @ powers[0])


def gamma_third_accuracy(concentration: float, rate: float, n_documents: int) -> float:
    """Bound the root mean squared Frobenius error of the T-cumulant of the gamma-Poisson model.

    T is a U-statistic of three documents, so that its variance is at most 3/N times the mean square of its kernel
    (Hoeffding), and the entries of what the kernel adds up are tuples of tokens: their number bounds its size. The
    number of tokens is negative binomial. docs/theory.md has the proof.

    Parameters
    ----------
    concentration
        Sum of the shapes of all intensities.
    rate
        Theirs: a document has ``concentration / rate`` tokens on average.
    n_documents
        N.

    Examples
    --------
    >>> round(gamma_third_accuracy(1.0, 0.1, 100) / gamma_third_accuracy(1.0, 0.1, 10_000), 6)
    10.0
    """
    if n_documents < 3:
        raise ValueError(f"n_documents is {n_documents}; a third cumulant needs at least 3.")
    # E L (L-1) ... (L-r+1) = c0 (c0+1) ... (c0+r-1) / b^r
    falling = np.cumprod((concentration + np.arange(6)) / rate)
    ones = falling[1] + falling[0]  # E L^2
    pairs = falling[3] + 4 * falling[2] + 2 * falling[1]  # E (L (L-1))^2
    triples = falling[5] + 9 * falling[4] + 18 * falling[3] + 6 * falling[2]  # E (L (L-1) (L-2))^2
    kernel = np.sqrt(triples) + 3 * np.sqrt(pairs * ones) + 2 * ones**1.5
    return float(np.sqrt(3 / n_documents) * kernel)
