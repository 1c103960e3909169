"""Words of columns, in the forms that people have them."""

from collections.abc import Iterable, Mapping
from typing import Any

Vocabulary = Mapping[str, int] | Iterable[str]


def listed_words(vocabulary: Vocabulary) -> list[str]:
    """Return the word of every column as a list.

    Parameters
    ----------
    vocabulary
        The words in the order of the columns, a list, an array or a table's column; or a mapping from words to the
        numbers of their columns, such as ``CountVectorizer().vocabulary_``; or from the numbers to the words, such as
        a dictionary of gensim.

    Examples
    --------
    >>> listed_words({"rain": 1, "sun": 0})
    ['sun', 'rain']
    """
    if isinstance(vocabulary, str):
        raise ValueError(f"The vocabulary is the text {vocabulary[:40]!r}; give a list of words.")
    if not isinstance(vocabulary, Mapping):
        return [_text(word) for word in vocabulary]
    return _by_column(vocabulary)


def _text(word: Any) -> str:
    """Return a word as text; files of other libraries give bytes."""
    return word.decode() if isinstance(word, bytes) else str(word)


def _by_column(vocabulary: Mapping[Any, Any]) -> list[str]:
    """Return the words of a mapping in the order of their columns, or say which column has no word, or two."""
    by_number = all(not isinstance(key, str) for key in vocabulary)
    pairs = ((key, word) for key, word in vocabulary.items()) if by_number else ((n, w) for w, n in vocabulary.items())
    words = {int(number): _text(word) for number, word in pairs}
    missing = next((number for number in range(len(vocabulary)) if number not in words), None)
    if missing is not None:
        raise ValueError(
            f"The vocabulary has {len(vocabulary)} words and none for column {missing}: give every column from 0 up "
            "one word."
        )
    return [words[number] for number in range(len(words))]
