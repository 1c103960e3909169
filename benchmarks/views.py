"""Two views against peers: ``python benchmarks/views.py [section ...] [--full] [--figures FOLDER]``.

Sections: discrete, continuous, diagonalisers, canada, europarl, citeseq. Without a section the synthetic
ones run at two sample sizes; ``--full`` takes the sizes of the papers. Real data are read from ``../shared/data``.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import NMF, FastICA

from polyad.datasets.views import ViewSample, make_discrete_cca, make_nongaussian_cca
from polyad.decompose.orthogonal.jacobi import jacobi
from polyad.decompose.polyadic import polyadic_decomposition
from polyad.decompose.similarity.registry import similarity_diagonaliser
from polyad.decompose.whitening.cross import cca_metric
from polyad.engine import count_blocks, single_threaded_blas, use
from polyad.metrics import amari_distance
from polyad.models.signals.ica import ICA
from polyad.models.views.discrete import DiscreteCCA
from polyad.models.views.nongaussian import NonGaussianCCA
from polyad.moments.counts.discrete_ica import discrete_ica_moments
from views_data import Loadings, Table, canada, citeseq, europarl, imported, show


def draw_figure(title: str, table: Table, folder: str | None) -> None:
    """Draw errors over the number of samples, one curve a method."""
    plots = imported("matplotlib.pyplot") if folder else None
    if plots is None or folder is None:
        return
    figure, axes = plots.subplots(figsize=(8, 4))
    sizes = [int(column) for column in next(iter(table.values()))]
    for marker, (name, row) in zip("os^vDPX*", table.items()):
        means, errors = zip(*((np.mean(v), np.std(v) / len(v) ** 0.5) for v in row.values()))
        axes.errorbar(sizes, means, errors, label=name, marker=marker, linewidth=2.5 if "default" in name else 1)
    axes.set(xscale="log", yscale="log", xlabel="samples", ylabel="l1 error of the loadings", title=title)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.yaxis.set_major_locator(plots.matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8)
    Path(folder).mkdir(parents=True, exist_ok=True)
    name = "-".join(title.replace(",", "").replace("=", " ").split())
    figure.savefig(Path(folder) / f"{name}.png", dpi=150, bbox_inches="tight")
    plots.close(figure)


def loading_error(found: Loadings, sample: ViewSample) -> float:
    """Return the l1 error of the papers in [0, 1]; of more columns than the truth the best are taken."""
    stacked = np.vstack([D / np.maximum(np.abs(D).sum(axis=0), 1e-300) for D in found]).T
    true = sample.loadings
    distances = np.minimum(np.abs(stacked[:, None] - true).sum(2), np.abs(stacked[:, None] + true).sum(2))
    rows, columns = linear_sum_assignment(distances)
    return float(distances[rows, columns].mean() / 4)


def fitted(model: Any) -> Callable[[ViewSample], Loadings]:
    def fit(sample: ViewSample) -> Loadings:
        found = model.fit(sample.X, sample.Y)
        return found.x_loadings_, found.y_loadings_

    return fit


def stacked(sample: ViewSample) -> Any:
    parts = sample.X, sample.Y
    return sparse.hstack(parts, format="csr") if sparse.issparse(parts[0]) else np.hstack(parts)


def split(mixing: np.ndarray, sample: ViewSample) -> Loadings:
    return mixing[: sample.X.shape[1]], mixing[sample.X.shape[1] :]


def n_stacked(sample: ViewSample) -> int:
    wanted = sum(D.shape[1] for D in (sample.x_loadings, sample.x_noise_loadings, sample.y_noise_loadings))
    return min(wanted, sample.X.shape[1] + sample.Y.shape[1])


def stacked_discrete_ica(sample: ViewSample) -> Loadings:
    with use():
        moments = discrete_ica_moments(count_blocks(stacked(sample)))
        for K in range(n_stacked(sample), 0, -1):  # sampling can leave fewer positive directions
            try:
                components = polyadic_decomposition(moments, K, strict=False).components
                return split(np.maximum(components, 0).T, sample)
            except ValueError:
                continue
    raise ValueError("No component at all")


def stacked_nmf(sample: ViewSample) -> Loadings:
    model = NMF(
        n_stacked(sample), solver="mu", beta_loss="kullback-leibler", init="random", max_iter=100, random_state=0
    )
    return split(model.fit(stacked(sample).toarray().astype(float)).components_.T, sample)


def stacked_ica(sample: ViewSample) -> Loadings:
    return split(ICA(n_stacked(sample), statistics="fourth").fit(stacked(sample)).mixing_, sample)


def stacked_fastica(sample: ViewSample) -> Loadings:
    model = FastICA(n_stacked(sample), whiten="unit-variance", random_state=0, max_iter=500, tol=1e-3)
    return split(model.fit(stacked(sample)).mixing_, sample)


def classical_cca(sample: ViewSample) -> Loadings:
    X, Y = (view - view.mean(axis=0) for view in (sample.X, sample.Y))
    Cx, Cy, Cxy = X.T @ X, Y.T @ Y, X.T @ Y
    Rx, Ry = (cca_metric(C, ridge=1e-6) for C in (Cx, Cy))
    U, _, Vt = linalg.svd(Rx @ Cxy @ Ry)
    K = sample.x_loadings.shape[1]
    return Cx @ Rx @ U[:, :K], Cy @ Ry @ Vt[:K].T


def recovery(title: str, make: Callable[[int, int], ViewSample], methods: dict[str, Any], args: Any) -> None:
    sizes = (500, 1000, 2000, 5000, 10_000) if args.full else (1000, 10_000)
    table: Table = {name: {str(N): [] for N in sizes} for name in methods}
    for N in sizes:
        for draw in range(args.draws):
            sample = make(N, draw)
            for name, method in methods.items():
                table[name][str(N)].append(loading_error(method(sample), sample))
    show(title, table)
    draw_figure(title, table, args.figures)


def discrete(args: Any) -> None:
    def methods(K: int) -> dict[str, Any]:
        return {
            "T-cumulants (paper)": fitted(DiscreteCCA(K, statistics="third", metric="none")),
            "generalised covariances (paper)": fitted(DiscreteCCA(K, statistics="generalised", metric="none")),
            "T-cumulants, CCA metric": fitted(DiscreteCCA(K, statistics="third")),
            "characteristic function (default)": fitted(DiscreteCCA(K)),
            "discrete ICA, stacked": stacked_discrete_ica,
            "NMF, stacked": stacked_nmf,
        }

    D, F = np.full((2, 1), 0.5), np.array([[0.9, 0.1], [0.1, 0.9]])
    flat = {"loadings": (D, D), "private_loadings": (F, F), "shape": 0.1, "length": 100, "private_length": 100}

    def make_flat(N: int, draw: int) -> ViewSample:
        return make_discrete_cca(N, (2, 2), 1, random_state=draw, **flat)

    recovery("discrete 2D, K=1", make_flat, methods(1), args)
    recovery("discrete 20D, K=10", lambda N, draw: make_discrete_cca(N, random_state=draw), methods(10), args)


def continuous(args: Any) -> None:
    for K in (1, 10):
        methods = {
            "generalised covariances (paper)": fitted(NonGaussianCCA(K, statistics="generalised", metric="none")),
            "characteristic function (default)": fitted(NonGaussianCCA(K)),
            "order 4": fitted(NonGaussianCCA(K, statistics="fourth")),
            "spectral": fitted(NonGaussianCCA(K, method="spectral")),
            "classical CCA": classical_cca,
            "JADE, stacked": stacked_ica,
            "FastICA, stacked": stacked_fastica,
        }

        def make(N: int, draw: int, K: int = K) -> ViewSample:
            return make_nongaussian_cca(N, n_components=K, random_state=draw)

        recovery(f"continuous 20D, K={K}", make, methods, args)


def timed(function: Callable[[], np.ndarray], repeats: int) -> tuple[float, np.ndarray]:
    best, result = np.inf, function()
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def diagonalisers(args: Any) -> None:
    qndiag, pyriemann = imported("qndiag"), imported("pyriemann.utils.ajd")
    for K in (10, 50, 100):
        rng = np.random.default_rng(K)
        rotation = linalg.qr(rng.standard_normal((K, K)))[0]
        mixing = rotation @ np.diag(rng.uniform(0.5, 2, K)) @ linalg.qr(rng.standard_normal((K, K)))[0]
        diagonals = rng.gamma(1.0, size=(30, K)) + 0.1
        noise = rng.standard_normal((30, K, 2 * K)) / np.sqrt(2 * K)
        wishart = 0.01 * noise @ noise.transpose(0, 2, 1)
        orthogonal, congruent = (Q @ (diagonals[:, :, None] * Q.T) + wishart for Q in (rotation, mixing))

        def whitened_jacobi(C: np.ndarray = congruent) -> np.ndarray:
            values, vectors = linalg.eigh(C.mean(axis=0))
            W = (vectors / np.sqrt(values)).T
            return jacobi(W @ C @ W.T, tol=1e-6).rotation.T @ W

        def by_similarity(method: str, C: np.ndarray = congruent) -> np.ndarray:
            return similarity_diagonaliser(method)(C @ linalg.inv(C.mean(axis=0)), tol=1e-6).inverse

        runs = {"polyad jacobi": (lambda C=orthogonal: jacobi(C, tol=1e-6).rotation.T, rotation)}
        if pyriemann:
            runs["pyRiemann rjd"] = (lambda C=orthogonal: pyriemann.rjd(C, eps=1e-6, n_iter_max=100)[0].T, rotation)
        runs["polyad whiten + jacobi"] = (whitened_jacobi, mixing)
        runs["polyad jdtm"] = (lambda: by_similarity("jdtm"), mixing)
        runs["polyad first_order"] = (lambda: by_similarity("first_order"), mixing)
        if qndiag:
            runs["qndiag"] = (lambda C=congruent: qndiag.qndiag(C, tol=1e-6, max_iter=500)[0], mixing)
        if pyriemann:
            runs["pyRiemann pham"] = (lambda C=congruent: pyriemann.ajd_pham(C, eps=1e-6, n_iter_max=100)[0], mixing)
        print(f"\ndiagonalisers, 30 matrices, K={K}" + f"\n{'':26}{'seconds':>10}{'ratio':>9}{'Amari':>10}")
        base = 0.0
        for name, (run, truth) in runs.items():
            slow = name.startswith("pyRiemann")
            seconds, unmixing = timed(run, 1 if slow and K > 10 else 3)
            base = seconds if name in ("polyad jacobi", "polyad whiten + jacobi") else base
            print(f"{name:26}{seconds:10.4f}{seconds / base:9.1f}{amari_distance(unmixing, truth):10.5f}")


SECTIONS = {f.__name__: f for f in (discrete, continuous, diagonalisers, canada, europarl, citeseq)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], help="none: the synthetic ones")
    parser.add_argument("--full", action="store_true", help="all sample sizes, sizes K and the stability of halves")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--figures", help="a folder for the error curves")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # peers that stop early say so for every draw
    for name in args.sections or ("discrete", "continuous", "diagonalisers"):
        start = time.perf_counter()
        with single_threaded_blas():
            SECTIONS[name](args)
        print(f"[{name}: {time.perf_counter() - start:.0f} s]", flush=True)


if __name__ == "__main__":
    main()
