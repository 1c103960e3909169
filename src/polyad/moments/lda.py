"""Moments of LDA and of the single-topic model, for any weighting of the documents."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from polyad.engine import Block, Blocks, Runner
from polyad.engine.blocks import FloatArray, checked_counts
from polyad.moments.factored import FactoredThird, factor_third
from polyad.moments.pieces import chunks, subtract_diagonal, subtract_outer
from polyad.moments.symmetric import (
    SymmetricMoments,
    factorial_third,
    factorial_third_rows,
    outer_cube,
    symmetric_operator,
    symmetrise,
)


def document_weights(lengths: FloatArray, weights: str | float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return for each document its weight in the sums of words, of pairs and of triples of words.

    Parameters
    ----------
    lengths
        Tokens of every document.
    weights
        "uniform" counts every document the same (the U-statistics of the discrete ICA paper), "length" every
        word, pair and triple the same (Theorem 1 of the SVTD paper), a number p weighs a document by L^p.

    Returns
    -------
    tuple of three arrays
        Documents with fewer than 1, 2 and 3 tokens have the weight 0: they have no word, pair or triple.

    Examples
    --------
    >>> words, pairs, triples = document_weights(np.array([2.0, 4.0]), "length")
    >>> pairs * 14, triples * 24
    (array([1., 1.]), array([0., 1.]))
    """
    L = np.asarray(lengths, dtype=np.float64)
    tuples = [L, L * (L - 1), L * (L - 1) * (L - 2)]
    if weights == "length":
        shares = tuples
    else:
        power = 0.0 if weights == "uniform" else weights
        if isinstance(power, str) or not np.isfinite(power):
            raise ValueError(f'weights is {weights!r}; give "uniform", "length" or a power of the length.')
        shares = [np.where(order < L, np.maximum(L, 1) ** float(power), 0.0) for order in range(3)]
    first, second, third = (_per_tuple(share, count) for share, count in zip(shares, tuples))
    return first, second, third


def _per_tuple(share: FloatArray, tuples: FloatArray) -> FloatArray:
    """Weight of one tuple of a document: the document's share of the whole, over its number of tuples."""
    share = np.where(tuples > 0, share, 0.0)
    total = share.sum()
    if total == 0:
        return share
    return np.divide(share, tuples * total, out=np.zeros_like(share), where=tuples > 0)


@dataclass(frozen=True)
class RawMoments:
    """E[w1], E[w1 w2'] and E[w1 (x) w2 (x) w3] of three distinct words of a document.

    They do not depend on the total concentration c0 of the Dirichlet prior; :meth:`at` and :meth:`project` put it in.

    Attributes
    ----------
    moments
        The raw moments: those of the single-topic model, c0 = 0.
    pair_energies
        ``pair_energies(directions)`` with J x M directions v_j are the J numbers v_j' E[w1 w2'] v_j; one pass, at
        half the cost of a product with the second moment.
    n_too_short
        Documents with fewer than three tokens, which carry no third moment.
    """

    moments: SymmetricMoments
    pair_energies: Callable[[FloatArray], FloatArray]
    n_too_short: int

    def at(self, concentration: float) -> SymmetricMoments:
        """Return the moments of LDA with a total concentration c0 (eqs 39 and 40 of the discrete ICA paper)."""
        return _moments_at(self.moments, _checked_concentration(concentration))

    def project(self, whitener: FloatArray) -> "ProjectedMoments":
        """Return the moments along K directions: all that a change of c0 needs, without another pass."""
        raw = self.moments
        return ProjectedMoments(
            whitener, *_projected_pairs(raw, whitener, raw.second @ whitener.T), raw.third(whitener)
        )


def _moments_at(raw: SymmetricMoments, c0: float) -> SymmetricMoments:
    pair, square, cube = c0 / (c0 + 1), c0 / (c0 + 2), 2 * c0**2 / ((c0 + 1) * (c0 + 2))

    def second_product(columns: FloatArray) -> FloatArray:
        return subtract_outer(raw.second @ columns, raw.mean, pair * (raw.mean @ columns))

    def projected(whitener: FloatArray, images: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        mean, second = _projected_pairs(raw, whitener, second_product(whitener.T) if images is None else images)
        return mean, second + pair * np.outer(mean, mean)

    def third(whitener: FloatArray, images: FloatArray | None = None) -> FloatArray:
        mean, second = projected(whitener, images)
        return _with_concentration(mean, second, raw.third(whitener), c0)

    def third_rows(directions: FloatArray) -> FloatArray:
        second = (raw.second @ directions.T).T
        means = directions @ raw.mean
        energies = (directions * second).sum(axis=1)
        from_pairs = np.outer(energies, raw.mean) + 2 * means[:, None] * second
        return raw.third_rows(directions) - square * from_pairs + cube * np.outer(means**2, raw.mean)

    def factored(whitener: FloatArray, images: FloatArray | None = None) -> FactoredThird:
        mean, second = projected(whitener, images)
        return raw.factored(whitener).with_concentration(mean, second, c0)

    def within(words: NDArray[np.intp]) -> SymmetricMoments:
        return _moments_at(raw.within(words), c0)

    operator = symmetric_operator(raw.mean.size, second_product)
    return SymmetricMoments(raw.mean, operator, third, third_rows, factored, within, raw.n_rows, raw.n_cells)


def _projected_pairs(raw: SymmetricMoments, whitener: FloatArray, images: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean and a second moment along the rows of a whitener; ``images`` is the second moment times it."""
    second = whitener @ images
    return whitener @ raw.mean, (second + second.T) / 2


@dataclass(frozen=True)
class ProjectedMoments:
    """Raw moments along the rows of a whitener; :meth:`at` gives any total concentration without a pass.

    Attributes
    ----------
    whitener
        K x M.
    mean, second, third
        The raw moments along its rows: K, K x K and K x K x K.
    """

    whitener: FloatArray
    mean: FloatArray
    second: FloatArray
    third: FloatArray

    def at(self, concentration: float) -> tuple[FloatArray, FloatArray]:
        """Return the K x M whitener and the whitened K x K x K tensor for a total concentration c0.

        Raises
        ------
        ValueError
            Where S is not positive in all K directions at this concentration.
        """
        c0 = _checked_concentration(concentration)
        second = self.second - c0 / (c0 + 1) * np.outer(self.mean, self.mean)
        values, vectors = linalg.eigh(second)
        if values[0] <= 1e-12 * values[-1]:
            raise ValueError(
                f"The second moment has only {int((values > 1e-12 * values[-1]).sum())} of {values.size} "
                f"directions with a positive variance at concentration {c0:g}: ask for fewer components."
            )
        change = (vectors / np.sqrt(values)) @ vectors.T  # symmetric, so that a small change of c0 is a small change
        tensor = _with_concentration(self.mean, self.second, self.third, c0)
        return change @ self.whitener, _multilinear(tensor, change)


def _multilinear(tensor: FloatArray, matrix: FloatArray) -> FloatArray:
    """T(A, A, A): every mode of the tensor multiplied by the matrix."""
    for _ in range(3):
        tensor = np.tensordot(tensor, matrix, axes=(0, 1))  # takes the first mode, puts the new one last
    return tensor


def _with_concentration(mean: FloatArray, second: FloatArray, third: FloatArray, c0: float) -> FloatArray:
    pairs = symmetrise(second[:, :, None] * mean)
    return third - c0 / (c0 + 2) * pairs + 2 * c0**2 / ((c0 + 1) * (c0 + 2)) * outer_cube(mean)


def _checked_concentration(concentration: float) -> float:
    if not (np.isfinite(concentration) and concentration >= 0):
        raise ValueError(f"concentration is {concentration}; give a finite number from 0 up.")
    return float(concentration)


def raw_moments(blocks: Blocks, run: Runner, lengths: FloatArray, weights: str | float) -> RawMoments:
    """Return the raw moments of three distinct words of a document.

    Parameters
    ----------
    blocks, run
        The counts, and how a pass over them is run.
    lengths
        Tokens of every document (:func:`summarise_counts`).
    weights
        How documents are weighted: see :func:`document_weights`.

    Raises
    ------
    ValueError
        Where no document has three tokens.

    Examples
    --------
    >>> from polyad.engine import Serial, count_blocks
    >>> blocks = count_blocks([[2, 1], [0, 3]])
    >>> raw = raw_moments(blocks, Serial(), np.array([3.0, 3.0]), "uniform")
    >>> raw.moments.second @ np.eye(2)
    array([[0.16666667, 0.16666667], [0.16666667, 0.5       ]])
    """
    N, M = blocks.shape
    if not (lengths >= 3).any():
        raise ValueError(
            f"None of the {N} documents has three words, and third moments are made of triples of words. "
            "Give longer documents, or join short ones."
        )
    w1, w2, w3 = document_weights(lengths, weights)

    def block_sums(block: Block) -> tuple[FloatArray, FloatArray, FloatArray, int]:
        first, second, third = (block.rows.T @ w[block.slice] for w in (w1, w2, w3))
        return first, second, third, block.rows.nnz

    mean, pair_diagonal, triple_diagonal, n_cells = run(block_sums, blocks)
    nothing = np.zeros(M)

    def second_product(columns: FloatArray) -> FloatArray:
        columns = np.ascontiguousarray(columns)  # or every block would make its own copy

        def block_product(block: Block) -> Any:
            return block.rows.T @ (w2[block.slice, None] * (block.rows @ columns))

        return subtract_diagonal(run(block_product, blocks), pair_diagonal, columns)

    def third(whitener: FloatArray, images: FloatArray | None = None) -> FloatArray:
        centre = np.zeros(whitener.shape[0])
        return factorial_third(blocks, run, whitener, w3, w3, triple_diagonal, centre)

    def third_rows(directions: FloatArray) -> FloatArray:
        centre = np.zeros(directions.shape[0])
        return factorial_third_rows(blocks, run, directions, w3, w3, triple_diagonal, centre, nothing)

    def factored(whitener: FloatArray, images: FloatArray | None = None) -> FactoredThird:
        centre = np.zeros(whitener.shape[0])
        return factor_third(blocks, run, whitener, w3, w3, triple_diagonal, centre)

    def pair_energies(directions: FloatArray) -> FloatArray:
        columns = np.ascontiguousarray(directions.T)
        energies: FloatArray = run(lambda block: w2[block.slice] @ (block.rows @ columns) ** 2, blocks)
        for words in chunks(M):
            energies -= pair_diagonal[words] @ columns[words] ** 2
        return energies

    def within(words: NDArray[np.intp]) -> SymmetricMoments:
        return raw_moments(blocks.columns(words), run, lengths, weights).moments

    operator = symmetric_operator(M, second_product)
    moments = SymmetricMoments(mean, operator, third, third_rows, factored, within, N, n_cells)
    return RawMoments(moments, pair_energies, int((lengths < 3).sum()))


def three_tokens(X: Any, random_state: int = 0) -> sparse.csr_array:
    """Keep three tokens of every document, drawn without replacement.

    The uniform moments of the result are the plain estimator of the spectral LDA paper, which looks at three words
    a document only (averaged over the orders of the three). For comparison: it wastes the other words.

    Examples
    --------
    >>> three_tokens([[5, 0], [1, 2], [1, 0]]).sum(axis=1)
    array([3., 3., 1.])
    """
    counts = checked_counts(X)
    rng = np.random.default_rng(random_state)
    tokens = np.repeat(counts.indices, counts.data.astype(np.int64))
    lengths = np.asarray(counts.sum(axis=1)).ravel().astype(np.int64)
    rows = np.repeat(np.arange(counts.shape[0]), lengths)
    shuffled = np.lexsort((rng.random(tokens.size), rows))  # a random order within each document
    place = np.arange(tokens.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    kept = shuffled[place < 3]
    ones = np.ones(kept.size)
    return sparse.csr_array((ones, (rows[kept], tokens[kept])), shape=counts.shape)
