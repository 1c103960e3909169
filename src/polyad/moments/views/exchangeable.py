"""Moments of exchangeable views that are linear in independent factors (section 3.1 of the spectral LDA paper).

Every view x_v has the same mean given the factors, ``E[x_v | h] = O h``, and views are independent given h. With m_p
the central moments of the factors, and averages over views that differ,

    pairs       E[(x_1 - m)(x_2 - m)']             = O diag(m_2) O'                              Lemma 1
    triples     E[(x_1 - m) o (x_2 - m) o (x_3 - m)] = sum_k m_3k o_k o o_k o o_k                Lemma 1
    quadruples  the fourth cumulant of four views  = sum_k (m_4k - 3 m_2k^2) o_k o o_k o o_k o o_k   Lemma 2

whatever else is in a view. Where it is known what else there is, two views do. Noise that does not depend on the
factors has no cumulant with another view, so that a view may stand in a product twice; and counts that are Poisson
given the factors have a variance equal to their mean, which is taken off. Views are put together in as many groups as
a statistic needs: sums of Poisson counts are Poisson again, and means of noise are noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, total
from polyad.moments.symmetric import square_times, symmetrise
from polyad.moments.views.cross import column_sums, cross_operator

OBSERVATIONS = ("gaussian", "poisson", "any")
Halves = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class FactorMoments:
    """Moments of independent factors."""

    mean: FloatArray  # M
    second: LinearOperator  # pairs, M x M, as an operator; a product is a pass
    # ``third(whitener, images)`` with K x M and ``second @ whitener.T``: triples along the whitener, K x K x K, from
    # the even and from the odd rows. None where there are too few views.
    third: Callable[[FloatArray, FloatArray], Halves] | None
    # ``fourth(whitener, images, directions)`` with P x K directions u: quadruples along the whitener and twice along u,
    # P x K x K, from the even and from the odd rows. None where there are too few views.
    fourth: Callable[[FloatArray, FloatArray, FloatArray], Halves] | None
    # ``spread(whitener)``: the second moment of one view along the whitener, K x K: factors and noise.
    spread: Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Groups:
    """Views put together, and how their rows are projected: ``W (x - mean)``, the mean over the views of a group."""

    views: tuple[tuple[int, ...], ...]  # the numbers of the views of each group
    # M x K, the directions, and the mean along them.
    columns: FloatArray
    shift: FloatArray
    poisson: bool  # whether the variance of counts is taken off where a view stands in a product twice

    def rows(self, block: Block) -> list[FloatArray]:
        """Return the projected rows of each group."""
        return [
            np.asarray(sum(block.views[view] @ self.columns for view in group)) / len(group) - self.shift
            for group in self.views
        ]

    def variance(self, block: Block, group: int, direction: FloatArray) -> FloatArray | float:
        """Return the variance of the counts of a group, along the directions and along one more."""
        if not self.poisson:
            return 0.0
        views = self.views[group]
        weighted = self.columns * (self.columns @ direction)[:, None]
        return np.asarray(sum(block.views[view] @ weighted for view in views)) / len(views) ** 2


def exchangeable_moments(source: Source, observation: str) -> FactorMoments:
    """Return the moments of aligned views that are exchangeable.

    Parameters
    ----------
    source
        Two or more views with the same columns.
    observation
        "gaussian" for noise that does not depend on the factors, "poisson" for counts, or "any".
    """
    V, N = len(source.widths), source.n_rows
    mean = total(_sums_of_views, source) / (N * V)
    known = observation != "any"

    def products(columns: FloatArray) -> FloatArray:
        return total(_pair_products, source, columns) / (N * V * (V - 1)) - np.outer(mean, mean @ columns)

    def groups(n_groups: int, whitener: FloatArray) -> Groups:
        views = tuple(tuple(range(first, V, n_groups)) for first in range(n_groups))
        columns = np.ascontiguousarray(whitener.T)
        return Groups(views, columns, whitener @ mean, observation == "poisson")

    def third(whitener: FloatArray, images: FloatArray) -> Halves:
        if not known:
            return _means(total(_triple_sums, source, groups(3, whitener)))
        two = groups(2, whitener)
        even, odd = _means(total(_square_sums, source, two))
        if observation == "poisson":
            # Of each order of the two groups: the variance of counts, which is their mean, goes with the other group.
            share = np.mean([1 / len(group) for group in two.views])
            noise = share * square_times(np.ascontiguousarray(whitener.T), images)
            even, odd = even - noise, odd - noise
        return symmetrise(even) / 3, symmetrise(odd) / 3

    def fourth(whitener: FloatArray, images: FloatArray, directions: FloatArray) -> Halves:
        second = whitener @ images
        sums = total(_quadruple_sums, source, groups(2 if known else 4, whitener), directions, known)
        even, odd = (_quadruples(half, second, directions) for half in sums)
        return even, odd

    def spread(whitener: FloatArray) -> FloatArray:
        return total(_spread_sums, source, groups(V, whitener)) / (N * V)

    return FactorMoments(
        mean,
        cross_operator((mean.size, mean.size), products, products),
        third if known or V >= 3 else None,
        fourth if known or V >= 4 else None,
        spread,
    )


def factor_population(
    components: FloatArray, means: FloatArray, variances: FloatArray, thirds: FloatArray, fourths: FloatArray
) -> FactorMoments:
    """Return what the moments tend to, for K x M components and the mean and cumulants of the factors, K each.

    Examples
    --------
    >>> one = np.ones(1)
    >>> moments = factor_population(np.array([[2.0, 0.0, 1.0]]), one, one, one, one)
    >>> moments.mean, (moments.second @ np.eye(3))[0]
    (array([2., 0., 1.]), array([4., 0., 2.]))
    """
    second = (components.T * variances) @ components

    def third(whitener: FloatArray, images: FloatArray) -> Halves:
        along = whitener @ components.T
        tensor = np.einsum("ik,jk,lk,k->ijl", along, along, along, thirds)
        return tensor, tensor

    def fourth(whitener: FloatArray, images: FloatArray, directions: FloatArray) -> Halves:
        along = whitener @ components.T
        stack = np.einsum("ik,jk,pk,k->pij", along, along, (directions @ along) ** 2, fourths)
        return stack, stack

    return FactorMoments(
        means @ components, aslinearoperator(second), third, fourth, lambda whitener: whitener @ second @ whitener.T
    )


def _sums_of_views(block: Block) -> FloatArray:
    return np.asarray(sum(column_sums(view) for view in block.views))


def _pair_products(block: Block, columns: FloatArray) -> FloatArray:
    """Return the sum of x_a x_b' times columns over rows and over views a and b that differ."""
    along = [view @ columns for view in block.views]
    together = np.asarray(sum(along))
    return np.asarray(sum(view.T @ (together - own) for view, own in zip(block.views, along)))


def _parity(block: Block) -> tuple[slice, slice]:
    """Return the even and the odd rows of a block, by their number in the whole data."""
    first = block.start % 2
    return slice(first, None, 2), slice(1 - first, None, 2)


def _means(sums: tuple[tuple[FloatArray, int], tuple[FloatArray, int]]) -> Halves:
    (even, n_even), (odd, n_odd) = sums
    return even / max(n_even, 1), odd / max(n_odd, 1)


def _square_sums(block: Block, groups: Groups) -> Any:
    """Return sums of a o a o b and b o b o a, halved, over even and over odd rows, and their numbers."""
    a, b = groups.rows(block)
    return tuple(
        ((square_times(a[half], b[half]) + square_times(b[half], a[half])) / 2, a[half].shape[0])
        for half in _parity(block)
    )


def _triple_sums(block: Block, groups: Groups) -> Any:
    rows = groups.rows(block)
    return tuple((_symmetric_triple(*(part[half] for part in rows)), rows[0][half].shape[0]) for half in _parity(block))


def _symmetric_triple(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    products = np.stack([(a * along[:, None]).T @ b for along in c.T], axis=2)
    return np.asarray(sum(products.transpose(order) for order in permutations(range(3)))) / 6


def _quadruple_sums(block: Block, groups: Groups, directions: FloatArray, twice: bool) -> Any:
    """Return sums of s, t and s t' over even and over odd rows, for each direction u, and the numbers of rows.

    With two groups s is a (u'a) and t is b (u'b), less the variance of counts; with four s is a (u'c) and t is b (u'd).
    """
    rows = groups.rows(block)
    first, second, third, fourth = (rows[0], rows[1], rows[0], rows[1]) if twice else rows
    halves = _parity(block)
    found: list[list[list[FloatArray]]] = [[], []]
    for u in directions:
        s = first * (third @ u)[:, None] - (groups.variance(block, 0, u) if twice else 0.0)
        t = second * (fourth @ u)[:, None] - (groups.variance(block, 1, u) if twice else 0.0)
        for kept, half in zip(found, halves):
            kept.append([s[half].sum(axis=0), t[half].sum(axis=0), s[half].T @ t[half]])
    return tuple(
        (*(np.stack(parts) for parts in zip(*kept)), rows[0][half].shape[0]) for kept, half in zip(found, halves)
    )


def _quadruples(
    sums: tuple[FloatArray, FloatArray, FloatArray, int], second: FloatArray, directions: FloatArray
) -> FloatArray:
    """Return fourth cumulants along directions u: cov(s, t) less the products of pairs that are left in it."""
    s, t, products, n_rows = sums
    n_rows = max(n_rows, 1)
    covariances = products / n_rows - s[:, :, None] * t[:, None, :] / n_rows**2
    along = directions @ second
    pairs = np.einsum("pk,pk->p", along, directions)[:, None, None] * second + along[:, :, None] * along[:, None, :]
    cumulants = covariances - pairs
    return (cumulants + cumulants.transpose(0, 2, 1)) / 2


def _spread_sums(block: Block, groups: Groups) -> FloatArray:
    return np.asarray(sum(rows.T @ rows for rows in groups.rows(block)))
