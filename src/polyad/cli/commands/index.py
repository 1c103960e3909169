"""`polyad index`: documents larger than memory, counted to a folder of shards; and what is in such a folder."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyad.base.plurals import how_many
from polyad.cli.options import Reading, Running, Shown, Words
from polyad.cli.reading import text_options
from polyad.cli.scaling import Clustered
from polyad.cli.terminal.errors import CallError
from polyad.cli.terminal.output import Output
from polyad.cli.terminal.summary import corpus_facts, corpus_values, rate, size

if TYPE_CHECKING:
    from polyad.corpus import IndexedCorpus


def index(
    corpus: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS",
            help="Files, folders, patterns as '*.jsonl.gz', or - for standard input. A folder of Parquet, JSONL, CSV "
            "or TSV files is these tables, any other the texts in it.",
        ),
    ],
    out: Annotated[str, typer.Option("-o", "--output", metavar="FOLDER", help="The folder to write.")],
    only: Annotated[
        str | None, typer.Option("--only-words", metavar="FILE", help="Count these words only, one on each line.")
    ] = None,
    hashed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Hash words to N columns, in place of a vocabulary.", min=1),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Throw away what an interrupted call has counted.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the shards that are there.")] = False,
    *,
    reading: Reading,
    words: Words,
    clustered: Clustered,
    running: Running,
    shown: Shown,
) -> None:
    """Count a corpus larger than memory to a folder on disk, which fit, transform, evaluate and select take.

    The input is read once, in bounded memory. After Ctrl-C, a power cut or a full disk the same call goes on where it
    was, and ends with the same bytes. Words are chosen as by fit.

    For example:
    polyad index texts/ -o corpus.shards
    polyad index 'parts/*.jsonl.zst' -o corpus.shards --text-column body
    zcat big.txt.gz | polyad index - -o corpus.shards
    polyad index 'parts/*.jsonl.zst' -o corpus.shards --scheduler tcp://host:8786
    polyad fit corpus.shards -k 100 -o model.polyad
    """
    from polyad.corpus import index as index_corpus
    from polyad.corpus.formats.sidecars import read_names
    from polyad.corpus.indexing.index import work_folder

    output = Output(shown)
    clustered.check_cluster()
    target = Path(os.path.abspath(out))
    if target.exists() and not force:
        raise CallError(f"{out} is there already; give another name, or --force to replace shards.")
    if not restart and any(work_folder(target).glob("chunks/chunk-*.npz")):
        output.note(f"Going on with what was counted before ({work_folder(target)}); --restart begins anew.")
    if hashed is not None:
        if only is not None:
            raise CallError("--only-words gives the words, and --hashed does without; give one of them.")
        output.note(
            f"Words are hashed to {hashed:,} columns: those that share one are counted together, and topics show "
            "columns (#42) for words. In return no word is ever new to a model."
        )
    started = time.perf_counter()
    with output.noting() as notes, output.progress("Counting") as moved, clustered.cluster():
        found: Any = index_corpus(
            corpus,
            target,
            replace(text_options(words), hashed=hashed),
            reading=reading.options(),
            vocabulary=None if only is None else read_names(only),
            n_jobs=running.jobs,
            restart=restart,
            overwrite=force,
            progress=moved,
        )
    seconds = time.perf_counter() - started
    if shown.json:
        output.result({"output": out, **shard_values(found), "seconds": seconds, "notes": notes})
        return
    output.facts([*corpus_facts(found), ("Time", rate(seconds, len(found))), ("Shards", _shards(out, found))])


def show_shards(path: str, output: Output, shown: Shown) -> None:
    """Show what is in a folder of shards, every file compared with its sum."""
    from polyad.corpus import IndexedCorpus

    corpus: Any = IndexedCorpus(path)
    corpus.verify()
    if shown.json:
        output.result({"folder": path, **shard_values(corpus)})
        return
    source, report = corpus.counts, corpus.report
    is_numbered = type(corpus.ids).__name__ == "Numbers"
    ids = "their numbers in the input" if is_numbered else f"names such as {corpus.ids[0]}"
    empty = f" ({report.empty_documents:,} of them without a word)" if report.empty_documents else ""
    rows = [
        ("folder", _shards(path, corpus)),
        ("documents", f"{len(corpus):,}{empty}"),
        ("ids", ids),
        ("words", f"{corpus.shape[1]:,} different, {report.tokens:,} in all"),
        ("cells", f"{source.n_cells:,}"),
        ("order", "by content" if source.is_canonical else "as given"),
        ("text", "counts, taken as they were" if report.options is None else _text(report)),
        ("files", "all are what was written"),
    ]
    output.table(("name", "value"), rows, wide="value")


def _text(report: Any) -> str:
    language = f"{report.language}; " if report.language else ""
    dropped = ", ".join(how_many(drop.words, reason) for reason, drop in report.dropped.items())
    return f"{language}{'dropped were ' + dropped if dropped else 'nothing was dropped'}"


def _shards(path: str, corpus: IndexedCorpus) -> str:
    n = corpus.counts.n_shards
    return f"{path} ({how_many(n, 'shards')}, {size(corpus.n_bytes)})"


def shard_values(corpus: Any) -> dict[str, Any]:
    """Return what is in a folder of shards, for machines."""
    return {
        "shards": corpus.counts.n_shards,
        "cells": corpus.counts.n_cells,
        "bytes": corpus.n_bytes,
        "order": corpus.counts.manifest.order,
        "corpus": corpus_values(corpus),
    }
