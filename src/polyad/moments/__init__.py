"""Moments: from sums over blocks to statistics that are diagonal in the hidden components.

For every model here a vector, a matrix S and a tensor T satisfy ``S = sum_k s_k d_k d_k'`` and
``T = sum_k t_k d_k (x) d_k (x) d_k``. One file a model family; S is an operator and T is only ever computed
whitened, so that no array with two vocabulary axes is built.
"""

from polyad.moments.bounds import SampleAccuracy, sample_accuracy
from polyad.moments.counts import CountSummary, summarise_counts
from polyad.moments.discrete_ica import discrete_ica_moments, generalised_covariances
from polyad.moments.lda import ProjectedMoments, RawMoments, document_weights, raw_moments, three_tokens
from polyad.moments.population import (
    discrete_ica_population,
    lda_population,
    single_topic_population,
)
from polyad.moments.symmetric import SymmetricMoments

__all__ = [
    "CountSummary",
    "ProjectedMoments",
    "RawMoments",
    "SampleAccuracy",
    "SymmetricMoments",
    "discrete_ica_moments",
    "discrete_ica_population",
    "document_weights",
    "generalised_covariances",
    "lda_population",
    "raw_moments",
    "sample_accuracy",
    "single_topic_population",
    "summarise_counts",
    "three_tokens",
]
