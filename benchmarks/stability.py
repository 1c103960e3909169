"""Does the same data give the same topics? The mass that matched topics share between fits, of ours and of peers.

    python benchmarks/stability.py                                # AP, NIPS, Canada (English), and peers
    python benchmarks/stability.py --corpus europarl_en --k 50 --draws 1    # 136,299 speeches: hours for the peers
    python benchmarks/stability.py --methods "polyad fast" --k 50

Every method learns from the 80% of the documents that `benchmarks/topics.py` learns from: with two seeds (five for
ours), with 1% and with 10% of these documents left out (the mean of three draws, eight for ours: single draws differ
by a tenth), and from each half of them. Topics
are matched one to one (`polyad.align`); 1 is the same topics, and unlike ones share .2 to .4. Bits are those of
`benchmarks/topics.py`, held out from the fit with all documents, whose seconds are shown. Other libraries run in an
environment of their own (`python benchmarks/topics.py --install`). Results are kept in benchmarks/results/stability.
"""

import argparse
import json
import sys

import numpy as np
from scipy import sparse

import corpora
from measure import Steps, isolated
from topics import HERE, OURS, PEERS_ENV, judge, split

RESULTS = HERE / "results" / "stability"
PEERS = ["tomotopy 200", "pyrmallet 200", "sklearn 10", "gensim 1"]
CORPORA = ["ap", "nips", "canada_en"]
N_DRAWS, N_DRAWS_OF_OURS = 3, 8  # of documents to leave out


def parts_of(train, n_draws):
    """Return the documents of every fit by its name; the first draws do not depend on how many there are."""
    rng, N = np.random.default_rng(0), train.shape[0]
    order = rng.permutation(N)
    first, second = np.sort(order[: N // 2]), np.sort(order[N // 2 :])
    parts = {"all": train, "half A": train[first], "half B": train[second]}
    for number in range(n_draws):  # which documents are left out matters more than anything else
        parts[f"1% {number}"] = train[np.sort(rng.permutation(N)[N // 100 :])]
        parts[f"10% {number}"] = train[np.sort(rng.permutation(N)[N // 10 :])]
    return parts


def fit(name, K, method, part, documents, seed):
    """Fit in a process of its own, and return the topics, the prior, the seconds and what else is told."""
    slug = f"{name}-{K}-{method}-{part}-{seed}".replace(" ", "_").replace("%", "")
    out, told = RESULTS / f"{slug}.npz", RESULTS / f"{slug}.json"
    if not told.exists():
        RESULTS.mkdir(parents=True, exist_ok=True)
        file = RESULTS / f"{name}-{part}.train.npz".replace(" ", "_").replace("%", "")
        sparse.save_npz(file, sparse.csr_matrix(documents))
        if method in OURS:
            result = isolated(__file__, "--fit", file, K, method.split()[1], seed, out)
        else:
            python = PEERS_ENV / "bin" / "python"
            if not python.exists():
                return {"error": "no environment for the peers: run topics.py --install first"}
            script = str(HERE / "peers.py")
            result = isolated(script, method, file, K, out, seed, python=str(python), timeout=7200)
        if "error" in result:
            return result
        told.write_text(json.dumps(result))
    return json.loads(told.read_text()) | {"out": out}


def fit_polyad(train, K, polish, seed, out):
    import warnings

    from polyad import LDA
    from polyad.datasets import make_lda
    from polyad.models import NoiseWarning

    warnings.simplefilter("ignore", NoiseWarning)
    X = sparse.csr_array(sparse.load_npz(train))
    LDA(3, polish=polish).fit(make_lda(300, 200, 3).counts)
    steps = Steps()
    with steps("fit"):
        model = LDA(K, polish=polish, random_state=seed).fit(X)
    np.savez(out, components=model.components_, prior=model.doc_topic_prior_)
    told = {"seconds": steps.seconds["fit"], "processor_seconds": steps.processor_seconds["fit"]}
    print(json.dumps(told | {"undetermined": len(model.diagnostics_.undetermined)}))


def topics_of(result):
    with np.load(result["out"]) as stored:
        rows = np.maximum(stored["components"], 0)
    return rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)


def shared(left, right):
    from polyad import align

    return float(np.mean(align(topics_of(left), topics_of(right)).similarity))


def row(name, K, method, n_draws=None):
    """Return the figures of a method on a corpus, or what went wrong."""
    train, test = split(name, 0)
    n_seeds = 5 if method in OURS else 2
    n_draws = n_draws or (N_DRAWS_OF_OURS if method in OURS else N_DRAWS)
    parts = parts_of(train, n_draws)
    seeds = [fit(name, K, method, "all", train, seed) for seed in range(n_seeds)]
    others = {part: fit(name, K, method, part, documents, 0) for part, documents in parts.items() if part != "all"}
    failed = [result["error"] for result in [*seeds, *others.values()] if "error" in result]
    if failed:
        return {"error": failed[0]}
    first = seeds[0]
    return {
        "seeds": min(shared(first, other) for other in seeds[1:]),
        **{
            dropped: float(np.mean([shared(first, others[f"{dropped} {draw}"]) for draw in range(n_draws)]))
            for dropped in ("1%", "10%")
        },
        "halves": shared(others["half A"], others["half B"]),
        "bits": judge(first["out"], train, test)["bits"],
        "seconds": float(np.median([result["seconds"] for result in seeds])),
        "processors": float(np.median([result["processor_seconds"] for result in seeds])),
        "undetermined": first.get("undetermined"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", nargs="+", default=CORPORA)
    parser.add_argument("--k", nargs="+", type=int, default=[10, 50, 100])
    parser.add_argument("--methods", nargs="+", default=OURS + PEERS)
    parser.add_argument("--draws", type=int, help="of documents to leave out (default: 8 for ours, 3 for others)")
    parser.add_argument("--fit", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        train, K, polish, seed, out = options.fit
        return fit_polyad(train, int(K), polish, int(seed), out)
    for name in options.corpus:
        if not corpora.available(corpora.folder(name)):
            print(f"{name}: skipped, no files at {corpora.DATA / corpora.folder(name)}")
            continue
        for K in options.k:
            print(f"\n{name}, K = {K}: mass that matched topics share")
            columns = " ".join(f"{column:>6}" for column in ("seeds", "-1%", "-10%", "halves"))
            print(f"{'method':16} {columns} {'bits':>8} {'seconds':>8} {'cores x s':>9} undetermined")
            for method in options.methods:
                found = row(name, K, method, options.draws)
                if "error" in found:
                    print(f"{method:16} failed: {found['error'][:90]}", flush=True)
                    continue
                figures = " ".join(f"{found[key]:6.3f}" for key in ("seeds", "1%", "10%", "halves"))
                unsure = "" if found["undetermined"] is None else found["undetermined"]
                times = f"{found['seconds']:8.2f} {found['processors']:9.2f}"
                print(f"{method:16} {figures} {found['bits']:8.3f} {times} {unsure}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
