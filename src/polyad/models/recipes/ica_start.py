"""Where independent component analysis begins: which statistics of which rows, and how far they can be relied on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.base.compiled import compiled
from polyad.base.determined import NoiseWarning
from polyad.decompose.diagonalisation import Diagonalisation
from polyad.engine import Block, Source, Stacked, every, first_rows, total
from polyad.engine.sources.arrays import arrays_of
from polyad.inference.separation import Separation, information
from polyad.metrics import amari_distance
from polyad.models.recipes.cross import SKEWED
from polyad.moments.signals import ica as moments
from polyad.moments.views.cross import dense_rows

START_ROWS = 1 << 11  # likelihood steps from the moments of so many rows end where those from all rows do
MORE_ROWS = 1 << 13  # above FEW components, where fixed-point steps come between
HASHED = 8  # columns by which rows are chosen
FEW = 20  # components up to which all statistics are cheap
BOTH = "third and fourth"  # cumulants, where likelihood steps follow and the user has no wish
FEW_MATRICES = 1 << 9  # times components: a start of 32 components needs no more than 16 of them
LOOSE = 1e-2  # angle at which a diagonaliser may stop where likelihood steps follow
CANDIDATES = ("fourth", "characteristic")
STRETCHES = 16  # halves of signals are made of: neighbours in time are alike, and every other sample would be a copy
DOUBTFUL = 0.05  # error, as an Amari distance, above which a fit is warned of: sources are then 10 to 15 dB apart


@dataclass(frozen=True)
class Start:
    """What the moments say: the statistics, how reliable order three is, K x K unmixing of white signals, and how."""

    statistics: str
    reliability: float
    rotation: FloatArray
    found: Any


def rows_for_start(source: Source, n_components: int, *, ordered: bool = False) -> Source:
    """Return some thousand rows, in memory, for moments that likelihood steps on all rows follow.

    Which they are depends on what is in them and not on where they stand: any order of the rows gives the same. Of rows
    in the canonical order, which hang on nothing else, they are the first.
    """
    n_rows = START_ROWS if n_components <= FEW else MORE_ROWS
    share = n_rows / source.n_rows
    if share >= 1:
        return source
    if ordered:
        return first_rows(source, n_rows)
    chosen = total(_chosen_rows, source, share).rows()
    return source if chosen.shape[0] <= n_components else arrays_of([chosen])  # of rows that are all equal none may be


def _chosen_rows(block: Block, share: float) -> Stacked:
    rows = dense_rows(block.rows)
    return Stacked((rows[_hashes(rows[:, :HASHED].view(np.uint64)) < share * 2.0**64],))


@compiled
def _hashes(cells):  # type: ignore[no-untyped-def]
    """Return numbers of rows that look drawn and are the same for equal rows; the last steps are SplitMix64's."""
    N, M = cells.shape
    hashes = np.empty(N)
    for n in range(N):
        mixed = np.uint64(0)
        for m in range(M):
            mixed = (mixed ^ cells[n, m]) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes[n] = np.float64(mixed ^ (mixed >> np.uint64(31)))
    return hashes


def likeliest_start(
    statistics: str,
    source: Source,
    whitening: moments.SignalWhitening,
    matrices: Callable[[str], FloatArray],
    diagonalise: Callable[[FloatArray], tuple[FloatArray, Diagonalisation]],
) -> Start:
    """Return the moments' sources; with "auto" those of the candidate that are least mixed."""
    names = CANDIDATES if statistics == "auto" else (statistics,)
    starts = [Start(name, float("nan"), *diagonalise(matrices(name))) for name in names]
    if len(starts) == 1:
        return starts[0]
    return max(starts, key=lambda start: information(source, whitening.mean, start.rotation @ whitening.whitener))


def choose_in_noise(statistics: str, source: Source, whitening: moments.SignalWhitening) -> tuple[str, float]:
    """Return the statistics to use where noise hides how likely sources are: by how reliable order three is."""
    if statistics != "auto":
        return statistics, float("nan")
    reliability = moments.third_reliability(source, whitening)
    return ("characteristic" if reliability > SKEWED else "fourth"), reliability


def warn_where_halves_disagree(source: Source, unmix: Callable[[Source], FloatArray]) -> float:
    """Fit both halves of the signals, warn if they give different sources, and return the error that they show.

    Errors of halves are larger than that of the whole by the root of two, and their difference by another: the whole
    is off by about half of their Amari distance. In simulations the two were 1.2 to 3.9 apart, in the mean 2.2.

    Parameters
    ----------
    source
        The signals.
    unmix
        What finds K x K unmixing matrices of white signals.
    """
    stretch = max(1, source.n_rows // STRETCHES)
    parts = [every(source, 2 * stretch, tuple(range(first, first + stretch))) for first in (0, stretch)]
    try:
        one, two = map(unmix, parts)
        error = amari_distance(one, linalg.pinv(two)) / 2
    except (ValueError, np.linalg.LinAlgError):  # a half in which nothing can be told apart
        error = float("inf")
    if error > DOUBTFUL:
        warn_caller(
            f'noise="gaussian" cannot be trusted here: the two halves of the {source.n_rows:,} samples give '
            f"different sources: an error of about {error:.2f} (Amari distance; up to {DOUBTFUL:g} is fair). "
            "Statistics that see through noise need many samples: give more, ask for fewer components, or use "
            'noise="none" if the noise is weak.',
            NoiseWarning,
        )
    return error


def start_of_user(w_init: Any, whitening: moments.SignalWhitening) -> Start:
    """Return the unmixing matrix a user gave, made orthogonal for white signals."""
    try:
        given = np.asarray(w_init, dtype=np.float64)
    except (ValueError, TypeError):
        raise ValueError(f"w_init is {w_init!r}; give K x M numbers, an unmixing matrix to begin at.") from None
    if given.shape != whitening.whitener.shape or not np.isfinite(given).all():
        raise ValueError(
            f"w_init must be K x M, here {' x '.join(map(str, whitening.whitener.shape))}, without missing values; it "
            f"has the shape {given.shape}."
        )
    left, sizes, right = linalg.svd(given @ linalg.pinv(whitening.whitener))
    if not sizes[-1] > 1e-8 * sizes[0]:
        raise ValueError("w_init has rows that depend on each other: give K independent ones.")
    rotation, empty = left @ right, np.zeros((1, 0))
    return Start("given", float("nan"), rotation, Diagonalisation(rotation.T, empty, 0.0, 0, True, empty[0]))


def warn_unfinished(separation: Separation, tol: float) -> None:
    """Warn that likelihood steps have not converged."""
    warn_caller(
        f"The likelihood steps stopped after {separation.n_newton} iterations with a dependence of "
        f"{separation.gradient:.1g} between two sources, above tol={tol:g}. Sources that are all but Gaussian converge "
        "slowly: raise tol, or ask for fewer components.",
        ConvergenceWarning,
    )
