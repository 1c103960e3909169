"""Mixtures, hidden chains and latent classes against peers: seconds, likelihood, and distance from the truth.

    python benchmarks/mixtures.py                # quick: all sections at two or three sizes
    python benchmarks/mixtures.py gaussian --full
    python benchmarks/mixtures.py chains --only gaussian    # the cases with this in their title
    python benchmarks/mixtures.py --install      # make the peers' environment

Sections: gaussian (scikit-learn's GaussianMixture), chains (hmmlearn), small (chains of few rows, with and without
what guards them), classes (StepMix), factors (with and without likelihood steps), and letters, eeg, languages and
cells (real data from ``../shared/data``). hmmlearn and StepMix run in an environment of their own,
benchmarks/.peers-mixtures, each case in a fresh process. Seconds are those of the processor in the fits alone, which
what else the machine does hardly changes; set OMP_NUM_THREADS=1, as threads of BLAS wait for each other. A peer with
ten starts is ten fits and the best of them by its likelihood. Likelihood is that of the data, and of as many new rows
of the same model, in nats for each row.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp

from measure import isolated

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
PEERS_ENV = HERE / ".peers-mixtures"
PEER_PACKAGES = ["numpy", "scipy", "scikit-learn", "hmmlearn", "stepmix"]
GAUSSIAN = [  # points, columns, components, separation
    (5_000, 10, 3, 4.0),
    (5_000, 10, 3, 2.0),
    (10_000, 20, 10, 3.0),
    (10_000, 50, 20, 4.0),
    (10_000, 50, 20, 8.0),
]
GAUSSIAN_FULL = [(10_000, 20, 20, 6.0), (20_000, 100, 50, 8.0), (20_000, 200, 50, 6.0), (20_000, 200, 50, 12.0)]
CHAINS = [  # emission, sequences, length, columns, states
    ("categorical", 20, 200, 8, 3),
    ("categorical", 20, 200, 20, 5),
    ("gaussian", 20, 200, 5, 4),
    ("poisson", 20, 300, 5, 4),
]
CHAINS_FULL = [("categorical", 50, 400, 20, 5), ("categorical", 50, 400, 2, 3), ("gaussian", 20, 500, 10, 8)]
CLASSES = [(2_000, (6, 6, 6), 3, 0.0), (5_000, (6, 6, 6), 3, 0.2), (5_000, (10, 10, 10), 6, 0.2)]
SMALL = [
    ("gaussian", 5, 30, 5, 3),
    ("gaussian", 2, 30, 10, 4),
    ("gaussian", 3, 20, 20, 3),
    ("categorical", 5, 40, 20, 3),
]
STARTS = 10
DRAWS = 8
LEAST = 0.5  # of the median variance: the least variance under which mixtures are compared
FLOOR = 0.1  # of the variance of a component, added to all: the likelihood of a component of one point has a bound


def main():
    """Run the sections asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = (gaussian, chains, small, classes, factors, letters, eeg, languages, cells)
    sections = {part.__name__: part for part in parts}
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(sections))
    parser.add_argument("--full", action="store_true", help="larger sizes as well")
    parser.add_argument("--install", action="store_true", help="make the peers' environment")
    parser.add_argument("--peer", nargs=2, metavar=("NAME", "FILE"), help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in their title")
    options = parser.parse_args()
    if options.peer:
        print(json.dumps(PEERS[options.peer[0]](np.load(options.peer[1], allow_pickle=False))))
        return
    if options.install:
        install()
    for name in options.sections or sections:
        sections[name](options.full, options.only)


def install():
    """Make the peers' environment."""
    venv.create(PEERS_ENV, with_pip=True)
    subprocess.run([PEERS_ENV / "bin" / "pip", "install", "--quiet", *PEER_PACKAGES], check=True)


def show(title, rows):
    """Print a table of dicts."""
    print(f"\n{title}\n")
    columns = list(rows[0])
    cells = [[_cell(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(len(column), *(len(line[i]) for line in cells)) for i, column in enumerate(columns)]
    print("| " + " | ".join(c.ljust(w) for c, w in zip(columns, widths)) + " |")
    print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    for line in cells:
        print("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths)) + " |", flush=True)


def _cell(value):
    return (
        f"{value:.4g}"
        if isinstance(value, float) and abs(value) < 1
        else f"{value:.4f}"
        if isinstance(value, float)
        else str(value)
    )


def timed(function):
    """Return what a function returns, and the seconds of the processor that it took."""
    start = time.process_time()
    found = function()
    return found, time.process_time() - start


def error_of(found, true):
    """Return the root mean square distance of rows from the true ones in the best order, over that of the true ones."""
    distances = ((found[:, None] - true[None]) ** 2).sum(axis=2)
    rows, columns = linear_sum_assignment(distances)
    return float(np.sqrt(distances[rows, columns].mean() / ((true - true.mean(axis=0)) ** 2).sum(axis=1).mean()))


def gaussian(full, only):
    """Compare with scikit-learn, one start and ten."""
    from sklearn.mixture import GaussianMixture

    from polyad import SphericalMixture
    from polyad.datasets import make_spherical_mixture

    SphericalMixture(2).fit(make_spherical_mixture(100, 3, 2).X)  # loops are compiled once
    for N, M, K, separation in GAUSSIAN + (GAUSSIAN_FULL if full else []):
        title = f"{N:,} points, {M} columns, {K} components, separation {separation:g}"
        if only not in title:
            continue
        draw = make_spherical_mixture(2 * N, M, K, separation=separation, random_state=1)
        X, new = draw.X[:N], draw.X[N:]
        rows, fits = [], []

        def fit(name, model, X=X, new=new, N=N, draw=draw, rows=rows, fits=fits):
            with warnings.catch_warnings(action="ignore"):
                fitted, seconds = timed(lambda: model.fit(X))
            fits.append(fitted)
            rows.append(
                {
                    "method": name,
                    "seconds": seconds,
                    "nats": fitted.score(X),
                    "new nats": fitted.score(new),
                    "error of means": error_of(fitted.means_, draw.means),
                    "of one point": int((fitted.weights_ * N < 1.5).sum()),
                }
            )

        peer_of = partial(GaussianMixture, K, covariance_type="spherical", random_state=0)
        fit("polyad", SphericalMixture(K))
        fit("polyad, moments alone", SphericalMixture(K, start="moments", max_iter=0))
        fit("polyad, no prior points", SphericalMixture(K, prior_points=0))
        fit("scikit-learn, 1 start", peer_of())
        fit(f"scikit-learn, {STARTS} starts", peer_of(n_init=STARTS))
        if any(row["of one point"] for row in rows):
            floor = FLOOR * float(np.median(fits[0].covariances_))
            fit(f"polyad, no prior points, floor {floor:.2g}", SphericalMixture(K, prior_points=0, reg_covar=floor))
            fit(f"scikit-learn, {STARTS} starts, floor {floor:.2g}", peer_of(n_init=STARTS, reg_covar=floor))
        least = LEAST * float(np.median(fits[0].covariances_))
        for row, fitted in zip(rows, fits):
            row["bounded nats"] = bounded_score(fitted, X, least)
        alone = np.any([(fit.weights_ * N < 1.5)[fit.predict(X)] for fit in fits], axis=0)
        if alone.any():
            for row, fit in zip(rows, fits):
                row[f"nats of the other {N - alone.sum():,}"] = float(fit.score_samples(X)[~alone].mean())
        show(title, rows)


def bounded_score(mixture, X, least):
    """Return the mean log-likelihood with no variance below the least: it has a bound, and a point alone gains nothing.

    It is the likelihood itself where every variance is larger.
    """
    raised = np.maximum(mixture.covariances_, least)
    squares = (X**2).sum(axis=1)[:, None] - 2 * X @ mixture.means_.T + (mixture.means_**2).sum(axis=1)
    logs = np.log(mixture.weights_) - squares / (2 * raised) - X.shape[1] / 2 * np.log(2 * np.pi * raised)
    return float(logsumexp(logs, axis=1).mean())


def peer(name, **arrays):
    """Run a peer on some arrays in its own environment."""
    python = PEERS_ENV / "bin" / "python"
    if not python.exists():
        return {"error": "no environment: run with --install"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "data.npz")
        np.savez(file, **arrays)
        return isolated(__file__, "--peer", name, file, python=str(python))


def hmmlearn_peer(data):
    """Fit hmmlearn from several starts."""
    import logging

    from hmmlearn import hmm

    logging.disable(logging.CRITICAL)
    kinds = {"categorical": hmm.CategoricalHMM, "gaussian": hmm.GaussianHMM, "poisson": hmm.PoissonHMM}
    K, X, lengths, new = int(data["K"]), data["X"], data["lengths"], data["new"]
    found = []
    for seed in range(STARTS):
        model = kinds[str(data["emission"])](K, n_iter=200, tol=1e-6 * len(X), random_state=seed)
        _, seconds = timed(lambda model=model: model.fit(X, lengths))
        shown = {"categorical": "emissionprob_", "gaussian": "means_", "poisson": "lambdas_"}[str(data["emission"])]
        scores = model.score(X, lengths) / len(X), model.score(new, data["new_lengths"]) / len(new)
        found.append([seconds, *scores, getattr(model, shown).tolist()])
    return {"found": found}


def chains(full, only):
    """Compare with hmmlearn, one start and ten."""
    from polyad import HiddenMarkov
    from polyad.datasets import make_hmm

    for emission, n, length, M, K in CHAINS + (CHAINS_FULL if full else []):
        title = f"{emission}: {n} sequences of {length}, {M} columns or symbols, {K} states"
        if only not in title:
            continue
        draw = make_hmm(2 * n, length, M, K, emission=emission, random_state=1)
        X, lengths, new = draw.X[: n * length], draw.lengths[:n], draw.X[n * length :]
        HiddenMarkov(K, emission=emission, max_iter=1).fit(X[:50])  # loops are compiled once
        model, seconds = timed(lambda K=K, e=emission, X=X, s=lengths: HiddenMarkov(K, emission=e).fit(X, s))
        rows = [
            {
                "method": "polyad",
                "seconds": seconds,
                "nats": model.score(X, lengths) / len(X),
                "new nats": model.score(new, lengths) / len(new),
                "error": error_of(model.emission_rows_[:, :M], draw.emissions),
            }
        ]
        done = peer("hmmlearn", X=X, lengths=lengths, new=new, new_lengths=lengths, K=K, emission=emission)
        rows += peer_rows("hmmlearn", done, draw.emissions)
        show(title, rows)


def small(full, only):
    """Compare chains of few rows with and without what guards them, by the rows themselves and by new ones."""
    from polyad import HiddenMarkov
    from polyad.datasets import make_hmm

    kinds = {
        "as it is": {},
        "no prior points": {"prior_points": 0},
        "no smoothing": {"smoothing": 0},
        "neither": {"prior_points": 0, "smoothing": 0},
    }
    for emission, n, length, M, K in SMALL:
        title = f"{emission}: {n} sequences of {length}, {M} columns or symbols, {K} states, mean of {DRAWS} draws"
        if only not in title:
            continue
        nats = np.zeros((len(kinds), DRAWS, 2))
        for seed in range(DRAWS):
            draw = make_hmm(n + 40, length, M, K, emission=emission, random_state=seed)
            parts = [(draw.X[: n * length], draw.lengths[:n]), (draw.X[n * length :], draw.lengths[n:])]
            for row, options in enumerate(kinds.values()):
                with warnings.catch_warnings(action="ignore"):
                    model = HiddenMarkov(K, emission=emission, **options).fit(*parts[0])
                nats[row, seed] = [model.score(X, lengths) / len(X) for X, lengths in parts]
        means = nats.mean(axis=1)
        show(title, [{"method": name, "nats": f[0], "new nats": f[1]} for name, f in zip(kinds, means)])


def peer_rows(name, done, true=None):
    """Return the rows of a peer with one start and with ten."""
    if "error" in done:
        return [{"method": f"{name}: {done['error']}"}]
    found = done["found"]
    best = max(found, key=lambda one: one[1])
    rows = []
    for starts, (seconds, nats, new, shown) in ((1, found[0]), (STARTS, [sum(one[0] for one in found), *best[1:]])):
        error = {} if true is None else {"error": error_of(np.array(shown), true)}
        rows.append(
            {
                "method": f"{name}, {starts} start{'s' * (starts > 1)}",
                "seconds": seconds,
                "nats": nats,
                "new nats": new,
                **error,
            }
        )
    return rows


def stepmix_peer(data):
    """Fit StepMix from several starts."""
    from stepmix.stepmix import StepMix

    found = []
    X, new = data["X"], data["new"]
    kind = "binary_nan" if np.isnan(X).any() else "binary"
    for seed in range(STARTS):
        model = StepMix(
            int(data["K"]), measurement=kind, n_init=1, max_iter=300, abs_tol=1e-5, random_state=seed, progress_bar=0
        )
        _, seconds = timed(lambda model=model: model.fit(X))
        shown = np.asarray(model.get_parameters()["measurement"]["pis"])
        found.append(
            [
                seconds,
                model.score(X),
                model.score(new),
                (shown if shown.shape[0] == int(data["K"]) else shown.T).tolist(),
            ]
        )
    return {"found": found}


def classes(full, only):
    """Compare latent class analysis of binary answers, some of them missing, with StepMix."""
    from polyad import MultiViewMixture
    from polyad.datasets import make_multiview_mixture

    MultiViewMixture(2).fit(make_multiview_mixture(100, (3, 3, 3), 2, kinds=("binary",) * 3).views)
    for N, widths, K, missing in CLASSES:
        title = f"{N:,} rows, {sum(widths)} binary columns, {K} classes, {missing:.0%} missing"
        if only not in title:
            continue
        draw = make_multiview_mixture(2 * N, widths, K, kinds=("binary",) * 3, missing=missing, random_state=1)
        views, new = [view[:N] for view in draw.views], [view[N:] for view in draw.views]
        model, seconds = timed(lambda K=K, views=views: MultiViewMixture(K).fit(views))
        true = np.hstack(draw.components)
        rows = [
            {
                "method": "polyad",
                "seconds": seconds,
                "nats": model.score(views),
                "new nats": model.score(new),
                "error": error_of(np.hstack(model.components_), true),
            }
        ]
        rows += peer_rows("StepMix", peer("stepmix", X=np.hstack(views), new=np.hstack(new), K=K), true)
        show(title, rows)


def factors(full, only):
    """Compare likelihood steps of independent factors with their moments alone: the mean error of some draws."""
    from polyad import IndependentFactors
    from polyad.datasets import make_independent_factors
    from polyad.metrics import amari_distance

    for observation in ("gaussian", "poisson"):
        rows = []
        for kind in ("skewed", "kurtotic", "binary"):
            for N in (2000, 32_000):
                errors, seconds = np.zeros((2, DRAWS)), np.zeros(2)
                for draw in range(DRAWS):
                    drawn = make_independent_factors(
                        N, 12, 3, n_views=2, factors=kind, observation=observation, random_state=draw
                    )
                    for number, polish in enumerate(("off", "fast")):
                        options = {"factors": "binary" if kind == "binary" else "any", "observation": observation}
                        model = IndependentFactors(3, polish=polish, **options)
                        _, took = timed(lambda model=model, drawn=drawn: model.fit(drawn.views))
                        found = model.components_ @ np.linalg.pinv(drawn.components)
                        errors[number, draw] = amari_distance(found, np.eye(3))
                        seconds[number] += took / DRAWS
                off, fast = errors.mean(axis=1)
                row = {"factors": kind, "rows": f"{N:,}", "moments": off, "with steps": fast, "ratio": fast / off}
                rows.append(row | {"seconds": seconds[0], "with steps, seconds": seconds[1]})
        show(f"independent factors, {observation}: Amari error, mean of {DRAWS} draws", rows)


def letters(full, only):
    """Find vowels and consonants in the letters of addresses, by two states."""
    from polyad import HiddenMarkov

    path = DATA / "state_union" / "state_union.jsonl.gz"
    if not path.exists():
        print(f"\nletters: {path} is not there")
        return
    with gzip.open(path, "rt") as file:
        texts = [json.loads(line)["text"].lower() for line in file]
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    sequences = [np.array([alphabet.index(c) for c in text if c in alphabet]) for text in texts[:8]]
    HiddenMarkov(2, max_iter=1).fit(sequences[0][:100])
    model, seconds = timed(lambda: HiddenMarkov(2).fit(sequences))
    X, lengths = np.concatenate(sequences)[:, None], np.array([len(s) for s in sequences])
    shares = model.emissionprob_ * model.stationary_[:, None]
    state_of = shares.argmax(axis=0)
    for state in range(2):
        found = sorted((i for i in range(26) if state_of[i] == state), key=lambda i: -shares[state, i])
        print(f"{'' if state else chr(10)}state {state}: {' '.join(alphabet[i] for i in found)}")
    against_hmmlearn(f"letters of {len(sequences)} addresses: {len(X):,}", model, seconds, X, lengths)


def eeg(full, only):
    """Find states of a brain: how strong eight directions of 32 channels are in every quarter of a second."""
    from polyad import HiddenMarkov

    path = DATA / "eeg" / "eeglab_sample.npz"
    if not path.exists():
        print(f"\neeg: {path} is not there")
        return
    signals = np.load(path)["X"].T.astype(float)
    signals -= signals.mean(axis=0)
    _, _, directions = np.linalg.svd(signals[::10], full_matrices=False)
    windows = (signals @ directions[:8].T)[: len(signals) // 32 * 32].reshape(-1, 32, 8)
    X = np.log(windows.var(axis=1))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    lengths = np.array([len(X)])
    HiddenMarkov(2, emission="gaussian", max_iter=1).fit(X[:50])
    for K in (3, 5):
        model, seconds = timed(lambda K=K: HiddenMarkov(K, emission="gaussian").fit(X, lengths))
        plain = HiddenMarkov(K, emission="gaussian", prior_points=0, smoothing=0)  # the highest likelihood alone
        likeliest = timed(lambda plain=plain: plain.fit(X, lengths))
        against_hmmlearn(f"EEG: {len(X)} windows, 8 powers, {K} states", model, seconds, X, lengths, likeliest)


def against_hmmlearn(title, model, seconds, X, lengths, likeliest=None):
    """Show a fitted chain of real data beside hmmlearn's with one start and with ten; the truth is not known."""
    rows = [{"method": "polyad", "seconds": seconds, "nats": model.score(X, lengths) / len(X)}]
    if likeliest is not None:
        without, seconds = likeliest
        nats = without.score(X, lengths) / len(X)
        rows.append({"method": "polyad, no prior", "seconds": seconds, "nats": nats})
    arrays = {"X": X, "lengths": lengths, "new": X, "new_lengths": lengths}
    done = peer("hmmlearn", **arrays, K=model.n_components, emission=model.emission)
    rows += [{name: row[name] for name in row if name != "new nats"} for row in peer_rows("hmmlearn", done)]
    show(title, [row | {"nats": f"{row['nats']:.6f}"} if "nats" in row else row for row in rows])


def languages(full, only):
    """Find topics of three aligned texts: French, and English cut into two languages that share no word."""
    from sklearn.feature_extraction.text import CountVectorizer

    from polyad import PolylingualLDA

    path = DATA / "canada_acts_en_fr" / "sections.jsonl.gz"
    if not path.exists():
        print(f"\nlanguages: {path} is not there")
        return
    with gzip.open(path, "rt") as file:
        sections = [json.loads(line) for line in file]
    counts, words = [], []
    for code in ("en", "fr"):
        vectorizer = CountVectorizer(min_df=30, max_df=0.1, token_pattern=r"[^\W\d_]{3,}")
        counts.append(sparse.csr_array(vectorizer.fit_transform(section[code] for section in sections)))
        words.append(vectorizer.get_feature_names_out())
    views = [sparse.csr_array(counts[0][:, ::2]), sparse.csr_array(counts[0][:, 1::2]), counts[1]]
    names = [words[0][::2], words[0][1::2], words[1]]
    model, seconds = timed(lambda: PolylingualLDA(20).fit(views))
    print(f"\n{len(sections):,} sections of acts, 20 topics in three languages: {seconds:.1f} s")
    for topic in range(10):
        lines = []
        for shown, vocabulary in zip(model.components_, names):
            lift = shown[topic] * np.log(shown[topic] / shown.mean(axis=0) + 1e-12)
            lines.append(" ".join(vocabulary[i] for i in np.argsort(-lift)[:5]))
        print(f"  {topic}: " + " | ".join(lines))


def cells(full, only):
    """Find cell types from two halves of the genes, and the proteins, of single cells."""
    from polyad import MultiViewMixture

    folder = DATA / "citeseq_pbmc"
    if not folder.exists():
        print(f"\ncells: {folder} is not there")
        return
    counts = sparse.csr_array(sparse.load_npz(folder / "rna_counts.npz"))
    proteins = np.load(folder / "adt.npy").astype(float)
    names = (folder / "proteins.txt").read_text().split("\n")
    if counts.shape[0] != proteins.shape[0]:
        counts = sparse.csr_array(counts.T)
    logs = np.log1p(proteins) - np.log1p(proteins).mean(axis=1, keepdims=True)
    seen = np.asarray((counts > 0).sum(axis=0)).ravel()
    often = np.argsort(-seen, kind="stable")[:2000]
    halves = [sparse.csr_array(counts[:, often[part::2]]) for part in range(2)]
    model, seconds = timed(lambda: MultiViewMixture(6).fit([*halves, logs]))
    print(
        f"\n{counts.shape[0]} cells, {often.size} genes in two views, {logs.shape[1]} proteins; 6 classes, "
        f"{seconds:.2f} s, start from {model.diagnostics_.start}"
    )
    means, overall = model.components_[2], logs.mean(axis=0)
    for k, weight in enumerate(model.weights_):
        top = np.argsort(-(means[k] - overall) / logs.std(axis=0))[:6]
        print(f"  {weight:.2f}  {', '.join(names[i] for i in top)}")
    agreed = np.mean(model.predict([*halves, None]) == model.predict([None, None, logs]))
    print(f"  genes alone and proteins alone agree on {agreed:.0%} of the cells")


PEERS = {"hmmlearn": hmmlearn_peer, "stepmix": stepmix_peer}

if __name__ == "__main__":
    sys.exit(main())
