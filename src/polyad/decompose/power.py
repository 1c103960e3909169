"""Power iterations: on all components at once, and on one after the other with deflation."""

from typing import Any

import numpy as np
from scipy import linalg

from polyad.decompose.contractions import Contractions, FormedTensor, one_direction, random_directions
from polyad.decompose.diagonalisation import (
    Diagonalisation,
    checked_tensor,
    summarise,
    summarise_contractions,
    warn_not_converged,
)
from polyad.engine.blocks import FloatArray
from polyad.moments.symmetric import outer_cube

A_HANDFUL = 20  # iterations: a lower limit is a wish, not a failure to converge


def power(
    tensor: FloatArray | Contractions,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
    random_state: int = 0,
) -> Diagonalisation:
    """Find all components of a symmetric tensor together, by orthogonalised power iterations.

    Each iteration contracts the tensor twice with every column, weighs the columns by their values and replaces
    them by the nearest orthonormal set. The start is the spectral method's. All the work is matrix products, so
    that it is the fastest method for many components.

    Parameters
    ----------
    tensor
        K x K x K, symmetric; or its contractions, which are all that the method needs.
    directions
        F x K: see :func:`polyad.decompose.spectral`, which makes the start.
    max_iter
        Iterations at most; 200 by default. A limit below 20 is taken as a wish, not as a failure to converge: on noisy
        moments a handful of iterations is as good as the limit.
    tol
        Converged when no entry of the rotation changes by more than this.
    random_state
        Seed of the start.
    """
    third: Any = tensor if hasattr(tensor, "contract") else FormedTensor(checked_tensor(tensor, "power"))
    rotation: FloatArray = linalg.eigh(third.along(one_direction(third.n_components, directions, random_state)))[1]
    limit = 200 if max_iter is None else max_iter
    change, n_iter = np.inf, 0
    while n_iter < limit and change > tol:
        gradient = third.contract(rotation)
        gradient *= (gradient * rotation).sum(axis=0)
        left, _, right = linalg.svd(gradient)
        previous, rotation = rotation, left @ right
        change = float(np.abs(rotation - previous).max())
        n_iter += 1
    if change > tol and limit >= A_HANDFUL:
        warn_not_converged("power", n_iter, change, tol)
    if isinstance(third, FormedTensor):
        return summarise(third.tensor, rotation, n_iter, change <= tol)
    return summarise_contractions(third, rotation, n_iter, change <= tol)


def tensor_power(
    tensor: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
    random_state: int = 0,
    n_restarts: int = 10,
) -> Diagonalisation:
    """Find the components of a symmetric tensor one after the other: the tensor power method with deflation.

    For each component the best of several starts, after a few iterations, is iterated to convergence, and its
    rank-one tensor subtracted (Anandkumar et al. 2014, Algorithm 1). The vectors found are made orthonormal at the
    end, which for an exact tensor changes nothing.

    Parameters
    ----------
    tensor
        K x K x K, symmetric.
    directions
        F x K starting points to use beside the random ones.
    max_iter
        Iterations for one component at most; 100 by default.
    tol
        Converged when a vector changes by no more than this.
    random_state, n_restarts
        Seed and number of random starts for each component.
    """
    stack = checked_tensor(tensor, "tensor_power")
    K = stack.shape[1]
    limit = 100 if max_iter is None else max_iter
    residual, found = stack.copy(), np.empty((K, K))
    total, worst = 0, 0.0
    all_starts = random_directions(K, K * n_restarts, random_state).reshape(K, n_restarts, K)
    for k, starts in enumerate(all_starts):
        if directions is not None:
            given = directions / np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-300)
            starts = np.vstack([starts, given])
        vector, n_iter, change = _best_component(residual, starts, limit, tol)
        value = float(np.einsum("ijk,i,j,k->", residual, vector, vector, vector, optimize=True))
        residual -= value * outer_cube(vector)
        found[:, k] = vector
        total, worst = total + n_iter, max(worst, change)
    if worst > tol:
        warn_not_converged("tensor_power", total, worst, tol)
    left, _, right = linalg.svd(found)
    return summarise(stack, left @ right, total, worst <= tol)


def _best_component(tensor: FloatArray, starts: FloatArray, limit: int, tol: float) -> tuple[FloatArray, int, float]:
    vectors = starts.T
    for _ in range(min(20, limit)):
        vectors = _power_step(tensor, vectors)
    scores = np.abs((FormedTensor(tensor).contract(vectors) * vectors).sum(axis=0))
    vector = vectors[:, [int(scores.argmax())]]
    change, n_iter = np.inf, min(20, limit)
    while n_iter < limit and change > tol:
        previous, vector = vector, _power_step(tensor, vector)
        change = float(np.abs(vector - previous).max())
        n_iter += 1
    return vector[:, 0], n_iter, change


def _power_step(tensor: FloatArray, vectors: FloatArray) -> FloatArray:
    image = FormedTensor(tensor).contract(vectors)
    # A negative value would flip the vector at every step and never settle.
    image *= np.sign((image * vectors).sum(axis=0) + 1e-300)
    return image / np.maximum(np.linalg.norm(image, axis=0), 1e-300)
