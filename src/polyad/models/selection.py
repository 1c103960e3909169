"""How many topics? Held-out likelihood, coherence and stability over a range, from shared moments."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.base.plurals import how_many
from polyad.decompose import RankError, Whitening, diagonaliser, simplex_rows, whiten
from polyad.engine import Planned, Source, count_blocks, every, expect, ordered_by_content, resident, stage, working
from polyad.inference.heldout import completion_bits
from polyad.inference.polish import polish
from polyad.inference.presets import PRESETS
from polyad.metrics.alignment import align
from polyad.metrics.coherence import npmi_coherence
from polyad.models.fitting import running
from polyad.models.recipes.dirichlet import polish_prior
from polyad.models.recipes.moment_start import LENGTH_POWER, UNIGRAM_SHARE, SummedCounts, word_metric
from polyad.models.recipes.own_prior import USUAL_CONCENTRATION
from polyad.models.recipes.plan import READING, READING_PASSES, dirichlet_pass_cost, moment_plan
from polyad.models.showing import ShownSelection
from polyad.models.text_sources import counted
from polyad.moments import raw_moments, summarise_counts

HOLD_OUT = 5  # every fifth document is left for judging, and every other one of the rest makes a half
CLEAR_GAP = 3.0  # a spectrum that falls by this factor at K singles K out
ENOUGH = 0.9  # of the fall in bits over the range: where the elbow is taken
WORSE = 0.002  # bits that more topics must cost for a number to be the last; in small samples they cost .005 to .03
STILL_FALLS = 0.01  # bits of the last step of a range that says that the range ends too early


@dataclass(frozen=True)
class Selection(ShownSelection):
    """A range of numbers of topics, judged.

    Attributes
    ----------
    table
        One dict a row: ``n_components``, ``bits`` (held-out bits per token, lower is better), ``coherence`` (mean
        NPMI), ``stability`` (mean overlap of topics learned from two halves of the documents), ``seconds``.
    recommended
        The number of topics recommended.
    reason
        Why, in words.
    spectrum
        Eigenvalues of the second moment of one half, measured on the other half, largest first.
    """

    table: list[dict[str, float]]
    recommended: int
    reason: str
    spectrum: FloatArray

    def __str__(self) -> str:
        lines = [f"{'topics':>6} {'bits':>8} {'coherence':>9} {'stability':>9}"]
        for row in self.table:
            mark = " <" if row["n_components"] == self.recommended else ""
            lines.append(
                f"{int(row['n_components']):6} {row['bits']:8.3f} {row['coherence']:9.3f} {row['stability']:9.3f}{mark}"
            )
        return "\n".join([*lines, self.reason])


class _Half:
    """Moments of some documents along enough directions for every number of topics asked for."""

    def __init__(self, source: Source, n_max: int) -> None:
        self.corpus = SummedCounts(source, summarise_counts(source))
        self.raw = raw_moments(source, LENGTH_POWER)
        moments = self.raw.at(USUAL_CONCENTRATION)
        whiten_in_metric = partial(
            whiten,
            moments.second,
            metric=word_metric(self.corpus, n_max),
            strict=False,
            few_products=source.passes_are_dear,
        )
        self.whitener = _widest_whitener(whiten_in_metric, n_max)
        self.images = moments.second @ self.whitener.T  # S W', M x n_max
        self.tensor = moments.third(self.whitener, self.images)

    def topics(self, K: int) -> FloatArray:
        """Topics for K components: whiteners are nested, so that no pass over the data is needed for the moments."""
        found = diagonaliser("power")(self.tensor[:K, :K, :K])
        signs = np.where(found.values < 0, -1.0, 1.0)
        components = signs[:, None] * (self.images[:, :K] @ found.rotation).T
        start = (1 - UNIGRAM_SHARE) * simplex_rows(components) + UNIGRAM_SHARE * self.corpus.unigram
        return polish(self.corpus.source, start, polish_prior(K), preset=PRESETS["fast"]).components


def select_n_components(
    X: Any,
    values: Sequence[int] | None = None,
    *,
    estimator: Any = None,
    lengths: Any = None,
    n_min: int = 2,
    n_max: int = 100,
    n_values: int = 10,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Any:
    """Judge a range of numbers of topics for LDA, or of components of a mixture, and recommend one.

    The moments are computed once for the largest number and cut down for the others; each number then costs the
    likelihood passes alone. Bits are measured on a fifth of the documents, stability between two halves of the rest.

    Parameters
    ----------
    X
        Documents x words counts, a corpus, or a source of text (:class:`polyad.corpus.CorpusSource`).
    values
        Numbers of topics to judge; None takes ``n_values`` from ``n_min`` to ``n_max``, evenly on a log scale. A number
        that the spectrum singles out is added. Numbers of components of a mixture go up one by one from ``n_min``,
        until three in a row are worse than the best.
    estimator
        A mixture (:class:`polyad.SphericalMixture`, :class:`polyad.HiddenMarkov`, :class:`polyad.MultiViewMixture`)
        with the options to use; X is then what its ``fit`` takes, and the Bayesian information criterion decides. None
        is for topics.
    lengths
        The number of rows of each sequence, where ``estimator`` is a :class:`polyad.HiddenMarkov` and X holds the rows
        of all of them.
    n_min, n_max, n_values
        The range.
    random_state
        Seed of the first vectors, and of the tokens that are judged.
    n_jobs
        Threads; the result does not depend on it.
    progress
        Called with the numbers of fits done and to do.

    Returns
    -------
    Selection
        Or, of a mixture, a :class:`polyad.models.mixtures.MixtureSelection`.

    Examples
    --------
    >>> from polyad.datasets import make_lda
    >>> select_n_components(make_lda(1500, 200, 4, length=100).counts, [2, 4, 8]).recommended
    4
    >>> from polyad import SphericalMixture
    >>> from polyad.datasets import make_spherical_mixture
    >>> points = make_spherical_mixture(500, 6, 3).X
    >>> select_n_components(points, [2, 3, 4], estimator=SphericalMixture()).recommended
    3
    """
    if estimator is not None:
        from polyad.models.mixtures.selection import select_mixture

        return select_mixture(
            estimator, X, values, lengths=lengths, n_min=n_min, n_max=n_max, n_jobs=n_jobs, progress=progress
        )
    if lengths is not None:
        raise ValueError(
            "lengths is given without an estimator: they are those of sequences, estimator=HiddenMarkov()."
        )
    values = None if values is None else [int(K) for K in values]
    with running(n_jobs), working("Selection"):
        with stage("read"):
            # In their own order, so that splits do not depend on how documents came.
            source = resident(ordered_by_content(count_blocks(counted(X))))
            candidates = _candidates(values, n_min, n_max, n_values, source)
            train, test, *parts = _splits(source)
        expect(_plan(candidates))
        with stage("moments"):
            halves = [_Half(part, max(candidates)) for part in parts]
            whole = _Half(train, max(candidates))
            spectrum, singled_out = _spectrum_rule(halves[0], halves[1])
        reach = min(half.whitener.shape[0] for half in (*halves, whole))
        # One topic more than the spectrum singles out is the witness of whether it stopped short of a small one.
        added = () if singled_out is None else (singled_out, singled_out + 1)
        candidates = sorted({K for K in (*candidates, *added) if reach >= K})
        _warn_of_those_left_out(values, candidates)
        if not candidates:
            raise ValueError(f"The data support at most {how_many(reach, 'topics')}, fewer than any number asked for.")
        expect(_plan(candidates))
        table = []
        for done, K in enumerate(candidates):
            table.append(_judge(K, whole, halves, train, test, random_state))
            if progress is not None:
                progress(done + 1, len(candidates))
    recommended, reason = _recommend(table, singled_out)
    return Selection(table, recommended, reason, spectrum)


def _widest_whitener(whitened: Callable[[int], Whitening], n_directions: int) -> FloatArray:
    """Return the whitener of so many directions, or of as many as there are: fewer words, then a lower rank."""
    while True:
        try:
            return whitened(n_directions).whitener
        except RankError as error:
            if not 0 < error.supported < n_directions:
                raise
            n_directions = error.supported


def _candidates(values: Sequence[int] | None, n_min: int, n_max: int, n_values: int, source: Source) -> list[int]:
    limit = min(source.n_rows * 2 // 5, source.n_columns)  # each half of the training part must have enough documents
    if values is None:
        if not 1 <= n_min <= n_max:
            raise ValueError(f"n_min is {n_min} and n_max {n_max}; give 1 <= n_min <= n_max.")
        values = [int(K) for K in np.unique(np.geomspace(n_min, n_max, n_values).round().astype(int))]
    elif bad := [K for K in values if K < 1]:
        raise ValueError(f"{bad[0]} is among the numbers of topics; give whole numbers from 1 up.")
    chosen = sorted({int(K) for K in values if K >= 1 and limit >= K})
    if not chosen:
        raise ValueError(
            f"None of the numbers of topics can be judged with {how_many(source.n_rows, 'documents')} and "
            f"{how_many(source.n_columns, 'words')}; the most is {limit}."
        )
    return chosen


def _warn_of_those_left_out(values: Sequence[int] | None, judged: Sequence[int]) -> None:
    """Name the numbers that were asked for, one by one, and cannot be judged."""
    left_out = [str(K) for K in sorted(set(values or ())) if K not in judged]
    if left_out and judged:
        shown = ", ".join(left_out if len(left_out) <= 10 else [*left_out[:3], "...", left_out[-1]])
        warn_caller(f"These documents are too few or too alike to judge so many topics: {shown}.")


def _splits(source: Source) -> list[Source]:
    """Return documents to learn from, documents to judge by, and two halves of the first."""
    period = 2 * HOLD_OUT
    held_out = 0, HOLD_OUT
    kept = [number for number in range(period) if number not in held_out]
    return [every(source, period, tuple(part)) for part in (kept, held_out, kept[::2], kept[1::2])]


def _spectrum_rule(first: _Half, second: _Half) -> tuple[FloatArray, int | None]:
    """Eigenvalues of the second half's covariance along the first half's directions, and the K they single out.

    Directions of noise in one half have eigenvalues around 0 in the other, as often negative as positive: what is
    clearly larger than the most negative one is signal. One more than that, because the mean of the topics is taken
    out. Samples of a model show a clear fall there; the spectrum of real text falls gently, and singles out nothing.
    """
    basis, _ = np.linalg.qr(first.images)
    raw = second.raw.moments
    mean = basis.T @ raw.mean
    projected = basis.T @ (raw.second @ basis) - np.outer(mean, mean)
    values: FloatArray = np.linalg.eigvalsh((projected + projected.T) / 2)[::-1].astype(np.float64)
    noise = max(-float(values[-1]), 0.0)
    signal = int((values > CLEAR_GAP * noise).sum())
    is_clear = noise > 0 and 0 < signal < values.size and values[signal - 1] > CLEAR_GAP * max(values[signal], noise)
    return values, signal + 1 if is_clear and signal + 1 <= first.whitener.shape[0] else None


def _judge(
    K: int,
    whole: _Half,
    halves: list[_Half],
    train: Source,
    test: Source,
    random_state: int,
) -> dict[str, float]:
    start = time.perf_counter()
    whole_stage, *half_stages, judging = _stages(K)
    with stage(whole_stage):
        topics = whole.topics(K)
    both = []
    for half, half_stage in zip(halves, half_stages):
        with stage(half_stage):
            both.append(half.topics(K))
    with stage(judging):
        return {
            "n_components": K,
            "bits": completion_bits(topics, 1 / K, test, random_state),
            "coherence": float(npmi_coherence(topics, train).mean()),
            "stability": align(*both).mean,
            "seconds": time.perf_counter() - start,
        }


def _stages(K: int) -> tuple[str, str, str, str]:
    """Return what is done to judge a number of topics, in words."""
    name = how_many(K, "topics")
    return name, f"{name}, one half", f"{name}, other half", f"{name}, judging"


def _plan(candidates: Sequence[int]) -> dict[str, Planned]:
    """Return what the stages should cost for some numbers of topics; two halves cost a whole."""
    moments = moment_plan(max(candidates))
    plan = {"read": Planned(READING, READING_PASSES), "moments": Planned(2 * moments.cost, 3 * moments.passes)}
    for K in candidates:
        cost = PRESETS["fast"].n_passes * dirichlet_pass_cost(K)
        shares = Planned(cost), Planned(cost / 2), Planned(cost / 2), Planned(dirichlet_pass_cost(K), passes=2)
        plan.update(zip(_stages(K), shares))
    return plan


def _recommend(table: list[dict[str, float]], singled_out: int | None) -> tuple[int, str]:
    bits = np.array([row["bits"] for row in table])
    numbers = [int(row["n_components"]) for row in table]
    best = numbers[int(bits.argmin())]
    if len(table) == 1:
        return numbers[0], f"{how_many(numbers[0], 'topics')}: the only number that was judged."
    doubt = ""
    if singled_out is not None:
        own = float(bits[numbers.index(singled_out)])
        more = [value for number, value in zip(numbers, bits) if number > singled_out]
        if more and min(more) >= own + WORSE:
            return singled_out, (
                f"{how_many(singled_out, 'topics')}: the spectrum falls sharply after them (and held-out bits are "
                f"{own:.3f}, {own - bits.min():.3f} above the best, at {best})."
            )
        doubt = f" The spectrum falls after {how_many(singled_out, 'topics')}, " + (
            f"but more predict words about as well or better ({min(more):.3f} bits against {own:.3f}): topics with few "
            "tokens may be hidden in its noise."
            if more
            else "but no larger number could be judged: give more documents."
        )
    fall = bits[0] - bits.min()
    if fall < 0.01:
        return numbers[0], (
            f"{how_many(numbers[0], 'topics')}: more do not predict held-out words better (best {bits.min():.3f} "
            f"bits at {best}).{doubt}"
        )
    enough = int(np.flatnonzero(bits <= bits[0] - ENOUGH * fall)[0])
    row = table[enough]
    end = ""
    if bits[-1] == bits.min() and bits[-2] - bits[-1] > STILL_FALLS:
        end = f" Bits still fall at {numbers[-1]}, where the range ends: judge larger numbers as well."
    return numbers[enough], (
        f"{how_many(numbers[enough], 'topics')}: the fewest with {ENOUGH:.0%} of what more topics gain in held-out "
        "bits "
        f"({row['bits']:.3f}; {bits[0]:.3f} at {numbers[0]}, best {bits.min():.3f} at {best}). Stability between "
        f"halves of the documents is {row['stability']:.2f}, coherence {row['coherence']:.2f}."
        + (doubt or " The spectrum singles out no number: fewer topics are broader and more stable, more are finer.")
        + end
    )
