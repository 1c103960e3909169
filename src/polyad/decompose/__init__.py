"""Decompositions: from moments to components. Nothing here knows of data or of models.

Whitening turns the second moment into the identity; the whitened third moment then has orthogonal components,
which any of the interchangeable diagonalisers finds; unmixing turns the rotation back into topics and priors.
"""

from polyad.decompose.bounds import RecoveryBound, documents_needed, recovery_bound, whitened_error
from polyad.decompose.congruence import CongruenceDiagonalisation, congruence
from polyad.decompose.diagonalisation import Diagonalisation, Diagonaliser
from polyad.decompose.energy import off_diagonal_energy
from polyad.decompose.methods import METHODS, Method
from polyad.decompose.orthogonal.jacobi import jacobi, jacobi_of_projections
from polyad.decompose.orthogonal.least_squares import least_squares
from polyad.decompose.orthogonal.pairwise import com2
from polyad.decompose.orthogonal.power import power, tensor_power
from polyad.decompose.orthogonal.registry import DIAGONALISERS, diagonaliser
from polyad.decompose.orthogonal.spectral import spectral, svtd
from polyad.decompose.polyadic import Polyadic, polyadic_decomposition
from polyad.decompose.similarity.first_order import similarity_first_order
from polyad.decompose.similarity.registry import SIMILARITY_DIAGONALISERS, similarity_diagonaliser
from polyad.decompose.similarity.schur import similarity_schur
from polyad.decompose.similarity.spectral import similarity_spectral
from polyad.decompose.similarity.sweeps import SimilarityDiagonalisation, SimilarityDiagonaliser, similarity_jacobi
from polyad.decompose.unmixing import dirichlet_prior, gamma_prior, mixture_weights, simplex_rows
from polyad.decompose.whitening.cross import CrossWhitening, cca_metric, cross_loadings, cross_whiten
from polyad.decompose.whitening.symmetric import RankError, Whitening, whiten

__all__ = [
    "DIAGONALISERS",
    "METHODS",
    "SIMILARITY_DIAGONALISERS",
    "CongruenceDiagonalisation",
    "CrossWhitening",
    "Diagonalisation",
    "Diagonaliser",
    "Method",
    "Polyadic",
    "RankError",
    "RecoveryBound",
    "SimilarityDiagonalisation",
    "SimilarityDiagonaliser",
    "Whitening",
    "cca_metric",
    "com2",
    "congruence",
    "cross_loadings",
    "cross_whiten",
    "diagonaliser",
    "dirichlet_prior",
    "documents_needed",
    "gamma_prior",
    "jacobi",
    "jacobi_of_projections",
    "least_squares",
    "mixture_weights",
    "off_diagonal_energy",
    "polyadic_decomposition",
    "power",
    "recovery_bound",
    "similarity_diagonaliser",
    "similarity_first_order",
    "similarity_jacobi",
    "similarity_schur",
    "similarity_spectral",
    "simplex_rows",
    "spectral",
    "svtd",
    "tensor_power",
    "whiten",
    "whitened_error",
]
