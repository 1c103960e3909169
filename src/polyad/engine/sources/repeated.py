"""Rows that count more than once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.engine.blocks import Block
from polyad.engine.sources.arrays import gathered
from polyad.engine.sources.parts import Chosen
from polyad.engine.sources.source import Source


@dataclass(frozen=True, eq=False, repr=False)
class Repeated(Chosen):
    """Every row of a source so many times, one after the other; 0 leaves it out."""

    times: NDArray[np.int64]  # how often each of them comes

    def n_chosen_before(self) -> Sequence[int]:
        """Return how many rows come before each edge of the source, with repetitions."""
        before: list[int] = np.concatenate([[0], np.cumsum(self.times)])[list(self.source.edges)].tolist()
        return before

    def chosen_of(self, shard: Block) -> NDArray[np.intp]:
        """Return the rows of a shard, each as often as it comes."""
        return np.repeat(np.arange(shard.n_rows), self.times[shard.start : shard.start + shard.n_rows])


def weighted(source: Source, sample_weight: Any) -> Source:
    """Return rows as often as their weights say, copied where the source is in memory; None leaves them as they are.

    Parameters
    ----------
    source
        The rows.
    sample_weight
        A whole number from 0 up for each row.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> weighted(count_blocks([[1, 0], [0, 2], [3, 3]]), [2, 0, 1]).shard(0).rows.toarray()
    array([[1., 0.],
           [1., 0.],
           [3., 3.]])
    """
    if sample_weight is None:
        return source
    repeated = Repeated(source, _checked_weights(sample_weight, source.n_rows))
    return gathered(repeated) if source.in_memory else repeated


def _checked_weights(sample_weight: Any, n_rows: int) -> NDArray[np.int64]:
    weights = np.asarray(sample_weight)
    if weights.shape != (n_rows,) or weights.dtype.kind not in "biufO":
        found = f"the shape {weights.shape}" if weights.shape != (n_rows,) else f"dtype {weights.dtype}"
        raise ValueError(f"sample_weight has {found}; give one number for each of the {n_rows} rows of X.")
    weights = weights.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0) & (np.floor(weights) == weights)))
    if bad.size:
        raise ValueError(
            f"sample_weight is {weights[bad[0]]:g} at row {bad[0]}; a weight says how often a row counts, and is a "
            "whole number from 0 up. Multiply fractional weights by a common number and round them."
        )
    if not weights.any():
        raise ValueError(
            "sample_weight is zero for every row: all weights are zero, and there is nothing to learn from."
        )
    return weights.astype(np.int64)
