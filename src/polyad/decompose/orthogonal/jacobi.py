"""Orthogonal joint diagonalisation by Jacobi rotations."""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled
from polyad.base.fixed import fixed_directions
from polyad.decompose.diagonalisation import Diagonalisation, checked_stack, summarise, warn_not_converged
from polyad.decompose.orthogonal.contractions import eigenvectors_of_one


def jacobi(
    tensor: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
    n_projections: int | None = None,
) -> Diagonalisation:
    """Diagonalise a stack of symmetric matrices jointly, one pair of axes after the other.

    Each step turns a plane by the angle that leaves the least off the diagonal (Cardoso and Souloumiac 1996),
    the closed form that Algorithm 1 of the discrete ICA paper uses. The start is the eigenvectors of one
    combination of the matrices.

    Parameters
    ----------
    tensor
        P x K x K; for a K x K x K tensor its K slices.
    directions
        F x K: diagonalise the contractions with these directions in place of all slices.
    max_iter
        Sweeps over all pairs at most; 100 by default.
    tol
        Converged when no angle of a sweep is larger than this.
    n_projections
        That many fixed directions in general position in place of all slices: see :func:`jacobi_of_projections`.

    Examples
    --------
    >>> from polyad.moments.symmetric import outer_cube
    >>> rotation = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> tensor = sum(value * outer_cube(v) for value, v in zip((2.0, 1.0), rotation.T))
    >>> np.sort(np.abs(jacobi(tensor).rotation.T @ rotation).round(8))
    array([[0., 1.], [0., 1.]])
    """
    stack = checked_stack(tensor)
    if directions is None and n_projections is not None:
        directions = fixed_directions(stack.shape[0], n_projections)
    matrices = stack if directions is None else np.tensordot(directions, stack, axes=1)
    start = eigenvectors_of_one(matrices)  # spares half of the sweeps
    # The P entries at one place lie together; rotated in place.
    layout = (start.T @ matrices @ start).transpose(1, 2, 0).copy()
    max_iter = 100 if max_iter is None else max_iter
    rotation, n_iter, angle = _sweeps(layout, start.copy(), max_iter, tol)
    if angle > tol:
        warn_not_converged("jacobi", n_iter, angle, tol)
    return summarise(stack, rotation, n_iter, bool(angle <= tol))


def jacobi_of_projections(
    tensor: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
) -> Diagonalisation:
    """Diagonalise K contractions in general position in place of the K slices ("JD(k)" of the discrete ICA paper).

    The option (a) of its Algorithm 1, with fixed directions where the paper draws them from the sphere. All slices,
    option (b), weigh every direction the same and are a little more accurate.

    Parameters
    ----------
    tensor
        P x K x K.
    directions
        F x P to contract with in place of the fixed ones.
    max_iter, tol
        As in :func:`jacobi`.
    """
    stack = checked_stack(tensor)
    return jacobi(stack, directions=directions, max_iter=max_iter, tol=tol, n_projections=stack.shape[1])


@compiled
def _sweeps(A, V, max_iter, tol):  # type: ignore[no-untyped-def]
    """Rotate A (K x K x P) and V in place until a sweep turns no plane by more than tol."""
    K, _, P = A.shape
    n_iter, largest = 0, 0.0
    for _ in range(max_iter):
        n_iter += 1
        largest = 0.0
        for p in range(K - 1):
            for q in range(p + 1, K):
                on, cross = 0.0, 0.0
                for i in range(P):
                    difference, twice = A[p, p, i] - A[q, q, i], A[p, q, i] + A[q, p, i]
                    on += difference * difference - twice * twice
                    cross += difference * twice
                cross *= 2
                angle = 0.25 * np.arctan2(cross, on)
                if abs(angle) <= tol:
                    largest = max(largest, abs(angle))
                    continue
                largest = max(largest, abs(angle))
                c, s = np.cos(angle), np.sin(angle)
                for j in range(K):
                    for i in range(P):
                        x, y = A[p, j, i], A[q, j, i]
                        A[p, j, i], A[q, j, i] = c * x + s * y, c * y - s * x
                for j in range(K):
                    for i in range(P):
                        x, y = A[j, p, i], A[j, q, i]
                        A[j, p, i], A[j, q, i] = c * x + s * y, c * y - s * x
                    x, y = V[j, p], V[j, q]
                    V[j, p], V[j, q] = c * x + s * y, c * y - s * x
        if largest <= tol:
            break
    return V, n_iter, largest
