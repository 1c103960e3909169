"""Independent component analysis against FastICA and Picard: ``python benchmarks/separation.py [case ...]``.

Cases: drawn, noise, voices, microphones, eeg, wide; all of them without an argument. All methods run in the same
process on one core each; seconds are those of the processor, which what else the machine does changes less than those
of the clock beside them. Fits that take less than a twentieth of a second are made again until ten are made, and the
least time is told. ``--without`` leaves methods out whose names begin so. Real data are read from ``../shared/data``.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import linalg
from scipy.optimize import linear_sum_assignment, minimize_scalar
from sklearn.decomposition import FastICA

from polyad.datasets.signals import make_ica
from polyad.engine import single_threaded_blas
from polyad.metrics import amari_distance
from polyad.models.signals.ica import ICA
from views_data import DATA, imported

WITHOUT: tuple[str, ...] = ()
REPEATS, SHORT = 10, 0.05
Method = Callable[[np.ndarray], np.ndarray]
Truth = np.ndarray | None


def methods(K: int) -> dict[str, Method]:
    fast = {"whiten": "unit-variance", "random_state": 0, "max_iter": 500}
    found: dict[str, Method] = {
        "polyad": lambda X: ICA(K, n_jobs=1).fit(X).components_,
        "polyad, moments": lambda X: ICA(K, polish="off", n_jobs=1).fit(X).components_,
        "polyad, noise": lambda X: ICA(K, noise="gaussian", n_jobs=1).fit(X).components_,
        "FastICA": lambda X: FastICA(K, **fast).fit(X).components_,
        "FastICA, cube": lambda X: FastICA(K, fun="cube", **fast).fit(X).components_,
    }
    if picard := imported("picard"):
        for name, options in {
            "Picard": {"ortho": False},
            "Picard, extended": {"ortho": False, "extended": True},
            "Picard-O": {"ortho": True, "extended": True},
        }.items():
            found[name] = lambda X, options=options: picard.Picard(K, random_state=0, **options).fit(X).components_
    return found


def interference(unmixing: np.ndarray, mixing: np.ndarray) -> float:
    """Return the mean signal-to-interference ratio of the sources in decibels."""
    gains = (unmixing @ mixing) ** 2
    rows, columns = linear_sum_assignment(-np.log(gains + 1e-300))
    wanted = gains[rows, columns]
    return float(np.mean(10 * np.log10(wanted / (gains.sum(axis=1)[rows] - wanted + 1e-300))))


def dependence(Y: np.ndarray) -> tuple[float, float]:
    """Return two losses of sources Y of variance 1, without the volume: entropies by spacings, and E log cosh.

    The entropy knows no density; the second is the loss of Picard, in the scale that suits each source best.
    """
    entropy = cosh = 0.0
    for y in Y.T:
        ordered, m = np.sort(y), round(Y.shape[0] ** 0.5)
        entropy += np.log(np.maximum(ordered[m:] - ordered[:-m], 1e-12) * (y.size + 1) / m).mean()
        sizes = np.abs(y)

        def loss(scale: float, sizes: np.ndarray = sizes) -> float:
            return float(np.mean(scale * sizes + np.log1p(np.exp(-2 * scale * sizes))) - np.log(scale))

        cosh += minimize_scalar(loss, bounds=(0.3, 30), method="bounded").fun
    return entropy, cosh


def judged(unmixing: np.ndarray, X: np.ndarray, mixing: Truth) -> tuple[float, float]:
    if mixing is not None:
        return amari_distance(unmixing, mixing), interference(unmixing, mixing)
    Y = (X - X.mean(axis=0)) @ unmixing.T
    scale = Y.std(axis=0)
    values = linalg.svdvals(unmixing / scale[:, None])
    entropy, cosh = dependence(Y / scale)
    return entropy - float(np.log(values).sum()), cosh - float(np.log(values).sum())


def timed(method: Method, X: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return what a method finds, and its seconds of the processor and of the clock."""
    took = []
    while len(took) < REPEATS and (not took or took[0][0] < SHORT):
        start = time.process_time(), time.perf_counter()
        with single_threaded_blas():
            unmixing = method(X)
        took.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    seconds, clock = np.min(took, axis=0)
    return unmixing, float(seconds), float(clock)


def compare(title: str, data: Iterable[tuple[np.ndarray, Truth]], K: int, left_out: tuple[str, ...] = ()) -> None:
    """Run all methods on some data sets and print the mean of what each of them reached, and of its seconds."""
    data = list(data)
    columns = ("entropy", "log cosh") if data[0][1] is None else ("Amari", "SIR, dB")
    print(f"\n{title}\n{'':20}{columns[0]:>10}{columns[1]:>10}{'seconds':>9}{'clock':>9}{'ratio':>7}")
    base = 0.0
    for name, method in methods(K).items():
        if name in left_out or name.startswith(WITHOUT):
            continue
        results = []
        for X, mixing in data:
            unmixing, *took = timed(method, X)
            results.append((*judged(unmixing, X, mixing), *took))
        first, second, seconds, clock = np.mean(results, axis=0)
        base = base or seconds
        print(f"{name:20}{first:10.5f}{second:10.2f}{seconds:9.4f}{clock:9.4f}{seconds / base:7.2f}", flush=True)


KINDS: dict[str, Any] = {"super": "super", "sub": "sub", "skewed": "skewed", "all kinds": ("super", "sub", "skewed")}


def drawn(draws: int) -> None:
    for name, sources in KINDS.items():
        for N in (1000, 10_000):
            samples = [make_ica(N, 6, sources=sources, random_state=draw) for draw in range(draws)]
            data = [(sample.X, sample.mixing) for sample in samples]
            compare(f"{name}, K=6, N={N:,}, no noise", data, 6, ("polyad, noise",))


def noise(draws: int) -> None:
    for name, sources in KINDS.items():
        samples = [make_ica(100_000, 6, sources=sources, noise=0.3, random_state=draw) for draw in range(draws)]
        data = [(sample.X, sample.mixing) for sample in samples]
        compare(f"{name}, K=6, N=100,000, correlated Gaussian noise 0.3", data, 6)


def _voices() -> np.ndarray:
    signals = np.load(DATA / "speech" / "sources_8k.npz")["X"].T.astype(float)
    return (signals - signals.mean(axis=0)) / signals.std(axis=0)


def _mixed(signals: np.ndarray, n_channels: int, draw: int) -> tuple[np.ndarray, np.ndarray]:
    mixing = np.random.default_rng(draw).standard_normal((n_channels, signals.shape[1]))
    return signals @ mixing.T, mixing


def voices(draws: int) -> None:
    signals = _voices()
    compare(f"six voices, {len(signals):,} samples", [_mixed(signals, 6, draw) for draw in range(draws)], 6)
    starts = range(20_000, 120_000, 100_000 // draws)
    parts = [_mixed(signals[first : first + 8000], 6, first) for first in starts]
    compare("six voices, 8,000 samples", parts, 6)


def microphones(draws: int) -> None:
    data = [_mixed(_voices(), 10, draw) for draw in range(draws)]
    compare("six voices, ten microphones", data, 6, ("polyad, noise",))


def eeg(draws: int) -> None:
    X = np.load(DATA / "eeg" / "eeglab_sample.npz")["X"].T.astype(float)
    compare(
        f"EEG, {X.shape[1]} channels, {len(X):,} samples: less is better", [(X, None)], X.shape[1], ("polyad, noise",)
    )


def wide(draws: int) -> None:
    for name in ("super", "all kinds"):
        sample = make_ica(30_000, 128, sources=KINDS[name], random_state=1)
        left_out = ("polyad, moments", "polyad, noise", "Picard", "Picard-O", "FastICA, cube")
        compare(f"{name}, 128 channels, 30,000 samples", [(sample.X, sample.mixing)], 128, left_out)


CASES = {function.__name__: function for function in (drawn, noise, voices, microphones, eeg, wide)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--without", nargs="*", default=[], metavar="NAME", help="methods to leave out")
    args = parser.parse_args()
    global WITHOUT
    WITHOUT = tuple(args.without)
    warnings.simplefilter("ignore")  # peers that stop early say so for every draw
    for K in (2, 24):  # loads what is compiled
        ICA(K).fit(make_ica(10_000, K).X)
    for name in args.cases or CASES:
        CASES[name](args.draws)


if __name__ == "__main__":
    main()
