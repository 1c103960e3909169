"""`polyad fit`: topics of a corpus, and the model as a file."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyad.base.plurals import how_many
from polyad.cli.commands.report import FitReport, check_report, write_fit_report
from polyad.cli.examples import with_examples
from polyad.cli.files import check_output, file_note
from polyad.cli.options import CorpusPath, KeptModel, NumberOfTopics, Polish, Reading, Running, Shown, Words
from polyad.cli.pairs import Side
from polyad.cli.reading import read_new_corpus
from polyad.cli.scaling import Scaling
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import corpus_facts, corpus_values, model_topics, rate, show_topics

if TYPE_CHECKING:
    from polyad.corpus import Corpus
    from polyad.models.topics.base import TopicModel

DEFAULT_TOPICS = 20
DEFAULT_METHOD = "power"
LONG_SECONDS = 60.0  # from which on the plan of any fit is told

_MODELS = {"lda": "LDA", "discrete-ica": "DiscreteICA", "single-topic": "SingleTopic"}
_PANEL = "Model"


def fit(
    corpus: CorpusPath,
    others: Annotated[
        list[str] | None,
        typer.Argument(metavar="OTHER", help="With --aligned: the other corpora.", show_default=False),
    ] = None,
    *,
    topics: NumberOfTopics = None,
    out: KeptModel = None,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="lda, discrete-ica or single-topic.", rich_help_panel=_PANEL)
    ] = "lda",
    polish: Polish = "fast",
    method: Annotated[
        str,
        typer.Option(metavar="NAME", help="power, jacobi, tensor_power, spectral or svtd.", rich_help_panel=_PANEL),
    ] = DEFAULT_METHOD,
    aligned: Annotated[
        bool,
        typer.Option(
            "--aligned", help="Row i of all corpora belongs together: learn what they share.", rich_help_panel=_PANEL
        ),
    ] = False,
    background: Annotated[
        bool,
        typer.Option(
            "--background",
            help="Learn one topic more, for what all texts share, in place of dropping stop words.",
            rich_help_panel=_PANEL,
        ),
    ] = False,
    n_words: Annotated[int, typer.Option("-n", "--words", metavar="N", help="Words to show of a topic.", min=1)] = 10,
    page: FitReport,
    reading: Reading,
    words: Words,
    running: Running,
    scaling: Scaling,
    shown: Shown,
) -> None:
    """Learn topics from texts or word counts.

    Function words of the language of the text (the, of, and) are dropped, and words that are in too few documents to
    tell anything. With --background no list of words is needed: one topic more takes what all texts share.

    For example:
    polyad fit texts/ -k 20 -o model.polyad
    polyad fit talks.csv --text-column body --stop-words french
    polyad fit talks.csv -k 20 --report talks.html --date-column year
    zcat big.jsonl.gz | polyad fit - -k 100 -o big.polyad
    polyad fit texts/ --background
    polyad fit counts.mtx -k 50 --json > fit.json
    polyad fit corpus.shards -k 100 -o model.polyad --checkpoint run --memory 4GB
    polyad fit en.txt fr.txt de.txt --aligned -k 20 -o three.polyad
    """
    if aligned or others:
        _refuse_misaligned(others, aligned, model, background=background)
        from polyad.cli.commands.aligned import fit_aligned

        fit_aligned(
            [corpus, *(others or [])], topics, out, polish, "jdtm" if method == DEFAULT_METHOD else method, n_words,
            page=page, reading=reading, words=words, running=running, scaling=scaling, shown=shown,
        )  # fmt: skip
        return
    from polyad.corpus.indexing.folder import is_indexed

    output = Output(shown)
    refuse_lost_work(out or page.report, shown)
    estimator = make_model(model, topics or DEFAULT_TOPICS, polish, method, running, background=background)
    if background and words.stop_words is None:
        words = replace(words, stop_words="none")
    inputs = [corpus, *reading.files(), *words.files()]
    check_output(out, inputs, pattern=reading.pattern)
    check_report(page, [corpus], [*inputs, out], reading.pattern)
    scaling.check([corpus])
    read = read_new_corpus(corpus, reading, words, running.jobs, output)
    if not shown.json:
        # The words of shards were chosen when they were made.
        output.facts(corpus_facts(read, advice=not is_indexed(corpus)))
    if topics is None:
        choose_fewer(estimator, len(read), len(read.vocabulary), output)
    with scaling.used(running.jobs, output) as options, plan_told(output, always=is_indexed(corpus) or bool(options)):
        seconds, notes = fitted(estimator, read, output, **options)
    if topics is not None and len(read) // 2 < topics:
        output.note(_nearly_all(topics, len(read), advice=not any("Ask for" in note for note in notes)))
    if out is not None:
        estimator.save(out)
        scaling.done()
    written = write_fit_report(page, estimator, [read], [Side("", corpus, reading)], output)
    found = model_topics(estimator, n_words)
    if shown.json or (output.for_people and not shown.quiet):  # a pipe gets one line for each topic
        found = with_examples(found, estimator, read, corpus if output.for_people else None, reading)
    if shown.json:
        values = {**_values(estimator, read, found, seconds, out), "notes": notes}
        output.result({**values, "report": page.report} if page.report else values)
        return
    if not shown.quiet:
        show_topics(output, found)
    output.facts([*_time_facts(estimator, read, seconds), *saved_facts(out), *written])


def _refuse_misaligned(others: list[str] | None, aligned: bool, model: str, *, background: bool) -> None:
    if not aligned:
        raise CallError(
            "several corpora are given; --aligned says that row i of all of them belongs together. Texts of one corpus "
            "lie in one file or folder."
        )
    if not others:
        raise CallError("--aligned is for two corpora or more, and one is given.")
    if model != "lda":
        raise CallError(f"--aligned learns the topics of LDA, and --model is {model!r}; leave it out.")
    if background:
        raise CallError("--background is for one corpus, and --aligned for several; leave one of them out.")


def refuse_lost_work(out: str | None, shown: Shown) -> None:
    """Refuse a call that would leave nothing of its work."""
    if out is None and shown.quiet and not shown.json:
        raise CallError("--quiet prints nothing and no -o FILE keeps the model, so nothing would be left; give one.")


def choose_fewer(estimator: Any, documents: int, words: int, output: Output) -> None:
    """Ask for fewer topics than the default where there are too few documents or words for so many, and say so."""
    possible = max(1, min(documents // 2 if documents > 3 else 2, words // 2, estimator.n_components))
    if documents > 2 and possible < estimator.n_components:  # fewer are an error of their own
        few = f"{documents:,} documents with {how_many(words, 'different words')} are too few"
        learned = "one is learned" if possible == 1 else f"{possible} are learned"
        output.note(f"Note: {few} for {estimator.n_components} topics; {learned}. -k asks for another number.")
        estimator.n_components = possible


def _nearly_all(topics: int, documents: int, *, advice: bool) -> str:
    """Say that there is hardly a subject for two documents each, and how many to ask for if nothing else says it."""
    fewer = documents // 4
    ask = f" Ask for {f'{fewer} or fewer' if fewer > 1 else 'one'} (-k), or give more documents." if advice else ""
    return (
        f"Note: {how_many(topics, 'topics')} of {how_many(documents, 'documents')} is hardly a subject for two "
        f"documents each: most topics are single documents.{ask}"
    )


def make_model(
    model: str, topics: int, polish: str, method: str, running: Running, *, background: bool = False
) -> TopicModel:
    """Make the model that the options ask for."""
    from polyad import models
    from polyad.decompose.orthogonal.registry import DIAGONALISERS

    if model not in _MODELS:
        raise CallError(f"--model is {model!r}; give lda, discrete-ica or single-topic.")
    if method not in DIAGONALISERS:
        raise CallError(f"--method is {method!r}; give one of {', '.join(DIAGONALISERS)}.")
    if not polish.isdecimal() and polish not in ("off", "fast", "full"):
        raise CallError(f"--polish is {polish!r}; give off, fast, full or a number of passes.")
    if background and model != "lda":
        raise CallError(f"--background is for --model lda, and --model is {model!r}; leave one of them out.")
    extra = {"background": True} if background else {}
    made: TopicModel = getattr(models, _MODELS[model])(
        topics,
        method=method,
        polish=int(polish) if polish.isdecimal() else polish,
        random_state=running.seed,
        n_jobs=running.jobs,
        **extra,
    )
    return made


def fitted(estimator: TopicModel, corpus: Corpus, output: Output, **options: Any) -> tuple[float, list[str]]:
    """Fit a model to a corpus, show how far it is, tell its warnings, and return the seconds and the warnings."""
    started = time.perf_counter()
    with output.noting() as notes, output.learning(f"Learning {how_many(estimator.n_components, 'topics')}"):
        estimator.fit(corpus, **options)
    return time.perf_counter() - started, notes


def plan_told(output: Output, *, always: bool) -> AbstractContextManager[None]:
    """Print what the fit of the body will need, before its work: always, or where it is worth waiting for."""
    from polyad.models.limits import FitPlan, hearing_plans

    def tell(plan: FitPlan) -> None:
        if not output.json and (always or plan.seconds >= LONG_SECONDS):
            output.facts([("Plan", str(plan))])

    return hearing_plans(tell)


def saved_facts(out: str | None) -> list[tuple[str, str]]:
    """Say where the model is, or that it is nowhere."""
    if out is None:
        return [("Model", "not kept; -o FILE keeps it")]
    return [("Model", file_note(out))]


def _time_facts(estimator: TopicModel, corpus: Corpus, seconds: float) -> list[tuple[str, str]]:
    report, documents = corpus.report, len(corpus)
    diagnostics = estimator.diagnostics_
    facts = [("Reading", rate(report.seconds_reading, documents))] if report.seconds_reading else []
    if report.seconds_splitting:
        facts.append(("Splitting", rate(report.seconds_splitting, documents)))
    facts.append(("Fitting", rate(seconds, documents)))
    if diagnostics.n_too_short:
        facts.insert(
            0,
            ("Short", _short(diagnostics.n_too_short)),
        )
    return facts


def _short(n_documents: int) -> str:
    if n_documents == 1:
        return "1 document has fewer than 3 words and teaches nothing about topics"
    return f"{n_documents:,} documents have fewer than 3 words and teach nothing about topics"


def _values(
    estimator: TopicModel, corpus: Corpus, topics: list[dict[str, Any]], seconds: float, out: str | None
) -> dict[str, Any]:
    report = corpus.report
    diagnostics = estimator.diagnostics_
    return {
        "model": None if out is None else str(out),
        "class": type(estimator).__name__,
        "n_components": estimator.n_components,
        "corpus": corpus_values(corpus),
        "too_short_documents": diagnostics.n_too_short,
        "topics": topics,
        "seconds": {
            "reading": report.seconds_reading,
            "splitting": report.seconds_splitting,
            "fitting": seconds,
            "steps": diagnostics.seconds,
        },
    }
