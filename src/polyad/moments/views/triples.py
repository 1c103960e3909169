"""The moments of three views that are independent given a hidden class.

With a, b and c the features of the views, w the probabilities of the classes and A, B, C the means of the features in
each class (columns), ``E[a b'] = A diag(w) B'`` and ``E[a b' c_j] = A diag(w * C[j]) B'``: once the pair is whitened,
all matrices of the second kind are similar to diagonal ones by the same matrix, and their diagonals are the rows of C.
The third view may have any rank. The last feature of every view is the constant 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyad.base.arrays import FloatArray


@dataclass(frozen=True)
class ThreeViews:
    """Moments of a pair of views and of a third one along which they are contracted.

    Attributes
    ----------
    second
        E[a b'], F1 x F2: an array, or an operator of which a product is a pass.
    means
        E[a] and E[b].
    third
        ``third(W1, W2)`` with K x F1 and K x F2 is the F3 x K x K stack of W1 E[a b' c_j] W2'.
    scales
        For each view the root of the mean square of every feature.
    n_rows
        Rows that the moments are means of.
    """

    second: Any
    means: tuple[FloatArray, FloatArray]
    third: Callable[[FloatArray, FloatArray], FloatArray]
    scales: tuple[FloatArray, FloatArray, FloatArray]
    n_rows: int


def clearness(moments: ThreeViews, n_components: int) -> float:
    """Return the K-th singular value of the scaled moments of the pair over the largest that noise alone would have."""
    if not isinstance(moments.second, np.ndarray):
        return np.inf  # wide views; whitening has its own guard
    left, right, _ = (1 / scale for scale in moments.scales)
    values = np.linalg.svd(left[:, None] * moments.second * right, compute_uv=False)
    if values.size < n_components:
        return 0.0
    noise = (np.sqrt(left.size) + np.sqrt(right.size)) / np.sqrt(moments.n_rows)
    return float(values[n_components - 1] / noise)


def three_views_population(
    weights: FloatArray, a: FloatArray, b: FloatArray, c: FloatArray, n_rows: int = 1 << 40
) -> ThreeViews:
    """Return what the moments tend to, from the probabilities of the classes and the means of features, F x K each.

    Examples
    --------
    >>> features = np.array([[0.2, 0.7], [1.0, 1.0]])
    >>> three_views_population(np.array([0.5, 0.5]), features, features, features).second.round(3)
    array([[0.265, 0.45 ], [0.45 , 1.   ]])
    """

    def third(W1: FloatArray, W2: FloatArray) -> FloatArray:
        return np.einsum("ik,jk,fk,k->fij", W1 @ a, W2 @ b, c, weights)

    scales = tuple(np.sqrt(np.maximum(view**2 @ weights, 1e-300)) for view in (a, b, c))
    return ThreeViews((a * weights) @ b.T, (a @ weights, b @ weights), third, (scales[0], scales[1], scales[2]), n_rows)
