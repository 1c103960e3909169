"""SVTD paper, Figures 3 and 4: coherence and time by k on two texts, beside a Gibbs sampler."""

import resource
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np
from lab import Chart, Claim, Experiment, Row, chosen, mean
from scipy import sparse
from sklearn.base import clone

import corpora
from measure import isolated
from polyad import LDA, SingleTopic
from polyad.corpus import ReadOptions, TextOptions, read_corpus
from polyad.metrics import umass_coherence

TEXTS = {
    "Divina Commedia": ("dante/divina_commedia.jsonl.gz", "italian", 1820, 3),
    "State of the Union": ("state_union/state_union.jsonl.gz", "english", 1184, 18),
}
TOTAL = 0.2  # alpha_0 of the paper
SAMPLER = "lda 2000"
PEERS = Path(__file__).resolve().parents[1]


@cache
def corpus(text):
    """Return a text without stop words, cut to the number of words that the paper keeps."""
    file, language, n_words, _ = TEXTS[text]
    options = TextOptions(stop_words=language, max_features=n_words)
    return read_corpus(corpora.DATA / file, options, reading=ReadOptions(text_column="text"))


def settings(quick):
    if quick or not corpora.available("dante"):
        return []  # the texts lie beside the project; small samples cannot stand for them
    return [{"text": text, "k": k} for k in (3, 18, 2, 4, 8, 12, 6, 24, 32) for text in TEXTS]


def _fitted(model, counts):
    clone(model).set_params(n_components=2).fit(counts)  # compiled code is loaded before the clock starts
    started = time.process_time()
    return model.fit(counts).components_, time.process_time() - started


def _sampled(counts, k):
    """Return topics of the sampler and its seconds, from a process of its own in the environment of the peers."""
    python = PEERS / ".peers" / "bin" / "python"
    with tempfile.TemporaryDirectory() as folder:
        train, out = Path(folder) / "train.npz", Path(folder) / "out.npz"
        sparse.save_npz(train, sparse.csr_matrix(counts))
        before = _seconds_of_children()
        result = isolated(str(PEERS / "peers.py"), SAMPLER, train, k, out, python=str(python))
        if "error" in result:
            raise RuntimeError(
                f"The sampler {SAMPLER} failed: {result['error']}. Its environment is made by python "
                "benchmarks/topics.py --install."
            )
        with np.load(out) as kept:
            return kept["components"], _seconds_of_children() - before


def _seconds_of_children() -> float:
    """Return the CPU seconds of processes that have ended: a second of starting up included, of tens or hundreds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(text, k) -> list[Row]:
    counts = corpus(text).counts.astype(float)
    svtd = {"method": "svtd", "polish": "off"}
    found = {
        "single topic, SVTD": _fitted(SingleTopic(k, **svtd), counts),
        "LDA, SVTD": _fitted(LDA(k, concentration=TOTAL, **svtd), counts),
        "LDA, polyad": _fitted(LDA(k), counts),
    }
    found["LDA, Gibbs"] = _sampled(counts, k)
    return [
        {
            "text": text,
            "k": k,
            "method": name,
            "coherence": float(np.mean(umass_coherence(topics, counts, n_words=20))),
            "seconds": seconds,
        }
        for name, (topics, seconds) in found.items()
    ]


def _more_coherent_with_many_topics(rows):
    many = [row for row in rows if row["k"] >= 12]
    return all(
        mean(chosen(many, text=text), "coherence", method="single topic, SVTD")
        > mean(chosen(many, text=text), "coherence", method="LDA, Gibbs")
        for text in TEXTS
    )


EXPERIMENT = Experiment(
    name="svtd-figures-3-4",
    source="SVTD paper, Figures 3a and 4a",
    title="UMass coherence (20 words) and seconds by the number of topics",
    found="SVTD is faster than a Gibbs sampler of 2,000 iterations, and its topics stay coherent as their number "
    "grows, where those of the sampler do not.",
    differs="Nine numbers of topics between 2 and 32 in place of all; our list of stop words. The sampler is the "
    "paper's, the lda package with 2,000 iterations. Seconds are of the CPU.",
    settings=settings,
    measure=measure,
    claims=(
        Claim(
            "With twelve topics and more SVTD's are more coherent than the sampler's.", _more_coherent_with_many_topics
        ),
        Claim(
            "SVTD takes less time than the sampler.",
            lambda rows: mean(rows, "seconds", method="LDA, SVTD") < mean(rows, "seconds", method="LDA, Gibbs"),
        ),
    ),
    charts=(
        Chart("k", "coherence", "method", "text", "topics", "UMass coherence"),
        Chart("k", "seconds", "method", "text", "topics", "CPU seconds", log_y=True),
    ),
)
