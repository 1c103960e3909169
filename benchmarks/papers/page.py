"""Figures and the page of results, from the rows that runs have left."""

from collections.abc import Sequence
from pathlib import Path

import altair as alt
import lab
from lab import Chart, Claim, Experiment, Row

MOST_IN_ROW = 2
WIDTH, HEIGHT = 300, 220
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3], [10, 4], [4, 1, 1, 1], [3, 6], [12, 2], [5, 5])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
PANELS = {  # what columns call briefly
    "GP": "cumulants of discrete ICA",
    "LDA": "moments of LDA",
    "gp": "gamma-Poisson documents",
    "fix": "200 tokens each",
    "fix2": "half of 20, half of 200 tokens",
    "sweep": "20 or 200 tokens, N = 20,000",
    "super": "super-Gaussian sources",
    "sub": "sub-Gaussian sources",
    "skewed": "skewed sources",
    "ap": "AP",
    "nips": "NIPS",
}


def draw(chart: Chart, rows: Sequence[Row], file: Path) -> None:
    """Draw a chart; panels have axes of their own."""
    everything, rows = rows, [row for row in rows if chart.only(row)]
    panels = sorted({row[chart.panels] for row in rows}) if chart.panels else [""]
    names = sorted({_line_name(chart, row) for row in rows})
    parts = []
    for panel in panels:
        own = [row for row in rows if not chart.panels or row[chart.panels] == panel]
        paper = [row for row in chart.paper if not chart.panels or row[chart.panels] == panel]
        part = (
            _heat_map(chart, own, map_rows(chart, own, everything)) if chart.areas else _lines(chart, own, paper, names)
        )
        parts.append(part.properties(width=WIDTH, height=HEIGHT, title=_panel_title(panel)))
    drawn = parts[0] if len(parts) == 1 else alt.concat(*parts, columns=MOST_IN_ROW)
    drawn.save(str(file), **({"scale_factor": 1.5} if file.suffix == ".png" else {}))


def _panel_title(panel: object) -> str:
    kind, *rest = str(panel).split(", ")
    return ", ".join([PANELS.get(kind, kind), *rest])


def _line_name(chart: Chart, row: Row) -> str:
    """Return what the key calls a line: a number with what it is a number of."""
    value = row[chart.line]
    return value if isinstance(value, str) else f"{chart.line} = {value:g}"


def _lines(chart: Chart, rows: Sequence[Row], paper: Sequence[Row], names: list[str]) -> alt.LayerChart:
    """Draw means over repetitions with bars from the least to the largest; lines differ in dash and mark as well."""
    columns = (chart.x, chart.y, chart.line)
    values = [{name: row[name] for name in columns} | {chart.line: _line_name(chart, row)} for row in rows]
    places = sorted({row[chart.x] for row in (*rows, *paper)})
    whole = all(float(place).is_integer() for place in places)
    number = "~s" if whole and places[-1] >= 1000 else "d" if whole else "~g"
    axis = alt.Axis(values=places, format=number, labelOverlap=True, labelFlush=False, grid=False)
    scale = alt.Scale(type="log", nice=False, padding=12) if chart.log_x else alt.Scale(nice=False, padding=12)
    x = alt.X(chart.x, type="quantitative", title=chart.x_title, scale=scale, axis=axis)
    y_scale = alt.Scale(type="log" if chart.log_y else "linear", zero=False)
    y_axis = alt.Axis(format="~r", labelOverlap=True)
    # The same names in all panels, given to all scales, are what makes one key of them.
    width = WIDTH * (2 if chart.panels else 1)
    n_columns = max(1, min(4 if chart.panels else 2, width // (8 * max(map(len, names)) + 30)))  # names are seen whole
    legend = alt.Legend(title=None, orient="bottom", columns=n_columns, labelLimit=width, symbolSize=90)
    key = {"type": "nominal", "sort": names, "legend": legend}
    color = alt.Color(chart.line, scale=alt.Scale(domain=names), **key)
    base = alt.Chart(alt.Data(values=values)).encode(x=x, color=color)
    mean = alt.Y(f"mean({chart.y}):Q", title=chart.y_title, scale=y_scale, axis=y_axis)
    dash = alt.Scale(domain=names, range=[DASHES[number % len(DASHES)] for number in range(len(names))])
    lines = base.mark_line().encode(y=mean, strokeDash=alt.StrokeDash(chart.line, **key | {"legend": None}, scale=dash))
    # Open marks: where lines lie on each other, all of them are seen.
    shape = alt.Scale(domain=names, range=[SHAPES[number % len(SHAPES)] for number in range(len(names))])
    marks = base.mark_point(size=65, strokeWidth=1.6, opacity=1).encode(
        y=mean, shape=alt.Shape(chart.line, **key, scale=shape)
    )
    least = alt.Y(f"min({chart.y}):Q", title=chart.y_title, scale=y_scale, axis=y_axis)
    spread = base.mark_rule(opacity=0.5).encode(y=least, y2=f"max({chart.y}):Q")
    layers: list[alt.Chart] = [spread, lines, marks]
    if paper:
        given = [{name: row[name] for name in columns} | {"label": label} for row, label in _labelled(chart, paper)]
        at = alt.Chart(alt.Data(values=given)).encode(x=x, y=alt.Y(chart.y, type="quantitative", scale=y_scale))
        layers += [
            at.mark_point(shape="cross", size=70, filled=True, color="black"),
            at.mark_text(align="right", dx=-8, fontSize=9).encode(text="label:N"),
        ]
    return alt.layer(*layers)


def _labelled(chart: Chart, paper: Sequence[Row]) -> list[tuple[Row, str]]:
    """Return values of the paper with their labels; those that would lie on each other share one."""
    found: list[tuple[Row, str]] = []
    for row in sorted(paper, key=lambda row: row[chart.y]):
        if found and row[chart.x] == found[-1][0][chart.x] and row[chart.y] < 1.4 * found[-1][0][chart.y]:
            last, label = found.pop()
            found += [(last, ""), (row, f"{label}, {row[chart.line]}")]
        else:
            found.append((row, f"paper: {row[chart.line]}"))
    return found


def map_rows(chart: Chart, own: Sequence[Row], rows: Sequence[Row]) -> list[int]:
    """Return what a map has a row for: also topics that are named and that no document has a share of."""
    shown = [own[0].get(name) for name in ("text", "model")]
    return sorted({row[chart.line] for row in rows if [row.get(name) for name in ("text", "model")] == shown})


def _heat_map(chart: Chart, rows: Sequence[Row], topics: list[int]) -> alt.Chart:
    """Draw shares as shades of grey: the darker, the more."""
    values = [{name: row[name] for name in (chart.x, chart.y, chart.line)} for row in rows]
    step = 10 if max(row[chart.x] for row in rows) > 20 else 1
    places = [place for place in range(0, max(row[chart.x] for row in rows) + 1, step) if place]
    return (
        alt.Chart(alt.Data(values=values))
        .mark_rect()
        .encode(
            x=alt.X(chart.x, type="ordinal", title=chart.x_title, axis=alt.Axis(values=places, labelAngle=0)),
            y=alt.Y(chart.line, type="ordinal", title=chart.y_title, scale=alt.Scale(domain=topics)),
            color=alt.Color(
                chart.y, type="quantitative", title=chart.y, scale=alt.Scale(scheme="greys", domain=[0, 1])
            ),
        )
    )


def verdict(claim: Claim, rows: Sequence[Row]) -> str:
    """Return what the results say of a claim."""
    whose = "Ours" if claim.is_ours else "The paper"
    try:
        found = "Holds" if claim.holds(rows) else "Does not hold here"
    except LookupError:  # of a run that has not come so far
        found = "Not measured yet"
    return f"- {whose}: {claim.text} **{found}.**"


def table(chart: Chart, rows: Sequence[Row]) -> list[str]:
    """Return a table of the means, one line for each method, one column for each place on the axis."""
    parts, rows = [], [row for row in rows if chart.only(row)]
    for panel in sorted({row.get(chart.panels, "") for row in rows}, key=str):
        own = [row for row in rows if row.get(chart.panels, "") == panel]
        places = sorted({row[chart.x] for row in own})
        parts += [
            f"| {_panel_title(panel) or chart.line} | "
            + " | ".join(f"{place:,}" if place >= 1000 else f"{place:g}" for place in places)
            + " |"
        ]
        parts += ["|---" * (len(places) + 1) + "|"]
        for name in sorted({row[chart.line] for row in own}, key=str):
            cells = []
            for place in places:
                found = [row[chart.y] for row in own if row[chart.line] == name and row[chart.x] == place]
                average = sum(found) / len(found) if found else 0.0
                cells.append(f"{average:.{5 if abs(average) >= 10 else 3}g}" if found else "–")
            parts += [f"| {name} | " + " | ".join(cells) + " |"]
        parts += [""]
    return parts


def write_page(experiments: Sequence[Experiment], folder: Path, page: Path, command: str) -> None:
    """Write the page; experiments without rows are named as not run."""
    used = sorted(set().union(*(lab.versions_used(experiment, folder) for experiment in experiments)))
    lines = [
        "# The papers, reproduced",
        "",
        f"Written by `{command}`. Every number comes from a run; the rows lie beside this page in `{folder.name}/`, "
        f"one",
        "file for each experiment, each line with its setting (the number of the draw is the seed), its seconds and "
        "the",
        f"versions it ran with: {'; '.join(used) or 'none yet'}.",
        "Lines are means over repetitions, bars go from the least to the largest; crosses are numbers that a paper's "
        "text",
        "gives. Whether a claim holds is decided by the run, from the same rows.",
        "",
        *_summary(experiments, folder),
    ]
    for experiment in experiments:
        lines += _section(experiment, folder)
    page.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _summary(experiments: Sequence[Experiment], folder: Path) -> list[str]:
    lines = ["| experiment | claims of the paper that hold | ours that hold | measured |", "|---|---|---|---|"]
    for experiment in experiments:
        rows = lab.stored(experiment, folder)
        verdicts = [(claim.is_ours, verdict(claim, rows)) for claim in experiment.claims] if rows else []
        cells = []
        for ours in (False, True):
            own = [text for is_ours, text in verdicts if is_ours == ours]
            cells.append(f"{sum(text.endswith('**Holds.**') for text in own)} of {len(own)}" if own else "–")
        done, all_of_them = lab.n_measured(experiment, folder)
        cells.append("all" if done == all_of_them else f"{done} of {all_of_them} settings")
        lines.append(f"| {experiment.source} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _section(experiment: Experiment, folder: Path) -> list[str]:
    rows = lab.stored(experiment, folder)
    lines = [f"## {experiment.source}", "", f"{experiment.title}.", "", f"The paper: {experiment.found}", ""]
    lines += [f"In the paper's text, {what}: {values}.\n" for what, values in experiment.paper_values.items()]
    lines += [f"Where we differ: {experiment.differs}", ""] if experiment.differs else []
    if not rows:
        return [*lines, "Not run yet.", ""]
    done, all_of_them = lab.n_measured(experiment, folder)
    if done < all_of_them:
        lines += [f"{done} of {all_of_them} settings have been measured so far; the run goes on where it ended.", ""]
    lines += [*(verdict(claim, rows) for claim in experiment.claims), ""]
    for number, chart in enumerate(experiment.charts, 1):
        if not any(chart.only(row) for row in rows):
            continue
        # A map has thousands of cells: as a picture it is the smaller file.
        file = folder / f"{experiment.name}-{number}.{'png' if chart.areas else 'svg'}"
        draw(chart, rows, file)
        lines += [f"![{chart.y_title} by {chart.x_title}]({folder.name}/{file.name})", ""]
        if number == 1 and not chart.areas:
            lines += table(chart, rows)
    for words in experiment.tables:
        lines += words(rows)
    return lines
