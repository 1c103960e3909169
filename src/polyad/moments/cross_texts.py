"""Moments of two aligned texts on proportions: a two-view Dirichlet model with document weights.

Cumulants of raw counts are dominated by long documents. Proportions of words, pairs of *distinct* words of one
text, and a weight for each document repair that: with topic proportions theta ~ Dirichlet(c) shared by the two
texts of a pair, the same corrections as for LDA make the moments diagonal in both topic matrices.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyad.engine import Runner
from polyad.engine.blocks import FloatArray
from polyad.moments.cross import CrossMoments, column_sums, cross_operator
from polyad.moments.cross_blocks import PairedBlock, PairedBlocks
from polyad.moments.cross_cumulants import own_counts, weighted_products


@dataclass(frozen=True)
class TextSummary:
    """Totals of two aligned texts.

    Attributes
    ----------
    x_lengths, y_lengths
        Tokens of every document, N each.
    x_frequency, y_frequency
        Documents in which every word occurs, M1 and M2.
    x_totals, y_totals
        Tokens of every word.
    """

    x_lengths: FloatArray
    y_lengths: FloatArray
    x_frequency: NDArray[np.int64]
    y_frequency: NDArray[np.int64]
    x_totals: FloatArray
    y_totals: FloatArray

    @property
    def weights(self) -> FloatArray:
        """Share of each pair in the moments: the root of the product of lengths, 0 where a text has < 2 words."""
        usable = (self.x_lengths >= 2) & (self.y_lengths >= 2)
        shares = np.where(usable, np.sqrt(self.x_lengths * self.y_lengths), 0.0)
        total = float(shares.sum())
        if total == 0:
            raise ValueError(
                f"In none of the {shares.size} pairs do both texts have two words. Give longer documents, or check "
                "that the rows of X and Y are aligned."
            )
        return shares / total


def summarise_texts(pairs: PairedBlocks, run: Runner) -> TextSummary:
    """Return lengths, document frequencies and word totals of both texts, in one pass."""
    lengths = np.zeros((2, pairs.n_rows))

    def block_sums(pair: PairedBlock) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, FloatArray]:
        lengths[0, pair.slice], lengths[1, pair.slice] = pair.left.sum(axis=1), pair.right.sum(axis=1)
        x_df, y_df = (
            np.bincount(rows.indices, minlength=rows.shape[1]).astype(np.int64) for rows in (pair.left, pair.right)
        )
        return x_df, y_df, column_sums(pair.left), column_sums(pair.right)

    x_df, y_df, x_totals, y_totals = run(block_sums, pairs)
    return TextSummary(lengths[0], lengths[1], x_df, y_df, x_totals, y_totals)


def two_text_moments(
    pairs: PairedBlocks,
    run: Runner,
    summary: TextSummary,
    *,
    concentration: float = 2.0,
    directions: FloatArray | None = None,
) -> CrossMoments:
    """Return the moments of a two-view Dirichlet model of aligned texts.

    Parameters
    ----------
    pairs, run
        Two texts as counts, and how a pass over them is run.
    summary
        Of the same texts (:func:`summarise_texts`).
    concentration
        The total c0 of the Dirichlet parameters.
    directions
        F x K: contract the third moments with these directions of the whitened space in place of all K axes.

    Examples
    --------
    >>> from polyad.engine import Serial, count_blocks
    >>> from polyad.moments.cross_blocks import paired_blocks
    >>> pairs = paired_blocks(count_blocks([[2, 0], [1, 1]]), count_blocks([[1, 1], [0, 2]]))
    >>> two_text_moments(pairs, Serial(), summarise_texts(pairs, Serial()), concentration=0.0).second @ np.eye(2)
    array([[0.25, 0.5 ], [0.  , 0.25]])
    """
    if not (np.isfinite(concentration) and concentration >= 0):
        raise ValueError(f"concentration is {concentration}; give a finite number from 0 up.")
    share, c0 = summary.weights, float(concentration)
    a, b = (1 / np.maximum(lengths, 1) for lengths in (summary.x_lengths, summary.y_lengths))

    def mean_sums(pair: PairedBlock) -> tuple[FloatArray, FloatArray]:
        rows = pair.slice
        return pair.left.T @ (share[rows] * a[rows]), pair.right.T @ (share[rows] * b[rows])

    x_mean, y_mean = run(mean_sums, pairs)
    weight, correction = share * a * b, c0 / (c0 + 1)

    def forward(columns: FloatArray) -> FloatArray:
        product = run(lambda pair: pair.left.T @ (weight[pair.slice, None] * (pair.right @ columns)), pairs)
        return product - correction * np.outer(x_mean, y_mean @ columns)

    def backward(columns: FloatArray) -> FloatArray:
        product = run(lambda pair: pair.right.T @ (weight[pair.slice, None] * (pair.left @ columns)), pairs)
        return product - correction * np.outer(y_mean, x_mean @ columns)

    def targets(x_whitener: FloatArray, y_whitener: FloatArray) -> FloatArray:
        W1, W2 = (np.ascontiguousarray(whitener.T) for whitener in (x_whitener, y_whitener))
        return _targets(pairs, run, summary, W1, W2, (x_mean, y_mean), c0, directions)

    return CrossMoments(x_mean, y_mean, cross_operator(pairs.n_columns, forward, backward), targets)


def _targets(
    pairs: PairedBlocks,
    run: Runner,
    summary: TextSummary,
    W1: FloatArray,
    W2: FloatArray,
    means: tuple[FloatArray, FloatArray],
    c0: float,
    directions: FloatArray | None,
) -> FloatArray:
    """E[w w' v], two words of one text and one of the other, less the Dirichlet terms; whitened, 2F x K x K."""
    share = summary.weights
    L1, L2 = (np.maximum(lengths, 2) for lengths in (summary.x_lengths, summary.y_lengths))  # others weigh nothing
    x_pair, y_pair = share / (L1 * (L1 - 1)), share / (L2 * (L2 - 1))

    def block_sums(pair: PairedBlock) -> tuple[FloatArray, ...]:
        rows = pair.slice
        left, right = pair.left @ W1, pair.right @ W2
        x_share, y_share = left / L1[rows, None], right / L2[rows, None]
        x_weighted, y_weighted = x_pair[rows, None] * y_share, y_pair[rows, None] * x_share
        return (
            weighted_products(left, x_weighted, directions),
            weighted_products(right, y_weighted, directions),
            pair.left.T @ x_weighted,
            pair.right.T @ y_weighted,
            left.T @ (x_pair[rows, None] * left),
            right.T @ (y_pair[rows, None] * right),
            pair.left.T @ x_pair[rows],
            pair.right.T @ y_pair[rows],
            x_share.T @ (share[rows, None] * y_share),
        )

    A1, A2, G1, G2, P11, P22, x_own, y_own, P12 = run(block_sums, pairs)
    p1, p2 = means[0] @ W1, means[1] @ W2
    P11 = P11 - (W1 * x_own[:, None]).T @ W1
    P22 = P22 - (W2 * y_own[:, None]).T @ W2
    A1 = A1 - own_counts(W1, G1, directions, run) - _dirichlet_terms(P11, P12, p1, p2, c0, directions)
    A2 = A2 - own_counts(W2, G2, directions, run) - _dirichlet_terms(P22, P12.T, p2, p1, c0, directions)
    return np.concatenate([A1, A2.transpose(0, 2, 1)])


def _dirichlet_terms(
    within: FloatArray, across: FloatArray, own: FloatArray, other: FloatArray, c0: float, directions: FloatArray | None
) -> FloatArray:
    """Return what words of one Dirichlet draw add to E[w w' v] by chance, for every direction of the first."""
    u = np.eye(own.size) if directions is None else directions
    level = u @ own
    pairs = (u @ within)[:, :, None] * other + level[:, None, None] * across + own[:, None] * (u @ across)[:, None, :]
    cube = 2 * c0**2 / ((c0 + 1) * (c0 + 2)) * level[:, None, None] * np.outer(own, other)
    return c0 / (c0 + 2) * pairs - cube
