"""Inference: hidden variables of documents, likelihood passes that polish topics, held-out likelihood."""

from polyad.inference.gibbs import gibbs_shares
from polyad.inference.heldout import chib, completion_bits, left_to_right, split_tokens
from polyad.inference.polish import polish
from polyad.inference.posterior import topic_shares
from polyad.inference.single_topic import polish_mixture, topic_posterior
from polyad.inference.variational import variational_passes

__all__ = [
    "chib",
    "completion_bits",
    "gibbs_shares",
    "left_to_right",
    "polish",
    "polish_mixture",
    "split_tokens",
    "topic_posterior",
    "topic_shares",
    "variational_passes",
]
