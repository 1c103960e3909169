"""Beyond CCA, Figures 2 and 3: discrete and continuous samples of two views, and the processing points of DCCAg."""

import numpy as np
from lab import Chart, Claim, Experiment, Row, chosen, falls, mean

import views
from polyad import ICA, DiscreteCCA, NonGaussianCCA
from polyad.datasets import make_discrete_cca, make_nongaussian_cca

STEPS = (0.001, 0.1, 1.0, 10.0)  # delta of eq. (46)


def _flat(N, draw):
    """Draw the example in two dimensions: equal loadings of both views, and private ones on both sides of them."""
    D, F = np.full((2, 1), 0.5), np.array([[0.9, 0.1], [0.1, 0.9]])
    return make_discrete_cca(
        N,
        (2, 2),
        1,
        loadings=(D, D),
        private_loadings=(F, F),
        shape=0.1,
        length=100,
        private_length=100,
        random_state=draw,
    )


SAMPLES = {
    "discrete, 2 dimensions": (1, _flat),
    "discrete, 20 dimensions": (10, lambda N, draw: make_discrete_cca(N, random_state=draw)),
    "continuous, K = 1": (1, lambda N, draw: make_nongaussian_cca(N, n_components=1, random_state=draw)),
    "continuous, K = 10": (10, lambda N, draw: make_nongaussian_cca(N, n_components=10, random_state=draw)),
}


def _stacked_jade(sample):
    model = ICA(views.n_stacked(sample), statistics="fourth", polish="off").fit(views.stacked(sample))
    return views.split(model.mixing_, sample)


def methods(panel, K):
    """Return the methods of the paper, and ours."""
    if panel.startswith("discrete"):
        return {
            "DCCA": views.fitted(DiscreteCCA(K, statistics="third", metric="none")),
            "DCCAg": views.fitted(DiscreteCCA(K, statistics="generalised", metric="none")),
            "DICA, stacked": views.stacked_discrete_ica,
            "NMF, stacked": views.stacked_nmf,
            "polyad": views.fitted(DiscreteCCA(K)),
        }
    return {
        "NCCAg": views.fitted(NonGaussianCCA(K, statistics="generalised", metric="none")),
        "classical CCA": views.classical_cca,
        "JADE, stacked": _stacked_jade,
        "ICA by likelihood, stacked": views.stacked_ica,
        "polyad": views.fitted(NonGaussianCCA(K)),
    }


def settings(quick):
    sizes = (500, 3000) if quick else (500, 1000, 2000, 5000, 10_000)
    panels = [panel for panel in SAMPLES if not quick or panel in ("discrete, 20 dimensions", "continuous, K = 10")]
    return [
        {"panel": panel, "N": N, "draw": draw} for panel in panels for N in sizes for draw in range(1 if quick else 5)
    ]


def measure(panel, N, draw) -> list[Row]:
    K, make = SAMPLES[panel]
    sample = make(N, draw)
    return [
        {"panel": panel, "N": N, "draw": draw, "method": name, "error": views.loading_error(method(sample), sample)}
        for name, method in methods(panel, K).items()
    ]


def _best(rows, panel, method, others):
    own = mean(rows, "error", panel=panel, method=method)
    return all(own < mean(rows, "error", panel=panel, method=other) for other in others)


EXPERIMENT = Experiment(
    name="beyond-cca-figure-2",
    source="Beyond CCA, Figures 2 and 3 (left and middle)",
    title="l1 error of the loadings of two views with private noise",
    found="Discrete CCA separates shared from private sources where stacking the views does not; the same holds "
    "for non-Gaussian CCA "
    "against classical CCA.",
    settings=settings,
    measure=measure,
    claims=(
        Claim(
            "Discrete CCA beats discrete ICA and NMF on stacked views.",
            lambda rows: _best(rows, "discrete, 20 dimensions", "DCCA", ("DICA, stacked", "NMF, stacked")),
        ),
        Claim(
            "Non-Gaussian CCA with generalised covariances beats classical CCA.",
            lambda rows: _best(rows, "continuous, K = 10", "NCCAg", ("classical CCA",)),
        ),
        Claim(
            "The characteristic function beats the paper's statistics, and its error falls with the number of samples.",
            lambda rows: (
                _best(rows, "continuous, K = 10", "polyad", ("NCCAg",))
                and all(
                    falls(chosen(rows, panel=panel), method="polyad", by=0.7)
                    for panel in {row["panel"] for row in rows}
                )
            ),
            is_ours=True,
        ),
        Claim(
            "ICA by likelihood on stacked views, which the paper did not try, has the least error on continuous "
            "samples: the "
            "views have no noise but private sources, which it finds as well.",
            lambda rows: _best(
                rows, "continuous, K = 10", "ICA by likelihood, stacked", ("NCCAg", "JADE, stacked", "polyad")
            ),
            is_ours=True,
        ),
    ),
    charts=(Chart("N", "error", "method", "panel", "samples", "l1 error of the loadings", log_x=True),),
)


def step_settings(quick):
    sizes = (1000, 4000) if quick else (500, 1000, 2000, 5000, 10_000)
    return [{"N": N, "draw": draw} for N in sizes for draw in range(2 if quick else 5)]


def measure_steps(N, draw) -> list[Row]:
    sample = make_discrete_cca(N, random_state=draw)
    rows = []
    for step in STEPS:
        model = DiscreteCCA(10, statistics="generalised", metric="none", step=step)
        rows.append(
            {"N": N, "draw": draw, "step": step, "error": views.loading_error(views.fitted(model)(sample), sample)}
        )
    return rows


SENSITIVITY = Experiment(
    name="beyond-cca-figure-3",
    source="Beyond CCA, Figure 3 (right)",
    title="Sensitivity of discrete CCA by generalised covariances to the length of its processing points",
    found="Processing points have to be small, or the exponentials blow up; 0.1 is the default.",
    settings=step_settings,
    measure=measure_steps,
    claims=(
        Claim(
            "Small points do equally well; at ten times the mean size of the entries the error is larger.",
            lambda rows: (
                abs(mean(rows, "error", step=0.001) / mean(rows, "error", step=1.0) - 1) < 0.02
                and mean(rows, "error", step=10.0) > 1.05 * mean(rows, "error", step=0.1)
            ),
        ),
    ),
    charts=(Chart("N", "error", "step", "", "samples", "l1 error of the loadings", log_x=True),),
)
