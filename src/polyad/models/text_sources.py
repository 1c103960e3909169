"""Documents with words as data for models: read with words of their own for a fit, over a model's words afterwards."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from polyad.corpus import Corpus, CorpusError, CorpusSource, IndexedCorpus, TextOptions
from polyad.corpus.indexing.folder import is_indexed
from polyad.engine import Shards, Source, count_blocks
from polyad.engine.checks import is_parts
from polyad.engine.inputs import (
    counts_of_bags,
    is_annotated,
    is_bags,
    is_lazy_frame,
    names_of_columns,
    refuse_texts,
)
from polyad.models.features import refuse_other_words, remember_columns

Words = tuple[str, ...] | None

OVER_KNOWN_WORDS = """count new ones over the words of the fit:
    X = vectorizer.transform(texts)  # of the vectorizer of the fit; or, of a model that keeps its words,
    X = polyad.corpus.count_words(texts, model.text_options_, vocabulary=model.vocabulary_)"""


class TextBlocks:
    """Blocks of documents that come one after the other; their words are known once they have passed."""

    def __init__(self, blocks: Iterable[Any]) -> None:
        self._blocks = blocks
        self.vocabulary: Words = None
        self.options: TextOptions | None = None

    def __iter__(self) -> Iterator[Any]:
        for number, block in enumerate(self._blocks):
            words, options = known_text(block)
            if number == 0:
                self.vocabulary, self.options = words, options
            elif words != self.vocabulary:
                _refuse_different_words()
            yield block


@dataclass(frozen=True)
class ReadBlocks:
    """Blocks that have been read, with what was learned of their words."""

    counts: Source
    vocabulary: Words
    options: TextOptions | None


def counted(X: Any, name: str = "X") -> Any:
    """Return data for a fit: a source of text as a corpus with words of its own, and anything else as it is.

    A folder of shards stays on disk. Blocks that come one after the other are followed, so that their words are known
    afterwards. Messages call the data by ``name``.
    """
    refuse_texts(X, name)
    if isinstance(X, CorpusSource):
        indexed = _indexed(X)
        return X.corpus() if indexed is None else indexed
    if is_lazy_frame(X):
        return X.collect()
    return TextBlocks(X) if _comes_in_turn(X) else X


def _indexed(X: CorpusSource) -> IndexedCorpus | None:
    """Return the shards that a source of text names, counted over their own words; None where it names none."""
    return IndexedCorpus(X.path) if X.vocabulary is None and is_indexed(X.path) else None


def read_once(X: Any) -> Any:
    """Return an iterator, which can be read only once, as what it holds, and anything else as it is."""
    if not hasattr(X, "__next__"):
        return X
    blocks = TextBlocks(X)
    counts = count_blocks(blocks)
    return ReadBlocks(counts, blocks.vocabulary, blocks.options)


def refuse_other_documents(views: Sequence[Any]) -> None:
    """Refuse corpora that have the same documents in different orders, as far as their names tell.

    Names that come twice are those of groups, and not of documents.
    """
    known = [(number, view.ids) for number, view in enumerate(views) if isinstance(view, Corpus)]
    for number, names in known[1:]:
        first, expected = known[0]
        if names != expected and len(names) == len(expected) == len(set(names)) and set(names) == set(expected):
            row = next(row for row, (a, b) in enumerate(zip(expected, names)) if a != b)
            raise ValueError(
                f"View {first} and view {number} have the same documents in different orders: row {row} is "
                f"{expected[row]!r} in the one and {names[row]!r} in the other. Row i of all views must belong "
                "together."
            )


def _comes_in_turn(X: Any) -> bool:
    is_known = isinstance(X, list | tuple | Source | Corpus | ReadBlocks | TextBlocks) or hasattr(X, "counts")
    return not is_known and is_parts(X)


def counted_over(
    X: Any, words: Sequence[str] | None, n_words: int, options: TextOptions | None, name: str = "X"
) -> Any:
    """Return new documents for a fitted model: a source of text, and bags of words, as counts over its words.

    Parameters
    ----------
    X
        Data for a model.
    words, n_words
        The words of the model, None where it knows only their number.
    options
        How the text of the model was split.
    name
        What messages call the data.

    Returns
    -------
    object
        Of a source of text blocks of documents; the text of one is in memory at a time, and their counts go to disk
        where they are many. Anything else as it is, blocks that come one after the other with their words followed.
    """
    refuse_texts(X, name, new=OVER_KNOWN_WORDS)
    if is_bags(X, may_be_empty=True):
        return counts_of_bags(X, n_words)
    if is_lazy_frame(X):
        return X.collect()
    if not isinstance(X, CorpusSource):
        return TextBlocks(X) if _comes_in_turn(X) else X
    indexed = _indexed(X)
    if indexed is not None and indexed.words == words:
        return indexed
    blocks = iter(X.over(numbered_words(words, n_words), options))
    first = next(blocks, None)
    if first is None:
        raise CorpusError("there are no documents in it", path=str(X))
    return chain([first], blocks)


def known_text(X: Any) -> tuple[Words, TextOptions | None]:
    """Return the words of a corpus, or of a list of parts of one, and how its text was split; None where not known."""
    if isinstance(X, TextBlocks | ReadBlocks):
        return X.vocabulary, X.options
    if is_annotated(X):
        return names_of_columns(X), None
    if isinstance(X, Shards) and is_indexed(X.path):
        X = IndexedCorpus(X.path)
    if isinstance(X, IndexedCorpus):
        return X.words, X.report.options
    parts = X if isinstance(X, list | tuple) else [X]
    if not any(isinstance(part, Corpus) for part in parts):
        words = getattr(X, "vocabulary", None)
        return words if isinstance(words, tuple) else None, None
    vocabularies = {part.vocabulary if isinstance(part, Corpus) else None for part in parts}
    if len(vocabularies) > 1:
        _refuse_different_words()
    return parts[0].vocabulary, parts[0].report.options


def known_columns(X: Any) -> tuple[Words, TextOptions | None]:
    """Return the words of a corpus, or of a table the names of its columns, and how its text was split."""
    words, options = known_text(X)
    return words if words is not None else names_of_columns(X), options


def _refuse_different_words() -> None:
    raise ValueError("The parts of X were counted over different words. Count all of them over one vocabulary.")


def remember_words(model: Any, X: Any, n_words: int, *, reset: bool) -> None:
    """Set or compare the words of a model of counts, and the number and names of its columns as scikit-learn does.

    Parameters
    ----------
    model
        The estimator: its ``vocabulary_``, ``text_options_``, ``n_features_in_`` and ``feature_names_in_``.
    X, n_words
        Data, and the number of their columns.
    reset
        Whether to set them, in a fit, or to compare.
    """
    words, options = known_text(X)
    if reset:
        # A corpus brings its words and how its text was split; those of an earlier fit are forgotten.
        model.vocabulary_, model.text_options_ = words, options
    elif words is not None and model.vocabulary_ is not None:
        refuse_other_words(words, model.vocabulary_)
    remember_columns(model, X, n_words, reset=reset)


def words_of(model: Any) -> tuple[str, ...]:
    """Return the words of a fitted topic model; their numbers where it was fitted on counts without words."""
    return numbered_words(known_words(model), model.n_features_in_)


def known_words(model: Any) -> Sequence[str] | None:
    """Return the words of a fitted topic model, those of its corpus or the names of its columns; None without any."""
    return model.vocabulary_ if model.vocabulary_ is not None else getattr(model, "feature_names_in_", None)


def numbered_words(words: Any, n_words: int) -> tuple[str, ...]:
    """Return words, or their numbers where none are known.

    Examples
    --------
    >>> numbered_words(None, 3)
    ('0', '1', '2')
    """
    return tuple(map(str, range(n_words) if words is None else words))
