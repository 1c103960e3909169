"""What a page shows of a document: the passage that says most about a topic, with the topic's words marked."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence

from scipy import sparse

from polyad.corpus.words.languages import stem_words
from polyad.corpus.words.tokens import TextOptions, cut_pieces, word_pattern, words_of_piece

CHARACTERS = 360
LOOKED_AT = 60_000  # characters of a document
LEAD = 40  # characters before the first marked word
WORDS = 24  # of a document without text

_KEPT = "\u200c\u200d"  # joiners are part of Persian and Indian words
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

# Plain text and marked text in turn, plain first.
Segments = list[str]


def visible(text: str, most: int | None = None) -> str:
    r"""Put text on one line, and make characters that hide or turn text around visible as a mark.

    Examples
    --------
    >>> visible("a\u202eb\n c\x00")
    'a\ufffdb c\ufffd'
    >>> visible("one two three", 8)
    'one two…'
    """
    if most is not None and len(text) > 4 * most:
        text = text[: 4 * most]
    if not (text.isascii() and text.isprintable()):
        text = "".join(_shown(character) for character in text)
    line = " ".join(text.split())
    return line if most is None or len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _shown(character: str) -> str:
    if character.isspace():
        return " "
    return "\ufffd" if unicodedata.category(character) in _HIDDEN and character not in _KEPT else character


def excerpt(text: str, words: Collection[str], options: TextOptions | None) -> Segments:
    """Return the passage with most of some words, these in every second place.

    Parameters
    ----------
    text
        The document.
    words
        What is marked, as it stands in the vocabulary; of runs of words each word.
    options
        How text was split.

    Examples
    --------
    >>> excerpt("The judge heard it. Judges and courts!", {"judge", "courts"}, None)
    ['The ', 'judge', ' heard it. Judges and ', 'courts', '!']
    """
    text = text[:LOOKED_AT]
    places = list(_marked(text, words, options or TextOptions()))
    begin = _densest(places)
    begin = 0 if begin <= LEAD else text.find(" ", begin - LEAD, begin) + 1 or begin
    end = begin + CHARACTERS
    if end < len(text):
        end = max(text.rfind(" ", begin + CHARACTERS // 2, end), begin) or end
        end = end if end > begin else begin + CHARACTERS
    segments = ["… " if begin else ""]
    at = begin
    for first, last in places:
        if at <= first and last <= end:
            segments[-1] += visible_piece(text[at:first])
            segments += [visible(text[first:last]), ""]
            at = last
    segments[-1] += visible_piece(text[at:end]) + (" …" if end < len(text) else "")
    return segments


def visible_piece(text: str) -> str:
    """Return text made visible, with a space where white space begins or ends it.

    Examples
    --------
    >>> visible_piece(" a  b")
    ' a b'
    """
    line = visible(text)
    if not line:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{line}{' ' if text[-1].isspace() else ''}"


def _densest(places: Sequence[tuple[int, int]]) -> int:
    """Return the beginning of the passage that has most marked words; the first of several."""
    best, best_count, last = 0, 0, 0
    for first, (begin, _) in enumerate(places):
        while last < len(places) and places[last][1] <= begin + CHARACTERS - LEAD:
            last += 1
        if last - first > best_count:
            best, best_count = begin, last - first
    return best


def _marked(text: str, words: Collection[str], options: TextOptions) -> Iterator[tuple[int, int]]:
    """Give the places of some words in a text, split as the model's was."""
    spelled = words_of_piece(options.lowercase, options.apostrophes)
    find = re.compile(word_pattern()).finditer
    wanted = set(_stems([part for word in words for part in word.split()], options))
    for start, piece in _pieces(text, options):
        for match in find(piece):
            if not wanted.isdisjoint(_stems(spelled(match.group()), options)):
                yield start + match.start(), start + match.end()


def _stems(words: Sequence[str], options: TextOptions) -> Sequence[str]:
    """Return words as they are compared: their stems, where forms of a word were counted together."""
    return words if options.stemming is None else stem_words(words, options.stemming)


def _pieces(text: str, options: TextOptions) -> Iterator[tuple[int, str]]:
    if options.tokenizer == "words":
        yield 0, text
        return
    at = 0
    for piece in cut_pieces(options.tokenizer)(text):
        found = text.find(piece, at)
        if found >= 0:
            yield found, piece
            at = found + len(piece)


def word_excerpt(row: sparse.csr_array, vocabulary: Sequence[str], marked: Collection[str]) -> Segments:
    """Return the most frequent words of a document that has no text, marked as in `excerpt`.

    Examples
    --------
    >>> word_excerpt(sparse.csr_array([[3, 0, 1]]), ["court", "tax", "rain"], {"court"})
    ['', 'court ×3', ', rain']
    """
    order = sorted(zip((-row.data).tolist(), row.indices.tolist()))[:WORDS]
    segments = [""]
    for place, (count, number) in enumerate(order):
        word = str(vocabulary[number])
        shown = visible(word, 60) + (f" ×{-count:g}" if count < -1 else "")
        segments[-1] += ", " if place else ""
        if word in marked:
            segments += [shown, ""]
        else:
            segments[-1] += shown
    return segments if segments[-1] or len(segments) == 1 else segments[:-1]
