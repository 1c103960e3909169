"""How many topics? Held-out likelihood, coherence and stability over a range, from shared moments."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from polyad.decompose import RankError, diagonaliser, simplex_rows, whiten
from polyad.engine import count_blocks, ordered_by_content, runner_for, single_threaded_blas
from polyad.engine.blocks import FloatArray
from polyad.inference.heldout import completion_bits
from polyad.inference.polish import polish
from polyad.metrics.alignment import align
from polyad.metrics.coherence import npmi_coherence
from polyad.models.dirichlet import polish_prior
from polyad.models.lda import MOMENT_CONCENTRATION
from polyad.models.moment_start import LENGTH_POWER, POWER_ITERATIONS, UNIGRAM_SHARE, Corpus, word_metric
from polyad.models.topic_model import number_of_passes
from polyad.moments import raw_moments, summarise_counts

HOLD_OUT = 0.2
CLEAR_GAP = 3.0  # a spectrum that falls by this factor at K singles K out
ENOUGH = 0.9  # of the fall in bits over the range: where the elbow is taken


@dataclass(frozen=True)
class Selection:
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

    def __init__(self, counts: sparse.csr_array, n_max: int, n_jobs: int | None, random_state: int) -> None:
        run = runner_for(n_jobs)
        blocks = count_blocks(counts)
        self.corpus = Corpus(blocks, summarise_counts(blocks, run), run)
        self.raw = raw_moments(blocks, run, self.corpus.summary.lengths, LENGTH_POWER)
        moments = self.raw.at(MOMENT_CONCENTRATION)
        metric = word_metric(self.corpus, n_max)
        try:
            self.whitener = whiten(
                moments.second, n_max, metric=metric, strict=False, random_state=random_state
            ).whitener
        except RankError as error:
            if error.supported == 0:
                raise
            n_max = error.supported
            self.whitener = whiten(
                moments.second, n_max, metric=metric, strict=False, random_state=random_state
            ).whitener
        self.images = moments.second @ self.whitener.T  # S W', M x n_max
        self.tensor = moments.third(self.whitener, self.images)

    def topics(self, K: int, random_state: int) -> FloatArray:
        """Topics for K components: whiteners are nested, so that no pass over the data is needed for the moments."""
        found = diagonaliser("power")(self.tensor[:K, :K, :K], max_iter=POWER_ITERATIONS, random_state=random_state)
        signs = np.where(found.values < 0, -1.0, 1.0)
        components = signs[:, None] * (self.images[:, :K] @ found.rotation).T
        start = (1 - UNIGRAM_SHARE) * simplex_rows(components) + UNIGRAM_SHARE * self.corpus.unigram
        n_passes = number_of_passes("fast", self.corpus, K)
        return polish(self.corpus.counts, start, polish_prior(K), self.corpus.run, n_passes=n_passes).components


def select_n_components(
    X: Any,
    values: Sequence[int] | None = None,
    *,
    n_min: int = 2,
    n_max: int = 100,
    n_values: int = 10,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Selection:
    """Judge a range of numbers of topics for LDA and recommend one.

    The moments are computed once for the largest number and cut down for the others; each number then costs the
    likelihood passes alone. Bits are measured on a fifth of the documents, stability between two halves of the rest.

    Parameters
    ----------
    X
        Documents x words counts.
    values
        Numbers of topics to judge; None takes ``n_values`` from ``n_min`` to ``n_max``, evenly on a log scale. A number
        that the spectrum singles out is added.
    n_min, n_max, n_values
        The range.
    random_state
        Seed of the split and of the first vectors.
    n_jobs
        Threads; the result does not depend on it.
    progress
        Called with the numbers of fits done and to do.

    Examples
    --------
    >>> from polyad.datasets import make_lda
    >>> select_n_components(make_lda(1500, 200, 4, length=100).counts, [2, 4, 8]).recommended
    4
    """
    counts = _all_rows(X, n_jobs)
    candidates = _candidates(values, n_min, n_max, n_values, counts)
    train, test = _split(counts, random_state)
    with single_threaded_blas():
        halves = [_Half(half, max(candidates), n_jobs, random_state) for half in (train[::2], train[1::2])]
        whole = _Half(train, max(candidates), n_jobs, random_state)
        spectrum, singled_out = _spectrum_rule(halves[0], halves[1])
        reach = min(half.whitener.shape[0] for half in (*halves, whole))
        candidates = sorted({K for K in candidates if reach >= K} | ({singled_out} if singled_out else set()))
        if not candidates:
            raise ValueError(f"The data support at most {reach} topics, fewer than any number asked for.")
        table = []
        for done, K in enumerate(candidates):
            table.append(_judge(K, whole, halves, train, test, random_state, n_jobs))
            if progress is not None:
                progress(done + 1, len(candidates))
    recommended, reason = _recommend(table, singled_out)
    return Selection(table, recommended, reason, spectrum)


def _all_rows(X: Any, n_jobs: int | None) -> sparse.csr_array:
    """Return all documents in an order that is their own, so that splits of them do not depend on how they came."""
    (counts,) = ordered_by_content(count_blocks(X), runner_for(n_jobs)).parts
    return counts


def _candidates(
    values: Sequence[int] | None, n_min: int, n_max: int, n_values: int, counts: sparse.csr_array
) -> list[int]:
    limit = min(counts.shape[0] * 2 // 5, counts.shape[1])  # each half of the training part must have enough documents
    if values is None:
        if not 1 <= n_min <= n_max:
            raise ValueError(f"n_min is {n_min} and n_max {n_max}; give 1 <= n_min <= n_max.")
        values = [int(K) for K in np.unique(np.geomspace(n_min, n_max, n_values).round().astype(int))]
    chosen = sorted({int(K) for K in values if K >= 1 and limit >= K})
    if not chosen:
        raise ValueError(
            f"None of the numbers of topics can be judged with {counts.shape[0]} documents and {counts.shape[1]} "
            f"words; the most is {limit}."
        )
    return chosen


def _split(counts: sparse.csr_array, random_state: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    order = np.random.default_rng(random_state).permutation(counts.shape[0])
    n_test = max(int(HOLD_OUT * counts.shape[0]), 1)
    return sparse.csr_array(counts[order[n_test:]]), sparse.csr_array(counts[order[:n_test]])


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
    train: sparse.csr_array,
    test: sparse.csr_array,
    random_state: int,
    n_jobs: int | None,
) -> dict[str, float]:
    start = time.perf_counter()
    topics = whole.topics(K, random_state)
    one, other = (half.topics(K, random_state) for half in halves)
    return {
        "n_components": K,
        "bits": completion_bits(topics, 1 / K, test, random_state, n_jobs=n_jobs),
        "coherence": float(npmi_coherence(topics, train).mean()),
        "stability": align(one, other).mean,
        "seconds": time.perf_counter() - start,
    }


def _recommend(table: list[dict[str, float]], singled_out: int | None) -> tuple[int, str]:
    bits = np.array([row["bits"] for row in table])
    numbers = [int(row["n_components"]) for row in table]
    best = numbers[int(bits.argmin())]
    if singled_out is not None:
        row = table[numbers.index(singled_out)]
        return singled_out, (
            f"{singled_out} topics: the spectrum falls sharply after them (and held-out bits are {row['bits']:.3f}, "
            f"{row['bits'] - bits.min():.3f} above the best, at {best})."
        )
    if len(table) == 1:
        return numbers[0], f"{numbers[0]} topics: the only number that was judged."
    fall = bits[0] - bits.min()
    if fall < 0.01:
        return numbers[0], (
            f"{numbers[0]} topics: more do not predict held-out words better (best {bits.min():.3f} bits at {best})."
        )
    enough = int(np.flatnonzero(bits <= bits[0] - ENOUGH * fall)[0])
    row = table[enough]
    return numbers[enough], (
        f"{numbers[enough]} topics: the fewest with {ENOUGH:.0%} of what more topics gain in held-out bits "
        f"({row['bits']:.3f}; {bits[0]:.3f} at {numbers[0]}, best {bits.min():.3f} at {best}). Stability between "
        f"halves of the documents is {row['stability']:.2f}, coherence {row['coherence']:.2f}. The spectrum "
        "singles out no number: fewer topics are broader and more stable, more are finer."
    )
