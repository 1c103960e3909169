"""Measures: recovery of parameters, quality of topics, diagonality of a decomposition."""

from polyad.metrics.alignment import Alignment, align
from polyad.metrics.coherence import npmi_coherence, umass_coherence
from polyad.metrics.diagonality import off_diagonal_energy
from polyad.metrics.recovery import amari_distance, l1_error, match_rows
from polyad.metrics.words import lift, relevance, top_documents, top_words, topic_diversity

__all__ = [
    "Alignment",
    "align",
    "amari_distance",
    "l1_error",
    "lift",
    "match_rows",
    "npmi_coherence",
    "off_diagonal_energy",
    "relevance",
    "top_documents",
    "top_words",
    "topic_diversity",
    "umass_coherence",
]
