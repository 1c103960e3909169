"""`polyad evaluate`: how well a model predicts documents, and how its topics hold together in them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from polyad.cli.options import CorpusPath, ModelPath, Reading, Running, Shown
from polyad.cli.pairs import Sides
from polyad.cli.reading import read_for_model
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import corpus_values, has_background, is_paired, model_topics, percent, topic_name
from polyad.cli.views import GivenView, GivenViews, OtherCorpora, find_views, read_views

if TYPE_CHECKING:
    from polyad.corpus import Corpus

FAIR = "Note: this is fair only of documents that the model was not fitted on."
MOSTLY_UNKNOWN = 0.5  # the share of unknown words from which what a model says is in doubt


def evaluate(
    model: ModelPath,
    corpus: CorpusPath,
    others: OtherCorpora = None,
    view: GivenViews = None,
    *,
    sides: Sides,
    reading: Reading,
    running: Running,
    shown: Shown,
) -> None:
    """Measure how well a model predicts documents that it has not seen.

    Half of each document is hidden, and its words are guessed from the other half: the fewer words each is as hard to
    guess among, the better. Guessing by the frequency of words alone, without topics, is the mark to beat. Coherence:
    whether the top words of a topic come together in documents, from -1 to 1. Documents that the model was fitted on
    flatter it: give others. Of a model of aligned corpora each one that is given is measured by itself.

    For example:
    polyad evaluate model.polyad new.csv
    polyad evaluate both.polyad new-english.txt new-french.txt
    polyad evaluate model.polyad new.csv --json
    """
    from polyad.io import load
    from polyad.metrics import npmi_coherence

    output = Output(shown)
    loaded = load(model)
    loaded.random_state, loaded.n_jobs = running.seed, running.jobs
    views = find_views(model, loaded, [corpus, *(others or [])], view, reading, sides)
    started = time.perf_counter()
    if is_paired(loaded):
        _evaluate_views(model, loaded, views, read_views(views, sides, running, shown), running, output)
        return
    read = read_for_model(corpus, reading, loaded, running.jobs, output)
    _refuse_empty(read)
    bits, unigram = bits_of_words(loaded, read.counts, running)
    coherence = npmi_coherence(loaded.components_, read.counts)
    values = {
        "model": model,
        "bits": bits,
        "unigram_bits": unigram,
        "perplexity": 2.0**bits,
        "coherence": float(coherence[: len(coherence) - has_background(loaded)].mean()),
        "unknown_words": _unknown_share(read),
        "corpus": corpus_values(read),
        "topics": [
            {**topic, "coherence": float(value)} for topic, value in zip(model_topics(loaded, 10), coherence.tolist())
        ],
        "seconds": time.perf_counter() - started,
    }
    output.result(values) if shown.json else _show(output, values)
    _tell(output, values, loaded)


def _evaluate_views(
    path: str, model: Any, views: Sequence[GivenView], read: Sequence[Corpus], running: Running, output: Output
) -> None:
    """Measure each of the corpora that are given: its words are guessed from others of its own."""
    import numpy as np

    from polyad.inference import completion_bits
    from polyad.metrics import npmi_coherence

    if not hasattr(model, "components_"):
        raise ValueError(f"{path} holds {type(model).__name__}, which tells how two views differ and no probabilities.")
    started = time.perf_counter()
    n_views, found = len(model.components_), []
    for view, corpus in zip(views, read):
        _refuse_empty(corpus)
        given = [corpus.counts if number == view.number else None for number in range(n_views)]
        topics = model.components_[view.number]
        alone = model.topic_shares_ @ topics
        coherence = npmi_coherence(topics, corpus.counts)
        bits = float(-model.score(given) / np.log(2))
        found.append(
            {
                "view": view.side.name,
                "bits": bits,
                "unigram_bits": completion_bits(
                    alone[None, :] / alone.sum(), 1.0, corpus.counts, running.seed, n_jobs=running.jobs
                ),
                "perplexity": 2.0**bits,
                "coherence": float(coherence.mean()),
                "topic_coherence": coherence.tolist(),
                "unknown_words": _unknown_share(corpus),
                "corpus": corpus_values(corpus),
            }
        )
    values = {"model": path, "views": found, "seconds": time.perf_counter() - started}
    if output.json:
        output.result(values)
    else:
        _show_views(output, found)
        output.facts([("Time", f"{values['seconds']:.1f} s")])
    for of in found:
        note = unknown_note(of["unknown_words"])
        if note is not None:
            output.note(f"{of['view'].capitalize()}: {note}")
    output.note(FAIR)


def _measures(values: dict[str, Any], documents: str) -> list[tuple[str, str]]:
    """Return the rows of a table of measures; the first, of the number of documents, has a name of its own."""
    return [
        (documents, f"{values['corpus']['documents']:,}"),
        ("guessing words", guessing(values["bits"])),
        ("without topics", guessing(values["unigram_bits"])),
        ("gain by topics", gain_in_words(values["bits"], values["unigram_bits"])),
        ("coherence", f"{values['coherence']:.3f} (from -1 to 1, higher is better)"),
        ("unknown words", percent(values["unknown_words"])),
    ]


def _show_views(output: Output, found: Sequence[dict[str, Any]]) -> None:
    rows = [row for of in found for row in _measures(of, f"{of['view']}: documents")]
    output.table(("measure", "value"), rows, wide="value")
    if not output.quiet:
        coherence = zip(*(of["topic_coherence"] for of in found))
        topics = [(str(number), *(f"{value:.3f}" for value in row)) for number, row in enumerate(coherence)]
        output.table(("topic", *(f"coherence, {of['view']}" for of in found)), topics)


def bits_of_words(model: Any, counts: Any, running: Running) -> tuple[float, float]:
    """Return the bits per word of a model, and of a unigram on the same words."""
    import numpy as np

    from polyad.inference import completion_bits

    bits = -model.score(counts) / np.log(2)
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


def guessing(bits: float) -> str:
    """Say how hard words are to guess.

    Examples
    --------
    >>> guessing(10.0)
    'as hard as among 1,024 words (10.000 bits per word)'
    """
    return f"as hard as among {2.0**bits:,.0f} words ({bits:.3f} bits per word)"


def gain_in_words(bits: float, alone: float) -> str:
    """Say what topics gain over the frequency of words alone.

    Examples
    --------
    >>> gain_in_words(9.0, 10.0), gain_in_words(10.5, 10.0)
    ('1.000 bits per word better than without topics', '0.500 bits per word worse than without topics')
    """
    return f"{abs(alone - bits):.3f} bits per word {'better' if alone >= bits else 'worse'} than without topics"


def unknown_note(unknown: float) -> str | None:
    """Say that a model hardly knows the words of documents, where it does not."""
    if unknown < MOSTLY_UNKNOWN:
        return None
    return (
        f"Note: the model knows only {percent(1 - unknown)} of the words of these documents; are they in another "
        "language, or about something else? What it says of them means little."
    )


def _tell(output: Output, values: dict[str, Any], model: Any) -> None:
    note = unknown_note(values["unknown_words"])
    if note is not None:
        output.note(note)
    fitted, corpus = getattr(model, "diagnostics_", None), values["corpus"]
    seen = fitted is not None and (fitted.n_documents, fitted.n_tokens) == (corpus["documents"], corpus["tokens"])
    output.note(
        "Note: these seem to be the documents that the model was fitted on, which flatter it; give others."
        if seen
        else FAIR
    )


def _show(output: Output, values: dict[str, Any]) -> None:
    output.table(("measure", "value"), _measures(values, "documents"), wide="value")
    topics = [(topic_name(t), f"{t['coherence']:.3f}", ", ".join(t["words"])) for t in values["topics"]]
    if not output.quiet:
        output.table(("topic", "coherence", "words"), topics, wide="words")
    output.facts([("Time", f"{values['seconds']:.1f} s")])
