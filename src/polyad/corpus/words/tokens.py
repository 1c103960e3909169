"""How text becomes words: the options, and the rule of what a word is."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Literal, get_args

from polyad.corpus.words.languages import StopWords, check_stemmer, load_stop_words

MAX_WORD = 1 << 17  # characters; data that is no text has "words" of millions
MAX_NGRAM = 10  # longer runs of words hardly ever come twice, and each length takes the room of the text again
Tokenizer = Literal["words", "chinese", "japanese"]

# Catalan l·l, and the apostrophes of keyboards and of typesetting; an underscore joins as in n_components.
_JOINERS = "'’·_"
_APOSTROPHES = str.maketrans("’ʼ", "''")
_SOFT_HYPHEN = "\u00ad"
_ELIDED = re.compile(
    # French and Catalan, then Italian: what loses its last vowel before the next word.
    r"^(?:[cdjlmnstv]|qu|jusqu|lorsqu|puisqu|quoiqu|"
    r"un|gl|ch|com|dov|quand|quell|quest|dell|all|dall|nell|sull|coll|agl|dagl|degl|negl|sugl)'(?=.)",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"(?<=.)'s$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How to split text into words and which words to keep.

    A word is a run of letters and digits of any script with their combining marks. Apostrophes, underscores
    and the Catalan middle dot join when they stand inside a word (``don't``, ``n_components``); everything
    else separates, hyphens too. Words are normalised (Unicode NFKC: accents composed, ligatures undone). What is
    longer than 131,072 characters is no word.

    What is left to "auto" is settled while text is read; ``report.options`` of the corpus are the same options with
    everything settled, and a model keeps those.

    Parameters
    ----------
    lowercase
        Fold to lower case.
    apostrophes
        "trim" removes an elided article or pronoun (``l'homme`` is homme, ``dell'arte`` arte) and the possessive
        (``Canada's`` is Canada) and writes all apostrophes alike; other contractions (``don't``) stay.
    numbers
        Whether to drop words without any letter.
    min_length
        Shorter words, in characters, are dropped.
    stop_words
        A language (``"english"``, ``"en"``), a file with one word per line, the words, or None. "auto" is the language
        that is found in the text when it is read.
    stemming
        A language: words with one snowball stem are counted together, under their most frequent form. "auto" is the
        language of the stop words.
    ngrams
        The shortest and longest sequence of kept words that is counted; (1, 2) is words and pairs. At most 10 words.
    min_df, max_df
        Words in fewer or more documents are dropped; a float is a share of the documents. The `min_df` "auto" is
        chosen by the number of documents (see `default_min_df`).
    max_features
        Keep only so many words, the most frequent.
    tokenizer
        How pieces are cut before the rule above applies: at white space, by jieba, or by fugashi (MeCab).
    hashed
        Count words in so many columns, each word in the one that its hash says, in place of a vocabulary: no word is
        ever new, and texts that are counted at different times have the same columns. Words that share a column are
        counted together, and topics show columns (``#42``) for words. The bounds above do not apply; stop words that
        are left to the language are those of the first documents.

    Examples
    --------
    >>> options = TextOptions(stop_words=["the", "of"], ngrams=(1, 2))
    >>> TextOptions.from_dict(options.to_dict()) == options
    True
    >>> split_words("The rights of l'homme don't expire in 2024.", options)
    ['rights', 'homme', "don't", 'expire', 'in']
    """

    lowercase: bool = True
    apostrophes: Literal["trim", "keep"] = "trim"
    numbers: Literal["drop", "keep"] = "drop"
    min_length: int = 2
    stop_words: Any = None
    stemming: str | None = None
    ngrams: tuple[int, int] = (1, 1)
    min_df: int | float | Literal["auto"] = 1
    max_df: int | float = 1.0
    max_features: int | None = None
    tokenizer: Tokenizer = "words"
    hashed: int | None = None

    def __post_init__(self) -> None:
        # The declared type is what a user may pass; what is stored is always StopWords, None or "auto".
        if not _is_auto(self.stop_words):
            object.__setattr__(self, "stop_words", load_stop_words(self.stop_words))
        object.__setattr__(self, "ngrams", tuple(self.ngrams))
        if not isinstance(self.lowercase, bool):
            raise ValueError(f"lowercase must be True or False, not {self.lowercase!r}.")
        _check_choice("apostrophes", self.apostrophes, ("trim", "keep"))
        _check_choice("numbers", self.numbers, ("drop", "keep"))
        _check_choice("tokenizer", self.tokenizer, get_args(Tokenizer))
        _check_whole("min_length", self.min_length)
        if self.max_features is not None:
            _check_whole("max_features", self.max_features)
        if self.hashed is not None:
            _check_whole("hashed", self.hashed)
        if len(self.ngrams) != 2 or not all(_is_whole(size) for size in self.ngrams):
            raise ValueError(f"ngrams must be two whole numbers such as (1, 2), not {self.ngrams!r}.")
        if not 1 <= self.ngrams[0] <= self.ngrams[1] <= MAX_NGRAM:
            raise ValueError(
                f"ngrams must go up from at least 1 to at most {MAX_NGRAM}, as (1, 2) does, not {self.ngrams!r}."
            )
        if not _is_auto(self.min_df):
            _check_bound("min_df", self.min_df)
        _check_bound("max_df", self.max_df)
        if self.stemming is not None:
            object.__setattr__(self, "stemming", self._stemmer(self.stemming))

    def _stemmer(self, language: str) -> str:
        if not _is_auto(language):
            return check_stemmer(language)
        if _is_auto(self.stop_words):
            return language
        if self.stop_words is None:
            raise ValueError("stems of the language of the stop words are asked for, and there are none; name it.")
        return check_stemmer(self.stop_words.source)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to "auto".

        Examples
        --------
        >>> TextOptions().is_settled, TextOptions(min_df="auto").is_settled
        (True, False)
        """
        return not any(map(_is_auto, (self.stop_words, self.stemming, self.min_df)))

    def to_dict(self) -> dict[str, Any]:
        """Give the options as plain JSON values, the stop words spelled out."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        plain["ngrams"] = list(self.ngrams)
        if self.hashed is None:
            del plain["hashed"]  # as in files of versions that did not know of it
        if isinstance(self.stop_words, StopWords):
            plain["stop_words"] = {"source": self.stop_words.source, "words": list(self.stop_words.words)}
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "TextOptions":
        """Make options from what `to_dict` gave; unknown names are an error that says so."""
        unknown = sorted(set(plain) - {item.name for item in fields(cls)})
        if unknown:
            raise ValueError(f"the text options {', '.join(map(repr, unknown))} are unknown to this version.")
        values = dict(plain)
        stop_words = values.get("stop_words")
        if isinstance(stop_words, Mapping):
            try:
                listed = load_stop_words(list(stop_words["words"]))
                values["stop_words"] = StopWords(str(stop_words["source"]), listed.words if listed else ())
            except (KeyError, TypeError) as error:
                raise ValueError("the stop words of the text options must have a source and words.") from error
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"the text options have a value of the wrong kind ({error}).") from error


@lru_cache(maxsize=1)
def word_pattern() -> str:
    """Give the rule of what a word is, as a regular expression.

    Examples
    --------
    >>> import re
    >>> re.findall(word_pattern(), "Noël’s n_components, well-known 'quotes' and हिन्दी")
    ['Noël’s', 'n_components', 'well', 'known', 'quotes', 'and', 'हिन्दी']
    """
    # Python's \\w leaves out combining marks, which would cut the words of most scripts of India in pieces.
    # All marks lie in these two ranges; scanning the rest of Unicode would only take time.
    codes = [*range(0x300, 0x1F000), *range(0xE0100, 0xE01F0)]
    marks = [code for code in codes if unicodedata.category(chr(code)).startswith("M")]
    # The joiners of zero width are part of Persian and Indian words.
    marks += [0x200C, 0x200D]
    # No letter, mark or joiner is one of the others, so that nothing is ever tried again: possessive repeats keep no
    # record of where they have been, which would take a kilobyte for every letter of a long word.
    letters = rf"(?:[^\W_]++[{_ranges(marks)}]*+)++"
    return rf"{letters}(?:[{_JOINERS}]++{letters})*+"


@lru_cache(maxsize=4)
def words_of_piece(lowercase: bool, apostrophes: str) -> Callable[[str], tuple[str, ...]]:
    """Give the function that makes words, not yet filtered, of a piece of text.

    It remembers the pieces it has seen, which are few in natural text; what it remembers is bounded.
    """
    find = re.compile(word_pattern()).findall
    trim = apostrophes == "trim"
    known: dict[str, tuple[str, ...]] = {}

    def words(piece: str) -> tuple[str, ...]:
        found = known.get(piece)
        if found is None:
            found = tuple(spell(piece))
            if len(piece) <= 40:
                if len(known) >= 200_000:
                    known.clear()
                known[piece] = found
        return found

    def spell(piece: str) -> list[str]:
        if piece.isascii():
            found: list[str] = [piece] if piece.isalnum() else find(piece)
        else:
            composed = unicodedata.normalize("NFC", piece.replace(_SOFT_HYPHEN, ""))
            # Some compatibility characters stand for several words, which the second search takes apart.
            found = [word for raw in find(composed) for word in find(unicodedata.normalize("NFKC", raw))]
        if lowercase:
            found = [word.lower() for word in found]
        return [_trim(word) for word in found] if trim else found

    return words


def split_words(text: str, options: TextOptions | None = None) -> list[str]:
    """Split one text into the words that are kept, in their order, before stemming and n-grams.

    Examples
    --------
    >>> split_words("Dell'arte, co-operation & Čapek's R.U.R. (1920)")
    ['arte', 'co', 'operation', 'čapek']
    """
    options = options or TextOptions()
    words = words_of_piece(options.lowercase, options.apostrophes)
    reason = drop_reason(options)
    found = (word for piece in cut_pieces(options.tokenizer)(text) for word in words(piece))
    return [word for word in found if reason(word) is None]


def drop_reason(options: TextOptions) -> Callable[[str], str | None]:
    """Give the function that tells why a word is dropped, or None where it is kept."""
    stop_words: StopWords | None = options.stop_words
    if _is_auto(stop_words):
        raise ValueError(
            "stop_words is 'auto', the language of the text, which is found where a whole corpus is read (read_corpus, "
            "count_words); name the language here."
        )
    stop = frozenset(
        word
        for entry in (stop_words.words if stop_words else ())
        for word in _spellings(unicodedata.normalize("NFKC", entry), options.lowercase)
    )
    drop_numbers, min_length = options.numbers == "drop", options.min_length

    def reason(word: str) -> str | None:
        if word in stop:
            return "stop words"
        if drop_numbers and not any(map(str.isalpha, word)):
            return "numbers"
        if len(word) > MAX_WORD:
            return "endless words"
        return "short words" if len(word) < min_length else None

    return reason


def _spellings(entry: str, lowercase: bool) -> tuple[str, ...]:
    cased = entry.lower() if lowercase else entry
    return (cased, cased.translate(_APOSTROPHES))


def cut_pieces(tokenizer: str) -> Callable[[str], list[str]]:
    """Give the function that cuts text into pieces in which the rule of words then finds the words."""
    if tokenizer == "words":
        # Words never contain white space, so each distinct piece needs to be looked at only once: see counting.
        return str.split
    return _chinese() if tokenizer == "chinese" else _japanese()


@lru_cache(maxsize=1)
def _chinese() -> Callable[[str], list[str]]:
    try:
        import jieba
    except ImportError as error:
        raise ValueError("splitting Chinese needs the package jieba; install it with: pip install jieba.") from error
    jieba.setLogLevel("WARNING")
    cut: Callable[[str], list[str]] = jieba.lcut
    return cut


@lru_cache(maxsize=1)
def _japanese() -> Callable[[str], list[str]]:
    try:
        import fugashi

        tagger = fugashi.Tagger()
    except (ImportError, RuntimeError) as error:
        raise ValueError(
            "splitting Japanese needs the package fugashi and a dictionary; install them with: "
            "pip install fugashi unidic-lite."
        ) from error

    def cut(text: str) -> list[str]:
        return [str(word.surface) for word in tagger(text)]

    return cut


def _trim(word: str) -> str:
    if not word.isascii():
        word = word.translate(_APOSTROPHES)
    return _POSSESSIVE.sub("", _ELIDED.sub("", word)) if "'" in word else word


def _ranges(codes: list[int]) -> str:
    """Write code points as the inside of a character class."""
    parts: list[str] = []
    start = previous = codes[0]
    for code in [*codes[1:], -1]:
        if code != previous + 1:
            parts.append(f"{chr(start)}-{chr(previous)}")
            start = code
        previous = code
    return "".join(parts)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == "auto"


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}.")


def _check_whole(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}.")


def _check_bound(name: str, value: object) -> None:
    fine = (_is_whole(value) and value >= 0) or (isinstance(value, float) and 0 <= value <= 1)  # type: ignore[operator]
    if not fine:
        raise ValueError(
            f"{name} must be a number of documents (a whole number) or a share of them (0.0 to 1.0), not {value!r}."
        )
