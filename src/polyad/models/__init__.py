"""Estimators with the scikit-learn API: validate, call, store."""

from polyad.determined import NoiseWarning, UndeterminedWarning
from polyad.models.cca_diagnostics import FactorDiagnostics
from polyad.models.cca_discrete import DiscreteCCA
from polyad.models.cca_mixed import MixedCCA
from polyad.models.cca_nongaussian import NonGaussianCCA
from polyad.models.cca_stability import bootstrap_stability
from polyad.models.diagnostics import Diagnostics
from polyad.models.discrete_ica import DiscreteICA
from polyad.models.ica import ICA
from polyad.models.lda import LDA
from polyad.models.mixtures import HiddenMarkov, MixtureDiagnostics, MultiViewMixture, SphericalMixture
from polyad.models.polylingual import PolylingualLDA
from polyad.models.selection import Selection, select_n_components
from polyad.models.single_topic import SingleTopic
from polyad.models.uncertainty import Uncertainty, bootstrap

__all__ = [
    "ICA",
    "LDA",
    "Diagnostics",
    "DiscreteCCA",
    "DiscreteICA",
    "FactorDiagnostics",
    "HiddenMarkov",
    "MixedCCA",
    "MixtureDiagnostics",
    "MultiViewMixture",
    "NoiseWarning",
    "NonGaussianCCA",
    "PolylingualLDA",
    "Selection",
    "SingleTopic",
    "SphericalMixture",
    "Uncertainty",
    "UndeterminedWarning",
    "bootstrap",
    "bootstrap_stability",
    "select_n_components",
]
