"""The prior of the topics, from how alike the same topic and different ones are in two halves of the documents.

Words of a topic that is drawn from a symmetric Dirichlet distribution, b on each of M words, have squares that sum to
(b + 1) / (M b + 1) in expectation, and products with the words of another topic that sum to 1 / M. Expected tokens of
one half of the documents times those of the other are free of the noise of counting, so that these two sums can be read
off the tables that polishing has anyway: the first tells b, and the second whether such a prior is what topics have.
"""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.inference.expectation import Table
from polyad.inference.kernels.topics import half_products, topic_sums

SMOOTHING = 2.0  # tokens that the prior of topics adds to every word, over all topics together, where data do not tell
LEAST_SMOOTHING = 0.1  # that data can tell: a word must stay possible in every topic
# Times as alike as a symmetric prior makes them that two topics may be, and standard errors beyond that. Topics of text
# are 4 to 12 times as alike: their frequent words are those of all, and tokens on all words alike are no model of that.
# Five topics of which two are the same but for a tenth are 1.8 times as alike, and their passes want the usual tokens.
MOST_ALIKE, STANDARD_ERRORS = 1.25, 2.5
# Tokens for each word and topic from which the data tell that more than SMOOTHING is right. Tokens of fewer are spread
# over topics by the passes themselves, and to add all of the prior to them counts it twice.
ENOUGH_TOKENS = 10.0


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
    n_pairs = others / float(weights @ weights) ** 2 / 2
    allowed = MOST_ALIKE + STANDARD_ERRORS * same * np.sqrt(M / n_pairs)
    if M * different > allowed or M * same <= 1:
        return None
    b = max((1 - same) / (M * same - 1), LEAST_SMOOTHING / K)
    can_tell = K * b <= SMOOTHING or of_topics.sum() >= ENOUGH_TOKENS * K * M
    return b if can_tell else None
