"""What all experiments share: settings that are run once and kept, claims that can fail, and tables of results.

An experiment is a list of settings, a function that measures one of them, and the claims that its results must bear
out. Results are kept line by line as they come, so that a run which was stopped goes on where it ended.
"""

import json
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

LIBRARIES = ("polyad", "numpy", "scipy", "scikit-learn", "numba")

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
    paper
        Values that the paper's text gives, as rows with the columns of the chart: drawn as crosses.
    areas
        Draw a map in shades of grey, with a row of it in place of each line.
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
    paper: tuple[Row, ...] = ()
    areas: bool = False


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
    differs
        Where the experiment differs from the paper's, and why; where results do, why.
    tables
        From rows to lines of the page, for what is words and not numbers.
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
    differs: str = ""
    tables: tuple[Callable[[Sequence[Row]], list[str]], ...] = ()


def run(
    experiment: Experiment, folder: Path, *, quick: bool, tell: Callable[[str], object] = lambda _: None
) -> list[Row]:
    """Measure every setting that is not in the folder yet, and return all rows."""
    while measure_next(experiment, folder, quick=quick, tell=tell) is not None:
        pass
    return stored(experiment, folder, quick=quick)


def measure_next(
    experiment: Experiment, folder: Path, *, quick: bool, tell: Callable[[str], object] = lambda _: None
) -> float | None:
    """Measure the first setting that is not in the folder yet, and return the seconds; None where all are."""
    done = {_key(line["setting"]) for line in _lines(_file(experiment, folder))}
    settings = list(experiment.settings(quick))
    missing = [setting for setting in settings if _key(setting) not in done]
    missing.sort(key=lambda setting: setting.get("draw", setting.get("fold", 0)))  # a whole curve before the next one
    if not missing:
        return None
    started = time.perf_counter()
    rows = experiment.measure(**missing[0])
    seconds = time.perf_counter() - started
    line = {
        "setting": dict(missing[0]),
        "seconds": round(seconds, 3),
        "with": versions(),
        "rows": [_plain(row) for row in rows],
    }
    folder.mkdir(parents=True, exist_ok=True)
    file = _file(experiment, folder)
    with file.open("a", encoding="utf-8") as out:
        out.write(("" if _ends_in_a_line(file) else "\n") + json.dumps(line, ensure_ascii=False) + "\n")
    tell(f"{experiment.name}: {len(settings) - len(missing) + 1} of {len(settings)}, {seconds:.1f} s")
    return seconds


def in_turn(
    experiments: Sequence[Experiment], folder: Path, tell: Callable[[str], object] = lambda _: None
) -> Iterator[Experiment]:
    """Measure all settings at full size: always of the experiment that has taken the least time so far.

    Cheap experiments end first, and a run that is stopped has left something of each. Those that end are yielded.
    """
    by_name = {experiment.name: experiment for experiment in experiments}
    spent = {name: sum(line["seconds"] for line in _lines(_file(e, folder))) for name, e in by_name.items()}
    while spent:
        name = min(spent, key=spent.__getitem__)
        seconds = measure_next(by_name[name], folder, quick=False, tell=tell)
        if seconds is None:
            del spent[name]
            yield by_name[name]
        else:
            spent[name] += seconds


def n_measured(experiment: Experiment, folder: Path) -> tuple[int, int]:
    """Return how many of the full settings are in a folder, and how many there are."""
    done = {_key(line["setting"]) for line in _lines(_file(experiment, folder))}
    settings = [_key(setting) for setting in experiment.settings(False)]
    return sum(key in done for key in settings), len(settings)


def stored(experiment: Experiment, folder: Path, *, quick: bool = False) -> list[Row]:
    """Return the rows that a run has left in a folder, in the order of the settings."""
    lines = {_key(line["setting"]): line for line in _lines(_file(experiment, folder))}
    keys = [_key(setting) for setting in experiment.settings(quick)]
    return [row for key in keys if key in lines for row in lines[key]["rows"]]


def versions_used(experiment: Experiment, folder: Path) -> set[str]:
    """Return the versions with which the rows in a folder were measured."""
    return {line["with"] for line in _lines(_file(experiment, folder))}


def versions() -> str:
    """Return the versions of Python and of the libraries that results depend on."""
    found = [f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _file(experiment: Experiment, folder: Path) -> Path:
    return folder / f"{experiment.name}.jsonl"


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
    """Return a row that JSON can hold, with seven digits of every number."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
    return {name: float(f"{value:.7g}") if isinstance(value, float) else value for name, value in plain.items()}


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


def falls(rows: Sequence[Row], column: str = "error", *, by: float | str = 1.0, size: str = "N", **wanted: Any) -> bool:
    """Tell whether the mean of a column falls from the smallest to the largest size, to less than a share of it.

    With ``by="root"`` the share is 1.5 times the root of the ratio of the sizes.
    """
    few, many = smallest(rows, size), largest(rows, size)
    if few == many:
        raise LookupError(f"only one {size}, {few}")
    share = 1.5 * (few / many) ** 0.5 if by == "root" else float(by)
    return mean(rows, column, **{size: many}, **wanted) < share * mean(rows, column, **{size: few}, **wanted)
