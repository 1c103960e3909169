"""Discrete ICA paper, Figure 5: what a wrong total concentration c0 does to the moments of LDA."""

import recovery
import truth
from lab import Chart, Claim, Experiment, Row, mean

from polyad.metrics import l1_error

TOTALS = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 100.0)


def settings(quick):
    corpus, Ks = ("drawn", (5,)) if quick else ("ap", (10, 50))
    N = 4000 if quick else 20_000
    draws = range(2 if quick else 5)
    return [
        {"corpus": corpus, "K": K, "law": law, "N": N, "draw": draw}
        for K in Ks
        for draw in draws
        for law in ("gp", "fix")
    ]


def measure(corpus, K, law, N, draw) -> list[Row]:
    known = truth.learned(corpus, K)
    drawn = truth.sample(known, law, N, total=1.0, length=200.0, seed=draw)
    rows = []
    started = {
        "LDA": recovery.whitened_at_totals(drawn.counts, K, "uniform", TOTALS),
        "LDA length": recovery.whitened_at_totals(drawn.counts, K, "length", TOTALS),
        "GP": [recovery.whitened(drawn.counts, K, "GP", 1.0)] * len(TOTALS),  # needs no total
    }
    for kind, starts in started.items():
        for given, start in zip(TOTALS, starts):
            topics, _ = recovery.topics_by(start, "JD")
            error = l1_error(topics, known.components)
            rows.append(
                {
                    "c0": given,
                    "law": law,
                    "K": K,
                    "moments": kind,
                    "draw": draw,
                    "panel": f"{law}, K = {K}",
                    "error": error,
                }
            )
    return rows


EXPERIMENT = Experiment(
    name="discrete-ica-figure-5",
    source="Discrete ICA paper, Figure 5",
    title="Moments of LDA at wrong totals of the prior (true total 1)",
    found="Moments of LDA are somewhat sensitive to c0: with documents of one length the error doubles from c0 "
    "= 1 to c0 = 0.1.",
    differs="Topics are those of our own variational inference on AP. One whitening of the raw second moment serves "
    "all "
    "totals, which changes it by a term of rank one.",
    settings=settings,
    measure=measure,
    claims=(
        Claim(
            "The error at a hundredth of the true total, or at a hundred times it, is larger than at the true one.",
            lambda rows: all(
                mean(rows, "error", law="fix", moments="LDA", c0=1.0)
                < mean(rows, "error", law="fix", moments="LDA", c0=c0)
                for c0 in (0.01, 100.0)
            ),
        ),
        Claim(
            "With ten topics and one length the error about doubles from c0 = 1 to c0 = 0.1: 1.5 times or more.",
            lambda rows: (
                mean(rows, "error", law="fix", moments="LDA", K=10, c0=0.1)
                > 1.5 * mean(rows, "error", law="fix", moments="LDA", K=10, c0=1.0)
            ),
            full_size_only=True,
        ),
        Claim(
            "Cumulants of discrete ICA need no total at all.",
            lambda rows: (
                mean(rows, "error", law="gp", moments="GP", c0=0.01)
                == mean(rows, "error", law="gp", moments="GP", c0=100.0)
            ),
        ),
    ),
    charts=(
        Chart("c0", "error", "moments", "panel", "total given to the moments", "l1 error of the topics", log_x=True),
    ),
    paper_values={"K = 10, one length": "the error doubles from c0 = 1 to c0 = 0.1"},
)
