"""A corpus for a command: flags to options, progress shown, choices told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polyad.cli.options import Reading, Words, parse_bound, parse_ngrams
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output

if TYPE_CHECKING:
    from polyad.cli.pairs import Side, SideOutput
    from polyad.corpus import Corpus, TextOptions


def read_new_corpus(
    path: str, reading: Reading, words: Words, jobs: int | None, output: Output, *, plain: bool = False
) -> Corpus:
    """Read a corpus, choose its words, and tell what was chosen.

    Parameters
    ----------
    path, reading, words, jobs, output
        What the user asked for.
    plain
        Keep every word that the user did not ask to drop, rather than what is best for topics.
    """
    from polyad.corpus import CorpusSource
    from polyad.corpus.indexing.folder import is_indexed

    if is_indexed(path):
        return read_shards(path, words)
    source = CorpusSource(path, options=text_options(words, plain=plain), reading=reading.options(), n_jobs=jobs)
    with output.noting(), output.progress("Reading") as moved:
        corpus = source.corpus(moved)
    _tell_language(corpus, words, output)
    return corpus


def read_side(side: Side, words: Words, jobs: int | None, output: SideOutput) -> Corpus:
    """Read one of several corpora whose rows belong together; what is wrong with it is said with its name."""
    from polyad.corpus import CorpusError

    try:
        return read_new_corpus(side.path, side.reading, words, jobs, output)
    except CorpusError:
        raise  # it names the file
    except ValueError as error:
        raise ValueError(f"{side}: {error}") from error


def read_shards(path: str, words: Words) -> Any:
    """Return a folder of shards in the place of a corpus; its words were chosen when it was made."""
    from polyad.corpus import IndexedCorpus

    if words != Words():
        raise CallError(f"the words of {path} were chosen when it was indexed; give such options to polyad index.")
    return IndexedCorpus(path)


def read_for_model(path: str, reading: Reading, model: Any, jobs: int | None, output: Output) -> Corpus:
    """Read a corpus over the words of a model, text split as the model's own was."""
    from polyad.corpus import CorpusSource, IndexedCorpus
    from polyad.corpus.indexing.folder import is_indexed
    from polyad.models.text_sources import words_of

    if is_indexed(path):
        indexed: Any = IndexedCorpus(path)
        if indexed.words is None or indexed.vocabulary == words_of(model):
            return indexed
    source = CorpusSource(path, reading=reading.options(), n_jobs=jobs).over(words_of(model), model.text_options_)
    with output.noting(), output.progress("Reading") as moved:
        return source.corpus(moved)


def text_options(words: Words, *, plain: bool = False) -> TextOptions:
    """Translate flags to the options of the library; what no flag says is the library's own choice."""
    from polyad.corpus import TOPIC_WORDS, CorpusError, TextOptions

    if words.stem == "auto" and (words.stop_words == "none" or (plain and words.stop_words is None)):
        raise CallError("--stem auto needs a language, and none is named; name it, as in --stem english.")
    given: dict[str, Any] = {
        "min_df": None if words.min_df is None else parse_bound("--min-df", words.min_df),
        "max_df": None if words.max_df is None else parse_bound("--max-df", words.max_df),
        "max_features": words.max_features,
        "stop_words": words.stop_words,
        "stemming": words.stem,
        "ngrams": parse_ngrams(words.ngrams),
        "min_length": words.min_length,
        "numbers": "keep" if words.numbers else "drop",
        "tokenizer": words.tokenizer,
    }
    try:
        return replace(
            TextOptions() if plain else TOPIC_WORDS,
            **{name: value for name, value in given.items() if value is not None},
        )
    except CorpusError:
        raise  # a file of stop words is at fault, and not the call
    except ValueError as error:
        raise CallError(str(error)) from error


def _tell_language(corpus: Corpus, words: Words, output: Output) -> None:
    report = corpus.report
    if report.sampled and report.language is None:
        output.note(
            "No language was found in the text, so no stop words are dropped; name one, or a file of words, with "
            "--stop-words, or give --background to polyad fit, which learns them."
        )
    elif len(report.languages) > 1:
        output.note(
            "Note: the documents are in several languages, and topics then often are languages. The stop words of all "
            "of them are dropped; fit the documents of one language by themselves to see what they are about."
        )
    elif report.language in ("chinese", "japanese") and words.tokenizer == "words":
        output.note(
            f"The text seems to be {report.language}, whose words are not set apart; --tokenizer {report.language} "
            "splits it."
        )
