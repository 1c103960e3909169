"""`polyad demo`: topics of text that every machine has."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyad.cli.commands.evaluate import bits_of_words, gain_in_words, guessing
from polyad.cli.commands.fit import fitted, make_model
from polyad.cli.commands.report import can_report, open_page
from polyad.cli.files import check_output, file_note
from polyad.cli.options import Running, Shown
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import corpus_facts, corpus_values, model_topics, percent, rate, size
from polyad.cli.terminal.text import shortened, shown

if TYPE_CHECKING:
    from polyad.corpus import Corpus, Document

HELD_OUT = 10  # every tenth document
EXCERPT = 110


def demo(
    topics: Annotated[int, typer.Option("-k", "--topics", metavar="N", help="Number of topics.", min=1)] = 15,
    out: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Where the model goes.")
    ] = "polyad-demo.polyad",
    page: Annotated[
        str | None,
        typer.Option(
            "--report", metavar="FILE", help="Where the page of the topics goes.", show_default="beside the model"
        ),
    ] = None,
    *,
    running: Running,
    shown: Shown,
) -> None:
    """Learn topics of the docstrings of the Python libraries installed here.

    They are read from source files and nothing is imported, run or downloaded. Every tenth document is held out to
    measure how well the topics predict.

    For example:
    polyad demo
    polyad demo -k 30 -o demo.polyad
    """
    output = Output(shown)
    check_output(out)
    page = page or str(Path(out).with_suffix(".html"))
    check_output(page, [out])
    started = time.perf_counter()
    estimator = make_model("lda", topics, "fast", "power", running)
    documents, corpus, reading = _read(output, running)
    train, test = _split(corpus)
    if not shown.json:
        output.facts(corpus_facts(corpus))
    fitting, _ = fitted(estimator, train, output)
    estimator.save(out)
    bits, unigram = bits_of_words(estimator, test, running)
    found = _with_examples(estimator, corpus, documents)
    seconds = {"reading": reading, "splitting": corpus.report.seconds_splitting, "fitting": fitting}
    report = _write_page(page, estimator, corpus, documents, output)
    seconds["total"] = time.perf_counter() - started
    values = {
        "model": str(Path(out)),
        "corpus": corpus_values(corpus),
        "bits": bits,
        "unigram_bits": unigram,
        "topics": found,
        "seconds": seconds,
        "report": report,
    }
    if shown.json:
        output.result(values)
        return
    _show(output, values, out)
    if report is not None:
        open_page(report)


def _write_page(path: str, estimator: Any, corpus: Corpus, documents: list[Document], output: Output) -> str | None:
    """Write the page of the topics where charts can be drawn, and return where it is."""
    if not can_report():
        return None
    with output.learning("Writing the report"):
        estimator.report(
            path,
            corpus,
            texts=[document.text for document in documents],
            ids=corpus.ids,
            groups=[document.id.split("/")[0] for document in documents],
            title="Topics of Python's libraries",
            n_jobs=estimator.n_jobs,
        )
    return path


def _read(output: Output, running: Running) -> tuple[list[Document], Corpus, float]:
    from polyad.corpus import TextOptions, count_words
    from polyad.corpus.docstrings import library_docstrings

    started = time.perf_counter()
    documents: list[Document] = []
    with output.progress("Reading docstrings") as moved:
        for document in library_docstrings():
            documents.append(document)
            if len(documents) % 200 == 0:
                moved(len(documents))
    seconds = time.perf_counter() - started
    if len(documents) < 100:
        raise ValueError(f"only {len(documents)} docstrings were found beside polyad, too few for topics.")
    options = TextOptions(stop_words="english", min_length=3, min_df="auto")
    return documents, count_words(documents, options, n_jobs=running.jobs), seconds


def _split(corpus: Corpus) -> tuple[Corpus, Any]:
    """Hold out every tenth document."""
    import numpy as np
    from scipy.sparse import csr_array

    held_out = np.arange(len(corpus)) % HELD_OUT == 0
    kept = np.flatnonzero(~held_out)
    train = replace(corpus, counts=csr_array(corpus.counts[kept]), ids=tuple(corpus.ids[at] for at in kept))
    return train, csr_array(corpus.counts[np.flatnonzero(held_out)])


def _with_examples(estimator: Any, corpus: Corpus, documents: list[Document]) -> list[dict[str, Any]]:
    """Add to each topic the document that has most of it, among those long enough to be sure of."""
    import numpy as np

    lengths = np.asarray(corpus.counts.sum(axis=1)).ravel()
    shares = estimator.transform(corpus.counts) * (lengths >= min(40, np.median(lengths)))[:, None]
    best = shares.argmax(axis=0)
    return [
        {
            **topic,
            "example": {
                "id": documents[at].id,
                "share": float(shares[at, topic["topic"]]),
                "text": shortened(_beginning(documents[at].text), EXCERPT),
            },
        }
        for topic, at in zip(model_topics(estimator, 8), best.tolist())
    ]


def _beginning(docstring: str) -> str:
    """Return what comes before the first underlined heading."""
    return re.split(r"\n[^\n]*\n\s*[-=]{3,}", docstring)[0] or docstring


def _show(output: Output, values: dict[str, Any], out: str) -> None:
    rows = []
    for topic in values["topics"]:
        example = topic["example"]
        rows.append((str(topic["topic"]), percent(topic["share"]), ", ".join(map(shown, topic["words"]))))
        rows.append(("", percent(example["share"]), f"e.g. {example['id']}: {example['text']}"))
    output.table(("topic", "share", "words, and the document that has most of it"), rows, wide=_WIDE)
    documents, seconds = values["corpus"]["documents"], values["seconds"]
    held_out = f"words are {guessing(values['bits'])}, {gain_in_words(values['bits'], values['unigram_bits'])}"
    output.facts(
        [
            ("Held out", held_out),
            ("Reading", rate(seconds["reading"], documents)),
            ("Splitting", rate(seconds["splitting"], documents)),
            ("Fitting", rate(seconds["fitting"], documents)),
            ("In all", f"{seconds['total']:.1f} s"),
            ("Model", f"{file_note(out)}; try: polyad topics {out}"),
            ("Report", _page_note(values["report"])),
        ]
    )


def _page_note(report: str | None) -> str:
    if report is None:
        return "not written: charts need polyad[report], which pip install 'polyad[report]' brings"
    return f"{Path(report).resolve()} ({size(Path(report).stat().st_size)}); open it in a browser"


_WIDE = "words, and the document that has most of it"
