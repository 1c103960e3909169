"""Statistics of independent component analysis: matrices that are all A diag A' for the same mixing matrix A.

Every one of them is a sum over blocks of the whitened signals. Gaussian noise adds nothing to cumulants of order
three and four, and the same matrix to every generalised covariance.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.engine import Block, Blocks, Runner
from polyad.engine.blocks import FloatArray
from polyad.moments.symmetric import symmetric_cube

ALL_PAIRS = 20  # up to this many components all contractions of order four are made


@dataclass(frozen=True)
class WhitenedSignals:
    """Signals seen through a whitener: ``project(block)`` gives the rows ``W (x - mean)`` of a block.

    Attributes
    ----------
    blocks, run
        The signals, and how a pass over them is run.
    whitener
        K x M.
    mean
        M.
    """

    blocks: Blocks
    run: Runner
    whitener: FloatArray
    mean: FloatArray

    def project(self, block: Block) -> FloatArray:
        """Return the whitened rows of a block, centred."""
        return (block.rows - self.mean) @ self.whitener.T

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.whitener.shape[0])


def signal_covariance(blocks: Blocks, run: Runner) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the covariance (over N) of signals, in two passes.

    Examples
    --------
    >>> from polyad.engine import Serial, signal_blocks
    >>> signal_covariance(signal_blocks([[1.0, 0.0], [3.0, 0.0]]), Serial())
    (array([2., 0.]), array([[1., 0.], [0., 0.]]))
    """
    N = blocks.shape[0]
    mean = run(lambda block: block.rows.sum(axis=0), blocks) / N

    def products(block: Block) -> FloatArray:
        centred = block.rows - mean
        return centred.T @ centred

    return mean, run(products, blocks) / N


def third_cumulants(signals: WhitenedSignals) -> FloatArray:
    """Return the third cumulants of the whitened signals, K x K x K, unbiased."""
    N = signals.blocks.shape[0]
    if N < 3:
        raise ValueError(f"Third cumulants need at least 3 samples; X has {N}.")
    total = signals.run(lambda block: symmetric_cube(signals.project(block)), signals.blocks)
    return total * (N / ((N - 1) * (N - 2)))


def third_reliability(signals: WhitenedSignals) -> float:
    """Return the correlation between the third cumulants of the even and of the odd samples, in [-1, 1].

    Near 1 the sources are skewed; near 0 what order three shows is noise.
    """

    def halves(block: Block) -> tuple[FloatArray, FloatArray]:
        rows, even = signals.project(block), block.start % 2
        return symmetric_cube(rows[even::2]), symmetric_cube(rows[1 - even :: 2])

    even, odd = signals.run(halves, signals.blocks)
    size = np.linalg.norm(even) * np.linalg.norm(odd)
    return float((even * odd).sum() / size) if size > 0 else 0.0


def fourth_cumulants(signals: WhitenedSignals, *, random_state: int = 0) -> FloatArray:
    """Return cumulant matrices of order four, cum(z, z, u'z, v'z), P x K x K (the statistics of JADE).

    For up to 20 components (u, v) are all pairs of axes, each unequal pair counted twice as in the sum over all of
    them; above, u = v are the axes and K random directions.
    """
    K, N = signals.n_components, signals.blocks.shape[0]
    if K <= ALL_PAIRS:
        first, second = np.triu_indices(K)
        u, v = np.eye(K)[first], np.eye(K)[second]
        weights = np.where(first == second, 1.0, np.sqrt(2.0))
    else:
        draws = np.random.default_rng(random_state).standard_normal((K, K))
        u = v = np.vstack([np.eye(K), draws / np.linalg.norm(draws, axis=1, keepdims=True)])
        weights = np.ones(2 * K)

    def block_sums(block: Block) -> tuple[FloatArray, FloatArray]:
        rows = signals.project(block)
        columns = np.ascontiguousarray(rows.T)
        products = (u @ columns) * (v @ columns)
        return np.stack([(columns * product) @ rows for product in products]), columns @ rows

    fourth, C = (total / N for total in signals.run(block_sums, signals.blocks))
    cross = np.einsum("pi,pj->pij", u @ C, v @ C)
    gaussian = np.einsum("pi,ij,pj->p", u, C, v)[:, None, None] * C + cross + cross.transpose(0, 2, 1)
    return weights[:, None, None] * (fourth - gaussian)


def characteristic_covariances(signals: WhitenedSignals, points: FloatArray) -> NDArray[np.complex128]:
    """Return the generalised covariances of the whitened signals at the imaginary points i t, complex P x K x K.

    Parameters
    ----------
    signals
        The whitened signals z.
    points
        P x K: the weight of a sample is exp(i t'z), of size 1, so that no sample dominates.
    """
    return _generalised(signals, lambda rows: np.exp(1j * (rows @ points.T)))


def generalised_covariances(signals: WhitenedSignals, points: FloatArray) -> FloatArray:
    """Return the generalised covariances of the whitened signals at real points t, P x K x K.

    The weight of a sample is exp(t'z): points of size about 1 or less, or a few samples get all the weight.
    """
    largest = np.full(points.shape[0], -np.inf)
    for block in signals.blocks:
        largest = np.maximum(largest, (signals.project(block) @ points.T).max(axis=0))
    return np.real(_generalised(signals, lambda rows: np.exp(rows @ points.T - largest)))


def _generalised(signals: WhitenedSignals, weigh: Callable[[FloatArray], NDArray[Any]]) -> NDArray[Any]:
    def block_sums(block: Block) -> tuple[NDArray[Any], ...]:
        rows = signals.project(block)
        weights = weigh(rows)
        columns = np.ascontiguousarray(rows.T)
        parts = (weights.real, weights.imag) if np.iscomplexobj(weights) else (weights,)
        seconds = [np.stack([(columns * w) @ rows for w in part.T]) for part in parts]  # real products: half the work
        second = seconds[0] + 1j * seconds[1] if len(seconds) == 2 else seconds[0]
        return weights.sum(axis=0), weights.T @ rows, second, np.sum(np.abs(weights) ** 2, axis=0)

    totals, firsts, seconds, squares = signals.run(block_sums, signals.blocks)
    effective = np.abs(totals) ** 2 / squares
    if effective.min() < 2:
        worst = int(effective.argmin())
        raise ValueError(
            f"Processing point {worst} leaves an effective sample size of {effective[worst]:.2f} out of "
            f"{signals.blocks.shape[0]}. Use points with smaller entries."
        )
    means = firsts / totals[:, None]
    return seconds / totals[:, None, None] - means[:, :, None] * means[:, None, :]
