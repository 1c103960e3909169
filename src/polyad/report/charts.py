"""Charts of models for papers and notebooks: Altair objects, and :func:`save` as PNG, SVG or PDF.

Every function returns an Altair chart, which a notebook shows by itself and which can be changed further. They need
``polyad[report]``.

Examples
--------
>>> from polyad import LDA
>>> from polyad.datasets import make_lda
>>> sample = make_lda(300, 60, 3, length=60)
>>> model = LDA(3).fit(sample.counts)
>>> type(topic_words(model)).__name__, type(topic_map(model)).__name__
('FacetChart', 'LayerChart')
"""

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polyad.base.atomic import atomic_write
from polyad.metrics.names import topic_names
from polyad.metrics.words import top_words, word_scores
from polyad.report import drawing, geometry
from polyad.report.excerpts import visible
from polyad.report.extra import import_altair, import_vl_convert
from polyad.report.fit_facts import JUDGED, leading_spectrum, likelihood_passes
from polyad.report.passes import gather
from polyad.report.periods import periods_of
from polyad.report.signals import spectrogram, waveform
from polyad.report.subject import Subject, subject_of

__all__ = [
    "convergence",
    "loadings",
    "recovery",
    "save",
    "selection",
    "signals",
    "source_densities",
    "spectrogram",
    "spectrum",
    "to_svg",
    "topic_map",
    "topic_shares",
    "topic_tree",
    "topic_words",
]

FORMATS = (".png", ".svg", ".pdf", ".json", ".html")


def save(chart: Any, path: str | os.PathLike[str], *, scale: float = 2.0) -> None:
    """Save a chart; the format follows the ending: .png, .svg, .pdf, .json (Vega-Lite) or .html.

    Parameters
    ----------
    chart
        An Altair chart.
    path
        The file; it appears only when it is complete.
    scale
        Of a PNG: pixels for each unit of the chart.
    """
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise ValueError(f"{os.fspath(path)!r} does not tell the format of a picture; end it in {', '.join(FORMATS)}.")
    import_vl_convert()
    text = ending in (".svg", ".json", ".html")
    made: Any = io.StringIO() if text else io.BytesIO()
    inlined = {"inline": True} if ending == ".html" else {}
    chart.save(made, format=ending[1:], scale_factor=scale if ending == ".png" else 1, **inlined)
    with atomic_write(path) as out:
        out.write(made.getvalue().encode("utf-8") if text else made.getvalue())


def to_svg(chart: Any) -> str:
    """Return a chart as SVG, a picture in text."""
    import_vl_convert()
    made = io.StringIO()
    chart.save(made, format="svg")
    return made.getvalue()


def topic_words(model: Any, n: int = 10, *, topics: Sequence[int] | None = None, columns: int = 3) -> Any:
    """Draw the most relevant words of topics with their probabilities, a panel for each topic.

    Parameters
    ----------
    model
        A fitted model of topics; of aligned texts the first is drawn.
    n
        Words of each topic.
    topics
        Which ones; None draws all.
    columns
        Panels side by side.
    """
    alt = import_altair()
    subject = subject_of(model, None)
    view, names = subject.views[0], _names(subject)
    chosen = range(subject.n_topics) if topics is None else topics
    ranked = top_words(word_scores(view.components, view.word_probabilities), n)
    rows = [
        {
            "topic": f"{k} {names[k]}",
            "word": visible(str(view.words[m]), 40),
            "rank": rank,
            "probability": float(view.components[k, m]),
        }
        for k in chosen
        for rank, m in enumerate(ranked[k])
    ]
    return (
        alt.Chart(alt.Data(values=rows), width=150, height=14 * n)
        .mark_bar(color=drawing.ACCENT)
        .encode(
            x=alt.X("probability:Q", title=None, axis=alt.Axis(format="~%", tickCount=3)),
            y=alt.Y("word:N", sort=alt.EncodingSortField("rank", op="min"), title=None),
        )
        .facet(
            facet=alt.Facet("topic:N", title=None, sort=[f"{k} {names[k]}" for k in chosen]), columns=columns
        )
        .resolve_scale(y="independent", x="independent")
    )  # fmt: skip


def topic_map(model: Any) -> Any:
    """Draw the map of topics: close ones share words, areas are shares of tokens, none overlap."""
    subject = subject_of(model, None)
    shares = np.asarray(model.topic_shares_)
    shared = geometry.shared_mass([view.components for view in subject.views])
    view = subject.views[0]
    ranked = top_words(word_scores(view.components, view.word_probabilities), 6)
    words = [", ".join(visible(str(view.words[m]), 24) for m in row) for row in ranked]
    return drawing.circles(geometry.map_of_topics(shared, shares), _names(subject), shares.tolist(), words)


def topic_tree(model: Any) -> Any:
    """Draw a tree of topics: those that share most words join first."""
    subject = subject_of(model, None)
    shared = geometry.shared_mass([view.components for view in subject.views])
    return drawing.tree_lines(geometry.tree_of_topics(shared), _names(subject))


def topic_shares(model: Any, X: Any, dates: Any = None) -> Any:
    """Draw the shares of topics over documents, or over time, as areas on top of each other.

    Parameters
    ----------
    model, X
        A fitted model of topics and documents.
    dates
        A date (ISO, a year, or any number that tells an order) for each document; None takes their order.
    """
    subject = subject_of(model, X)
    n_rows = 0 if subject.source is None else subject.source.n_rows
    labels = periods_of(range(n_rows) if dates is None else dates)
    tokens = gather(subject, 1, [labels]).tokens_of[0]
    filled = np.flatnonzero(tokens.sum(axis=1) > 0)
    shares = tokens[filled] / tokens[filled].sum(axis=1, keepdims=True)
    xs = [float(labels.names[at]) if labels.kind == "number" else labels.names[at] for at in filled]
    return drawing.areas(xs, shares, _names(subject), kind=labels.kind, title="document" if dates is None else "")


def spectrum(model: Any) -> Any:
    """Draw the spectrum of the second moments of a model or a selection, the largest eigenvalue first."""
    found = np.asarray(getattr(model, "diagnostics_", model).spectrum)
    most = model.n_components if hasattr(model, "n_components") else found.size
    return drawing.lines({"": leading_spectrum(found, int(most))}, x="number", y="eigenvalue", log=True)


def convergence(model: Any) -> Any:
    """Draw the mean log-likelihood in each pass of a fit, as far as passes can be compared."""
    passes = likelihood_passes(model.diagnostics_)
    if not passes:
        raise ValueError("The fit had no passes of likelihood, so that there is nothing to draw.")
    return drawing.lines({"": passes}, x="pass", y="log-likelihood")


def selection(found: Any) -> Any:
    """Draw what `select_n_components` found: each thing that was judged, against the number of components."""
    alt = import_altair()
    charts = []
    for key, title, _ in JUDGED:
        if key in found.table[0]:
            pairs = [(row["n_components"], row[key]) for row in found.table]
            charts.append(drawing.lines({"": pairs}, x="number", y=title, mark=float(found.recommended), height=120))
    return alt.vconcat(*charts)


def recovery(curves: Mapping[str, Sequence[tuple[float, float]]], *, x: str = "documents", y: str = "error") -> Any:
    """Draw errors of recovery against the size of the data, a line for each method.

    Parameters
    ----------
    curves
        Points (size, error) by the name of the method.
    x, y
        Titles of the axes.
    """
    return drawing.lines(curves, x=x, y=y, height=260, log=True)


def loadings(values: Any, *, rows: Sequence[str] | None = None) -> Any:
    """Draw a matrix of loadings or mixing, features x components: blue above zero, red below.

    Parameters
    ----------
    values
        M x K, for example ``ICA.mixing_`` or ``NonGaussianCCA.x_loadings_``.
    rows
        Names of the features.
    """
    return drawing.matrix(values, row_title="feature", column_title="component", rows=rows)


def source_densities(shapes: Any, names: Sequence[str] | None = None, *, columns: int = 3) -> Any:
    """Draw the densities of sources beside the gamma densities of the same mean and variance, a panel for each source.

    Where the two lines part, intensities are not gamma, and the title of the panel says whether the data can tell.

    Parameters
    ----------
    shapes
        What :func:`polyad.models.source_shapes` found.
    names
        Of the sources; None numbers them.
    columns
        Panels side by side.
    """
    alt = import_altair()
    if names is not None and len(names) != len(shapes.shapes):
        raise ValueError(f"There are {len(names)} names for {len(shapes.shapes)} sources.")
    titles = [f"source {k}" for k in range(len(shapes.shapes))] if names is None else [visible(n, 60) for n in names]
    colours = alt.Scale(domain=["of the moments", "gamma"], range=[drawing.ACCENT, drawing.CHOSEN])
    dashes = alt.Scale(domain=["of the moments", "gamma"], range=[[1, 0], [5, 4]])
    panels = []
    for k, title in enumerate(titles):
        grid, lines = shapes.grid[k], {"of the moments": shapes.density[k], "gamma": shapes.gamma_density[k]}
        # A density that is infinite at zero would leave nothing to be seen of the rest.
        top = 1.3 * max(float(values[grid.size // 20 :].max()) for values in lines.values())
        rows = [
            {"intensity": float(f"{a:.5g}"), "density": float(f"{min(b, 9 * top):.5g}"), "series": name}
            for name, values in lines.items()
            for a, b in zip(grid, values)
        ]
        told = "gamma is possible" if shapes.gamma[k] else "not gamma"
        panels.append(
            alt.Chart(alt.Data(values=rows), title=f"{title}: {told}", width=200, height=130)
            .mark_line(strokeWidth=1.8, clip=True)
            .encode(
                x=alt.X("intensity:Q", title="tokens", scale=alt.Scale(nice=False), axis=alt.Axis(grid=False)),
                y=alt.Y("density:Q", title=None, scale=alt.Scale(domain=[0, top]), axis=alt.Axis(tickCount=3)),
                color=alt.Color("series:N", scale=colours, legend=alt.Legend(title=None, orient="top")),
                strokeDash=alt.StrokeDash("series:N", scale=dashes, legend=None),
            )
        )
    return alt.concat(*panels, columns=columns)


def signals(values: Any, names: Sequence[str] | None = None, *, rate: float | None = None) -> Any:
    """Draw signals below each other, samples x signals: the lowest and highest value of every piece of time.

    Parameters
    ----------
    values
        One column for each signal.
    names
        Of the signals.
    rate
        Samples in a second; None counts samples.
    """
    alt = import_altair()
    table = np.asarray(values, dtype=np.float64)
    titles = [f"source {k}" for k in range(table.shape[1])] if names is None else list(names)
    return alt.vconcat(*(waveform(table[:, k], rate=rate, height=70, title=titles[k]) for k in range(table.shape[1])))


def _names(subject: Subject) -> list[str]:
    view = subject.views[0]
    return [
        visible(name, 60) for name in topic_names(subject.model, view.components, view.word_probabilities, view.words)
    ]
