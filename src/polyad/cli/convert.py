"""`polyad convert`: a corpus as a file of word counts."""

from __future__ import annotations

from typing import Annotated

import typer

from polyad.cli.errors import CallError
from polyad.cli.files import check_writable
from polyad.cli.options import CorpusPath, Reading, Running, Shown, Words
from polyad.cli.output import Output
from polyad.cli.reading import read_new_corpus
from polyad.cli.summary import corpus_facts, corpus_values

__all__ = ["convert"]


def convert(
    corpus: CorpusPath,
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", help="docword.NAME.txt (UCI), NAME.ldac (LDA-C), NAME.mtx or NAME.npz."),
    ],
    to: Annotated[
        str | None, typer.Option(metavar="NAME", help="uci, ldac, mtx or npz, where the name does not tell.")
    ] = None,
    *,
    reading: Reading,
    words: Words,
    running: Running,
    shown: Shown,
) -> None:
    """Count the words of a corpus, or turn counts from one format into another.

    All words are kept that no option drops: stop words too, unless --stop-words names a language. Files of the words
    and of the ids of the documents are written beside the counts.

    For example:
    polyad convert texts/ docword.texts.txt --stop-words english
    polyad convert docword.nips.txt.gz nips.mtx
    """
    from polyad.corpus import write_corpus

    output = Output(shown)
    check_writable(out)
    read = read_new_corpus(corpus, reading, words, running.jobs, output, plain=True)
    try:
        files = write_corpus(read, out, to)  # type: ignore[arg-type]  # checked by write_corpus itself
    except ValueError as error:
        raise error if isinstance(error, _data_errors()) else CallError(str(error)) from error
    if shown.json:
        output.result({"files": [str(file) for file in files], "corpus": corpus_values(read)})
    else:
        facts = corpus_facts(read)
        output.facts([*facts, ("Written", ", ".join(str(file) for file in files))])


def _data_errors() -> type[Exception]:
    from polyad.corpus import CorpusError

    return CorpusError
