"""Newton steps among rotations, for the last digits of a joint diagonalisation.

What is on the diagonals of V' A_p V is not off them: the objective is J(V) = sum_k |d_k|^2, (d_k)_p = v_k' A_p v_k.
With R_p = V' A_p V, r_ik the vector of the entries (i, k) of all R_p, and a skew B, the rotation V exp(B) has, to
second order,

    J + 4 sum_ik B_ik <d_k, r_ik> + 4 sum_k |sum_i B_ik r_ik|^2
      + 2 sum_ijk B_ik B_jk <d_k, r_ij> + 2 sum_ik (B^2)_ik <d_k, r_ik>.

All that is quadratic in one column of B is one K x K matrix for each k, put together once (:class:`Hessian`). A product
with the Hessian then costs next to nothing, and its system is solved by conjugate gradients. Seven digits are enough
for the Hessian, since a step need not be exact, and near the end one serves for several steps. A few such steps end
where hundreds of others do.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.decompose.orthogonal.contractions import each_part

LONGEST_STEP = 0.3  # of any entry of B: the quadratic model holds for small rotations
MOST_INNER = 60  # conjugate gradients; a step need not be exact
SHORTEST = 1e-3  # of a step, halved while the objective falls: then the model is wrong
WORTH_KEEPING = 0.05  # of the slope, left by a step: more, and the Hessian is made anew


@dataclass(frozen=True)
class Curvature:
    """The objective and its derivatives at a rotation.

    Attributes
    ----------
    rotation
        V.
    images
        A_p V, P x K x K: one matrix product, from which the rest follows.
    diagonals
        d_k, P x K.
    """

    rotation: FloatArray
    images: FloatArray
    diagonals: FloatArray

    @classmethod
    def at(cls, stack: FloatArray, rotation: FloatArray) -> "Curvature":
        """Return the derivatives at a rotation of a stack of symmetric matrices, in the stack's precision."""
        P, K, _ = stack.shape
        images, diagonals = np.empty((P, K, K), stack.dtype), np.empty((P, K), stack.dtype)
        rotation = rotation.astype(stack.dtype, copy=False)

        def turn(some: slice) -> None:
            np.matmul(stack[some], rotation, out=images[some])
            diagonals[some] = np.einsum("pik,ik->pk", images[some], rotation)

        each_part(turn, P, K)
        return cls(rotation, images, diagonals)

    @cached_property
    def objective(self) -> float:
        """The sum of squares on the diagonals."""
        return float((self.diagonals**2).sum(dtype=np.float64))

    @cached_property
    def pull(self) -> FloatArray:
        """The sum of A_p v_k (d_k)_p, one column for each k: a quarter of the gradient with respect to V."""
        return np.einsum("pik,pk->ik", self.images, self.diagonals).astype(np.float64)

    @cached_property
    def own(self) -> FloatArray:
        """<d_k, r_ik>, one column for each k."""
        return np.asarray(self.rotation.T @ self.pull, dtype=np.float64)

    @cached_property
    def turned(self) -> FloatArray:
        """R_p, P x K x K."""
        turned = np.empty_like(self.images)

        def turn(some: slice) -> None:
            np.matmul(self.rotation.T, self.images[some], out=turned[some])

        each_part(turn, *self.diagonals.shape)
        return turned

    @property
    def gradient(self) -> FloatArray:
        """Of the objective with respect to B, skew."""
        return 4 * _skew(self.own)

    @property
    def slope(self) -> float:
        """Norm of the gradient, relative to the objective."""
        return float(np.linalg.norm(self.gradient)) / max(4 * self.objective, 1e-300)

    @property
    def planes(self) -> FloatArray:
        """How much the objective falls with the square of the angle that a plane (i, k) is turned by, K x K.

        All are positive at a maximum. Where one is small, the data hardly tell the two components apart.
        """
        gram = (self.diagonals.T @ self.diagonals).astype(np.float64)
        sizes = np.diagonal(gram)
        distances = sizes[:, None] + sizes - 2 * gram  # |d_i - d_k|^2
        off = np.einsum("pik,pik->ik", self.turned, self.turned)  # |r_ik|^2, the same both ways but for rounding
        falls: FloatArray = 2 * distances - 4 * (off + off.T)
        return falls


@dataclass(frozen=True)
class Hessian:
    """The second derivative of the objective at a rotation.

    Attributes
    ----------
    blocks
        K x K x K, in seven digits: for each k the matrix 8 <r_ik, r_jk> + 4 <d_k, r_ij>.
    own
        <d_k, r_ik>, K x K.
    scale
        What conjugate gradients are scaled by, K x K: one over the curvature of each plane.
    """

    blocks: FloatArray
    own: FloatArray
    scale: FloatArray

    @classmethod
    def at(cls, here: Curvature) -> "Hessian":
        """Return the second derivative where the first ones are known."""
        P, K, _ = here.turned.shape
        turned, diagonals = (array.astype(np.float32, copy=False) for array in (here.turned, here.diagonals))
        blocks: Any = np.empty((K, K, K), np.float32)
        products: Any = np.empty((K, K * K), np.float32)

        def multiply(rows: slice) -> None:
            places = slice(rows.start * K, rows.stop * K)
            products[:, places] = diagonals.T @ turned.reshape(P, K * K)[:, places]

        def add(some: slice) -> None:
            columns = np.ascontiguousarray(turned[:, :, some].transpose(2, 1, 0))  # r_ik, one row for each i
            np.matmul(columns, columns.transpose(0, 2, 1), out=blocks[some])
            blocks[some] *= 8
            blocks[some] += 4 * products[some].reshape(-1, K, K)

        each_part(multiply, K, K)
        each_part(add, K, K)
        scale = here.planes
        scale = 1 / np.maximum(scale, 1e-3 * float(np.median(np.abs(scale))) + 1e-300)
        np.fill_diagonal(scale, 0.0)
        return cls(blocks, here.own, scale)

    def times(self, B: FloatArray) -> FloatArray:
        """Return the Hessian times a skew matrix."""
        columns = np.ascontiguousarray(B.T, np.float32)[:, :, None]
        inside = (self.blocks @ columns)[:, :, 0].T.astype(np.float64)
        return _skew(inside + 2 * (self.own @ B.T + B.T @ self.own))


def newton_rotation(
    stack: FloatArray, rotation: FloatArray, *, max_iter: int, tol: float
) -> tuple[FloatArray, int, float]:
    """Maximise the objective from a rotation near a maximum.

    Returns the rotation, the steps done and the slope there; a slope above ``tol`` means that the steps ended because
    the objective fell, far from where the quadratic model holds, or with ``max_iter``.
    """
    here, hessian = Curvature.at(stack, rotation), None
    n_iter = 0
    while n_iter < max_iter and here.slope > tol:
        fresh = hessian is None
        if hessian is None:
            hessian = Hessian.at(here)
        direction = _ascent(hessian, here, min(0.1, np.sqrt(here.slope)))
        length = min(1.0, LONGEST_STEP / max(float(np.abs(direction).max()), 1e-300))
        while True:
            turned = rotation @ _cayley(length * direction)
            there = Curvature.at(stack, turned)
            if there.objective >= here.objective * (1 - 1e-14):
                break
            length /= 2
            if not fresh or length < SHORTEST:
                break
        if there.objective < here.objective * (1 - 1e-14):
            if fresh:
                return rotation, n_iter, here.slope
            hessian = None  # of a rotation too far from here
            continue
        if there.slope > WORTH_KEEPING * here.slope:
            hessian = None
        rotation, here = turned, there
        n_iter += 1
    return rotation, n_iter, here.slope


def _ascent(hessian: Hessian, here: Curvature, tol: float) -> FloatArray:
    """Solve (-Hessian) B = gradient by conjugate gradients, to the part of the gradient that pays.

    They stop where the Hessian has a direction that bends upwards: the objective is no bowl there.
    """
    rest = here.gradient
    B = np.zeros_like(rest)
    scaled = hessian.scale * rest
    towards, product = scaled, float((rest * scaled).sum())
    enough = tol * float(np.linalg.norm(rest))
    for inner in range(MOST_INNER):
        image = -hessian.times(towards)
        bend = float((towards * image).sum())
        if bend <= 1e-12 * here.objective * float((towards**2).sum()):
            return towards if inner == 0 else B
        step = product / bend
        B = B + step * towards
        rest = rest - step * image
        if float(np.linalg.norm(rest)) <= enough:
            break
        scaled = hessian.scale * rest
        before, product = product, float((rest * scaled).sum())
        towards = scaled + product / before * towards
    return _skew(B)


def _skew(matrix: FloatArray) -> FloatArray:
    return (matrix - matrix.T) / 2


def _cayley(B: FloatArray) -> FloatArray:
    """Return a rotation that is exp(B) to second order."""
    identity = np.eye(B.shape[0])
    return np.asarray(np.linalg.solve(identity - B / 2, identity + B / 2), dtype=np.float64)
