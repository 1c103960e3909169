"""`polyad fit A B C --aligned`: topics that several aligned corpora share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from polyad.base.plurals import how_many
from polyad.cli.commands.fit import DEFAULT_TOPICS, choose_fewer, plan_told, refuse_lost_work, saved_facts
from polyad.cli.commands.fit2 import fit_views, make_aligned_model, with_fitted_examples
from polyad.cli.commands.report import FitReport, check_report, write_fit_report
from polyad.cli.files import check_output
from polyad.cli.options import Reading, Running, Shown, Words
from polyad.cli.pairs import Side, SideOutput, listed_sides
from polyad.cli.reading import read_side
from polyad.cli.scaling import Scaling
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import corpus_facts, corpus_values, paired_topics, rate, show_paired_topics

if TYPE_CHECKING:
    from polyad.corpus import Corpus


class FileOutput(SideOutput):
    """What is said about one of several files, with its name in front."""

    def note(self, message: str) -> None:
        """Print a message on standard error."""
        Output.note(self, f"{self.side}: {message}")

    def renamed(self, message: str) -> str:
        """Leave the names of options: they hold for all files."""
        return message


def fit_aligned(
    paths: Sequence[str],
    topics: int | None,
    out: str | None,
    polish: str,
    method: str,
    n_words: int,
    *,
    page: FitReport,
    reading: Reading,
    words: Words,
    running: Running,
    scaling: Scaling,
    shown: Shown,
) -> None:
    """Learn the topics that two or more corpora share, whose rows belong together."""
    from polyad.corpus.pairs import check_lengths, check_pairs

    output = Output(shown)
    refuse_lost_work(out or page.report, shown)
    estimator = make_aligned_model(topics or DEFAULT_TOPICS, polish, 0, method, running)
    inputs = [*paths, *reading.files(), *words.files()]
    check_output(out, inputs, pattern=reading.pattern)
    check_report(page, paths, [*inputs, out], reading.pattern)
    if scaling.on_cluster:
        raise CallError("--aligned learns on this machine alone; leave out --workers and --scheduler.")
    scaling.check(paths)
    sides = listed_sides(paths, reading)
    read = [read_side(side, words, running.jobs, FileOutput(shown, side.name)) for side in sides]
    for side, corpus in zip(sides[1:], read[1:]):
        check_lengths([sides[0], side], read[0], corpus, ignore_ids=False)
        check_pairs([sides[0], side], read[0], corpus, ignore_ids=False, can_be_ignored=False)
    if not shown.json:
        output.facts(_facts(sides, read))
    if topics is None:
        choose_fewer(estimator, len(read[0]), min(len(corpus.vocabulary) for corpus in read), output)
    views = {side.name: corpus for side, corpus in zip(sides, read)}
    with scaling.used(running.jobs, output) as options, plan_told(output, always=bool(options)):
        seconds, notes = fit_views(estimator, views, output, **options)
    if out is not None:
        estimator.save(out)
        scaling.done()
    written = write_fit_report(page, estimator, read, sides, output)
    found = [_by_file(topic, sides) for topic in paired_topics(estimator, n_words)]
    if shown.json or (output.for_people and not shown.quiet):
        found = with_fitted_examples(found, estimator, sides, read, again=output.for_people)
    reading_seconds = sum(corpus.report.seconds_reading + corpus.report.seconds_splitting for corpus in read)
    if shown.json:
        output.result(
            {
                "model": out,
                "class": type(estimator).__name__,
                "n_components": len(found),
                "rows": len(read[0]),
                "corpora": {side.name: {"path": side.path, **corpus_values(c)} for side, c in zip(sides, read)},
                "topics": found,
                "seconds": {
                    "reading": reading_seconds,
                    "fitting": seconds,
                    "steps": estimator.diagnostics_.seconds,
                },
                "notes": notes,
                **({"report": page.report} if page.report else {}),
            }
        )
        return
    if not shown.quiet:
        show_paired_topics(output, found)
    times = [
        ("Reading", rate(reading_seconds, len(read) * len(read[0]))),
        ("Fitting", rate(seconds, len(read[0]), "rows")),
    ]
    output.facts([*times, *saved_facts(out), *written])


def _facts(sides: Sequence[Side], read: Sequence[Corpus]) -> list[tuple[str, str]]:
    facts = []
    for side, corpus in zip(sides, read):
        (_, documents), *others = corpus_facts(corpus)
        _, *notes = documents.split(" ", 1)
        facts.append((side.name, " ".join([how_many(len(corpus), "documents"), *notes])))
        facts += [(f"{side.name}, {name.lower()}", text) for name, text in others]
    return facts


def _by_file(topic: dict[str, Any], sides: Sequence[Side]) -> dict[str, Any]:
    """Return a topic with the words under the names of the files in place of those of the views."""
    views = [key for key in topic if isinstance(topic[key], dict)]
    names = dict(zip(views, (side.name for side in sides)))
    return {names.get(key, key): value for key, value in topic.items()}
