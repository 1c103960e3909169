"""Moments: from sums over blocks to statistics that are diagonal in the hidden components.

For every model here a vector, a matrix S and a tensor T satisfy ``S = sum_k s_k d_k d_k'`` and
``T = sum_k t_k d_k (x) d_k (x) d_k``. One file for each family of models; S is an operator and T is only ever computed
whitened, so that no array with two vocabulary axes is built.
"""

from polyad.moments.counts.bounds import SampleAccuracy, lda_accuracy, sample_accuracy
from polyad.moments.counts.concentration import estimate_concentration
from polyad.moments.counts.discrete_ica import discrete_ica_moments, generalised_covariances
from polyad.moments.counts.discrete_ica_accuracy import (
    SourceCumulants,
    discrete_ica_accuracy,
    gamma_cumulants,
    gamma_third_accuracy,
)
from polyad.moments.counts.lda import ProjectedMoments, RawMoments, raw_moments, three_tokens
from polyad.moments.counts.summary import CountSummary, summarise_counts
from polyad.moments.counts.weights import DocumentWeights, document_weights
from polyad.moments.errors import moment_errors
from polyad.moments.population import discrete_ica_population, lda_population, single_topic_population
from polyad.moments.symmetric import SymmetricMoments
from polyad.moments.views.covariances import characteristic_targets, generalised_targets, processing_points
from polyad.moments.views.cross import CrossMoments, cross_population
from polyad.moments.views.cumulants import fourth_order_targets, third_order_targets
from polyad.moments.views.texts import summarise_texts, two_text_moments

__all__ = [
    "CountSummary",
    "CrossMoments",
    "DocumentWeights",
    "ProjectedMoments",
    "RawMoments",
    "SampleAccuracy",
    "SourceCumulants",
    "SymmetricMoments",
    "characteristic_targets",
    "cross_population",
    "discrete_ica_accuracy",
    "discrete_ica_moments",
    "discrete_ica_population",
    "document_weights",
    "estimate_concentration",
    "fourth_order_targets",
    "gamma_cumulants",
    "gamma_third_accuracy",
    "generalised_covariances",
    "generalised_targets",
    "lda_accuracy",
    "lda_population",
    "moment_errors",
    "processing_points",
    "raw_moments",
    "sample_accuracy",
    "single_topic_population",
    "summarise_counts",
    "summarise_texts",
    "third_order_targets",
    "three_tokens",
    "two_text_moments",
]
