"""Samplers: data drawn from every model together with the parameters they were drawn from."""

from polyad.datasets.topics import (
    TopicSample,
    make_discrete_ica,
    make_gamma_poisson,
    make_lda,
    make_single_topic,
)

__all__ = ["TopicSample", "make_discrete_ica", "make_gamma_poisson", "make_lda", "make_single_topic"]
