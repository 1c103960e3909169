"""What all experiments share: settings that are run once and kept, claims that can fail, and tables of results.

An experiment is a list of settings, a function that measures one of them, and the claims that its results must bear
out. Results are kept line by line as they come, so that a run which was stopped goes on where it ended.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
Setting = Mapping[str, Any]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, or of ours, that results bear out or not.

    Attributes
    ----------
    text
        The sentence.
    holds
        Told the rows of the results, whether it holds.
    is_ours
        Whether it is a claim of ours, which the paper does not make.
    full_size_only
        Whether small samples cannot tell, such as which of two methods takes longer.
    """

    text: str
    holds: Callable[[Sequence[Row]], bool]
    is_ours: bool = False
    full_size_only: bool = False


@dataclass(frozen=True)
class Chart:
    """How the rows of an experiment are drawn: means over repetitions, with bars from the least to the largest.

    Attributes
    ----------
    x, y, line
        Columns of the axes, and the column that tells lines apart.
    panels
        Column that tells panels apart; empty for one panel.
    x_title, y_title
        What stands at the axes.
    log_x, log_y
        Whether they are logarithmic.
    only
        Which rows are drawn; all without.
    """

    x: str
    y: str
    line: str
    panels: str = ""
    x_title: str = ""
    y_title: str = ""
    log_x: bool = False
    log_y: bool = False
    only: Callable[[Row], bool] = lambda _: True


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper.

    Attributes
    ----------
    name
        Of its files.
    source
        Paper and figure.
    title
        What is measured.
    found
        What the paper found, in a sentence.
    settings
        Told whether the quick form is wanted, the settings to be measured.
    measure
        From a setting to rows, each with the columns of the chart.
    claims
        What must hold of the rows.
    charts
        How they are drawn.
    paper_values
        Numbers that the paper's text gives, by what they are.
    """

    name: str
    source: str
    title: str
    found: str
    settings: Callable[[bool], Iterable[Setting]]
    measure: Callable[..., list[Row]]
    claims: tuple[Claim, ...]
    charts: tuple[Chart, ...] = ()
    paper_values: Mapping[str, str] = field(default_factory=dict)


def run(
    experiment: Experiment, folder: Path, *, quick: bool, tell: Callable[[str], object] = lambda _: None
) -> list[Row]:
    """Measure every setting that is not in the folder yet, and return all rows."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{experiment.name}.jsonl"
    done = {_key(line["setting"]): line for line in _lines(file)}
    settings = list(experiment.settings(quick))
    for number, setting in enumerate(settings, 1):
        if _key(setting) in done:
            continue
        started = time.perf_counter()
        rows = experiment.measure(**setting)
        seconds = time.perf_counter() - started
        line = {"setting": dict(setting), "seconds": round(seconds, 3), "rows": [_plain(row) for row in rows]}
        with file.open("a", encoding="utf-8") as out:
            out.write(("" if _ends_in_a_line(file) else "\n") + json.dumps(line) + "\n")
        done[_key(setting)] = line
        tell(f"{experiment.name}: {number} of {len(settings)}, {seconds:.1f} s")
    return [row for setting in settings for row in done[_key(setting)]["rows"]]


def stored(experiment: Experiment, folder: Path) -> list[Row]:
    """Return the rows that a run has left in a folder."""
    return [row for line in _lines(folder / f"{experiment.name}.jsonl") for row in line["rows"]]


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the whole lines of a file; a run that was stopped may have left half of one."""
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue


def _ends_in_a_line(file: Path) -> bool:
    """Tell whether what was written last is a whole line, or nothing."""
    text = file.read_bytes()
    return not text or text.endswith(b"\n")


def _key(setting: Setting) -> str:
    return json.dumps(setting, sort_keys=True)


def _plain(row: Row) -> Row:
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}


def chosen(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """Return the rows with the wanted values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def mean(rows: Sequence[Row], column: str, **wanted: Any) -> float:
    """Return the mean of a column over the rows with the wanted values; an error where there are none."""
    found = [row[column] for row in chosen(rows, **wanted)]
    if not found:
        raise LookupError(f"no row with {wanted}")
    return float(np.mean(found))


def largest(rows: Sequence[Row], column: str) -> Any:
    """Return the largest value of a column."""
    return max(row[column] for row in rows)


def smallest(rows: Sequence[Row], column: str) -> Any:
    """Return the smallest value of a column."""
    return min(row[column] for row in rows)


def falls(rows: Sequence[Row], column: str = "error", *, by: float = 1.0, size: str = "N", **wanted: Any) -> bool:
    """Tell whether the mean of a column falls from the smallest to the largest size, to less than a share of it."""
    few, many = smallest(rows, size), largest(rows, size)
    return mean(rows, column, **{size: many}, **wanted) < by * mean(rows, column, **{size: few}, **wanted)
