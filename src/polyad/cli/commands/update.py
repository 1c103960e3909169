"""`polyad update`: a model that goes on with new documents."""

import time
from typing import Annotated, Any

import typer

from polyad.cli.commands.evaluate import unknown_note
from polyad.cli.files import check_output, file_note
from polyad.cli.options import CorpusPath, ModelPath, Reading, Running, Shown
from polyad.cli.reading import read_for_model
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import corpus_values, model_topics, percent, rate, refuse_pairs, show_topics


def update(
    model: ModelPath,
    corpus: CorpusPath,
    out: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="Keep the newer model in this file.")],
    forget: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Forget this share of what was learned before, as 0.1.", min=0.0, max=0.99),
    ] = 0.0,
    grow: Annotated[bool, typer.Option("--grow", help="Take new words into the model.")] = False,
    n_words: Annotated[int, typer.Option("-n", "--words", metavar="N", help="Words to show of a topic.", min=1)] = 10,
    *,
    reading: Reading,
    running: Running,
    shown: Shown,
) -> None:
    """Let a model learn from new documents too; those that it was fitted on are not needed any more.

    Topics keep their numbers. Words that the model does not know are left out, unless --grow is given. --forget is for
    topics that change with time. A fit to all documents at once is a little better, where all can be had.

    For example:
    polyad update model.polyad today.jsonl -o newer.polyad
    polyad update model.polyad today.jsonl -o newer.polyad --forget 0.1 --grow
    """
    from polyad.io import load

    output = Output(shown)
    check_output(out, [model, corpus, *reading.files()], pattern=reading.pattern)
    loaded: Any = load(model)
    refuse_pairs(model, loaded)
    if not hasattr(loaded, "partial_fit"):
        raise ValueError(f"{model} holds {type(loaded).__name__}, and only models of the kind lda can be updated.")
    loaded.n_jobs = running.jobs
    read = _read(corpus, reading, loaded, running, output, grow)
    started, n_before = time.perf_counter(), len(loaded.components_[0])
    with output.noting() as notes, output.learning("Updating"):
        loaded.partial_fit(read, forget=forget, grow=grow)
    seconds = time.perf_counter() - started
    loaded.save(out)
    lost = read.report.dropped.get("unknown words")
    unknown = 0.0 if lost is None else lost.tokens / max(lost.tokens + read.report.tokens, 1)
    found, n_new = model_topics(loaded, n_words), len(loaded.components_[0]) - n_before
    if shown.json:
        values = {"model": out, "corpus": corpus_values(read), "unknown_words": unknown, "new_words": n_new}
        output.result({**values, "topics": found, "seconds": seconds, "notes": notes})
        return
    if not shown.quiet:
        show_topics(output, found)
    facts = [
        ("Documents", f"{len(read):,} new ones, {loaded.diagnostics_.n_documents:,} in all"),
        ("Unknown", f"{percent(unknown)} of all words are not known to the model")
        if not grow
        else ("New words", f"{n_new:,}"),
        ("Time", rate(seconds, len(read))),
        ("Model", file_note(out)),
    ]
    output.facts(facts)
    note = unknown_note(unknown)
    if note is not None:
        output.note(note)


def _read(corpus: str, reading: Reading, model: Any, running: Running, output: Output, grow: bool) -> Any:
    """Read new documents over the words of the model, or with words of their own, split as its text was."""
    from polyad.corpus import CorpusSource

    if not grow:
        return read_for_model(corpus, reading, model, running.jobs, output)
    source = CorpusSource(corpus, options=model.text_options_, reading=reading.options(), n_jobs=running.jobs)
    with output.noting(), output.progress("Reading") as moved:
        return source.corpus(moved)
