"""Counting words of many documents: chunks, processes, and the corpus at the end."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import islice
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyad.corpus.corpus import Corpus, complete_report, map_columns
from polyad.corpus.documents import Document
from polyad.corpus.report import CorpusReport, Dropped
from polyad.corpus.words.choices import Beginning, SpreadSample, begin_counting, default_min_df, with_stop_words
from polyad.corpus.words.chunks import ChunkCounts, Numbering, count_chunk
from polyad.corpus.words.stopping import Stopping, choose_stop_words
from polyad.corpus.words.tokens import TextOptions, drop_reason
from polyad.corpus.words.vocabulary import choose_words, look_up_words, merge_stems
from polyad.corpus.words.workers import begin_under, end_with
from polyad.engine.runners import current_runner

Progress = Callable[[int], None]

# Chunks do not depend on the number of processes, so neither does anything else.
CHUNK_CHARACTERS = 1 << 21
CHUNK_DOCUMENTS = 10_000
# Starting processes costs about as much as splitting this many characters.
PARALLEL_AFTER = 16 * CHUNK_CHARACTERS


def count_words(
    documents: Iterable[Document | str],
    options: TextOptions | None = None,
    *,
    vocabulary: Sequence[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Corpus:
    """Count the words of documents.

    Parameters
    ----------
    documents
        The documents; texts alone are called by their number. They are taken as they are needed, and only a
        few megabytes of text are in memory at a time.
    options
        How to split and what to keep. All documents settle what is left to their languages and to their number; the
        report says what was chosen. Only the stop words of n-grams, which are runs of kept words, are settled by the
        first documents, with a warning where later ones are in another language.
    vocabulary
        Count these words only (new text for a model); the bounds on document frequency then do not apply,
        and unknown words are reported.
    n_jobs
        Processes; -1 is one for each core. None uses all cores once there is enough text to pay for starting them.
        The result is the same for any number.
    progress
        Called with the number of documents counted so far.

    Returns
    -------
    Corpus
        One row a document, empty ones too; the vocabulary is sorted.

    Examples
    --------
    >>> corpus = count_words(["To be, or not to be", ""])
    >>> corpus.vocabulary, corpus.counts.toarray().tolist()
    (('be', 'not', 'or', 'to'), [[2, 1, 1, 2], [0, 0, 0, 0]])
    >>> count_words(["to see"], vocabulary=corpus.vocabulary).report.dropped["unknown words"].examples
    ('see',)
    >>> corpus = count_words(["the rain and the wind of the sea"], TextOptions(stop_words="auto"))
    >>> corpus.vocabulary, corpus.report.language
    (('rain', 'sea', 'wind'), 'english')
    """
    if isinstance(documents, str | Document):
        raise TypeError("documents must be a list of texts, not one text; put it in a list.")
    merged = _Merged()
    started = time.perf_counter()
    beginning, counted, documents = begin_counting(documents, options or TextOptions())
    merged.seconds_reading += time.perf_counter() - started
    spread = SpreadSample()
    if beginning.sampled:
        documents = spread.over(documents)
    for chunk in count_chunks(_chunks(documents, merged), counted, n_jobs, merged):
        merged.add(chunk)
        if progress is not None:
            progress(len(merged.lengths))
    if beginning.sampled:
        spread.warn_of_others(beginning)
    return _finish(merged, beginning, vocabulary)


@dataclass
class Counting:
    """The time that counting takes."""

    seconds_reading: float = 0.0
    seconds_splitting: float = 0.0


@dataclass
class _Merged(Counting):
    """The counts of the chunks so far, over one numbering of all terms."""

    ids: list[str] = field(default_factory=list)
    terms: Numbering = field(default_factory=Numbering)
    lengths: list[int] = field(default_factory=list)
    indices: list[NDArray[np.int32]] = field(default_factory=list)
    data: list[NDArray[np.int32]] = field(default_factory=list)
    dropped: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, chunk: ChunkCounts) -> None:
        numbers = np.fromiter(map(self.terms.__getitem__, chunk.terms), np.int32, len(chunk.terms))
        self.lengths.extend(np.diff(chunk.indptr).tolist())
        self.indices.append(numbers[chunk.indices])
        self.data.append(chunk.data)
        for reason, totals in chunk.dropped.items():
            known = self.dropped.setdefault(reason, {})
            for word, total in totals.items():
                known[word] = known.get(word, 0) + total

    def counts(self) -> csr_array:
        indptr = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])
        index_type = np.int32 if indptr[-1] < 2**31 else np.int64
        indices = np.concatenate([np.empty(0, np.int32), *self.indices]).astype(index_type, copy=False)
        data = np.concatenate([np.empty(0, np.int32), *self.data])
        return csr_array((data, indices, indptr.astype(index_type)), shape=(len(self.lengths), len(self.terms)))


def _chunks(documents: Iterable[Document | str], merged: _Merged) -> Iterator[list[str]]:
    """Group the texts, keep the ids, and take the time that waiting for documents takes."""
    texts: list[str] = []
    size = 0
    started = time.perf_counter()
    for document in documents:
        if isinstance(document, str):
            merged.ids.append(str(len(merged.ids)))
            text = document
        elif isinstance(document, Document):
            merged.ids.append(document.id)
            text = document.text
        else:
            raise TypeError(f"documents must be Document or str, not {type(document).__name__}.")
        texts.append(text)
        size += len(text)
        if size >= CHUNK_CHARACTERS or len(texts) >= CHUNK_DOCUMENTS:
            merged.seconds_reading += time.perf_counter() - started
            yield texts
            texts, size = [], 0
            started = time.perf_counter()
    merged.seconds_reading += time.perf_counter() - started
    if texts:
        yield texts


def count_chunks(
    chunks: Iterator[list[str]], options: TextOptions, n_jobs: int | None, merged: Counting
) -> Iterator[ChunkCounts]:
    """Count chunk after chunk, here, in processes or on the cluster of the context, in their order."""
    on_cluster = getattr(current_runner(), "in_order", None)
    if on_cluster is not None:
        yield from on_cluster(count_chunk, chunks, options)
        return
    alone = n_jobs == 1 or joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs) == 1
    limit = 0 if n_jobs is not None else PARALLEL_AFTER
    if alone or limit:
        characters = 0
        while alone or characters < limit:
            texts = next(chunks, None)
            if texts is None:
                return
            characters += sum(map(len, texts))
            started = time.perf_counter()
            chunk = count_chunk(texts, options)
            merged.seconds_splitting += time.perf_counter() - started
            yield chunk
    yield from _count_in_processes(chunks, options, -1 if n_jobs is None else n_jobs, merged)


def _count_in_processes(
    chunks: Iterator[list[str]], options: TextOptions, n_jobs: int, merged: Counting
) -> Iterator[ChunkCounts]:
    """Count in worker processes, reading the next few chunks while they work.

    joblib's workers are started afresh rather than forked, so that locks held by threads cannot be inherited,
    and do not run the user's script again, which therefore needs no guard.
    """
    window = 2 * joblib.effective_n_jobs(n_jobs)
    watched: dict[str, Any] = {"initializer": begin_under, "initargs": (os.getpid(),)} if _can_begin_under() else {}
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator", pre_dispatch="all", batch_size=1, **watched)
    texts = list(islice(chunks, window))
    while texts:
        pending = parallel(joblib.delayed(_count_for)(os.getpid(), part, options) for part in texts)
        try:
            texts = list(islice(chunks, window))
            started = time.perf_counter()
            results = list(pending)
        except BaseException:
            # The workers finish the little they have; joblib's way of stopping them can leave them in disorder.
            with suppress(Exception):
                list(pending)
            raise
        merged.seconds_splitting += time.perf_counter() - started
        yield from results


def _can_begin_under() -> bool:
    """Tell whether workers are processes of this one, and can be told to watch it before they have any work."""
    backend, _ = joblib.parallel.get_active_backend()
    is_own = type(backend).__name__ == "LokyBackend"
    return is_own and "backend_kwargs" in signature(joblib.Parallel).parameters


def _count_for(parent: int, texts: list[str], options: TextOptions) -> ChunkCounts:
    """Count a chunk in a worker process."""
    end_with(parent)
    return count_chunk(texts, options)


def _finish(merged: _Merged, beginning: Beginning, vocabulary: Sequence[str] | None) -> Corpus:
    started = time.perf_counter()
    min_df = None
    options = beginning.options
    if options.min_df == "auto":
        min_df = default_min_df(len(merged.lengths)) if vocabulary is None else None
        options = replace(options, min_df=min_df or 1)
    terms, counts = list(merged.terms), merged.counts()
    stopping = Stopping()
    if options.stop_words == "auto":
        stopping = choose_stop_words(terms, counts)
        options = with_stop_words(options, stopping.stop_words)
        terms, counts = _without_stop_words(terms, counts, options, merged)
    dropped = {reason: Dropped.from_totals(merged.dropped[reason]) for reason in sorted(merged.dropped)}
    if vocabulary is None:
        if options.stemming is not None and options.hashed is None:
            terms, counts = merge_stems(terms, counts, options.stemming)
        words, counts, by_frequency = choose_words(terms, counts, options)
        dropped |= by_frequency
    else:
        words = list(vocabulary)
        counts, unknown = look_up_words(terms, counts, words, options.stemming if options.hashed is None else None)
        dropped |= unknown
    ids = tuple(merged.ids)
    report = CorpusReport(
        dropped=dropped,
        seconds_reading=merged.seconds_reading,
        seconds_splitting=merged.seconds_splitting + time.perf_counter() - started,
        options=options,
        language=stopping.languages[0][0] if stopping.languages else beginning.language,
        languages=stopping.languages,
        sampled=len(merged.lengths) if beginning.options.stop_words == "auto" else beginning.sampled,
        min_df=min_df,
    )
    return Corpus(counts, tuple(words), ids, complete_report(report, counts, ids))


def _without_stop_words(
    terms: list[str], counts: csr_array, options: TextOptions, merged: _Merged
) -> tuple[list[str], csr_array]:
    """Drop the stop words that all documents together have told, and keep account of them."""
    reason_of = drop_reason(options)
    stopped = np.array([reason_of(term) == "stop words" for term in terms], dtype=bool)
    totals = np.bincount(counts.indices, weights=counts.data, minlength=len(terms)).astype(np.int64)
    lost = {terms[at]: int(totals[at]) for at in np.flatnonzero(stopped).tolist()}
    if lost:
        merged.dropped["stop words"] = lost
    columns = np.where(stopped, -1, np.cumsum(~stopped) - 1)
    return [term for term, stop in zip(terms, stopped) if not stop], map_columns(counts, columns, int((~stopped).sum()))
