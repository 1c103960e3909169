"""Charts from plain values, as Altair objects: what the page and `polyad.report.charts` both draw."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polyad.report.extra import import_altair
from polyad.report.geometry import Map, Tree

ACCENT = "#1f6feb"
CHOSEN = "#d9480f"
QUIET = "#8b949e"
# Told apart in light and dark, neighbours far from each other in hue; what is left over is grey.
COLOURS = (
    "#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#ff9da6", "#79706e",
    "#88d27a", "#439894", "#d6a5c9", "#b5a02a", "#83bcb6", "#ffbf79", "#9ecae9", "#d67195", "#5a9bd4", "#c08457",
)  # fmt: skip
REST = "#c4c9cf"
CHART_WIDTH = 560
MOST_TICKS = 12  # where each number has a tick of its own


def circles(places: Map, names: Sequence[str], shares: Sequence[float], words: Sequence[str]) -> Any:
    """Draw the map of topics; the parameters ``chosen`` (a topic) and ``lit`` (weights of topics) can be set."""
    alt = import_altair()
    values = [
        {
            "topic": k,
            "x": round(float(places.x[k]), 4),
            "y": round(float(places.y[k]), 4),
            "r": round(float(places.radius[k]), 5),
            "name": names[k],
            "share": f"{shares[k]:.1%}",
            "words": words[k],
        }
        for k in range(len(names))
    ]
    chosen, lit = alt.param("chosen", value=-1), alt.param("lit", value=[])
    base = (
        alt.Chart(alt.Data(values=values))
        .transform_calculate(size="pow(2 * datum.r * width, 2)", label="datum.r * width > 7 ? datum.topic : ''")
        .encode(
            x=alt.X("x:Q", scale=alt.Scale(domain=[0, 1]), axis=None),
            y=alt.Y("y:Q", scale=alt.Scale(domain=[0, 1]), axis=None),
            tooltip=[alt.Tooltip(f"{field}:N", title=field) for field in ("topic", "name", "share", "words")],
        )
    )
    discs = base.mark_circle(stroke="white", strokeWidth=1, cursor="pointer").encode(
        size=alt.Size("size:Q", scale=None),
        color=alt.condition("datum.topic == chosen", alt.value(CHOSEN), alt.value(ACCENT)),
        opacity=alt.condition("length(lit) == 0 || lit[datum.topic] > 0.02", alt.value(0.92), alt.value(0.25)),
    )
    numbers = base.mark_text(color="white", fontSize=11, fontWeight="bold", cursor="pointer").encode(
        text=alt.Text("label:N")
    )
    return (
        alt.layer(discs, numbers)
        .add_params(chosen, lit)
        .properties(width=420, height=420, description=f"Map of {len(names)} topics: close ones share words.")
    )


def areas(
    xs: Sequence[Any], shares: Any, names: Sequence[str], *, kind: str = "number", title: str = "", shown: int = 20
) -> Any:
    """Draw shares of topics over time or order as areas on top of each other, the largest topics in colour.

    Parameters
    ----------
    xs
        The periods: numbers or ISO dates.
    shares
        Periods x topics, rows sum to 1.
    names
        Of the topics.
    kind
        "number" or "date".
    title
        Of the axis.
    shown
        Topics with a colour of their own.
    """
    alt = import_altair()
    table = np.asarray(shares, dtype=np.float64)
    coloured = coloured_topics(table, shown)
    rows = [
        {"x": x, "topic": k, "name": names[k], "share": round(float(row[k]), 5), "place": place}
        for x, row in zip(xs, table)
        for place, k in enumerate(coloured)
    ]
    if len(coloured) < table.shape[1]:
        rest = 1 - table[:, coloured].sum(axis=1) / np.maximum(table.sum(axis=1), 1e-300)
        rows += [
            {"x": x, "topic": -1, "name": "all others", "share": round(float(max(left, 0)), 5), "place": len(coloured)}
            for x, left in zip(xs, rest)
        ]
    scale = alt.Scale(domain=[*coloured, -1], range=[*COLOURS[: len(coloured)], REST])
    axis = alt.Axis(title=title, labelAngle=0, labelOverlap=True, grid=False, labelFlush=True)
    x = (
        alt.X("x:Q", axis=axis, scale=alt.Scale(zero=False, nice=False))
        if kind == "number"
        else alt.X("x:T", axis=axis)
    )
    if kind == "number":
        axis.format = "d" if all(float(value).is_integer() for value in xs) else ".6~g"
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_area(cursor="pointer", line=False)
        .encode(
            x=x,
            y=alt.Y("share:Q", stack="zero", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(title="share", format="%")),
            color=alt.Color("topic:N", scale=scale, legend=None),
            order=alt.Order("place:Q"),
            opacity=alt.condition(
                f"indexof({coloured}, chosen) < 0 || chosen == datum.topic", alt.value(1), alt.value(0.6)
            ),
            tooltip=[alt.Tooltip("topic:N"), alt.Tooltip("name:N"), alt.Tooltip("share:Q", format=".1%")],
        )
        .add_params(alt.param("chosen", value=-1))
        .properties(width=CHART_WIDTH, height=280, description="Shares of topics over time, one area for each topic.")
    )


def coloured_topics(shares: Any, shown: int = 20) -> list[int]:
    """Return the topics that get a colour of their own: the largest, in the order of their numbers."""
    sizes = np.asarray(shares).sum(axis=0)
    return sorted(int(k) for k in np.argsort(-sizes, kind="stable")[: min(shown, len(COLOURS))])


def heat(rows: Sequence[str], columns: Sequence[str], values: Any, *, row_title: str, column_title: str) -> Any:
    """Draw a table of shares as coloured cells."""
    alt = import_altair()
    table = np.asarray(values, dtype=np.float64)
    cells = [
        {"r": r, "c": c, "row": rows[r], "column": columns[c], "share": round(float(table[r, c]), 5)}
        for r in range(len(rows))
        for c in range(len(columns))
    ]
    labels = {"rowLabels": [_short(name) for name in rows], "columnLabels": [_short(name, 18) for name in columns]}
    params = [alt.param(name, value=value) for name, value in labels.items()]
    return (
        alt.Chart(alt.Data(values=cells))
        .mark_rect(stroke=None)
        .encode(
            x=alt.X(
                "c:O",
                axis=alt.Axis(
                    title=column_title,
                    labelExpr="columnLabels[datum.value]",
                    labelLimit=110,
                    labelAngle=0 if len(columns) <= 4 else -40,
                ),
            ),
            y=alt.Y("r:O", axis=alt.Axis(title=row_title, labelExpr="rowLabels[datum.value]", labelLimit=150)),
            color=alt.Color("share:Q", scale=alt.Scale(scheme="blues"), legend=alt.Legend(format="%", orient="top")),
            tooltip=[
                alt.Tooltip("row:N", title=row_title),
                alt.Tooltip("column:N", title=column_title),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
        .add_params(*params)
        .properties(width=CHART_WIDTH, height=max(80, 17 * len(rows)), description=f"{row_title} by {column_title}.")
    )


def matrix(values: Any, *, row_title: str, column_title: str, rows: Sequence[str] | None = None) -> Any:
    """Draw a matrix of numbers: blue above zero, red below."""
    alt = import_altair()
    table = np.asarray(values, dtype=np.float64)
    top = max(float(np.abs(table).max(initial=0)), 1e-300)
    signed = bool((table < 0).any())
    scale = alt.Scale(scheme="redblue" if signed else "blues", domain=[-top if signed else 0, top])
    names = [str(r) for r in range(table.shape[0])] if rows is None else list(rows)
    cells = [
        {"r": r, "c": c, "row": names[r], "value": float(f"{table[r, c]:.4g}")}
        for r in range(table.shape[0])
        for c in range(table.shape[1])
    ]
    y_axis = alt.Axis(title=row_title, labelExpr="rowLabels[datum.value]", labelLimit=120, labelOverlap=True)
    return (
        alt.Chart(alt.Data(values=cells))
        .mark_rect()
        .encode(
            x=alt.X("c:O", axis=alt.Axis(title=column_title, labelAngle=0, labelOverlap=True)),
            y=alt.Y("r:O", axis=y_axis),
            color=alt.Color("value:Q", scale=scale, legend=alt.Legend(orient="top")),
            tooltip=[
                alt.Tooltip("row:N", title=row_title),
                alt.Tooltip("c:N", title=column_title),
                alt.Tooltip("value:Q", format=".4g"),
            ],
        )
        .add_params(alt.param("rowLabels", value=[_short(name) for name in names]))
        .properties(
            width=CHART_WIDTH,
            height=int(np.clip(14 * table.shape[0], 80, 480)),
            description=f"{row_title} by {column_title}: one cell for each number.",
        )
    )


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x: str,
    y: str,
    log: bool = False,
    points: bool = True,
    height: int = 200,
    mark: float | None = None,
    level: float | None = None,
    steps: bool = False,
) -> Any:
    """Draw named series of points joined by lines or steps, and lines across at an x (``mark``) or a y (``level``)."""
    alt = import_altair()
    rows = [
        {"x": float(f"{a:.6g}"), "y": float(f"{b:.6g}"), "series": name}
        for name, pairs in series.items()
        for a, b in pairs
        if np.isfinite(b) and (b > 0 or not log)
    ]
    scale = alt.Scale(type="log") if log else alt.Scale(zero=False)
    several = len(series) > 1
    across: dict[str, Any] = {"grid": False, "format": ".6~g", "labelOverlap": True}
    places = sorted({float(a) for pairs in series.values() for a, _ in pairs})
    if all(place.is_integer() for place in places):
        across |= {"values": places, "format": "d"} if len(places) <= MOST_TICKS else {"format": "d"}
    up: dict[str, Any] = {"format": ".0e", "tickCount": 5, "grid": False} if log else {"format": ".6~g", "tickCount": 5}
    if steps:
        up = {"format": "d", "values": sorted({int(b) for pairs in series.values() for _, b in pairs})}
    chart: Any = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=points, strokeWidth=1.5, color=ACCENT, interpolate="step-after" if steps else "linear")
        .encode(
            x=alt.X("x:Q", title=x, scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(**across)),
            y=alt.Y("y:Q", title=y, scale=scale, axis=alt.Axis(**up)),
            tooltip=[alt.Tooltip("x:Q", title=x), alt.Tooltip("y:Q", title=y, format=".4g")],
        )
    )
    if several:
        names = list(series)
        chart = chart.encode(
            color=alt.Color(
                "series:N", scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)])),
                legend=alt.Legend(title=None, orient="top", labelLimit=200),
            )
        )  # fmt: skip
    for channel, at in (("x", mark), ("y", level)):
        if at is not None:
            dashed = alt.Chart(alt.Data(values=[{channel: at}])).mark_rule(color=CHOSEN, strokeDash=[4, 3])
            chart = alt.layer(chart, dashed.encode(**{channel: f"{channel}:Q"}))
    return chart.properties(width=CHART_WIDTH, height=height, description=f"{y} against {x}.")


def bars(names: Sequence[str], values: Sequence[float], *, x: str, y: str) -> Any:
    """Draw one bar for each name."""
    alt = import_altair()
    rows = [
        {"n": n, "name": name, "value": float(f"{value:.6g}")} for n, (name, value) in enumerate(zip(names, values))
    ]
    axis = alt.Axis(title=y, labelExpr="rowLabels[datum.value]", labelLimit=180, labelOverlap=False)
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(color=ACCENT)
        .encode(
            x=alt.X("value:Q", title=x, axis=alt.Axis(format=".6~g", grid=False, tickCount=5)),
            y=alt.Y("n:O", axis=axis),
            tooltip=[alt.Tooltip("name:N", title=y), alt.Tooltip("value:Q", title=x, format=".4g")],
        )
        .add_params(alt.param("rowLabels", value=[_short(name) for name in names]))
        .properties(width=CHART_WIDTH, height=max(60, 18 * len(rows)), description=f"{x} of each {y}.")
    )


def tree_lines(tree: Tree, names: Sequence[str]) -> Any:
    """Draw a tree of topics from the root at the left to the topics at the right."""
    alt = import_altair()
    segments = []
    # Joins are drawn from a little below the first of them: nothing happens before.
    floor = max(min((branch[-1] for branch in tree.branches), default=0.0) - 0.05, 0.0)
    for left, right, low, other, join in tree.branches:
        segments += [
            {"y": left, "y2": left, "x": low, "x2": join},
            {"y": right, "y2": right, "x": other, "x2": join},
            {"y": left, "y2": right, "x": join, "x2": join},
        ]
    rows = [
        {key: round(float(max(value, floor) if key in ("x", "x2") else value), 4) for key, value in segment.items()}
        for segment in segments
    ]
    n_leaves = len(tree.leaves)
    labels = [f"{k} {_short(names[k])}" for k in tree.leaves]
    axis = alt.Axis(
        orient="right", values=list(range(n_leaves)), labelExpr="leaves[round(datum.value)]", labelLimit=190,
        labelOverlap=False, title=None, domain=False, ticks=False, grid=False,
    )  # fmt: skip
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_rule(strokeWidth=1.3, color=QUIET)
        .encode(
            x=alt.X(
                "x:Q", scale=alt.Scale(reverse=True, zero=False, nice=False),
                axis=alt.Axis(title="mass not shared", format="%", grid=False, tickCount=4),
            ),
            x2=alt.X2("x2:Q"),
            y=alt.Y("y:Q", scale=alt.Scale(domain=[-0.6, n_leaves - 0.4], reverse=True), axis=axis),
            y2=alt.Y2("y2:Q"),
        )
        .add_params(alt.param("leaves", value=labels))
        .properties(
            width=CHART_WIDTH,
            height=max(60, 16 * n_leaves),
            description="Tree of topics: those that share most words join first.",
        )
    )  # fmt: skip


def _short(name: str, most: int = 60) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
