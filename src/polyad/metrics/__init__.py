"""Measures: recovery of parameters, quality of topics, diagonality of a decomposition."""

from typing import TYPE_CHECKING, Any

from polyad.base.lazy import importer

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

_HOMES = {
    "Alignment": "polyad.metrics.alignment",
    "align": "polyad.metrics.alignment",
    "amari_distance": "polyad.metrics.recovery",
    "frobenius_error": "polyad.metrics.recovery",
    "l1_error": "polyad.metrics.recovery",
    "l2_error": "polyad.metrics.recovery",
    "lift": "polyad.metrics.words",
    "match_rows": "polyad.metrics.recovery",
    "npmi_coherence": "polyad.metrics.coherence",
    "relevance": "polyad.metrics.words",
    "top_documents": "polyad.metrics.words",
    "top_words": "polyad.metrics.words",
    "topic_diversity": "polyad.metrics.words",
    "umass_coherence": "polyad.metrics.coherence",
}


def __getattr__(name: str) -> Any:
    return importer(__name__, _HOMES)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
