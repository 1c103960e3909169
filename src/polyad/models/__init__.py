"""Estimators with the scikit-learn API: validate, call, store."""

from polyad.models.diagnostics import Diagnostics
from polyad.models.discrete_ica import DiscreteICA
from polyad.models.lda import LDA
from polyad.models.moment_start import NoiseWarning
from polyad.models.selection import Selection, select_n_components
from polyad.models.single_topic import SingleTopic
from polyad.models.uncertainty import Uncertainty, bootstrap

__all__ = [
    "LDA",
    "Diagnostics",
    "DiscreteICA",
    "NoiseWarning",
    "Selection",
    "SingleTopic",
    "Uncertainty",
    "bootstrap",
    "select_n_components",
]
