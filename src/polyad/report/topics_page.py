"""The page of a model of topics: the values that ``page.js`` shows, and the charts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.base.determined import DETERMINED
from polyad.base.names import given_names
from polyad.base.plurals import how_many
from polyad.engine.sources import view_of
from polyad.metrics.coherence import npmi_coherence
from polyad.metrics.names import suggested_names
from polyad.metrics.words import top_words, word_scores
from polyad.models.fitting import running
from polyad.models.uncertainty import bootstrap
from polyad.report.drawing import COLOURS, REST, areas, circles, coloured_topics, heat, tree_lines
from polyad.report.excerpts import Segments, excerpt, visible, word_excerpt
from polyad.report.fit_facts import fit_charts, fit_facts, selection_charts
from polyad.report.geometry import map_of_topics, shared_mass, tree_of_topics
from polyad.report.inputs import Inputs
from polyad.report.page import Page
from polyad.report.passes import Gathered, gather
from polyad.report.periods import Labels
from polyad.report.subject import Subject, TopicView
from polyad.report.words import ShownWords, shown_words

MARKED = 60  # of a topic's most relevant words are marked in documents
MOST_DOCUMENTS = 800  # in all, where that leaves three for each topic
MOST_BYTES = 1 << 28  # that the standard errors may take
LEAST_GROUPS, REPLICATES = 8, 50
ALIKE = 3
LARGEST_TREE = 150
WORD_CHARACTERS, ID_CHARACTERS, NAME_CHARACTERS = 60, 120, 80


def topics_page(
    subject: Subject,
    inputs: Sequence[Inputs],
    *,
    title: str,
    selection: Any = None,
    n_words: int = 25,
    n_documents: int | None = None,
    uncertainty: bool = True,
    n_jobs: int | None = None,
) -> Page:
    """Put together the page of a model of topics.

    Parameters
    ----------
    subject, inputs
        The model with its documents, and for each view what else is known of these; none without documents.
    title
        Of the page.
    selection
        What `select_n_components` gave.
    n_words, n_documents
        Of each topic.
    uncertainty
        Whether to estimate standard errors and stability, which takes some passes.
    n_jobs
        Threads.
    """
    shares = np.asarray(subject.model.topic_shares_, dtype=np.float64)
    shown = [shown_words(view.components, view.word_probabilities, shares, n_words) for view in subject.views]
    names, suggested = _names(subject)
    mass = shared_mass([view.components for view in subject.views])
    topics: list[dict[str, Any]] = [
        {"name": name, "share": _short(share), "alike": _alike(mass, k)}
        for k, (name, share) in enumerate(zip(names, shares))
    ]
    top = [top_words(word_scores(view.components, view.word_probabilities), 10) for view in subject.views]
    for k, topic in enumerate(topics):
        topic["top"] = [_places(chosen, rows[k]) for chosen, rows in zip(shown, top)]
    certainty = np.asarray(getattr(subject.model.diagnostics_, "certainty", ()))
    _add(topics, "certainty", certainty if certainty.size == len(topics) else None)
    words_of_topics = [", ".join(visible(subject.views[0].words[at], 24) for at in row[:6]) for row in top[0]]
    charts = {"map": circles(map_of_topics(mass, shares), names, shares.tolist(), words_of_topics)}
    if 2 < len(topics) <= LARGEST_TREE:
        charts["tree"] = tree_lines(tree_of_topics(mass), names)
    data: dict[str, Any] = {
        "kind": "topics",
        "determined": DETERMINED,
        "nWords": n_words,
        "topics": topics,
        "documents": [],
        "documentsOf": [],
    }
    errors, notes = None, [] if not suggested else [("Names", suggested)]
    if subject.source is not None:
        gathered = _gathered(subject, inputs, n_documents or _how_many(len(topics)), n_jobs)
        errors, note = _measured(subject, topics, gathered, uncertainty=uncertainty, n_jobs=n_jobs)
        notes += [note] if note else []
        data |= _documents(subject, inputs, gathered)
        _add_divisions(data, charts, inputs[0], gathered, names)
    errors_of = [None] * len(shown) if errors is None else errors
    data["views"] = [_view(view, chosen, own) for view, chosen, own in zip(subject.views, shown, errors_of)]
    data["lead"] = _lead(subject)
    fit = {**fit_charts(subject.model.diagnostics_, len(topics)), **selection_charts(selection)}
    data["fitCharts"] = [[name, chart_title, text] for name, (_, chart_title, text) in fit.items()]
    data["facts"] = [*fit_facts(subject.model), *notes]
    return Page(title, data, {**charts, **{name: chart for name, (chart, _, _) in fit.items()}})


def _names(subject: Subject) -> tuple[list[str], str]:
    """Return the name of every topic, and a sentence about those that no person has given."""
    view, given = subject.views[0], given_names(subject.model)
    names = suggested_names(view.components, view.word_probabilities, view.words)
    found = [visible(given.get(k, name), NAME_CHARACTERS) for k, name in enumerate(names)]
    if len(given) == len(names):
        return found, ""
    n_suggested = "The names of all topics" if not given else f"The names of {len(names) - len(given):,} topics"
    return found, f"{n_suggested} are their most relevant words, until a person gives them others"


def _gathered(subject: Subject, inputs: Sequence[Inputs], n_documents: int, n_jobs: int | None) -> Gathered:
    return gather(subject, n_documents, _divisions(inputs[0]), n_jobs)


def _divisions(given: Inputs) -> list[Labels]:
    return [labels for labels in (given.periods, given.groups) if labels is not None]


def _how_many(n_topics: int) -> int:
    return int(np.clip(MOST_DOCUMENTS // n_topics, 3, 8))


def _alike(mass: FloatArray, k: int) -> list[list[float]]:
    others = mass[k].copy()
    others[k] = -1
    order = np.argsort(-others, kind="stable")[: min(ALIKE, len(others) - 1)]
    return [[int(other), _short(others[other])] for other in order]


def _places(chosen: ShownWords, numbers: NDArray[np.intp]) -> list[int]:
    """Return where words are among those that the page holds."""
    order = np.argsort(chosen.numbers, kind="stable")
    places: list[int] = order[np.searchsorted(chosen.numbers, numbers, sorter=order)].tolist()
    return places


def _add(topics: list[dict[str, Any]], name: str, values: Any) -> None:
    if values is not None:
        for topic, value in zip(topics, values):
            topic[name] = _short(value)


def _short(value: Any) -> float:
    return float(f"{float(value):.3g}")


def _measured(
    subject: Subject, topics: list[dict[str, Any]], gathered: Gathered, *, uncertainty: bool, n_jobs: int | None
) -> tuple[list[FloatArray] | None, tuple[str, str] | None]:
    """Add coherence and stability to topics; return standard errors of words, and why there are none."""
    for topic, leading in zip(topics, gathered.leading):
        topic["leading"] = int(leading)
    source = subject.source
    if source is None:
        return None, None
    n_views = len(subject.views)
    with running(n_jobs):
        parts = [source if n_views == 1 else view_of(source, number) for number in range(n_views)]
        coherence = np.mean([npmi_coherence(view.components, part) for view, part in zip(subject.views, parts)], axis=0)
    _add(topics, "coherence", coherence)
    model = subject.model
    if not uncertainty:
        return None, None
    if hasattr(model, "weights_"):
        return None, ("Errors", f"standard errors are not estimated for a {type(model).__name__}")
    n_groups = min(32, MOST_BYTES // (4 * sum(view.components.size for view in subject.views)), source.n_rows)
    if n_groups < LEAST_GROUPS:
        return None, ("Errors", "standard errors are not estimated: there are too many topics and words for it")
    given = source if n_views == 1 else [view_of(source, number) for number in range(n_views)]
    found = bootstrap(model, given, n_groups=n_groups, n_replicates=REPLICATES, n_jobs=n_jobs)
    _add(topics, "stability", found.stability)
    errors = found.standard_errors
    return errors if isinstance(errors, list) else [errors], (
        "Errors", f"± is the standard error of a word in samples like this one, from {n_groups} groups of documents"
    )  # fmt: skip


def _view(view: TopicView, chosen: ShownWords, errors: FloatArray | None) -> dict[str, Any]:
    numbers = chosen.numbers
    words_of = []
    for k, own in enumerate(chosen.of_topic):
        columns = numbers[own]
        rows = [[int(at), _short(view.components[k, m])] for at, m in zip(own, columns)]
        if errors is not None:
            rows = [[*row, _short(errors[k, m])] for row, m in zip(rows, columns)]
        words_of.append(rows)
    return {
        "name": visible(view.name, NAME_CHARACTERS),
        "words": [visible(str(view.words[m]), WORD_CHARACTERS) or "\ufffd" for m in numbers],
        "overall": [_short(max(view.word_probabilities[m], 1e-12)) for m in numbers],
        "wordsOf": words_of,
        "topicsOf": [
            [
                value
                for topic, share in zip(topics, shares)
                if share >= 0.01
                for value in (int(topic), round(1000 * float(share)))
            ]
            for topics, shares in zip(chosen.topics, chosen.topic_shares)
        ],
    }


def _documents(subject: Subject, inputs: Sequence[Inputs], gathered: Gathered) -> dict[str, Any]:
    documents = gathered.documents
    read = [given.found(documents.rows) for given in inputs]
    marked = [[[str(view.words[m]) for m in row] for row in top_words(_scores(view), MARKED)] for view in subject.views]

    def passages(k: int, at: int) -> list[Segments]:
        found = []
        for view, known, words, counts in zip(subject.views, read, marked, documents.counts):
            text, own = known[at][1], set(words[k])
            row = counts[[at]]
            found.append(
                excerpt(text, own, view.text_options) if text else word_excerpt(row, view.words, own)
            )  # fmt: skip
        return found

    def largest(at: int) -> list[list[float]]:
        row = documents.shares[at]
        order = np.argsort(-row, kind="stable")[:4]
        return [[int(k), _short(row[k])] for k in order if row[k] >= 0.05]

    return {
        "documents": [
            [visible(name, ID_CHARACTERS) or "\ufffd", int(documents.lengths[at]), largest(at)]
            for at, (name, _) in enumerate(read[0])
        ],
        "documentsOf": [
            [[at, _short(documents.shares[at, k]), passages(k, at)] for at in own if documents.lengths[at] > 0]
            for k, own in enumerate(documents.of_topic)
        ],
    }


def _scores(view: TopicView) -> FloatArray:
    return word_scores(view.components, view.word_probabilities)


def _add_divisions(
    data: dict[str, Any], charts: dict[str, Any], given: Inputs, gathered: Gathered, names: Sequence[str]
) -> None:
    """Add shares of topics over time and in groups."""
    tokens = dict(zip(("periods", "groups") if given.periods is not None else ("groups",), gathered.tokens_of))
    if given.periods is not None:
        shares, labels = _rows(tokens["periods"]), given.periods
        filled = np.flatnonzero(tokens["periods"].sum(axis=1) > 0)
        xs = [float(labels.names[at]) if labels.kind == "number" else labels.names[at] for at in filled]
        charts["time"] = areas(xs, shares[filled], names, kind=labels.kind)
        coloured = coloured_topics(shares[filled])
        colours: list[list[Any]] = [[k, COLOURS[at]] for at, k in enumerate(coloured)]
        data["times"] = {
            "title": "Over time" if labels.is_time else "In order",
            "note": _division_note(
                labels,
                "date",
                f"The share of each topic in the words of every {'period' if labels.is_time else 'part'}.",
            ),
            "colours": colours + ([[-1, REST]] if len(coloured) < len(names) else []),
        }
    if given.groups is not None:
        shares, labels = _rows(tokens["groups"]), given.groups
        shown = [visible(name, WORD_CHARACTERS) or "\ufffd" for name in labels.names]
        data["groups"] = {
            "title": "By group",
            "names": shown,
            "shares": [[_short(value) for value in row] for row in shares],
            "note": _division_note(labels, "group", "The share of each topic in the words of every group."),
        }
        if len(names) <= LARGEST_TREE:
            titles = [f"{k} {name}" for k, name in enumerate(names)]
            charts["groups"] = heat(titles, shown, shares.T, row_title="topic", column_title="group")


def _rows(tokens: FloatArray) -> FloatArray:
    return tokens / np.maximum(tokens.sum(axis=1, keepdims=True), 1e-300)


def _division_note(labels: Labels, what: str, note: str) -> str:
    return f"{note} {labels.n_without:,} documents have no {what} and are not in it." if labels.n_without else note


def _lead(subject: Subject) -> str:
    found = subject.model.diagnostics_
    size = (
        f"{how_many(found.n_documents, 'documents')}, {found.n_tokens:,.0f} words, {found.n_words:,} of them different"
    )
    return f"{how_many(subject.n_topics, 'topics')} of {size}. {type(subject.model).__name__}."
