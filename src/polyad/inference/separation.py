"""Likelihood steps of independent component analysis, from any start, in passes over the signals.

First fixed-point steps on rotations (Hyvarinen 1999) with one contrast for all sources: they find the sources from far
away. Then quasi-Newton steps on all matrices with a score fitted to each source (:mod:`polyad.inference.scores`):
whatever the scores, ``E[psi(y_i) y_j] = 0`` holds for independent sources, and the closer they are to the true ones,
the smaller the error. A pass gives what the next step needs, and the likelihood by which a step that went too far is
halved.
"""

from dataclasses import dataclass

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled
from polyad.engine import Block, Source, total
from polyad.inference.scores import Scores, contrast_scores, fitted_scores, tally, variances
from polyad.moments.views.cross import dense_rows

TURNED = 1e-3  # 1 - cosine by which the last fixed-point step turned a source
LEAST_CURVATURE = 0.05  # along which a step is made; two sources that are all but Gaussian have none
HALVINGS = 6
SQUARE = 64  # rows that are turned at a time: what is read of them stays in the nearest cache
ROUNDING = 1e-12  # of the loss, for each source: below, whether a step helps is told by the dependence that is left


@dataclass(frozen=True)
class Separation:
    """What likelihood steps have found.

    Attributes
    ----------
    unmixing
        K x M.
    n_fixed, n_newton
        Fixed-point and quasi-Newton steps.
    gradient
        The largest dependence ``E[psi(y_i) y_j]`` of two sources that is left.
    converged
        Whether that is below the tolerance.
    """

    unmixing: FloatArray
    n_fixed: int
    n_newton: int
    gradient: float
    converged: bool


@dataclass(frozen=True)
class Sums:
    """The sums of a pass: ``E[psi(y) y']``, K x K, and those of :func:`polyad.inference.scores.tally`."""

    products: FloatArray
    pieces: FloatArray


def separate(
    source: Source,
    mean: FloatArray,
    unmixing: FloatArray,
    *,
    fun: str = "adaptive",
    tol: float = 1e-4,
    max_fixed: int = 64,
    max_newton: int = 16,
    few: Source | None = None,
) -> Separation:
    """Return the unmixing matrix at which sources are independent, by likelihood steps.

    Parameters
    ----------
    source, mean
        Signals and their mean.
    unmixing
        K x M, the start, with sources that are white: uncorrelated and of variance 1.
    fun
        How the scores of sources are fitted, see :func:`polyad.inference.scores.fitted_scores`.
    tol
        Converged when no ``E[psi(y_i) y_j]`` is larger.
    max_fixed, max_newton
        Steps at most.
    few
        Some of the rows, for the fixed-point steps, which only have to come near; None takes all.
    """
    few = source if few is None else few
    unmixing, n_fixed, pieces = _fixed_point(few, mean, unmixing, "logcosh" if fun == "adaptive" else fun, max_fixed)
    scores = fitted_scores(pieces, few.n_rows, fun)
    sums = _pass(source, mean, unmixing, scores)
    n_newton = 0
    while (gradient := _dependence(sums)) > tol and n_newton < max_newton:
        step = _newton_step(sums, scores, source.n_rows)
        moved = _improved(source, mean, unmixing, scores, sums, step)
        if moved is None:  # rounding alone is left to gain
            break
        unmixing, sums = moved
        n_newton += 1
        if n_newton < max_newton:  # the sums of the last pass belong to the scores it was made with
            scores = fitted_scores(sums.pieces, source.n_rows, fun)
    return Separation(unmixing, n_fixed, n_newton, gradient, bool(gradient <= tol))


def information(source: Source, mean: FloatArray, unmixing: FloatArray) -> float:
    """Return the logarithms of the Fisher information of the sources, added up: the more, the less they are mixed.

    Mixing makes sources more like Gaussians, which have the least information of all with the same variance.
    """
    pieces = _pass(source, mean, unmixing, contrast_scores("logcosh", unmixing.shape[0])).pieces
    scores = fitted_scores(pieces, source.n_rows)
    return float(np.log(scores.mean_derivative(pieces, source.n_rows)).sum())


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
        target = sums.products - np.diag(scores.mean_derivative(sums.pieces, source.n_rows))
        left, _, right = np.linalg.svd(target)
        rotation = left @ right
        rotation *= np.where(np.diag(rotation) < 0, -1.0, 1.0)[:, None]  # sources keep their signs
        n_steps += 1
        unmixing = rotation @ unmixing
        if 1 - np.diag(rotation).min() < TURNED:  # a turn so small hardly moves the sums: one pass less
            return unmixing, n_steps, sums.pieces


def _newton_step(sums: Sums, scores: Scores, n_rows: int) -> FloatArray:
    """Return the relative step D: sources y become (I + D) y.

    For independent sources the Hessian couples D_ij with D_ji alone (Pham and Garat): one system of two equations for
    each pair, whose smallest eigenvalue is kept away from 0.
    """
    return _solved_pairs(
        sums.products, scores.mean_derivative(sums.pieces, n_rows), variances(sums.pieces, n_rows), LEAST_CURVATURE
    )


@compiled
def _solved_pairs(products, derivatives, squares, least):  # type: ignore[no-untyped-def]
    K = squares.size
    step = np.empty((K, K))
    for i in range(K):
        step[i, i] = (1 - squares[i]) / 2  # a scale is free: variances stay 1
        for j in range(i):
            here, there = derivatives[i] * squares[j], derivatives[j] * squares[i]
            smallest = (here + there) / 2 - np.sqrt((here - there) ** 2 / 4 + 1)
            raised = max(least - smallest, 0.0)
            here, there = here + raised, there + raised
            step[i, j] = (products[j, i] - there * products[i, j]) / (here * there - 1)
            step[j, i] = (products[i, j] - here * products[j, i]) / (here * there - 1)
    return step


def _improved(
    source: Source, mean: FloatArray, unmixing: FloatArray, scores: Scores, sums: Sums, step: FloatArray
) -> tuple[FloatArray, Sums] | None:
    """Return the unmixing matrix after a step, halved until the likelihood rises, and its sums.

    Near the end rounding hides what a step gains; there the dependence has to fall.
    """
    before, left = scores.mean_loss(sums.pieces, source.n_rows), _dependence(sums)
    identity = np.eye(step.shape[0])
    for _ in range(HALVINGS):
        change = identity + step
        sign, volume = np.linalg.slogdet(change)
        if sign > 0:
            moved = change @ unmixing
            new = _pass(source, mean, moved, scores)
            gain = before - (scores.mean_loss(new.pieces, source.n_rows) - volume)
            if gain > ROUNDING * step.shape[0] or (abs(gain) <= ROUNDING * step.shape[0] and _dependence(new) < left):
                return moved, new
        step = step / 2
    return None


def _dependence(sums: Sums) -> float:
    products = np.abs(sums.products)
    np.fill_diagonal(products, 0.0)
    return float(products.max())


def _pass(source: Source, mean: FloatArray, unmixing: FloatArray, scores: Scores) -> Sums:
    products, pieces = total(_source_sums, source, mean, unmixing, scores)
    return Sums(products / source.n_rows, pieces)


def _source_sums(block: Block, mean: FloatArray, unmixing: FloatArray, scores: Scores) -> tuple[FloatArray, FloatArray]:
    sources = unmixing @ _centred_columns(dense_rows(block.rows), mean)
    psi, pieces = tally(sources, scores)
    return psi @ sources.T, pieces


@compiled
def _centred_columns(rows, mean):  # type: ignore[no-untyped-def]
    """Return rows less their mean, turned: M x N. In one go; a difference that is then turned takes three times as long."""
    N, M = rows.shape
    columns = np.empty((M, N))
    for first in range(0, N, SQUARE):
        last = min(first + SQUARE, N)
        for m in range(M):
            for i in range(first, last):
                columns[m, i] = rows[i, m] - mean[m]
    return columns
