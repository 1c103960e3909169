"""Texts in a bag of Dask, counted where they are: only the counts of a partition come to this process."""

from collections.abc import Iterable, Iterator
from typing import Any

from polyad.corpus.documents import CorpusError
from polyad.corpus.formats.text import batched
from polyad.corpus.indexing.chunks import digest_of_texts
from polyad.corpus.words.chunks import ChunkCounts, count_chunk
from polyad.corpus.words.counting import CHUNK_CHARACTERS, CHUNK_DOCUMENTS
from polyad.corpus.words.tokens import TextOptions
from polyad.engine.runners import current_runner


def counted_partitions(bag: Any, options: TextOptions) -> Iterator[tuple[str, ChunkCounts, float]]:
    """Yield the chunks of a bag in their order: a digest of the texts, their counts, and the share of the bag so far.

    On the cluster of the context each partition is counted by the worker that has it, and otherwise here.
    """
    partitions = bag.to_delayed()
    on_cluster = getattr(current_runner(), "in_order", None)
    if on_cluster is None:
        found: Iterator[Any] = (count_partition(part.compute(), options) for part in partitions)
    else:
        found = on_cluster(count_partition, partitions, options)
    for done, chunks in enumerate(found, 1):
        yield from ((digest, counted, done / len(partitions)) for digest, counted in chunks)


def count_partition(texts: Iterable[Any], options: TextOptions) -> list[tuple[str, ChunkCounts]]:
    """Return the counts of the texts of a partition, in chunks, each with the digest of its texts.

    Examples
    --------
    >>> [(digest, counted)] = count_partition(["to be"], TextOptions())
    >>> counted.terms
    ['to', 'be']
    """
    batches: Iterator[list[Any]] = batched(map(_checked, texts), CHUNK_DOCUMENTS, CHUNK_CHARACTERS)
    return [(digest_of_texts((), batch), count_chunk(batch, options)) for batch in batches]


def _checked(text: Any) -> str:
    if isinstance(text, str):
        return text
    raise CorpusError(f"a bag of texts holds a {type(text).__name__}; take the text of each first: bag.pluck('text')")
