"""The steps of fitting a hidden Markov model, as functions on a source of sequences."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from polyad.base.arrays import FloatArray
from polyad.decompose.three_views import Classes, classes_of
from polyad.decompose.unmixing import simplex_rows
from polyad.decompose.whitening.symmetric import RankError
from polyad.engine import Block, Source, total
from polyad.inference.mixtures.chains import Chain
from polyad.inference.mixtures.emissions import PRIOR_SHARE, Emission, Gaussian, Multinomial, Poisson
from polyad.inference.mixtures.seeds import sample_size, seeded_groups
from polyad.models.recipes.classes import COMMON_SHARE
from polyad.moments.views.cross import column_sums, dense_rows
from polyad.moments.views.triples import ThreeViews, clearness
from polyad.moments.views.windows import WindowFeatures, window_moments

MOST_SYMBOLS = 400  # that have a feature of their own; rarer ones have none
MOST_WINDOW = 4
CLEAR = 1.5  # times what noise alone would show: a singular value that tells the last state from the others
HOPELESS = 0.3  # below this there is no start from moments
VARIANCE_RANGE = (0.02, 2.0)  # of the variance of all rows
# Starts from groups of rows, by the features: the weight of neighbours, and whether squares count. Which of them leads
# furthest differs from data to data; symbols alone make no groups.
SEEDS = {
    "shares": {"seeds": (0.5, True)},
    "values": {"seeds": (0.5, True), "seeds of rows": (0.0, False), "seeds of neighbours": (1.0, False)},
}


@dataclass(frozen=True)
class RowSummary:
    """What rows have in common."""

    # Of every column.
    mean: FloatArray
    variance: FloatArray
    totals: FloatArray  # sums of every column


def summarise_rows(source: Source) -> RowSummary:
    """Return means and variances of the columns of sequences, in two passes."""
    totals = total(_sums, source)
    mean = totals / source.n_rows
    squares = total(_centred_squares, source, mean)
    return RowSummary(mean, squares / source.n_rows, totals)


def _sums(block: Block) -> FloatArray:
    return column_sums(block.views[0])


def _centred_squares(block: Block, mean: FloatArray) -> FloatArray:
    rows = block.views[0]
    if isinstance(rows, np.ndarray):
        return np.asarray(((rows - mean) ** 2).sum(axis=0))
    return column_sums(rows * rows) - 2 * mean * column_sums(rows) + rows.shape[0] * mean**2


def first_emission(
    emission: str, summary: RowSummary, n_components: int, smoothing: float, prior_points: float = 1.0
) -> Emission:
    """Return an emission in which all states show what all rows show."""
    if emission in ("categorical", "multinomial"):
        shares = summary.totals / max(float(summary.totals.sum()), 1.0)
        return Multinomial(np.repeat(shares[None], n_components, axis=0), smoothing)
    if emission == "poisson":
        return Poisson(np.repeat(np.maximum(summary.mean, 1e-6)[None], n_components, axis=0))
    variance = _positive(summary.variance)
    ones = np.ones((n_components, 1))
    prior = PRIOR_SHARE * variance
    return Gaussian(ones * summary.mean, ones * variance, summary.mean, 1e-6 * variance, prior, prior_points)


def _positive(variance: FloatArray) -> FloatArray:
    return np.where(variance > 0, variance, max(float(variance.mean()), 1e-12))


def row_features(emission: str, summary: RowSummary) -> WindowFeatures:
    """Return the features of rows that moments are made of."""
    if emission in ("categorical", "multinomial"):
        if summary.totals.size <= MOST_SYMBOLS:
            return WindowFeatures("shares")
        return WindowFeatures("shares", np.sort(np.argsort(-summary.totals, kind="stable")[:MOST_SYMBOLS]))
    return WindowFeatures("values", None, summary.mean, np.sqrt(_positive(summary.variance)))


def choose_window(
    source: Source, features: WindowFeatures, n_components: int, window: int | None
) -> tuple[ThreeViews | None, int, str]:
    """Return the moments of the shortest windows that tell all states apart, their size, and why there are none."""
    best: tuple[float, ThreeViews, int] | None = None
    for size in range(1, MOST_WINDOW + 1) if window is None else (window,):
        moments = window_moments(source, features, size)
        if moments is None or moments.n_rows < 10 * n_components:
            break
        clear = clearness(moments, n_components)
        if best is None or clear > best[0]:
            best = clear, moments, size
        if clear > CLEAR:
            break
    if best is None:
        return None, 0, "no sequence has as many rows as a window"
    clear, moments, size = best
    if clear < HOPELESS:
        return None, size, f"neighbouring rows do not tell {n_components} states apart"
    return moments, size, ""


def chain_from_moments(
    moments: ThreeViews, features: WindowFeatures, emission: Emission, n_components: int, *, softening: float
) -> tuple[Chain, Classes]:
    """Return the chain whose windows have given moments; see :func:`transitions_of`."""
    classes = classes_of(moments, n_components)
    transitions = transitions_of(classes, moments)
    shown = shown_by(classes.views[2], features, emission, softening=softening)
    return Chain(classes.weights, _softened(transitions, softening), shown), classes


def transitions_of(classes: Classes, moments: ThreeViews) -> FloatArray:
    """Return the probabilities of the next state from what each state shows now and what comes after it.

    With O what states show, what comes after is ``[O A', O A'^2, ...] = [O, O A', ...] A'``: least squares with no
    negative entry, in the scale of the features.
    """
    _, future, now = classes.views
    F = now.shape[0]
    before = np.vstack([now, future[:-F]]) if future.shape[0] > F else now
    scale = np.maximum(moments.scales[1], 1e-3 * moments.scales[1].max())
    left, right = before / scale[:, None], future / scale[:, None]
    rows = np.stack([nnls(left, column)[0] for column in right.T])
    sums = rows.sum(axis=1, keepdims=True)
    K = rows.shape[0]
    return np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), 1 / K)


def _softened(transitions: FloatArray, share: float) -> FloatArray:
    K = transitions.shape[0]
    return (1 - share) * transitions + share / K


def shown_by(
    features_of_state: FloatArray, features: WindowFeatures, emission: Emission, *, softening: float
) -> Emission:
    """Return the emission in which states show given means of the features, F x K, and a share of what all show."""
    if isinstance(emission, Multinomial):
        common = emission.probabilities[0]
        shares = simplex_rows(features_of_state[:-1].T)
        if features.chosen is not None:
            rest = common.copy()
            rest[features.chosen] = 0.0
            wide = np.repeat(rest[None], shares.shape[0], axis=0)
            wide[:, features.chosen] = shares * (1 - rest.sum())
            shares = wide
        return replace(emission, probabilities=(1 - softening) * shares + softening * common)
    M = (features_of_state.shape[0] - 1) // 2
    centre, scale = np.asarray(features.centre), np.asarray(features.scale)
    means = features_of_state[:M].T * scale + centre
    if isinstance(emission, Poisson):
        return replace(emission, rates=np.maximum(np.maximum(means, softening * emission.rates[0]), emission.floor))
    assert isinstance(emission, Gaussian)
    squares = features_of_state[M : 2 * M].T + 1 - features_of_state[:M].T ** 2
    low, high = VARIANCE_RANGE
    variances = np.clip(squares, min(low, softening), high) * scale**2
    return replace(emission, means=means, variances=variances)


def chain_from_seeds(
    source: Source, features: WindowFeatures, emission: Emission, n_components: int, *, neighbours: float, squares: bool
) -> Chain:
    """Return a chain from the groups of the first rows.

    Parameters
    ----------
    source, features, emission, n_components
        Sequences, the features of their rows, what all states show, and K.
    neighbours
        With what weight the rows before and after are added to each row.
    squares
        Whether the squares among the features of values count, which tell states by their variances.
    """
    shard = source.shard(0)
    n_rows = min(shard.n_rows, sample_size(n_components))
    block = shard.between(0, n_rows)
    rows = features(block.views[0])
    now = dense_rows(rows)[:, :-1]
    now = now if squares or features.kind == "shares" else now[:, : now.shape[1] // 2]
    now = now / np.maximum(np.sqrt((now**2).mean(axis=0)), 1e-12)
    groups = seeded_groups(now + neighbours * (_shifted(now, 1) + _shifted(now, -1)), n_components)
    posterior = np.eye(n_components)[groups]
    shown = emission.maximised(emission.sums(block.views[0], posterior))
    continued = block.views[1][1:, 0] == 0
    pairs = np.ones((n_components, n_components))
    np.add.at(pairs, (groups[:-1][continued], groups[1:][continued]), 1.0)
    weights = (np.bincount(groups, minlength=n_components) + 1) / (n_rows + n_components)
    if isinstance(shown, Multinomial):
        common = total_shares(emission)
        shown = Multinomial((1 - COMMON_SHARE) * shown.probabilities + COMMON_SHARE * common, shown.smoothing)
    return Chain(weights, pairs / pairs.sum(axis=1, keepdims=True), shown)


def total_shares(emission: Emission) -> FloatArray:
    """Return the shares of symbols that all states have before anything is known of them."""
    assert isinstance(emission, Multinomial)
    return emission.probabilities[0]


def _shifted(rows: FloatArray, by: int) -> FloatArray:
    moved = np.roll(rows, by, axis=0)
    moved[0 if by > 0 else -1] = rows[0 if by > 0 else -1]
    return moved


def chain_starts(
    source: Source,
    emission: str,
    summary: RowSummary,
    n_components: int,
    *,
    start: str,
    window: int | None,
    smoothing: float,
    softening: float,
    prior_points: float = 1.0,
) -> tuple[dict[str, Chain], FloatArray, float, int, str]:
    """Return chains to begin from by name, the spectrum and the energy of the moments, their window, and a note."""
    features = row_features(emission, summary)
    blank = first_emission(emission, summary, n_components, smoothing, prior_points)
    starts: dict[str, Chain] = {}
    spectrum, energy, size, note = np.zeros(0), float("nan"), 0, ""
    if n_components == 1:
        note = "one state needs none"
    elif start == "seeds":
        note = "as asked for"
    else:
        moments, size, note = choose_window(source, features, n_components, window)
        if moments is not None:
            try:
                starts["moments"], classes = chain_from_moments(
                    moments, features, blank, n_components, softening=softening
                )
                spectrum, energy = classes.spectrum, classes.energy
            except (RankError, ValueError) as error:
                note = str(error).split(":")[0]
    if not starts or start != "moments":
        for name, (neighbours, squares) in SEEDS[features.kind].items():
            starts[name] = chain_from_seeds(
                source, features, blank, n_components, neighbours=neighbours, squares=squares
            )
    return starts, spectrum, energy, size, note
