"""The words that are best for topics, where the choice is left open: by the language, and by document frequency.

All documents tell their languages when their words have been counted. But n-grams are made of neighbouring kept words,
so that the stop words must be known before any are counted: there the first documents tell the language. They wait in
memory until it is known, and no text is read twice. How many documents a word must be in depends on their number, which
is known at the end.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from polyad.base.caller import warn_caller
from polyad.corpus.documents import Document
from polyad.corpus.words.detection import counted_texts, guess_language, languages_of
from polyad.corpus.words.languages import StopWords, check_stemmer, load_stop_words
from polyad.corpus.words.scripts import without_spaces
from polyad.corpus.words.tokens import TextOptions

TOPIC_WORDS = TextOptions(stop_words="auto", min_df="auto")

SAMPLE_DOCUMENTS = 200
SAMPLE_CHARACTERS = 4000  # of each document
SPREAD_DOCUMENTS, SPREAD_CHARACTERS = 1000, 500  # looked at all over the corpus, and of each
WAITING_CHARACTERS = 1 << 23  # of all that wait: a few long documents tell the language too


@dataclass(frozen=True)
class Beginning:
    """What the first documents decide."""

    options: TextOptions  # the options with the stop words and the stems settled
    language: str | None = None  # the language that was found
    sampled: int = 0  # the number of documents that were looked at; 0 where there was nothing to decide


def look_at_beginning(
    documents: Iterable[Document | str], options: TextOptions
) -> tuple[Beginning, Iterable[Document | str]]:
    """Settle by the first documents what the options leave to the language; return all documents, none lost.

    Examples
    --------
    >>> texts = iter(["the rain and the wind of the sea", "taxes"])
    >>> beginning, texts = look_at_beginning(texts, TextOptions(stop_words="auto"))
    >>> beginning.language, beginning.options.stop_words.source, len(list(texts))
    ('english', 'english', 2)
    """
    if options.stop_words != "auto":
        return Beginning(options), documents
    rest = iter(documents)
    waiting = list(_first(rest))
    language = find_language(_text(document)[:SAMPLE_CHARACTERS] for document in waiting)
    stop_words = load_stop_words(language)
    return Beginning(with_stop_words(options, stop_words), language, len(waiting)), chain(waiting, rest)


def begin_counting(
    documents: Iterable[Document | str], options: TextOptions
) -> tuple[Beginning, TextOptions, Iterable[Document | str]]:
    """Settle what must be known before the first word is counted; return how to count, and all documents.

    Stop words that are left to the languages of all documents are counted first, and told at the end. But runs of words
    are of those that are kept, which must be known before any is counted; and hashed words are known no more.

    Examples
    --------
    >>> beginning, counted, _ = begin_counting(["the rain"], TextOptions(stop_words="auto"))
    >>> beginning.options.stop_words, counted.stop_words
    ('auto', None)
    """
    if options.stop_words == "auto" and options.ngrams == (1, 1) and options.hashed is None:
        return Beginning(options), replace(options, stop_words=None, stemming=None), documents
    beginning, documents = look_at_beginning(documents, options)
    return beginning, beginning.options, documents


class SpreadSample:
    """Documents from all over a stream of unknown length: every one at first, later every second, fourth, ..."""

    def __init__(self, characters: int = SPREAD_CHARACTERS) -> None:
        self.texts: list[str] = []
        self._characters, self._stride = characters, 1

    def over(self, documents: Iterable[Document | str]) -> Iterator[Document | str]:
        """Pass documents on, keeping the beginnings of some."""
        for number, document in enumerate(documents):
            if number % self._stride == 0:
                self.texts.append(_text(document)[: self._characters])
                if len(self.texts) >= 2 * SPREAD_DOCUMENTS:
                    self.texts, self._stride = self.texts[::2], 2 * self._stride
            yield document

    def warn_of_others(self, beginning: Beginning) -> None:
        """Warn where documents are in other languages than the first ones, whose stop words were taken for all."""
        found = [language.name for language in languages_of(*counted_texts(self.texts))]
        others = [name for name in found if name != beginning.language]
        if others and without_spaces(self.texts) is None:
            warn_caller(
                f"The stop words are those of the first {beginning.sampled} documents ({beginning.language or 'no'} "
                f"language), and others are in {' and '.join(others)}. Name the language, or a file of stop words, "
                "with stop_words."
            )


def find_language(texts: Iterable[str]) -> str | None:
    """Give the language whose stop words suit texts: by their script where words are not set apart, else by the words.

    Examples
    --------
    >>> find_language(["le vent et la pluie sur la mer", "les impôts de la nation"])
    'french'
    >>> find_language(["我们的生活"])
    'chinese'
    """
    sample = list(texts)
    script = without_spaces(sample)
    if script is not None:
        return script
    found = guess_language(sample)
    return None if found is None else found.name


def default_min_df(n_documents: int) -> int:
    """Return in how many documents a word must be to tell something about topics: 2 to 50, with the root of N.

    Examples
    --------
    >>> [default_min_df(n) for n in (5, 100, 10_000, 1_000_000)]
    [1, 2, 5, 50]
    """
    return 1 if n_documents < 10 else int(min(max(2, round(n_documents**0.5 / 20)), 50))


def of_counts(options: TextOptions) -> TextOptions | None:
    """Give what options ask of counts, whose words were chosen by whoever made them; None where that is nothing.

    Examples
    --------
    >>> of_counts(TOPIC_WORDS) is None
    True
    >>> of_counts(TextOptions(stop_words="auto", max_df=0.5, min_length=3)) == TextOptions(max_df=0.5)
    True
    """
    asked = TextOptions(
        lowercase=options.lowercase,
        stop_words=None if options.stop_words == "auto" else options.stop_words,
        min_df=1 if options.min_df == "auto" else options.min_df,
        max_df=options.max_df,
        max_features=options.max_features,
    )
    return None if asked == TextOptions(lowercase=options.lowercase) else asked


def _first(documents: Iterator[Document | str]) -> Iterator[Document | str]:
    characters = 0
    for number, document in enumerate(documents, 1):
        yield document
        characters += len(_text(document))
        if number >= SAMPLE_DOCUMENTS or characters >= WAITING_CHARACTERS:
            return


def _text(document: Document | str) -> str:
    if isinstance(document, Document):
        return document.text
    return document if isinstance(document, str) else ""  # anything else is refused where it is counted


def with_stop_words(options: TextOptions, stop_words: StopWords | None) -> TextOptions:
    """Settle the stop words of options, and with them the stems that are left to their language."""
    if options.stemming != "auto":
        return replace(options, stop_words=stop_words)
    if stop_words is None:
        raise ValueError(
            "stems of the language of the text are asked for, and no language was found in it; name the language of "
            "the stems, such as english."
        )
    return replace(options, stop_words=stop_words, stemming=check_stemmer(stop_words.source.split(" and ")[0]))
