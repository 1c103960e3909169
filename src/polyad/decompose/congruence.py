"""Joint diagonalisation by congruence: B A_p B' diagonal, for positive definite matrices."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.decompose.diagonalisation import checked_stack, warn_not_converged
from polyad.decompose.energy import off_diagonal_energy

HALVINGS = 20  # of a step that makes things worse
ROUNDING = 1e-13  # by which the loss may grow in a step: it is no more accurate than that
FLATTEST = 1e-4  # least curvature of a plane that a step takes as it is


@dataclass(frozen=True)
class CongruenceDiagonalisation:
    """A matrix whose congruence makes matrices as diagonal as it can.

    Attributes
    ----------
    unmixing
        B, K x K, with rows that give the matrices a mean of 1 on their diagonals: A_p = B^-1 diag B^-1' for exact ones.
    diagonals
        P x K, of B A_p B'.
    energy
        The share of the sum of squares of B A_p B' that is off the diagonals; 0 is exact.
    n_iter
        Steps done.
    converged
        Whether the gradient fell below the tolerance.
    """

    unmixing: FloatArray
    diagonals: FloatArray
    energy: float
    n_iter: int
    converged: bool


def congruence(
    stack: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
) -> CongruenceDiagonalisation:
    """Diagonalise positive definite matrices by one congruence, which need not be a rotation.

    The likelihood of Pham (2001), sum_p log det diag(B A_p B') - log det(B A_p B'), is minimised by quasi-Newton steps
    (Ablin et al. 2019): near a solution the Hessian couples the two entries of a pair and no others.

    Parameters
    ----------
    stack
        P x K x K, symmetric and positive definite: covariances of parts of a signal, for example.
    directions
        F x P, not negative: diagonalise these combinations of the matrices in place of all.
    max_iter
        Steps at most; 1,000 by default.
    tol
        Converged when no entry of the gradient is larger than this.

    Examples
    --------
    >>> A = np.array([[1.0, 0.5], [0.2, 1.0]])
    >>> stack = np.stack([A @ np.diag(values) @ A.T for values in ([1.0, 2.0], [3.0, 0.5])])
    >>> found = congruence(stack)
    >>> product = np.abs(found.unmixing @ A)
    >>> bool((product.min(axis=1) < 1e-8 * product.max(axis=1)).all())
    True
    """
    given = checked_stack(stack)
    matrices = given if directions is None else np.tensordot(directions, given, axes=1)
    lowest = float(np.linalg.eigvalsh(matrices)[:, 0].min())
    if lowest <= 0:
        raise ValueError(
            f"Diagonalisation by congruence needs positive definite matrices, and one has the eigenvalue {lowest:.2g}: "
            "take covariances, or a method for symmetric matrices of any sign."
        )
    values, vectors = linalg.eigh(matrices.mean(axis=0))
    B: FloatArray = (vectors / np.sqrt(values)).T
    n_iter, limit = 0, 1000 if max_iter is None else max_iter
    seen = B @ matrices @ B.T
    slope = _slope(seen)
    while n_iter < limit and slope > tol:
        B, seen, moved = _moved(B, seen, matrices)
        slope, n_iter = _slope(seen), n_iter + 1
        if not moved:
            break
    converged = slope <= max(tol, 1e-9)
    if not converged:
        warn_not_converged("congruence", n_iter, slope, tol)
    similar = B @ given @ B.T
    scale = 1 / np.sqrt(np.diagonal(similar, axis1=1, axis2=2).mean(axis=0))
    similar = similar * np.outer(scale, scale)
    diagonals = np.diagonal(similar, axis1=1, axis2=2).copy()
    return CongruenceDiagonalisation(
        scale[:, None] * B, diagonals, off_diagonal_energy(similar), n_iter, bool(converged)
    )


def loss(seen: FloatArray) -> float:
    """Return the mean of log det diag - log det over matrices: 0 where all are diagonal, and positive elsewhere.

    Examples
    --------
    >>> loss(np.diag([1.0, 3.0])[None])
    0.0
    """
    diagonals = np.diagonal(seen, axis1=1, axis2=2)
    return float((np.log(diagonals).sum(axis=1) - np.linalg.slogdet(seen)[1]).mean())


def _slope(seen: FloatArray) -> float:
    return float(np.abs(_gradient(seen)).max(initial=0.0))


def _gradient(seen: FloatArray) -> FloatArray:
    """Return the derivative of half of the loss along B <- (1 + X) B, of the entries beside the diagonal."""
    diagonals = np.diagonal(seen, axis1=1, axis2=2)
    gradient = (seen / diagonals[:, :, None]).mean(axis=0)
    np.fill_diagonal(gradient, 0.0)
    return np.asarray(gradient)


def _moved(B: FloatArray, seen: FloatArray, matrices: FloatArray) -> tuple[FloatArray, FloatArray, bool]:
    """Return B after a quasi-Newton step, halved until the loss falls, what the matrices are then, and if it moved."""
    diagonals = np.diagonal(seen, axis1=1, axis2=2)
    H = (diagonals[:, None, :] / diagonals[:, :, None]).mean(axis=0)  # of an entry ij with itself; with ji it is 1
    gradient, floor = _gradient(seen), np.maximum(H * H.T - 1, FLATTEST)
    step = -(H.T * gradient - gradient.T) / floor
    np.fill_diagonal(step, 0.0)
    before = loss(seen)
    for _ in range(HALVINGS):
        turned = np.eye(len(B)) + step
        there = turned @ seen @ turned.T
        if (np.diagonal(there, axis1=1, axis2=2) > 0).all() and loss(there) <= before + ROUNDING:
            ahead = turned @ B
            return ahead, ahead @ matrices @ ahead.T, True
        step = step / 2
    return B, seen, False
