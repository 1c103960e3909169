"""Cross moments of aligned views of different kinds, with values that were not seen left out.

A value that was not seen adds nothing to a sum, and a feature of its own, whether it was seen, tells how much of a
class was: both are means given the class, so that their ratio is the mean of what was seen. Nothing is filled in.
"""

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, total
from polyad.engine.blocks import is_sparse
from polyad.moments.views.cross import column_sums, cross_operator, dense_rows
from polyad.moments.views.triples import ThreeViews

DENSE_PAIRS = 1 << 22  # cells up to which the second moment of a pair is formed


@dataclass(frozen=True)
class ViewFeatures:
    """Features of one view.

    Attributes
    ----------
    view
        Its number.
    kind
        "counts" for the shares of the columns of a row of counts; "values" for values less a centre over a scale.
    width
        Columns of the view.
    centre, scale
        Of values.
    gaps
        The columns of values of which some were not seen.
    """

    view: int
    kind: str
    width: int
    centre: FloatArray
    scale: FloatArray
    gaps: tuple[int, ...] = ()

    @property
    def n_features(self) -> int:
        """How many."""
        return self.width + len(self.gaps)

    def __call__(self, block: Block) -> Any:
        """Return the features of the rows of a block, sparse for sparse counts."""
        rows = block.views[self.view]
        if self.kind == "counts":
            weights = 1 / np.maximum(np.asarray(rows.sum(axis=1)).ravel(), 1.0)
            return sparse.diags_array(weights) @ rows if is_sparse(rows) else weights[:, None] * rows
        values = (rows - self.centre) / self.scale
        if not self.gaps:
            return values
        seen = ~np.isnan(rows)
        return np.hstack([np.where(seen, values, 0.0), seen[:, self.gaps].astype(np.float64)])

    def shown(self, means: FloatArray) -> FloatArray:
        """Return the means of the columns in each class, K x M, from the means of the features, F x K."""
        if self.kind == "counts":
            return means.T
        values = means[: self.width].T.copy()
        if self.gaps:
            seen = means[self.width :].T
            values[:, self.gaps] /= np.where(seen > 0.01, seen, 1.0)
        return values * self.scale + self.centre


Group = tuple[ViewFeatures, ...]


def group_features(block: Block, group: Group) -> Any:
    """Return the features of the views of a group side by side, with the constant 1 as the last one."""
    parts = [features(block) for features in group]
    ones = np.ones((block.n_rows, 1))
    if all(is_sparse(part) for part in parts):
        return sparse.csr_array(sparse.hstack([*parts, sparse.csr_array(ones)], format="csr"))
    return np.hstack([*(dense_rows(part) for part in parts), ones])


def group_size(group: Group) -> int:
    """Return the number of features of a group."""
    return 1 + sum(features.n_features for features in group)


def aligned_moments(source: Source, groups: tuple[Group, Group, Group]) -> dict[tuple[int, int, int], ThreeViews]:
    """Return the moments of three groups of views for each of the three pairings: two groups, and the third one.

    Parameters
    ----------
    source
        Aligned views.
    groups
        The views of each group, and their features.
    """
    sums = total(_feature_sums, source, groups)
    N = source.n_rows
    means = [firsts / N for firsts, _ in sums]
    scales = [np.sqrt(np.maximum(squares / N, 1e-300)) for _, squares in sums]
    found = {}
    for a, b, c in permutations(range(3)):
        if a < b:
            second = _pair(source, groups[a], groups[b])
            third = _Third(source, (groups[a], groups[b], groups[c]))
            found[a, b, c] = ThreeViews(second, (means[a], means[b]), third, (scales[a], scales[b], scales[c]), N)
    return found


def _feature_sums(block: Block, groups: tuple[Group, ...]) -> tuple[tuple[FloatArray, FloatArray], ...]:
    """Return sums and squares of the features of every group."""
    found = []
    for group in groups:
        rows = group_features(block, group)
        found.append((column_sums(rows), column_sums(rows * rows)))
    return tuple(found)


def _pair(source: Source, left: Group, right: Group) -> Any:
    shape = group_size(left), group_size(right)
    if shape[0] * shape[1] <= DENSE_PAIRS:
        return total(_pair_products, source, left, right) / source.n_rows

    def forward(columns: FloatArray) -> FloatArray:
        return total(_projected_products, source, left, right, columns) / source.n_rows

    def backward(columns: FloatArray) -> FloatArray:
        return total(_projected_products, source, right, left, columns) / source.n_rows

    operator: LinearOperator = cross_operator(shape, forward, backward)
    return operator


def _pair_products(block: Block, left: Group, right: Group) -> FloatArray:
    products = group_features(block, left).T @ group_features(block, right)
    return np.asarray(products.toarray() if is_sparse(products) else products)


def _projected_products(block: Block, left: Group, right: Group, columns: FloatArray) -> FloatArray:
    return np.asarray(group_features(block, left).T @ (group_features(block, right) @ columns))


@dataclass(frozen=True)
class _Third:
    """The third moment of groups a, b and c, whitened in a and b."""

    source: Source
    groups: tuple[Group, Group, Group]

    def __call__(self, W1: FloatArray, W2: FloatArray) -> FloatArray:
        """Return the stack F3 x K x K, in one pass."""
        K = W1.shape[0]
        return total(_triple_products, self.source, self.groups, W1, W2).reshape(-1, K, K) / self.source.n_rows


def _triple_products(block: Block, groups: tuple[Group, Group, Group], W1: FloatArray, W2: FloatArray) -> FloatArray:
    left, right, third = (group_features(block, group) for group in groups)
    a, b = left @ W1.T, right @ W2.T
    both = (a[:, :, None] * b[:, None, :]).reshape(block.n_rows, -1)
    return np.asarray(third.T @ both)
