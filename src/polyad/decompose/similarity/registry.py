"""Diagonalisers by similarity, by name."""

from functools import partial

from polyad.decompose.similarity.first_order import similarity_first_order
from polyad.decompose.similarity.spectral import similarity_spectral
from polyad.decompose.similarity.sweeps import SimilarityDiagonaliser, similarity_jacobi

SIMILARITY_DIAGONALISERS: dict[str, SimilarityDiagonaliser] = {
    "exact": similarity_jacobi,
    "sh-rt": partial(similarity_jacobi, shear="sh-rt"),
    "just": partial(similarity_jacobi, shear="just"),
    "jdtm": partial(similarity_jacobi, shear="jdtm"),
    "first_order": similarity_first_order,
    "spectral": similarity_spectral,
}


def similarity_diagonaliser(method: str | SimilarityDiagonaliser) -> SimilarityDiagonaliser:
    """Return a diagonaliser by similarity by its name; a callable with the same signature is returned as it is.

    Examples
    --------
    >>> similarity_diagonaliser("exact").__name__
    'similarity_jacobi'
    >>> similarity_diagonaliser("jacobi")
    Traceback (most recent call last):
    ...
    ValueError: method is 'jacobi'; give one of 'exact', 'sh-rt', 'just', 'jdtm', 'first_order', 'spectral', or a
    callable.
    """
    if callable(method):
        return method
    if method not in SIMILARITY_DIAGONALISERS:
        names = ", ".join(repr(name) for name in SIMILARITY_DIAGONALISERS)
        raise ValueError(f"method is {method!r}; give one of {names}, or a callable.")
    return SIMILARITY_DIAGONALISERS[method]
