"""`polyad convert`: a corpus as a file of word counts."""

from pathlib import Path
from typing import Annotated

import typer

from polyad.cli.files import check_output
from polyad.cli.options import CorpusPath, Reading, Running, Shown, Words
from polyad.cli.reading import read_new_corpus
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import corpus_facts, corpus_values


def convert(
    corpus: CorpusPath,
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", help="docword.NAME.txt (UCI), NAME.ldac (LDA-C), NAME.mtx or NAME.npz."),
    ],
    to: Annotated[
        str | None, typer.Option(metavar="NAME", help="uci, ldac, mtx or npz, where the name does not tell.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace words and ids of other counts that are in the way.")
    ] = False,
    *,
    reading: Reading,
    words: Words,
    running: Running,
    shown: Shown,
) -> None:
    """Count the words of a corpus, or turn counts from one format into another.

    All words are kept that no option drops: stop words too, unless --stop-words names a language. Files of the words
    and of the ids of the documents are written beside the counts, all of them or none. Those of other counts that have
    the same names are left alone, and nothing is written, unless --force is given.

    For example:
    polyad convert texts/ docword.texts.txt --stop-words english
    polyad convert docword.nips.txt.gz nips.mtx
    """
    from polyad.corpus import CorpusSource, write_corpus
    from polyad.corpus.formats.writers import OtherListError, check_target
    from polyad.corpus.indexing.folder import is_indexed

    output = Output(shown)
    check_output(out)
    try:
        check_target(out, to)  # type: ignore[arg-type]  # this is the check
    except ValueError as error:
        raise CallError(str(error)) from error
    for file in _files(out):
        # Without --force lists are only ever replaced by the same: counts may be converted beside themselves.
        inputs = [corpus, *reading.files(), *words.files()]
        check_output(str(file), inputs, pattern=reading.pattern, beside=force or file == Path(out))
    read = read_new_corpus(corpus, reading, words, running.jobs, output, plain=True)
    if is_indexed(corpus):  # counts are written from memory
        read = CorpusSource(corpus).corpus()
    try:
        files = write_corpus(read, out, to, overwrite=force)  # type: ignore[arg-type]
    except OtherListError as error:
        raise ValueError(f"{error}. --force replaces it.") from error
    if len(files) == 1 and not read.numbered:
        output.note(f"{out} is no file that others can lie beside: the words are not written.")
    if shown.json:
        output.result({"files": [str(file) for file in files], "corpus": corpus_values(read)})
    else:
        facts = corpus_facts(read)
        output.facts([*facts, ("Written", ", ".join(str(file) for file in files))])


def _files(out: str) -> list[Path]:
    from polyad.base.atomic import is_written_through
    from polyad.corpus.formats.writers import written_files

    return [Path(out)] if is_written_through(out) else written_files(out)
