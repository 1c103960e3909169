"""Decompositions: from moments to components. Nothing here knows of data or of models.

Whitening turns the second moment into the identity; the whitened third moment then has orthogonal components,
which any of the interchangeable diagonalisers finds; unmixing turns the rotation back into topics and priors.
"""

from polyad.decompose.diagonalisation import Diagonalisation, Diagonaliser
from polyad.decompose.jacobi import jacobi
from polyad.decompose.polyadic import Polyadic, polyadic_decomposition
from polyad.decompose.power import power, tensor_power
from polyad.decompose.registry import DIAGONALISERS, diagonaliser
from polyad.decompose.spectral import spectral, svtd
from polyad.decompose.unmixing import dirichlet_prior, gamma_prior, mixture_weights, simplex_rows
from polyad.decompose.whitening import RankError, Whitening, whiten

__all__ = [
    "DIAGONALISERS",
    "Diagonalisation",
    "Diagonaliser",
    "Polyadic",
    "RankError",
    "Whitening",
    "diagonaliser",
    "dirichlet_prior",
    "gamma_prior",
    "jacobi",
    "mixture_weights",
    "polyadic_decomposition",
    "power",
    "simplex_rows",
    "spectral",
    "svtd",
    "tensor_power",
    "whiten",
]
