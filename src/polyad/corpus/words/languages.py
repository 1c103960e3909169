"""Languages by name or code: stop words and stemmers from the libraries that keep them."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from polyad.corpus.documents import CorpusError
from polyad.corpus.words.function_words import function_words

_CODES = {
    "afrikaans": "af", "arabic": "ar", "armenian": "hy", "basque": "eu", "bengali": "bn", "breton": "br",
    "bulgarian": "bg", "catalan": "ca", "chinese": "zh", "croatian": "hr", "czech": "cs", "danish": "da",
    "dutch": "nl", "english": "en", "esperanto": "eo", "estonian": "et", "finnish": "fi", "french": "fr",
    "galician": "gl", "german": "de", "greek": "el", "gujarati": "gu", "hausa": "ha", "hebrew": "he",
    "hindi": "hi", "hungarian": "hu", "indonesian": "id", "irish": "ga", "italian": "it", "japanese": "ja",
    "korean": "ko", "kurdish": "ku", "latin": "la", "latvian": "lv", "lithuanian": "lt", "malay": "ms",
    "marathi": "mr", "nepali": "ne", "norwegian": "no", "persian": "fa", "polish": "pl", "portuguese": "pt",
    "romanian": "ro", "russian": "ru", "serbian": "sr", "sesotho": "st", "slovak": "sk", "slovenian": "sl",
    "somali": "so", "spanish": "es", "swahili": "sw", "swedish": "sv", "tagalog": "tl", "tamil": "ta",
    "thai": "th", "turkish": "tr", "ukrainian": "uk", "urdu": "ur", "vietnamese": "vi", "yiddish": "yi",
    "yoruba": "yo", "zulu": "zu",
}  # fmt: skip


@dataclass(frozen=True)
class StopWords:
    """A list of stop words and where it comes from.

    The words are part of the options and not only their language, so that a saved model treats new text alike
    whatever version of the library of lists is installed.

    Parameters
    ----------
    source
        A language, "file", or "given".
    words
        The words, sorted.

    Examples
    --------
    >>> StopWords("given", ("the", "and"))
    StopWords('given', 2 words)
    """

    source: str
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(sorted(set(self.words))))

    def __repr__(self) -> str:
        return f"StopWords({self.source!r}, {len(self.words)} words)"


def language_code(name: str) -> str:
    """Give the two-letter code of a language; a code stays as it is.

    Examples
    --------
    >>> language_code("French"), language_code("fr")
    ('fr', 'fr')
    """
    lowered = name.strip().lower()
    return _CODES.get(lowered, lowered)


def language_name(code: str) -> str:
    """Give the English name of a language by its code; the code where there is none.

    Examples
    --------
    >>> language_name("cs"), language_name("xx")
    ('czech', 'xx')
    """
    return next((name for name, known in _CODES.items() if known == code), code)


def load_stop_words(spec: str | os.PathLike[str] | Iterable[str] | StopWords | None) -> StopWords | None:
    """Load stop words: of a language (name or code), from a file with one word per line, or as given.

    Examples
    --------
    >>> load_stop_words(["the", "and", "the"])
    StopWords('given', 2 words)
    >>> load_stop_words("none") is None
    True
    """
    if spec is None or isinstance(spec, StopWords):
        return spec
    if not isinstance(spec, str | os.PathLike):
        words = tuple(spec)
        if not all(isinstance(word, str) for word in words):
            raise ValueError("stop_words must be words, a language, a file or None.")
        return StopWords("given", words)
    name = os.fspath(spec)
    if name.strip().lower() == "none":
        return None
    if isinstance(spec, str) and (words_of_language := _language_stop_words(name)):
        return words_of_language
    if Path(name).is_file():
        # Where the file lies is nobody's business: the words are what a model keeps.
        return StopWords("file", _read_word_list(name))
    raise ValueError(
        f"{name!r} is neither a language with a list of stop words nor a file; "
        f"use a name or code such as 'english' or 'en', the path of a file with one word per line, or 'none'."
    )


def stem_words(words: Sequence[str], language: str) -> list[str]:
    """Reduce words to their stems by the snowball algorithm of a language.

    Examples
    --------
    >>> stem_words(["running", "runs"], "english")
    ['run', 'run']
    """
    stems: list[str] = _stemmer(language).stemWords(list(words))
    return stems


def stem_terms(terms: Sequence[str], language: str) -> list[str]:
    """Return the stem of each term, of n-grams word by word."""
    words = list({word: None for term in terms for word in term.split(" ")})
    stem = dict(zip(words, stem_words(words, language)))
    return [" ".join(stem[word] for word in term.split(" ")) for term in terms]


def check_stemmer(language: str) -> str:
    """Give the name by which the stemmer knows a language, or say which there are.

    Examples
    --------
    >>> check_stemmer("fr")
    'french'
    """
    try:
        import snowballstemmer
    except ImportError as error:
        raise ValueError(
            "stemming needs the package snowballstemmer; install it with: pip install 'polyad[cli]'."
        ) from error
    names = {code: name for name, code in _CODES.items()}
    lowered = language.strip().lower()
    name = names.get(lowered, lowered)
    if name not in snowballstemmer.algorithms():
        known = ", ".join(sorted(snowballstemmer.algorithms()))
        raise ValueError(f"there is no stemmer for {language!r}; there are stemmers for {known}.")
    return name


@lru_cache(maxsize=8)
def _stemmer(language: str):  # type: ignore[no-untyped-def]
    import snowballstemmer

    return snowballstemmer.stemmer(check_stemmer(language))


def _language_stop_words(name: str) -> StopWords | None:
    code = language_code(name)
    try:
        import stopwordsiso
    except ImportError as error:
        if code in _CODES.values():
            raise ValueError(
                f"the stop words of {name!r} are in the package stopwordsiso; install it with: "
                "pip install 'polyad[cli]', or give a file of words or 'none'."
            ) from error
        return None
    if code not in stopwordsiso.langs():
        return None
    return StopWords(language_name(code), tuple(function_words(code)))


def _read_word_list(path: str) -> tuple[str, ...]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise CorpusError(f"the stop words cannot be read ({error}); the file must be UTF-8", path=path) from error
    return tuple(word for line in text.splitlines() if (word := line.strip()))
