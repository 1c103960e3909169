"""Moments of LDA and of the single-topic model, for any weighting of the documents."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, columns_of, total
from polyad.engine.checks import checked_counts
from polyad.moments.chunks import chunks, subtract_diagonal, subtract_outer
from polyad.moments.counts.weights import Weight, document_weights
from polyad.moments.symmetric import (
    CountWeights,
    SymmetricMoments,
    factorial_third,
    factorial_third_rows,
    multilinear,
    symmetric_operator,
)


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
    of
        The same moments of other documents; None where no documents are known.
    """

    moments: SymmetricMoments
    pair_energies: Callable[[FloatArray], FloatArray]
    n_too_short: int
    of: Callable[[Source], "RawMoments"] | None = None

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

    def within(words: NDArray[np.intp]) -> SymmetricMoments:
        return _moments_at(raw.within(words), c0)

    operator = symmetric_operator(raw.mean.size, second_product)
    return replace(raw, second=operator, third=third, third_rows=third_rows, within=within)


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
        return change @ self.whitener, multilinear(tensor, change)


def _with_concentration(mean: FloatArray, second: FloatArray, third: FloatArray, c0: float) -> FloatArray:
    """Return the third moment of LDA from the raw moments (eq. 40), slice by slice: memory in between would cost more.

    The terms of the lower moments are -a (S_ij m_k + S_ik m_j + S_jk m_i) + b m_i m_j m_k.
    """
    pairs, cube = c0 / (c0 + 2) * second, 2 * c0**2 / ((c0 + 1) * (c0 + 2))
    common = cube * np.outer(mean, mean) - pairs
    tensor = np.empty_like(third)
    for i, part in enumerate(tensor):
        around = np.outer(pairs[i], mean)
        np.subtract(third[i], around + around.T, out=part)
        part += mean[i] * common
    return tensor


def _checked_concentration(concentration: float) -> float:
    if not (np.isfinite(concentration) and concentration >= 0):
        raise ValueError(f"concentration is {concentration}; give a finite number from 0 up.")
    return float(concentration)


def raw_moments(source: Source, weights: str | float) -> RawMoments:
    """Return the raw moments of three distinct words of a document.

    Parameters
    ----------
    source
        The counts.
    weights
        How documents are weighted: see :func:`polyad.moments.counts.weights.document_weights`.

    Raises
    ------
    ValueError
        Where no document has three tokens.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> raw = raw_moments(count_blocks([[2, 1], [0, 3]]), "uniform")
    >>> raw.moments.second @ np.eye(2)
    array([[0.16666667, 0.16666667], [0.16666667, 0.5       ]])
    """
    N, M = source.shape
    own = document_weights(source, weights)
    mean, pair_diagonal, triple_diagonal, n_cells, n_too_short = total(
        _diagonals, source, own.words, own.pairs, own.triples
    )
    if n_too_short == N:
        raise ValueError(
            f"None of the {N} documents has three words, and third moments are made of triples of words. "
            "Give longer documents, or join short ones."
        )
    third_weights = CountWeights(own.triples, own.triples, diagonal=triple_diagonal, mean=np.zeros(M))

    def second_product(columns: FloatArray) -> FloatArray:
        columns = np.ascontiguousarray(columns)  # or every block would make its own copy
        return subtract_diagonal(total(_pair_products, source, columns, own.pairs), pair_diagonal, columns)

    def third(whitener: FloatArray, images: FloatArray | None = None) -> FloatArray:
        return factorial_third(source, whitener, third_weights)

    def third_rows(directions: FloatArray) -> FloatArray:
        return factorial_third_rows(source, directions, third_weights)

    def pair_energies(directions: FloatArray) -> FloatArray:
        columns = np.ascontiguousarray(directions.T)
        energies = total(_pair_energies, source, columns, own.pairs)
        for words in chunks(M):
            energies -= pair_diagonal[words] @ columns[words] ** 2
        return energies

    def within(words: NDArray[np.intp]) -> SymmetricMoments:
        return raw_moments(columns_of(source, words), weights).moments

    operator = symmetric_operator(M, second_product)
    moments = SymmetricMoments(mean, operator, third, third_rows, within, N, n_cells, source.passes_are_dear)
    return RawMoments(moments, pair_energies, n_too_short, partial(raw_moments, weights=weights))


def _diagonals(
    block: Block, words: Weight, pairs: Weight, triples: Weight
) -> tuple[FloatArray, FloatArray, FloatArray, int, int]:
    first, second, third = (block.rows.T @ weight(block.tokens) for weight in (words, pairs, triples))
    return first, second, third, int(block.rows.nnz), int((block.tokens < 3).sum())


def _pair_products(block: Block, columns: FloatArray, pairs: Weight) -> FloatArray:
    products: FloatArray = block.columns @ (pairs(block.tokens)[:, None] * (block.rows @ columns))
    return products


def _pair_energies(block: Block, columns: FloatArray, pairs: Weight) -> FloatArray:
    energies: FloatArray = pairs(block.tokens) @ (block.rows @ columns) ** 2
    return energies


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
