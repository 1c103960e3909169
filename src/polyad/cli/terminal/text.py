"""Text that is safe to print: words, ids and excerpts come from files that nobody has checked."""

import unicodedata

MAX_SENTENCE = 1000

# Part of Persian and Indian words; every other invisible character can hide or turn text around.
_JOINERS = "\u200c\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def clean(text: str) -> str:
    r"""Take out control, escape and invisible characters; white space becomes a space.

    Examples
    --------
    >>> clean("\x1b[31mred\x1b[0m\ttape\u202e")
    '[31mred[0m tape'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def shown(word: str, characters: int = 200) -> str:
    """Clean a word or an id for a terminal, and cut one that no person would read to its end.

    Examples
    --------
    >>> shown("budget"), shown("x" * 1000, 5)
    ('budget', 'xxxx…')
    """
    return clean(word if len(word) <= characters else f"{word[: characters - 1]}…")


def sentence(text: str) -> str:
    """Put a message on one line, and leave out its middle where something endless is quoted in it.

    Examples
    --------
    >>> len(sentence("x" * 10_000_000))
    1003
    """
    if len(text) > MAX_SENTENCE:
        half = MAX_SENTENCE // 2
        text = f"{text[:half]} … {text[-half:]}"
    return one_line(text)


def one_line(text: str) -> str:
    r"""Clean a text and put it on one line.

    Examples
    --------
    >>> one_line(" a\n  b ")
    'a b'
    """
    return " ".join(clean(text).split())


def shortened(text: str, characters: int) -> str:
    """Put the beginning of a text on one line, cut between words.

    Examples
    --------
    >>> shortened("to be or not to be", 10)
    'to be or …'
    """
    line = one_line(text[: 20 * characters])
    if len(line) <= characters and len(text) <= 20 * characters:
        return line
    cut = line[: max(characters - 1, 1)]
    head, space, _ = cut.rpartition(" ")
    return f"{head if space else cut} …" if space else f"{cut}…"


def _shown(character: str) -> str:
    if character.isspace():
        return " "
    if character in _JOINERS:
        return character
    return "" if unicodedata.category(character) in _HIDDEN else character
