"""Cross-cumulants of two views of order three and four, whitened."""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.fixed import fixed_directions
from polyad.engine import Block, Source, sum_over, total
from polyad.moments.chunks import chunks
from polyad.moments.symmetric import square_times
from polyad.moments.views.cross import CentredProjection

ALL_PAIRS = 16  # up to this many components all pairs of axes are contracted at order four


def third_order_targets(
    source: Source,
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
    source
        The two views.
    x_whitener, y_whitener
        K x M1 and K x M2.
    means
        The means of the views.
    x_counts, y_counts
        Whether a view holds Poisson counts.
    directions
        F x K, the u; None takes the K axes.
    """
    N = source.n_rows
    if N < 3:
        raise ValueError(f"Third cumulants need at least 3 samples; X and Y have {N}.")
    project_x, project_y = whitened_views(x_whitener, y_whitener, means)
    cube, pair_scale = N / ((N - 1) * (N - 2)), 1 / (N - 1)
    T121, T122, G1, G2 = total(_third_sums, source, project_x, project_y, directions, x_counts, y_counts)
    T121, T122 = cube * T121, cube * T122
    if x_counts:
        T121 -= own_counts(project_x.columns, pair_scale * G1, directions)
    if y_counts:
        T122 -= own_counts(project_y.columns, pair_scale * G2, directions)
    return np.concatenate([T121, T122.transpose(0, 2, 1)])


def whitened_views(
    x_whitener: FloatArray, y_whitener: FloatArray, means: tuple[FloatArray, FloatArray]
) -> tuple[CentredProjection, CentredProjection]:
    """Return the projections of both views along the rows of their whiteners."""
    x_columns, y_columns = (np.ascontiguousarray(whitener.T) for whitener in (x_whitener, y_whitener))
    return CentredProjection(x_columns, means[0] @ x_columns), CentredProjection(y_columns, means[1] @ y_columns)


def _third_sums(
    block: Block,
    project_x: CentredProjection,
    project_y: CentredProjection,
    directions: FloatArray | None,
    x_counts: bool,
    y_counts: bool,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    x_rows, y_rows = block.views
    left, right = project_x(x_rows), project_y(y_rows)
    T121, T122 = weighted_products(left, right, directions), weighted_products(right, left, directions)
    G1 = x_rows.T @ right if x_counts else np.zeros(1)
    G2 = y_rows.T @ left if y_counts else np.zeros(1)
    return T121, T122, G1, G2


def weighted_products(left: FloatArray, right: FloatArray, directions: FloatArray | None) -> FloatArray:
    """Sum over rows n of (left[n] . u) left[n] right[n]' for every direction u; the axes where None."""
    if directions is None:
        return square_times(left, right)
    columns = np.ascontiguousarray(left.T)
    return np.stack([(columns * weights) @ right for weights in directions @ columns])


def own_counts(whitener: FloatArray, products: FloatArray, directions: FloatArray | None) -> FloatArray:
    """Sum over words m of (W[m] . u) W[m] G[m]' for every direction u: a word met by itself."""
    return sum_over(
        lambda words: weighted_products(whitener[words], products[words], directions), chunks(whitener.shape[0])
    )


def third_order_reliability(
    source: Source,
    x_whitener: FloatArray,
    y_whitener: FloatArray,
    means: tuple[FloatArray, FloatArray],
) -> float:
    """Return the correlation between third cross-cumulants of the even and of the odd rows, in [-1, 1].

    Near 1 the sources are skewed and order three can be relied on; near 0 it is noise alone.
    """
    even, odd = total(_third_halves, source, *whitened_views(x_whitener, y_whitener, means))
    size = np.linalg.norm(even) * np.linalg.norm(odd)
    return float((even * odd).sum() / size) if size > 0 else 0.0


def _third_halves(
    block: Block, project_x: CentredProjection, project_y: CentredProjection
) -> tuple[FloatArray, FloatArray]:
    x_rows, y_rows = block.views
    left, right = project_x(x_rows), project_y(y_rows)
    even = block.start % 2  # the block's first row with an even number in the whole data
    halves = [
        np.stack([square_times(left[k::2], right[k::2]), square_times(right[k::2], left[k::2])])
        for k in (even, 1 - even)
    ]
    return halves[0], halves[1]


def fourth_order_targets(
    source: Source,
    x_whitener: FloatArray,
    y_whitener: FloatArray,
    means: tuple[FloatArray, FloatArray],
    *,
    directions: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """Return the fourth cross-cumulants cum(z1, z2, a'z1, b'z2) of the whitened views, F x K x K.

    They see sources with heavier or lighter tails than the Gaussian, skewed or not. Noise of a view, Gaussian or
    not, drops out: every cumulant mixes the two views.

    Parameters
    ----------
    source
        The two views.
    x_whitener, y_whitener
        K x M1 and K x M2.
    means
        The means of the views.
    directions
        F x K each, the a and the b; None takes all pairs of axes for up to 16 components and 8 K fixed pairs in
        general position above.
    """
    K, N = x_whitener.shape[0], source.n_rows
    left_u, right_u = _direction_pairs(K) if directions is None else directions
    sums = total(_fourth_sums, source, *whitened_views(x_whitener, y_whitener, means), left_u, right_u)
    fourth, C11, C22, C12 = (products / N for products in sums)
    mixed = np.einsum("fi,ij,fj->f", left_u, C12, right_u)
    within = np.einsum("fi,fj->fij", left_u @ C11, right_u @ C22)
    across = np.einsum("fi,fj->fij", right_u @ C12.T, left_u @ C12)
    return fourth - mixed[:, None, None] * C12 - within - across


def _fourth_sums(
    block: Block, project_x: CentredProjection, project_y: CentredProjection, left_u: FloatArray, right_u: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    x_rows, y_rows = block.views
    left, right = project_x(x_rows), project_y(y_rows)
    weights = (left_u @ left.T) * (right_u @ right.T)
    columns = np.ascontiguousarray(left.T)
    fourth = np.stack([(columns * weight) @ right for weight in weights])
    return fourth, left.T @ left, right.T @ right, left.T @ right


def _direction_pairs(K: int) -> tuple[FloatArray, FloatArray]:
    if K <= ALL_PAIRS:
        axes = np.eye(K)
        return np.repeat(axes, K, axis=0), np.tile(axes, (K, 1))
    both = fixed_directions(K, 16 * K)
    return both[0::2], both[1::2]
