"""Totals of more terms than memory holds, and the choice of words among them."""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polyad.corpus.documents import EXAMPLES
from polyad.corpus.report import Dropped
from polyad.corpus.words.choices import default_min_df
from polyad.corpus.words.tokens import TextOptions

MOST_IN_MEMORY = 2_000_000  # terms, some 150 bytes each


class Term(NamedTuple):
    """A term, the documents it is in, and its occurrences."""

    name: str
    documents: int
    tokens: int


class Totals:
    """Adds up documents and occurrences of terms; what does not fit in memory waits in sorted files.

    Parameters
    ----------
    folder
        Where the files go, if any are needed.
    most
        Terms in memory.

    Examples
    --------
    >>> import tempfile
    >>> totals = Totals(Path(tempfile.mkdtemp()), most=1)
    >>> totals.add(["b", "a"], [1, 1], [3, 1])
    >>> totals.add(["b"], [1], [2])
    >>> list(totals)
    [Term(name='a', documents=1, tokens=1), Term(name='b', documents=2, tokens=5)]
    """

    def __init__(self, folder: Path, most: int = MOST_IN_MEMORY) -> None:
        self.folder, self.most = folder, most
        self._known: dict[str, tuple[int, int]] = {}
        self._runs: list[Path] = []

    def add(self, names: Iterable[str], documents: Iterable[int], tokens: Iterable[int]) -> None:
        """Add the totals of a part of the corpus."""
        known = self._known
        for name, in_documents, occurrences in zip(names, documents, tokens):
            before = known.get(name)
            known[name] = (
                (in_documents, occurrences) if before is None else (before[0] + in_documents, before[1] + occurrences)
            )
        if len(known) > self.most:
            self._spill()

    def _spill(self) -> None:
        self.folder.mkdir(exist_ok=True)
        file = self.folder / f"terms-{len(self._runs):05d}.txt"
        with file.open("w", encoding="utf-8", newline="\n") as out:
            # Terms hold no tabs and no ends of lines: words are cut at white space, and joined by one blank.
            out.writelines(f"{term.name}\t{term.documents}\t{term.tokens}\n" for term in self._in_memory())
        self._runs.append(file)
        self._known = {}

    def _in_memory(self) -> Iterator[Term]:
        return (Term(name, *self._known[name]) for name in sorted(self._known))

    def __iter__(self) -> Iterator[Term]:
        """Yield every term once, sorted."""
        runs = [_read(run) for run in self._runs]
        for name, parts in groupby(heapq.merge(self._in_memory(), *runs), key=lambda term: term.name):
            documents = tokens = 0
            for part in parts:
                documents, tokens = documents + part.documents, tokens + part.tokens
            yield Term(name, documents, tokens)


def _read(run: Path) -> Iterator[Term]:
    with run.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            name, documents, tokens = line.rstrip("\n").split("\t")
            yield Term(name, int(documents), int(tokens))


class _Tally:
    """Words left out for one reason, of which the most frequent few are kept."""

    def __init__(self) -> None:
        self.words = self.tokens = 0
        self._top: list[tuple[int, str]] = []

    def add(self, name: str, tokens: int) -> None:
        self.words += 1
        self.tokens += tokens
        if len(self._top) < EXAMPLES or (-tokens, name) < self._top[-1]:
            self._top = sorted([*self._top, (-tokens, name)])[:EXAMPLES]

    def dropped(self) -> Dropped:
        examples = Dropped.from_totals({name: -negative for negative, name in self._top}).examples
        return Dropped(self.words, self.tokens, examples)


class Choice(NamedTuple):
    """The words of a vocabulary in their order, the terms counted there, and what was left out.

    ``counted_as`` has for every word that is counted its term, which may be a stem; where it is None, all terms are
    counted as themselves.
    """

    words: tuple[str, ...]
    terms: tuple[str, ...]
    dropped: dict[str, Dropped]
    counted_as: dict[str, str] | None = None


def choose(
    totals: Iterable[Term], n_documents: int, options: TextOptions, named: Mapping[str, str] | None = None
) -> Choice:
    """Choose words by document frequency, and sort them; see :func:`polyad.corpus.words.vocabulary.choose_words`.

    Parameters
    ----------
    totals
        All terms.
    n_documents
        Of the corpus.
    options
        The bounds.
    named
        The words that terms are called by, where these are stems.

    Examples
    --------
    >>> choose([Term("a", 2, 2), Term("rare", 1, 1)], 2, TextOptions(min_df=2)).words
    ('a',)
    """
    least, most = _documents(options.min_df, n_documents), _documents(options.max_df, n_documents)
    name_of = (lambda name: name) if named is None else named.__getitem__
    limit = np.inf if options.max_features is None else options.max_features
    tallies = {reason: _Tally() for reason in ("rare words", "frequent words", "beyond max_features")}
    kept: list[tuple[int, _Last]] = []  # a heap whose first is the least frequent one, the last by name of equals
    for term in totals:
        word = name_of(term.name)
        if term.documents < least:
            tallies["rare words"].add(word, term.tokens)
        elif term.documents > most:
            tallies["frequent words"].add(word, term.tokens)
        else:
            heapq.heappush(kept, (term.tokens, _Last((word, term.name))))
            if len(kept) > limit:
                tokens, last = heapq.heappop(kept)
                tallies["beyond max_features"].add(last.key[0], tokens)
    ordered = sorted(last.key for _, last in kept)
    dropped = {reason: tally.dropped() for reason, tally in tallies.items() if tally.words}
    return Choice(tuple(word for word, _ in ordered), tuple(term for _, term in ordered), dropped)


class _Last:
    """Compares the other way round."""

    def __init__(self, key: tuple[str, str]) -> None:
        self.key = key

    def __lt__(self, other: "_Last") -> bool:
        return self.key > other.key


def look_up(
    totals: Iterable[Term], vocabulary: Iterable[str], terms: Iterable[str], *, stemmed: bool = False
) -> Choice:
    """Take the words of a given vocabulary, counted under given terms, and tell what it lacks.

    Where ``stemmed``, the totals are of words with their stems in front: a stem, a zero and a word.
    """
    words, keys = tuple(vocabulary), tuple(terms)
    known, lost = set(keys), _Tally()
    for term in totals:
        key, word = term.name.split("\0", 1) if stemmed else (term.name, term.name)
        if key not in known:
            lost.add(word, term.tokens)
    return Choice(words, keys, {"unknown words": lost.dropped()} if lost.words else {})


def dropped_words(totals: Iterable[Term]) -> dict[str, Dropped]:
    r"""Sum up what was left out in splitting, from terms that are a reason, a zero and a word.

    Examples
    --------
    >>> dropped_words([Term("numbers\x0012", 1, 3)])
    {'numbers': Dropped(words=1, tokens=3, examples=('12',))}
    """
    tallies: dict[str, _Tally] = {}
    for term in totals:
        reason, _, word = term.name.partition("\0")
        tallies.setdefault(reason, _Tally()).add(word, term.tokens)
    return {reason: tally.dropped() for reason, tally in sorted(tallies.items())}


def _documents(bound: int | float | str, n_documents: int) -> float:
    if isinstance(bound, str):
        return default_min_df(n_documents)
    return bound * n_documents if isinstance(bound, float) else bound
