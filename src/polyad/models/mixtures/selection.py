"""How many components, classes or states? The Bayesian information criterion over a range."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from polyad.base.determined import UndeterminedWarning
from polyad.base.plurals import how_many
from polyad.models.showing import ShownSelection

PATIENCE = 3  # numbers in a row that are worse than the best, after which a search upwards ends


@dataclass(frozen=True)
class MixtureSelection(ShownSelection):
    """A range of numbers of components, judged.

    Attributes
    ----------
    table
        One dict for each number: ``n_components``, ``bic`` (lower is better), ``aic``, ``score`` as the model gives it,
        ``seconds``.
    recommended
        The number with the lowest ``bic``.
    reason
        Why, in words.
    """

    table: list[dict[str, float]]
    recommended: int
    reason: str

    def __str__(self) -> str:
        lines = [f"{'components':>10} {'bic':>14} {'aic':>14}"]
        for row in self.table:
            mark = " <" if row["n_components"] == self.recommended else ""
            lines.append(f"{int(row['n_components']):10} {row['bic']:14.1f} {row['aic']:14.1f}{mark}")
        return "\n".join([*lines, self.reason])


def select_mixture(
    estimator: Any,
    X: Any,
    values: Sequence[int] | None,
    *,
    lengths: Any,
    n_min: int,
    n_max: int,
    n_jobs: int | None,
    progress: Callable[[int, int], object] | None,
) -> MixtureSelection:
    """Fit a mixture with every number of components and recommend the one with the lowest BIC.

    Without ``values`` numbers go up from ``n_min`` until three in a row are worse than the best, or to ``n_max``.
    """
    if not all(hasattr(estimator, name) for name in ("fit", "bic", "aic", "score")):
        raise ValueError(
            f"estimator is {estimator!r}; give a SphericalMixture, a HiddenMarkov or a MultiViewMixture, or leave it "
            "out for topics."
        )
    if lengths is not None and not hasattr(estimator, "decode"):
        raise ValueError(f"lengths is given, and {type(estimator).__name__} knows no sequences: leave it out.")
    data = (X,) if lengths is None else (X, lengths)
    numbers = list(range(n_min, n_max + 1)) if values is None else sorted({int(K) for K in values})
    if not numbers or numbers[0] < 1:
        raise ValueError(f"The numbers of components to judge are {numbers}; give whole numbers from 1 up.")
    table: list[dict[str, float]] = []
    for K in numbers:
        started = time.perf_counter()
        model = clone(estimator).set_params(n_components=K)
        if n_jobs is not None:
            model.set_params(n_jobs=n_jobs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndeterminedWarning)  # the criterion judges what is one too many
            model.fit(*data)
        found = {"n_components": K, "bic": model.bic(*data), "aic": model.aic(*data), "score": model.score(*data)}
        table.append({**found, "seconds": time.perf_counter() - started})
        if progress is not None:
            progress(len(table), len(numbers))
        if values is None and len(table) - 1 - _best(table) >= PATIENCE:
            break
    best = _best(table)
    return MixtureSelection(table, int(table[best]["n_components"]), _reason(table, best))


def _best(table: list[dict[str, float]]) -> int:
    return int(np.argmin([row["bic"] for row in table]))


def _reason(table: list[dict[str, float]], best: int) -> str:
    K = int(table[best]["n_components"])
    what = how_many(K, "components")
    if len(table) == 1:
        return f"{what}: the only number that was judged."
    second = min((row for place, row in enumerate(table) if place != best), key=lambda row: row["bic"])
    edge = " It is the largest that was judged: more may be better." if best == len(table) - 1 else ""
    return (
        f"{what}: the lowest BIC, {second['bic'] - table[best]['bic']:.1f} below the next best "
        f"({int(second['n_components'])}).{edge}"
    )
