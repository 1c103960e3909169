"""Mixtures: models in which what is seen is independent given something hidden."""

from polyad.models.mixtures.diagnostics import MixtureDiagnostics
from polyad.models.mixtures.hidden_markov import HiddenMarkov
from polyad.models.mixtures.multiview import MultiViewMixture
from polyad.models.mixtures.selection import MixtureSelection
from polyad.models.mixtures.spherical import SphericalMixture

__all__ = ["HiddenMarkov", "MixtureDiagnostics", "MixtureSelection", "MultiViewMixture", "SphericalMixture"]
