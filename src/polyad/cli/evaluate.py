"""`polyad evaluate`: how well a model predicts documents, and how its topics hold together in them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from polyad.cli.options import CorpusPath, ModelPath, Reading, Running, Shown
from polyad.cli.output import Output
from polyad.cli.reading import read_for_model
from polyad.cli.summary import corpus_values, model_topics, percent, refuse_pairs

if TYPE_CHECKING:
    from polyad.corpus import Corpus

__all__ = ["bits_of_words", "evaluate"]


def evaluate(model: ModelPath, corpus: CorpusPath, reading: Reading, running: Running, shown: Shown) -> None:
    """Measure how well a model predicts documents that it has not seen.

    Bits a word: half of each document is hidden and predicted from the other half; lower is better. A unigram, which
    knows how frequent words are and nothing about topics, is the mark to beat. Coherence: whether the top words of a
    topic come together in documents, from -1 to 1.

    For example:
    polyad evaluate model.polyad new.csv
    polyad evaluate model.polyad new.csv --json
    """
    from polyad.io import load
    from polyad.metrics import npmi_coherence

    output = Output(shown)
    loaded = load(model)
    refuse_pairs(model, loaded)
    loaded.random_state, loaded.n_jobs = running.seed, running.jobs
    started = time.perf_counter()
    read = read_for_model(corpus, reading, loaded, running.jobs, output)
    _refuse_empty(read)
    bits, unigram = bits_of_words(loaded, read.counts, running)
    coherence = npmi_coherence(loaded.components_, read.counts)
    values = {
        "model": model,
        "bits": bits,
        "unigram_bits": unigram,
        "perplexity": 2.0**bits,
        "coherence": float(coherence.mean()),
        "unknown_words": _unknown_share(read),
        "corpus": corpus_values(read),
        "topics": [
            {**topic, "coherence": float(value)} for topic, value in zip(model_topics(loaded, 10), coherence.tolist())
        ],
        "seconds": time.perf_counter() - started,
    }
    output.result(values) if shown.json else _show(output, values)


def bits_of_words(model: Any, counts: Any, running: Running) -> tuple[float, float]:
    """Return the bits a word of a model, and of a unigram on the same words."""
    import numpy as np

    from polyad import SingleTopic
    from polyad.inference import completion_bits

    bits = -model.score(counts) / np.log(2)
    if isinstance(model, SingleTopic):  # scores whole documents
        totals = np.asarray(counts.sum(axis=0)).ravel()
        return bits, float(-(totals @ np.log2(model.word_probabilities_)) / totals.sum())
    alone = model.word_probabilities_[None, :]
    return bits, completion_bits(alone, 1.0, counts, running.seed, n_jobs=running.jobs)


def _refuse_empty(corpus: Corpus) -> None:
    if len(corpus) == 0:
        raise ValueError("there are no documents to evaluate.")
    if corpus.report.tokens == 0:
        raise ValueError(
            f"not one word of the {len(corpus):,} documents is known to the model; are they in another language?"
        )


def _unknown_share(corpus: Corpus) -> float:
    unknown = corpus.report.dropped.get("unknown words")
    return 0.0 if unknown is None else unknown.tokens / (unknown.tokens + corpus.report.tokens)


def _show(output: Output, values: dict[str, Any]) -> None:
    documents = values["corpus"]["documents"]
    gain = values["unigram_bits"] - values["bits"]
    rows = [
        ("documents", f"{documents:,}"),
        ("bits a word", f"{values['bits']:.3f} ({abs(gain):.3f} {'better' if gain >= 0 else 'worse'} than a unigram)"),
        ("unigram", f"{values['unigram_bits']:.3f}"),
        ("perplexity", f"{values['perplexity']:,.0f}"),
        ("coherence", f"{values['coherence']:.3f}"),
        ("unknown words", percent(values["unknown_words"])),
    ]
    output.table(("measure", "value"), rows, wide="value")
    topics = [(str(t["topic"]), f"{t['coherence']:.3f}", ", ".join(t["words"])) for t in values["topics"]]
    if not output.quiet:
        output.table(("topic", "coherence", "words"), topics, wide="words")
    output.facts([("Time", f"{values['seconds']:.1f} s")])
