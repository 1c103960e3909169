"""Which topic of one model is which topic of another."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist


@dataclass(frozen=True)
class Alignment:
    """Topics of two models, paired.

    Attributes
    ----------
    pairs
        (topic of a, topic of b), in the order of a's topics; as many as the smaller model has.
    similarity
        For each pair the probability mass that the two topics share: 1 is the same topic, 0 no word in common.
    n_words
        Words that the comparison is based on.
    """

    pairs: list[tuple[int, int]]
    similarity: NDArray[np.float64]
    n_words: int

    @property
    def mean(self) -> float:
        """Mean similarity of the pairs."""
        return float(self.similarity.mean())


def align(a: Any, b: Any) -> Alignment:
    """Pair the topics of two models so that they have the most in common.

    Parameters
    ----------
    a, b
        Fitted topic models, or K x M arrays of topics over the same words. Models that know their words
        (from a corpus, or from named columns) are compared on the words they share.

    Examples
    --------
    >>> found = align(np.array([[1.0, 0.0], [0.25, 0.75]]), np.array([[0.0, 1.0], [0.75, 0.25]]))
    >>> found.pairs, found.similarity
    ([(0, 1), (1, 0)], array([0.75, 0.75]))
    """
    left, right = _on_common_words(a, b)
    overlap = 1 - cdist(left, right, "cityblock") / 2
    rows, columns = linear_sum_assignment(-overlap)
    return Alignment([(int(i), int(j)) for i, j in zip(rows, columns)], overlap[rows, columns], left.shape[1])


def _words_of(model: Any) -> Any:
    words = getattr(model, "vocabulary_", None)
    return getattr(model, "feature_names_in_", None) if words is None else words


def _on_common_words(a: Any, b: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    left, right = (np.asarray(getattr(model, "components_", model), dtype=np.float64) for model in (a, b))
    names = [_words_of(model) for model in (a, b)]
    if names[0] is not None and names[1] is not None:
        _, at_left, at_right = np.intersect1d(names[0], names[1], return_indices=True)
        if at_left.size == 0:
            raise ValueError("The two models have no word in common, so that their topics cannot be compared.")
        left, right = left[:, at_left], right[:, at_right]
    elif left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        raise ValueError(
            f"The topics have the shapes {left.shape} and {right.shape}, and no names of words to compare them by: "
            "fit both models on the same vocabulary, or on tables with named columns."
        )
    left, right = (rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300) for rows in (left, right))
    return left, right
