"""Sources of text as data for models: read with words of their own for a fit, over a model's words afterwards."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from polyad.corpus import Corpus, CorpusError, CorpusSource, IndexedCorpus, TextOptions
from polyad.corpus.indexing.folder import is_indexed
from polyad.engine import Shards

__all__ = ["counted", "counted_over", "known_text", "known_words", "numbered_words", "words_of"]


def counted(X: Any) -> Any:
    """Return a source of text as a corpus with words of its own, for a fit, and anything else as it is."""
    return X.corpus() if isinstance(X, CorpusSource) else X


def counted_over(X: Any, words: Sequence[str] | None, n_words: int, options: TextOptions | None) -> Any:
    """Return a source of text as counts over the words of a fitted model, and anything else as it is.

    Parameters
    ----------
    X
        Data for a model.
    words, n_words
        The words of the model, None where it knows only their number.
    options
        How the text of the model was split.

    Returns
    -------
    iterator of Corpus
        Blocks of documents; the text of one is in memory at a time, and their counts go to disk where they are many.
    """
    if not isinstance(X, CorpusSource):
        return X
    blocks = iter(X.over(numbered_words(words, n_words), options))
    first = next(blocks, None)
    if first is None:
        raise CorpusError("there are no documents in it", path=str(X))
    return chain([first], blocks)


def known_text(X: Any) -> tuple[tuple[str, ...] | None, TextOptions | None]:
    """Return the words of a corpus, or of a list of parts of one, and how its text was split; None where not known."""
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
        raise ValueError("The parts of X were counted over different words. Count all of them over one vocabulary.")
    return parts[0].vocabulary, parts[0].report.options


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
