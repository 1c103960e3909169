"""Scores of sources: minus the derivative of the logarithm of a density, as a broken line that data are fitted by.

The likelihood of independent sources needs their densities, and any guess of them, such as one for heavy tails, costs
accuracy on sources of another kind. The score that is closest to the true one in mean square is found without the
density, since ``E[psi(y) f(y)] = E[f'(y)]`` holds for every function f: it minimises ``E[psi^2] - 2 E[psi']`` (Pham
and Garat 1997; score matching). For a broken line that is one small linear system, made of three sums for each piece.

The slope of a broken line jumps at its knots. With these jumps every sample that crosses a knot would move the fitted
score a little, and steps that fit scores as they go would never come to rest: so E[psi'] is taken with a slope that
goes over from that of one piece to that of the next.

With the line ``y`` itself among the candidates, ``E[psi(y) y] = 1`` and ``E[psi'] = E[psi^2] >= 1``: steps of Newton
are then stable for every source, with heavy or light tails, skewed or not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled

N_PIECES = 94  # of a broken line; fine near 0, where densities of real signals have their peak
SHRINKAGE = 1.0  # what slopes other than that of a Gaussian cost, in samples
STRETCH = 512  # values at a time, in the nearest cache
SMOOTHNESS = 100.0  # what bends of the line cost, in samples: the best of .1 to 100 tried, on drawn samples and voices

CONTRASTS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "logcosh": np.tanh,
    "exp": lambda y: y * np.exp(-(y**2) / 2),
    "cube": lambda y: y**3,
}


def _knots() -> FloatArray:
    """Return where pieces begin and end: equal steps of y / (1 + |y|): a division finds the piece."""
    shares = np.linspace(-1, 1, N_PIECES + 3)[1:-1]
    return shares / (1 - np.abs(shares))


KNOTS = _knots()
WIDTHS = np.diff(KNOTS)
_SQUARES = np.stack([KNOTS[:-1] ** 2, 2 * KNOTS[:-1], np.ones(N_PIECES)], axis=1)  # y^2 from what is tallied


@dataclass(frozen=True)
class Scores:
    """A broken line for each source; the outer pieces go on for ever."""

    values: FloatArray  # K x (pieces + 1), at the knots

    @cached_property
    def slopes(self) -> FloatArray:
        """The derivative in each piece, K x pieces."""
        return (self.values[:, 1:] - self.values[:, :-1]) / WIDTHS

    def mean_derivative(self, sums: FloatArray, n_rows: int) -> FloatArray:
        """Return E[psi'] of each source, from the sums of :func:`tally`."""
        return np.einsum("kp,kp->k", sums[:, :, 0], self.slopes) / n_rows

    def mean_loss(self, sums: FloatArray, n_rows: int) -> float:
        """Return E[Psi], added up over sources, Psi being the integral of the score from 0."""
        return float(np.vdot(sums, self._integrals) / n_rows)

    @cached_property
    def _integrals(self) -> FloatArray:
        """What counts, sums and squares have to be multiplied with in each piece, K x pieces x 3."""
        starts, slopes = self.values[:, :-1], self.slopes
        areas = (starts + slopes * (WIDTHS / 2)) * WIDTHS
        before = np.cumsum(areas, axis=1) - areas
        before -= before[:, N_PIECES // 2, None]  # counted from 0: in the tails scores are large, and nothing is there
        return np.stack([before, starts, slopes / 2], axis=2)

    def __reduce__(self) -> tuple[type["Scores"], tuple[FloatArray]]:
        """Travel without what follows from the values."""
        return Scores, (self.values,)


def contrast_scores(name: str, n_components: int) -> Scores:
    """Return one of the usual contrasts as the score of every source."""
    return Scores(np.tile(CONTRASTS[name](KNOTS), (n_components, 1)))


def variances(sums: FloatArray, n_rows: int) -> FloatArray:
    """Return E[y^2] of each source, from the sums of :func:`tally`."""
    return np.einsum("kpc,pc->k", sums, _SQUARES) / n_rows


def fitted_scores(sums: FloatArray, n_rows: int, fun: str = "adaptive") -> Scores:
    """Return the score of each source that explains its values best.

    Parameters
    ----------
    sums
        K x pieces x 3, the sums of :func:`tally`.
    n_rows
        N.
    fun
        "adaptive" for any broken line; or a contrast g of :data:`CONTRASTS`, for a combination of 1, y and g(y).

    Examples
    --------
    The score of a Gaussian is y; slopes that go over into each other change it by a hundredth in the wide pieces:

    >>> from scipy.stats import norm
    >>> y = norm.ppf((np.arange(100_000) + 0.5) / 100_000)[None]
    >>> found = fitted_scores(tally(y, contrast_scores("logcosh", 1))[1], 100_000)
    >>> np.interp([-1.0, 0.0, 2.0], KNOTS, found.values[0]).round(2) + 0.0
    array([-1.  ,  0.  ,  1.98])
    """
    bands, target = _equations(sums / n_rows, KNOTS)
    if fun == "adaptive":
        penalty = (SMOOTHNESS * _BENDS + SHRINKAGE * _SLOPES) / n_rows
        return Scores(_broken_lines(bands, target, KNOTS, penalty))
    candidates = np.stack([np.ones_like(KNOTS), KNOTS, CONTRASTS[fun](KNOTS)])
    products = bands[:, :1] * candidates  # E[h h'] times each of them
    products[:, :, :-1] += bands[:, 1:, :-1] * candidates[:, 1:]
    products[:, :, 1:] += bands[:, 1:, :-1] * candidates[:, :-1]
    small, right = products @ candidates.T, target @ candidates.T
    ridge = 1e-12 * np.trace(small, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    values = np.linalg.solve(small + ridge, right[:, :, None])[:, :, 0] @ candidates
    return Scores(values / (values * products[:, 1]).sum(axis=1)[:, None])  # E[psi(y) y] is 1 but for the ridge


@compiled
def _equations(shares, knots):  # type: ignore[no-untyped-def]
    """Return E[h h'] of the hat functions h, its diagonal and what is beside it, and E[h'].

    Broken lines are combinations of hat functions. The slope is that of a piece at its middle, about, and at a knot the
    mean of the two beside it; it stays the same along the first piece and the last, which have no end.
    """
    K, n_pieces, _ = shares.shape
    bands, target = np.zeros((K, 2, n_pieces + 1)), np.zeros((K, n_pieces + 1))
    weights = np.empty(n_pieces)  # of the slope of each piece in E[psi']
    for k in range(K):
        weights[:] = 0.0
        for p in range(n_pieces):
            width = knots[p + 1] - knots[p]
            here, along, squared = shares[k, p, 0], shares[k, p, 1] / width, shares[k, p, 2] / (width * width)
            bands[k, 0, p] += here - 2 * along + squared
            bands[k, 0, p + 1] += squared
            bands[k, 1, p] = along - squared
            if p == 0 or p == n_pieces - 1:
                weights[p] += here
                continue
            left, right = here - along, along  # what counts with the slope at either knot
            if p == 1:
                weights[0] += left
            else:
                weights[p - 1] += left / 2
                weights[p] += left / 2
            if p == n_pieces - 2:
                weights[p + 1] += right
            else:
                weights[p] += right / 2
                weights[p + 1] += right / 2
        for p in range(n_pieces):
            slope = weights[p] / (knots[p + 1] - knots[p])
            target[k, p] -= slope
            target[k, p + 1] += slope
    return bands, target


@compiled
def _broken_lines(bands, target, knots, penalty):  # type: ignore[no-untyped-def]
    """Return the values of the lines at the knots, K x knots, for a penalty with two entries beside the diagonal.

    Unknown is how far a score is from y, the one of a Gaussian: where no values are, the line goes back to it. The
    matrices are L D L' with two entries of L beside its diagonal.
    """
    K, n = target.shape
    values, x = np.empty((K, n)), np.empty(n)
    D, one, two = np.empty(n), np.zeros(n), np.zeros(n)
    for k in range(K):
        for i in range(n):
            image = bands[k, 0, i] * knots[i]  # (E[h h'] knots)_i
            if i > 0:
                image += bands[k, 1, i - 1] * knots[i - 1]
            if i < n - 1:
                image += bands[k, 1, i] * knots[i + 1]
            values[k, i] = image
            D[i], x[i] = bands[k, 0, i] + penalty[i, i], target[k, i] - image
            if i > 1:
                two[i] = penalty[i, i - 2] / D[i - 2]
                D[i] -= two[i] * two[i] * D[i - 2]
                x[i] -= two[i] * x[i - 2]
            if i > 0:
                beside = bands[k, 1, i - 1] + penalty[i, i - 1]
                if i > 1:
                    beside -= two[i] * D[i - 2] * one[i - 1]
                one[i] = beside / D[i - 1]
                D[i] -= one[i] * one[i] * D[i - 1]
                x[i] -= one[i] * x[i - 1]
        scale = 0.0
        for i in range(n - 1, -1, -1):
            x[i] /= D[i]
            if i < n - 1:
                x[i] -= one[i + 1] * x[i + 1]
            if i < n - 2:
                x[i] -= two[i + 2] * x[i + 2]
            image, values[k, i] = values[k, i], knots[i] + x[i]
            scale += image * values[k, i]
        for i in range(n):  # by E[psi(y) y], 1 but for the penalty: with 1 the likelihood asks for no other scale
            values[k, i] /= scale
    return values


def _penalties() -> tuple[FloatArray, FloatArray]:
    """Return the matrices of what changes of the slope cost, and of what slopes cost."""
    slopes = np.diff(np.eye(N_PIECES + 1), axis=0) / WIDTHS[:, None]
    changes = np.diff(slopes, axis=0)
    widths = (WIDTHS[:-1] + WIDTHS[1:]) / 2
    return (changes.T * widths) @ changes, (slopes.T * WIDTHS) @ slopes


_BENDS, _SLOPES = _penalties()


def tally(sources: FloatArray, scores: Scores) -> tuple[FloatArray, FloatArray]:
    """Return the scores of values, K x N, and for each source and piece how many values, their sum and that of squares.

    Values are counted from the knot where their piece begins.
    """
    return _tally(sources, KNOTS, scores.values, scores.slopes)


@compiled
def _tally(Y, knots, values, slopes):  # type: ignore[no-untyped-def]
    K, N = Y.shape
    n_pieces = knots.size - 1
    half, last = (n_pieces + 2) / 2, n_pieces - 0.5
    psi = np.empty((K, N))
    sums = np.empty((K, n_pieces, 3))
    lanes = np.empty((4, n_pieces, 3))  # neighbours are added apart: else each would wait for the one before it
    pieces, alongs = np.empty(STRETCH, np.uint32), np.empty(STRETCH)
    for k in range(K):
        lanes[:] = 0.0
        for first in range(0, N, STRETCH):
            n = min(STRETCH, N - first)
            y, score = Y[k, first : first + n], psi[k, first : first + n]
            for i in range(n):
                place = (y[i] / (1 + abs(y[i])) + 1) * half - 1
                place = place if place > 0.0 else 0.0
                pieces[i] = np.uint32(place if place < last else last)
            for i in range(n):
                piece = pieces[i]
                along = y[i] - knots[piece]
                alongs[i] = along
                score[i] = values[k, piece] + slopes[k, piece] * along
            for i in range(n):
                piece, along = pieces[i], alongs[i]
                lanes[i & 3, piece, 0] += 1.0
                lanes[i & 3, piece, 1] += along
                lanes[i & 3, piece, 2] += along * along
        for p in range(n_pieces):
            for c in range(3):
                sums[k, p, c] = (lanes[0, p, c] + lanes[1, p, c]) + (lanes[2, p, c] + lanes[3, p, c])
    return psi, sums
