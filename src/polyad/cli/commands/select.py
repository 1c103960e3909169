"""`polyad select`: how many topics there should be."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polyad.cli.commands.report import need_extra
from polyad.cli.files import check_output, file_note
from polyad.cli.options import CorpusPath, Reading, Running, Shown, Words
from polyad.cli.reading import read_new_corpus
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import corpus_facts, corpus_values
from polyad.cli.terminal.wording import for_people

DEFAULT_MOST = 100


def select(
    corpus: CorpusPath,
    least: Annotated[int, typer.Option("--min", metavar="N", help="Fewest topics to judge.", min=1)] = 2,
    most: Annotated[int, typer.Option("--max", metavar="N", help="Most topics to judge.", min=1)] = DEFAULT_MOST,
    page: Annotated[
        str | None, typer.Option("--report", metavar="FILE", help="Write a page with a chart of each.")
    ] = None,
    *,
    reading: Reading,
    words: Words,
    running: Running,
    shown: Shown,
) -> None:
    """Judge a range of numbers of topics, and recommend one.

    Bits: how hard it is to guess words of documents that were held back (bits per word), lower is better. Coherence:
    whether the words of a topic come together in documents. Stability: whether both halves of the documents have the
    same topics. Of these, higher is better.

    For example:
    polyad select texts/
    polyad select texts/ --min 5 --max 50 --json
    polyad select texts/ --report choice.html
    """
    from polyad import select_n_components

    if least > most:
        raise CallError(f"--min is {least} and --max is {most}; the fewest cannot be more than the most.")
    output = Output(shown)
    if page is not None:
        need_extra()
        check_output(page, [corpus, *reading.files(), *words.files()], pattern=reading.pattern)
    read = read_new_corpus(corpus, reading, words, running.jobs, output)
    if not shown.json:
        output.facts(corpus_facts(read))
    with output.learning("Judging"):
        selection = select_n_components(
            read,
            n_min=least,
            n_max=most,
            random_state=running.seed,
            n_jobs=running.jobs,
        )
    values = {
        "recommended": selection.recommended,
        "reason": selection.reason,
        "table": selection.table,
        "spectrum": selection.spectrum,
        "corpus": corpus_values(read),
    }
    largest = max(int(row["n_components"]) for row in selection.table)
    if largest < most != DEFAULT_MOST:
        output.note(f"Note: these documents are too few or too alike to judge more than {largest} topics.")
    if page is not None:
        name = "" if corpus == "-" else f" of {Path(corpus).resolve().name}"
        selection.report(page, title=f"How many topics{name}")
    if shown.json:
        output.result(values if page is None else {**values, "report": page})
        return
    _show(output, values)
    if page is not None:
        output.facts([("Report", file_note(page))])


def _show(output: Output, values: dict[str, Any]) -> None:
    rows = [
        (
            str(int(row["n_components"])),
            f"{row['bits']:.3f}",
            f"{row['coherence']:.3f}",
            f"{row['stability']:.3f}",
            f"{row['seconds']:.2f}",
            "recommended" if row["n_components"] == values["recommended"] else "",
        )
        for row in values["table"]
    ]
    output.table(("topics", "bits", "coherence", "stability", "seconds", ""), rows, spare=("seconds", "stability"))
    output.note(for_people(str(values["reason"])))
