"""Diagonalisers by similarity, by name: those of :data:`polyad.decompose.METHODS`."""

from polyad.decompose.methods import chosen, functions
from polyad.decompose.similarity.sweeps import SimilarityDiagonaliser

SIMILARITY_DIAGONALISERS: dict[str, SimilarityDiagonaliser] = dict(functions("similarity"))


def similarity_diagonaliser(method: str | SimilarityDiagonaliser) -> SimilarityDiagonaliser:
    """Return a diagonaliser by similarity by its name; a callable with the same signature is returned as it is.

    Examples
    --------
    >>> similarity_diagonaliser("exact").__name__
    'similarity_jacobi'
    >>> similarity_diagonaliser("jacobi")
    Traceback (most recent call last):
    ...
    ValueError: method is 'jacobi'; give one of 'exact', 'sh-rt', 'just', 'jdtm', 'first_order', 'schur', 'spectral',
    or a callable.
    """
    return chosen("similarity", method)
