"""The moment stage beside scikit-learn's TruncatedSVD and LDA: seconds and peak memory of every step.

python benchmarks/engine.py                    # the whole table
python benchmarks/engine.py --corpus ap --k 50 # one part of it
python benchmarks/engine.py --scaling          # seconds against the number of non-zeros
"""

import argparse
import json
from statistics import median

import corpora
from measure import Steps, isolated

STEPS = ["read and sum", "whiten", "tensor", "diagonalise", "unmix"]
METHODS = ["polyad", "TruncatedSVD", "sklearn LDA"]


def moment_stage(X, K, steps):
    """Run the five steps one by one, as `LDA` runs them on documents that it has put in order, to time each."""
    import numpy as np

    from polyad.decompose import power, simplex_rows, whiten
    from polyad.decompose.polyadic import copies_used_words
    from polyad.engine import count_blocks, use
    from polyad.models.recipes.moment_start import LENGTH_POWER, SummedCounts, word_metric
    from polyad.moments import raw_moments, summarise_counts

    with use():
        with steps("read and sum"):
            source = count_blocks(X)
            corpus = SummedCounts(source, summarise_counts(source))
            moments = raw_moments(source, LENGTH_POWER).at(2.0)
        with steps("whiten"):
            metric = word_metric(corpus, K)
            used, own = np.arange(metric.size), moments
            if copies_used_words(K, metric.size, moments.n_cells):
                used = np.flatnonzero(metric > 0)
                own = moments.within(used)
            whitener = whiten(own.second, K, metric=metric[used], strict=False).whitener
        with steps("tensor"):
            among_all = np.zeros((metric.size, K))
            among_all[used] = whitener.T
            images = moments.second @ among_all
            tensor = own.third(whitener, images[used])
        with steps("diagonalise"):
            rotation = power(tensor).rotation
        with steps("unmix"):
            simplex_rows((images @ rotation).T)


def one(name, K, method):
    from sklearn.decomposition import LatentDirichletAllocation, TruncatedSVD

    X = corpora.load(name)
    steps = Steps()
    if method == "polyad":
        moment_stage(X[:300], 3, Steps())  # compiled code is loaded once; nobody counts an import
        moment_stage(X, K, steps)
    elif method == "TruncatedSVD":
        with steps("fit"):
            TruncatedSVD(K, random_state=0).fit(X)
    else:
        with steps("fit"):
            LatentDirichletAllocation(K, max_iter=10, n_jobs=-1, random_state=0).fit(X)
    print(json.dumps({"seconds": steps.seconds, "megabytes": steps.megabytes, "cells": int(X.nnz)}))


def scaling(K=50):
    """Time the moment stage on a quarter, a half and all of a sample: seconds for each non-zero should not rise."""
    X = corpora.load("gp50k")
    moment_stage(X[:300], 3, Steps())
    for n_documents in (12_500, 25_000, 50_000):
        part, steps = X[:n_documents], Steps()
        moment_stage(part, K, steps)
        seconds, memory = sum(steps.seconds.values()), max(steps.megabytes.values())
        print(
            f"{n_documents:6,} documents, {part.nnz:10,} non-zeros, K = {K}: {seconds:5.2f} s, "
            f"{seconds / part.nnz * 1e6:.3f} microseconds a non-zero, {memory:.0f} MB"
        )


def row(name, K, method, results):
    seconds = {step: median(r["seconds"][step] for r in results) for step in results[0]["seconds"]}
    memory = max(max(r["megabytes"].values()) for r in results)
    parts = "  ".join(f"{step} {value:.3f}" for step, value in seconds.items() if step in STEPS)
    return sum(seconds.values()), f"{name:8} {K:4} {method:13} {sum(seconds.values()):8.2f} {memory:8.0f}   {parts}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", nargs="+", default=["ap", "gp50k"])
    parser.add_argument("--k", nargs="+", type=int, default=[10, 50, 100])
    parser.add_argument("--repeat", type=int, default=3, help="median of so many runs (peers over a minute: one)")
    parser.add_argument("--scaling", action="store_true", help="only seconds against the number of non-zeros")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, K, method = options.one
        return one(name, int(K), method)
    if options.scaling:
        return scaling()
    print(f"{'corpus':8} {'K':>4} {'method':13} {'seconds':>8} {'peak MB':>8}   seconds of the steps")
    for name in options.corpus:
        if corpora.folder(name) and not corpora.available(corpora.folder(name)):
            print(f"{name:8} skipped: no files at {corpora.DATA / corpora.folder(name)}")
            continue
        for K in options.k:
            totals = {}
            for method in METHODS:
                repeats = 1 if method == "sklearn LDA" else options.repeat
                results = [isolated(__file__, "--one", name, K, method) for _ in range(repeats)]
                failed = [r["error"] for r in results if "error" in r]
                if failed:
                    print(f"{name:8} {K:4} {method:13} failed: {failed[0]}")
                    continue
                totals[method], line = row(name, K, method, results)
                print(line, flush=True)
            if "polyad" in totals:
                ratios = [f"{totals[m] / totals['polyad']:.2f} x {m}" for m in METHODS[1:] if m in totals]
                print(f"{'':14}{'':13} times as long as polyad: {', '.join(ratios)}", flush=True)


if __name__ == "__main__":
    main()
