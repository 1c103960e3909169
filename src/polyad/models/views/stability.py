"""How far the factors of two views can be relied on: the same fit on resampled data."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from polyad.base.arrays import FloatArray

N_BLOCKS = 50  # rows that stand together are drawn together: neighbours are often not independent


def stability_of_factors(model: Any, X: Any, Y: Any, n_resamples: int, random_state: int) -> FloatArray:
    """Return for each factor of a fitted model how well it comes back on resampled rows; see ``TwoViewModel``."""
    rng = np.random.default_rng(random_state)
    views: list[Any] = [view.tocsr() if hasattr(view, "tocsr") else np.asarray(view) for view in (X, Y)]
    n_rows = views[0].shape[0]
    blocks = np.array_split(np.arange(n_rows), min(N_BLOCKS, n_rows))
    total = np.zeros(model.x_loadings_.shape[1])
    for _ in range(n_resamples):
        rows = np.concatenate([blocks[k] for k in rng.integers(len(blocks), size=len(blocks))])
        again = clone(model).fit(*(view[rows] for view in views))
        total += matched_cosines(model, again)
    return total / n_resamples


def matched_cosines(model: Any, other: Any) -> FloatArray:
    """Return the mean cosine over both views between every factor of a model and its best match in another."""
    x_cosines, y_cosines = (
        _unit_columns(mine).T @ _unit_columns(theirs)
        for mine, theirs in ((model.x_loadings_, other.x_loadings_), (model.y_loadings_, other.y_loadings_))
    )
    both = np.abs(x_cosines + y_cosines) / 2  # a sign belongs to both views of a factor
    mine, theirs = linear_sum_assignment(-both)
    return np.asarray(both[mine, theirs])


def _unit_columns(loadings: FloatArray) -> FloatArray:
    return loadings / np.maximum(np.linalg.norm(loadings, axis=0), 1e-300)
