"""What passes of EM have in common, whatever they improve."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.engine import one_round

STRETCH, MOST_STRETCH = 1.3, 8.0  # by which relaxed passes go further each time, and at most
OUTLOOK, OUTLOOK_FROM = 20, 4  # passes that a target must be in sight after, and those before anybody looks
LEAST = 1e-300  # that a number above 0 is taken to be, before its logarithm

Parameters = TypeVar("Parameters")


@dataclass(frozen=True)
class Passes:
    """How passes went that improved the parameters of a mixture."""

    # Mean log-likelihood of a row, and the logarithm of the prior, that each pass found for the parameters it started
    # from: it never falls.
    objective: tuple[float, ...]
    converged: bool  # whether the last pass gained less than the tolerance


def passes_of_em(
    start: Parameters,
    expected: Callable[[Parameters], tuple[float, Callable[[], Parameters]]],
    *,
    max_iter: int,
    tol: float,
    stretched: Callable[[Parameters, Parameters, float], Parameters] | None = None,
    first: int = 1,
    most: int | None = None,
    target: float = -np.inf,
) -> tuple[Passes, Parameters]:
    """Improve parameters by passes of EM, which may go further than EM says.

    They do so the more, the longer that has raised the objective; where it falls, the step of EM itself is made
    instead (over-relaxation: Salakhutdinov and Roweis 2003).

    Parameters
    ----------
    start
        Parameters.
    expected
        The E step: the objective of parameters, and the M step, which is made where that is no worse.
    max_iter, tol
        Passes at most, and the gain below which they end.
    stretched
        The parameters so many times as far along the way from some to others; None to go no further than EM.
    first, most
        Number of the first pass, and of passes in all, for the report of progress.
    target
        Stop, not converged, where the objective would still be below this after :data:`OUTLOOK` passes with the gain of
        the last one.

    Returns
    -------
    tuple
        How the passes went, and the parameters.
    """
    objective: list[float] = []
    now_at = safe = start
    stretch = 1.0
    for number in range(first, first + max_iter):
        with one_round(number, most or max_iter, passes=1, unit="row") as found:
            now, maximised = expected(now_at)
            found.append(now)
        if stretch > 1 and not now >= objective[-1]:
            now_at, stretch = safe, 1.0
            continue
        gain = now - objective[-1] if objective else np.inf
        objective.append(now)
        safe = maximised()
        if gain < tol:
            return Passes(tuple(objective), True), safe
        if len(objective) > OUTLOOK_FROM and now + OUTLOOK * gain < target:
            break
        if stretched is None:
            now_at = safe
            continue
        stretch = min(STRETCH * stretch, MOST_STRETCH) if np.isfinite(gain) else 1.0
        now_at = stretched(now_at, safe, stretch) if stretch > 1 else safe
    return Passes(tuple(objective), False), safe


def further(before: FloatArray, after: FloatArray, stretch: float) -> FloatArray:
    """Return numbers from 0 up that lie further along the way from some to others, which is one of their logarithms.

    Examples
    --------
    >>> further(np.array([1.0, 0.5]), np.array([2.0, 0.5]), 2.0)
    array([4. , 0.5])
    """
    first, last = np.log(np.maximum(before, LEAST)), np.log(np.maximum(after, LEAST))
    return np.asarray(np.exp(np.minimum(first + stretch * (last - first), 700.0)))


def further_shares(before: FloatArray, after: FloatArray, stretch: float) -> FloatArray:
    """Return the same for rows of probabilities."""
    found = further(before, after, stretch)
    return np.asarray(found / found.sum(axis=-1, keepdims=True))
