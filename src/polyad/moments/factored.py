"""The whitened third moment as sums over rows: its contractions without the K x K x K tensor."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from polyad.engine import Block, Source, Stacked, sum_over, total
from polyad.engine.blocks import FloatArray
from polyad.moments.pieces import UsedColumns, chunks, subtract_diagonal, used_columns
from polyad.moments.weights import Weight

if TYPE_CHECKING:
    from polyad.moments.symmetric import CountWeights

Floats = NDArray[np.floating[Any]]
RowSum = Callable[[slice], Floats]


@dataclass(frozen=True)
class FactoredThird:
    """A symmetric K x K x K tensor that is never formed.

    T is the sum over documents of ``weights[n] y_n (x) y_n (x) y_n``, less for each of the three places of c the sum
    over words of ``l_m (x) l_m (x) c_m``. For a hundred components a handful of contractions takes half the time of
    forming the tensor first; below fifty the tensor is cheaper.

    Attributes
    ----------
    documents, weights
        y, N x K, and N; all four of double or all of single precision.
    loadings, corrections
        l and c, both with one row for each word and K columns.
    """

    documents: Floats
    weights: Floats
    loadings: Floats
    corrections: Floats

    @property
    def n_components(self) -> int:
        """K."""
        return self.documents.shape[1]

    def contract(self, columns: FloatArray) -> FloatArray:
        """Return T(., v, v) for every column v."""
        columns = columns.astype(self.documents.dtype, copy=False)

        def cubes(rows: slice) -> Floats:
            projected = self.documents[rows] @ columns
            projected *= projected
            projected *= self.weights[rows, None]
            return self.documents[rows].T @ projected

        def pairs(rows: slice) -> Floats:
            along_loadings, along_corrections = self.loadings[rows] @ columns, self.corrections[rows] @ columns
            along_corrections *= 2 * along_loadings
            along_loadings *= along_loadings
            return self.loadings[rows].T @ along_corrections + self.corrections[rows].T @ along_loadings

        return self._sum(cubes, pairs)

    def along(self, direction: FloatArray) -> FloatArray:
        """Return the K x K matrix T(., ., u)."""
        direction = direction.astype(self.documents.dtype, copy=False)

        def cubes(rows: slice) -> Floats:
            y = self.documents[rows]
            return y.T @ ((self.weights[rows] * (y @ direction))[:, None] * y)

        def pairs(rows: slice) -> Floats:
            loadings, corrections = self.loadings[rows], self.corrections[rows]
            mixed = (loadings @ direction)[:, None] * corrections
            mixed += ((corrections @ direction) / 2)[:, None] * loadings
            half = loadings.T @ mixed
            return half + half.T

        return self._sum(cubes, pairs)

    def with_concentration(self, mean: FloatArray, second: FloatArray, c0: float) -> "FactoredThird":
        """Return the tensor of LDA from the raw one, whose whitened first and second moments are given.

        ``- c0/(c0+2)`` times the second moment with the mean in each place is K more words, and the cube of the mean
        one more.
        """
        values, vectors = linalg.eigh(second)
        cube = 2 * c0**2 / ((c0 + 1) * (c0 + 2))
        return replace(
            self,
            loadings=np.vstack([self.loadings, vectors.T, mean]),
            corrections=np.vstack([self.corrections, c0 / (c0 + 2) * np.outer(values, mean), -cube / 3 * mean]),
        )

    def in_single_precision(self) -> "FactoredThird":
        """Return the same tensor with numbers of seven digits: its contractions take half the time.

        That is far below the noise of a sample's third moment, and not enough for exact ones.
        """
        documents, weights, loadings, corrections = (
            part.astype(np.float32) for part in (self.documents, self.weights, self.loadings, self.corrections)
        )
        return FactoredThird(documents, weights, loadings, corrections)

    def _sum(self, cubes: RowSum, pairs: RowSum) -> FloatArray:
        contracted = sum_over(cubes, chunks(self.documents.shape[0]))
        contracted -= sum_over(pairs, chunks(self.loadings.shape[0]))
        return contracted.astype(np.float64, copy=False)


def factor_third(source: Source, whitener: FloatArray, weights: "CountWeights") -> FactoredThird:
    """Return the tensor of :func:`polyad.moments.symmetric.factorial_third` in factors.

    One pass; N x K numbers are kept.
    """
    used = used_columns(whitener)
    loadings = np.ascontiguousarray(whitener.T)
    pairs, documents, document_weights = total(
        _factor_sums, source, loadings, used, weights.cubes, weights.pairs, whitener @ weights.mean
    )
    loadings = loadings[used]
    corrections = subtract_diagonal(pairs, (2 / 3) * weights.diagonal[used], loadings)
    return FactoredThird(documents.rows(), document_weights.rows(), loadings, corrections)


def _factor_sums(
    block: Block, loadings: FloatArray, used: UsedColumns, cubes: Weight, pairs: Weight, centre: FloatArray
) -> tuple[FloatArray, Stacked, Stacked]:
    projected = block.rows @ loadings - centre
    mixed: FloatArray = block.rows.T @ (pairs(block.tokens)[:, None] * projected)
    return mixed[used], Stacked((projected,)), Stacked((cubes(block.tokens),))
