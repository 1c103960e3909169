"""`polyad fit2`: topics that two aligned corpora share, and the model as a file."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from polyad.base.plurals import how_many
from polyad.cli.commands.fit import DEFAULT_TOPICS, choose_fewer, refuse_lost_work, saved_facts
from polyad.cli.commands.report import FitReport, check_report, write_fit_report
from polyad.cli.examples import with_paired_examples
from polyad.cli.files import check_output
from polyad.cli.options import KeptModel, NumberOfTopics, Polish, Reading, Running, Shown, Words
from polyad.cli.pairs import Side, SideOutput, Sides, find_sides
from polyad.cli.reading import read_side
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import corpus_facts, corpus_values, paired_topics, rate, show_paired_topics

if TYPE_CHECKING:
    from polyad.corpus import Corpus
    from polyad.models import PolylingualLDA

_PANEL, _WORDS = "Model", "Words"
_STOP_WORDS = "LANGUAGE, FILE or none, of the {} text alone."


@dataclass(frozen=True)
class SideWords:
    """How to make words of the text of one side. None is what holds for both."""

    left_stop_words: Annotated[
        str | None, typer.Option(metavar="WHICH", help=_STOP_WORDS.format("left"), rich_help_panel=_WORDS)
    ] = None
    right_stop_words: Annotated[
        str | None, typer.Option(metavar="WHICH", help=_STOP_WORDS.format("right"), rich_help_panel=_WORDS)
    ] = None
    left_tokenizer: Annotated[
        str | None, typer.Option(metavar="NAME", help="words, chinese or japanese.", rich_help_panel=_WORDS)
    ] = None
    right_tokenizer: Annotated[
        str | None, typer.Option(metavar="NAME", help="words, chinese or japanese.", rich_help_panel=_WORDS)
    ] = None

    def files(self) -> list[str | None]:
        """Return the files that are read for it."""
        return [self.left_stop_words, self.right_stop_words]

    def of(self, side: str, words: Words) -> Words:
        """Return how to make words of one side."""
        stop_words, tokenizer = getattr(self, f"{side}_stop_words"), getattr(self, f"{side}_tokenizer")
        return replace(words, stop_words=stop_words or words.stop_words, tokenizer=tokenizer or words.tokenizer)


def fit2(
    left: Annotated[
        str, typer.Argument(metavar="LEFT", help="A corpus, as for fit; or a table with both texts in two columns.")
    ],
    right: Annotated[
        str | None, typer.Argument(metavar="RIGHT", help="The other corpus: as many documents, in the same order.")
    ] = None,
    topics: NumberOfTopics = None,
    out: KeptModel = None,
    polish: Polish = "fast",
    private: Annotated[
        int,
        typer.Option(metavar="N", help="Topics that each side has for itself.", min=0, rich_help_panel=_PANEL),
    ] = 0,
    method: Annotated[
        str,
        typer.Option(metavar="NAME", help="jdtm, exact, sh-rt, just, first_order, spectral.", rich_help_panel=_PANEL),
    ] = "jdtm",
    n_words: Annotated[int, typer.Option("-n", "--words", metavar="N", help="Words to show of a topic.", min=1)] = 8,
    *,
    page: FitReport,
    sides: Sides,
    reading: Reading,
    words: Words,
    side_words: SideWords,
    running: Running,
    shown: Shown,
) -> None:
    """Learn the topics that two aligned corpora share, such as texts and their translations.

    The corpora are two files whose rows belong together, or two columns of one file. Each topic has words on both
    sides. Ids are compared where both sides have them.

    For example:
    polyad fit2 english.txt french.txt -k 20 -o both.polyad
    polyad fit2 acts.jsonl --left-column en --right-column fr --report acts.html
    polyad fit2 en.csv de.csv --left-stop-words english --right-stop-words none
    polyad transform both.polyad new-english.txt -o topics.csv
    """
    output = Output(shown)
    refuse_lost_work(out or page.report, shown)
    estimator = make_aligned_model(topics or DEFAULT_TOPICS, polish, private, method, running)
    found_sides = find_sides(left, right, reading, sides, both=True)
    read_files = [left, right, *sides.files(), *reading.files(), *words.files(), *side_words.files()]
    check_output(out, read_files, pattern=reading.pattern)
    check_report(page, [side.path for side in found_sides], [*read_files, out], reading.pattern)
    from polyad.corpus.pairs import check_lengths, check_pairs, with_one_list_of_ids

    read = [
        read_side(side, side_words.of(side.name, words), running.jobs, SideOutput(shown, side.name))
        for side in found_sides
    ]
    check_lengths(found_sides, *read, ignore_ids=sides.ignore_ids)
    check_pairs(found_sides, *read, ignore_ids=sides.ignore_ids)
    if sides.ignore_ids:
        read = with_one_list_of_ids(read)
    if not shown.json:
        output.facts(_corpus_facts(found_sides, read, shown))
    if topics is None:
        choose_fewer(estimator, len(read[0]), min(len(side.vocabulary) for side in read), output)
    seconds, notes = fit_views(estimator, read, output)
    if out is not None:
        estimator.save(out)
    written = write_fit_report(page, estimator, read, found_sides, output)
    found = paired_topics(estimator, n_words)
    if shown.json or (output.for_people and not shown.quiet):
        found = with_fitted_examples(found, estimator, found_sides, read, again=output.for_people)
    if shown.json:
        values = {**_values(estimator, found_sides, read, found, seconds, out), "notes": notes}
        output.result({**values, "report": page.report} if page.report else values)
        return
    if not shown.quiet:
        show_paired_topics(output, found)
    output.facts([*_time_facts(read, seconds), *saved_facts(out), *written])


def with_fitted_examples(
    topics: list[dict[str, Any]], model: PolylingualLDA, sides: Sequence[Side], read: Sequence[Corpus], *, again: bool
) -> list[dict[str, Any]]:
    """Add the row that has most of each topic; with its texts, where the corpora may be read again."""
    inputs = [(side.path, side.reading) for side in sides] if again else None
    return with_paired_examples(topics, model.transform, read, [side.name for side in sides], inputs)


def make_aligned_model(topics: int, polish: str, private: int, method: str, running: Running) -> PolylingualLDA:
    """Make the model of aligned corpora that the options ask for."""
    from polyad.decompose.similarity.registry import SIMILARITY_DIAGONALISERS
    from polyad.models import PolylingualLDA

    if method not in SIMILARITY_DIAGONALISERS:
        raise CallError(f"--method is {method!r}; give one of {', '.join(SIMILARITY_DIAGONALISERS)}.")
    if not polish.isdecimal() and polish not in ("off", "fast", "full"):
        raise CallError(f"--polish is {polish!r}; give off, fast, full or a number of passes.")
    if private and (polish == "off" or (polish.isdecimal() and int(polish) == 0)):
        raise CallError(
            "--private needs rounds that improve the topics; leave out --polish, or give fast, full or a number."
        )
    return PolylingualLDA(
        topics,
        polish=cast(Any, int(polish) if polish.isdecimal() else polish),
        n_private=private,
        method=cast(Any, method),
        random_state=running.seed,
        n_jobs=running.jobs,
    )


def fit_views(
    estimator: PolylingualLDA, read: Sequence[Corpus] | Mapping[str, Corpus], output: Output, **options: Any
) -> tuple[float, list[str]]:
    """Fit the model, show how far it is, tell its warnings, and return the seconds and the warnings."""
    started = time.perf_counter()
    with output.noting() as notes, output.learning(f"Learning {how_many(estimator.n_components, 'topics')}"):
        estimator.fit(read, **options)
    return time.perf_counter() - started, notes


def _corpus_facts(sides: list[Side], read: list[Corpus], shown: Shown) -> list[tuple[str, str]]:
    facts = []
    for side, found in zip(sides, read):
        renamed = SideOutput(shown, side.name).renamed
        (_, documents), *others = corpus_facts(found)
        _, *notes = documents.split(" ", 1)
        facts.append((side.name.capitalize(), " ".join([f"{side}: {how_many(len(found), 'documents')}", *notes])))
        facts += [(f"{side.name.capitalize()} {name.lower()}", renamed(text)) for name, text in others]
    return facts


def _seconds(read: list[Corpus]) -> tuple[float, float]:
    reports = [corpus.report for corpus in read]
    return sum(report.seconds_reading for report in reports), sum(report.seconds_splitting for report in reports)


def _time_facts(read: list[Corpus], seconds: float) -> list[tuple[str, str]]:
    reading, splitting = _seconds(read)
    pairs = len(read[0])
    facts = [("Reading", rate(reading, 2 * pairs))]
    if splitting:
        facts.append(("Splitting", rate(splitting, 2 * pairs)))
    return [*facts, ("Fitting", rate(seconds, pairs, "pairs"))]


def _values(
    estimator: PolylingualLDA,
    sides: list[Side],
    read: list[Corpus],
    topics: list[dict[str, Any]],
    seconds: float,
    out: str | None,
) -> dict[str, Any]:
    reading, splitting = _seconds(read)
    return {
        "model": out,
        "class": type(estimator).__name__,
        "n_components": len(topics),
        "pairs": len(read[0]),
        **{side.name: corpus_values(found) for side, found in zip(sides, read)},
        "topics": topics,
        "seconds": {
            "reading": reading,
            "splitting": splitting,
            "fitting": seconds,
            "steps": estimator.diagnostics_.seconds,
        },
    }
