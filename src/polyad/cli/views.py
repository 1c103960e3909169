"""Which corpora of a call belong to which views of a model, and the topics of rows of all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyad.base.plurals import how_many
from polyad.cli.options import Reading, Running, Shown
from polyad.cli.pairs import Side, SideOutput, Sides, find_sides
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.summary import is_paired, model_sides, refuse_signals

if TYPE_CHECKING:
    from polyad.corpus import Corpus, TextOptions

OtherCorpora = Annotated[
    list[str] | None,
    typer.Argument(metavar="OTHER", help="Of a model of aligned corpora: the others, in their order."),
]
GivenViews = Annotated[
    list[str] | None,
    typer.Option(
        "--view",
        metavar="WHICH",
        help="Of a model of aligned corpora: which one is given, by name or number; once for each file.",
        rich_help_panel="Two views",
    ),
]


@dataclass(frozen=True)
class GivenView:
    """A corpus, and what the model knows of it."""

    side: Side
    number: int  # among the views of the model
    words: tuple[str, ...]
    options: TextOptions | None


def find_views(
    path: str, model: Any, corpora: Sequence[str], given: Sequence[str] | None, reading: Reading, sides: Sides
) -> list[GivenView]:
    """Return the corpora of a call, each with the view of the model that it is."""
    from polyad.models.text_sources import words_of

    refuse_signals(path, model)
    if not is_paired(model):
        if len(corpora) > 1 or given or sides != Sides():
            raise CallError(f"{path} is a model of one corpus; OTHER and the options of two sides are not for it.")
        return [GivenView(Side("", corpora[0], reading), 0, words_of(model), model.text_options_)]
    known = model_sides(model)
    if len(known) == 2 and not given:
        if len(corpora) > 2:
            raise CallError(f"{path} is a model of 2 corpora, and {len(corpora)} are given.")
        found = find_sides(corpora[0], (*corpora[1:], None)[0], reading, sides, both=False)
        at = {side.name: number for number, side in enumerate(known)}
        return [GivenView(side, at[side.name], *_knows(known[at[side.name]])) for side in found]
    if replace(sides, ignore_ids=False) != Sides():
        raise CallError("options of a left and a right side are for models of two corpora, given without --view.")
    if corpora.count("-") > 1:
        raise CallError("standard input can be read once only; give files for the other corpora.")
    chosen = _numbers(path, [side.name for side in known], len(corpora), given)
    return [
        GivenView(Side(known[number].name, corpus, reading), number, *_knows(known[number]))
        for corpus, number in zip(corpora, chosen)
    ]


def _knows(side: Any) -> tuple[tuple[str, ...], TextOptions | None]:
    return side.words, side.text_options


def _numbers(path: str, names: Sequence[str], n_corpora: int, given: Sequence[str] | None) -> Sequence[int]:
    """Return the number of the view of each corpus, as given by name or number, or all in their order."""
    what, all_names = f"{path} is a model of {len(names)} corpora", ", ".join(names)
    if not given:
        if n_corpora != len(names):
            raise CallError(
                f"{what}, and {n_corpora} {'is' if n_corpora == 1 else 'are'} given; give all of them in their order "
                f"({all_names}), or say which each is with --view."
            )
        return range(len(names))
    if len(given) != n_corpora:
        raise CallError(
            f"--view is given {how_many(len(given), 'times')} for {how_many(n_corpora, 'files')}; give it once for "
            "each."
        )
    by_name = {**{str(number): number for number in range(len(names))}, **{name: at for at, name in enumerate(names)}}
    numbers = [by_name.get(which, -1) for which in given]
    if -1 in numbers or len(set(numbers)) < len(numbers):
        raise CallError(f"{what}: --view is one of {all_names}, or its number from 0, each of them once at most.")
    return numbers


def read_views(views: Sequence[GivenView], sides: Sides, running: Running, shown: Shown) -> list[Corpus]:
    """Read corpora over the words of their views, and refuse those that do not belong together."""
    from polyad.corpus import CorpusSource
    from polyad.corpus.pairs import check_lengths, check_pairs, with_one_list_of_ids

    read = []
    for view in views:
        source = CorpusSource(view.side.path, reading=view.side.reading.options(), n_jobs=running.jobs)
        output = SideOutput(shown, view.side.name)
        with output.noting(), output.progress("Reading") as moved:
            read.append(source.over(view.words, view.options).corpus(moved))
    for view, corpus in zip(views[1:], read[1:]):
        check_lengths([views[0].side, view.side], read[0], corpus, ignore_ids=sides.ignore_ids)
        check_pairs([views[0].side, view.side], read[0], corpus, ignore_ids=sides.ignore_ids)
    return with_one_list_of_ids(read) if sides.ignore_ids else read


def shares_of(model: Any, counts: Mapping[int, Any]) -> Any:
    """Return the topics of documents from the counts of the views that are given."""
    if not is_paired(model):
        return model.transform(counts[0])
    views = [counts.get(number) for number in range(len(model_sides(model)))]
    return model.transform(views) if hasattr(model, "components_") else model.transform(*views)
