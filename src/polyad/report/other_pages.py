"""Pages of models without topics: sources of signals, factors of views and of counts, classes and states."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polyad.base.names import checked_names
from polyad.report.drawing import bars, lines, matrix
from polyad.report.excerpts import visible
from polyad.report.fit_facts import fit_charts, fit_facts, selection_charts
from polyad.report.page import Page
from polyad.report.signals import spectrogram, waveform

MOST_SIGNALS = 12  # drawn
MOST_ROWS = 60  # of a matrix that is drawn whole
MOST_STEPS = 400  # of a decoded path
TOP_FEATURES = 10

_SOURCES = "What was mixed, in the order of the variance that it explains; the band spans the values of every moment."


@dataclass
class _Parts:
    """The sections of a page, as they are put together."""

    sections: list[list[Any]] = field(default_factory=list)
    charts: dict[str, Any] = field(default_factory=dict)

    def add(self, title: str, text: str, charts: Iterable[tuple[Any, str]] = (), rows: Any = None) -> None:
        named = []
        for chart, caption in charts:
            name = f"chart-{len(self.charts)}"
            self.charts[name] = chart
            named.append([name, caption])
        self.sections.append([title, text, named, rows])


def other_page(
    model: Any, X: Any, *, title: str, selection: Any = None, rate: float | None = None, lengths: Any = None
) -> Page:
    """Put together the page of a model of signals, of views, of noisy counts, or of a mixture.

    Parameters
    ----------
    model
        A fitted ICA, CCA, NoisyDiscreteICA, IndependentFactors or mixture.
    X
        Data, as the model's ``transform`` or ``predict`` takes them (of two views a list of both); None shows the
        model alone.
    title
        Of the page.
    selection
        What `select_n_components` gave for a mixture.
    rate
        Rows in a second, where rows are moments: adds spectrograms of sources.
    lengths
        Rows of every sequence, where X holds several one after the other.
    """
    parts = _Parts()
    if hasattr(model, "mixing_"):
        _add_sources(parts, model, X, rate)
    elif hasattr(model, "x_loadings_"):
        _add_factors(parts, model, X)
    elif _is_of_components(model):
        _add_components(parts, model, X)
    else:
        _add_classes(parts, model, X, lengths)
    fit = {**fit_charts(model.diagnostics_, _count(model)), **selection_charts(selection)}
    data = {
        "kind": "sections",
        "lead": f"{type(model).__name__} with {_count(model)} {_noun(model)}.",
        "sections": parts.sections,
        "facts": fit_facts(model),
        "fitCharts": [[name, chart_title, text] for name, (_, chart_title, text) in fit.items()],
    }
    return Page(title, data, {**parts.charts, **{name: chart for name, (chart, _, _) in fit.items()}})


def _count(model: Any) -> int:
    for attribute in ("mixing_", "x_loadings_"):
        if hasattr(model, attribute):
            return int(getattr(model, attribute).shape[1])
    if _is_of_components(model):
        return len(model.components_)
    return len(model.weights_ if hasattr(model, "weights_") else model.startprob_)


def _noun(model: Any) -> str:
    if hasattr(model, "mixing_") or hasattr(model, "x_loadings_"):
        return "sources"
    if _is_of_components(model):
        return "factors"
    return "states" if hasattr(model, "transmat_") else "classes"


def _is_of_components(model: Any) -> bool:
    """Tell a model whose data are linear in its components: K x M, beside the variances of their factors."""
    return hasattr(model, "factor_variances_") or hasattr(model, "noise_variances_")


def _names(model: Any, what: str) -> list[str]:
    """Return the name of every component: the one that was given, or its number."""
    given = checked_names(getattr(model, "names_", {}), _count(model))
    return [visible(given.get(k, f"{what} {k}"), 60) for k in range(_count(model))]


def _features(model: Any, attribute: str, n_features: int) -> list[str]:
    known = getattr(model, attribute, None)
    return [str(m) for m in range(n_features)] if known is None else [visible(str(name), 60) for name in known]


def _add_sources(parts: _Parts, model: Any, X: Any, rate: float | None) -> None:
    names = _names(model, "source")
    if X is not None:
        shown = min(len(names), MOST_SIGNALS)
        signals = model.transform(X)
        charts = [(waveform(signals[:, k], rate=rate, title=names[k]), "") for k in range(shown)]
        more = f" The first {shown} of {len(names)} are drawn." if shown < len(names) else ""
        parts.add("Sources", f"{_SOURCES}{more}", charts)
        if rate is not None:
            spectra = [(spectrogram(signals[:, k], rate, height=150), names[k]) for k in range(shown)]
            parts.add("Spectrograms", "How strong each frequency of a source is over time: bright is strong.", spectra)
    features = _features(model, "feature_names_in_", model.mixing_.shape[0])
    parts.add(
        "Mixing",
        "How much of each source is in each measurement: blue adds, red takes away.",
        [(_largest_rows(model.mixing_, features, "measurement", "source"), "")],
    )
    parts.add("Certainty", "How well the data settle each source, from 0 to 1.", [], _certainty_rows(model, names))


def _certainty_rows(model: Any, names: Sequence[str]) -> Any:
    certainty = np.asarray(model.diagnostics_.certainty)
    if certainty.size != len(names):
        return None
    return [["", "certainty"], *([name, f"{value:.3f}"] for name, value in zip(names, certainty))]


def _largest_rows(values: Any, features: Sequence[str], row_title: str, column_title: str) -> Any:
    """Draw a matrix, only its largest rows where there are many."""
    table = np.asarray(values, dtype=np.float64)
    if table.shape[0] > MOST_ROWS:
        chosen = np.sort(np.argsort(-np.abs(table).max(axis=1), kind="stable")[:MOST_ROWS])
        table, features = table[chosen], [features[row] for row in chosen]
        row_title = f"{row_title} (the {MOST_ROWS} largest)"
    return matrix(table, row_title=row_title, column_title=column_title, rows=features)


def _add_factors(parts: _Parts, model: Any, X: Any) -> None:
    names = _names(model, "source")
    parts.add(
        "Correlations",
        "How well the two views agree on each source, from 0 to 1, the strongest first.",
        [(bars(names, model.correlations_.tolist(), x="correlation", y="source"), "")],
    )
    for side, attribute, loadings in (
        ("Left", "x_vocabulary_", model.x_loadings_),
        ("Right", "y_vocabulary_", model.y_loadings_),
    ):
        features = _features(model, attribute, loadings.shape[0])
        parts.add(
            f"{side} loadings",
            "What each source is made of in this view; the table names its largest entries.",
            [(_largest_rows(loadings, features, "column", "source"), "")],
            [["source", "largest loadings"], *_top_loadings(loadings, features, names)],
        )
    if X is not None:
        given = X if isinstance(X, list | tuple) else (X,)
        shared = np.asarray(model.transform(*given))
        charts = [(waveform(shared[:, k], title=names[k]), "") for k in range(min(len(names), MOST_SIGNALS))]
        parts.add("Sources", "The value of each source in every row of the data.", charts)
    parts.add("Certainty", "How well the data settle each source, from 0 to 1.", [], _certainty_rows(model, names))


def _add_components(parts: _Parts, model: Any, X: Any) -> None:
    names = _names(model, "factor")
    variances = model.factor_variances_ if hasattr(model, "factor_variances_") else model.variances_
    explained = np.asarray(variances) * (model.components_**2).sum(axis=1)
    parts.add(
        "Variance explained",
        "How much of the variance of all columns together is that of each factor.",
        [(bars(names, explained.tolist(), x="variance", y="factor"), "")],
    )
    known = "vocabulary_" if getattr(model, "vocabulary_", None) is not None else "feature_names_in_"
    features = _features(model, known, model.components_.shape[1])
    parts.add(
        "Components",
        "What each factor adds to the columns of the data; the table names the largest entries.",
        [(_largest_rows(model.components_.T, features, "column", "factor"), "")],
        [["factor", "largest entries"], *_top_loadings(model.components_.T, features, names)],
    )
    if X is not None:
        found = np.asarray(model.transform(X))
        charts = [(waveform(found[:, k], title=names[k]), "") for k in range(min(len(names), MOST_SIGNALS))]
        parts.add("Factors", "The estimate of each factor in every row of the data.", charts)
    parts.add("Certainty", "How well the data settle each factor, from 0 to 1.", [], _certainty_rows(model, names))


def _top_loadings(loadings: Any, features: Sequence[str], names: Sequence[str]) -> list[list[str]]:
    rows = []
    for k, name in enumerate(names):
        order = np.argsort(-np.abs(loadings[:, k]), kind="stable")[:TOP_FEATURES]
        rows.append([name, ", ".join(f"{features[m]} ({loadings[m, k]:.3g})" for m in order)])
    return rows


def _add_classes(parts: _Parts, model: Any, X: Any, lengths: Any) -> None:
    is_chain = hasattr(model, "transmat_")
    what = "state" if is_chain else "class"
    names = _names(model, what)
    shares = model.stationary_ if is_chain else model.weights_
    text = "The share of rows in each state in the long run." if is_chain else "The share of each class."
    parts.add(_noun(model).capitalize(), text, [(bars(names, np.asarray(shares).tolist(), x="share", y=what), "")])
    if is_chain:
        moves = matrix(model.transmat_, row_title="from", column_title="to", rows=names)
        parts.add("Transitions", "The probability of the next state (column) after each state (row).", [(moves, "")])
    for title, values in _parameters(model):
        features = _features(model, "feature_names_in_", values.shape[1])
        drawn = _largest_rows(values.T, features, "column", what)
        parts.add(title, f"One column for each {what}, one row for each column of the data.", [(drawn, "")])
    parts.add("Certainty", f"How well the data settle each {what}, from 0 to 1.", [], _certainty_rows(model, names))
    if X is not None:
        found = np.asarray(model.predict(X, lengths) if is_chain else model.predict(X))
        if is_chain:
            shown = MOST_STEPS if lengths is None else min(MOST_STEPS, int(lengths[0]))
            path = [(float(step), float(state)) for step, state in enumerate(found[:shown].tolist())]
            drawn = lines({"": path}, x="row", y="state", points=False, height=120, steps=True)
            where = "" if lengths is None else " of the first sequence"
            text = f"The most probable states of the first {len(path):,} rows{where}."
            parts.add("Decoded path", text, [(drawn, "")])
        counts = np.bincount(found, minlength=len(names))
        rows = [[what, "rows"], *([name, f"{count:,}"] for name, count in zip(names, counts))]
        parts.add("Rows", f"How many rows of the data belong to each {what}.", [], rows)


def _parameters(model: Any) -> list[tuple[str, Any]]:
    """Return what tells the classes apart: K x M for each view."""
    if isinstance(getattr(model, "components_", None), list):
        return [(f"View {number}", np.asarray(values)) for number, values in enumerate(model.components_)]
    for attribute, title in (("emissionprob_", "Emissions"), ("means_", "Means"), ("lambdas_", "Rates")):
        if hasattr(model, attribute):
            return [(title, np.asarray(getattr(model, attribute)))]
    return []
