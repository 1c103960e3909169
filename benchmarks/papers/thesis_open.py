"""Thesis, chapter 5: open questions that we answer, each with a small experiment."""

import time

import numpy as np
from lab import Chart, Claim, Experiment, Row, chosen, falls, largest, mean

from polyad import DiscreteICA
from polyad.datasets import make_discrete_ica, make_gamma_poisson
from polyad.decompose import polyadic_decomposition, simplex_rows
from polyad.decompose.similarity.registry import similarity_diagonaliser
from polyad.engine import count_blocks, use
from polyad.metrics import amari_distance, l1_error
from polyad.models import source_shapes
from polyad.moments import discrete_ica_moments


def topic_settings(quick):
    sizes = (500, 4000) if quick else (500, 1000, 2000, 5000, 10_000)
    return [{"N": N, "draw": draw} for draw in range(2 if quick else 5) for N in sizes]


def measure_topics(N, draw) -> list[Row]:
    """Topics as the pseudo-inverse gives them, with negative entries; cut off; and after passes of likelihood."""
    K = 5
    sample = make_gamma_poisson(N, 200, K, mean_length=80.0, prior=0.3, random_state=draw)
    with use(1):
        components = polyadic_decomposition(
            discrete_ica_moments(count_blocks(sample.counts)), K, strict=False
        ).components
    raw = components / components.sum(axis=1, keepdims=True)
    found = {
        "as they come": raw,
        "negative entries cut off": simplex_rows(components),
        "passes of likelihood": DiscreteICA(K).fit(sample.counts).components_,
    }
    return [
        {"N": N, "draw": draw, "topics": name, "error": l1_error(topics, sample.components)}
        for name, topics in found.items()
    ]


TOPICS = Experiment(
    name="thesis-open-topics",
    source="Thesis, 5.1: non-negative topics",
    title="Error of the topics before and after they are made non-negative",
    found="Topics by diagonalisation have negative entries; cutting them off is a heuristic after which the Amari "
    "error "
    "was larger, and a method that keeps them non-negative is left open.",
    differs="We measure the l1 error of the topics themselves rather than the Amari error. Passes of likelihood, which "
    "keep topics non-negative, take the place of a constrained decomposition.",
    settings=topic_settings,
    measure=measure_topics,
    claims=(
        Claim(
            "Cutting negative entries off makes the l1 error smaller, not larger.",
            lambda rows: (
                mean(rows, "error", topics="negative entries cut off") < mean(rows, "error", topics="as they come")
            ),
            is_ours=True,
        ),
        Claim(
            "Passes of likelihood make it smaller still, at every size.",
            lambda rows: all(
                mean(rows, "error", topics="passes of likelihood", N=N)
                < mean(rows, "error", topics="negative entries cut off", N=N)
                for N in {row["N"] for row in rows}
            ),
            is_ours=True,
        ),
    ),
    charts=(Chart("N", "error", "topics", "", "documents", "l1 error of the topics", log_x=True, log_y=True),),
)

SOURCES = {
    "gamma": lambda rng, N: rng.gamma(2.0, 20.0, N),
    "a constant and a gamma": lambda rng, N: 30.0 + rng.gamma(0.5, 40.0, N),
    "two values": lambda rng, N: rng.choice([10.0, 90.0], N, p=[0.8, 0.2]),
}


def density_settings(quick):
    sizes = (1000, 10_000) if quick else (1000, 3000, 10_000, 30_000)
    return [{"N": N, "draw": draw} for draw in range(4 if quick else 10) for N in sizes]


def measure_densities(N, draw) -> list[Row]:
    """Tell gamma intensities from others, and estimate their first four moments without the noise of the counts."""

    def draw_sources(rng, n, _):
        return np.stack([law(rng, n) for law in SOURCES.values()], axis=1)

    sample = make_discrete_ica(draw_sources, N, 60, len(SOURCES), random_state=draw)
    model = DiscreteICA(len(SOURCES), polish="off").fit(sample.counts)
    shapes = source_shapes(model, sample.counts)
    order = np.abs(model.components_[:, None] - sample.components).sum(axis=2).argmin(axis=0)
    draws = draw_sources(np.random.default_rng(1), 400_000, None)
    rows = []
    for k, (name, found) in enumerate(zip(SOURCES, order)):
        moments = shapes.moments[:, found]
        true = np.array([(draws[:, k] ** power).mean() for power in (1, 2, 3, 4)])
        error = float(np.abs(moments / true - 1).max())
        rows.append({"N": N, "draw": draw, "law": name, "gamma": bool(shapes.gamma[found]), "error": error})
    return rows


DENSITIES = Experiment(
    name="thesis-open-densities",
    source="Thesis, 5.2 and the discrete ICA paper's conclusion: densities of the sources",
    title="The distribution of topic intensities, told from the counts once the topics are known",
    found="Topics are estimated whatever the distribution of their intensities; to learn that distribution is left "
    "open.",
    settings=density_settings,
    measure=measure_densities,
    claims=(
        Claim(
            "The first four moments of the intensities converge: their largest relative error, over the laws, falls "
            "to .6 or less.",
            lambda rows: falls(rows, by=0.6),
            is_ours=True,
        ),
        Claim(
            "With the most documents gamma intensities are called gamma, and the others are not.",
            lambda rows: all(row["gamma"] == (row["law"] == "gamma") for row in chosen(rows, N=largest(rows, "N"))),
            is_ours=True,
        ),
    ),
    charts=(
        Chart("N", "error", "law", "", "documents", "largest relative error of four moments", log_x=True, log_y=True),
    ),
)

DIAGONALISERS = {"schur": "simultaneous Schur", "jdtm": "JDTM (the paper's)", "exact": "exact shears"}


def schur_settings(quick):
    conditions = (3, 100) if quick else (3, 10, 30, 100)
    return [{"condition": condition, "draw": draw} for draw in range(3 if quick else 10) for condition in conditions]


def measure_schur(condition, draw) -> list[Row]:
    """Recover common eigenvectors of noisy matrices; the more alike the eigenvectors, the harder."""
    K, P, rng = 8, 10, np.random.default_rng([draw, condition])
    left, right = (np.linalg.qr(rng.standard_normal((K, K)))[0] for _ in range(2))
    mixing = left * np.geomspace(1, 1 / condition, K) @ right
    mixing /= np.linalg.norm(mixing, axis=0)
    stack = (mixing * rng.standard_normal((P, 1, K))) @ np.linalg.inv(mixing)
    stack += 1e-3 * rng.standard_normal(stack.shape)
    rows = []
    for method, name in DIAGONALISERS.items():
        started = time.process_time()
        found = similarity_diagonaliser(method)(stack)
        seconds, error = time.process_time() - started, amari_distance(np.linalg.inv(found.rotation), mixing)
        rows.append({"condition": condition, "draw": draw, "method": name, "error": error, "seconds": seconds})
    return rows


SCHUR = Experiment(
    name="thesis-open-schur",
    source="Thesis, 5.1: simultaneous Schur decomposition",
    title="Common eigenvectors of ten noisy matrices by similarity diagonalisers",
    found="Comparing simultaneous Schur decomposition with joint diagonalisation by similarity is of interest.",
    settings=schur_settings,
    measure=measure_schur,
    claims=(
        Claim(
            "With eigenvectors that are not far from orthogonal all have about the same error.",
            lambda rows: (
                max(mean(rows, "error", method=m, condition=3) for m in DIAGONALISERS.values())
                < 1.5 * min(mean(rows, "error", method=m, condition=3) for m in DIAGONALISERS.values())
            ),
            is_ours=True,
        ),
        Claim(
            "With eigenvectors nearly alike Schur's error is less than a half of that of the sweeps: a rotation "
            "cannot be "
            "ill-conditioned.",
            lambda rows: all(
                2 * mean(rows, "error", method="simultaneous Schur", condition=100)
                < mean(rows, "error", method=method, condition=100)
                for method in ("JDTM (the paper's)", "exact shears")
            ),
            is_ours=True,
        ),
    ),
    charts=(
        Chart(
            "condition",
            "error",
            "method",
            "",
            "condition of the eigenvectors",
            "Amari distance",
            log_x=True,
            log_y=True,
        ),
    ),
)


def inference_settings(quick):
    sizes = (1000, 8000) if quick else (1000, 2000, 5000, 10_000, 20_000)
    return [{"N": N, "draw": draw} for draw in range(2 if quick else 5) for N in sizes]


def measure_inference(N, draw) -> list[Row]:
    """Infer the intensities of new documents where topics differ in how large theirs are."""

    def draw_sources(rng, n, _):
        return np.stack([rng.gamma(0.3, 60.0, n), rng.gamma(2.0, 4.0, n), rng.lognormal(2.0, 0.4, n)], axis=1)

    sample = make_discrete_ica(draw_sources, N + 2000, 80, 3, random_state=draw)
    train, test, true = sample.counts[:N], sample.counts[N:], sample.intensities[N:]
    rows = []
    for rates in ("shared", "own"):
        model = DiscreteICA(3, rates=rates, normalize=False, polish="off").fit(train)
        order = np.abs(model.components_[:, None] - sample.components).sum(axis=2).argmin(axis=0)
        error = float(np.sqrt(((model.transform(test)[:, order] - true) ** 2).mean(axis=0) / true.var(axis=0)).mean())
        rows.append(
            {"N": N, "draw": draw, "prior": f"gamma, {rates} rate{'s' if rates == 'own' else ''}", "error": error}
        )
    unmixed = test @ np.linalg.pinv(sample.components)
    error = float(np.sqrt(((unmixed - true) ** 2).mean(axis=0) / true.var(axis=0)).mean())
    rows.append({"N": N, "draw": draw, "prior": "none: true topics, least squares", "error": error})
    return rows


INFERENCE = Experiment(
    name="thesis-open-inference",
    source="Thesis, 5.2: inference in semiparametric models",
    title="Intensities of new documents, where the sources have shapes and sizes of their own",
    found="Inference for discrete ICA and the models of two views, adapted to the densities of the sources, is left "
    "open.",
    settings=inference_settings,
    measure=measure_inference,
    claims=(
        Claim(
            "A gamma prior whose shape and rate come from the cumulants of each source infers intensities better than "
            "one rate for all, and than least squares with the true topics.",
            lambda rows: all(
                mean(rows, "error", prior="gamma, own rates") < mean(rows, "error", prior=prior)
                for prior in ("gamma, shared rate", "none: true topics, least squares")
            ),
            is_ours=True,
        ),
    ),
    charts=(Chart("N", "error", "prior", "", "documents", "error over the deviation of the intensities", log_x=True),),
)

EXPERIMENTS = (TOPICS, DENSITIES, SCHUR, INFERENCE)
