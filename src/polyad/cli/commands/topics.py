"""`polyad topics`: the words of the topics of a model."""

from __future__ import annotations

from typing import Annotated

import typer

from polyad.cli.naming import name_topics
from polyad.cli.options import ModelPath, Shown
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

__all__ = ["topics"]


def topics(
    model: ModelPath,
    n_words: Annotated[int, typer.Option("-n", "--words", metavar="N", help="Words to show of a topic.", min=1)] = 10,
    by: Annotated[
        str, typer.Option(metavar="NAME", help="Order of words: relevance, probability or lift.")
    ] = "relevance",
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="N=NAME", help="Name a topic, and keep the name in the model file; N= takes it away."),
    ] = None,
    *,
    shown: Shown,
) -> None:
    """Show the topics of a model: their shares of all words, and their most telling words.

    Of a model of two corpora, the words of both are shown side by side. Names of topics are kept in the model file,
    and stand in its tables and reports.

    For example:
    polyad topics model.polyad
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
    loaded = read_model_file(model, bare=True).model
    refuse_signals(model, loaded)
    paired = is_paired(loaded)
    found = (paired_topics if paired else model_topics)(loaded, n_words, by)
    if shown.json:
        output.result({"model": model, "class": type(loaded).__name__, "by": by, "topics": found})
    else:
        (show_paired_topics if paired else show_topics)(output, found)
