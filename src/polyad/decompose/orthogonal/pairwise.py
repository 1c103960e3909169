"""COM2: pairwise diagonalisation of a symmetric tensor by plane rotations."""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.decompose.diagonalisation import Diagonalisation, checked_tensor, summarise, warn_not_converged
from polyad.decompose.orthogonal.contractions import eigenvectors_of_one


def com2(
    tensor: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
) -> Diagonalisation:
    """Turn one plane after the other so that the squares on the tensor's diagonal grow (COM2, Comon 1994).

    It maximises sum_k T_kkk^2, where "jacobi" maximises the squares on the diagonals of all slices. In a plane the sum
    is a + b cos 4x + c sin 4x of the angle x, which has its maximum in closed form.

    Parameters
    ----------
    tensor
        K x K x K, symmetric.
    directions
        F x K: only the first is used, for the start; None takes a fixed one in general position.
    max_iter
        Sweeps over all pairs at most; 100 by default.
    tol
        Converged when no angle of a sweep is larger than this.

    Examples
    --------
    >>> from polyad.moments.symmetric import outer_cube
    >>> rotation = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> tensor = sum(value * outer_cube(v) for value, v in zip((2.0, 1.0), rotation.T))
    >>> np.sort(np.abs(com2(tensor).rotation.T @ rotation).round(8))
    array([[0., 1.], [0., 1.]])
    """
    stack = checked_tensor(tensor, "com2")
    V = eigenvectors_of_one(stack, directions)
    T = np.einsum("ijk,ia,jb,kc->abc", stack, V, V, V, optimize=True)
    K, limit = len(T), 100 if max_iter is None else max_iter
    n_iter, largest = 0, 0.0 if K == 1 else np.inf
    while n_iter < limit and largest > tol:
        n_iter, largest = n_iter + 1, 0.0
        for p in range(K - 1):
            for q in range(p + 1, K):
                angle = plane_angle(T[p, p, p], T[p, p, q], T[p, q, q], T[q, q, q])
                largest = max(largest, abs(angle))
                if abs(angle) > 0.01 * tol:
                    _turn(T, V, p, q, angle)
    if largest > tol:
        warn_not_converged("com2", n_iter, largest, tol)
    return summarise(stack, V, n_iter, largest <= tol)


def plane_angle(a: float, b: float, c: float, d: float) -> float:
    """Return the angle that makes T_111^2 + T_222^2 largest, for the entries T_111, T_112, T_122, T_222.

    Examples
    --------
    >>> plane_angle(2.0, 0.0, 0.0, 1.0)
    0.0
    """
    cosine = (a * a + d * d - ((3 * b + d) ** 2 + (a + 3 * c) ** 2) / 4) / 2
    sine = 1.5 * (a * b - c * d)
    return float(0.25 * np.arctan2(sine, cosine))


def _turn(T: FloatArray, V: FloatArray, p: int, q: int, angle: float) -> None:
    """Turn the plane of two axes of a tensor, and the two columns of the rotation, in place."""
    pair = [p, q]
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    T[pair] = np.tensordot(turn, T[pair], axes=1)
    T[:, pair] = turn @ T[:, pair]
    T[:, :, pair] = T[:, :, pair] @ turn.T
    V[:, pair] = V[:, pair] @ turn.T
