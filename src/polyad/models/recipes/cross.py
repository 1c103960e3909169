"""The steps that all two-view models share, as functions on a source of two views."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.base.plurals import how_many
from polyad.decompose.similarity.registry import similarity_diagonaliser
from polyad.decompose.similarity.sweeps import SimilarityDiagonalisation, SimilarityDiagonaliser
from polyad.decompose.whitening.cross import CrossWhitening, cca_metric, cross_loadings, cross_whiten
from polyad.decompose.whitening.symmetric import RankError
from polyad.engine import Block, Source, aligned, every, total, view_of
from polyad.models.recipes.factor_certainty import factor_certainty
from polyad.models.stopwatch import StopWatch
from polyad.models.views.diagnostics import FactorDiagnostics
from polyad.moments.views.covariances import (
    ProcessingPoints,
    characteristic_targets,
    generalised_targets,
    processing_points,
    unit_scales,
)
from polyad.moments.views.cross import (
    cross_covariance,
    cross_means,
    projected_covariances,
    view_covariance,
    view_variances,
)
from polyad.moments.views.cumulants import fourth_order_targets, third_order_reliability, third_order_targets

STATISTICS = ("auto", "third", "fourth", "characteristic", "generalised")
METRICS = ("auto", "cca", "scale", "none")
SKEWED = 0.6  # correlation between halves of the data from which order three is relied on
DENSE_METRIC = 2000  # columns up to which a view's whole covariance is used
PAPER_STEP = 0.1  # of the real processing points, eq. (46) of "Beyond CCA"
N_PARTS = 8  # of the rows, whose differences tell how well factors are determined


@dataclass(frozen=True)
class CrossOptions:
    """What the user chose (see the parameters of the models), and which views hold Poisson counts.

    ``usual_step`` is that of the characteristic function where ``step`` is None.
    """

    n_components: int
    statistics: str
    method: str | SimilarityDiagonaliser
    metric: str
    step: float | None
    usual_step: float
    max_iter: int | None
    x_counts: bool
    y_counts: bool

    def __post_init__(self) -> None:
        for name, value, known in (("statistics", self.statistics, STATISTICS), ("metric", self.metric, METRICS)):
            if value not in known:
                raise ValueError(f"{name} is {value!r}; give one of {', '.join(map(repr, known))}.")
        if self.step is not None and not (np.isfinite(self.step) and self.step > 0):
            raise ValueError(f"step is {self.step}; give a positive number, or None.")
        if self.statistics == "fourth" and (self.x_counts or self.y_counts):
            raise ValueError(
                'statistics is "fourth", which is for two views of measurements: counts are skewed, so "third" or '
                '"characteristic" see their sources better.'
            )


@dataclass(frozen=True)
class CrossFit:
    """Loadings of two views before they are scaled, and how they were found."""

    # D1, M1 x K, and D2, M2 x K, with S12 = D1 D2'.
    x_loadings: FloatArray
    y_loadings: FloatArray
    # K x M1 and K x M2 with x_projection @ D1 = I and y_projection @ D2 = I.
    x_projection: FloatArray
    y_projection: FloatArray
    # The means of the views.
    x_mean: FloatArray
    y_mean: FloatArray
    diagnostics: FactorDiagnostics  # how the fit went


def paired(x_view: Source, y_view: Source) -> Source:
    """Return two views as one source; they have one row each for every sample."""
    if x_view.n_rows != y_view.n_rows:
        raise ValueError(
            f"X has {how_many(x_view.n_rows, 'rows')} and Y has {y_view.n_rows}: inconsistent numbers of samples. "
            "The two views "
            "must have one row each for every sample, in the same order. Drop the samples that only one of them has."
        )
    return aligned(x_view, y_view)


def fit_cross(source: Source, options: CrossOptions) -> CrossFit:
    """Moments, whitening, diagonalisation and loadings of a two-view model."""
    watch, K = StopWatch(), options.n_components
    with watch("means"):
        means = cross_means(source)
        second = cross_covariance(source, *means)
    with watch("metric"):
        x_metric, y_metric = view_metrics(source, means, options)
    with watch("whiten"):
        whitening = cross_whiten(second, K, x_metric=x_metric, y_metric=y_metric)
    with watch("targets"):
        statistics, reliability = choose_statistics(source, whitening, means, options)
        points = points_of(source, whitening, means, statistics, options)
        stack = targets(source, whitening, means, statistics, points, options)
    with watch("diagonalise"):
        similarity = similarity_diagonaliser(options.method)(stack, max_iter=options.max_iter)
    with watch("certainty"):
        parts = parts_of(source, whitening, statistics, points, options)
        sure = factor_certainty(stack, taken_off(stack, statistics), parts, whitening, similarity, second.shape)
    with watch("loadings"):
        return assemble(second, means, whitening, similarity, statistics, reliability, sure, watch)


def supported_loadings(source: Source, options: CrossOptions) -> tuple[FloatArray, FloatArray, FactorDiagnostics]:
    """Return the loadings of both views; components that the data do not support have zeros, and certainty 0."""
    K = options.n_components
    try:
        found = fit_cross(source, options)
        return found.x_loadings, found.y_loadings, found.diagnostics
    except RankError as error:
        n_found, spectrum = error.supported, error.spectrum
    if n_found:
        first, second, diagnostics = supported_loadings(source, replace(options, n_components=n_found))
    else:
        first, second = (np.zeros((n_columns, 0)) for n_columns in source.widths)
        diagnostics = FactorDiagnostics(spectrum, np.inf, 0.0, options.statistics, np.nan, 0, True, {}, np.zeros(0))
    missing = K - n_found
    return (
        np.pad(first, ((0, 0), (0, missing))),
        np.pad(second, ((0, 0), (0, missing))),
        replace(diagnostics, certainty=np.pad(diagnostics.certainty, (0, missing))),
    )


def assemble(
    second: LinearOperator,
    means: tuple[FloatArray, FloatArray],
    whitening: CrossWhitening,
    similarity: SimilarityDiagonalisation,
    statistics: str,
    reliability: float,
    sure: FloatArray,
    watch: StopWatch,
) -> CrossFit:
    """Turn a diagonalisation back into loadings and projections."""
    x_loadings, y_loadings = cross_loadings(second, whitening, similarity)
    diagnostics = FactorDiagnostics(
        spectrum=whitening.spectrum,
        gap=whitening.gap,
        energy=similarity.energy,
        statistics=statistics,
        reliability=reliability,
        n_iter=similarity.n_iter,
        converged=similarity.converged,
        seconds=watch.seconds,
        certainty=sure,
    )
    return CrossFit(
        x_loadings,
        y_loadings,
        similarity.inverse @ whitening.x_whitener,
        similarity.rotation.T @ whitening.y_whitener,
        *means,
        diagnostics,
    )


def view_metrics(
    source: Source, means: tuple[FloatArray, FloatArray], options: CrossOptions
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the metrics in which the views are whitened together."""
    x_metric, y_metric = (
        _view_metric(name, view_of(source, number), mean, counts, options.metric)
        for number, (name, mean, counts) in enumerate(zip("XY", means, (options.x_counts, options.y_counts)))
    )
    return x_metric, y_metric


def _view_metric(name: str, view: Source, mean: FloatArray, counts: bool, metric: str) -> FloatArray | None:
    if metric == "none":
        return None
    if metric == "scale" or (metric == "auto" and view.n_columns > DENSE_METRIC):
        return _inverse_roots(mean if counts else view_variances(view, mean))
    covariance = view_covariance(view, mean)
    if not counts:  # words that never occur are nothing to warn of
        warn_constant_columns(name, np.diag(covariance), mean)
    return cca_metric(shrunk_covariance(covariance, view.n_rows))


def shrunk_covariance(covariance: FloatArray, n_rows: int) -> FloatArray:
    """Return a covariance of M columns and N rows with (M / N)^2 of it, at most all, replaced by its diagonal.

    With hardly more rows than columns there are directions in which a sample of any two views agrees perfectly:
    the metric of classical CCA would take these for what the views share.

    Examples
    --------
    >>> shrunk_covariance(np.array([[2.0, 1.0], [1.0, 3.0]]), 8)
    array([[2.    , 0.9375], [0.9375, 3.    ]])
    """
    shrunk = (1 - min(1.0, covariance.shape[0] / n_rows) ** 2) * covariance
    np.fill_diagonal(shrunk, np.diag(covariance))
    return shrunk


def _inverse_roots(values: FloatArray) -> FloatArray:
    floor = 1e-12 * max(float(values.max(initial=0.0)), 1e-300)
    return np.where(values > floor, 1 / np.sqrt(np.maximum(values, floor)), 0.0)


def warn_constant_columns(name: str, variances: FloatArray, mean: FloatArray) -> None:
    """Warn which columns of a view carry nothing."""
    constant = np.flatnonzero(variances <= 1e-20 * np.maximum(mean**2, 1e-280))
    if 0 < constant.size < variances.size:
        shown = ", ".join(map(str, constant[:5])) + (", ..." if constant.size > 5 else "")
        warn_caller(
            f"{name} has {how_many(constant.size, 'constant columns')} ({shown}), of which nothing can be learned: "
            "loadings are 0 there. Drop what is constant to be rid of this message."
        )


def choose_statistics(
    source: Source,
    whitening: CrossWhitening,
    means: tuple[FloatArray, FloatArray],
    options: CrossOptions,
) -> tuple[str, float]:
    """Return the statistics to use: as asked, or the real part alone where the sources are not skewed."""
    if options.statistics != "auto":
        return options.statistics, float("nan")
    if options.x_counts or options.y_counts:  # sources of counts are never negative, hence skewed
        return "characteristic", float("nan")
    reliability = third_order_reliability(source, whitening.x_whitener, whitening.y_whitener, means)
    return ("characteristic" if reliability > SKEWED else "characteristic (real part)"), reliability


def points_of(
    source: Source,
    whitening: CrossWhitening,
    means: tuple[FloatArray, FloatArray],
    statistics: str,
    options: CrossOptions,
) -> ProcessingPoints | None:
    """Return the processing points of the statistics chosen; None for cumulants, which have none."""
    W1, W2 = whitening.x_whitener, whitening.y_whitener
    if statistics in ("third", "fourth"):
        return None
    if statistics == "generalised":
        return processing_points(W1, W2, *_paper_scales(source, PAPER_STEP if options.step is None else options.step))
    step = options.usual_step if options.step is None else options.step
    return processing_points(W1, W2, *unit_scales(projected_covariances(source, W1, W2, means), step))


def targets(
    source: Source,
    whitening: CrossWhitening,
    means: tuple[FloatArray, FloatArray],
    statistics: str,
    points: ProcessingPoints | None,
    options: CrossOptions,
) -> FloatArray:
    """Return the whitened target matrices of the statistics chosen, P x K x K."""
    W1, W2 = whitening.x_whitener, whitening.y_whitener
    counts = {"x_counts": options.x_counts, "y_counts": options.y_counts}
    if statistics == "third":
        return third_order_targets(source, W1, W2, means, x_counts=options.x_counts, y_counts=options.y_counts)
    if points is None:
        return fourth_order_targets(source, W1, W2, means)
    identity = np.eye(options.n_components)
    if statistics == "generalised":
        return generalised_targets(source, W1, W2, means, points, **counts) - identity
    stack = characteristic_targets(source, W1, W2, means, points, **counts)
    real = stack.real - identity
    return np.concatenate([real, stack.imag]) if statistics == "characteristic" else real


def taken_off(stack: FloatArray, statistics: str) -> FloatArray:
    """Tell for each target whether the identity was taken off it, by 1 or 0."""
    P = len(stack)
    if statistics in ("third", "fourth"):
        return np.zeros(P)
    return np.where(np.arange(P) < (P // 2 if statistics == "characteristic" else P), 1.0, 0.0)


def parts_of(
    source: Source,
    whitening: CrossWhitening,
    statistics: str,
    points: ProcessingPoints | None,
    options: CrossOptions,
) -> list[tuple[FloatArray, FloatArray]]:
    """Return the whitened cross-covariance and the targets of every part of the rows."""
    found = []
    for number in range(min(N_PARTS, source.n_rows // 4)):
        part = every(source, N_PARTS, (number,))
        means = cross_means(part)
        second = whitening.x_whitener @ (cross_covariance(part, *means) @ whitening.y_whitener.T)
        found.append((second, targets(part, whitening, means, statistics, points, options)))
    return found


def _paper_scales(source: Source, step: float) -> tuple[float, float]:
    """Return the scale of each view's points: the step over the mean size of an entry."""
    sizes = total(_absolute_sums, source)
    x_scale, y_scale = (
        step * source.n_rows * columns / max(size, 1e-300) for size, columns in zip(sizes, source.widths)
    )
    return x_scale, y_scale


def _absolute_sums(block: Block) -> tuple[float, float]:
    x_rows, y_rows = block.views
    return float(abs(x_rows).sum()), float(abs(y_rows).sum())
