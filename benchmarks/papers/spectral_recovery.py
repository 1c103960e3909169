"""Spectral LDA paper: recovery from exact moments, and error against the number of documents."""

import numpy as np
from lab import Chart, Claim, Experiment, Row, falls, mean

from polyad.datasets import make_lda
from polyad.decompose import polyadic_decomposition, simplex_rows
from polyad.engine import count_blocks, use
from polyad.metrics import l1_error
from polyad.moments import lda_population, raw_moments

M, K, TOTAL = 200, 5, 1.0
METHODS = {
    "spectral": "Algorithm 1: one contraction",
    "tensor_power": "Algorithm 2: tensor power",
    "jacobi": "joint diagonalisation",
}


def settings(quick):
    sizes = (500, 8000) if quick else (500, 1000, 2000, 5000, 10_000, 20_000)
    return [{"N": N, "draw": draw} for N in sizes for draw in range(2 if quick else 5)]


def measure(N, draw) -> list[Row]:
    prior = TOTAL * np.array([0.4, 0.25, 0.15, 0.1, 0.1])
    sample = make_lda(N, M, K, length=50, prior=prior, random_state=draw)
    rows = []
    with use(1):
        sampled = raw_moments(count_blocks(sample.counts), "uniform").at(TOTAL)
        exact = lda_population(sample.components, prior)
        for method, name in METHODS.items():
            for data, moments in (("documents", sampled), ("exact moments", exact)):
                topics = simplex_rows(polyadic_decomposition(moments, K, method=method, strict=False).components)
                rows.append(
                    {"N": N, "draw": draw, "method": name, "data": data, "error": l1_error(topics, sample.components)}
                )
    return rows


EXPERIMENT = Experiment(
    name="spectral-lda-recovery",
    source="Spectral LDA paper, Theorems 2 and 3",
    title="Topics of LDA from exact moments and from documents",
    found="Exact moments give the topics exactly; with sampled moments the error falls as the root of the "
    "number of documents.",
    settings=settings,
    measure=measure,
    claims=(
        Claim(
            "Exact moments give the topics back to 1e-6.",
            lambda rows: max(row["error"] for row in rows if row["data"] == "exact moments") < 1e-6,
        ),
        Claim(
            "With sixteen times the documents the error of Algorithm 2 is at most half as large.",
            lambda rows: all(
                falls([row for row in rows if row["data"] == "documents"], method=method, by=0.5)
                for method in ("Algorithm 2: tensor power", "joint diagonalisation")
            ),
        ),
        Claim(
            "Algorithm 1, meant for exact moments, has a larger error on documents than Algorithm 2 and joint "
            "diagonalisation.",
            lambda rows: all(
                mean(rows, "error", data="documents", method=METHODS["spectral"])
                > mean(rows, "error", data="documents", method=METHODS[other])
                for other in ("tensor_power", "jacobi")
            ),
        ),
    ),
    charts=(
        Chart(
            "N",
            "error",
            "method",
            "",
            "documents",
            "l1 error of the topics",
            log_x=True,
            log_y=True,
            only=lambda row: row["data"] == "documents",
        ),
    ),
)
