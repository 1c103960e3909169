"""Scores of sources, minus the derivative of the logarithm of their density, as piecewise linear functions.

The likelihood of independent sources needs their densities, and any guess of them, such as one for heavy tails, costs
accuracy on sources of another kind. The score that is closest to the true one in mean square is found without the
density, since ``E[psi(y) f(y)] = E[f'(y)]`` holds for every function f: it minimises ``E[psi^2] - 2 E[psi']`` (Pham
and Garat 1997; score matching). For a piecewise linear psi that is one small linear system, made of three sums for each
piece.

The slope of psi jumps at its knots. With these jumps every sample that crosses a knot would move the fitted score a
little, and an algorithm that fits scores after each of its steps would never converge: so E[psi'] is computed with a
slope that changes gradually from one piece to the next.

With ``y`` itself among the candidates, ``E[psi(y) y] = 1`` and ``E[psi'] = E[psi^2] >= 1``: Newton steps are then
stable for every source, with heavy or light tails, skewed or not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled

N_PIECES = 94  # of a score; they are narrow near 0, where densities of real signals have their peak
# Weights of the penalties, in samples: on slopes that differ from the slope of a Gaussian's score, and on changes of
# the slope. The second was the best of .1 to 100, on simulated samples and on voices.
SHRINKAGE = 1.0
SMOOTHNESS = 100.0
CHUNK_VALUES = 512  # processed at a time: they fit the first cache

CONTRASTS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "logcosh": np.tanh,
    "exp": lambda y: y * np.exp(-(y**2) / 2),
    "cube": lambda y: y**3,
}


def _knots() -> FloatArray:
    """Return where pieces begin and end, at equal steps of y / (1 + |y|), so that one division finds the piece of y."""
    shares = np.linspace(-1, 1, N_PIECES + 3)[1:-1]
    return shares / (1 - np.abs(shares))


KNOTS = _knots()
WIDTHS = np.diff(KNOTS)


class SourceMeans(NamedTuple):
    """What the sums of :func:`tally` say of sources: three numbers for each."""

    derivatives: FloatArray  # E[psi']
    squares: FloatArray  # E[y^2]
    losses: FloatArray  # E[Psi], Psi being the integral of the score from 0


@dataclass(frozen=True)
class Scores:
    """A piecewise linear function for each source; the first and the last piece extend to infinity."""

    values: FloatArray  # K x (pieces + 1), at the knots

    @cached_property
    def slopes(self) -> FloatArray:
        """The derivative in each piece, K x pieces."""
        return (self.values[:, 1:] - self.values[:, :-1]) / WIDTHS

    def expected(self, sums: FloatArray, n_rows: int) -> SourceMeans:
        """Return what the sums of :func:`tally` say, these scores or others having been given to it."""
        return SourceMeans(*_expected(sums, KNOTS, self.values, n_rows))

    def __reduce__(self) -> tuple[type["Scores"], tuple[FloatArray]]:
        """Leave out of a pickle what follows from the values."""
        return Scores, (self.values,)


@compiled
def _expected(sums, knots, values, n_rows):  # type: ignore[no-untyped-def]
    """Return E[psi'], E[y^2] and E[Psi] of each source, K each; Psi is counted from 0, where no digits are lost."""
    K, n_pieces, _ = sums.shape
    derivatives, squares, losses = np.empty(K), np.empty(K), np.empty(K)
    middle = n_pieces // 2  # the piece that begins at 0
    for k in range(K):
        derivative, square, loss = 0.0, 0.0, 0.0
        right, left = 0.0, 0.0  # Psi at the knots that have been reached from 0
        for i in range(n_pieces):
            p = middle + i if i < n_pieces - middle else n_pieces - 1 - i
            knot, width, value = knots[p], knots[p + 1] - knots[p], values[k, p]
            slope = (values[k, p + 1] - value) / width
            area = (value + slope * (width / 2)) * width
            before = right
            if p < middle:
                left -= area
                before = left
            else:
                right += area
            number, distance, squared = sums[k, p, 0], sums[k, p, 1], sums[k, p, 2]
            derivative += slope * number
            square += knot * knot * number + 2 * knot * distance + squared
            loss += before * number + value * distance + slope / 2 * squared
        derivatives[k], squares[k], losses[k] = derivative / n_rows, square / n_rows, loss / n_rows
    return derivatives, squares, losses


@cache
def contrast_scores(name: str, n_components: int) -> Scores:
    """Return one of the usual contrasts as the score of every source."""
    return Scores(np.tile(CONTRASTS[name](KNOTS), (n_components, 1)))


def fitted_scores(sums: FloatArray, n_rows: int, fun: str = "adaptive") -> Scores:
    """Return the score of each source that explains its values best.

    Parameters
    ----------
    sums
        K x pieces x 3, the sums of :func:`tally`.
    n_rows
        N.
    fun
        "adaptive" for any piecewise linear function; or the name of a contrast g in :data:`CONTRASTS`, for a
        combination of 1, y and g(y).

    Examples
    --------
    The score of a Gaussian is y; that slopes change gradually moves it by a hundredth in the wide pieces:

    >>> from scipy.stats import norm
    >>> y = norm.ppf((np.arange(100_000) + 0.5) / 100_000)[None]
    >>> found = fitted_scores(tally(y, contrast_scores("logcosh", 1))[1], 100_000)
    >>> np.interp([-1.0, 0.0, 2.0], KNOTS, found.values[0]).round(2) + 0.0
    array([-1.  ,  0.  ,  1.98])
    """
    bands, target = _normal_equations(sums / n_rows, KNOTS)
    if fun == "adaptive":
        return Scores(_penalised_scores(bands, target, KNOTS, _PENALTY / n_rows))
    candidates = np.stack([np.ones_like(KNOTS), KNOTS, CONTRASTS[fun](KNOTS)])
    products = bands[:, :1] * candidates  # E[h h'] times each candidate
    products[:, :, :-1] += bands[:, 1:, :-1] * candidates[:, 1:]
    products[:, :, 1:] += bands[:, 1:, :-1] * candidates[:, :-1]
    small, right = products @ candidates.T, target @ candidates.T
    ridge = 1e-12 * np.trace(small, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    values = np.linalg.solve(small + ridge, right[:, :, None])[:, :, 0] @ candidates
    # E[psi(y) y] differs from 1 only by the ridge.
    return Scores(values / (values * products[:, 1]).sum(axis=1)[:, None])


@compiled
def _normal_equations(means, knots):  # type: ignore[no-untyped-def]
    """Return E[h h'] of the hat functions h, its diagonal and the band beside it (K x 2 x knots), and E[h'], K x knots.

    Piecewise linear functions are combinations of hat functions, one for each knot. For E[h'] the slope at a knot is
    the mean of those of the two pieces that meet there, and it is interpolated in between; in the first and in the last
    piece it is constant.

    Parameters
    ----------
    means
        K x pieces x 3, the sums of :func:`tally` over N.
    knots
        Where the pieces begin and end.
    """
    K, n_pieces, _ = means.shape
    bands, target = np.zeros((K, 2, n_pieces + 1)), np.zeros((K, n_pieces + 1))
    weights = np.empty(n_pieces)  # of the slope of each piece in E[psi']
    for k in range(K):
        weights[:] = 0.0
        for p in range(n_pieces):
            width = knots[p + 1] - knots[p]
            # With t from 0 to 1 along the piece: E[1], E[t] and E[t^2] of the values in it.
            share, mean, square = means[k, p, 0], means[k, p, 1] / width, means[k, p, 2] / (width * width)
            bands[k, 0, p] += share - 2 * mean + square
            bands[k, 0, p + 1] += square
            bands[k, 1, p] = mean - square
            if p == 0 or p == n_pieces - 1:
                weights[p] += share
                continue
            left, right = share - mean, mean  # weights of the slopes at the knots on either side
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
def _penalised_scores(bands, target, knots, penalty):  # type: ignore[no-untyped-def]
    """Return the values of the scores at the knots, K x knots, for a penalty: its diagonal and two rows beside it.

    What is solved for is the difference x from y, the score of a Gaussian: where there are no values, the score returns
    to it. The matrix is factored as L D L', where L has two bands below its diagonal.
    """
    K, n = target.shape
    values, x = np.empty((K, n)), np.empty(n)
    D, lower1, lower2 = np.empty(n), np.zeros(n), np.zeros(n)
    for k in range(K):
        for i in range(n):
            image = bands[k, 0, i] * knots[i]  # entry i of E[h h'] knots
            if i > 0:
                image += bands[k, 1, i - 1] * knots[i - 1]
            if i < n - 1:
                image += bands[k, 1, i] * knots[i + 1]
            values[k, i] = image
            D[i], x[i] = bands[k, 0, i] + penalty[0, i], target[k, i] - image
            if i > 1:
                lower2[i] = penalty[2, i] / D[i - 2]
                D[i] -= lower2[i] * lower2[i] * D[i - 2]
                x[i] -= lower2[i] * x[i - 2]
            if i > 0:
                beside = bands[k, 1, i - 1] + penalty[1, i]
                if i > 1:
                    beside -= lower2[i] * D[i - 2] * lower1[i - 1]
                lower1[i] = beside / D[i - 1]
                D[i] -= lower1[i] * lower1[i] * D[i - 1]
                x[i] -= lower1[i] * x[i - 1]
        scale = 0.0
        for i in range(n - 1, -1, -1):
            x[i] /= D[i]
            if i < n - 1:
                x[i] -= lower1[i + 1] * x[i + 1]
            if i < n - 2:
                x[i] -= lower2[i + 2] * x[i + 2]
            image, values[k, i] = values[k, i], knots[i] + x[i]
            scale += image * values[k, i]
        for i in range(n):  # scaled so that E[psi(y) y] = 1: only then is the scale of y the likeliest
            values[k, i] /= scale
    return values


def _penalties() -> tuple[FloatArray, FloatArray]:
    """Return the matrices of the penalties on changes of the slope and on slopes."""
    slopes = np.diff(np.eye(N_PIECES + 1), axis=0) / WIDTHS[:, None]
    changes = np.diff(slopes, axis=0)
    widths = (WIDTHS[:-1] + WIDTHS[1:]) / 2
    return (changes.T * widths) @ changes, (slopes.T * WIDTHS) @ slopes


_BENDS, _SLOPES = _penalties()


def _penalty() -> FloatArray:
    """Return the rows of both penalties that are not 0: entry i of row d stands d places left of the diagonal."""
    whole = SMOOTHNESS * _BENDS + SHRINKAGE * _SLOPES
    return np.stack([np.pad(np.diagonal(whole, -d), (d, 0)) for d in range(3)])


_PENALTY = _penalty()


def tally(sources: FloatArray, scores: Scores) -> tuple[FloatArray, FloatArray]:
    """Return the scores of values, K x N, and three sums for each source and piece, K x pieces x 3.

    They are the number of values in the piece, the sum of their distances from the knot where it begins, and the sum of
    the squares of these.
    """
    return _tally(sources, KNOTS, scores.values, scores.slopes)


@compiled
def _tally(Y, knots, values, slopes):  # type: ignore[no-untyped-def]
    K, N = Y.shape
    n_pieces = knots.size - 1
    half, last = (n_pieces + 2) / 2, n_pieces - 0.5
    psi = np.empty((K, N))
    sums = np.empty((K, n_pieces, 3))
    lanes = np.empty((4, n_pieces, 3))  # four sums in turn: an addition need not wait for the one before it
    pieces, distances = np.empty(CHUNK_VALUES, np.uint32), np.empty(CHUNK_VALUES)
    for k in range(K):
        lanes[:] = 0.0
        for first in range(0, N, CHUNK_VALUES):
            n = min(CHUNK_VALUES, N - first)
            y, score = Y[k, first : first + n], psi[k, first : first + n]
            for i in range(n):
                place = (y[i] / (1 + abs(y[i])) + 1) * half - 1
                place = place if place > 0.0 else 0.0
                pieces[i] = np.uint32(place if place < last else last)
            for i in range(n):
                piece = pieces[i]
                distance = y[i] - knots[piece]
                distances[i] = distance
                score[i] = values[k, piece] + slopes[k, piece] * distance
            for i in range(n):
                piece, distance = pieces[i], distances[i]
                lanes[i & 3, piece, 0] += 1.0
                lanes[i & 3, piece, 1] += distance
                lanes[i & 3, piece, 2] += distance * distance
        for p in range(n_pieces):
            for c in range(3):
                sums[k, p, c] = (lanes[0, p, c] + lanes[1, p, c]) + (lanes[2, p, c] + lanes[3, p, c])
    return psi, sums
