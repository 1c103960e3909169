"""Estimators with the scikit-learn API: validate, call, store."""

from polyad.base.determined import NoiseWarning, UndeterminedWarning
from polyad.engine.checks import FractionalCountsWarning
from polyad.models.intensities import SourceShapes, source_shapes
from polyad.models.mixtures import HiddenMarkov, MixtureDiagnostics, MultiViewMixture, SphericalMixture
from polyad.models.selection import Selection, select_n_components
from polyad.models.signals.ica import ICA
from polyad.models.topics.diagnostics import Diagnostics
from polyad.models.topics.discrete_ica import DiscreteICA
from polyad.models.topics.lda import LDA
from polyad.models.topics.noisy_ica import NoisyDiscreteICA
from polyad.models.topics.single_topic import SingleTopic
from polyad.models.uncertainty import Uncertainty, bootstrap
from polyad.models.views.diagnostics import FactorDiagnostics
from polyad.models.views.discrete import DiscreteCCA
from polyad.models.views.independent_factors import IndependentFactors
from polyad.models.views.mixed import MixedCCA
from polyad.models.views.nongaussian import NonGaussianCCA
from polyad.models.views.polylingual import PolylingualLDA

__all__ = [
    "ICA",
    "LDA",
    "Diagnostics",
    "DiscreteCCA",
    "DiscreteICA",
    "FactorDiagnostics",
    "FractionalCountsWarning",
    "HiddenMarkov",
    "IndependentFactors",
    "MixedCCA",
    "MixtureDiagnostics",
    "MultiViewMixture",
    "NoiseWarning",
    "NoisyDiscreteICA",
    "NonGaussianCCA",
    "PolylingualLDA",
    "Selection",
    "SingleTopic",
    "SourceShapes",
    "SphericalMixture",
    "Uncertainty",
    "UndeterminedWarning",
    "bootstrap",
    "select_n_components",
    "source_shapes",
]
