"""Spectral LDA paper, Lemmas 1 and 2: skewed and kurtotic independent factors, by third and by fourth order."""

import numpy as np
from lab import Chart, Claim, Experiment, Row, chosen, falls, mean

from polyad import IndependentFactors
from polyad.datasets import make_independent_factors
from polyad.metrics import match_rows

M, K, VIEWS = 20, 4, 4


def settings(quick):
    sizes = (500, 8000) if quick else (500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
    return [
        {"factors": factors, "N": N, "draw": draw}
        for draw in range(3 if quick else 10)
        for factors in ("skewed", "kurtotic")
        for N in sizes
    ]


def angle_error(found: np.ndarray, true: np.ndarray) -> float:
    """Return the mean sine of the angles between matched rows, whatever their signs and sizes."""
    found, true = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (found, true))
    order = match_rows(np.abs(found @ true.T), np.eye(len(true)))
    cosines = np.abs((found[order] * true).sum(axis=1))
    return float(np.sqrt(np.maximum(1 - cosines**2, 0)).mean())


def measure(factors, N, draw) -> list[Row]:
    sample = make_independent_factors(N, M, K, factors=factors, n_views=VIEWS, random_state=draw)
    rows = []
    for statistics in ("third", "fourth"):
        model = IndependentFactors(K, statistics=statistics, observation="any").fit(sample.views)
        error = angle_error(model.components_, sample.components)
        rows.append(
            {"factors": f"{factors} factors", "N": N, "draw": draw, "order": f"{statistics} order", "error": error}
        )
    return rows


EXPERIMENT = Experiment(
    name="spectral-lda-factors",
    source="Spectral LDA paper, Lemmas 1 and 2 (independent factors)",
    title="Independent factors seen in four views with noise: Pairs and Triples, or Pairs and Quadruples",
    found="Skewed factors are identified by moments of third order; kurtotic ones by those of fourth order, also "
    "where they are symmetric and the third order vanishes.",
    settings=settings,
    measure=measure,
    claims=(
        Claim(
            "Third order finds skewed factors: its error falls to less than a half at sixteen times the samples.",
            lambda rows: falls(chosen(rows, factors="skewed factors"), order="third order", by=0.5),
        ),
        Claim(
            "Fourth order finds both: its errors fall to less than a half.",
            lambda rows: all(
                falls(chosen(rows, factors=f"{kind} factors"), order="fourth order", by=0.5)
                for kind in ("skewed", "kurtotic")
            ),
        ),
        Claim(
            "Third order does not find symmetric factors: its error is three times that of fourth order or more.",
            lambda rows: (
                mean(rows, "error", factors="kurtotic factors", order="third order")
                > 3 * mean(rows, "error", factors="kurtotic factors", order="fourth order")
            ),
        ),
        Claim(
            "For skewed factors third order is more accurate than fourth.",
            lambda rows: (
                mean(rows, "error", factors="skewed factors", order="third order")
                < mean(rows, "error", factors="skewed factors", order="fourth order")
            ),
            is_ours=True,
        ),
    ),
    charts=(
        Chart(
            "N", "error", "order", "factors", "samples", "mean sine of the angle to the truth", log_x=True, log_y=True
        ),
    ),
)
