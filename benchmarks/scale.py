"""Corpora larger than memory: a corpus of the size of PubMed's abstracts, made once on disk, and what is done with it.

Run it as ``python benchmarks/scale.py --sizes 1/64,1/16 --folder FOLDER``; 1 is the whole corpus (8.2 million
documents, 141,000 words, about 480 million cells, some 20 GB of disk while it is made). Every measurement runs in a
process of its own, and its result is kept in the folder: called again, only what is missing is measured. In the end a
table of all, and a model of what a fit costs (:mod:`cost_model`), its prediction beside the largest fit.
"""

import argparse
import json
import os
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy import sparse

import cost_model
import topics as side_by_side
from corpora import available, load, vocabulary
from measure import isolated

N_DOCUMENTS, N_WORDS, N_TOPICS, MEAN_LENGTH = 8_200_000, 141_043, 100, 63
BATCH = 20_000
RARE_SHARE = 0.04  # of the tokens, in words that real text of this size has and the topics do not
HELD_OUT = 5_000
LIMIT = "4GB"
ON_CLUSTERS = ((8_200_000, 10, 8), (100_000_000, 10, 8), (1_000_000_000, 50, 16))  # documents, workers, their cores
WIRE = 1.25e9  # bytes a second, for what is predicted
LONG = 6 * 3600.0  # seconds that the slowest peer may take


class Cost:
    """Seconds of the clock and of the processor, and the largest anonymous memory of this process in GB.

    Memory is looked at in a thread; mapped files are the system's to keep, and do not count. Where others use the
    machine too the seconds of the processor say more: on two idle cores the clock shows half of them.
    """

    def __init__(self) -> None:
        self.peak, self._stop = 0.0, threading.Event()
        self._started = time.perf_counter(), _processor_seconds()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self._stop.wait(0.05):
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("RssAnon"):
                    self.peak = max(self.peak, float(line.split()[1]) / 1e6)

    def stop(self) -> dict[str, float]:
        """Return what it was so far."""
        self._stop.set()
        now = time.perf_counter(), _processor_seconds()
        clock, processor = (b - a for a, b in zip(self._started, now))
        return {"seconds": clock, "processor seconds": processor, "gigabytes": self.peak}


def _processor_seconds() -> float:
    """Return those of this process, and of the ones it has started that have ended."""
    return sum(os.times()[:4])


def topics_of_real_text(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return topics fitted to the speeches of the European Parliament, with a tail of rare words, and their shares."""
    file = folder / "topics.npz"
    if not file.exists():
        from polyad import LDA

        name = "europarl_en" if available("europarl_en_fr") else "gp50k"
        model = LDA(N_TOPICS).fit(load(name))
        np.savez(file, topics=model.components_.astype(np.float32), prior=model.doc_topic_prior_)
    with np.load(file) as stored:
        topics, prior = stored["topics"].astype(np.float64), stored["prior"]
    n_rare = N_WORDS - topics.shape[1]
    rare = np.zeros((N_TOPICS, n_rare))
    rare[np.arange(n_rare) % N_TOPICS, np.arange(n_rare)] = 1 / (np.arange(n_rare) + 50.0)
    rare /= rare.sum(axis=1, keepdims=True)
    return np.hstack([(1 - RARE_SHARE) * topics, RARE_SHARE * rare]), prior


def drawn(folder: Path, n_documents: int, first_batch: int = 0):
    """Yield batches of documents, each drawn by its own number."""
    topics, prior = topics_of_real_text(folder)
    before = np.cumsum(topics, axis=1)
    before /= before[:, -1:]
    for batch, first in enumerate(range(0, n_documents, BATCH), first_batch):
        rng = np.random.default_rng(batch)
        n = min(BATCH, n_documents - first)
        lengths = np.maximum(3, rng.negative_binomial(4, 4 / (4 + MEAN_LENGTH), n))
        shares = rng.dirichlet(prior, n)
        tokens = rng.multinomial(lengths, shares)
        rows, words = [], []
        for topic in range(N_TOPICS):
            n_here = int(tokens[:, topic].sum())
            words.append(np.searchsorted(before[topic], rng.random(n_here)))
            rows.append(np.repeat(np.arange(n), tokens[:, topic]))
        ones = np.ones(int(tokens.sum()))
        yield sparse.csr_array((ones, (np.concatenate(rows), np.concatenate(words))), shape=(n, N_WORDS))


def shards_of(folder: str, size: str) -> Path:
    """Return where the shards of a part of the corpus are."""
    return Path(folder) / f"pubmed-{size.replace('/', '-')}.shards"


def make(folder: str, size: str) -> dict:
    """Write the shards of a part of the corpus."""
    from polyad.engine import Shards, write_shards

    topics_of_real_text(Path(folder))
    path = shards_of(folder, size)
    if path.exists():
        shards = Shards(path)
        return {"documents": shards.n_rows, "cells": shards.n_cells, "shards": shards.n_shards}
    cost = Cost()
    shards = write_shards(drawn(Path(folder), int(N_DOCUMENTS * Fraction(size))), path)
    return {
        "documents": shards.n_rows, "cells": shards.n_cells, "shards": shards.n_shards, **cost.stop(),
    }  # fmt: skip


def fit(folder: str, size: str, where: str, n_topics: str = str(N_TOPICS)) -> dict:
    """Fit from shards, or from memory; bits are those of documents that no fit has seen."""
    from polyad import LDA
    from polyad.engine import Shards, listening
    from polyad.inference import completion_bits
    from polyad.io import fingerprint
    from polyad.models.recipes.moment_start import first_sample

    X = shards = Shards(shards_of(folder, size))
    if where == "memory":
        X = sparse.vstack([X.shard(number).rows for number in range(X.n_shards)], format="csr")
    n_read = []
    LDA(3, polish=1).fit(shards.shard(0).rows[:300])  # loads what is compiled
    cost = Cost()
    options = {"memory_limit": LIMIT} if where == "shards" else {}
    with listening(n_read.append):
        model = LDA(int(n_topics)).fit(X, **options)
    spent, found = cost.stop(), model.diagnostics_
    (held_out,) = drawn(Path(folder), HELD_OUT, first_batch=1 << 20)
    sampled = first_sample(shards, found.n_passes).n_rows / shards.n_rows
    return {
        **spent, "planned": found.memory_bytes / 1e9, "steps": found.seconds, "passes": found.n_passes,
        "bits": completion_bits(model.components_, model.doc_topic_prior_, held_out),
        "gigabytes read": len(n_read) * sum(size for size, _ in shards.manifest.files.values()) / shards.n_shards / 1e9,
        "fingerprint": fingerprint(model), "cells": shards.n_cells, "sampled": sampled, "words": shards.n_columns,
        "topics": int(n_topics), "cores": len(os.sched_getaffinity(0)),
    }  # fmt: skip


def gensim(folder: str, size: str, peers: str) -> dict:
    """LdaMulticore, one pass, on the same documents; ``peers`` is the Python that has it."""
    from polyad.engine import Shards
    from polyad.inference import completion_bits

    shards, train, out = Shards(shards_of(folder, size)), Path(folder) / "train.npz", Path(folder) / "gensim.npz"
    sparse.save_npz(train, sparse.vstack([shards.shard(number).rows for number in range(shards.n_shards)]), False)
    script = str(Path(__file__).parent / "peers.py")
    spent = isolated(script, "gensim 1", train, N_TOPICS, out, python=peers, timeout=LONG)
    if "error" in spent:
        raise RuntimeError(spent["error"])
    (held_out,) = drawn(Path(folder), HELD_OUT, first_batch=1 << 20)
    with np.load(out) as found:
        return {**spent, "bits": completion_bits(found["components"], found["prior"], held_out)}


def texts(folder: Path, n_texts: int) -> Path:
    """Write texts of drawn documents, one on each line."""
    file = folder / f"texts-{n_texts}.txt"
    if not file.exists():
        real = vocabulary("europarl_en") if available("europarl_en_fr") else []
        names = np.array([*real, *(f"rare{number}x" for number in range(N_WORDS - len(real)))][:N_WORDS])
        part = file.with_suffix(".part")
        with part.open("w") as out:
            for block in drawn(folder, n_texts):
                for row in range(block.shape[0]):
                    chosen = slice(*block.indptr[row : row + 2])
                    out.write(" ".join(np.repeat(names[block.indices[chosen]], block.data[chosen].astype(int))) + "\n")
        part.replace(file)
    return file


def indexing(folder: str, n_texts: str) -> dict:
    """Count texts to shards."""
    from polyad.corpus import index

    file = texts(Path(folder), int(n_texts))
    cost = Cost()
    corpus = index(file, Path(folder) / f"texts-{n_texts}.shards", overwrite=True)
    spent = cost.stop()
    return {
        **spent, "documents a second": len(corpus) / spent["seconds"],
        "megabytes of text": file.stat().st_size / 1e6,
    }  # fmt: skip


def count_vectorizer(folder: str, n_texts: str) -> dict:
    """Count the same texts with scikit-learn, which holds all in memory."""
    from sklearn.feature_extraction.text import CountVectorizer

    file = texts(Path(folder), int(n_texts))
    cost = Cost()
    with file.open() as lines:
        counts = CountVectorizer(min_df=5, stop_words="english").fit_transform(lines)
    spent = cost.stop()
    return {**spent, "documents a second": counts.shape[0] / spent["seconds"]}


def bytes_moved() -> int:
    """Return the bytes that processes of this machine have sent each other so far, by the counter of the system."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return next((int(line.split(":")[1].split()[0]) for line in lines if line.strip().startswith("lo:")), 0)


def europarl(folder: str, where: str, n_topics: str) -> dict:
    """Fit the speeches of the European Parliament in memory, from shards, or with so many Dask workers."""
    from contextlib import ExitStack

    from polyad import LDA
    from polyad.engine import DaskRunner, Shards, count_blocks, use, write_shards
    from polyad.io import fingerprint

    counts, path = load("europarl_en"), Path(folder) / "europarl.shards"
    X = counts
    if where != "memory":
        X = Shards(path) if path.exists() else write_shards(count_blocks(counts), path)
    with ExitStack() as stack:
        if where.startswith("dask"):
            from distributed import Client, LocalCluster

            made = LocalCluster(
                n_workers=int(where.split()[1]), threads_per_worker=1, processes=True, dashboard_address=None
            )
            client = Client(stack.enter_context(made), direct_to_workers=True)
            runner = DaskRunner(stack.enter_context(client))
            with use(runner):
                LDA(5, polish=1).fit(X)  # loads and compiles on all workers
            stack.enter_context(use(runner))
        else:
            LDA(5, polish=1).fit(counts[:2000])
        cost, before = Cost(), bytes_moved()
        model = LDA(int(n_topics)).fit(X)
        return {
            **cost.stop(),
            "gigabytes moved": (bytes_moved() - before) / 1e9,
            "fingerprint": fingerprint(model),
            "shards": 1 if where == "memory" else X.n_shards,
            "passes": model.diagnostics_.n_passes,
            "words": counts.shape[1],
            "topics": int(n_topics),
        }


def many(folder: str, n_topics: str, method: str) -> dict:
    """Fit many topics to the papers of NIPS, with polyad or with a peer, and judge them on other papers."""
    return side_by_side.measure("nips", 0, int(n_topics), method)


MEASURES = {
    "make": make, "fit": fit, "gensim": gensim, "index": indexing, "CountVectorizer": count_vectorizer,
    "europarl": europarl, "many": many,
}  # fmt: skip


def plan(sizes: list[str], n_texts: str, peers: str | None, n_topics: str, many_topics: list[str]) -> list[list[str]]:
    """Return what is to be measured, in an order in which later ones find what they need."""
    jobs: list[list[str]] = []
    for size in sizes:
        jobs += [["make", size], ["fit", size, "shards"]]
        if Fraction(size) <= Fraction(1, 16):
            jobs += [["fit", size, "memory"], ["fit", size, "shards", "20"]]
    if peers is not None:
        small = [size for size in sizes if Fraction(size) <= Fraction(1, 16)]
        jobs += [["gensim", small[-1], peers]] if small else []
    if n_texts != "0":
        jobs += [["index", n_texts], ["CountVectorizer", n_texts]]
    if available("europarl_en_fr"):
        jobs += [["europarl", where, n_topics] for where in ("memory", "shards", "dask 1", "dask 2", "dask 4")]
    if available("nips"):
        methods = ["polyad fast", *(["tomotopy 200"] if peers is not None else [])]
        jobs += [["many", number, method] for number in many_topics for method in methods]
    return jobs


HIDDEN = ("steps", "fingerprint", "cells", "words", "cores", "topics", "sampled")


def show(results: dict[str, dict]) -> None:
    """Print one table of all that was measured, and the model of the cost."""
    for name, found in results.items():
        shown = {key: value for key, value in found.items() if key not in HIDDEN}
        numbers = ", ".join(
            f"{key} {value:,.3f}" if isinstance(value, float) else f"{key} {value:,}" for key, value in shown.items()
        )
        print(f"{name:28} {numbers}")
        if "steps" in found:
            print(f"{'':28} " + ", ".join(f"{step} {seconds:.1f} s" for step, seconds in found["steps"].items()))
    for what in ("europarl ", "fit 1/16 "):
        prints: dict[int, set[str]] = {}
        for name, found in results.items():
            if name.startswith(what):
                prints.setdefault(found["topics"], set()).add(found["fingerprint"])
        for n_topics, different in prints.items():
            print(f"{what.strip()}, {n_topics} topics: the same bytes everywhere:", len(different) == 1)
    for name, found in results.items():
        if name.startswith("europarl dask") and "gigabytes moved" in found:
            expected = cost_model.network(found, int(name.split()[2])) / 1e9
            print(f"{name}: {expected:.2f} GB to move by the model, {found['gigabytes moved']:.2f} were moved")
    model = cost_model.from_results(results)
    if model is not None:
        print(model)
        largest = results[model.largest]
        for n_documents, n_workers, cores in ON_CLUSTERS:
            share = float(Fraction(model.largest.split()[1]))
            larger = cost_model.grown(largest, n_documents / (share * N_DOCUMENTS))
            seconds = model.seconds(larger, n_workers, cores, bandwidth=WIRE)
            print(
                f"  predicted: {n_documents:,} documents, {n_workers} workers of {cores} cores: {seconds / 60:.1f} "
                f"minutes, {cost_model.network(larger, n_workers) / 1e9:.0f} GB moved"
            )


COLUMNS = {
    "seconds": ("clock, s", ".1f"), "processor seconds": ("processor, s", ".0f"), "gigabytes": ("memory, GB", ".2f"),
    "planned": ("planned, GB", ".1f"), "passes": ("passes", "d"), "bits": ("bits", ".3f"),
    "documents a second": ("documents a second", ",.0f"), "gigabytes read": ("shards read, GB", ".0f"),
    "gigabytes moved": ("moved, GB", ".2f"),
}  # fmt: skip


def markdown(results: dict[str, dict]) -> str:
    """Return the same as one table for a page; memory of peers is told in megabytes, and theirs is above the start."""
    lines = [
        "| measured | " + " | ".join(title for title, _ in COLUMNS.values()) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for name, found in sorted(results.items()):
        row = {**found, "processor seconds": found.get("processor seconds", found.get("processor_seconds"))}
        row.setdefault("gigabytes", row["megabytes"] / 1e3 if "megabytes" in row else None)
        cells = ["" if row.get(key) is None else format(row[key], how) for key, (_, how) in COLUMNS.items()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def results_in(file: Path) -> dict[str, dict]:
    """Return what was measured so far; another call may have added to it meanwhile."""
    return json.loads(file.read_text()) if file.exists() else {}


def main() -> None:
    if len(sys.argv) > 2 and sys.argv[1] in MEASURES:
        print(json.dumps(MEASURES[sys.argv[1]](*sys.argv[2:])))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1/64,1/16", help="parts of the corpus, as 1/16,1/4,1")
    parser.add_argument("--texts", default="100000", help="texts to index; 0 for none")
    parser.add_argument("--topics", default="100", help="topics of the European Parliament")
    parser.add_argument("--folder", default="scale-data", help="where data and results are kept")
    parser.add_argument("--peers", help="a Python with gensim and tomotopy, as benchmarks/.peers/bin/python")
    parser.add_argument("--many", default="500,1000", help="numbers of topics for the papers of NIPS; 0 for none")
    parser.add_argument("--only", default="", help="only measurements whose name begins so, as 'fit 1/16'")
    parser.add_argument("--markdown", action="store_true", help="measure nothing: print what was, as a table")
    asked = parser.parse_args()
    if asked.peers is not None:
        asked.peers = str(Path(asked.peers).absolute())  # not resolved: that would leave its environment
    folder = Path(asked.folder).resolve()
    folder.mkdir(exist_ok=True)
    kept = folder / "results.json"
    if asked.markdown:
        print(markdown(results_in(kept)))
        return
    many_topics = [] if asked.many == "0" else asked.many.split(",")
    for task, *arguments in plan(asked.sizes.split(","), asked.texts, asked.peers, asked.topics, many_topics):
        name = " ".join([task, *arguments]).removesuffix(f" {asked.peers}")
        if name in results_in(kept) or not name.startswith(asked.only):
            continue
        found = isolated(__file__, task, folder, *arguments, timeout=LONG)
        print(name, found.get("error", f"{found.get('seconds', 0):.1f} s"), file=sys.stderr, flush=True)
        if "error" not in found:
            part = kept.with_suffix(".part")
            part.write_text(json.dumps({**results_in(kept), name: found}, indent=1))
            part.replace(kept)
    show(results_in(kept))


if __name__ == "__main__":
    main()
