"""Likelihood steps of independent component analysis, from any start, in passes over the signals.

First fixed-point steps on rotations (Hyvarinen 1999) with one contrast for all sources: they find the sources from far
away. Then quasi-Newton steps on all matrices with a score fitted to each source (:mod:`polyad.inference.scores`):
whatever the scores, ``E[psi(y_i) y_j] = 0`` holds for independent sources, and the closer they are to the true ones,
the smaller the error. A pass gives what the next step needs, and the likelihood by which a step that went too far is
halved.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled
from polyad.engine import Block, Source, total
from polyad.inference.scores import Scores, SourceMeans, contrast_scores, fitted_scores, tally
from polyad.moments.views.cross import products_of_columns, weighed_columns

TURNED = 1e-3  # 1 - cosine by which the last fixed-point step turned a source
LEAST_CURVATURE = 0.05  # along which a step is made; two sources that are all but Gaussian have none
HALVINGS = 6
REMEMBERED = 5  # steps
# Nats for each entry of the matrix: steps on some of the rows that promise less are left to all rows. What so few rows
# say of an entry is off by a half.
SOME = 1.0
FEW_ENOUGH = 3  # times these rows: as many as all must be for steps on them to spare any on all
HARMLESS = 1e-9  # what a step may lose of the likelihood, for each source


@dataclass(frozen=True)
class Separation:
    """What likelihood steps have found."""

    unmixing: FloatArray  # K x M; sources have variance 1
    # Fixed-point steps, and quasi-Newton steps on some of the rows and on all.
    n_fixed: int
    n_few: int
    n_newton: int
    gradient: float  # the largest dependence ``E[psi(y_i) y_j]`` of two sources that is left
    converged: bool  # whether that is below the tolerance


@dataclass(frozen=True)
class Sums:
    """The sums of a pass."""

    products: FloatArray  # ``E[psi(y) y']``, K x K
    pieces: FloatArray  # those of :func:`polyad.inference.scores.tally`
    expected: SourceMeans  # what these say, with the scores of the pass or others

    def with_scores(self, scores: Scores, n_rows: int) -> "Sums":
        """Return the same sums, with what they say of other scores."""
        return Sums(self.products, self.pieces, scores.expected(self.pieces, n_rows))


def separate(
    source: Source,
    mean: FloatArray,
    covariance: FloatArray,
    unmixing: FloatArray,
    *,
    fun: str = "adaptive",
    tol: float = 1e-4,
    max_fixed: int = 64,
    max_newton: int = 16,
    max_fits: int | None = None,
    enough: float = 0.0,
    few: Source | None = None,
    begin_with_few: bool = False,
) -> Separation:
    """Return the unmixing matrix at which sources are independent, by likelihood steps.

    Parameters
    ----------
    source, mean, covariance
        Signals, their mean and their covariance.
    unmixing
        K x M, the start, with sources that are white: uncorrelated and of variance 1.
    fun
        How the scores of sources are fitted, see :func:`polyad.inference.scores.fitted_scores`.
    tol
        Converged when no ``E[psi(y_i) y_j]`` is larger.
    max_fixed, max_newton
        Steps at most.
    max_fits
        Scores are fitted anew after so many steps and then kept, with which steps need fewer passes; None for all
        steps, so that it is forgotten where they began.
    enough
        Converged as well when a step with scores of all rows promises less than this of their log-likelihood. That
        step is made, and no pass looks back at it.
    few
        Some of the rows, for the fixed-point steps and the first scores, which only have to be near; None takes all.
    begin_with_few
        Whether quasi-Newton steps are made on these rows first, as long as they promise more than what so few rows can
        tell; for a start that is not near already.
    """
    few = source if few is None else few
    contrast = "logcosh" if fun == "adaptive" else fun
    unmixing, n_fixed, pieces = _fixed_point(few, mean, unmixing, contrast, max_fixed)
    scores, n_few = fitted_scores(pieces, few.n_rows, fun), 0
    options: dict[str, Any] = {"fun": fun, "tol": tol, "max_steps": max_newton}
    if begin_with_few and FEW_ENOUGH * few.n_rows <= source.n_rows:
        rough = {"max_fits": 1, "enough": SOME * unmixing.shape[0] ** 2, "at_once": True}
        begun = _newton(few, mean, covariance, unmixing, scores, **options, **rough)
        unmixing, n_few, scores = begun.unmixing, begun.n_steps, fitted_scores(begun.pieces, few.n_rows, fun)
    found = _newton(source, mean, covariance, unmixing, scores, **options, max_fits=max_fits, enough=enough)
    return Separation(found.unmixing, n_fixed, n_few, found.n_steps, found.gradient, found.converged)


@dataclass(frozen=True)
class _Newton:
    """Where quasi-Newton steps have led: see :class:`Separation`."""

    unmixing: FloatArray
    n_steps: int
    gradient: float
    converged: bool
    pieces: FloatArray  # the sums of the last pass


def _newton(
    source: Source,
    mean: FloatArray,
    covariance: FloatArray,
    unmixing: FloatArray,
    scores: Scores,
    *,
    fun: str,
    tol: float,
    max_steps: int,
    max_fits: int | None,
    enough: float,
    at_once: bool = False,
) -> _Newton:
    """Make quasi-Newton steps with given scores, and then such as are fitted; the first may be the last ``at_once``."""
    sums, n_steps, own = _pass(source, mean, unmixing, scores), 0, False
    memory: deque[_Turn] = deque(maxlen=REMEMBERED)
    while (gradient := _dependence(sums)) > tol and n_steps < max_steps:
        step = _newton_step(sums, memory)
        if (n_steps > 0 or at_once) and -source.n_rows * np.vdot(step, sums.products) / 2 < enough:
            return _Newton(_moved(unmixing, covariance, step)[0], n_steps + 1, gradient, True, sums.pieces)
        fits = max_fits is None or n_steps < max_fits
        if fits:
            scores = fitted_scores(sums.pieces, source.n_rows, fun)
            sums = sums.with_scores(scores, source.n_rows)
        moved = _improved(source, mean, covariance, unmixing, scores, sums, step)
        if moved is None and fits and not own:  # a gradient of the scores before may point elsewhere than their own
            sums, own = _pass(source, mean, unmixing, scores), True
            continue
        if moved is None:  # rounding alone is left to gain
            break
        before, (unmixing, sums, made), own = sums, moved, False
        if not fits:  # of gradients with the same scores
            memory.append(_Turn(made, sums.products - before.products))
        n_steps += 1
    return _Newton(unmixing, n_steps, gradient, bool(gradient <= tol), sums.pieces)


def information(source: Source, mean: FloatArray, unmixing: FloatArray) -> float:
    """Return the logarithms of the Fisher information of the sources, added up: the more, the less they are mixed.

    Mixing makes sources more like Gaussians, which have the least information of all with the same variance.
    """
    pieces = _pass(source, mean, unmixing, contrast_scores("logcosh", unmixing.shape[0])).pieces
    scores = fitted_scores(pieces, source.n_rows)
    return float(np.log(scores.expected(pieces, source.n_rows).derivatives).sum())


def _fixed_point(
    source: Source, mean: FloatArray, unmixing: FloatArray, contrast: str, max_steps: int
) -> tuple[FloatArray, int, FloatArray]:
    """Turn white sources until they rest; the last sums are returned with them."""
    scores = contrast_scores(contrast, unmixing.shape[0])
    n_steps = 0
    while True:
        sums = _pass(source, mean, unmixing, scores)
        if n_steps == max_steps:
            return unmixing, n_steps, sums.pieces
        target = sums.products - np.diag(sums.expected.derivatives)
        left, _, right = np.linalg.svd(target)
        rotation = left @ right
        rotation *= np.where(np.diag(rotation) < 0, -1.0, 1.0)[:, None]  # sources keep their signs
        n_steps += 1
        unmixing = rotation @ unmixing
        if 1 - np.diag(rotation).min() < TURNED:  # a turn so small hardly moves the sums: one pass less
            return unmixing, n_steps, sums.pieces


@dataclass(frozen=True)
class _Turn:
    """A step that was made, and by how much it changed the gradient: K x K each."""

    step: FloatArray
    change: FloatArray

    @cached_property
    def curvature(self) -> float:
        """The product of the two, above 0 where the likelihood bends as it should."""
        return float(np.vdot(self.step, self.change))


def _newton_step(sums: Sums, memory: Iterable[_Turn] = ()) -> FloatArray:
    """Return the relative step D: sources y become (I + D) y.

    For independent sources the Hessian couples D_ij with D_ji alone (Pham and Garat): one system of two equations for
    each pair, whose smallest eigenvalue is kept away from 0. Real sources are loud and silent together, and what the
    last steps have found of the Hessian is put in as L-BFGS does (Ablin, Cardoso and Gramfort 2018).
    """
    turns = [turn for turn in memory if turn.curvature > 0]
    gradient, shares = sums.products.copy(), []
    np.fill_diagonal(gradient, 0.0)
    for turn in reversed(turns):
        shares.append(float(np.vdot(turn.step, gradient)) / turn.curvature)
        gradient -= shares[-1] * turn.change
    step = _solved_pairs(gradient, sums.expected.derivatives, sums.expected.squares, LEAST_CURVATURE)
    for turn, share in zip(turns, reversed(shares)):
        step -= (share + float(np.vdot(turn.change, step)) / turn.curvature) * turn.step
    return np.asarray(step)


@compiled
def _solved_pairs(products, derivatives, squares, least):  # type: ignore[no-untyped-def]
    K = squares.size
    step = np.empty((K, K))
    for i in range(K):
        step[i, i] = 0.0
        for j in range(i):
            here, there = derivatives[i] * squares[j], derivatives[j] * squares[i]
            smallest = (here + there) / 2 - np.sqrt((here - there) ** 2 / 4 + 1)
            raised = max(least - smallest, 0.0)
            here, there = here + raised, there + raised
            step[i, j] = (products[j, i] - there * products[i, j]) / (here * there - 1)
            step[j, i] = (products[i, j] - here * products[j, i]) / (here * there - 1)
    return step


def _improved(
    source: Source,
    mean: FloatArray,
    covariance: FloatArray,
    unmixing: FloatArray,
    scores: Scores,
    sums: Sums,
    step: FloatArray,
) -> tuple[FloatArray, Sums, FloatArray] | None:
    """Return the unmixing matrix after a step, halved until the likelihood rises, its sums, and the step itself.

    Near the end rounding, and scores that were fitted anew, hide what a step gains: steps are made there as they are.
    """
    before = sums.expected.losses.sum()
    for _ in range(HALVINGS):
        moved, volume = _moved(unmixing, covariance, step)
        if np.isfinite(volume):
            new = _pass(source, mean, moved, scores)
            gain = before - (new.expected.losses.sum() - volume)
            if gain > -HARMLESS * step.shape[0]:
                return moved, new, step
        step = step / 2
    return None


def _moved(unmixing: FloatArray, covariance: FloatArray, step: FloatArray) -> tuple[FloatArray, float]:
    """Return the unmixing matrix after a step, and the logarithm of its volume over that before.

    Variances of sources stay 1. The volume is -inf where the step turns it inside out.
    """
    moved = step @ unmixing
    moved += unmixing
    scales = _scales(moved, moved @ covariance)
    moved /= scales[:, None]
    return moved, _log_volume(step) - float(np.log(scales).sum())


@compiled
def _scales(unmixing, products):  # type: ignore[no-untyped-def]
    """Return the standard deviations of sources, from the unmixing matrix and the same times the covariance."""
    K, M = unmixing.shape
    scales = np.zeros(K)
    for k in range(K):
        for m in range(M):
            scales[k] += unmixing[k, m] * products[k, m]
    return np.sqrt(scales)


@compiled
def _log_volume(step):  # type: ignore[no-untyped-def]
    """Return log det(I + D) by Gauss, with pivots; -inf where the determinant is not above 0."""
    K = step.shape[0]
    rows = step.copy()
    for i in range(K):
        rows[i, i] += 1.0
    volume, sign = 0.0, 1.0
    for i in range(K):
        pivot = i
        for j in range(i + 1, K):
            if abs(rows[j, i]) > abs(rows[pivot, i]):
                pivot = j
        if rows[pivot, i] == 0:
            return -np.inf
        if pivot != i:
            sign = -sign
            for j in range(i, K):
                rows[i, j], rows[pivot, j] = rows[pivot, j], rows[i, j]
        if rows[i, i] < 0:
            sign = -sign
        volume += np.log(abs(rows[i, i]))
        for k in range(i + 1, K):
            share = rows[k, i] / rows[i, i]
            for j in range(i + 1, K):
                rows[k, j] -= share * rows[i, j]
    return volume if sign > 0 else -np.inf


def _dependence(sums: Sums) -> float:
    return float(_largest_beside(sums.products))


@compiled
def _largest_beside(products):  # type: ignore[no-untyped-def]
    """Return the largest entry of a matrix, without its sign, that is not on the diagonal."""
    largest = 0.0
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            if i != j:
                largest = max(largest, abs(products[i, j]))
    return largest


def _pass(source: Source, mean: FloatArray, unmixing: FloatArray, scores: Scores) -> Sums:
    products, pieces = total(_source_sums, source, mean, unmixing, scores)
    return Sums(products / source.n_rows, pieces, scores.expected(pieces, source.n_rows))


def _source_sums(block: Block, mean: FloatArray, unmixing: FloatArray, scores: Scores) -> tuple[FloatArray, FloatArray]:
    sources = weighed_columns(block.rows, mean, unmixing)
    psi, pieces = tally(sources, scores)
    return products_of_columns(psi, sources), pieces
