"""Inference: hidden variables of documents, likelihood passes that polish topics, held-out likelihood."""

from polyad.inference.concentration import estimate_concentration
from polyad.inference.gibbs import gibbs_shares
from polyad.inference.heldout import chib, completion_bits, left_to_right
from polyad.inference.mixture import polish_mixture, topic_posterior
from polyad.inference.polish import polish
from polyad.inference.posterior import topic_shares

__all__ = [
    "chib",
    "completion_bits",
    "estimate_concentration",
    "gibbs_shares",
    "left_to_right",
    "polish",
    "polish_mixture",
    "topic_posterior",
    "topic_shares",
]
