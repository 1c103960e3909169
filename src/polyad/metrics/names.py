"""Names of topics: the one that a user gave, or a suggestion from the topic's words."""

from collections.abc import Sequence
from typing import Any

from polyad.base.names import given_names
from polyad.metrics.words import top_words, word_scores

SUGGESTED = 3  # words


def suggested_names(components: Any, word_probabilities: Any, words: Sequence[str]) -> list[str]:
    """Return for each topic its most relevant words, as a name until a person finds a better one.

    Examples
    --------
    >>> suggested_names([[.6, .4, 0], [0, .3, .7]], [.3, .35, .35], ["court", "judge", "tax"])
    ['court, judge, tax', 'tax, judge, court']
    """
    scores = word_scores(components, word_probabilities, "relevance")
    return [", ".join(str(words[at]) for at in row) for row in top_words(scores, min(SUGGESTED, scores.shape[1]))]


def topic_names(model: Any, components: Any, word_probabilities: Any, words: Sequence[str]) -> list[str]:
    """Return the name of every topic: the one that was given, or else the suggestion."""
    given = given_names(model)
    return [
        given.get(number, name) for number, name in enumerate(suggested_names(components, word_probabilities, words))
    ]
