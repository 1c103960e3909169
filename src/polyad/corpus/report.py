"""What happened to the words on the way to a corpus."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from polyad.base.plurals import how_many
from polyad.corpus.documents import EXAMPLES, ReadReport
from polyad.corpus.words.tokens import TextOptions


@dataclass(frozen=True)
class Dropped:
    """Words left out for one reason.

    Parameters
    ----------
    words
        How many different words.
    tokens
        How many occurrences.
    examples
        The most frequent of them, long ones cut short.

    Examples
    --------
    >>> Dropped.from_totals({"the": 7, "of": 3})
    Dropped(words=2, tokens=10, examples=('the', 'of'))
    """

    words: int
    tokens: int
    examples: tuple[str, ...] = ()

    @classmethod
    def from_totals(cls, totals: Mapping[str, int]) -> "Dropped":
        """Summarise words with their numbers of occurrences."""
        ranked = sorted(totals, key=lambda word: (-totals[word], word))
        return cls(len(totals), sum(totals.values()), tuple(_shortened(word) for word in ranked[:EXAMPLES]))


def _shortened(word: str) -> str:
    return word if len(word) <= 80 else f"{word[:79]}…"


@dataclass(frozen=True)
class CorpusReport:
    """How a corpus came to be.

    Parameters
    ----------
    documents
        Rows of the corpus.
    tokens
        Occurrences of kept words, the sum of the counts.
    dropped
        Words left out, by reason: "stop words", "numbers", "short words", "rare words", "frequent words",
        "endless words" (over 131,072 characters), "beyond max_features", and "unknown words" where new text meets
        words that the vocabulary lacks.
    empty_documents
        Rows without any kept word; they stay.
    duplicate_ids
        Documents whose id an earlier one has; they stay.
    duplicate_examples
        The first such ids.
    reading
        What the reader met, where there was a file.
    seconds_reading, seconds_splitting
        Time spent on waiting for documents, and on splitting and counting.
    options
        How text was split and words were chosen, with everything settled that was left to "auto"; None of counts that
        were taken as they are.
    language
        The language of most documents; None where it was not looked for, or none was found.
    languages
        All languages that were found, and how many documents are in each; empty where only the first documents were
        looked at.
    sampled
        The number of documents in which a language was looked for.
    min_df
        The bound on document frequency that was chosen by the number of documents; None where it was given.

    Examples
    --------
    >>> print(CorpusReport(documents=2, tokens=5, dropped={"stop words": Dropped(1, 3, ("the",))}))
    2 documents, 5 words kept
    stop words dropped: 1 word, 3 occurrences (the)
    """

    documents: int = 0
    tokens: int = 0
    dropped: Mapping[str, Dropped] = field(default_factory=dict)
    empty_documents: int = 0
    duplicate_ids: int = 0
    duplicate_examples: tuple[str, ...] = ()
    reading: ReadReport | None = None
    seconds_reading: float = 0.0
    seconds_splitting: float = 0.0
    options: TextOptions | None = None
    language: str | None = None
    languages: tuple[tuple[str, int], ...] = ()
    sampled: int = 0
    min_df: int | None = None

    @property
    def tokens_found(self) -> int:
        """Occurrences of all words, kept or dropped."""
        return self.tokens + sum(drop.tokens for drop in self.dropped.values())

    def __str__(self) -> str:
        lines = [f"{how_many(self.documents, 'documents')}, {how_many(self.tokens, 'words')} kept"]
        if self.sampled:
            lines.append(f"language: {self.language or 'none'} found in {how_many(self.sampled, 'documents')}")
        if len(self.languages) > 1:
            found = (f"{name} in {how_many(number, 'documents')}" for name, number in self.languages)
            lines.append(f"languages: {', '.join(found)}")
        if self.min_df is not None:
            lines.append(f"words kept are in at least {how_many(self.min_df, 'documents')}, which their number decides")
        lines += [
            f"{reason} dropped: {how_many(drop.words, 'words')}, {how_many(drop.tokens, 'occurrences')} "
            f"({', '.join(drop.examples)})"
            for reason, drop in self.dropped.items()
        ]
        if self.empty_documents:
            lines.append(f"documents without any kept word: {self.empty_documents}")
        if self.duplicate_ids:
            lines.append(
                f"documents with the id of an earlier one: {self.duplicate_ids} ({', '.join(self.duplicate_examples)})"
            )
        if self.reading is not None and self.reading.bad:
            lines.append(f"bad records skipped: {self.reading.bad} (the first: {self.reading.bad_examples[0]})")
        return "\n".join(lines)
