"""The total of a Dirichlet prior from second moments, with the topics known."""

import numpy as np
from scipy import linalg

from polyad.engine.blocks import FloatArray
from polyad.moments.lda import RawMoments

SMALLEST, LARGEST = 0.05, 100.0


def estimate_concentration(raw: RawMoments, components: FloatArray) -> tuple[float, FloatArray]:
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
    """
    mean = raw.moments.mean
    seen = mean > 0
    weights = np.where(seen, 1 / np.where(seen, mean, 1.0), 0.0)  # least squares in the metric of the counts
    weighted = components * weights
    left_inverse = linalg.pinvh(weighted @ components.T) @ weighted  # K x M
    means = np.maximum(left_inverse @ mean, 0)
    means /= max(float(means.sum()), 1e-300)
    squares = raw.pair_energies(left_inverse)
    spread = float((squares - means**2).sum())
    if spread <= 0:  # less variance than no variance at all: shares that hardly differ
        return LARGEST, means
    return float(np.clip((means - squares).sum() / spread, SMALLEST, LARGEST)), means
