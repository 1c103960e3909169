"""From the moments of three views to the probabilities of the hidden classes and what each view shows of them."""

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import aslinearoperator

from polyad.base.arrays import FloatArray
from polyad.base.plurals import how_many
from polyad.decompose.orthogonal.registry import diagonaliser
from polyad.decompose.similarity.registry import similarity_diagonaliser
from polyad.decompose.similarity.sweeps import SimilarityDiagonaliser
from polyad.decompose.whitening.cross import cross_loadings, cross_whiten
from polyad.decompose.whitening.symmetric import RankError
from polyad.moments.views.triples import ThreeViews

SMALLEST = 1e-3  # of the largest: divisors are kept from less


@dataclass(frozen=True)
class Classes:
    """Hidden classes as three views show them."""

    weights: FloatArray  # K probabilities
    # The means of the features of the three views in each class, F x K.
    views: tuple[FloatArray, FloatArray, FloatArray]
    spectrum: FloatArray  # singular values of the scaled moment of the pair, largest first
    energy: float  # share of the whitened matrices that is off their diagonals


def classes_of(moments: ThreeViews, n_components: int, *, method: str | SimilarityDiagonaliser = "exact") -> Classes:
    """Return the classes that have given moments.

    Raises
    ------
    RankError
        Where the pair of views varies together in fewer than K directions.
    """
    scales = [1 / np.maximum(scale, SMALLEST * scale.max()) for scale in moments.scales]
    second = aslinearoperator(moments.second)
    whitening = cross_whiten(second, n_components, x_metric=scales[0], y_metric=scales[1])
    stack = moments.third(whitening.x_whitener, whitening.y_whitener)
    found = similarity_diagonaliser(method)(_principal(scales[2][:, None, None] * stack, n_components))
    a, b = cross_loadings(second, whitening, found)
    c = np.einsum("ki,fij,jk->fk", found.inverse, stack, found.rotation)
    a, b, c = (view / _kept_from_zero(view[-1]) for view in (a, b, c))
    first = found.inverse @ whitening.x_whitener @ moments.means[0]
    other = found.rotation.T @ whitening.y_whitener @ moments.means[1]
    weights = np.maximum(first * other, SMALLEST / n_components)
    return Classes(weights / weights.sum(), (a, b, c), whitening.spectrum, found.energy)


def _principal(stack: FloatArray, n_components: int) -> FloatArray:
    """Return as many combinations of matrices as say most of all of them."""
    F, K, _ = stack.shape
    if n_components >= F:
        return stack
    _, sizes, rows = np.linalg.svd(stack.reshape(F, K * K), full_matrices=False)
    return (sizes[:, None] * rows)[:n_components].reshape(-1, K, K)


def _kept_from_zero(values: FloatArray) -> FloatArray:
    floor = SMALLEST * max(float(np.abs(values).max()), 1e-300)
    return np.where(np.abs(values) < floor, np.where(values < 0, -floor, floor), values)


def averaged_classes(pairings: dict[tuple[int, int, int], Classes], scales: list[FloatArray]) -> Classes:
    """Return the mean of what several pairings of the same three views say, classes in the order of the first.

    Parameters
    ----------
    pairings
        For each pairing, the views of the pair and the third one, its classes.
    scales
        For each view the size of every feature, in which classes are compared.
    """
    (_, first), *_ = pairings.items()
    sums, weights = [np.zeros((scale.size, first.weights.size)) for scale in scales], np.zeros(first.weights.size)
    reference: FloatArray | None = None
    for order, found in pairings.items():
        views = [found.views[order.index(view)] for view in range(3)]
        stacked = np.vstack([view / scale[:, None] for view, scale in zip(views, scales)])
        if reference is None:
            reference = stacked
        distances = ((reference[:, :, None] - stacked[:, None, :]) ** 2).sum(axis=0)
        _, chosen = linear_sum_assignment(distances)
        for number, view in enumerate(views):
            sums[number] += view[:, chosen] / len(pairings)
        weights += found.weights[chosen] / len(pairings)
    energy = float(np.mean([found.energy for found in pairings.values()]))
    return Classes(weights / weights.sum(), (sums[0], sums[1], sums[2]), first.spectrum, energy)


def symmetric_classes(pairings: dict[tuple[int, int, int], ThreeViews], n_components: int) -> Classes:
    """Return classes by view symmetrisation (Proposition 1 of the spectral LDA paper).

    The second and the third view are turned into what the first would show of the same class,
    ``C_b = E[a c'] pinv(E[b c'])`` and ``C_c = E[a b'] pinv(E[c b'])``; the moments are then symmetric tensors.
    """
    K = n_components
    pairs = {order[:2]: _dense(moments.second) for order, moments in pairings.items()}
    from_b = pairs[0, 2] @ _pinv(pairs[1, 2], K)
    from_c = pairs[0, 1] @ _pinv(pairs[1, 2].T, K)
    second = _symmetrised(pairs[0, 1] @ from_b.T) + _symmetrised(pairs[0, 2] @ from_c.T)
    values, vectors = np.linalg.eigh(second / 2)
    values, vectors = values[::-1], vectors[:, ::-1]
    if not values[K - 1] > 1e-12 * values[0]:
        supported = int((values > 1e-12 * values[0]).sum())
        directions = how_many(supported, "positive directions")
        message = f"The symmetric second moment has {directions}, and {K} classes were asked for"
        raise RankError(message, supported=supported, spectrum=values)
    W = (vectors[:, :K] / np.sqrt(values[:K])).T
    tensor = np.einsum("fij,lf->ijl", pairings[0, 1, 2].third(W, W @ from_b), W @ from_c)
    symmetric = np.mean([tensor.transpose(order) for order in permutations(range(3))], axis=0)
    found = diagonaliser("jacobi")(symmetric)
    signs = np.where(found.values < 0, -1.0, 1.0)
    lengths = np.maximum(signs * found.values, 1e-12)
    a = (vectors[:, :K] * np.sqrt(values[:K])) @ (found.rotation * signs * lengths)
    b, c = pairs[1, 2] @ _pinv(pairs[0, 2], K) @ a, pairs[1, 2].T @ _pinv(pairs[0, 1], K) @ a
    a, b, c = (view / _kept_from_zero(view[-1]) for view in (a, b, c))
    weights = np.maximum(1 / lengths**2, SMALLEST / K)
    return Classes(weights / weights.sum(), (a, b, c), values, found.energy)


def _dense(second: Any) -> FloatArray:
    return np.asarray(second if isinstance(second, np.ndarray) else second @ np.eye(second.shape[1]))


def _symmetrised(matrix: FloatArray) -> FloatArray:
    return (matrix + matrix.T) / 2


def _pinv(matrix: FloatArray, rank: int) -> FloatArray:
    """Return the pseudo-inverse of the best approximation of a rank."""
    U, values, Vt = np.linalg.svd(matrix, full_matrices=False)
    kept = max(int((values[:rank] > 1e-13 * values[0]).sum()), 1)
    return (Vt[:kept].T / values[:kept]) @ U[:, :kept].T
