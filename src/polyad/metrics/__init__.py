"""Measures: recovery of parameters, quality of topics, names and alignment of them."""

from typing import TYPE_CHECKING

from polyad.base.lazy import lazily

if TYPE_CHECKING:
    from polyad.metrics.alignment import Alignment, align
    from polyad.metrics.coherence import npmi_coherence, umass_coherence
    from polyad.metrics.recovery import amari_distance, frobenius_error, l1_error, l2_error, match_rows
    from polyad.metrics.words import lift, relevance, top_documents, top_words, topic_diversity

__all__ = [
    "Alignment",
    "align",
    "amari_distance",
    "frobenius_error",
    "l1_error",
    "l2_error",
    "lift",
    "match_rows",
    "npmi_coherence",
    "relevance",
    "top_documents",
    "top_words",
    "topic_diversity",
    "umass_coherence",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "polyad.metrics.alignment": ("Alignment", "align"),
        "polyad.metrics.coherence": ("npmi_coherence", "umass_coherence"),
        "polyad.metrics.recovery": ("amari_distance", "frobenius_error", "l1_error", "l2_error", "match_rows"),
        "polyad.metrics.words": ("lift", "relevance", "top_documents", "top_words", "topic_diversity"),
    },
)
