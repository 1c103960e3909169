"""Options that several commands share, in groups, each written once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from polyad.cli.terminal.errors import CallError

if TYPE_CHECKING:
    from polyad.corpus import ReadOptions

CorpusPath = Annotated[
    str,
    typer.Argument(
        metavar="CORPUS",
        help="A folder of texts; a file of lines, JSONL, CSV, TSV, Parquet, UCI, LDA-C, Matrix Market or npz "
        "(gzip, zstd, bzip2 and xz too); or - for standard input.",
    ),
]
ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, as fit writes it.")]

_MODEL, _INPUT, _WORDS, _OUTPUT = "Model", "Input", "Words", "Output"

NumberOfTopics = Annotated[
    int | None,
    typer.Option(
        "-k", "--topics", metavar="N", help="Number of topics.", show_default="20", min=1, rich_help_panel=_MODEL
    ),
]
KeptModel = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Keep the model in this file.", rich_help_panel=_MODEL),
]
Polish = Annotated[
    str,
    typer.Option(
        metavar="N", help="Rounds that improve the topics: off, fast, full or a number.", rich_help_panel=_MODEL
    ),
]


@dataclass(frozen=True)
class Reading:
    """How to read the corpus."""

    text_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column or field of the text.", show_default="text", rich_help_panel=_INPUT),
    ] = None
    id_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column or field of the ids.", show_default="id", rich_help_panel=_INPUT),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="folder, lines, jsonl, csv, tsv, parquet, uci, ldac, mtx or npz.",
            show_default="recognised",
            rich_help_panel=_INPUT,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Encoding of the text.", show_default="utf-8", rich_help_panel=_INPUT),
    ] = None
    errors: Annotated[
        str,
        typer.Option(
            metavar="HOW", help="Bytes not in the encoding: strict, replace or ignore.", rich_help_panel=_INPUT
        ),
    ] = "strict"
    pattern: Annotated[
        str | None,
        typer.Option(metavar="GLOB", help="Of a folder, only files so named, as '*.txt'.", rich_help_panel=_INPUT),
    ] = None
    vocabulary: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words of a count file, one per line.", rich_help_panel=_INPUT)
    ] = None
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip and count bad records, do not stop.", rich_help_panel=_INPUT)
    ] = False
    max_document_bytes: Annotated[
        int | None,
        typer.Option(metavar="N", help="Longest document.", show_default="64 MiB", min=1, rich_help_panel=_INPUT),
    ] = None
    max_announced: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Most documents or words of counts with few entries.",
            show_default="1,000,000",
            min=0,
            rich_help_panel=_INPUT,
        ),
    ] = None

    def files(self) -> list[str | None]:
        """Return the files that are read beside the corpus."""
        return [self.vocabulary]

    def options(self) -> ReadOptions:
        """Return the options of the reader."""
        from polyad.corpus import ReadOptions

        limits: dict[str, Any] = {"max_document_bytes": self.max_document_bytes, "max_announced": self.max_announced}
        try:
            return ReadOptions(
                format=self.format,  # type: ignore[arg-type]  # checked by ReadOptions itself
                text_column=self.text_column,
                id_column=self.id_column,
                encoding=self.encoding,
                errors=self.errors,
                pattern=self.pattern,
                vocabulary_file=self.vocabulary,
                skip_bad=self.skip_bad,
                **{name: value for name, value in limits.items() if value is not None},
            )
        except ValueError as error:
            raise CallError(str(error)) from error


@dataclass(frozen=True)
class Words:
    """How to make words of text. None is the command's own choice."""

    stop_words: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="LANGUAGE, FILE or none: drop the words of a language (english, en), of a file, or none.",
            show_default="function words of the languages of the text",
            rich_help_panel=_WORDS,
        ),
    ] = None
    min_df: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Drop words in fewer documents; 0.01 is 1%.",
            show_default="by size",
            rich_help_panel=_WORDS,
        ),
    ] = None
    max_df: Annotated[
        str | None, typer.Option(metavar="N", help="Drop words in more documents; 0.9 is 90%.", rich_help_panel=_WORDS)
    ] = None
    max_features: Annotated[
        int | None,
        typer.Option(metavar="N", help="Keep only so many words, the most frequent.", min=1, rich_help_panel=_WORDS),
    ] = None
    min_length: Annotated[int, typer.Option(metavar="N", help="Drop shorter words.", min=1, rich_help_panel=_WORDS)] = 2
    ngrams: Annotated[
        str, typer.Option(metavar="N", help="Count runs of up to N words; 2-3 is from 2 to 3.", rich_help_panel=_WORDS)
    ] = "1"
    stem: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="Count the forms of a word together; auto takes the language of the stop words.",
            rich_help_panel=_WORDS,
        ),
    ] = None
    numbers: Annotated[bool, typer.Option("--numbers", help="Keep numbers.", rich_help_panel=_WORDS)] = False
    tokenizer: Annotated[
        str, typer.Option(metavar="NAME", help="words, chinese or japanese.", rich_help_panel=_WORDS)
    ] = "words"

    def files(self) -> list[str | None]:
        """Return the files that are read for it."""
        return [self.stop_words]


@dataclass(frozen=True)
class Running:
    """How to run."""

    seed: Annotated[int, typer.Option(metavar="N", help="Seed of words held out; a fit draws nothing.", min=0)] = 0
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Cores; the result is the same.", show_default="all", min=1)
    ] = None


@dataclass(frozen=True)
class Shown:
    """What to print."""

    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for machines.", rich_help_panel=_OUTPUT)
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no messages.", rich_help_panel=_OUTPUT)] = False


def expand_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a group of options by the options themselves.

    Examples
    --------
    >>> def show(model: str, shown: Shown) -> None: ...
    >>> list(inspect.signature(expand_options(show)).parameters)
    ['model', 'json', 'quiet']
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if isinstance(kind, type) and is_dataclass(kind):
            groups[name] = kind
            parameters += _parameters_of(kind)
        else:
            parameters.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def expanded(**values: Any) -> None:
        made = {
            name: kind(**{item.name: values.pop(item.name) for item in fields(kind)}) for name, kind in groups.items()
        }
        command(**values, **made)

    # Paragraphs are wrapped by the terminal, and not where the source wraps them; the mark keeps the lines of an
    # example apart.
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    expanded.__doc__ = "\n\n".join(
        f"\b\n{text}" if text.startswith("For example:") else text.replace("\n", " ") for text in paragraphs
    )
    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return expanded


def _parameters_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            item.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if item.default is MISSING else item.default,
            annotation=hints[item.name],
        )
        for item in fields(group)
    ]


def parse_bound(name: str, text: str) -> int | float:
    """Read a number of documents, or a share of them.

    Examples
    --------
    >>> parse_bound("--min-df", "5"), parse_bound("--max-df", "0.5"), parse_bound("--max-df", "50%")
    (5, 0.5, 0.5)
    """
    try:
        value = float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text) if "." in text else int(text)
    except ValueError:
        value = -1
    if value < 0 or (isinstance(value, float) and value > 1):
        raise CallError(f"{name} is {text!r}; give a number of documents (5) or a share of them (0.05 or 5%).")
    return value


def parse_ngrams(text: str) -> tuple[int, int]:
    """Read the shortest and the longest n-gram.

    Examples
    --------
    >>> parse_ngrams("2"), parse_ngrams("2-3")
    ((1, 2), (2, 3))
    """
    first, dash, last = text.partition("-")
    try:
        shortest, longest = (int(first), int(last)) if dash else (1, int(first))
    except ValueError:
        shortest, longest = 0, 0
    if not 1 <= shortest <= longest <= 10:
        raise CallError(
            f"--ngrams is {text!r}; give the longest run of words (2), or the shortest and longest (2-3), up to 10."
        )
    return shortest, longest
