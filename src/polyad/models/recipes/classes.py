"""The steps of fitting a mixture with several views, as functions on a source of aligned views."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.decompose.three_views import Classes, averaged_classes, classes_of, symmetric_classes
from polyad.decompose.unmixing import simplex_rows
from polyad.decompose.whitening.symmetric import RankError
from polyad.engine import Block, Source, first_rows, rows, total
from polyad.inference.mixtures.classes import ClassMixture
from polyad.inference.mixtures.emissions import PRIOR_SHARE, Bernoulli, Emission, Gaussian, Multinomial
from polyad.inference.mixtures.seeds import sample_size, seeded_groups
from polyad.moments.views.aligned import Group, ViewFeatures, aligned_moments, group_features
from polyad.moments.views.cross import column_sums, dense_rows
from polyad.moments.views.triples import ThreeViews, clearness

COMMON_SHARE = 0.05  # of what all classes show, mixed into what each shows: EM cannot leave a zero
HOPELESS = 0.3  # of the largest singular value that noise alone would have: a pair below it is left out
MOST_SEED_FEATURES = 500


@dataclass(frozen=True)
class ViewSummary:
    """What the rows of one view have in common."""

    kind: str  # "counts", "categorical", "binary" or "gaussian"
    seen: FloatArray  # values seen in every column; for counts the rows with any
    totals: FloatArray  # sums of every column
    # Of what was seen.
    mean: FloatArray
    variance: FloatArray

    @property
    def is_counts(self) -> bool:
        """Whether rows are sparse counts; a category is a row with one."""
        return self.kind in ("counts", "categorical")


def summarise_views(source: Source, kinds: Sequence[str]) -> list[ViewSummary]:
    """Return what the rows of each view have in common, in two passes."""
    firsts = total(_sums, source)
    means = [totals / np.maximum(seen, 1.0) for seen, totals in firsts]
    squares = total(_squares, source, tuple(means))
    return [
        ViewSummary(kind, seen, totals, mean, square / np.maximum(seen, 1.0))
        for kind, (seen, totals), mean, square in zip(kinds, firsts, means, squares)
    ]


def _sums(block: Block) -> tuple[tuple[FloatArray, FloatArray], ...]:
    found = []
    for view in block.views:
        if isinstance(view, np.ndarray):
            found.append(((~np.isnan(view)).sum(axis=0).astype(np.float64), np.nansum(view, axis=0)))
        else:
            seen = float((np.diff(view.indptr) > 0).sum())
            found.append((np.full(view.shape[1], seen), column_sums(view)))
    return tuple(found)


def _squares(block: Block, means: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
    return tuple(
        np.nansum((view - mean) ** 2, axis=0) if isinstance(view, np.ndarray) else np.zeros(view.shape[1])
        for view, mean in zip(block.views, means)
    )


def features_of(summaries: Sequence[ViewSummary], n_rows: int) -> list[ViewFeatures]:
    """Return the features of every view that moments are made of."""
    found = []
    for number, view in enumerate(summaries):
        M = view.mean.size
        if view.is_counts:
            found.append(ViewFeatures(number, "counts", M, np.zeros(M), np.ones(M)))
        else:
            scale = np.where(view.variance > 0, np.sqrt(view.variance), 1.0)
            gaps = tuple(int(column) for column in np.flatnonzero(view.seen < n_rows))
            found.append(ViewFeatures(number, "values", M, view.mean, scale, gaps))
    return found


def three_groups(features: Sequence[ViewFeatures]) -> tuple[Group, Group, Group]:
    """Part views into three groups of about as many columns, the widest first."""
    groups: list[list[ViewFeatures]] = [[], [], []]
    for view in sorted(features, key=lambda view: -view.n_features):
        min(groups, key=lambda group: sum(other.n_features for other in group)).append(view)
    first, second, third = (tuple(sorted(group, key=lambda view: view.view)) for group in groups)
    return first, second, third


def classes_from_moments(
    moments: dict[tuple[int, int, int], ThreeViews], n_components: int, *, route: str
) -> tuple[Classes | None, str]:
    """Return the classes that the moments of three groups of views show, and which pairs of them do not (in words)."""
    hopeless = [order for order, found in moments.items() if clearness(found, n_components) < HOPELESS]
    note = "; ".join(f"groups {a} and {b} of views do not tell {n_components} classes apart" for a, b, _ in hopeless)
    try:
        if route == "symmetric":
            return (None if hopeless else symmetric_classes(moments, n_components)), note
        pairings = {}
        for order, found in moments.items():
            if order not in hopeless:
                pairings[order] = classes_of(found, n_components)
    except (RankError, ValueError) as error:
        return None, str(error).split(":")[0]
    if not pairings:
        return None, note
    (a, b, c), one = next(iter(moments.items()))
    by_view = dict(zip((a, b, c), one.scales))
    return averaged_classes(pairings, [by_view[view] for view in range(3)]), note


def mixture_of(
    classes: Classes,
    groups: Sequence[Group],
    summaries: Sequence[ViewSummary],
    *,
    smoothing: float,
    softening: float,
) -> ClassMixture:
    """Return the mixture in which classes show given means of the features of three groups of views."""
    shown: list[Emission | None] = [None] * len(summaries)
    for group, means in zip(groups, classes.views):
        first = 0
        for features in group:
            last = first + features.n_features
            of_view = features.shown(means[first:last])
            shown[features.view] = emission_of(
                of_view, summaries[features.view], smoothing=smoothing, softening=softening
            )
            first = last
    return ClassMixture(classes.weights, tuple(shown))


def softening_before(n_passes: int, n_rows: int, n_components: int) -> float:
    """Return the share of what all classes show that is mixed into what each shows before so many passes of EM.

    Without a pass it is the result: a share of one row in each class keeps it from zeros, and goes away with more rows.

    Examples
    --------
    >>> softening_before(300, 10_000, 3), softening_before(0, 10_000, 3)
    (0.05, 0.0003)
    """
    return COMMON_SHARE if n_passes > 0 else min(COMMON_SHARE, n_components / n_rows)


def emission_of(shown: FloatArray, summary: ViewSummary, *, smoothing: float, softening: float) -> Emission:
    """Return the emission of a view with given means in each class, K x M, and a share of what all show in them."""
    share = softening
    if summary.is_counts:
        common = (summary.totals + 1e-3) / (summary.totals + 1e-3).sum()
        return Multinomial((1 - share) * simplex_rows(shown) + share * common, smoothing)
    if summary.kind == "binary":
        kept = np.clip(shown, 0.0, 1.0)
        return Bernoulli((1 - share) * kept + share * summary.mean, smoothing)
    variance = np.where(summary.variance > 0, summary.variance, max(float(summary.variance.mean()), 1e-12))
    variances = np.repeat(variance[None], shown.shape[0], axis=0)
    return Gaussian(shown, variances, summary.mean, 1e-6 * variance, PRIOR_SHARE * variance)


def seeded_mixture(
    source: Source,
    features: Sequence[ViewFeatures],
    summaries: Sequence[ViewSummary],
    n_components: int,
    *,
    smoothing: float,
) -> ClassMixture:
    """Return a mixture from the groups of a sample of rows."""
    sample = first_rows(source, sample_size(n_components))
    narrow = tuple(view for view in features if view.n_features <= MOST_SEED_FEATURES) or tuple(features)
    points = rows(_group_rows, sample, narrow)
    points = points / np.maximum(np.sqrt((points**2).mean(axis=0)), 1e-12)
    groups = seeded_groups(points[:, :-1], n_components)
    posterior = (1 - COMMON_SHARE) * np.eye(n_components)[groups] + COMMON_SHARE / n_components
    shown: list[Emission | None] = []
    for number, summary in enumerate(summaries):
        blank = emission_of(
            np.repeat(summary.mean[None], n_components, axis=0), summary, smoothing=smoothing, softening=COMMON_SHARE
        )
        view = [block.views[number] for block in sample]
        start, sums = 0, None
        for part in view:
            found = blank.sums(part, posterior[start : start + part.shape[0]])
            sums = found if sums is None else tuple(a + b for a, b in zip(sums, found))
            start += part.shape[0]
        shown.append(blank if sums is None else blank.maximised(sums))
    return ClassMixture(posterior.mean(axis=0), tuple(shown))


def _group_rows(block: Block, group: Group) -> FloatArray:
    return dense_rows(group_features(block, group))


def class_starts(
    source: Source,
    kinds: Sequence[str],
    n_components: int,
    *,
    start: str,
    route: str,
    smoothing: float,
    softening: float,
) -> tuple[dict[str, ClassMixture], FloatArray, float, str]:
    """Return mixtures to begin from by name, the spectrum and the energy of the moments, and a note."""
    summaries = summarise_views(source, kinds)
    features = features_of(summaries, source.n_rows)
    starts: dict[str, ClassMixture] = {}
    spectrum, energy, note = np.zeros(0), float("nan"), ""
    if n_components == 1:
        note = "one class needs none"
    elif start == "seeds":
        note = "as asked for"
    else:
        groups = three_groups(features)
        classes, note = classes_from_moments(aligned_moments(source, groups), n_components, route=route)
        if classes is not None:
            starts["moments"] = mixture_of(classes, groups, summaries, smoothing=smoothing, softening=softening)
            spectrum, energy = classes.spectrum, classes.energy
    if not starts or start != "moments":
        starts["seeds"] = seeded_mixture(source, features, summaries, n_components, smoothing=smoothing)
    return starts, spectrum, energy, note
