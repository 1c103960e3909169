"""Diagonalisers by name."""

from typing import Literal

from polyad.decompose.diagonalisation import Diagonaliser
from polyad.decompose.orthogonal.jacobi import jacobi
from polyad.decompose.orthogonal.power import power, tensor_power
from polyad.decompose.orthogonal.spectral import spectral, svtd

Method = Literal["jacobi", "power", "tensor_power", "spectral", "svtd"]

DIAGONALISERS: dict[str, Diagonaliser] = {
    "jacobi": jacobi,
    "power": power,
    "tensor_power": tensor_power,
    "spectral": spectral,
    "svtd": svtd,
}

# Those that choose among the whitened directions of words, and read components off the word rows of the third moment.
USING_WORD_ROWS: tuple[Diagonaliser, ...] = (svtd,)


def uses_word_rows(method: str | Diagonaliser) -> bool:
    """Tell whether a diagonaliser uses what only moments of words have; its name and itself are the same.

    Examples
    --------
    >>> uses_word_rows("svtd"), uses_word_rows(svtd), uses_word_rows("power")
    (True, True, False)
    """
    return diagonaliser(method) in USING_WORD_ROWS


def diagonaliser(method: str | Diagonaliser) -> Diagonaliser:
    """Return a diagonaliser by its name; a callable with the same signature is returned as it is.

    Examples
    --------
    >>> diagonaliser("jacobi").__name__
    'jacobi'
    >>> diagonaliser("jacoby")
    Traceback (most recent call last):
    ...
    ValueError: method is 'jacoby'; give one of 'jacobi', 'power', 'tensor_power', 'spectral', 'svtd', or a callable.
    """
    if callable(method):
        return method
    if method not in DIAGONALISERS:
        names = ", ".join(repr(name) for name in DIAGONALISERS)
        raise ValueError(f"method is {method!r}; give one of {names}, or a callable.")
    return DIAGONALISERS[method]
