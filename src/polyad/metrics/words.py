"""What is typical of a topic: words and documents in order, relevance, lift, diversity."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

LOWEST_RELEVANCE = float(np.log(np.finfo(np.float64).tiny))  # about -708; stands for log 0


def top_words(scores: ArrayLike, n: int) -> NDArray[np.intp]:
    """Return the numbers of the n words with the largest scores in each topic, K x n, the largest first.

    Words with the same score come in the order of their numbers. Where there are fewer than n words, all are given.

    Parameters
    ----------
    scores
        K x M: probabilities, relevances, or whatever words are ranked by.
    n
        Words for each topic.

    Examples
    --------
    >>> top_words([[0.2, 0.5, 0.2, 0.1], [0.0, 0.1, 0.1, 0.8]], 3)
    array([[1, 0, 2],
           [3, 1, 2]])
    """
    table = _checked_table(scores, "scores")
    if n != int(n) or n < 1:
        raise ValueError(f"{n} top entries were asked for; give a whole number from 1 up.")
    n = min(int(n), table.shape[1])
    return np.stack([_largest(row, n) for row in table])


def top_documents(shares: ArrayLike, n: int) -> NDArray[np.intp]:
    """Return the row numbers of the n documents with the largest share of each topic, K x n, the largest first.

    Documents with the same share come in their own order. Where there are fewer than n documents, all are given.

    Parameters
    ----------
    shares
        Topic shares of documents, N x K.
    n
        Documents for each topic.

    Examples
    --------
    >>> top_documents([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5]], 2)
    array([[0, 2],
           [1, 2]])
    """
    return top_words(_checked_table(shares, "shares").T, n)


def word_scores(
    components: ArrayLike, word_probabilities: ArrayLike, by: str = "relevance", *, weight: float = 0.6
) -> FloatArray:
    """Return what words are ranked by in each topic, K x M: "relevance", "probability" or "lift".

    Examples
    --------
    >>> word_scores([[0.75, 0.25]], [0.5, 0.5], "lift")
    array([[1.5, 0.5]])
    """
    if by == "probability":
        return np.asarray(components, dtype=np.float64)
    if by == "relevance":
        return relevance(components, word_probabilities, weight=weight)
    if by == "lift":
        return lift(components, word_probabilities)
    raise ValueError(f"by is {by!r}; give 'relevance', 'probability' or 'lift'.")


def lift(components: ArrayLike, word_probabilities: ArrayLike) -> FloatArray:
    """Return how many times more probable each word is in a topic than in the corpus, K x M.

    Parameters
    ----------
    components
        Topics, K x M, rows are probabilities.
    word_probabilities
        M probabilities in the corpus, or totals: they are scaled to sum to 1. The lift of a word with probability 0
        is 0.

    Examples
    --------
    >>> lift([[0.75, 0.25, 0.0]], [0.5, 0.5, 0.0])
    array([[1.5, 0.5, 0. ]])
    """
    topics, marginal = _checked_probabilities(components, word_probabilities)
    return np.divide(topics, marginal, out=np.zeros_like(topics), where=marginal > 0)


def relevance(components: ArrayLike, word_probabilities: ArrayLike, *, weight: float = 0.6) -> FloatArray:
    """Return the relevance of each word to each topic, K x M.

    ``weight * log P(word | topic) + (1 - weight) * log(P(word | topic) / P(word))`` (Sievert and Shirley, 2014; the
    SVTD paper, section 4.3.1, with a weight of 0.7): 1 orders words by probability, 0 by lift.

    Parameters
    ----------
    components
        Topics, K x M, rows are probabilities.
    word_probabilities
        M probabilities in the corpus, or totals: they are scaled to sum to 1.
    weight
        The paper's lambda, in [0, 1].

    Notes
    -----
    Always finite. A word that a topic or the corpus does not have gets the lowest value there is, the logarithm of
    the smallest normal number (about -708); nothing falls below it.

    Examples
    --------
    >>> relevance([[0.5, 0.5], [1.0, 0.0]], [0.8, 0.2], weight=0.0).round(2).tolist()
    [[-0.47, 0.92], [0.22, -708.4]]
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"weight is {weight}; give a number from 0 (order by lift) to 1 (order by probability).")
    topics, marginal = _checked_probabilities(components, word_probabilities)
    present = (topics > 0) & (marginal > 0)
    log_topics = np.log(topics, out=np.zeros_like(topics), where=present)
    log_marginal = np.log(marginal, out=np.zeros_like(marginal), where=marginal > 0)
    values = log_topics - (1 - weight) * log_marginal
    return np.where(present, np.maximum(values, LOWEST_RELEVANCE), LOWEST_RELEVANCE)


def topic_diversity(components: ArrayLike, *, n_words: int = 25) -> float:
    """Return the share of distinct words among the top words of all topics, in (0, 1].

    1 where no two topics share a top word, 1 / K where all have the same ones.

    Parameters
    ----------
    components
        Topics, K x M.
    n_words
        Most probable words taken from each topic.

    Examples
    --------
    >>> topic_diversity([[0.6, 0.4, 0.0, 0.0], [0.0, 0.4, 0.6, 0.0]], n_words=2)
    0.75
    """
    words = top_words(components, n_words)
    return np.unique(words).size / words.size


def _largest(row: FloatArray, n: int) -> NDArray[np.intp]:
    """Return the places of the n largest values: a full sort of a large vocabulary would take most of the time."""
    threshold = np.partition(row, row.size - n)[row.size - n]
    candidates = np.flatnonzero(row >= threshold)
    return candidates[np.argsort(-row[candidates], kind="stable")][:n]


def _checked_table(values: ArrayLike, name: str) -> FloatArray:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"{name} must have two dimensions and not be empty; its shape is {table.shape}.")
    if np.isnan(table).any():
        raise ValueError(f"{name} contains NaN.")
    return table


def _checked_probabilities(components: ArrayLike, word_probabilities: ArrayLike) -> tuple[FloatArray, FloatArray]:
    topics = _checked_table(components, "components")
    marginal = np.asarray(word_probabilities, dtype=np.float64)
    if marginal.shape != (topics.shape[1],):
        raise ValueError(
            f"word_probabilities must have one number for each of the {topics.shape[1]} words; "
            f"its shape is {marginal.shape}."
        )
    for values, name in ((topics, "components"), (marginal, "word_probabilities")):
        if not np.isfinite(values).all() or values.min() < 0:
            raise ValueError(f"{name} must be finite and not negative.")
    total = float(marginal.sum())
    if total == 0:
        raise ValueError("word_probabilities are all 0: at least one word must occur.")
    return topics, marginal / total
