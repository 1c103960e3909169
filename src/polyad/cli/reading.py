"""A corpus for a command: options chosen with the data in view, progress shown, choices told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from polyad.cli.errors import CallError
from polyad.cli.options import Reading, Words, parse_bound, parse_ngrams
from polyad.cli.output import Output
from polyad.cli.source import Look, look_into

if TYPE_CHECKING:
    from polyad.corpus import Corpus, TextOptions

__all__ = ["ReadCorpus", "chosen_options", "read_for_model", "read_new_corpus"]


@dataclass(frozen=True)
class ReadCorpus:
    """A corpus and how it was made.

    Parameters
    ----------
    corpus : Corpus
        The counts.
    options : TextOptions or None
        How its text was split; None of counts that were taken as they are.
    language : str or None
        The language that was found in the text, where it was looked for.
    """

    corpus: Corpus
    options: TextOptions | None
    language: str | None


def read_new_corpus(
    path: str, reading: Reading, words: Words, jobs: int | None, output: Output, *, plain: bool = False
) -> ReadCorpus:
    """Read a corpus and choose its words.

    Parameters
    ----------
    path, reading, words, jobs, output
        What the user asked for.
    plain : bool
        Keep every word that the user did not ask to drop, rather than what is best for topics.
    """
    from polyad.corpus import filter_words, read_corpus

    read_options = reading.options()
    with look_into(path, read_options) as look:
        options, language = chosen_options(look, words, output, plain=plain)
        # The bounds on document frequency depend on the number of documents, which is known at the end.
        everything = None if options is None else replace(options, min_df=1, max_df=1.0, max_features=None)
        with output.progress("Reading") as moved:
            corpus = read_corpus(path, everything, reading=read_options, n_jobs=jobs, progress=moved)
    if options is not None:
        min_df, max_df = options.min_df, options.max_df
        if words.min_df is None and not plain and not look.counts:
            min_df = default_min_df(len(corpus))
        options = replace(options, min_df=min_df, max_df=max_df)
        corpus = filter_words(corpus, options)
    if len(corpus.vocabulary) == 0:
        raise ValueError(
            f"not one word of the {len(corpus):,} documents is left; lower --min-df or raise --max-df, and see what "
            f"was dropped: {_reasons(corpus)}."
        )
    return ReadCorpus(corpus, options, language)


def read_for_model(path: str, reading: Reading, model: Any, jobs: int | None, output: Output) -> Corpus:
    """Read a corpus over the words of a model, text split as the model's own was."""
    from polyad.corpus import read_corpus

    with output.progress("Reading") as moved:
        return read_corpus(
            path,
            model.text_options_,
            reading=reading.options(),
            vocabulary=words_of(model),
            n_jobs=jobs,
            progress=moved,
        )


def words_of(model: Any) -> tuple[str, ...]:
    """Return the words of a model; their numbers where it was fitted on counts without words."""
    names = model.vocabulary_ if model.vocabulary_ is not None else getattr(model, "feature_names_in_", None)
    return tuple(map(str, range(model.n_features_in_))) if names is None else tuple(map(str, names))


def chosen_options(
    look: Look, words: Words, output: Output, *, plain: bool = False
) -> tuple[TextOptions | None, str | None]:
    """Choose how to split text, in view of how it begins, and tell what was chosen."""
    from polyad.corpus import TextOptions

    given = {
        "min_df": None if words.min_df is None else parse_bound("--min-df", words.min_df),
        "max_df": None if words.max_df is None else parse_bound("--max-df", words.max_df),
        "max_features": words.max_features,
        "stop_words": words.stop_words,
    }
    given = {name: value for name, value in given.items() if value is not None}
    ngrams = parse_ngrams(words.ngrams)
    if look.counts:
        # Counts were made by somebody who chose the words.
        return (_made(TextOptions, **given) if given else None), None
    language = None
    if words.stop_words is None and not plain:
        language = _found_language(look, words, output)
        given["stop_words"] = language
    stemming = words.stem
    if stemming == "auto":
        stemming = language if words.stop_words is None else words.stop_words
        if stemming is None or stemming == "none":
            raise CallError("--stem auto needs a language, and none was found; name it, as in --stem english.")
    options = _made(
        TextOptions,
        **given,
        ngrams=ngrams,
        min_length=words.min_length,
        stemming=stemming,
        numbers="keep" if words.numbers else "drop",
        tokenizer=words.tokenizer,
    )
    return options, language


def default_min_df(n_documents: int) -> int:
    """Return in how many documents a word must be to tell something about topics: 2 to 50, with the root of N.

    Examples
    --------
    >>> [default_min_df(n) for n in (5, 100, 10_000, 1_000_000)]
    [1, 2, 5, 50]
    """
    return 1 if n_documents < 10 else int(min(max(2, round(n_documents**0.5 / 20)), 50))


def _found_language(look: Look, words: Words, output: Output) -> str | None:
    from polyad.cli.language import guess_language, without_spaces

    script = without_spaces(look.texts)
    if script is not None and words.tokenizer == "words":
        output.note(f"The text seems to be {script}, whose words are not set apart; --tokenizer {script} splits it.")
        return script
    language = guess_language(look.texts)
    if language is None and look.texts:
        output.note("No language was found in the text, so no stop words are dropped; name one with --stop-words.")
    return None if language is None else language.name


def _made(options: Any, **values: Any) -> Any:
    try:
        return options(**values)
    except OSError:
        raise
    except ValueError as error:
        from polyad.corpus import CorpusError

        if isinstance(error, CorpusError):
            raise
        raise CallError(str(error)) from error


def _reasons(corpus: Corpus) -> str:
    return ", ".join(f"{drop.words:,} {reason}" for reason, drop in corpus.report.dropped.items()) or "nothing"
