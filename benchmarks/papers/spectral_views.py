"""Spectral LDA paper, Proposition 1: different views turned into one, beside the direct route between them."""

import numpy as np
from lab import Chart, Claim, Experiment, Row, falls, mean
from scipy.optimize import linear_sum_assignment

from polyad.datasets import make_multiview_mixture
from polyad.decompose.three_views import averaged_classes, classes_of, symmetric_classes
from polyad.moments.views.triples import ThreeViews

K, KINDS = 4, ("counts", "counts", "counts")
ROUTES = {"symmetric": "views symmetrised (Proposition 1)", "direct": "pairs of views, averaged"}


def settings(quick):
    sizes = (1000, 16_000) if quick else (500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
    return [{"N": N, "draw": draw} for draw in range(4 if quick else 10) for N in sizes]


def _moments(features, order) -> ThreeViews:
    a, b, c = (features[view] for view in order)
    N = len(a)

    def third(W1, W2):
        return np.einsum("ni,nj,nf->fij", a @ W1.T, b @ W2.T, c, optimize=True) / N

    scales = tuple(np.sqrt((view**2).mean(axis=0)) for view in (a, b, c))
    return ThreeViews(a.T @ b / N, (a.mean(axis=0), b.mean(axis=0)), third, scales, N)


def measure(N, draw) -> list[Row]:
    sample = make_multiview_mixture(N, (15, 15, 15), K, kinds=KINDS, length=10, random_state=draw)
    features = []
    for view in sample.views:
        counts = np.asarray(view.todense() if hasattr(view, "todense") else view, dtype=float)
        features.append(np.hstack([counts / counts.sum(axis=1, keepdims=True), np.ones((N, 1))]))
    pairings = {order: _moments(features, order) for order in ((0, 1, 2), (0, 2, 1), (1, 2, 0))}
    scales = [np.sqrt((view**2).mean(axis=0)) for view in features]
    found = {
        "symmetric": symmetric_classes(pairings, K),
        "direct": averaged_classes({order: classes_of(own, K) for order, own in pairings.items()}, scales),
    }
    true = np.hstack(sample.components)
    rows = []
    for route, classes in found.items():
        shown = np.hstack([view[:-1].T for view in classes.views])
        distances = np.abs(shown[:, None] - true).sum(axis=2)
        order, wanted = linear_sum_assignment(distances)
        error = float(distances[order, wanted].mean() / (2 * len(KINDS)))
        rows.append({"N": N, "draw": draw, "route": ROUTES[route], "error": error})
    return rows


EXPERIMENT = Experiment(
    name="spectral-lda-views",
    source="Spectral LDA paper, Proposition 1 (view symmetrisation)",
    title="Classes that three different views show, by moments alone",
    found="Views that differ can be turned into what one of them would show; the moments are then symmetric tensors, "
    "and the same algorithm applies.",
    settings=settings,
    measure=measure,
    claims=(
        Claim(
            "The error of symmetrised views falls with the number of rows, to less than a half at sixteen times as "
            "many.",
            lambda rows: falls(rows, route=ROUTES["symmetric"], by=0.5),
        ),
        Claim(
            "The direct route, averaged over the three pairings, is as accurate or more.",
            lambda rows: (
                mean(rows, "error", route=ROUTES["direct"]) < 1.05 * mean(rows, "error", route=ROUTES["symmetric"])
            ),
            is_ours=True,
        ),
    ),
    charts=(Chart("N", "error", "route", "", "rows", "l1 error of what the views show", log_x=True, log_y=True),),
)
