"""Thesis, chapter 2: ICA by cumulants and by generalised covariances, beside likelihood and FastICA."""

from lab import Chart, Claim, Experiment, Row, chosen, falls, mean
from sklearn.decomposition import FastICA

from polyad import ICA
from polyad.datasets import make_ica
from polyad.metrics import amari_distance

K = 5
STATISTICS = ("third", "fourth", "generalised", "characteristic")


def settings(quick):
    sizes = (2000, 16_000) if quick else (1000, 2000, 5000, 10_000, 50_000)
    return [
        {"sources": sources, "N": N, "draw": draw}
        for sources in ("super", "sub", "skewed")
        for N in sizes
        for draw in range(2 if quick else 5)
    ]


def measure(sources, N, draw) -> list[Row]:
    sample = make_ica(N, K, sources=sources, random_state=draw)
    found = {
        statistics: ICA(K, statistics=statistics, polish="off").fit(sample.X).components_
        for statistics in STATISTICS
        if statistics != "third" or sources == "skewed"  # third cumulants of symmetric sources are zero
    }
    found["likelihood"] = ICA(K).fit(sample.X).components_
    found["FastICA"] = (
        FastICA(K, whiten="unit-variance", random_state=0, max_iter=1000, tol=1e-3).fit(sample.X).components_
    )
    return [
        {"sources": sources, "N": N, "draw": draw, "method": name, "error": amari_distance(unmixing, sample.mixing)}
        for name, unmixing in found.items()
    ]


EXPERIMENT = Experiment(
    name="thesis-ica",
    source="Thesis, chapter 2",
    title="ICA by third and fourth cumulants, generalised covariances, the characteristic function and likelihood",
    found="Cumulants and generalised covariances of whitened data are diagonal in the sources; joint "
    "diagonalisation finds them.",
    settings=settings,
    measure=measure,
    claims=(
        Claim(
            "Every statistic that does not vanish converges: its error falls with the number of samples.",
            lambda rows: all(
                falls(chosen(rows, sources=sources), method=method, by=0.7)
                for sources in ("super", "sub", "skewed")
                for method in ("fourth", "characteristic")
            ),
        ),
        Claim(
            "Likelihood steps from the moments are more accurate than the moments, and than FastICA, for all sources.",
            lambda rows: all(
                mean(rows, "error", sources=sources, method="likelihood")
                < mean(rows, "error", sources=sources, method=other)
                for sources in ("super", "sub", "skewed")
                for other in ("fourth", "FastICA")
            ),
            is_ours=True,
        ),
        Claim(
            "For skewed sources the characteristic function is more accurate than fourth cumulants.",
            lambda rows: (
                mean(rows, "error", sources="skewed", method="characteristic")
                < mean(rows, "error", sources="skewed", method="fourth")
            ),
            is_ours=True,
        ),
    ),
    charts=(Chart("N", "error", "method", "sources", "samples", "Amari distance", log_x=True, log_y=True),),
)
