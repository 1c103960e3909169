"""`polyad topics`: the words of the topics of a model."""

from typing import Annotated

import typer

from polyad.cli.examples import with_examples, with_paired_examples
from polyad.cli.naming import name_topics
from polyad.cli.options import ModelPath, Reading, Running, Shown
from polyad.cli.pairs import Sides
from polyad.cli.reading import read_for_model
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import (
    is_paired,
    model_topics,
    paired_topics,
    refuse_signals,
    show_paired_topics,
    show_topics,
)
from polyad.cli.views import GivenViews, OtherCorpora, find_views, read_views, shares_of


def topics(
    model: ModelPath,
    corpus: Annotated[
        str | None,
        typer.Argument(metavar="CORPUS", help="Documents to show examples from; without, there are none."),
    ] = None,
    others: OtherCorpora = None,
    n_words: Annotated[int, typer.Option("-n", "--words", metavar="N", help="Words to show of a topic.", min=1)] = 10,
    by: Annotated[
        str, typer.Option(metavar="NAME", help="Order of words: relevance, probability or lift.")
    ] = "relevance",
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="N=NAME", help="Name a topic, and keep the name in the model file; N= takes it away."),
    ] = None,
    view: GivenViews = None,
    *,
    sides: Sides,
    reading: Reading,
    running: Running,
    shown: Shown,
) -> None:
    """Show the topics of a model: their shares of all words, and their most telling words.

    Of a model of aligned corpora, the words of all are shown side by side. With documents, each topic comes with the
    one that has most of it. Names of topics are kept in the model file, and stand in its tables and reports.

    For example:
    polyad topics model.polyad
    polyad topics model.polyad texts.csv
    polyad topics both.polyad english.txt french.txt
    polyad topics model.polyad -n 20 --by probability
    polyad topics model.polyad --name 3=Courts --name "7=Foreign trade"
    polyad topics model.polyad --json | jq '.topics[0].words'
    """
    if by not in ("relevance", "probability", "lift"):
        raise CallError(f"--by is {by!r}; give relevance, probability or lift.")
    from polyad.io import read_model_file

    output = Output(shown)
    if name:
        name_topics(model, name)
    loaded = read_model_file(model, bare=corpus is None).model
    refuse_signals(model, loaded)
    paired = is_paired(loaded)
    found = (paired_topics if paired else model_topics)(loaded, n_words, by)
    if corpus is not None:
        loaded.n_jobs = running.jobs
        views = find_views(model, loaded, [corpus, *(others or [])], view, reading, sides)
        if paired:
            read = read_views(views, sides, running, shown)
        else:
            read = [read_for_model(corpus, reading, loaded, running.jobs, output)]
        if len(read[0]) == 0:
            raise ValueError("there are no documents to show examples from.")
        if paired:
            numbers, names = [at.number for at in views], [at.side.name for at in views]
            inputs = [(at.side.path, at.side.reading) for at in views]
            found = with_paired_examples(
                found, lambda counts: shares_of(loaded, dict(zip(numbers, counts))), read, names, inputs
            )
        else:
            found = with_examples(found, loaded, read[0], corpus, reading)
    if shown.json:
        output.result({"model": model, "class": type(loaded).__name__, "by": by, "topics": found})
    else:
        (show_paired_topics if paired else show_topics)(output, found)
