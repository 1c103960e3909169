"""Topic models side by side on real corpora: seconds, memory, held-out bits per token, coherence, diversity.

    python benchmarks/topics.py                  # quick: the fastest and the best peers, one split
    python benchmarks/topics.py --all            # every peer and setting, three splits; resumable, takes hours
    python benchmarks/topics.py --transform      # documents per second of inference
    python benchmarks/topics.py --scale          # 170,374 documents
    python benchmarks/topics.py --select         # how many topics?
    python benchmarks/topics.py --unseen         # corpora on which no default was chosen
    python benchmarks/topics.py --counts         # few documents of ten million tokens

Every method learns from the same 80% of the documents and is judged on the other 20% by one evaluator, with its own
prior; words that do not occur in the training part are left out of the test part for all. Other libraries run in an
environment of their own (made with --install), each fit in a fresh process with nothing else in it. Results are kept
in benchmarks/results and not run again.
"""

import argparse
import json
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
from scipy import sparse

import corpora
from measure import Steps, isolated
from peers import METHODS as PEERS

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "topics"
PEERS_ENV = HERE / ".peers"
PEER_PACKAGES = [
    "numpy",
    "scipy",
    "scikit-learn",
    "gensim",
    "tomotopy",
    "pyrmallet",
    "bigartm",
    "anchortopics",
    "lda",
    "six",
    "protobuf<3.21",
]
OURS = ["polyad off", "polyad fast", "polyad full"]
QUICK_PEERS = ["sklearn 10", "tomotopy 200", "tomotopy 200 eta .1", "pyrmallet 200", "bigartm 20"]
CORPORA = ["ap", "nips"]


def split(name, number):
    """Return training and test documents of a numbered split."""
    X = corpora.load(name)
    order = np.random.default_rng(number).permutation(X.shape[0])
    n_test = round(X.shape[0] / 5)
    train, test = (sparse.csr_array(X[np.sort(part)]) for part in (order[n_test:], order[:n_test]))
    seen = np.asarray(train.sum(axis=0)).ravel() > 0
    test = sparse.csr_array(test.multiply(seen[None, :].astype(float)))
    test.eliminate_zeros()
    return train, test


def fit_polyad(train, K, polish, out):
    """Fit ours in a process of its own; compiled code is loaded before the clock starts.

    A fit of a second is at the mercy of whatever else the machine does in it: short fits are timed five times, and the
    median is reported.
    """
    from polyad import LDA
    from polyad.datasets import make_lda

    X = sparse.csr_array(sparse.load_npz(train))
    LDA(3, polish=polish).fit(make_lda(300, 200, 3).counts)
    steps = Steps()
    while len(steps.seconds) < 5 and sum(steps.seconds.values()) < 5:
        with steps(f"fit {len(steps.seconds)}"):
            model = LDA(K, polish=polish).fit(X)
    np.savez(out, components=model.components_, prior=model.doc_topic_prior_)
    times = {
        "seconds": float(np.median(list(steps.seconds.values()))),
        "processor_seconds": float(np.median(list(steps.processor_seconds.values()))),
    }
    print(json.dumps(times | {"megabytes": steps.megabytes["fit 0"]}))


def judge(out, train, test):
    """Judge the topics of any method by the same measures."""
    from polyad.inference import completion_bits
    from polyad.metrics import npmi_coherence, topic_diversity

    with np.load(out) as stored:
        components, prior = stored["components"], stored["prior"]
    components = np.maximum(components, 0)
    components /= components.sum(axis=1, keepdims=True)
    return {
        "bits": completion_bits(components, np.maximum(prior, 1e-6), test),
        "npmi": float(np.mean(npmi_coherence(components, train))),
        "diversity": topic_diversity(components),
    }


def measure(name, number, K, method):
    """Return the stored result, or fit and judge."""
    slug = f"{name}-{number}-{K}-{method}".replace(" ", "_")
    stored = RESULTS / f"{slug}.json"
    if stored.exists():
        return json.loads(stored.read_text())
    RESULTS.mkdir(parents=True, exist_ok=True)
    train, test = split(name, number)
    train_file = RESULTS / f"{name}-{number}-train.npz"
    if not train_file.exists():
        sparse.save_npz(train_file, sparse.csr_matrix(train))
    out = RESULTS / f"{slug}.npz"
    if method in OURS:
        result = isolated(__file__, "--fit", train_file, K, method.split()[1], out)
    else:
        python = PEERS_ENV / "bin" / "python"
        if not python.exists():
            return {"error": "no environment for the peers: run with --install first"}
        result = isolated(str(HERE / "peers.py"), method, train_file, K, out, python=str(python))
    if "error" not in result:
        result |= judge(out, train, test)
        out.unlink()
        stored.write_text(json.dumps(result))
    return result


def unigram_bits(name, number):
    train, test = split(name, number)
    totals = np.asarray(train.sum(axis=0)).ravel()
    seen = totals > 0
    counts = np.asarray(test.sum(axis=0)).ravel()[seen]
    return float(-(counts * np.log2(totals[seen] / totals.sum())).sum() / counts.sum())


def table(name, K, methods, splits):
    unigram = np.mean([unigram_bits(name, number) for number in splits])
    print(f"\n{name}, K = {K}, {len(splits)} split(s); unigram {unigram:.3f} bits")
    print(f"{'method':22} {'seconds':>8} {'cores x s':>9} {'peak MB':>8} {'bits':>8} {'NPMI':>7} {'diversity':>9}")
    means = {}
    for method in methods:
        results = [measure(name, number, K, method) for number in splits]
        failed = [r["error"] for r in results if "error" in r]
        if failed:
            print(f"{method:22} failed: {failed[0][:90]}", flush=True)
            continue
        mean = {key: float(np.mean([r[key] for r in results])) for key in results[0]}
        means[method] = mean
        print(
            f"{method:22} {mean['seconds']:8.2f} {mean['processor_seconds']:9.2f} {mean['megabytes']:8.0f} "
            f"{mean['bits']:8.3f} {mean['npmi']:7.3f} {mean['diversity']:9.3f}",
            flush=True,
        )
    peers = {m: r for m, r in means.items() if m not in OURS}
    if peers:
        best = min(peers, key=lambda m: peers[m]["bits"])
        for ours in [m for m in OURS if m in means]:
            ratio = peers[best]["processor_seconds"] / means[ours]["processor_seconds"]
            difference = means[ours]["bits"] - peers[best]["bits"]
            print(f"  {ours}: {difference:+.3f} bits, and {best}, the best peer, takes {ratio:.0f} times its cores x s")


def inference_speed(name="ap", K=50):
    """Documents per second and bits of our inference beside scikit-learn's, on the same topics."""
    import time

    from sklearn.decomposition import LatentDirichletAllocation

    from polyad import LDA
    from polyad.inference.heldout import split_tokens

    train, test = split(name, 0)
    model = LDA(K, n_jobs=1).fit(train)
    observed, hidden = split_tokens(test, 0)
    peer = LatentDirichletAllocation(K, doc_topic_prior=float(model.doc_topic_prior_.mean()), random_state=0)
    peer.fit(train[:50])
    peer.components_ = model.components_ * 1e6  # counts so large that their own prior does not matter
    peer.exp_dirichlet_component_ = model.components_
    rows = np.repeat(np.arange(test.shape[0]), np.diff(hidden.indptr))

    def report(label, infer, documents):
        infer(documents[:50])
        seconds = []
        for _ in range(5):
            start = time.perf_counter()
            shares = infer(documents)
            seconds.append(time.perf_counter() - start)
        shares = infer(observed)
        p = np.einsum("ij,ij->i", shares[rows], model.components_.T[hidden.indices])
        bits = -(hidden.data * np.log2(p)).sum() / hidden.data.sum()
        print(f"{label:28} {documents.shape[0] / min(seconds):12,.0f} documents a second {bits:8.3f} bits")
        return documents.shape[0] / min(seconds)

    print(f"\ninference on {name}, K = {K}, one thread, {test.nnz / test.shape[0]:.0f} distinct words a document")
    many = sparse.csr_array(sparse.vstack([test] * 20))
    ours = report("polyad", model.transform, many)
    theirs = report("scikit-learn", peer.transform, test)
    print(f"  {ours / theirs:.0f} times as many documents a second")
    tomotopy_speed(train, observed, hidden, rows, K, ours)


def tomotopy_speed(train, observed, hidden, rows, K, ours):
    """Documents per second and bits of tomotopy's inference, with its own topics."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    files = [RESULTS / f"inference-{name}.npz" for name in ("train", "observed", "out")]
    for file, counts in zip(files, (train, observed)):
        sparse.save_npz(file, sparse.csr_matrix(counts))
    python = PEERS_ENV / "bin" / "python"
    result = isolated(str(HERE / "peers.py"), "--infer", files[0], K, files[1], files[2], python=str(python))
    if "error" in result:
        print(f"tomotopy failed: {result['error'][:90]}")
        return
    with np.load(files[2]) as stored:
        p = np.einsum("ij,ij->i", stored["shares"][rows], stored["components"].T[hidden.indices])
    bits = -(hidden.data * np.log2(np.maximum(p, 1e-12))).sum() / hidden.data.sum()
    speed = observed.shape[0] / result["seconds"]
    print(f"{'tomotopy, half documents':28} {speed:12,.0f} documents a second {bits:8.3f} bits (its own topics)")
    print(f"  {ours / speed:.0f} times as many documents a second")


def scale():
    """Fit 50 topics to 170,374 speeches: seconds, and memory planned and used."""
    from polyad import LDA

    if not corpora.available(corpora.folder("europarl_en")):
        print("europarl: skipped, no files")
        return
    X = corpora.load("europarl_en")
    steps = Steps()
    with steps("fit"):
        model = LDA(50).fit(X)
    planned = model.diagnostics_.memory_bytes / 2**20
    print(f"\neuroparl, English: {X.shape[0]:,} documents, {X.nnz:,} non-zeros, K = 50")
    print(
        f"{steps.seconds['fit']:.1f} seconds, {planned:.0f} MB planned, {steps.megabytes['fit']:.0f} MB used beside X"
    )
    print(", ".join(f"{step} {seconds:.1f} s" for step, seconds in model.diagnostics_.seconds.items()))


def choose():
    """Judge ten numbers of topics on AP."""
    import time

    from polyad import select_n_components

    start = time.perf_counter()
    result = select_n_components(corpora.load("ap"), n_max=100)
    print(f"\nap, ten numbers of topics in {time.perf_counter() - start:.1f} seconds\n{result}")


UNSEEN = ["canada_en", "canada_fr", "europarl_en", "europarl_fr"]


def unseen(methods=("polyad fast", "tomotopy 200", "tomotopy 200 eta .1")):
    """Compare the default with a sampler, on corpora on which nothing was chosen."""
    for name in UNSEEN:
        if not corpora.available(corpora.folder(name)):
            print(f"{name}: skipped, no files")
            continue
        for K in (20, 50):
            table(name, K, list(methods), range(1))


def large_counts():
    """Fit ten topics to 41 samples of 16,773 counts with ten million tokens each, as RNA sequencing gives them."""
    from polyad import LDA
    from polyad.metrics import l1_error

    rng = np.random.default_rng(0)
    components = rng.dirichlet(np.full(16_773, 0.3), 10)
    shares = rng.dirichlet(np.full(10, 0.3), 41)
    X = sparse.csr_array(np.array([rng.multinomial(10_000_000, p) for p in shares @ components], dtype=np.float64))
    print(f"\n41 x 16,773 counts, {X.nnz:,} non-zeros, {X.sum():,.0f} tokens, K = 10")
    for polish in ("off", "fast", "full"):
        steps = Steps()
        with steps("fit"):
            model = LDA(10, polish=polish).fit(X)
        error = l1_error(model.components_, components)
        print(f"{polish:5} {steps.seconds['fit']:6.1f} seconds, {steps.megabytes['fit']:5.0f} MB, l1 error {error:.3f}")


def install():
    venv.create(PEERS_ENV, with_pip=True, clear=True)
    for package in PEER_PACKAGES:
        done = subprocess.run([PEERS_ENV / "bin" / "pip", "install", "-q", package], check=False)
        print(package, "installed" if done.returncode == 0 else "failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", nargs="+", default=CORPORA)
    parser.add_argument("--k", nargs="+", type=int, default=[10, 50, 100])
    parser.add_argument("--all", action="store_true", help="every peer and setting, three splits")
    parser.add_argument("--methods", nargs="+", help="only these")
    parser.add_argument("--splits", type=int, help="how many splits")
    parser.add_argument("--transform", action="store_true", help="only the speed of inference")
    parser.add_argument("--scale", action="store_true", help="only a fit of 170,374 documents")
    parser.add_argument("--select", action="store_true", help="only the choice of the number of topics")
    parser.add_argument("--unseen", action="store_true", help="only the corpora on which no default was chosen")
    parser.add_argument("--counts", action="store_true", help="only a few documents of ten million tokens")
    parser.add_argument("--install", action="store_true", help="make the peers' environment first")
    parser.add_argument("--fit", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        train, K, polish, out = options.fit
        return fit_polyad(train, int(K), polish, out)
    if options.install or not PEERS_ENV.exists():
        install()
    if options.transform:
        return inference_speed()
    if options.scale:
        return scale()
    if options.select:
        return choose()
    if options.unseen:
        return unseen()
    if options.counts:
        return large_counts()
    methods = options.methods or OURS + (list(PEERS) if options.all else QUICK_PEERS)
    splits = range(options.splits or (3 if options.all else 1))
    for name in options.corpus:
        if not corpora.available(corpora.folder(name)):
            print(f"{name}: skipped, no files at {corpora.DATA / corpora.folder(name)}")
            continue
        for K in options.k:
            table(name, K, methods, splits)
    inference_speed()
    scale()
    choose()
    unseen()
    large_counts()


if __name__ == "__main__":
    sys.exit(main())
