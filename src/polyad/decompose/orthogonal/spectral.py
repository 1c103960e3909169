"""Methods that need one eigendecomposition: of one contraction, or of the best of many."""

import numpy as np
from scipy import linalg

from polyad.base.arrays import FloatArray
from polyad.base.fixed import fixed_directions
from polyad.decompose.diagonalisation import Diagonalisation, checked_stack, summarise
from polyad.decompose.orthogonal.contractions import eigenvectors_of_one

N_TRIES = 16
AT_ONCE = 64  # contractions whose eigenvalues are found together


def spectral(
    tensor: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
) -> Diagonalisation:
    """Diagonalise one contraction of the tensor (the "spectral" method of the spectral LDA paper).

    Fast, and exact on exact moments, but a single matrix is the most sensitive to noise: a start for the others.

    Parameters
    ----------
    tensor
        P x K x K.
    directions
        F x P: only the first is used; None takes a fixed one in general position, where the paper draws one.
    max_iter, tol
        Not used: nothing is iterated.
    """
    stack = checked_stack(tensor)
    return summarise(stack, eigenvectors_of_one(stack, directions), 1, True)


def svtd(
    tensor: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
) -> Diagonalisation:
    """Diagonalise the contraction whose eigenvalues lie furthest apart (SVTD, Algorithm 1 and Remark 7).

    The paper contracts with words. A word m is the direction ``(S W')[m]`` of the whitened space: give these rows
    as ``directions`` to choose among words. Its other half, reading topics off the word rows of the third moment,
    is the ``third_rows`` of :class:`polyad.moments.SymmetricMoments`.

    Parameters
    ----------
    tensor
        P x K x K.
    directions
        F x P candidates; None tries the axes and some fixed directions in general position.
    max_iter, tol
        Not used: nothing is iterated.
    """
    stack = checked_stack(tensor)
    P = stack.shape[0]
    if directions is None:
        directions = np.vstack([np.eye(P), fixed_directions(P, N_TRIES)])
    lengths = np.linalg.norm(directions, axis=1)
    usable = directions[lengths > 0] / lengths[lengths > 0, None]
    gaps = np.concatenate([_gaps(stack, part) for part in np.array_split(usable, max(1, len(usable) // AT_ONCE))])
    best = np.tensordot(usable[int(gaps.argmax())], stack, axes=1) if gaps.size else stack[0]
    return summarise(stack, linalg.eigh(best)[1], int(directions.shape[0]), True)


def _gaps(stack: FloatArray, directions: FloatArray) -> FloatArray:
    """Return the least gap between eigenvalues over their spread, for the contraction with every direction."""
    values = np.linalg.eigvalsh(np.tensordot(directions, stack, axes=1))
    spread = values[:, -1] - values[:, 0]
    least = np.diff(values, axis=1).min(axis=1, initial=np.inf)
    return np.where(spread > 0, least / np.where(spread > 0, spread, 1.0), 0.0)
