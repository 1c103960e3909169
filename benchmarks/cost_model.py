"""What a fit costs, as a function of documents, topics, words, workers and network: slopes of measured fits.

The work of a fit is a sum of terms, each so many seconds of a core for a cell of the counts:

    reading    C
    moments    S + K S + K M          S of the C cells are sampled for them
    passes     P C + P K C + P K M    P likelihood passes over all cells, and over tables of M words
    prior      C + K C

Slopes are the non-negative least squares of all fits from shards but the largest, which is then predicted. Seconds are
those of the processor, so that others on the machine change little; a step has the share of them that it has of the
clock.

On a cluster of W workers the work is divided by the cores of all, and 2 W (P H + Q) bytes travel, where the client
talks to workers directly: every half of a pass sends the topics, H = 2 K M numbers of 4 bytes for the two halves (K to
the next multiple of 16), to each worker and gets as many back, from one worker to the next and to the client;
whitening does the same with Q, some (4 K + 128) columns of M numbers of 8 bytes. What Dask takes beside that (tasks,
copies) is told by a fit with two workers beside one with threads on the same two cores, for each byte; what a wire
takes goes by its bandwidth.
"""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.optimize import nnls

TERMS = {
    "read": ("cells",),
    "moments": ("sampled cells", "K sampled cells", "K words"),
    "polish": ("passes cells", "passes K cells", "passes K words"),
    "prior": ("cells", "K cells"),
}
HALVES, TABLE_BYTES, COLUMN_BYTES, REGISTER = 2, 4, 8, 16
SHARD_CELLS, LEAST_SHARDS = 1 << 24, 4  # cells of a full shard; shards that moments are made of at least
COLUMNS, MORE_COLUMNS = 4, 128  # that whitening multiplies: two thirds of the most, krylov_columns in polyad.decompose


def term(name: str, found: dict) -> float:
    """Return the size of a term for a fit."""
    sizes = {"cells": found["cells"], "sampled": found["sampled"], "K": found["topics"], "passes": found["passes"],
             "words": found["words"]}  # fmt: skip
    return float(np.prod([sizes[part] for part in name.split()]))


@dataclass(frozen=True)
class CostModel:
    """Seconds of a core for each term of each step, and of Dask for each byte.

    Attributes
    ----------
    slopes
        For every step and term the seconds of a core.
    byte_seconds
        That Dask takes for a byte which a worker gets or gives; 0 where no fit with Dask was measured.
    largest, predicted, measured
        The name of the largest fit, the processor seconds that smaller ones predict for it, and those that it took.
    """

    slopes: dict[str, dict[str, float]]
    byte_seconds: float
    largest: str
    predicted: float
    measured: float

    def seconds(self, found: dict, n_workers: int = 1, cores: int = 2, bandwidth: float = np.inf) -> float:
        """Return the seconds of a fit: on one machine, or on workers of so many cores, and bytes a second of a wire."""
        work = sum(slope * term(name, found) for step in self.slopes.values() for name, slope in step.items())
        byte = self.byte_seconds + 1 / bandwidth
        return work / (n_workers * cores) + (network(found, n_workers) * byte if n_workers > 1 else 0.0)

    def __str__(self) -> str:
        found = f"predicted {self.predicted:,.0f} processor seconds, measured {self.measured:,.0f}"
        lines = [f"cost model: {self.largest} {found}"]
        for step, slopes in self.slopes.items():
            terms = " + ".join(f"{1e9 * slope:.3g} {name}" for name, slope in slopes.items() if slope > 0)
            lines.append(f"  {step}: nanoseconds of a core = {terms or 0}")
        lines.append(f"  Dask: {1e9 * self.byte_seconds:.3g} nanoseconds for a byte, beside what the wire takes")
        return "\n".join(lines)


def grown(found: dict, times: float) -> dict:
    """Return what a fit of so many times the documents is like: it samples the root of its shards for the moments."""
    cells = times * found["cells"]
    shards = max(ceil(cells / SHARD_CELLS), 1)
    sampled = min(max(LEAST_SHARDS, ceil(sqrt(shards))) / shards, 1.0)
    return {**found, "cells": cells, "shards": shards, "sampled": sampled}


def network(found: dict, n_workers: int) -> float:
    """Return the bytes that travel to workers and back; workers without a shard have no part in likelihood passes."""
    padded = -(-found["topics"] // REGISTER) * REGISTER
    tables = HALVES * found["passes"] * TABLE_BYTES * padded * found["words"]
    columns = COLUMN_BYTES * (COLUMNS * found["topics"] + MORE_COLUMNS) * found["words"]
    busy = min(n_workers, found.get("shards", n_workers))
    return 2.0 * busy * tables + (n_workers + busy) * columns


def slopes_of(fits: list[dict]) -> dict[str, dict[str, float]]:
    """Return the slopes of every step that explain some fits best."""
    slopes = {}
    for step, names in TERMS.items():
        sizes = np.array([[term(name, found) for name in names] for found in fits])
        seconds = np.array([found["steps"][step] / found["seconds"] * found["processor seconds"] for found in fits])
        scale = np.maximum(sizes.max(axis=0), 1.0)
        found, _ = nnls(sizes / scale / seconds[:, None], np.ones(len(fits)))  # each fit as well as any, in proportion
        slopes[step] = dict(zip(names, (found / scale).tolist()))
    return slopes


def from_results(results: dict[str, dict]) -> CostModel | None:
    """Return the model of measured fits; None where there are fewer than three from shards."""
    fits = {name: found for name, found in results.items() if name.startswith("fit ") and " shards" in name}
    if len(fits) < 3:
        return None
    largest = max(fits, key=lambda name: (fits[name]["cells"], fits[name]["topics"]))
    slopes = slopes_of([found for name, found in fits.items() if name != largest])
    measured = fits[largest]["processor seconds"]
    predicted = CostModel(slopes, 0.0, largest, 0.0, measured).seconds(fits[largest], cores=1)
    return CostModel(slopes, _byte_seconds(results), largest, predicted, measured)


def _byte_seconds(results: dict[str, dict]) -> float:
    """Return the seconds for a byte, from Dask on two workers beside threads on two cores."""
    pairs = [
        (found, results[name.replace("dask 2", "shards")])
        for name, found in results.items()
        if name.startswith("europarl dask 2") and name.replace("dask 2", "shards") in results
    ]
    if not pairs:
        return 0.0
    dask, threads = pairs[-1]
    return max(dask["seconds"] - threads["seconds"], 0.0) / network(dask, 2)
