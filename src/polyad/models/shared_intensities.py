"""Moments of the intensities that two views of counts share: joint cumulants leave out the noise of each view."""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.engine import Block

ORDERS = ((1, 0), (0, 1), (2, 0), (0, 2), (1, 1), (2, 1), (1, 2), (2, 2))  # of the joint moments of two views


def joint_powers(block: Block, inverses: tuple[FloatArray, ...]) -> FloatArray:
    """Return unbiased estimates of the joint powers u^i v^j of every sample, for all ``ORDERS``, 8 x N x K.

    Rates of the views along left inverses of their loadings are u = a + noise and v = a + other noise, up to a scale.
    """
    x, y = (
        [np.asarray(rows @ inverse), np.asarray(rows @ inverse) ** 2 - np.asarray(rows @ inverse**2)]
        for rows, inverse in zip(block.views, inverses)
    )
    ones = np.ones_like(x[0])
    return np.stack([(x[i - 1] if i else ones) * (y[j - 1] if j else ones) for i, j in ORDERS])


def shared_moments(joint: FloatArray) -> FloatArray:
    """Return the moments of the shared intensities, E a to E a^4, from joint moments of the views, both with K columns.

    Cumulants of u and v together, two and more, are those of a alone. They do not tell its mean, in which intensities
    and noise are added up: it is what a gamma distribution of this variance and skewness has. A scale by which the
    views may differ is the ratio of the two third cumulants, and intensities are in tokens of the first view.

    Examples
    --------
    >>> gamma = np.array([2.0, 6.0, 24.0, 120.0])[:, None]  # shape 2, rate 1
    >>> joint = gamma[[0, 0, 1, 1, 1, 2, 2, 3]]  # no noise, the same scale
    >>> shared_moments(joint).ravel().round(9)
    array([  2.,   6.,  24., 120.])
    """
    x, y, xx, yy, xy, xxy, xyy, xxyy = joint
    pair = xy - x * y
    left = xxy - 2 * x * xy - y * xx + 2 * x**2 * y
    right = xyy - 2 * y * xy - x * yy + 2 * y**2 * x
    fourth = (
        xxyy
        - 2 * (y * xxy + x * xyy)
        - xx * yy
        - 2 * xy**2
        + 2 * (xx * y**2 + yy * x**2)
        + 8 * x * y * xy
        - 6 * x**2 * y**2
    )
    if (pair <= 0).any() or (left <= 0).any() or (right <= 0).any():
        worst = int(np.minimum(pair, np.minimum(left, right)).argmin())
        raise ValueError(
            f"The intensities of component {worst} have no positive variance and skewness in common to both views, as "
            "gamma intensities have: too few samples tell of it, or it is skewed to the left. Give more samples, or "
            "ask for fewer components."
        )
    scale = right / left
    k2, k3, k4 = pair / scale, left / scale, fourth / scale**2
    mean = 2 * k2**2 / k3
    second, third = k2 + mean**2, k3 + 3 * k2 * mean + mean**3
    return np.stack([mean, second, third, k4 + 4 * k3 * mean + 3 * k2**2 + 6 * k2 * mean**2 + mean**4])
