"""What a page tells of documents, gathered shard by shard: the shares of all of them are never in memory together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.base.arrays import FloatArray
from polyad.engine import Source, count_blocks
from polyad.engine.sources import aligned, part_of
from polyad.metrics.words import top_documents
from polyad.models.fitting import running
from polyad.report.periods import Labels
from polyad.report.subject import Subject

MOST_SHARES = 1 << 22  # numbers of topic shares in memory at a time
SURE = 20.0  # tokens: a shorter document has its topic by chance more often than others


@dataclass(frozen=True)
class TypicalDocuments:
    """The most typical documents of all topics."""

    rows: NDArray[np.intp]  # their numbers in the data, ascending
    of_topic: tuple[tuple[int, ...], ...]  # K lists of places in ``rows``, the most typical first
    shares: FloatArray  # topic shares, one row for each
    lengths: FloatArray  # tokens
    counts: tuple[sparse.csr_array, ...]  # for each view their counts


@dataclass(frozen=True)
class Gathered:
    """What was gathered of all documents."""

    documents: TypicalDocuments  # the most typical ones
    # In all.
    n_documents: int
    n_tokens: float
    topic_tokens: FloatArray  # K: tokens of each topic in these documents
    leading: NDArray[np.int64]  # K: documents in which the topic is the largest
    tokens_of: tuple[FloatArray, ...]  # for each division into parts, parts x K: tokens of each topic
    sizes_of: tuple[NDArray[np.int64], ...]  # for each division, the documents of every part


def gather(subject: Subject, n_documents: int, divisions: Sequence[Labels] = (), n_jobs: int | None = None) -> Gathered:
    """Go over all documents once, and then over those that were chosen.

    Parameters
    ----------
    subject
        With documents.
    n_documents
        Typical documents of each topic.
    divisions
        Periods and groups.
    n_jobs
        Threads; they do not change the result.
    """
    source, K = subject.source, subject.n_topics
    if source is None:
        raise ValueError("There are no documents to look at.")
    for labels in divisions:
        if len(labels.part_of) != source.n_rows:
            raise ValueError(
                f"{len(labels.part_of):,} dates or groups are given, and there are {source.n_rows:,} documents: give "
                "one for each."
            )
    best, best_rows = np.empty((0, K)), np.empty((0, K), np.intp)
    topic_tokens, leading, n_tokens = np.zeros(K), np.zeros(K, np.int64), 0.0
    tokens_of = [np.zeros((len(labels.names), K)) for labels in divisions]
    with running(n_jobs):
        for first, last, part in _pieces(source, K):
            shares, lengths = subject.shares(part), _lengths(part)
            tokens = shares * lengths[:, None]
            topic_tokens += tokens.sum(axis=0)
            n_tokens += float(lengths.sum())
            leading += np.bincount(shares[lengths > 0].argmax(axis=1), minlength=K)
            for labels, sums in zip(divisions, tokens_of):
                own = labels.part_of[first:last]
                np.add.at(sums, own[own >= 0], tokens[own >= 0])
            rows = np.broadcast_to(np.arange(first, last)[:, None], shares.shape)
            best = np.vstack([best, _typical(shares, lengths)])
            best_rows = np.vstack([best_rows, rows])
            kept = top_documents(best, n_documents).T
            best, best_rows = np.take_along_axis(best, kept, 0), np.take_along_axis(best_rows, kept, 0)
        documents = _chosen(subject, source, best_rows.T)
    sizes = tuple(np.bincount(labels.part_of[labels.part_of >= 0], minlength=len(labels.names)) for labels in divisions)
    return Gathered(documents, source.n_rows, n_tokens, topic_tokens, leading, tuple(tokens_of), sizes)


def _pieces(source: Source, n_topics: int) -> Iterator[tuple[int, int, Source]]:
    """Give piece after piece of the rows, each with its first and last row, so few that their shares take little."""
    most = max(MOST_SHARES // n_topics, 1)
    for number, (start, end) in enumerate(pairwise(source.edges)):
        for first in range(start, end, most):
            last = min(first + most, end)
            yield first, last, part_of(source, ((number, first - start, last - start),))


def _lengths(source: Source) -> FloatArray:
    """Return the tokens of every document, in all views together."""
    return np.concatenate([sum(view for view in block.lengths if view is not None) for block in source])


def _typical(shares: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return shares, those of short documents made smaller: ten words of one topic tell less than a hundred."""
    return shares * (lengths / (lengths + SURE))[:, None]


def _chosen(subject: Subject, source: Source, best: NDArray[np.intp]) -> TypicalDocuments:
    """Look up the documents that were chosen, by their rows."""
    rows = np.unique(best)
    place = {int(row): at for at, row in enumerate(rows)}
    counts: list[list[sparse.csr_array]] = [[] for _ in subject.views]
    for number, (first, last) in enumerate(pairwise(source.edges)):
        own = rows[(rows >= first) & (rows < last)] - first
        if own.size:
            for kept, view in zip(counts, source.shard(number).views):
                kept.append(sparse.csr_array(view[own]))
    found = tuple(sparse.csr_array(sparse.vstack(kept)) for kept in counts)
    chosen = aligned(*map(count_blocks, found))
    return TypicalDocuments(
        rows,
        tuple(tuple(place[int(row)] for row in own) for own in best),
        subject.shares(chosen),
        _lengths(chosen),
        found,
    )
