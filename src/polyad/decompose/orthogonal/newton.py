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

The matrices come as ``sides``, K x P x K: ``sides[i]`` holds the i-th rows of all A_p. Then everything that belongs to
one column v_k is one product, and lies together in memory. The sides of a symmetric tensor are the tensor itself.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.decompose.orthogonal.contractions import MATRICES, each_part

SINGLE_FROM = 40  # components from which seven digits are enough for all but the end
LONGEST_STEP = 0.3  # of any entry of B: the quadratic model holds for small rotations
MOST_INNER = 60  # conjugate gradients; a step need not be exact
SHORTEST = 1e-3  # of a step, halved while the objective falls: then the model is wrong
WORTH_KEEPING = 0.05  # of the slope, left by a step: more, and the Hessian is made anew
ROUNDING = 50  # times the precision: by how much an objective may fall and count as the same


@dataclass(frozen=True)
class Curvature:
    """The objective and its gradient at a rotation.

    Attributes
    ----------
    rotation
        V.
    images
        A_p v_k for each k, K x P x K: one matrix product, from which the rest follows.
    diagonals
        d_k, K x P.
    pull
        The sum of A_p v_k (d_k)_p, one row for each k: a quarter of the gradient with respect to V.
    """

    rotation: FloatArray
    images: FloatArray
    diagonals: FloatArray
    pull: FloatArray

    @classmethod
    def at(cls, sides: FloatArray, rotation: FloatArray, images: FloatArray | None = None) -> "Curvature":
        """Return the derivatives at a rotation of symmetric matrices, in their precision.

        ``images`` is memory of the shape of the sides for what is called so above: memory that is new to the process
        costs as much as the products.
        """
        images = np.empty(sides.shape, sides.dtype) if images is None else images
        rotation = rotation.astype(sides.dtype, copy=False)
        return cls(rotation, images, *contracted(sides, np.ascontiguousarray(rotation.T), images))

    def squares(self) -> FloatArray:
        """Return |r_ik|^2, K x K; in seven digits where there are many components."""
        K = self.images.shape[0]
        precision: Any = np.float32 if K >= SINGLE_FROM else self.images.dtype
        rotation, found = self.rotation.astype(precision), np.empty((K, K))

        def square(some: slice) -> None:
            turned = self.images[some].astype(precision, copy=False) @ rotation
            found[some] = np.square(turned, out=turned).sum(axis=1)

        each_part(square, K, K, MATRICES)
        return found.T

    @cached_property
    def objective(self) -> float:
        """The sum of squares on the diagonals."""
        return float((self.diagonals**2).sum(dtype=np.float64))

    @cached_property
    def own(self) -> FloatArray:
        """<d_k, r_ik>, one column for each k."""
        return np.asarray(self.rotation.T @ self.pull.T, dtype=np.float64)

    @property
    def gradient(self) -> FloatArray:
        """Of the objective with respect to B, skew."""
        return 4 * _skew(self.own)

    @cached_property
    def slope(self) -> float:
        """Norm of the gradient, relative to the objective."""
        return float(np.linalg.norm(self.gradient)) / max(4 * self.objective, 1e-300)

    def is_below(self, other: "Curvature") -> bool:
        """Tell whether the objective is smaller than another one by more than rounding."""
        return self.objective < other.objective * (1 - ROUNDING * float(np.finfo(self.images.dtype).eps))


def contracted(sides: FloatArray, columns: FloatArray, images: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return d_k and the sum of A_p v_k (d_k)_p for some columns v_k, given as rows; write A_p v_k for each to images.

    All are in the precision of the sides.
    """
    K, P, _ = sides.shape
    diagonals: Any = np.empty((columns.shape[0], P), sides.dtype)
    flat, flat_images = sides.reshape(K, P * K), images.reshape(columns.shape[0], P * K)

    def turn(some: slice) -> None:
        places = slice(some.start * K, some.stop * K)
        np.matmul(columns, flat[:, places], out=flat_images[:, places])
        diagonals[:, some] = (images[:, some] @ columns[:, :, None])[:, :, 0]

    each_part(turn, P, K)
    return diagonals, (diagonals[:, None] @ images)[:, 0]


@dataclass(frozen=True)
class Hessian:
    """The second derivative of the objective at a rotation.

    Attributes
    ----------
    blocks
        K x K x K, in seven digits: for each k the matrix 8 <r_ik, r_jk> + 4 <d_k, r_ij>.
    own
        The symmetric part of <d_k, r_ik>, K x K.
    planes
        How much the objective falls with the square of the angle that a plane (i, k) is turned by, K x K. All are
        positive at a maximum. Where one is small, the data hardly tell the two components apart.
    """

    blocks: FloatArray
    own: FloatArray
    planes: FloatArray

    @classmethod
    def at(cls, here: Curvature, memory: FloatArray | None = None) -> "Hessian":
        """Return the second derivative where the first ones are known.

        ``memory``, K x (P + K) x K in single precision, is where it is put.
        """
        K, P, _ = here.images.shape
        memory = np.empty((K, P + K, K), np.float32) if memory is None else memory
        rotation, diagonals = (array.astype(np.float32, copy=False) for array in (here.rotation, here.diagonals))
        turned, blocks = memory[:, :P], memory[:, P:]  # r_ik, with k in front, and what is made of it
        off: Any = np.empty((K, K))  # |r_ik|^2

        def multiply(some: slice) -> None:
            np.matmul(here.images[some].astype(np.float32, copy=False), rotation, out=turned[some])
            np.matmul(turned[some].transpose(0, 2, 1), turned[some], out=blocks[some])
            off[some] = np.diagonal(blocks[some], axis1=1, axis2=2)
            blocks[some] *= 8

        def add(some: slice) -> None:
            products = diagonals @ turned[some]
            products *= 4
            blocks[:, some] += products.transpose(1, 0, 2)

        each_part(multiply, K, K, MATRICES)
        each_part(add, K, K, MATRICES)
        gram = (here.diagonals @ here.diagonals.T).astype(np.float64)
        sizes = np.diagonal(gram)
        distances = sizes[:, None] + sizes - 2 * gram  # |d_i - d_k|^2
        return cls(blocks, (here.own + here.own.T) / 2, 2 * distances - 4 * (off + off.T))

    @cached_property
    def scale(self) -> FloatArray:
        """What conjugate gradients are scaled by, K x K: one over the curvature of each plane."""
        scale = 1 / np.maximum(self.planes, 1e-3 * float(np.median(np.abs(self.planes))) + 1e-300)
        np.fill_diagonal(scale, 0.0)
        return scale

    def times(self, B: FloatArray) -> FloatArray:
        """Return the Hessian times a skew matrix."""
        columns = np.ascontiguousarray(B.T, np.float32)[:, :, None]
        return _skew((self.blocks @ columns)[:, :, 0].T - 4 * (self.own @ B))


def newton_rotation(
    sides: FloatArray, rotation: FloatArray, *, max_iter: int, tol: float
) -> tuple[FloatArray, int, Curvature]:
    """Maximise the objective from a rotation near a maximum.

    Returns the rotation, the steps done and the derivatives there; a slope above ``tol`` means that the steps ended
    because the objective fell, far from where the quadratic model holds, or with ``max_iter``.
    """
    here, hessian = Curvature.at(sides, rotation), None
    n_iter, spare = 0, np.empty(sides.shape, sides.dtype)
    memory: Any = np.empty((sides.shape[0], sum(sides.shape[:2]), sides.shape[2]), np.float32)
    while n_iter < max_iter and here.slope > tol:
        fresh = hessian is None
        if hessian is None:
            hessian = Hessian.at(here, memory)
        direction = _ascent(hessian, here, min(0.1, max(np.sqrt(here.slope), tol / (3 * here.slope))))
        length = min(1.0, LONGEST_STEP / max(float(np.abs(direction).max()), 1e-300))
        while True:
            turned = rotation @ _cayley(length * direction)
            there = Curvature.at(sides, turned, spare)
            if not there.is_below(here):
                break
            length /= 2
            if not fresh or length < SHORTEST:
                break
        if there.is_below(here):
            if fresh:
                return rotation, n_iter, here
            hessian = None  # of a rotation too far from here
            continue
        if there.slope > WORTH_KEEPING * here.slope:
            hessian = None
        spare, rotation, here = here.images, turned, there
        n_iter += 1
    return rotation, n_iter, here


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
