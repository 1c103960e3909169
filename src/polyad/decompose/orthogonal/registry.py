"""Diagonalisers by rotation, by name: those of :data:`polyad.decompose.METHODS`."""

from typing import Literal

from polyad.decompose.diagonalisation import Diagonaliser
from polyad.decompose.methods import chosen, functions

MethodName = Literal["jacobi", "power", "tensor_power", "spectral", "svtd", "svtd_all", "jd_k", "jd_f", "com2", "als"]

DIAGONALISERS: dict[str, Diagonaliser] = dict(functions("rotation"))


def diagonaliser(method: str | Diagonaliser) -> Diagonaliser:
    """Return a diagonaliser by its name; a callable with the same signature is returned as it is.

    Examples
    --------
    >>> diagonaliser("jacobi").__name__
    'jacobi'
    >>> diagonaliser("jacoby")
    Traceback (most recent call last):
    ...
    ValueError: method is 'jacoby'; give one of 'jacobi', 'power', 'tensor_power', 'spectral', 'svtd', 'svtd_all',
    'jd_k', 'jd_f', 'com2', 'als', or a callable.
    """
    return chosen("rotation", method)
