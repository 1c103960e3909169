"""Example documents of topics: those that have most of each, with the beginning of their text."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from polyad.cli.options import Reading
from polyad.cli.terminal.text import shortened, shown

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from polyad.corpus import Corpus, IndexedCorpus

BLOCK_DOCUMENTS = 4096
LONG_ENOUGH = 40  # words, or the median of a corpus of shorter documents: a share of few words is chance
EXCERPT = 110
LEAST_SHARE = 0.05  # of a document, for it to be an example of a topic to a person


def with_examples(
    topics: list[dict[str, Any]], model: Any, corpus: Corpus | IndexedCorpus, path: str | None, reading: Reading
) -> list[dict[str, Any]]:
    """Add to each topic the document that has most of it, among those long enough to be sure of.

    Given the path, the beginning of its text is read from there again; it is None where that is not possible: counts,
    shards, standard input. A background has no example: it is in all documents alike.
    """
    rows, shares = _best_documents(lambda blocks: model.transform(blocks[0]), [corpus], len(topics))
    texts = {} if path is None else _texts(path, reading, set(rows))
    return [
        topic
        if topic["background"]
        else {**topic, "example": {"id": corpus.ids[row], "share": share, "text": texts.get(row)}}
        for topic, row, share in zip(topics, rows, shares)
    ]


def with_paired_examples(
    topics: list[dict[str, Any]],
    shares_of: Callable[[Sequence[csr_array]], Any],
    read: Sequence[Corpus],
    names: Sequence[str],
    inputs: Sequence[tuple[str, Reading]] | None,
) -> list[dict[str, Any]]:
    """Add to each topic of aligned corpora the row that has most of it, with the beginnings of its texts by the names.

    Given where the corpora are and how to read them, the texts are read from there again.
    """
    rows, shares = _best_documents(shares_of, read, len(topics))
    texts = [{} if inputs is None else _texts(*inputs[at], set(rows)) for at in range(len(names))]
    return [
        {
            **topic,
            "example": {
                "id": read[0].ids[row],
                "share": share,
                "texts": {name: of.get(row) for name, of in zip(names, texts)},
            },
        }
        for topic, row, share in zip(topics, rows, shares)
    ]


def has_example(topic: dict[str, Any]) -> bool:
    """Tell whether some document has enough of a topic to show what it is."""
    return "example" in topic and topic["example"]["share"] >= LEAST_SHARE


def example_row(topic: dict[str, Any]) -> str | None:
    """Return the example of a topic as one line, if there is one."""
    if not has_example(topic):
        return None
    example = topic["example"]
    text = "" if example["text"] is None else f": {example['text']}"
    return f"e.g. {shown(example['id'], 60)}{text}"


def _best_documents(
    shares_of: Callable[[Sequence[csr_array]], Any], corpora: Sequence[Corpus | IndexedCorpus], n_topics: int
) -> tuple[list[int], list[float]]:
    """Return for each topic the document with the largest share of it, and the share; block by block."""
    import numpy as np

    lengths = np.concatenate([sum(np.asarray(counts.sum(axis=1)).ravel() for counts in of) for of in _rows(corpora)])
    enough = lengths >= min(LONG_ENOUGH, np.median(lengths))
    best, rows, start = np.full(n_topics, -1.0), np.zeros(n_topics, np.intp), 0
    for of in _rows(corpora):
        n_rows = of[0].shape[0]
        shares = np.where(enough[start : start + n_rows, None], shares_of(of), 0.0)
        at = shares.argmax(axis=0)
        larger = shares[at, np.arange(n_topics)] > best
        rows = np.where(larger, start + at, rows)
        best = np.maximum(best, shares.max(axis=0))
        start += n_rows
    return rows.tolist(), best.tolist()


def _rows(corpora: Sequence[Corpus | IndexedCorpus]) -> Iterator[tuple[csr_array, ...]]:
    """Give the counts of the same rows of all corpora, block by block."""
    return zip(*map(_blocks, corpora))


def _blocks(corpus: Corpus | IndexedCorpus) -> Iterator[csr_array]:
    """Give the counts block by block, those of shards as they lie on disk."""
    from polyad.corpus import Corpus

    if isinstance(corpus, Corpus):
        yield from (corpus.counts[at : at + BLOCK_DOCUMENTS] for at in range(0, len(corpus), BLOCK_DOCUMENTS))
    else:
        yield from (block.counts for block in corpus.blocks())


def _texts(path: str, reading: Reading, rows: set[int]) -> dict[int, str]:
    """Read the beginnings of some documents; none where the input cannot be read again or is no text."""
    from polyad.corpus import CorpusError, DocumentReader
    from polyad.corpus.indexing.folder import is_indexed

    if path == "-" or is_indexed(path) or not (os.path.isfile(path) or os.path.isdir(path)):
        return {}
    found: dict[int, str] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # told when the corpus was read
            for number, document in enumerate(DocumentReader(path, reading.options())):
                if number in rows:
                    found[number] = shortened(document.text, EXCERPT)
                    if len(found) == len(rows):
                        break
    except (CorpusError, OSError):
        return {}
    return found
