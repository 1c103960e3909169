"""The prior of the topics, from how alike the same topic and different ones are in two halves of the documents.

Words of a topic that is drawn from a symmetric Dirichlet distribution, b on each of M words, have squares that sum to
(b + 1) / (M b + 1) in expectation, and products with the words of another topic that sum to 1 / M. Expected tokens of
one half of the documents times those of the other are free of the noise of counting, so that these two sums can be read
off the tables that polishing has anyway: the first tells b, and the second whether such a prior is what topics have.
Where all topics share a part of what stands out in them, as topics of text do, b from the first is wrong by that part.
"""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.inference.expectation import Table
from polyad.inference.kernels.topics import half_products, topic_sums

SMOOTHING = 2.0  # tokens that the prior of topics adds to every word, over all topics together, where data do not tell
LEAST_SMOOTHING = 0.1  # that data can tell: a word must stay possible in every topic
# What different topics may share of what stands out in a topic, S - 1/M over s - 1/M for products S of different topics
# and s of the same: b errs by as much. On samples of the prior .05 is where the passes no longer gain by it. Topics of
# text share .06 (AP, K = 100) to .3; there the stricter bound is the second, in standard deviations of the product of
# two topics of the prior, of which they are 7 to 39 apart. Chance alone may bring few topics of few words beyond both.
MOST_SHARED, MOST_ALIKE, STANDARD_ERRORS = 0.05, 2.0, 3.0
# A prior between the usual one and WIDE, in tokens over all topics, needs as many tokens for each word and topic: of
# fewer, expected tokens are spread over topics by the passes themselves, and all of the prior counts that twice.
ENOUGH_TOKENS, WIDE = 10.0, 8.0


def split_smoothing(tokens: FloatArray) -> FloatArray:
    """Return the tokens added to every word of each topic where the data do not tell: split as tokens are, views x K.

    Examples
    --------
    >>> split_smoothing(np.array([[30.0, 10.0]]))
    array([[1.5, 0.5]])
    """
    shares: FloatArray = SMOOTHING * tokens / np.maximum(tokens.sum(axis=-1, keepdims=True), 1e-300)
    return shares


def told_smoothing(first: Table, second: Table, K: int) -> float | None:
    """Return the Dirichlet parameter of every word in a topic, or None where the data do not tell it.

    Parameters
    ----------
    first, second
        Expected tokens of every word in each topic in the two halves of the documents, M x K or wider.
    K
        Number of topics.

    Examples
    --------
    >>> topics = np.random.default_rng(0).dirichlet(np.full(300, 0.2), 6).T
    >>> half = (50_000 * topics).astype(np.float32)
    >>> bool(0.17 < told_smoothing(half, half, 6) < 0.23)
    True
    >>> alike = half + half.mean(axis=1, keepdims=True) ** 2  # frequent words are those of all
    >>> told_smoothing(alike, alike, 6) is None
    True
    """
    M = first.shape[0]
    tokens = np.stack([topic_sums(half)[:K] for half in (first, second)])
    of_topics = tokens.sum(axis=0)
    if K < 2 or tokens.min() <= 0:
        return None
    weights = of_topics / of_topics.sum()
    scales = np.zeros((2, first.shape[1]))
    scales[:, :K] = weights / tokens
    products, overlap = half_products(first, second, *scales)
    squares = products[:K] / weights**2  # of each topic
    same, others = float(weights @ squares), 1 - float(weights @ weights)
    different = (overlap - float(products.sum())) / others
    contrast = M * same - 1
    if contrast <= 0:
        return None
    # Products of different topics are uncorrelated, with the variance (M - 1) / (M (M b + 1))^2, and M b + 1 is
    # (M - 1) / contrast: the standard deviation of the shared part does not depend on b.
    n_pairs = others**2 / (2 * (float(weights @ weights) ** 2 - float((weights**4).sum())))
    shared, deviation = (M * different - 1) / contrast, (M - 1) ** -0.5
    allowed = min(MOST_SHARED, MOST_ALIKE * deviation)
    if shared > max(allowed, STANDARD_ERRORS * deviation * n_pairs**-0.5):
        return None
    b = max((1 - same) / (M * same - 1), LEAST_SMOOTHING / K)
    can_tell = not SMOOTHING < K * b < WIDE or of_topics.sum() >= ENOUGH_TOKENS * K * M
    return b if can_tell else None
