"""What commands say about a corpus and a model, for people and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyad.cli.output import Output
from polyad.cli.reading import words_of
from polyad.cli.text import clean

if TYPE_CHECKING:
    from polyad.corpus import Corpus, CorpusReport

__all__ = ["corpus_facts", "corpus_values", "model_topics", "rate", "show_topics", "size"]


def model_topics(model: Any, n_words: int, by: str = "relevance") -> list[dict[str, Any]]:
    """Return number, share and words of every topic, and the probabilities of these words."""
    import numpy as np

    words = np.array(words_of(model), dtype=object)
    place = {word: at for at, word in enumerate(words)}
    ranked = model.topics(n_words, by, vocabulary=list(words))
    return [
        {
            "topic": number,
            "share": float(model.topic_shares_[number]),
            "words": list(listed),
            "probabilities": [float(model.components_[number, place[word]]) for word in listed],
        }
        for number, listed in enumerate(ranked)
    ]


def show_topics(output: Output, topics: list[dict[str, Any]]) -> None:
    """Print topics as a table."""
    rows = [(str(topic["topic"]), percent(topic["share"]), ", ".join(map(clean, topic["words"]))) for topic in topics]
    output.table(("topic", "share", "words"), rows, wide="words")


def corpus_facts(corpus: Corpus, language: str | None) -> list[tuple[str, str]]:
    """Say what a corpus is, and what was dropped on the way to it."""
    report = corpus.report
    facts = [
        ("Documents", f"{len(corpus):,}{_bracketed(_document_notes(report))}"),
        ("Words", f"{len(corpus.vocabulary):,} different ones, {report.tokens:,} in all"),
    ]
    if language is not None:
        facts.append(("Language", f"{language}, found in the text; --stop-words names another"))
    for reason, drop in report.dropped.items():
        examples = ", ".join(clean(word) for word in drop.examples[:4])
        facts.append(("Dropped", f"{drop.words:,} {reason}, {drop.tokens:,} in all ({examples})"))
    return facts


def corpus_values(corpus: Corpus, language: str | None = None) -> dict[str, Any]:
    """Return the same as `corpus_facts` for machines."""
    report = corpus.report
    reading = report.reading
    return {
        "documents": len(corpus),
        "words": len(corpus.vocabulary),
        "tokens": report.tokens,
        "language": language,
        "empty_documents": report.empty_documents,
        "duplicate_ids": report.duplicate_ids,
        "bad_records": 0 if reading is None else reading.bad,
        "dropped": {
            reason: {"words": drop.words, "tokens": drop.tokens, "examples": drop.examples}
            for reason, drop in report.dropped.items()
        },
    }


def rate(seconds: float, documents: int) -> str:
    """Say how long work took, and how fast it was.

    Examples
    --------
    >>> rate(2.0, 5000)
    '2.0 s, 2,500 documents a second'
    """
    speed = f", {documents / seconds:,.0f} documents a second" if seconds > 1e-3 else ""
    return f"{seconds:.{1 if seconds >= 1 else 2}f} s{speed}"


def percent(share: float) -> str:
    """Write a share.

    Examples
    --------
    >>> percent(0.1234), percent(0.00012), percent(0.0)
    ('12.3%', '0.01%', '0%')
    """
    if share == 0:
        return "0%"
    return f"{share:.1%}" if share >= 0.001 else f"{share:.2%}"


def size(n_bytes: int) -> str:
    """Write a number of bytes.

    Examples
    --------
    >>> size(999), size(1_250_000)
    ('999 bytes', '1.2 MB')
    """
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1e3:.0f} kB" if n_bytes < 1e6 else f"{n_bytes / 1e6:.1f} MB"


def _document_notes(report: CorpusReport) -> list[str]:
    notes = []
    if report.empty_documents:
        notes.append(f"{report.empty_documents:,} without a kept word")
    if report.duplicate_ids:
        notes.append(f"{report.duplicate_ids:,} with the id of an earlier one")
    if report.reading is not None and report.reading.bad:
        notes.append(f"{report.reading.bad:,} bad records skipped, the first: {report.reading.bad_examples[0]}")
    return notes


def _bracketed(notes: list[str]) -> str:
    return f" ({'; '.join(notes)})" if notes else ""
