"""Cross-cumulants of two views of order three and four, whitened."""

import numpy as np

from polyad.engine import Runner
from polyad.engine.blocks import FloatArray
from polyad.moments.cross_blocks import PairedBlock, PairedBlocks
from polyad.moments.pieces import chunks
from polyad.moments.symmetric import square_times

ALL_PAIRS = 16  # up to this many components all pairs of axes are contracted at order four


def third_order_targets(
    pairs: PairedBlocks,
    run: Runner,
    x_whitener: FloatArray,
    y_whitener: FloatArray,
    means: tuple[FloatArray, FloatArray],
    *,
    x_counts: bool,
    y_counts: bool,
    directions: FloatArray | None = None,
) -> FloatArray:
    """Return the contractions T121(W1' u) and T122(W2' u) of the third cross-cumulants, whitened, 2F x K x K.

    For a view of counts the terms that a Poisson count makes with itself are taken out (eq. 17 of "Beyond CCA");
    the estimates are unbiased. X stays sparse: rows are centred after projection.

    Parameters
    ----------
    pairs, run
        The two views, and how a pass over them is run.
    x_whitener, y_whitener
        K x M1 and K x M2.
    means
        The means of the views.
    x_counts, y_counts
        Whether a view holds Poisson counts.
    directions
        F x K, the u; None takes the K axes.
    """
    N = pairs.n_rows
    if N < 3:
        raise ValueError(f"Third cumulants need at least 3 samples; X and Y have {N}.")
    W1, W2 = (np.ascontiguousarray(whitener.T) for whitener in (x_whitener, y_whitener))
    x_shift, y_shift = means[0] @ W1, means[1] @ W2
    cube, pair_scale = N / ((N - 1) * (N - 2)), 1 / (N - 1)

    def block_sums(pair: PairedBlock) -> tuple[FloatArray, ...]:
        left, right = pair.left @ W1 - x_shift, pair.right @ W2 - y_shift
        T121, T122 = weighted_products(left, right, directions), weighted_products(right, left, directions)
        G1 = pair.left.T @ right if x_counts else np.zeros(1)
        G2 = pair.right.T @ left if y_counts else np.zeros(1)
        return T121, T122, G1, G2

    T121, T122, G1, G2 = run(block_sums, pairs)
    T121, T122 = cube * T121, cube * T122
    if x_counts:
        T121 -= own_counts(W1, pair_scale * G1, directions, run)
    if y_counts:
        T122 -= own_counts(W2, pair_scale * G2, directions, run)
    return np.concatenate([T121, T122.transpose(0, 2, 1)])


def weighted_products(left: FloatArray, right: FloatArray, directions: FloatArray | None) -> FloatArray:
    """Sum over rows n of (left[n] . u) left[n] right[n]' for every direction u; the axes where None."""
    if directions is None:
        return square_times(left, right)
    columns = np.ascontiguousarray(left.T)
    return np.stack([(columns * weights) @ right for weights in directions @ columns])


def own_counts(whitener: FloatArray, products: FloatArray, directions: FloatArray | None, run: Runner) -> FloatArray:
    """Sum over words m of (W[m] . u) W[m] G[m]' for every direction u: a word met by itself."""
    return run(lambda rows: weighted_products(whitener[rows], products[rows], directions), chunks(whitener.shape[0]))


def third_order_reliability(
    pairs: PairedBlocks,
    run: Runner,
    x_whitener: FloatArray,
    y_whitener: FloatArray,
    means: tuple[FloatArray, FloatArray],
) -> float:
    """Return the correlation between third cross-cumulants of the even and of the odd rows, in [-1, 1].

    Near 1 the sources are skewed and order three can be relied on; near 0 it is noise alone.
    """
    W1, W2 = (np.ascontiguousarray(whitener.T) for whitener in (x_whitener, y_whitener))
    x_shift, y_shift = means[0] @ W1, means[1] @ W2

    def block_sums(pair: PairedBlock) -> tuple[FloatArray, FloatArray]:
        left, right = pair.left @ W1 - x_shift, pair.right @ W2 - y_shift
        even = pair.start % 2  # the block's first row with an even number in the whole data
        halves = [
            np.stack([square_times(left[k::2], right[k::2]), square_times(right[k::2], left[k::2])])
            for k in (even, 1 - even)
        ]
        return halves[0], halves[1]

    even, odd = run(block_sums, pairs)
    size = np.linalg.norm(even) * np.linalg.norm(odd)
    return float((even * odd).sum() / size) if size > 0 else 0.0


def fourth_order_targets(
    pairs: PairedBlocks,
    run: Runner,
    x_whitener: FloatArray,
    y_whitener: FloatArray,
    means: tuple[FloatArray, FloatArray],
    *,
    directions: tuple[FloatArray, FloatArray] | None = None,
    random_state: int = 0,
) -> FloatArray:
    """Return the fourth cross-cumulants cum(z1, z2, a'z1, b'z2) of the whitened views, F x K x K.

    They see sources with heavier or lighter tails than the Gaussian, skewed or not. Noise of a view, Gaussian or
    not, drops out: every cumulant mixes the two views.

    Parameters
    ----------
    pairs, run
        The two views, and how a pass over them is run.
    x_whitener, y_whitener
        K x M1 and K x M2.
    means
        The means of the views.
    directions
        F x K each, the a and the b; None takes all pairs of axes for up to 16 components and 8 K random pairs above.
    random_state
        Seed of the random pairs.
    """
    K, N = x_whitener.shape[0], pairs.n_rows
    left_u, right_u = _direction_pairs(K, random_state) if directions is None else directions
    W1, W2 = (np.ascontiguousarray(whitener.T) for whitener in (x_whitener, y_whitener))
    x_shift, y_shift = means[0] @ W1, means[1] @ W2

    def block_sums(pair: PairedBlock) -> tuple[FloatArray, ...]:
        left, right = pair.left @ W1 - x_shift, pair.right @ W2 - y_shift
        weights = (left_u @ left.T) * (right_u @ right.T)
        columns = np.ascontiguousarray(left.T)
        fourth = np.stack([(columns * weight) @ right for weight in weights])
        return fourth, left.T @ left, right.T @ right, left.T @ right

    fourth, C11, C22, C12 = (total / N for total in run(block_sums, pairs))
    mixed = np.einsum("fi,ij,fj->f", left_u, C12, right_u)
    within = np.einsum("fi,fj->fij", left_u @ C11, right_u @ C22)
    across = np.einsum("fi,fj->fij", right_u @ C12.T, left_u @ C12)
    return fourth - mixed[:, None, None] * C12 - within - across


def _direction_pairs(K: int, random_state: int) -> tuple[FloatArray, FloatArray]:
    if K <= ALL_PAIRS:
        axes = np.eye(K)
        return np.repeat(axes, K, axis=0), np.tile(axes, (K, 1))
    left, right = np.random.default_rng(random_state).standard_normal((2, 8 * K, K)) / np.sqrt(K)
    return left, right
