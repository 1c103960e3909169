"""What commands say about a corpus and a model, for people and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyad.base.determined import DETERMINED
from polyad.base.plurals import how_many
from polyad.base.terminal import console
from polyad.cli.examples import example_row, has_example
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.text import clean, one_line, shown

if TYPE_CHECKING:
    from polyad.corpus import Corpus, CorpusReport, TextOptions

SIDE = 20  # columns that the words of a side need, so that words of most languages need not be broken


def model_topics(model: Any, n_words: int, by: str = "relevance") -> list[dict[str, Any]]:
    """Return number, share and words of every topic, and the probabilities of these words."""
    from polyad.metrics.words import top_words, word_scores

    words = model.vocabulary_ if model.vocabulary_ is not None else getattr(model, "feature_names_in_", None)
    words = tuple(map(str, range(model.n_features_in_) if words is None else words))
    scores = word_scores(model.components_, model.word_probabilities_, by)
    certainty = model_certainty(model)
    names, last = getattr(model, "names_", {}), len(model.components_) - 1
    return [
        {
            "topic": number,
            **({"name": names.get(number)} if names else {}),
            "background": number == last and has_background(model),
            "share": float(model.topic_shares_[number]),
            "certainty": certainty[number] if certainty else None,
            "words": [words[at] for at in row],
            "probabilities": [float(model.components_[number, at]) for at in row],
        }
        for number, row in enumerate(top_words(scores, min(n_words, len(words))).tolist())
    ]


def has_background(model: Any) -> bool:
    """Tell whether the last topic of a model is what all documents share."""
    return getattr(model, "background_", None) is not None


def topic_name(topic: dict[str, Any]) -> str:
    """Return what a topic is called in tables for people."""
    return "background" if topic.get("background") else str(topic["topic"])


def model_certainty(model: Any) -> list[float]:
    """Return how well the data determine each topic of a model; nothing where it is not known."""
    known = getattr(getattr(model, "diagnostics_", None), "certainty", ())
    return [float(number) for number in known] if len(known) == len(model.components_) else []


def show_topics(output: Output, topics: list[dict[str, Any]]) -> None:
    """Print topics as a table; those that the documents do not settle have a question mark."""
    unsure = [topic for topic in topics if topic["certainty"] is not None and topic["certainty"] < DETERMINED]
    rows = []
    for topic in topics:
        mark, words = "?" if topic in unsure else "", ", ".join(map(shown, topic["words"]))
        rows.append((f"{topic_name(topic)}{mark}", percent(topic["share"]), *_named(topics, topic), words))
        example = example_row(topic)
        if example is not None:
            rows.append(("", percent(topic["example"]["share"]), *(("",) if _has_names(topics) else ()), example))
    wide = "words, and the document that has most of it" if len(rows) > len(topics) else "words"
    output.table(("topic", "share", *(("name",) if _has_names(topics) else ()), wide), rows, wide=wide)
    if unsure:
        output.note("? The documents do not settle this topic: with a few more or less of them it could be another.")


def _has_names(topics: list[dict[str, Any]]) -> bool:
    return any(topic.get("name") for topic in topics)


def _named(topics: list[dict[str, Any]], topic: dict[str, Any]) -> tuple[str, ...]:
    """Return the cell of a topic's name where any topic has one."""
    return (shown(topic.get("name") or ""),) if _has_names(topics) else ()


def is_paired(model: Any) -> bool:
    """Tell whether a model is of two or more aligned corpora."""
    return bool(model.has_topics and model.n_views != 1)


@dataclass(frozen=True)
class SideModel:
    """What a model of aligned corpora knows of one of them."""

    name: str  # "left" and "right" of two corpora; of more, their own, or "view 0", "view 1", ...
    topics: Any  # K x M, the topics
    vocabulary: tuple[str, ...] | None  # the words
    text_options: TextOptions | None  # how text was split

    @property
    def words(self) -> tuple[str, ...]:
        """The words, or their numbers where they are not known."""
        return tuple(map(str, range(self.topics.shape[1]))) if self.vocabulary is None else self.vocabulary


def model_sides(model: Any) -> list[SideModel]:
    """Return what a model of aligned corpora knows of each of them."""
    if model.n_views == 2:
        return [
            SideModel("left", model.x_loadings_.T, model.x_vocabulary_, model.x_text_options_),
            SideModel("right", model.y_loadings_.T, model.y_vocabulary_, model.y_text_options_),
        ]
    n_views = len(model.components_)
    names = ["left", "right"] if n_views == 2 else model.view_names_ or [f"view {number}" for number in range(n_views)]
    return list(map(SideModel, names, model.components_, model.vocabularies_, model.text_options_))


def refuse_signals(path: str, model: Any) -> None:
    """Refuse a model without topics, such as one of measurements."""
    if not model.has_topics:
        raise ValueError(f"{path} holds {type(model).__name__}, which has no topics; use it from Python.")


def refuse_pairs(path: str, model: Any) -> None:
    """Refuse a model that is not of one corpus."""
    refuse_signals(path, model)
    if is_paired(model):
        raise ValueError(f"{path} is a model of aligned corpora; this command takes a model of one (see polyad fit).")


def paired_topics(model: Any, n_words: int, by: str = "relevance") -> list[dict[str, Any]]:
    """Return number, share (or correlation) and the words on all sides of every topic, with their probabilities."""
    import numpy as np

    from polyad.metrics.words import top_words, word_scores

    by_share = hasattr(model, "topic_shares_")
    name, values = ("share", model.topic_shares_) if by_share else ("correlation", model.correlations_)
    weights = values if by_share else np.full(len(values), 1 / len(values))
    given = getattr(model, "names_", {})
    topics: list[dict[str, Any]] = [
        {"topic": number, **({"name": given.get(number)} if given else {}), name: float(value)}
        for number, value in enumerate(values)
    ]
    for side in model_sides(model):
        scores = word_scores(side.topics, weights @ side.topics, by)
        for topic, row in zip(topics, top_words(scores, n_words).tolist()):
            topic[side.name] = {
                "words": [side.words[at] for at in row],
                "probabilities": [float(side.topics[topic["topic"], at]) for at in row],
            }
    return topics


def show_paired_topics(output: Output, topics: list[dict[str, Any]]) -> None:
    """Print topics as a table with the words of the sides beside each other."""
    measure = "share" if "share" in topics[0] else "correlation"
    sides = [key for key in topics[0] if key not in ("topic", "name", measure, "example")]
    columns = ("topic", measure, *(("name",) if _has_names(topics) else ()), *sides)
    rows = []
    for topic in topics:
        size = percent(topic["share"]) if measure == "share" else f"{topic['correlation']:.2f}"
        words = (", ".join(map(shown, topic[side]["words"])) for side in sides)
        rows.append((str(topic["topic"]), size, *_named(topics, topic), *words))
        if has_example(topic):
            rows.append(_example_cells(topics, topic, sides))
    if not output.for_people:
        output.table(columns, rows)
    elif console().width < SIDE * (1 + len(sides)):
        first = len(columns) - len(sides)
        below = [
            (*(row[:first] if number == 0 else ("",) * first), f"{side}: {row[first + number]}")
            for row in rows
            for number, side in enumerate(sides)
            if row[first + number]
        ]
        output.table((*columns[:first], "words"), below, wide="words")
    else:
        console().print(_side_by_side(columns, rows))


def _example_cells(topics: list[dict[str, Any]], topic: dict[str, Any], sides: Sequence[str]) -> tuple[str, ...]:
    """Return the row of the document that has most of a topic: its texts below the words of their sides."""
    example = topic["example"]
    first, *others = (example["texts"].get(side) or "" for side in sides)
    named = f"e.g. {shown(example['id'], 60)}{': ' if first else ''}{first}"
    return ("", percent(example["share"]), *(("",) if _has_names(topics) else ()), named, *others)


def _side_by_side(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for name in columns[:2]:
        table.add_column(name, justify="right", no_wrap=True)
    for name in columns[2:]:
        table.add_column(name, overflow="fold", ratio=1)
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    return table


def corpus_facts(corpus: Corpus, *, advice: bool = True) -> list[tuple[str, str]]:
    """Say what a corpus is, and what was dropped on the way to it; with the options that choose other words, or not."""
    report = corpus.report
    facts = [
        ("Documents", f"{len(corpus):,}{_bracketed(_document_notes(report))}"),
        ("Words", f"{len(corpus.vocabulary):,} different, {report.tokens:,} in all"),
    ]
    if report.language is not None:
        other = "; --stop-words names another" if advice else ""
        facts.append(("Language", f"{_languages(report)}, found in the text{other}"))
    for reason, drop in report.dropped.items():
        examples = ", ".join(clean(word) for word in drop.examples[:4])
        bound = ""
        if reason == "rare words" and report.min_df is not None:
            bound = f" in fewer than {how_many(report.min_df, 'documents')}{' (--min-df)' if advice else ''}"
        by_language = reason == "stop words" and report.language is not None
        keep = "; --stop-words none keeps them" if by_language and advice else ""
        dropped = f"{how_many(drop.words, reason)}{bound}"
        facts.append(("Dropped", f"{dropped}, {drop.tokens:,} in all ({examples}){keep}"))
    return facts


def _languages(report: CorpusReport) -> str:
    """Name the language of a corpus, or all that it is in."""
    if len(report.languages) < 2:
        return str(report.language)
    return ", ".join(f"{name} in {how_many(documents, 'documents')}" for name, documents in report.languages)


def corpus_values(corpus: Corpus) -> dict[str, Any]:
    """Return the same as `corpus_facts` for machines."""
    report = corpus.report
    reading = report.reading
    return {
        "documents": len(corpus),
        "words": len(corpus.vocabulary),
        "tokens": report.tokens,
        "language": report.language,
        "languages": dict(report.languages),
        "min_df": None if report.options is None else report.options.min_df,
        "empty_documents": report.empty_documents,
        "duplicate_ids": report.duplicate_ids,
        "bad_records": 0 if reading is None else reading.bad,
        "suspicious_records": 0 if reading is None else reading.suspicious,
        "dropped": {
            reason: {"words": drop.words, "tokens": drop.tokens, "examples": drop.examples}
            for reason, drop in report.dropped.items()
        },
    }


def rate(seconds: float, number: int, things: str = "documents") -> str:
    """Say how long work took, and how fast it was.

    Examples
    --------
    >>> rate(2.0, 5000)
    '2.0 s, 2,500 documents per second'
    """
    speed = f", {how_many(round(number / seconds), things)} per second" if seconds > 1e-3 else ""
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
    if report.reading is not None and report.reading.format == "lines":
        notes.append("each line is one; of a folder, each file")
    if report.empty_documents:
        notes.append(f"{report.empty_documents:,} without a kept word")
    if report.duplicate_ids:
        notes.append(f"{report.duplicate_ids:,} with the id of an earlier one")
    if report.reading is not None and report.reading.bad:
        notes.append(
            f"{how_many(report.reading.bad, 'bad records')} skipped, the first: {report.reading.bad_examples[0]}"
        )
    return notes


def _bracketed(notes: list[str]) -> str:
    return f" ({'; '.join(notes)})" if notes else ""
