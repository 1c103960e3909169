"""Figures and the page of results, from the rows that runs have left."""

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import altair as alt
from lab import Chart, Claim, Experiment, Row

LIBRARIES = ("polyad", "numpy", "scipy", "scikit-learn", "numba")


def draw(chart: Chart, rows: Sequence[Row], file: Path) -> None:
    """Draw means over repetitions, with a bar from the least to the largest; lines differ in dash and mark as well."""
    columns = {chart.x, chart.y, chart.line, chart.panels} - {""}
    values = [{name: row[name] for name in columns} for row in rows if chart.only(row)]
    places = sorted({row[chart.x] for row in values})
    axis = alt.Axis(values=places, format="~s" if chart.log_x and places[0] >= 1000 else "~g", labelOverlap=True)
    scale = alt.Scale(type="log", nice=False) if chart.log_x else alt.Scale(nice=False)
    x = alt.X(chart.x, type="quantitative", title=chart.x_title, scale=scale, axis=axis)
    scale = alt.Scale(type="log" if chart.log_y else "linear", zero=False)
    mean = alt.Y(f"mean({chart.y}):Q", title=chart.y_title, scale=scale)
    legend = alt.Legend(title=None)
    base = alt.Chart(alt.Data(values=values)).encode(x=x, color=alt.Color(chart.line, type="nominal", legend=None))
    lines = base.mark_line().encode(y=mean, strokeDash=alt.StrokeDash(chart.line, type="nominal", legend=None))
    # Color and shape of the marks share a legend; that of dashes would stand beside it once more.
    marks = base.mark_point(size=55, filled=True, opacity=1).encode(
        y=mean,
        color=alt.Color(chart.line, type="nominal", legend=legend),
        shape=alt.Shape(chart.line, type="nominal", legend=legend),
    )
    least = alt.Y(f"min({chart.y}):Q", title=chart.y_title, scale=scale)
    spread = base.mark_rule(opacity=0.5).encode(y=least, y2=f"max({chart.y}):Q")
    drawn = alt.layer(spread, lines, marks).properties(width=300, height=220)
    if chart.panels:
        panels = alt.Facet(chart.panels, type="nominal", title=None)
        drawn = drawn.facet(panels, columns=2).resolve_scale(x="independent", y="independent")
    drawn.save(str(file))


def verdict(claim: Claim, rows: Sequence[Row]) -> str:
    """Return what the results say of a claim."""
    whose = "Ours" if claim.is_ours else "The paper"
    return f"- {whose}: {claim.text} **{'Holds' if claim.holds(rows) else 'Does not hold here'}.**"


def table(chart: Chart, rows: Sequence[Row]) -> list[str]:
    """Return a table of the means, one line for each method, one column for each place on the axis."""
    parts, rows = [], [row for row in rows if chart.only(row)]
    for panel in sorted({row.get(chart.panels, "") for row in rows}, key=str):
        own = [row for row in rows if row.get(chart.panels, "") == panel]
        places = sorted({row[chart.x] for row in own})
        parts += [f"| {panel or chart.line} | " + " | ".join(f"{place:,}" for place in places) + " |"]
        parts += ["|---" * (len(places) + 1) + "|"]
        for name in sorted({row[chart.line] for row in own}, key=str):
            cells = []
            for place in places:
                found = [row[chart.y] for row in own if row[chart.line] == name and row[chart.x] == place]
                cells.append(f"{sum(found) / len(found):.3g}" if found else "–")
            parts += [f"| {name} | " + " | ".join(cells) + " |"]
        parts += [""]
    return parts


def write_page(experiments: Sequence[tuple[Experiment, list[Row]]], folder: Path, page: Path, command: str) -> None:
    """Write the page; experiments without rows are named as not run."""
    lines = [
        "# The papers, reproduced",
        "",
        f"Written by `{command}`. Every number comes from a run; the rows lie beside this page in "
        f"`{folder.name}/`, one file for each",
        f"experiment, with their settings (the draw is the seed). {_versions()}. Bars go from the least to the "
        f"largest repetition.",
        "",
    ]
    for experiment, rows in experiments:
        lines += [f"## {experiment.source}", "", f"{experiment.title}.", "", f"The paper: {experiment.found}", ""]
        lines += [f"In the paper's text, {what}: {values}.\n" for what, values in experiment.paper_values.items()]
        if not rows:
            lines += ["Not run yet.", ""]
            continue
        lines += [verdict(claim, rows) for claim in experiment.claims]
        lines += [""]
        for number, chart in enumerate(experiment.charts, 1):
            file = folder / f"{experiment.name}-{number}.svg"
            draw(chart, rows, file)
            lines += [f"![{chart.y_title} by {chart.x_title}]({folder.name}/{file.name})", ""]
        lines += table(experiment.charts[0], rows)
    page.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _versions() -> str:
    found = []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"Python {platform.python_version()}, " + ", ".join(found)
