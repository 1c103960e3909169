"""The words that a page holds: enough of each topic for every position of the slider, and the topics of each word."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.metrics.words import top_words

WEIGHTS = np.linspace(0, 1, 11)  # positions of the slider
MOST_WORDS = 12_000  # that can be searched for
TOPICS_OF_WORD = 5


@dataclass(frozen=True)
class ShownWords:
    """Words of one view that a page holds."""

    numbers: NDArray[np.intp]  # columns of the words, in the order of their frequency
    # For each topic, places in ``numbers`` of the words that are among the most relevant for some weight.
    of_topic: tuple[NDArray[np.intp], ...]
    # For each word the topics in which it stands most, and its share in them, the largest first.
    topics: NDArray[np.intp]
    topic_shares: FloatArray


def shown_words(
    components: FloatArray, word_probabilities: FloatArray, topic_shares: FloatArray, n_words: int
) -> ShownWords:
    """Choose the words of a view.

    Parameters
    ----------
    components, word_probabilities, topic_shares
        K x M, M and K, as fitted.
    n_words
        Words of a topic that are shown at a time.

    Examples
    --------
    >>> components = np.array([[.7, .2, .1, 0], [0, .2, .3, .5]])
    >>> found = shown_words(components, components.mean(axis=0), np.array([.5, .5]), 2)
    >>> found.numbers[found.of_topic[0]].tolist(), found.topic_shares[:, 0].round(2).tolist()
    ([0, 1], [1.0, 1.0, 0.5, 0.75])
    """
    chosen = [_for_any_weight(row, word_probabilities, n_words) for row in components]
    frequent = np.argsort(-word_probabilities, kind="stable")
    wanted = np.zeros(len(word_probabilities), bool)
    wanted[np.concatenate(chosen)] = True
    wanted[frequent[: max(MOST_WORDS - int(wanted.sum()), 0)]] = True
    numbers = frequent[wanted[frequent]]
    place = np.full(len(word_probabilities), -1)
    place[numbers] = np.arange(len(numbers))
    joint = (components[:, numbers] * topic_shares[:, None]).T
    of_word = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    topics = np.argsort(-of_word, axis=1, kind="stable")[:, :TOPICS_OF_WORD]
    return ShownWords(
        numbers, tuple(np.sort(place[own]) for own in chosen), topics, np.take_along_axis(of_word, topics, axis=1)
    )


def _for_any_weight(topic: FloatArray, word_probabilities: FloatArray, n_words: int) -> NDArray[np.intp]:
    """Return the words of a topic that are among the most relevant for any weight of the slider."""
    present = np.flatnonzero((topic > 0) & (word_probabilities > 0))
    log_topic, log_all = np.log(topic[present]), np.log(word_probabilities[present] / word_probabilities.sum())
    relevance = log_topic - (1 - WEIGHTS[:, None]) * log_all
    if not present.size:
        return present
    return present[np.unique(top_words(relevance, n_words))]
