"""Statistics of independent component analysis: matrices that are all A diag A' for the same mixing matrix A.

Every one of them is a sum over blocks of the whitened signals. Gaussian noise adds nothing to cumulants of order
three and four, and the same matrix to every generalised covariance.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled
from polyad.base.fixed import fixed_directions
from polyad.engine import Block, Largest, Source, total
from polyad.moments.symmetric import symmetric_cube
from polyad.moments.views.cross import centred_products, dense_rows, weighed_columns

ALL_PAIRS = 20  # up to this many components all contractions of order four are made


@dataclass(frozen=True)
class SignalWhitening:
    """How signals are whitened: ``whitening(block)`` gives the rows ``W (x - mean)`` of a block."""

    whitener: FloatArray  # K x M
    mean: FloatArray  # M

    def __call__(self, block: Block) -> FloatArray:
        """Return the whitened rows of a block, centred."""
        return np.ascontiguousarray(self.columns(block).T)

    def columns(self, block: Block) -> FloatArray:
        """Return the same turned, K x rows."""
        return weighed_columns(block.rows, self.mean, self.whitener)

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.whitener.shape[0])


def whitened_rows(block: Block, whitening: SignalWhitening) -> FloatArray:
    """Return the whitened rows of a block, for a pass that gives rows."""
    return whitening(block)


def signal_covariance(source: Source) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the covariance (over N) of signals, in two passes.

    Examples
    --------
    >>> from polyad.engine import signal_blocks
    >>> signal_covariance(signal_blocks([[1.0, 0.0], [3.0, 0.0]]))
    (array([2., 0.]), array([[1., 0.], [0., 0.]]))
    """
    N = source.n_rows
    mean = total(_signal_sums, source) / N
    return mean, total(centred_products, source, mean) / N


def _signal_sums(block: Block) -> FloatArray:
    return np.ones(block.n_rows) @ dense_rows(block.rows)  # of a few columns several times as fast as their sum


def third_cumulants(source: Source, whitening: SignalWhitening) -> FloatArray:
    """Return the third cumulants of the whitened signals, K x K x K, unbiased."""
    N = source.n_rows
    if N < 3:
        raise ValueError(f"Third cumulants need at least 3 samples; X has {N}.")
    return total(_cubes, source, whitening) * (N / ((N - 1) * (N - 2)))


def _cubes(block: Block, whitening: SignalWhitening) -> FloatArray:
    return symmetric_cube(whitening(block))


def third_reliability(source: Source, whitening: SignalWhitening) -> float:
    """Return the correlation between the third cumulants of the even and of the odd samples, in [-1, 1].

    Near 1 the sources are skewed; near 0 what order three shows is noise.
    """
    even, odd = total(_half_cubes, source, whitening)
    size = np.linalg.norm(even) * np.linalg.norm(odd)
    return float((even * odd).sum() / size) if size > 0 else 0.0


def _half_cubes(block: Block, whitening: SignalWhitening) -> tuple[FloatArray, FloatArray]:
    rows, even = whitening(block), block.start % 2  # the block's first row with an even number in the whole data
    return symmetric_cube(rows[even::2]), symmetric_cube(rows[1 - even :: 2])


def gaussianity(source: Source, sources: SignalWhitening) -> FloatArray:
    """Return the statistic of Jarque and Bera (1987) for each source: 2 on average where it is Gaussian, K.

    Parameters
    ----------
    source
        The signals.
    sources
        What turns them into sources of mean 0 and variance 1.
    """
    skewness, fourth = total(_third_and_fourth_powers, source, sources) / source.n_rows
    return source.n_rows * (skewness**2 / 6 + (fourth - 3) ** 2 / 24)


def _third_and_fourth_powers(block: Block, sources: SignalWhitening) -> FloatArray:
    powers: FloatArray = _sums_of_powers(sources.columns(block))
    return powers


@compiled(fastmath=True)
def _sums_of_powers(columns):  # type: ignore[no-untyped-def]
    """Return the sums of the third and of the fourth powers of some columns, 2 x K."""
    K, N = columns.shape
    sums = np.empty((2, K))
    for k in range(K):
        column, third, fourth = columns[k], 0.0, 0.0
        for n in range(N):
            square = column[n] * column[n]
            third += square * column[n]
            fourth += square * square
        sums[0, k], sums[1, k] = third, fourth
    return sums


def fourth_cumulants(source: Source, whitening: SignalWhitening, n_directions: int | None = None) -> FloatArray:
    """Return cumulant matrices of order four, cum(z, z, u'z, v'z), P x K x K (the statistics of JADE).

    For up to 20 components (u, v) are all pairs of axes, each unequal pair counted twice as in the sum over all of
    them; above, u = v are the axes and K fixed directions in general position. With ``n_directions`` u = v are so many
    fixed directions, for a start that need not be accurate.
    """
    K, N = whitening.n_components, source.n_rows
    if n_directions is None and K <= ALL_PAIRS:
        return third_and_fourth_cumulants(source, whitening)[K:]
    directions = fixed_directions(K, n_directions or K)
    u = directions if n_directions is not None else np.vstack([np.eye(K), directions])
    fourth, C = (products / N for products in total(_fourth_sums, source, whitening, u))
    return fourth - _of_gaussians(C, u, u)


def third_and_fourth_cumulants(source: Source, whitening: SignalWhitening) -> FloatArray:
    """Return the third cumulants of whitened signals and below them the fourth ones of all pairs, in one pass.

    K slices cum(z, z, z_k), and K (K + 1) / 2 matrices cum(z, z, z_i, z_j), each unequal pair counted twice: as many
    as up to 20 components pay. An entry of either order has the same noise, 1 / N, where signals are all but Gaussian.
    """
    fourth, third, pairs = (sums / source.n_rows for sums in total(_pair_sums, source, whitening))
    cumulants: FloatArray = _cumulants(fourth, third, pairs)
    return cumulants


@compiled
def _cumulants(fourth, third, pairs):  # type: ignore[no-untyped-def]
    """Return the matrices of :func:`third_and_fourth_cumulants`, from the means over pairs of coordinates."""
    n_pairs, K = third.shape
    place = np.empty((K, K), np.intp)  # of a pair among all
    p = 0
    for i in range(K):
        for j in range(i, K):
            place[i, j] = place[j, i] = p
            p += 1
    C, found = np.empty((K, K)), np.empty((K + n_pairs, K, K))
    for k in range(K):
        for m in range(K):
            C[k, m] = pairs[place[k, m]]
            for i in range(K):
                found[i, k, m] = third[place[k, m], i]
    p = 0
    for i in range(K):
        for j in range(i, K):
            weight = 1.0 if i == j else np.sqrt(2.0)
            for k in range(K):
                for m in range(K):
                    of_gaussians = C[i, j] * C[k, m] + C[i, k] * C[j, m] + C[i, m] * C[j, k]
                    found[K + p, k, m] = weight * (fourth[p, place[k, m]] - of_gaussians)
            p += 1
    return found


def _of_gaussians(C: FloatArray, u: FloatArray, v: FloatArray) -> FloatArray:
    """Return E[z z' (u'z) (v'z)] of Gaussians with the covariance C, P x K x K."""
    left = u @ C
    cross = left[:, :, None] * (v @ C)[:, None, :]
    return (left * v).sum(axis=1)[:, None, None] * C + cross + cross.transpose(0, 2, 1)


def _pair_sums(block: Block, whitening: SignalWhitening) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the sums of products of four coordinates, by pairs, of three and of two."""
    columns = whitening.columns(block)
    pairs = _pair_products(columns)
    return pairs @ pairs.T, pairs @ columns.T, pairs.sum(axis=1)


@compiled
def _pair_products(columns):  # type: ignore[no-untyped-def]
    """Return the products of all pairs of rows, K (K + 1) / 2 x N, in the order of the upper triangle."""
    K, N = columns.shape
    products = np.empty((K * (K + 1) // 2, N))
    p = 0
    for i in range(K):
        for j in range(i, K):
            for n in range(N):
                products[p, n] = columns[i, n] * columns[j, n]
            p += 1
    return products


def _fourth_sums(block: Block, whitening: SignalWhitening, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    columns = whitening.columns(block)
    rows = columns.T
    return np.stack([(columns * square) @ rows for square in (u @ columns) ** 2]), columns @ rows


def characteristic_covariances(
    source: Source, whitening: SignalWhitening, points: FloatArray
) -> NDArray[np.complex128]:
    """Return the generalised covariances of the whitened signals at the imaginary points i t, complex P x K x K.

    Parameters
    ----------
    source, whitening
        The signals, and how they are whitened to z.
    points
        P x K: the weight of a sample is exp(i t'z), of size 1, so that no sample dominates.
    """
    return _covariances(total(_characteristic_sums, source, whitening, points), source.n_rows)


def generalised_signal_covariances(source: Source, whitening: SignalWhitening, points: FloatArray) -> FloatArray:
    """Return the generalised covariances of the whitened signals at real points t, P x K x K.

    The weight of a sample is exp(t'z): points of size about 1 or less, or a few samples get all the weight.
    """
    largest = total(_largest_exponents, source, whitening, points).values
    return np.real(_covariances(total(_generalised_sums, source, whitening, points, largest), source.n_rows))


def _largest_exponents(block: Block, whitening: SignalWhitening, points: FloatArray) -> Largest:
    return Largest((whitening(block) @ points.T).max(axis=0))


def _characteristic_sums(block: Block, whitening: SignalWhitening, points: FloatArray) -> tuple[NDArray[Any], ...]:
    rows = whitening(block)
    return _weighted_sums(rows, np.exp(1j * (rows @ points.T)))


def _generalised_sums(
    block: Block, whitening: SignalWhitening, points: FloatArray, largest: FloatArray
) -> tuple[NDArray[Any], ...]:
    rows = whitening(block)
    return _weighted_sums(rows, np.exp(rows @ points.T - largest))  # the largest weight is 1: nothing overflows


def _weighted_sums(rows: FloatArray, weights: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return the sums of w, w z, w z z' and |w|^2 over whitened rows, for every point."""
    columns = np.ascontiguousarray(rows.T)
    parts = (weights.real, weights.imag) if np.iscomplexobj(weights) else (weights,)
    seconds = [np.stack([(columns * w) @ rows for w in part.T]) for part in parts]  # real products: half the work
    second = seconds[0] + 1j * seconds[1] if len(seconds) == 2 else seconds[0]
    return weights.sum(axis=0), weights.T @ rows, second, np.sum(np.abs(weights) ** 2, axis=0)


def _covariances(sums: tuple[NDArray[Any], ...], n_rows: int) -> NDArray[Any]:
    totals, firsts, seconds, squares = sums
    effective = np.abs(totals) ** 2 / squares
    if effective.min() < 2:
        worst = int(effective.argmin())
        raise ValueError(
            f"Processing point {worst} leaves an effective sample size of {effective[worst]:.2f} out of "
            f"{n_rows}. Use points with smaller entries."
        )
    means = firsts / totals[:, None]
    return seconds / totals[:, None, None] - means[:, :, None] * means[:, None, :]
