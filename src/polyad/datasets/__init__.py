"""Samplers: data drawn from every model together with the parameters they were drawn from."""

from polyad.datasets.factors import FactorSample, make_independent_factors
from polyad.datasets.mixtures import (
    ChainSample,
    MixtureSample,
    MultiViewSample,
    make_hmm,
    make_multiview_mixture,
    make_spherical_mixture,
)
from polyad.datasets.signals import SignalSample, make_ica
from polyad.datasets.topics import (
    TopicSample,
    make_discrete_ica,
    make_gamma_poisson,
    make_lda,
    make_noisy_discrete_ica,
    make_single_topic,
)
from polyad.datasets.views import ViewSample, make_discrete_cca, make_mixed_cca, make_nongaussian_cca

__all__ = [
    "ChainSample",
    "FactorSample",
    "MixtureSample",
    "MultiViewSample",
    "SignalSample",
    "TopicSample",
    "ViewSample",
    "make_discrete_cca",
    "make_discrete_ica",
    "make_gamma_poisson",
    "make_hmm",
    "make_ica",
    "make_independent_factors",
    "make_lda",
    "make_mixed_cca",
    "make_multiview_mixture",
    "make_noisy_discrete_ica",
    "make_nongaussian_cca",
    "make_single_topic",
    "make_spherical_mixture",
]
