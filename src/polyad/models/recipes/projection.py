"""Projections under which a document of one text lies close to its partner in another."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, rows, total

WEIGHT_POWER = 2  # of the correlation between texts: directions of noise must not count as much as shared ones


@dataclass(frozen=True)
class Projection:
    """Directions of one text."""

    weights: FloatArray  # D x M
    centre: FloatArray  # D, what is taken off: the mean of the documents fitted to


def shared_projections(source: Source, directions: list[FloatArray]) -> list[Projection]:
    """Return projections of all views from the directions in which these vary together, D x M of each view.

    A document is the root of its word proportions here, so that its length does not matter. Every direction is
    scaled to mean 0 and variance 1 in each view, and counts by its correlation between the views. Documents without
    a word of the directions are left out. Two passes.
    """
    columns = tuple(np.ascontiguousarray(view.T) for view in directions)
    moments = total(_projection_sums, source, columns)
    scales, centres = zip(*(_standard(*sums) for sums in moments))
    products, n_pairs = total(_cross_products, source, columns, scales, centres)
    correlations = np.clip(products / max(n_pairs, 1), 0.0, 1.0)
    weights = correlations**WEIGHT_POWER
    return [
        Projection(view * (scale * weights)[:, None], centre * weights)
        for view, scale, centre in zip(directions, scales, centres)
    ]


def _projection_sums(block: Block, columns: tuple[FloatArray, ...]) -> tuple[tuple[FloatArray, FloatArray, int], ...]:
    """Return for each view the sums of the projected documents, of their squares, and how many there are."""
    found = (projected_roots(block, view, own) for view, own in enumerate(columns))
    return tuple((rows.sum(axis=0), (rows**2).sum(axis=0), int(rows.any(axis=1).sum())) for rows in found)


def _standard(sums: FloatArray, squares: FloatArray, n_rows: int) -> tuple[FloatArray, FloatArray]:
    """Return the scale of each direction and the mean of the scaled documents."""
    mean, mean_square = sums / max(n_rows, 1), squares / max(n_rows, 1)
    variance = mean_square - mean**2
    # A direction in which all documents are the same tells nothing, and must not be blown up from rounding.
    varies = variance > 1e-10 * mean_square
    scale = np.where(varies, 1 / np.sqrt(np.where(varies, variance, 1.0)), 0.0)
    return scale, mean * scale


def _cross_products(
    block: Block, columns: tuple[FloatArray, ...], scales: tuple[FloatArray, ...], centres: tuple[FloatArray, ...]
) -> tuple[FloatArray, int]:
    """Return the sums of products of the standardised projections of all pairs of views, and how many they are."""
    projected = [projected_roots(block, view, own) for view, own in enumerate(columns)]
    known = [rows.any(axis=1) for rows in projected]
    standard = [rows * scale - centre for rows, scale, centre in zip(projected, scales, centres)]
    products, n_pairs = np.zeros(columns[0].shape[1]), 0
    for one, other in combinations(range(len(columns)), 2):
        both = known[one] & known[other]
        products += (standard[one] * standard[other])[both].sum(axis=0)
        n_pairs += int(both.sum())
    return products, n_pairs


def projected_roots(block: Block, view: int, columns: FloatArray) -> FloatArray:
    """Return the rows of sqrt(X / length) @ columns of a view."""
    tokens = block.lengths[view]
    lengths = np.ones(block.n_rows) if tokens is None else np.maximum(tokens, 1.0)
    projected: FloatArray = (block.views[view].sqrt() @ columns) / np.sqrt(lengths)[:, None]
    return projected


def unit_projections(source: Source, projection: Projection) -> FloatArray:
    """Return the rows of sqrt(X / length) @ weights' less their centre, scaled to unit length, N x D.

    What all documents have in common is no sign of which two belong together. A row without any word that has a
    weight stays zero.
    """
    return rows(_unit_block, source, np.ascontiguousarray(projection.weights.T), projection.centre)


def _unit_block(block: Block, columns: FloatArray, centre: FloatArray) -> FloatArray:
    projected = projected_roots(block, 0, columns)
    projected = np.where(np.any(projected, axis=1, keepdims=True), projected - centre, 0.0)
    return projected / np.maximum(np.linalg.norm(projected, axis=1, keepdims=True), 1e-300)
