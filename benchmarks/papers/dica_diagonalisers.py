"""Discrete ICA paper, Figure 1 and Table 1: diagonalisers on gamma-Poisson cumulants and on LDA moments."""

import recovery
import truth
from lab import Chart, Claim, Experiment, Row, falls, largest, mean

from polyad.metrics import l1_error

TOTAL, LENGTH = 0.5, 200.0
SECONDS = {  # Table 1 of the paper, means
    "GP": {"JD": 192, "JD(k)": 190, "JD(f)": 1846, "Spec": 107, "TPM": 2393},
    "LDA": {"JD": 284, "JD(k)": 290, "JD(f)": 2649, "Spec": 140, "TPM": 16460},
}
TABLE_1 = tuple(
    {"N": 50_000, "moments": kind, "method": method, "seconds": seconds}
    for kind, own in SECONDS.items()
    for method, seconds in own.items()
    if method != "JD(k)"  # within two per cent of JD
)


def settings(quick):
    sizes = (1000, 8000) if quick else (1000, 2000, 5000, 10_000, 20_000, 50_000)
    corpus, K = ("drawn", 6) if quick else ("ap", 50)
    return [{"corpus": corpus, "K": K, "N": N, "draw": draw} for draw in range(2 if quick else 5) for N in sizes]


def measure(corpus, K, N, draw) -> list[Row]:
    known = truth.learned(corpus, K)
    drawn = truth.sample(known, "gp", N, total=TOTAL, length=LENGTH, seed=draw)
    rows = []
    for kind in ("GP", "LDA"):
        start = recovery.whitened(drawn.counts, K, kind, TOTAL)
        for method in recovery.METHODS:
            topics, seconds = recovery.topics_by(start, method, seed=draw)
            error = l1_error(topics, known.components)
            rows.append({"N": N, "moments": kind, "method": method, "draw": draw, "error": error, "seconds": seconds})
    return rows


def _spectral_is_never_better(rows):
    return all(
        mean(rows, "error", moments=kind, method="Spec") >= 0.98 * mean(rows, "error", moments=kind, method="JD")
        for kind in ("GP", "LDA")
    )


EXPERIMENT = Experiment(
    name="discrete-ica-figure-1",
    source="Discrete ICA paper, Figure 1 and Table 1",
    title="Diagonalisers on cumulants of the gamma-Poisson model and on moments of LDA",
    found="The spectral algorithm is always slightly inferior to joint diagonalisation; the three choices of matrices "
    "for it hardly differ in error; cumulants of discrete ICA need fewer documents than moments of LDA.",
    settings=settings,
    measure=measure,
    claims=(
        Claim("The spectral algorithm is never better than joint diagonalisation.", _spectral_is_never_better),
        Claim(
            "JD(k) and JD(f) have about the error of JD.",
            lambda rows: all(
                mean(rows, "error", moments="GP", method=m) < 1.3 * mean(rows, "error", moments="GP", method="JD")
                for m in ("JD(k)", "JD(f)")
            ),
        ),
        Claim(
            "Cumulants of discrete ICA have a lower error than moments of LDA with uniform weights.",
            lambda rows: (
                mean(rows, "error", moments="GP", method="JD") < mean(rows, "error", moments="LDA", method="JD")
            ),
        ),
        Claim(
            "The error falls with the number of documents.", lambda rows: falls(rows, moments="GP", method="JD", by=0.7)
        ),
        Claim(
            "JD(f) takes no longer than JD, within a tenth: what the rotation minimises depends on the Gram matrix of "
            "the contractions alone, and K of them have the same one as all M.",
            lambda rows: (
                mean(rows, "seconds", N=largest(rows, "N"), method="JD(f)")
                < 1.1 * mean(rows, "seconds", N=largest(rows, "N"), method="JD")
            ),
            is_ours=True,
            full_size_only=True,
        ),
        Claim(
            "The tensor power method takes longer than joint diagonalisation.",
            lambda rows: (
                mean(rows, "seconds", N=largest(rows, "N"), method="TPM")
                > mean(rows, "seconds", N=largest(rows, "N"), method="JD")
            ),
            full_size_only=True,
        ),
        Claim(
            "The tensor power method is as good as joint diagonalisation on cumulants, and worse on moments of LDA.",
            lambda rows: (
                mean(rows, "error", moments="GP", method="TPM") < 1.02 * mean(rows, "error", moments="GP", method="JD")
                and mean(rows, "error", moments="LDA", method="TPM")
                > 1.02 * mean(rows, "error", moments="LDA", method="JD")
            ),
            full_size_only=True,
        ),
    ),
    charts=(
        Chart("N", "error", "method", "moments", "documents", "l1 error of the topics", log_x=True),
        Chart(
            "N",
            "seconds",
            "method",
            "moments",
            "documents",
            "CPU seconds, moments included",
            log_x=True,
            log_y=True,
            paper=TABLE_1,
        ),
    ),
    paper_values={
        "seconds at N = 50,000, K = 50 (means)": ", ".join(
            f"{method}-{kind} {seconds}" for kind, own in SECONDS.items() for method, seconds in own.items()
        )
    },
    differs="Topics are those of our own variational inference on AP. Our tensor power method deflates the whitened "
    "tensor itself, takes the best of ten fixed starts for every component and makes all orthonormal at the end: on "
    "moments of LDA it falls behind joint diagonalisation from 20,000 documents on only, by a few hundredths, where "
    "the paper's falls behind by more. Seconds are of the CPU, with one whitening shared by all methods and counted in "
    "full for each.",
)
