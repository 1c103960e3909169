"""The eigenvector method: one combination of the matrices, and what to do where its eigenvalues are complex."""

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.base.fixed import fixed_directions
from polyad.decompose.diagonalisation import checked_stack
from polyad.decompose.similarity.sweeps import SimilarityDiagonalisation, summarise_similarity

N_TRIES = 16


def similarity_spectral(
    stack: FloatArray,
    *,
    directions: FloatArray | None = None,
    max_iter: int | None = None,
    tol: float = 1e-10,
    n_tries: int = N_TRIES,
) -> SimilarityDiagonalisation:
    """Take the eigenvectors of one combination of the matrices (the spectral method of "Beyond CCA").

    Of some combinations the one with the fewest complex eigenvalues, and then the largest gap between
    eigenvalues, is used. Real matrices with common real eigenvectors have complex eigenvalues only through noise:
    the real and the imaginary part of such a pair span the same plane and stand in for it. They are a start for
    the other methods, not an estimate: ``converged`` is then False.

    Parameters
    ----------
    stack
        P x K x K.
    directions
        F x P candidates; None takes ``n_tries`` fixed ones in general position, where the paper draws them.
    max_iter, tol
        Not used: nothing is iterated.
    n_tries
        How many.

    Examples
    --------
    >>> Q = np.array([[1.0, 0.5], [0.2, 1.0]])
    >>> found = similarity_spectral((Q @ np.diag([1.0, 2.0]) @ np.linalg.inv(Q))[None])
    >>> np.sort(found.diagonals).round(8)
    array([[1., 2.]])
    """
    matrices = checked_stack(stack)
    if directions is None:
        directions = fixed_directions(matrices.shape[0], n_tries)
    Q, n_complex = eigenvector_basis(np.tensordot(directions, matrices, axes=1))
    if n_complex:
        warn_caller(
            f"{n_complex} of the {len(Q)} eigenvalues are complex, which noise alone does: the real and imaginary "
            'parts of their vectors stand in for them. Use the method "exact" or "jdtm", give more data, or ask for '
            "fewer components.",
            ConvergenceWarning,
        )
    return summarise_similarity(matrices, Q, len(directions), n_complex == 0)


def eigenvector_basis(matrices: FloatArray) -> tuple[FloatArray, int]:
    """Return real eigenvectors of the matrix with the best separated eigenvalues, and how many were complex."""
    decompositions = [linalg.eig(matrix) for matrix in matrices]
    values, vectors = max(decompositions, key=lambda pair: _separation(pair[0]))
    # A conjugate pair gives its real and its imaginary part, which span the same plane.
    return np.where(values.imag < 0, vectors.imag, vectors.real), int((np.abs(values.imag) > 0).sum())


def _separation(values: FloatArray) -> tuple[int, float]:
    """Rank eigenvalues: few complex ones first, then the smallest gap relative to the spread."""
    real = np.sort(values.real)
    spread = float(real[-1] - real[0])
    gap = float(np.diff(real).min(initial=np.inf)) / spread if spread > 0 else 0.0
    return -int((np.abs(values.imag) > 0).sum()), gap
