"""Estimators with the scikit-learn API: validate, call, store."""

from polyad.models.diagnostics import Diagnostics
from polyad.models.discrete_ica import DiscreteICA
from polyad.models.lda import LDA
from polyad.models.moment_start import NoiseWarning
from polyad.models.single_topic import SingleTopic

__all__ = ["LDA", "Diagnostics", "DiscreteICA", "NoiseWarning", "SingleTopic"]
