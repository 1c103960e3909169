"""Scores of sources: minus the derivative of the logarithm of a density, as a broken line that data are fitted by.

The likelihood of independent sources needs their densities, and any guess of them, such as one for heavy tails, costs
accuracy on sources of another kind. The score that is closest to the true one in mean square is found without the
density, since ``E[psi(y) f(y)] = E[f'(y)]`` holds for every function f: it minimises ``E[psi^2] - 2 E[psi']`` (Pham
and Garat 1997; score matching). For a broken line that is one small linear system, made of three sums for each piece.

With the line ``y`` itself among the candidates, ``E[psi(y) y] = 1`` and ``E[psi'] = E[psi^2] >= 1``: steps of Newton
are then stable for every source, with heavy or light tails, skewed or not.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled

N_PIECES = 46  # of a broken line; fine near 0, where densities of real signals have their peak
SHRINKAGE = 1.0  # what slopes other than that of a Gaussian cost, in samples
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


@dataclass(frozen=True)
class Scores:
    """A broken line for each source; the outer pieces go on for ever."""

    values: FloatArray  # K x (pieces + 1), at the knots

    @property
    def slopes(self) -> FloatArray:
        """The derivative in each piece, K x pieces."""
        return np.diff(self.values, axis=1) / WIDTHS

    def mean_derivative(self, sums: FloatArray, n_rows: int) -> FloatArray:
        """Return E[psi'] of each source, from the sums of :func:`tally`."""
        slope: FloatArray = (sums[:, :, 0] * self.slopes).sum(axis=1) / n_rows
        return slope

    def mean_loss(self, sums: FloatArray, n_rows: int) -> float:
        """Return E[Psi], added up over sources, Psi being the integral of the score."""
        starts, slopes = self.values[:, :-1], self.slopes
        areas = starts * WIDTHS + slopes * WIDTHS**2 / 2
        before = np.cumsum(areas, axis=1) - areas
        before -= before[:, N_PIECES // 2, None]  # counted from 0: in the tails scores are large, and nothing is there
        return float((sums[:, :, 0] * before + sums[:, :, 1] * starts + sums[:, :, 2] * slopes / 2).sum() / n_rows)


def contrast_scores(name: str, n_components: int) -> Scores:
    """Return one of the usual contrasts as the score of every source."""
    return Scores(np.tile(CONTRASTS[name](KNOTS), (n_components, 1)))


def variances(sums: FloatArray, n_rows: int) -> FloatArray:
    """Return E[y^2] of each source, from the sums of :func:`tally`."""
    starts = KNOTS[:-1]
    squares: FloatArray = (sums[:, :, 2] + 2 * starts * sums[:, :, 1] + starts**2 * sums[:, :, 0]).sum(axis=1)
    return squares / n_rows


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
    The score of a Gaussian is y:

    >>> from scipy.stats import norm
    >>> y = norm.ppf((np.arange(100_000) + 0.5) / 100_000)[None]
    >>> found = fitted_scores(tally(y, contrast_scores("logcosh", 1))[1], 100_000)
    >>> np.interp([-1.0, 0.0, 2.0], KNOTS, found.values[0]).round(2) + 0.0
    array([-1.,  0.,  2.])
    """
    matrix, target = _equations(sums / n_rows)
    if fun == "adaptive":
        # Unknown is how far the score is from y, the one of a Gaussian: where no values are, the line goes back to it.
        rest = target - (matrix @ KNOTS)
        penalty = (SMOOTHNESS * _BENDS + SHRINKAGE * _SLOPES) / n_rows
        values = KNOTS + np.linalg.solve(matrix + penalty, rest[:, :, None])[:, :, 0]
        return Scores(values / _scale(values, matrix)[:, None])
    candidates = np.stack([np.ones_like(KNOTS), KNOTS, CONTRASTS[fun](KNOTS)])
    small, right = candidates @ matrix @ candidates.T, target @ candidates.T
    ridge = 1e-12 * np.trace(small, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    values = np.linalg.solve(small + ridge, right[:, :, None])[:, :, 0] @ candidates
    return Scores(values / _scale(values, matrix)[:, None])


def _scale(values: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return E[psi(y) y], which is 1 but for the penalties; with 1 the likelihood asks for no other scale."""
    scale: FloatArray = (values * (matrix @ KNOTS)).sum(axis=1)
    return scale


def _equations(shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return E[h h'] and E[h'] of the hat functions h, of which any broken line is a combination."""
    K, n_pieces, _ = shares.shape
    here, along, squared = shares[:, :, 0], shares[:, :, 1] / WIDTHS, shares[:, :, 2] / WIDTHS**2
    matrix, target = np.zeros((K, n_pieces + 1, n_pieces + 1)), np.zeros((K, n_pieces + 1))
    left = np.arange(n_pieces)
    matrix[:, left, left] += here - 2 * along + squared
    matrix[:, left + 1, left + 1] += squared
    matrix[:, left, left + 1] = matrix[:, left + 1, left] = along - squared
    target[:, :-1] -= here / WIDTHS
    target[:, 1:] += here / WIDTHS
    return matrix, target


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
    half = (n_pieces + 2) / 2
    psi = np.empty((K, N))
    sums = np.zeros((K, n_pieces, 3))
    for k in range(K):
        for i in range(N):
            y = Y[k, i]
            piece = min(max(int((y / (1 + abs(y)) + 1) * half) - 1, 0), n_pieces - 1)
            along = y - knots[piece]
            psi[k, i] = values[k, piece] + slopes[k, piece] * along
            sums[k, piece, 0] += 1
            sums[k, piece, 1] += along
            sums[k, piece, 2] += along * along
    return psi, sums
