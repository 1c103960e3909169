"""What every diagonaliser takes and returns."""

import warnings
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from polyad.decompose.contractions import Contractions
from polyad.engine.blocks import FloatArray
from polyad.metrics.diagonality import off_diagonal_energy

SIGNED_ROWS = 64  # rows of sums along random signs from which the energy of a tensor that is not formed is estimated


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
        The share of the stack's sum of squares that is off the diagonal after the rotation; 0 is exact. Of a tensor
        that is not formed it is estimated, to a few hundredths of itself.
    n_iter
        Sweeps or iterations done.
    converged
        Whether the method's own test of convergence was met.
    """

    rotation: FloatArray
    diagonals: FloatArray
    energy: float
    n_iter: int
    converged: bool

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
        random_state: int = 0,
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
    if stack.shape[0] != stack.shape[1] or np.abs(stack - stack.transpose(1, 2, 0)).max() > 1e-6 * size:
        raise ValueError(
            f'The method "{method}" needs a symmetric K x K x K tensor, and got a stack of the shape {stack.shape}: '
            'use "jacobi" for a stack of matrices.'
        )
    return stack


def summarise(stack: FloatArray, rotation: FloatArray, n_iter: int, converged: bool) -> Diagonalisation:
    """Measure how diagonal a stack is after a rotation."""
    rotated = rotation.T @ stack @ rotation
    diagonals = np.diagonal(rotated, axis1=1, axis2=2).copy()
    return Diagonalisation(rotation, diagonals, off_diagonal_energy(rotated), n_iter, converged)


def summarise_contractions(third: Contractions, rotation: FloatArray, n_iter: int, converged: bool) -> Diagonalisation:
    """Measure how diagonal a tensor is after a rotation without forming it.

    Contractions give the entries with two equal indices exactly. Those with three different ones, which are noise
    where the model holds, enter by their sum of squares alone, and that is estimated: along random signs s the entry
    (i, j) of T(., ., s) is a sum of them in which, on average, no products are left but the squares. K (K - 1) such
    sums make one direction enough for many components.
    """
    K = rotation.shape[0]
    diagonals = third.contract(rotation)
    pairs = rotation.T @ diagonals  # T(v_p, v_k, v_k)
    cubes = float((np.diagonal(pairs) ** 2).sum())
    two_equal = float((pairs[~np.eye(K, dtype=bool)] ** 2).sum())
    towards = np.where(np.diagonal(pairs) < 0, -1.0, 1.0)  # rounding may turn a column round, which changes no value
    rng, n_signs, distinct = np.random.default_rng(0), -(-SIGNED_ROWS // K), 0.0
    for _ in range(n_signs):
        signs = np.where(rng.random(K) < 0.5, -towards, towards)
        sums = rotation.T @ third.along(rotation @ signs) @ rotation - signs[:, None] * pairs.T - signs * pairs
        np.fill_diagonal(sums, 0.0)
        distinct += float((sums**2).sum()) / n_signs
    total = cubes + 3 * two_equal + distinct
    energy = (2 * two_equal + distinct) / total if total > 0 else 0.0
    return Diagonalisation(rotation, diagonals, energy, n_iter, converged)


def warn_not_converged(method: str, n_iter: int, change: float, tol: float) -> None:
    """Warn with numbers that a method stopped before its test of convergence was met."""
    warnings.warn(
        f'The diagonaliser "{method}" stopped after {n_iter} iterations with a change of {change:.1e} '
        f"(tolerance {tol:.1e}). Raise max_iter, or ask for fewer components.",
        ConvergenceWarning,
        stacklevel=3,
    )
