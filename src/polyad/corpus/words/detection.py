"""Which language a text is in: the one whose stop words cover most of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from polyad.corpus.words.languages import load_stop_words
from polyad.corpus.words.tokens import TextOptions, split_words

__all__ = ["Language", "guess_language", "without_spaces"]

# Ordinary text is half stop words. Below this share it is a list, code, or a language that no list is of.
LEAST_SHARE = 0.25
# Kana, Han and Hangul apart: Korean has spaces between its words.
_NO_SPACES = (("\u3040", "\u30ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"))


@dataclass(frozen=True)
class Language:
    """A language and how sure it is.

    Parameters
    ----------
    name : str
        Its English name, or its code where there is none.
    share : float
        The share of all words that its stop words are.
    """

    name: str
    share: float


def guess_language(texts: Iterable[str]) -> Language | None:
    """Guess the language of texts; None where the stop words of no language cover enough of them.

    Examples
    --------
    >>> guess_language(["Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura"]).name
    'italian'
    >>> guess_language(["x1 y2 z3"]) is None
    True
    """
    try:
        import stopwordsiso
    except ImportError as error:
        raise ValueError(
            "the language of text is found by the lists of the package stopwordsiso; install it with: "
            "pip install 'polyad[cli]', or say which stop words to drop (stop_words='none' for no words)."
        ) from error
    options = TextOptions(min_length=2)
    counts = Counter(word for text in texts for word in split_words(text, options))
    total = sum(counts.values())
    if total == 0:
        return None
    found: list[tuple[float, str]] = []
    for code in sorted(stopwordsiso.langs()):
        known = stopwordsiso.stopwords(code)
        found.append((sum(count for word, count in counts.items() if word in known) / total, code))
    share, code = max(found, key=lambda item: item[0])
    if share < LEAST_SHARE:
        return None
    stop_words = load_stop_words(code)
    return Language(stop_words.source if stop_words is not None else code, share)


def without_spaces(texts: Iterable[str]) -> str | None:
    """Tell Chinese or Japanese, whose words are not set apart, by their characters.

    Examples
    --------
    >>> without_spaces(["我们的生活"]), without_spaces(["わたしの本"]), without_spaces(["text"])
    ('chinese', 'japanese', None)
    """
    sample = "".join(texts)[:100_000]
    in_scripts = [sum(first <= character <= last for character in sample) for first, last in _NO_SPACES]
    letters = sum(map(str.isalpha, sample))
    if sum(in_scripts) < 0.5 * max(letters, 1):
        return None
    return "japanese" if in_scripts[0] > 0.1 * sum(in_scripts) else "chinese"
