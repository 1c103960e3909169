"""What every diagonaliser takes and returns."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.base.fixed import fixed_directions
from polyad.decompose.certainty import turning
from polyad.decompose.energy import off_diagonal_energy
from polyad.decompose.orthogonal.contractions import MATRICES, each_part


@dataclass(frozen=True)
class Diagonalisation:
    """A rotation that makes matrices, or a tensor, as diagonal as it can.

    Attributes
    ----------
    rotation
        K x K with orthonormal columns v_k: for an exact tensor T = sum_k values[k] v_k (x) v_k (x) v_k.
    diagonals
        P x K: v_k' A_p v_k for every matrix A_p of the stack.
    energy
        The share of the stack's sum of squares that is off the diagonal after the rotation; 0 is exact.
    n_iter
        Sweeps or iterations done.
    converged
        Whether the method's own test of convergence was met.
    turned
        K: the squared angle by which noise turns each component; infinite where the data do not tell it from another.
    """

    rotation: FloatArray
    diagonals: FloatArray
    energy: float
    n_iter: int
    converged: bool
    turned: FloatArray

    @property
    def values(self) -> FloatArray:
        """T(v_k, v_k, v_k), for a stack that is the K slices of a tensor."""
        return np.einsum("pk,pk->k", self.diagonals, self.rotation)


class Diagonaliser(Protocol):
    """The signature that all methods share.

    A method may use the contractions ``T(., ., u)`` with the rows u of ``directions`` (F x K) where it needs to
    choose some; None leaves the choice to it.
    """

    def __call__(
        self,
        tensor: FloatArray,
        *,
        directions: FloatArray | None = None,
        max_iter: int | None = None,
        tol: float = 1e-10,
    ) -> Diagonalisation:
        """Diagonalise a symmetric K x K x K tensor; all but the power methods also a stack of P symmetric matrices."""
        ...


def checked_stack(tensor: FloatArray) -> FloatArray:
    """Return a P x K x K stack of finite symmetric matrices, or say what is wrong with it."""
    stack = np.asarray(tensor, dtype=np.float64)
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2] or stack.size == 0:
        raise ValueError(f"Expected a stack of square matrices, P x K x K; got the shape {stack.shape}.")
    if not np.isfinite(stack).all():
        raise ValueError("The matrices to diagonalise contain NaN or infinity; check the moments they come from.")
    return stack


def checked_tensor(tensor: FloatArray, method: str) -> FloatArray:
    """Return a symmetric K x K x K tensor, or say that the method needs one."""
    stack = checked_stack(tensor)
    size = float(np.abs(stack).max(initial=0.0))
    if stack.shape[0] != stack.shape[1] or _asymmetry(stack) > 1e-6 * size:
        raise ValueError(
            f'The method "{method}" needs a symmetric K x K x K tensor, and got a stack of the shape {stack.shape}: '
            'use "jacobi" for a stack of matrices.'
        )
    return stack


def _asymmetry(stack: FloatArray) -> float:
    """Return how far contractions of a K x K x K array over its first and over its last place are apart.

    They are the same for a symmetric tensor, and along a direction in general position for no other one.
    """
    direction = fixed_directions(stack.shape[0], 1)[0]
    return float(np.abs(np.tensordot(direction, stack, axes=1) - stack @ direction).max())


def summarise(stack: FloatArray, rotation: FloatArray, n_iter: int, converged: bool) -> Diagonalisation:
    """Measure how diagonal a stack is after a rotation."""
    rotated = turned_slices(stack, rotation)
    diagonals = np.diagonal(rotated, axis1=1, axis2=2).copy()
    return Diagonalisation(rotation, diagonals, off_diagonal_energy(rotated), n_iter, converged, turning(rotated))


def turned_slices(stack: FloatArray, rotation: FloatArray) -> FloatArray:
    """Return V' A_p V for every matrix of a stack."""
    P, K, _ = stack.shape
    turned = np.empty((P, K, K))

    def turn(some: slice) -> None:
        np.matmul(rotation.T, stack[some] @ rotation, out=turned[some])

    each_part(turn, P, K, MATRICES)
    return turned


def warn_not_converged(method: str, n_iter: int, change: float, tol: float) -> None:
    """Warn with numbers that a method stopped before its test of convergence was met."""
    warn_caller(
        f'The diagonaliser "{method}" stopped after {n_iter} iterations with a change of {change:.1e} '
        f"(tolerance {tol:.1e}). Raise max_iter, or ask for fewer components.",
        ConvergenceWarning,
    )
