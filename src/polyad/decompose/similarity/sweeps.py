"""Joint diagonalisation by similarity: A_p = Q diag Q^-1, one pair of axes after the other.

Two views give matrices that share eigenvectors without being symmetric. Each step shears a plane (a hyperbolic
rotation, which makes the matrices more normal) and then turns it (a plane rotation, which makes normal matrices
diagonal): Algorithm 1 of the paper "Beyond CCA". Four ways to choose the shear are in the literature; all share
the objective ``a cosh 2y + b sinh 2y + d cosh 4y + e sinh 4y`` with sums a, b, d, e over the matrices.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled, inlined
from polyad.decompose.certainty import turning
from polyad.decompose.diagonalisation import checked_stack, warn_not_converged
from polyad.decompose.energy import off_diagonal_energy

SHEARS = {"exact": 0, "sh-rt": 1, "just": 2, "jdtm": 3}
LARGEST_SHEAR = 1.0  # a step whose minimum lies at infinity is cut here; the next sweep goes on from there


@dataclass(frozen=True)
class SimilarityDiagonalisation:
    """A matrix whose similarity transform makes matrices as diagonal as it can.

    Attributes
    ----------
    rotation
        Q, K x K with columns of unit length: A_p = Q diag(diagonals[p]) Q^-1 for exact matrices.
    inverse
        Q^-1.
    diagonals
        P x K, the diagonals of Q^-1 A_p Q.
    energy
        The share of the sum of squares of Q^-1 A_p Q that is off the diagonals; 0 is exact.
    n_iter
        Sweeps or iterations done.
    converged
        Whether the method's own test of convergence was met.
    turned
        K: the squared angle by which noise turns each component; infinite where the data do not tell it from another.
    """

    rotation: FloatArray
    inverse: FloatArray
    diagonals: FloatArray
    energy: float
    n_iter: int
    converged: bool
    turned: FloatArray


class SimilarityDiagonaliser(Protocol):
    """The signature that all methods share; ``directions`` (F x P) asks for F combinations of the matrices only."""

    def __call__(
        self,
        stack: FloatArray,
        *,
        directions: FloatArray | None = None,
        max_iter: int | None = None,
        tol: float = 1e-10,
    ) -> SimilarityDiagonalisation:
        """Diagonalise a stack of P square matrices, P x K x K."""
        ...


def similarity_jacobi(
    stack: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
    shear: str = "exact",
) -> SimilarityDiagonalisation:
    """Diagonalise matrices jointly by shears and rotations of planes.

    Parameters
    ----------
    stack
        P x K x K, not necessarily symmetric.
    directions
        F x P: diagonalise these combinations of the matrices in place of all.
    max_iter
        Sweeps over all pairs at most; 200 by default.
    tol
        Converged when no shear and no angle of a sweep is larger than this.
    shear
        "exact" minimises the Frobenius norm, "sh-rt" takes one Newton step towards that minimum, "just" leaves
        the diagonals out of the norm, "jdtm" looks at the two entries of the pair alone.

    Examples
    --------
    >>> Q = np.array([[1.0, 0.5], [0.2, 1.0]])
    >>> stack = np.stack([Q @ np.diag(values) @ np.linalg.inv(Q) for values in ([1.0, 2.0], [0.5, -1.0])])
    >>> found = similarity_jacobi(stack)
    >>> np.sort(found.diagonals, axis=1).round(8)
    array([[ 1. ,  2. ], [-1. ,  0.5]])
    """
    if shear not in SHEARS:
        raise ValueError(f"shear is {shear!r}; give one of {', '.join(map(repr, SHEARS))}.")
    matrices = combined(checked_stack(stack), directions)
    layout = np.ascontiguousarray(matrices.transpose(1, 2, 0))  # the P entries at one place lie together
    limit = 200 if max_iter is None else max_iter
    Q, n_iter, change = _sweeps(layout, np.eye(layout.shape[0]), limit, tol, SHEARS[shear])
    if change > tol:
        warn_not_converged(shear, n_iter, change, tol)
    return summarise_similarity(checked_stack(stack), Q, n_iter, bool(change <= tol))


def combined(stack: FloatArray, directions: FloatArray | None) -> FloatArray:
    """Return the combinations of the matrices that the directions name, or all matrices."""
    return stack if directions is None else np.tensordot(directions, stack, axes=1)


def summarise_similarity(stack: FloatArray, Q: FloatArray, n_iter: int, converged: bool) -> SimilarityDiagonalisation:
    """Scale the columns of Q to unit length and measure how diagonal Q^-1 A_p Q are."""
    Q = Q / np.linalg.norm(Q, axis=0)
    if not np.linalg.cond(Q) < 1e13:
        raise ValueError(
            "The matrices to diagonalise have no common basis of eigenvectors: two of the components found "
            "coincide. Ask for fewer components, or give more data."
        )
    inverse = linalg.inv(Q)
    similar = inverse @ stack @ Q
    diagonals = np.diagonal(similar, axis1=1, axis2=2).copy()
    energy = off_diagonal_energy(similar)
    return SimilarityDiagonalisation(Q, inverse, diagonals, energy, n_iter, converged, turning(similar))


@compiled(fastmath=True)
def _sweeps(A, Q, max_iter, tol, shear):  # type: ignore[no-untyped-def]
    """Transform A (K x K x P) and Q in place until a sweep changes no plane by more than tol."""
    K = A.shape[0]
    n_iter, largest = 0, 0.0
    for _ in range(max_iter):
        n_iter += 1
        largest = 0.0
        _balance(A, Q)
        for p in range(K - 1):
            for q in range(p + 1, K):
                a, b, d, e = _shear_sums(A, p, q)
                y = _shear_step(a, b, d, e, shear)
                angle = _rotation_step(A, p, q, y)
                largest = max(largest, max(abs(y), abs(angle)))
                if max(abs(y), abs(angle)) > 0.01 * tol:
                    _transform_plane(A, Q, p, q, y, angle)
        if largest <= tol:
            break
    return Q, n_iter, largest


@inlined
def _balance(A, Q):  # type: ignore[no-untyped-def]
    """Scale each axis so that its row and its column have the same size: without it JDTM diverges for large K."""
    K, _, P = A.shape
    for k in range(K):
        row, column = 0.0, 0.0
        for j in range(K):
            if j != k:
                for i in range(P):
                    row += A[k, j, i] ** 2
                    column += A[j, k, i] ** 2
        if row <= 0.0 or column <= 0.0:
            continue
        scale = min(max((row / column) ** 0.25, 1e-3), 1e3)
        for j in range(K):
            Q[j, k] *= scale
            if j != k:
                for i in range(P):
                    A[j, k, i] *= scale
                    A[k, j, i] /= scale


@inlined
def _shear_sums(A, p, q):  # type: ignore[no-untyped-def]
    """Return a, b, d, e of the shear objective in the plane of p and q."""
    K, _, P = A.shape
    a, b, d, e = 0.0, 0.0, 0.0, 0.0
    for i in range(P):
        xi, delta = A[p, p, i] - A[q, q, i], A[p, q, i] - A[q, p, i]
        d += 0.5 * (xi * xi + delta * delta)
        e += xi * delta
    for j in range(K):
        if j != p and j != q:
            for i in range(P):
                pj, qj, jp, jq = A[p, j, i], A[q, j, i], A[j, p, i], A[j, q, i]
                a += pj * pj + qj * qj + jp * jp + jq * jq
                b += 2 * (jp * jq - pj * qj)
    return a, b, d, e


@inlined
def _shear_step(a, b, d, e, shear):  # type: ignore[no-untyped-def]
    """Return the shear parameter y that the chosen rule takes."""
    if d <= 0.0:
        return 0.0
    if shear == 1:  # sh-rt: one Newton step on the norm
        slope = -(b + 2 * e) / (2 * a + 8 * d)
        return np.arctanh(min(max(slope, -0.75), 0.75))
    if shear == 3:  # jdtm: the two entries of the pair alone
        ratio = -e / d
        return 0.25 * np.arctanh(min(max(ratio, -0.999), 0.999))
    if shear == 2:  # just: the off-diagonal part of the norm
        d, e = 0.5 * d, 0.5 * e
    y = 0.0
    for _ in range(50):
        slope = a * np.sinh(2 * y) + b * np.cosh(2 * y) + 2 * d * np.sinh(4 * y) + 2 * e * np.cosh(4 * y)
        bend = 2 * a * np.cosh(2 * y) + 2 * b * np.sinh(2 * y) + 8 * d * np.cosh(4 * y) + 8 * e * np.sinh(4 * y)
        if bend <= 0.0:
            break
        step = min(max(slope / bend, -0.5), 0.5)
        y -= step
        if abs(step) < 1e-14 or abs(y) > LARGEST_SHEAR:
            break
    return min(max(y, -LARGEST_SHEAR), LARGEST_SHEAR)


@inlined
def _rotation_step(A, p, q, y):  # type: ignore[no-untyped-def]
    """Return the angle that leaves the least off the diagonal of the plane after a shear by y."""
    P = A.shape[2]
    ch, sh = np.cosh(2 * y), np.sinh(2 * y)
    on, cross = 0.0, 0.0
    for i in range(P):
        # The shear mixes the two differences and leaves the sum of the pair's entries as it is.
        difference = ch * (A[p, p, i] - A[q, q, i]) + sh * (A[p, q, i] - A[q, p, i])
        twice = A[p, q, i] + A[q, p, i]
        on += difference * difference - twice * twice
        cross += difference * twice
    cross *= 2
    return 0.25 * np.arctan2(cross, on)


@inlined
def _transform_plane(A, Q, p, q, y, angle):  # type: ignore[no-untyped-def]
    """Replace A by G^-1 A G and Q by Q G, G the shear by y followed by the rotation by angle."""
    K, _, P = A.shape
    ch, sh, c, s = np.cosh(y), np.sinh(y), np.cos(angle), np.sin(angle)
    pp, pq, qp, qq = ch * c + sh * s, sh * c - ch * s, sh * c + ch * s, ch * c - sh * s
    for j in range(K):
        for i in range(P):
            left, right = A[j, p, i], A[j, q, i]
            A[j, p, i], A[j, q, i] = pp * left + qp * right, pq * left + qq * right
        left, right = Q[j, p], Q[j, q]
        Q[j, p], Q[j, q] = pp * left + qp * right, pq * left + qq * right
    for j in range(K):  # det G = 1: the inverse has the same entries, two of them swapped, two negated
        for i in range(P):
            upper, lower = A[p, j, i], A[q, j, i]
            A[p, j, i], A[q, j, i] = qq * upper - pq * lower, pp * lower - qp * upper
