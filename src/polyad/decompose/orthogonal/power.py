"""Power iterations: on all components at once, and on one after the other with deflation."""

from typing import Any

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.base.fixed import fixed_directions
from polyad.decompose.certainty import squared_angles
from polyad.decompose.diagonalisation import Diagonalisation, checked_tensor, summarise, warn_not_converged
from polyad.decompose.energy import energy_of_squares
from polyad.decompose.orthogonal.contractions import contract, eigenvectors_of_one
from polyad.decompose.orthogonal.newton import SINGLE_FROM, Curvature, contracted, newton_rotation
from polyad.moments.symmetric import outer_cube

WARM_UP = 30  # power steps before Newton's at most: they come near the maximum from anywhere
ONWARDS = 0.8  # of its last change by which a power step goes on: each by itself is short
SETTLED = 0.02  # change of a rotation in a power step, in any entry, below which Newton's steps are shorter work
# Likewise, of a column, which then takes no part in the next one. With .002 the tensors of AP and NIPS (K = 50 to 100)
# take as many steps as with 0 and end at the same place, after 12 to 18 steps' work in place of 16 to 34; with .005 one
# of eight ends at another.
AT_REST = 0.002
NEAR = 1e-6  # slope to which seven digits lead


def power(
    tensor: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
) -> Diagonalisation:
    """Find all components of a symmetric tensor together, by orthogonalised power iterations and Newton steps.

    Each power iteration contracts the tensor with every column v_k and with the diagonal entries d_k that it has in all
    slices, and replaces the columns by the nearest orthonormal set: for an exact tensor that is the power method, and
    for any other it climbs what the slices have on their diagonals. It goes beyond its last change by a part, is quick
    at first and slow at the end. After ten to thirty, Newton steps (:mod:`~polyad.decompose.orthogonal.newton`) lead to
    the maximum: the point where "jacobi" ends, in less time. The start depends on the tensor alone, and tensors of real
    text with up to fifty components lead to the same point from everywhere.

    Parameters
    ----------
    tensor
        K x K x K, symmetric.
    directions
        F x K: the start are the eigenvectors of the contraction with the first; None takes a fixed direction in
        general position.
    max_iter
        Iterations of both kinds at most; 300 by default.
    tol
        Converged when the gradient is below this part of the objective.
    """
    stack = checked_tensor(tensor, "power")
    limit = 300 if max_iter is None else max_iter
    rotation = eigenvectors_of_one(stack, directions)
    n_iter, end = 0, None
    coarse: Any = stack.astype(np.float32) if stack.shape[0] >= SINGLE_FROM else stack
    while n_iter < limit and (end is None or end.slope > tol):
        rotation, n_steps = _climbed(coarse, rotation, min(WARM_UP, limit - n_iter))
        n_iter += n_steps
        for tensor, enough in ((coarse, NEAR), (stack, tol)):
            rotation, n_steps, end = newton_rotation(tensor, rotation, max_iter=limit - n_iter, tol=enough)
            n_iter += n_steps
    end = Curvature.at(stack, rotation) if end is None else end
    if end.slope > tol:
        warn_not_converged("power", n_iter, end.slope, tol)
    return _summary(end, n_iter, end.slope <= tol)


def _summary(end: Curvature, n_iter: int, converged: bool) -> Diagonalisation:
    """Put together what :func:`summarise` does, from the derivatives where the steps have ended."""
    diagonals, squares = end.diagonals.T, end.squares()
    turned = squared_angles(end.diagonals @ diagonals, squares, diagonals.shape[0])
    return Diagonalisation(end.rotation, diagonals.copy(), energy_of_squares(squares), n_iter, converged, turned)


def _climbed(tensor: FloatArray, rotation: FloatArray, n_steps: int) -> tuple[FloatArray, int]:
    """Return a rotation after power steps on all columns at once, and how many there were.

    A column that has come to rest keeps what the tensor made of it: most do long before the last.
    """
    before, images, pull = rotation, np.empty_like(tensor), np.empty(rotation.shape, tensor.dtype)
    moving = np.arange(rotation.shape[0])
    for number in range(1, n_steps + 1):
        ahead = rotation + ONWARDS * (rotation - before)
        columns: Any = np.ascontiguousarray(ahead.T[moving], tensor.dtype)
        pull[moving] = contracted(tensor, columns, images[: moving.size])[1]
        before, rotation = rotation, _nearest_rotation(pull.T)
        changes = np.abs(rotation - before).max(axis=0)
        if changes.max() < SETTLED:
            return _nearest_rotation(rotation.astype(np.float64)), number
        if number > 1:
            moving = np.flatnonzero(changes > AT_REST)
    return _nearest_rotation(rotation.astype(np.float64)), n_steps


def _nearest_rotation(matrix: FloatArray) -> FloatArray:
    """Return the orthonormal columns nearest to those of a matrix, in its precision."""
    left, _, right = linalg.svd(matrix, check_finite=False)
    nearest: FloatArray = left @ right
    return nearest


def tensor_power(
    tensor: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
    n_restarts: int = 10,
) -> Diagonalisation:
    """Find the components of a symmetric tensor one after the other: the tensor power method with deflation.

    For each component the best of several starts, after a few iterations, is iterated to convergence, and its
    rank-one tensor subtracted (Anandkumar et al. 2014, Algorithm 1; it draws its starts, here they are fixed). The
    vectors found are made orthonormal at the end, which for an exact tensor changes nothing.

    Parameters
    ----------
    tensor
        K x K x K, symmetric.
    directions
        F x K starting points to use beside the fixed ones.
    max_iter
        Iterations for one component at most; 100 by default.
    tol
        Converged when a vector changes by no more than this.
    n_restarts
        Number of fixed starts for each component.
    """
    stack = checked_tensor(tensor, "tensor_power")
    K = stack.shape[1]
    limit = 100 if max_iter is None else max_iter
    residual, found = stack.copy(), np.empty((K, K))
    total, worst = 0, 0.0
    all_starts = fixed_directions(K, K * n_restarts).reshape(K, n_restarts, K)
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
    return summarise(stack, _nearest_rotation(found), total, worst <= tol)


def _best_component(tensor: FloatArray, starts: FloatArray, limit: int, tol: float) -> tuple[FloatArray, int, float]:
    vectors = starts.T
    for _ in range(min(20, limit)):
        vectors = _power_step(tensor, vectors)
    scores = np.abs((contract(tensor, vectors) * vectors).sum(axis=0))
    vector = vectors[:, [int(scores.argmax())]]
    change, n_iter = np.inf, min(20, limit)
    while n_iter < limit and change > tol:
        previous, vector = vector, _power_step(tensor, vector)
        change = float(np.abs(vector - previous).max())
        n_iter += 1
    return vector[:, 0], n_iter, change


def _power_step(tensor: FloatArray, vectors: FloatArray) -> FloatArray:
    image = contract(tensor, vectors)
    # A negative value would flip the vector at every step and never settle.
    image *= np.sign((image * vectors).sum(axis=0) + 1e-300)
    return image / np.maximum(np.linalg.norm(image, axis=0), 1e-300)
