"""Moments of two aligned texts on proportions: a two-view Dirichlet model with document weights.

Cumulants of raw counts are dominated by long documents. Proportions of words, pairs of *distinct* words of one
text, and a weight for each document repair that: with topic proportions theta ~ Dirichlet(c) shared by the two
texts of a pair, the same corrections as for LDA make the moments diagonal in both topic matrices.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, step, total
from polyad.moments.views.cross import CrossMoments, column_sums, cross_operator
from polyad.moments.views.cumulants import own_counts, weighted_products


@dataclass(frozen=True)
class PairWeights:
    """How much a pair of texts counts in the moments: a function of the lengths of the two."""

    total: float  # the sum over all pairs of what they share the whole by

    def shares(self, block: Block) -> FloatArray:
        """Return the share of each pair in the moments: the root of the product of lengths, over the total."""
        return _length_roots(block) / self.total

    def words(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """Return the weight of a word of each first text, and of each second one."""
        shares, (x_inverse, y_inverse) = self.shares(block), _inverse_lengths(block)
        return shares * x_inverse, shares * y_inverse

    def across(self, block: Block) -> FloatArray:
        """Return the weight of a word of one text with a word of the other, for each pair."""
        x_inverse, y_inverse = _inverse_lengths(block)
        return self.shares(block) * x_inverse * y_inverse


def pair_lengths(block: Block) -> tuple[FloatArray, FloatArray]:
    """Return the tokens of both texts of each pair."""
    x_lengths, y_lengths = block.lengths
    if x_lengths is None or y_lengths is None:
        raise ValueError("Measurements have no tokens: give counts for both views.")
    return x_lengths, y_lengths


def _length_roots(block: Block) -> FloatArray:
    """Return what pairs share the whole by; 0 where a text has fewer than two words."""
    x_lengths, y_lengths = pair_lengths(block)
    usable = (x_lengths >= 2) & (y_lengths >= 2)
    return np.where(usable, np.sqrt(x_lengths * y_lengths), 0.0)


def _inverse_lengths(block: Block) -> tuple[FloatArray, FloatArray]:
    x_lengths, y_lengths = pair_lengths(block)
    return 1 / np.maximum(x_lengths, 1), 1 / np.maximum(y_lengths, 1)


@dataclass(frozen=True)
class TextSummary:
    """Totals of two aligned texts."""

    n_pairs: int  # pairs of texts
    total_share: float  # what pairs share the moments by, in all: see :class:`PairWeights`
    # Documents in which every word occurs, M1 and M2.
    x_frequency: NDArray[np.int64]
    y_frequency: NDArray[np.int64]
    # Tokens of every word.
    x_totals: FloatArray
    y_totals: FloatArray

    @property
    def weights(self) -> PairWeights:
        """How much each pair counts in the moments."""
        if self.total_share == 0:
            raise ValueError(
                f"In none of the {self.n_pairs} pairs do both texts have two words. Give longer documents, or check "
                "that the rows of X and Y are aligned."
            )
        return PairWeights(self.total_share)


def summarise_texts(source: Source) -> TextSummary:
    """Return document frequencies, word totals and the weights of the pairs, in two passes; one is over lengths."""
    total_share, _ = step(_share_total, source, [None] * source.n_shards)
    return TextSummary(source.n_rows, total_share, *total(_word_totals, source))


def _share_total(shard: Block, _: None) -> tuple[float, None]:
    return float(_length_roots(shard).sum()), None


def _word_totals(block: Block) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, FloatArray]:
    x_rows, y_rows = block.views
    x_frequency, y_frequency = (
        np.bincount(rows.indices, minlength=rows.shape[1]).astype(np.int64) for rows in (x_rows, y_rows)
    )
    return x_frequency, y_frequency, column_sums(x_rows), column_sums(y_rows)


def two_text_moments(
    source: Source,
    summary: TextSummary,
    *,
    concentration: float = 2.0,
    directions: FloatArray | None = None,
) -> CrossMoments:
    """Return the moments of a two-view Dirichlet model of aligned texts.

    Parameters
    ----------
    source
        Two texts as counts.
    summary
        Of the same texts (:func:`summarise_texts`).
    concentration
        The total c0 of the Dirichlet parameters.
    directions
        F x K: contract the third moments with these directions of the whitened space in place of all K axes.

    Examples
    --------
    >>> from polyad.engine import aligned, count_blocks
    >>> texts = aligned(count_blocks([[2, 0], [1, 1]]), count_blocks([[1, 1], [0, 2]]))
    >>> two_text_moments(texts, summarise_texts(texts), concentration=0.0).second @ np.eye(2)
    array([[0.25, 0.5 ], [0.  , 0.25]])
    """
    if not (np.isfinite(concentration) and concentration >= 0):
        raise ValueError(f"concentration is {concentration}; give a finite number from 0 up.")
    weights, c0 = summary.weights, float(concentration)
    x_mean, y_mean = total(_mean_sums, source, weights)
    correction = c0 / (c0 + 1)

    def forward(columns: FloatArray) -> FloatArray:
        # A contiguous copy once, or every block would make its own.
        products = total(_word_products, source, 0, np.ascontiguousarray(columns), weights)
        return products - correction * np.outer(x_mean, y_mean @ columns)

    def backward(columns: FloatArray) -> FloatArray:
        products = total(_word_products, source, 1, np.ascontiguousarray(columns), weights)
        return products - correction * np.outer(y_mean, x_mean @ columns)

    def targets(x_whitener: FloatArray, y_whitener: FloatArray) -> FloatArray:
        W1, W2 = (np.ascontiguousarray(whitener.T) for whitener in (x_whitener, y_whitener))
        return _targets(source, weights, W1, W2, (x_mean, y_mean), c0, directions)

    return CrossMoments(x_mean, y_mean, cross_operator(source.widths, forward, backward), targets)


def _mean_sums(block: Block, weights: PairWeights) -> tuple[FloatArray, FloatArray]:
    (x_rows, y_rows), (x_words, y_words) = block.views, weights.words(block)
    return x_rows.T @ x_words, y_rows.T @ y_words


def _word_products(block: Block, view: int, columns: FloatArray, weights: PairWeights) -> FloatArray:
    """Return the products of the words of one text with projections of the other."""
    products: FloatArray = block.views[view].T @ (weights.across(block)[:, None] * (block.views[1 - view] @ columns))
    return products


def _targets(
    source: Source,
    weights: PairWeights,
    W1: FloatArray,
    W2: FloatArray,
    means: tuple[FloatArray, FloatArray],
    c0: float,
    directions: FloatArray | None,
) -> FloatArray:
    """E[w w' v], two words of one text and one of the other, less the Dirichlet terms; whitened, 2F x K x K."""
    A1, A2, G1, G2, P11, P22, x_own, y_own, P12 = total(_triple_sums, source, W1, W2, weights, directions)
    p1, p2 = means[0] @ W1, means[1] @ W2
    P11 = P11 - (W1 * x_own[:, None]).T @ W1
    P22 = P22 - (W2 * y_own[:, None]).T @ W2
    A1 = A1 - own_counts(W1, G1, directions) - _dirichlet_terms(P11, P12, p1, p2, c0, directions)
    A2 = A2 - own_counts(W2, G2, directions) - _dirichlet_terms(P22, P12.T, p2, p1, c0, directions)
    return np.concatenate([A1, A2.transpose(0, 2, 1)])


def _triple_sums(
    block: Block, W1: FloatArray, W2: FloatArray, weights: PairWeights, directions: FloatArray | None
) -> tuple[FloatArray, ...]:
    """Return the sums over pairs of texts that the targets are made of, in the order in which they are used."""
    x_rows, y_rows = block.views
    L1, L2 = (np.maximum(lengths, 2)[:, None] for lengths in pair_lengths(block))  # shorter texts weigh nothing
    share = weights.shares(block)[:, None]
    x_pair, y_pair = share / (L1 * (L1 - 1)), share / (L2 * (L2 - 1))
    left, right = x_rows @ W1, y_rows @ W2
    x_share, y_share = left / L1, right / L2
    x_weighted, y_weighted = x_pair * y_share, y_pair * x_share
    return (
        weighted_products(left, x_weighted, directions),
        weighted_products(right, y_weighted, directions),
        x_rows.T @ x_weighted,
        y_rows.T @ y_weighted,
        left.T @ (x_pair * left),
        right.T @ (y_pair * right),
        x_rows.T @ x_pair[:, 0],
        y_rows.T @ y_pair[:, 0],
        x_share.T @ (share * y_share),
    )


def _dirichlet_terms(
    within: FloatArray, across: FloatArray, own: FloatArray, other: FloatArray, c0: float, directions: FloatArray | None
) -> FloatArray:
    """Return what words of one Dirichlet draw add to E[w w' v] by chance, for every direction of the first."""
    u = np.eye(own.size) if directions is None else directions
    level = u @ own
    pairs = (u @ within)[:, :, None] * other + level[:, None, None] * across + own[:, None] * (u @ across)[:, None, :]
    cube = 2 * c0**2 / ((c0 + 1) * (c0 + 2)) * level[:, None, None] * np.outer(own, other)
    return c0 / (c0 + 2) * pairs - cube
