"""What a reader gives: documents, a report of what it met, and one kind of error."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from polyad.base.plurals import how_many

EXAMPLES = 5


class Document(NamedTuple):
    """One document: its name and its text.

    Parameters
    ----------
    id
        The name of the document: the path of a file in a folder, the value of the id column, or else the
        number of the document, from 0.
    text
        The text, as it stands in the file.

    Examples
    --------
    >>> Document("a.txt", "To be, or not to be").id
    'a.txt'
    """

    id: str
    text: str


class CorpusError(ValueError):
    """The data are at fault: a sentence with the file, the line where there is one, and what to do.

    Parameters
    ----------
    problem
        What is wrong and what to do about it.
    path
        The file.
    line
        The line (or row, or document) of the file, from 1.
    unit
        What `line` counts.

    Examples
    --------
    >>> print(CorpusError("the count is negative", path="docword.txt", line=7))
    docword.txt, line 7: the count is negative
    """

    def __init__(self, problem: str, *, path: str | None = None, line: int | None = None, unit: str = "line") -> None:
        self.problem = problem
        self.path = path
        self.line = line
        where = ", ".join(part for part in (path, f"{unit} {line}" if line is not None else None) if part)
        super().__init__(f"{where}: {problem}" if where else problem)


@dataclass(frozen=True)
class ReadReport:
    """What a reader met in its input.

    Parameters
    ----------
    documents
        Documents read.
    bad
        Malformed lines, rows or files that were skipped (only with ``skip_bad``).
    bad_examples
        The first of them, each a sentence with its place.
    empty
        Documents without any text; they are kept as empty rows.
    blank_lines
        Blank lines between the records of JSONL, CSV and count files; they are no documents.
    with_nul
        Documents with NUL characters, which separate words like any control character.
    hidden_files
        Files of a folder passed over because their name, or that of their folder, starts with a dot.
    format
        The format that was read, where it is one of text.
    suspicious
        Records that were read, but may be several: see `suspicious_examples`.
    suspicious_examples
        The first of them, each a sentence with its place.

    Examples
    --------
    >>> print(ReadReport(documents=3, empty=1))
    3 documents, of which 1 empty
    """

    documents: int = 0
    bad: int = 0
    bad_examples: tuple[str, ...] = ()
    empty: int = 0
    blank_lines: int = 0
    with_nul: int = 0
    hidden_files: int = 0
    format: str | None = None
    suspicious: int = 0
    suspicious_examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [how_many(self.documents, "documents")]
        parts += [f"of which {self.empty} empty"] if self.empty else []
        parts += [f"{self.with_nul} with NUL characters"] if self.with_nul else []
        if self.bad:
            parts.append(f"{how_many(self.bad, 'bad records')} skipped (the first: {self.bad_examples[0]})")
        parts += [f"{how_many(self.hidden_files, 'hidden files')} passed over"] if self.hidden_files else []
        parts += [f"{self.suspicious} suspicious (the first: {self.suspicious_examples[0]})"] if self.suspicious else []
        return ", ".join(parts)

    def warning(self) -> str | None:
        """Say what may have been lost, or None."""
        if not self.suspicious:
            return None
        more = f" (And {how_many(self.suspicious - 1, 'more such places')}.)" if self.suspicious > 1 else ""
        return f"{self.suspicious_examples[0]}{more}"


@dataclass
class Tally:
    """The running count behind a `ReadReport`, and the one place that decides between error and skipping."""

    skip_bad: bool = False
    documents: int = 0
    bad: int = 0
    bad_examples: list[str] = field(default_factory=list)
    empty: int = 0
    blank_lines: int = 0
    with_nul: int = 0
    hidden_files: int = 0
    format: str | None = None
    suspicious: int = 0
    suspicious_examples: list[str] = field(default_factory=list)

    def suspect(self, sentence: str) -> None:
        """Count a record that was read, but may not be what it seems."""
        self.suspicious += 1
        if len(self.suspicious_examples) < EXAMPLES:
            self.suspicious_examples.append(sentence)

    def reject(self, error: CorpusError) -> None:
        """Raise the error, or count it where bad records are to be skipped."""
        if not self.skip_bad:
            raise error
        self.bad += 1
        if len(self.bad_examples) < EXAMPLES:
            self.bad_examples.append(str(error))

    def document(self, name: str | None, text: str) -> Document:
        """Count a document; one without a name is called by its number, from 0."""
        number = self.documents
        self.documents += 1
        if not text or text.isspace():
            self.empty += 1
        elif "\0" in text:
            self.with_nul += 1
        return Document(str(number) if name is None else printable(name), text)

    def report(self) -> ReadReport:
        """Give the count so far."""
        return ReadReport(
            documents=self.documents,
            bad=self.bad,
            bad_examples=tuple(self.bad_examples),
            empty=self.empty,
            blank_lines=self.blank_lines,
            with_nul=self.with_nul,
            hidden_files=self.hidden_files,
            format=self.format,
            suspicious=self.suspicious,
            suspicious_examples=tuple(self.suspicious_examples),
        )


def printable(name: str) -> str:
    r"""Spell out what cannot be encoded (lone surrogates of odd file names), so that ids can be written.

    Examples
    --------
    >>> printable("caf\udce9.txt")
    'caf\\udce9.txt'
    """
    if name.isascii():
        return name
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def listed(names: Iterable[str], limit: int = 20) -> str:
    """Name the first few of many, for a message.

    Examples
    --------
    >>> listed(["id", "body"])
    "'id', 'body'"
    >>> listed("abc", limit=2)
    "'a', 'b' and 1 more"
    """
    every = list(names)
    shown = ", ".join(repr(name if len(name) <= 60 else name[:57] + "...") for name in every[:limit])
    return shown + (f" and {len(every) - limit} more" if len(every) > limit else "")
