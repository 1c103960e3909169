"""How much a document counts in the moments: a function of its length and of a few totals."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, step

Weight = Callable[[FloatArray], FloatArray]  # from the lengths of documents


@dataclass(frozen=True)
class DocumentWeights:
    """The weight of a document in the sums of words, of pairs and of triples of words.

    Documents with fewer than 1, 2 and 3 tokens have the weight 0: they have no word, pair or triple.

    Attributes
    ----------
    power
        A document's share of the whole goes with this power of its length; None gives every word, pair and triple
        the same weight (Theorem 1 of the SVTD paper), 0 every document (the U-statistics of the discrete ICA paper).
    totals
        The sums over all documents of what they share by, for words, pairs and triples.
    """

    power: float | None
    totals: tuple[float, float, float]

    def words(self, lengths: FloatArray) -> FloatArray:
        """Return the weight of a word of each document."""
        return self._of(lengths, 0)

    def pairs(self, lengths: FloatArray) -> FloatArray:
        """Return the weight of a pair of distinct words of each document."""
        return self._of(lengths, 1)

    def triples(self, lengths: FloatArray) -> FloatArray:
        """Return the weight of a triple of distinct words of each document."""
        return self._of(lengths, 2)

    def _of(self, lengths: FloatArray, order: int) -> FloatArray:
        """Return a document's share of the whole over its number of tuples, 0 where it has none."""
        tuples, total = _tuples(lengths, order), self.totals[order]
        share = _share(lengths, tuples, self.power)
        if total == 0:
            return share
        return np.divide(share, tuples * total, out=np.zeros_like(share), where=tuples > 0)


def document_weights(source: Source, weights: str | float) -> DocumentWeights:
    """Return the weights of the documents of a source; one pass, over their lengths alone.

    Parameters
    ----------
    source
        Counts.
    weights
        "uniform" counts every document the same, "length" every word, pair and triple, a number p weighs a document
        by its length to the power p.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> weights = document_weights(count_blocks([[2, 0], [1, 3]]), "length")
    >>> lengths = np.array([2.0, 4.0])
    >>> weights.pairs(lengths) * 14, weights.triples(lengths) * 24
    (array([1., 1.]), array([0., 1.]))
    """
    power = _power_of(weights)
    totals, _ = step(_share_totals, source, [None] * source.n_shards, power)
    return DocumentWeights(power, totals)


def effective_documents(source: Source, weights: str | float) -> float:
    """Return how many documents of the same weight those of a source are worth in the sums over pairs of words.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> effective_documents(count_blocks([[1, 1], [1, 1], [6, 6]]), 1.0).__round__(3)
    1.684
    """
    (sums, squares), _ = step(_pair_totals, source, [None] * source.n_shards, _power_of(weights))
    return sums**2 / max(squares, 1e-300)


def _pair_totals(shard: Block, _: None, power: float | None) -> tuple[tuple[float, float], None]:
    share = _shares(shard.tokens, power)[1]
    return (float(share.sum()), float(share @ share)), None


def shares_of_lengths(lengths: FloatArray, weights: str | float) -> list[FloatArray]:
    """Return what documents of some lengths share the whole of words, of pairs and of triples by.

    Examples
    --------
    >>> shares_of_lengths(np.array([2.0, 4.0]), "uniform")
    [array([1., 1.]), array([1., 1.]), array([0., 1.])]
    """
    return _shares(lengths, _power_of(weights))


def _power_of(weights: str | float) -> float | None:
    power = {"length": None, "uniform": 0.0}.get(weights) if isinstance(weights, str) else weights
    if weights != "length" and (power is None or not np.isfinite(power)):
        raise ValueError(f'weights is {weights!r}; give "uniform", "length" or a power of the length.')
    return power


def _share_totals(shard: Block, _: None, power: float | None) -> tuple[tuple[float, float, float], None]:
    words, pairs, triples = (float(share.sum()) for share in _shares(shard.tokens, power))
    return (words, pairs, triples), None


def _tuples(lengths: FloatArray, order: int) -> FloatArray:
    """Return the numbers of words (order 0), of ordered pairs (1) or of ordered triples (2) of distinct words.

    A length between two whole numbers, of fractional counts, must not give a number of tuples near 0 either.
    """
    L = lengths
    if order == 0:
        return L
    return np.where(L >= 2, L * (L - 1), 0.0) if order == 1 else np.where(L >= 3, L * (L - 1) * (L - 2), 0.0)


def _share(lengths: FloatArray, tuples: FloatArray, power: float | None) -> FloatArray:
    """Return what documents share the whole by, 0 where they have no tuple."""
    if power is None:
        return np.maximum(tuples, 0.0)
    return np.where(tuples > 0, np.maximum(lengths, 1) ** float(power), 0.0)


def _shares(lengths: FloatArray, power: float | None) -> list[FloatArray]:
    """Return what documents share the whole of words, of pairs and of triples by."""
    return [_share(lengths, _tuples(lengths, order), power) for order in range(3)]


@dataclass(frozen=True)
class SameWeight:
    """The same weight for every document."""

    weight: float

    def __call__(self, lengths: FloatArray) -> FloatArray:
        """Return the weight, once for each document."""
        return np.full(lengths.size, self.weight)
