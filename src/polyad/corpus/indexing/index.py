"""From documents to a folder of shards: counted once, words chosen, rows sorted; in bounded memory, and resumable."""

import json
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyad.base.caller import warn_caller
from polyad.base.plurals import how_many
from polyad.corpus.corpus import Corpus, map_columns
from polyad.corpus.documents import EXAMPLES, CorpusError, ReadReport
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.text import batched
from polyad.corpus.indexing.bags import counted_partitions
from polyad.corpus.indexing.chunks import (
    Chunk,
    ChunkFiles,
    CountedChunks,
    as_csr,
    digest_of_texts,
    packed,
    read_chunk,
    write_chunk,
)
from polyad.corpus.indexing.folder import IndexedCorpus, is_indexed, write_description
from polyad.corpus.indexing.inputs import ManyFiles, expand, is_count_file
from polyad.corpus.indexing.terms import Choice
from polyad.corpus.indexing.words import choose_from_chunks, settle_stop_words
from polyad.corpus.reading import ReadProgress, read_blocks, read_corpus, words_of_counts
from polyad.corpus.report import CorpusReport
from polyad.corpus.words.choices import (
    SAMPLE_DOCUMENTS,
    TOPIC_WORDS,
    Beginning,
    SpreadSample,
    begin_counting,
    default_min_df,
    of_counts,
)
from polyad.corpus.words.counting import CHUNK_CHARACTERS, CHUNK_DOCUMENTS, Counting, count_chunks
from polyad.corpus.words.tokens import TextOptions
from polyad.engine.cluster.runner import DaskRunner
from polyad.engine.disk.shards import Shards
from polyad.engine.disk.writer import refuse_existing, write_shards
from polyad.engine.inputs import is_dask_bag
from polyad.engine.runners import use

COUNT_ROWS = 1 << 14  # of files of counts, together in a chunk
DONE = "done"  # a file among the work, from when the shards are complete


class NoDocumentsError(CorpusError):
    """There is nothing to index."""


def index(
    paths: Any,
    out: str | os.PathLike[str],
    options: TextOptions | None = TOPIC_WORDS,
    *,
    reading: ReadOptions | None = None,
    vocabulary: Sequence[str] | None = None,
    n_jobs: int | None = None,
    restart: bool = False,
    overwrite: bool = False,
    progress: ReadProgress | None = None,
    client: Any = None,
) -> IndexedCorpus:
    r"""Count documents, and write them as checked shards in the canonical order, whatever their number.

    The input is read once. Counted documents go to files in a folder beside the output, ``.NAME.work``; the words are
    chosen when all are counted, and the counts sorted by content to the folder of shards, which appears when it is
    complete. Called again after a power cut, Ctrl-C or a full disk, it goes on: what was counted is not counted again,
    and the bytes are those of an undisturbed run. In memory are at any time some megabytes of text for each process, up
    to two million terms, two shards (some 400 MB) and about 60 bytes for every document.

    Parameters
    ----------
    paths
        Files, folders, patterns of names (``"*.jsonl.gz"``), or ``-`` for standard input; text, tables or counts. A
        folder of Parquet, JSONL, CSV or TSV files stands for these, any other for the texts in it. Or a ``dask.bag`` of
        texts, which are counted where they are.
    out
        The folder to make.
    options
        How to split text and which words to keep; the default is what topics need.
    reading
        How to read: format, columns, encoding, bad records.
    vocabulary
        Count these words only, in this order.
    n_jobs
        Processes for splitting, and threads for sorting; the result does not depend on it.
    restart
        Throw away what an interrupted call has counted.
    overwrite
        Whether shards that lie at ``out`` may be replaced. Nothing else ever is.
    progress
        Called now and then with the number of documents so far, and the share of the input (None if unknown).
    client
        A Dask client: documents are counted and sorted on its cluster, whose workers must see the folder of ``out``,
        with the same bytes. See :class:`polyad.engine.DaskRunner`.

    Returns
    -------
    IndexedCorpus
        For models: ``LDA(20).fit(corpus)``. Its report has what was read, skipped and dropped.

    Raises
    ------
    CorpusError
        Where the input is at fault, or is not the one that an interrupted call had begun with.
    FileExistsError
        Where there is something at ``out``, or another process is writing it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polyad import LDA
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> lines = ["the cat likes the dog and the dog the cat", "stocks and bonds fell, and bonds fell most"]
    >>> _ = (folder / "a.txt").write_text("\n".join(lines * 50))
    >>> corpus = index(folder / "a.txt", folder / "a.shards")
    >>> corpus.shape
    (100, 6)
    >>> LDA(2).fit(corpus).vocabulary_
    ('bonds', 'cat', 'dog', 'fell', 'likes', 'stocks')
    """
    reading = reading or ReadOptions()
    target = Path(os.path.abspath(out))
    _remove_finished(target)
    refuse_target(target, overwrite)
    bag = paths if is_dask_bag(paths) else None
    files = expand(paths, reading.pattern) if bag is None else (f"dask.bag {bag.name}",)
    done = [file for file in files if bag is None and is_indexed(file)]
    if done:
        raise ValueError(f"{done[0]} is a folder of shards already: models take it as it is.")
    options = options or TextOptions()
    of_counted = [bag is None and is_count_file(file, reading) for file in files]
    if any(of_counted) and len(files) > 1:
        raise ValueError("Files of counts are indexed one at a time: their columns may be different words.")
    plan = _plan(files, options, reading, vocabulary)
    if options.hashed is not None and vocabulary is not None:
        raise ValueError("Words are either hashed to columns or looked up in a vocabulary: give one of the two.")
    with _work(target, plan, restart) as work, use(n_jobs if client is None else DaskRunner(client)):
        job = _Job(work, files, options, reading, n_jobs, progress or (lambda documents, fraction: None))
        if bag is not None:
            counted = _count_bag(job, bag)
        else:
            counted = _count_matrix(job, vocabulary) if of_counted[0] else _count_text(job)
        choice = _chosen(job, counted, vocabulary)
        if not choice.words:
            raise CorpusError(
                f"not one word of the {counted.edges[-1]:,} documents is left; lower the bound min_df or raise max_df",
                path=files[0],
            )
        _finish(work, target, counted, choice, overwrite, chosen=vocabulary is None)
    return IndexedCorpus(target)


@dataclass(frozen=True)
class _Job:
    """What is to be counted, and how."""

    work: Path
    files: tuple[str, ...]
    options: TextOptions
    reading: ReadOptions
    n_jobs: int | None
    progress: Callable[[int, float | None], None]

    @property
    def chunks(self) -> ChunkFiles:
        return ChunkFiles(self.work / "chunks")


@dataclass(frozen=True)
class _Counted:
    """What counting has left in the chunk files.

    ``columns`` are the words of counts that are taken as they are; None of text, whose words are still to be chosen.
    """

    edges: tuple[int, ...]
    options: TextOptions
    reading: ReadReport
    language: str | None = None
    languages: tuple[tuple[str, int], ...] = ()
    sampled: int = 0
    columns: tuple[str, ...] | None = None
    has_words: bool = True


def work_folder(target: Path) -> Path:
    """Return the folder in which the work towards a folder of shards is kept."""
    return target.parent / f".{target.name}.work"


def _remove_finished(target: Path) -> None:
    """Remove the work of a call that was killed when its shards had their name already."""
    work = work_folder(target)
    if (work / DONE).exists() and target.exists() and not (work / "shards").exists():
        shutil.rmtree(work, ignore_errors=True)


def refuse_target(target: Path, overwrite: bool) -> None:
    """Refuse a place that something else has, or that is in no folder."""
    if not target.parent.is_dir():
        raise CorpusError(f"it cannot be written: there is no folder {target.parent}", path=str(target))
    refuse_existing(target, overwrite)


def _plan(
    files: tuple[str, ...], options: TextOptions, reading: ReadOptions, vocabulary: Sequence[str] | None
) -> dict[str, Any]:
    """Return what a call asks for, as plain values that a later call can be compared with."""
    words = None if vocabulary is None else blake2b("\n".join(vocabulary).encode(), digest_size=16).hexdigest()
    names = ["-" if file == "-" else os.path.abspath(file) for file in files]
    plan = {"version": 2, "files": names, "options": options.to_dict(), "reading": asdict(reading), "vocabulary": words}
    return json.loads(json.dumps(plan))


@contextmanager
def _work(target: Path, plan: dict[str, Any], restart: bool) -> Iterator[Path]:
    """Give the folder of the work, with what an earlier call for the same has left in it; it goes when all is done."""
    work = work_folder(target)
    work.mkdir(exist_ok=True)
    with _alone(work, target):
        file = work / "plan.json"
        if restart:
            _empty(work, keep=())
        if file.exists():
            try:
                before = json.loads(file.read_text(encoding="utf-8"))
            except ValueError:
                before = None
            if before != plan:
                differs = [name for name in plan if not isinstance(before, dict) or before.get(name) != plan[name]]
                raise CorpusError(
                    f"an interrupted call has begun this with other {' and '.join(differs)}; call it again as it was, "
                    "or give --restart (restart=True) to begin anew",
                    path=str(work),
                )
        else:
            _empty(work, keep=())
            part = work / "plan.part"
            part.write_text(json.dumps(plan), encoding="utf-8")
            part.replace(file)
        _empty(work, keep=("plan.json", "chunks", "lock"))
        (work / "chunks").mkdir(exist_ok=True)
        try:
            yield work
        except NoDocumentsError:
            shutil.rmtree(work, ignore_errors=True)  # there is nothing to go on from
            raise
    shutil.rmtree(work, ignore_errors=True)


def _empty(work: Path, keep: tuple[str, ...]) -> None:
    for left in work.iterdir():
        if left.name not in (*keep, "lock"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()


@contextmanager
def _alone(work: Path, target: Path) -> Iterator[None]:
    """Refuse to work beside another process at the same."""
    with (work / "lock").open("a") as lock:
        try:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no such locks on this system
            pass
        except OSError:
            raise FileExistsError(f"Another process is writing {target}. Wait for it, or give another name.") from None
        yield


@dataclass
class _Pending:
    """Chunks that are being counted."""

    edges: list[int] = field(default_factory=lambda: [0])
    waiting: deque[tuple[int, tuple[str, ...] | None, str]] = field(default_factory=deque)


def _count_text(job: _Job) -> _Counted:
    """Count the texts that were not counted before, chunk by chunk."""
    reader = ManyFiles(job.files, job.reading)
    beginning, how, documents = begin_counting(reader, job.options)
    pending, times, spread = _Pending(), Counting(), SpreadSample()
    if beginning.sampled:
        documents = spread.over(documents)
    for counted in count_chunks(_uncounted(job, documents, pending, reader), how, job.n_jobs, times):
        number, ids, digest = pending.waiting.popleft()
        write_chunk(job.chunks.file(number), Chunk(digest, ids, as_csr(counted), tuple(counted.terms), counted.dropped))
    report = reader.report
    if pending.edges[-1] == 0:
        bad = f"; {how_many(report.bad, 'bad records')} skipped" if report.bad else ""
        raise NoDocumentsError(f"there are no documents in it{bad}", path=job.files[0])
    sentence = report.warning()
    if sentence is not None:
        warn_caller(sentence)
    _refuse_more(job, len(pending.edges) - 1)
    if beginning.sampled:
        spread.warn_of_others(beginning)
    return _settled(job, tuple(pending.edges), beginning, report)


def _count_bag(job: _Job, bag: Any) -> _Counted:
    """Have the texts of a bag counted where they are, partition by partition."""
    beginning, how, _ = begin_counting(bag.take(SAMPLE_DOCUMENTS, npartitions=-1, warn=False), job.options)
    edges = [0]
    for digest, counted, fraction in counted_partitions(bag, how):
        if not job.chunks.holds(len(edges) - 1, digest):
            chunk = Chunk(digest, None, as_csr(counted), tuple(counted.terms), counted.dropped)
            write_chunk(job.chunks.file(len(edges) - 1), chunk)
        edges.append(edges[-1] + counted.indptr.size - 1)
        job.progress(edges[-1], fraction)
    if edges[-1] == 0:
        raise NoDocumentsError("there are no documents in it", path=job.files[0])
    _refuse_more(job, len(edges) - 1)
    return _settled(job, tuple(edges), beginning, ReadReport(documents=edges[-1]))


def _settled(job: _Job, edges: tuple[int, ...], beginning: Beginning, report: ReadReport) -> _Counted:
    """Settle the stop words where all documents tell them."""
    options = beginning.options
    if options.stop_words != "auto":
        return _Counted(edges, options, report, beginning.language, sampled=beginning.sampled)
    options, stopping = settle_stop_words(job.chunks, options)
    language = stopping.languages[0][0] if stopping.languages else None
    return _Counted(edges, options, report, language, stopping.languages, edges[-1])


def _refuse_more(job: _Job, n_chunks: int) -> None:
    """Refuse chunks of an earlier call that the input no longer has."""
    if job.chunks.file(n_chunks).exists():
        raise CorpusError(
            "the input has become shorter since it was counted; give --restart (restart=True) to begin anew",
            path=str(job.work),
        )


def _uncounted(job: _Job, documents: Any, pending: _Pending, reader: ManyFiles) -> Iterator[list[str]]:
    """Yield the texts of the chunks that have no file yet, and take note of them."""
    for number, batch in enumerate(batched(documents, CHUNK_DOCUMENTS, CHUNK_CHARACTERS)):
        first = pending.edges[-1]
        ids = tuple(document.id for document in batch)
        texts = [document.text for document in batch]
        pending.edges.append(first + len(batch))
        digest = digest_of_texts(ids, texts)
        if not job.chunks.holds(number, digest):
            numbered = all(name == str(first + at) for at, name in enumerate(ids))
            pending.waiting.append((number, None if numbered else ids, digest))
            yield texts
        job.progress(pending.edges[-1], reader.fraction)


def _count_matrix(job: _Job, vocabulary: Sequence[str] | None) -> _Counted:
    """Take counts as they are, block by block."""
    (path,) = job.files
    if of_counts(job.options) is not None:
        raise ValueError(
            "Counts are indexed with the words that they have. Choose words with `polyad convert` first, or give a "
            "vocabulary."
        )
    found = words_of_counts(path, job.reading)
    edges = [0]
    report, columns = ReadReport(), found
    for number, block in enumerate(_matrix_blocks(path, job.reading, found)):
        columns = block.vocabulary
        report = block.report.reading or report
        digest = digest_of_texts(block.ids, [blake2b(_raw(block.counts), digest_size=16).hexdigest()])
        first, last = edges[-1], edges[-1] + len(block)
        if not job.chunks.holds(number, digest):
            numbered = all(name == str(first + at) for at, name in enumerate(block.ids))
            used = np.unique(block.counts.indices)
            places = np.zeros(len(columns), np.int64)
            places[used] = np.arange(used.size)
            counts = map_columns(block.counts, places, used.size)
            terms = tuple(columns[at] for at in used.tolist())
            write_chunk(job.chunks.file(number), Chunk(digest, None if numbered else block.ids, counts, terms, {}))
        edges.append(last)
        job.progress(last, None)
    if columns is None or edges[-1] == 0:
        raise NoDocumentsError("there are no documents in it", path=path)
    _refuse_more(job, len(edges) - 1)
    report = replace(report, documents=edges[-1])
    return _Counted(tuple(edges), job.options, report, columns=columns, has_words=found is not None)


def _raw(counts: csr_array) -> bytes:
    return counts.data.tobytes() + counts.indices.tobytes() + counts.indptr.tobytes()


def _matrix_blocks(path: str, reading: ReadOptions, words: tuple[str, ...] | None) -> Iterator[Corpus]:
    if words is not None:
        yield from read_blocks(path, vocabulary=words, reading=reading, documents=COUNT_ROWS)
        return
    whole = read_corpus(path, reading=reading)  # how many columns there are is known at the end only
    yield from (whole[first : first + COUNT_ROWS] for first in range(0, len(whole), COUNT_ROWS))


def _chosen(job: _Job, counted: _Counted, vocabulary: Sequence[str] | None) -> Choice:
    """Choose the words when all documents are counted."""
    if counted.columns is None:
        return choose_from_chunks(job.work, job.chunks, counted.options, counted.edges[-1], vocabulary)
    if vocabulary is None:
        return Choice(counted.columns, counted.columns, {})
    as_they_are = TextOptions()  # words of counts are neither split nor stemmed
    return choose_from_chunks(job.work, job.chunks, as_they_are, counted.edges[-1], vocabulary)


def _finish(work: Path, target: Path, counted: _Counted, choice: Choice, overwrite: bool, *, chosen: bool) -> None:
    """Sort the counts into shards, describe them, and give the folder its name."""
    source = CountedChunks(work / "chunks", counted.edges, choice.terms, choice.counted_as)
    shards = write_shards(source, work / "shards")
    ids = _ordered_ids(source, shards)
    words = choice.words if counted.has_words else None
    report = replace(_report(shards, counted, choice, chosen), **_repeated(ids))
    write_description(shards.path, report, words, ids)
    refuse_target(target, overwrite)
    (work / DONE).touch()
    if target.exists():
        target.rename(work / "before")
    shards.path.rename(target)


def _report(shards: Shards, counted: _Counted, choice: Choice, chosen: bool) -> CorpusReport:
    options, min_df = counted.options, None
    if options.min_df == "auto":
        min_df = default_min_df(shards.n_rows) if chosen else None
        options = replace(options, min_df=min_df or 1)
    tokens, empty = 0, 0
    for number in range(shards.n_shards):
        lengths = shards.shard(number).tokens
        tokens, empty = tokens + int(lengths.sum()), empty + int((lengths == 0).sum())
    return CorpusReport(
        documents=shards.n_rows,
        tokens=tokens,
        dropped=choice.dropped,
        empty_documents=empty,
        reading=counted.reading,
        options=options if counted.columns is None else None,
        language=counted.language,
        languages=counted.languages,
        sampled=counted.sampled,
        min_df=min_df,
    )


def _ordered_ids(source: CountedChunks, shards: Shards) -> tuple[NDArray[np.uint8], NDArray[np.int64]] | None:
    """Return the ids in the order of the shards, as bytes and ends; None where all are numbers."""
    raws, lengths, named = [], [], False
    for number in range(source.n_shards):
        chunk = read_chunk(ChunkFiles(source.folder).file(number))
        first, last = source.row_edges[number : number + 2]
        named |= chunk.ids is not None
        raw, ends = packed(map(str, range(first, last)) if chunk.ids is None else chunk.ids)
        raws.append(raw)
        lengths.append(np.diff(ends, prepend=0))
    order = shards.row_numbers()
    if not named or order is None:
        return None
    raw, sizes = np.concatenate(raws), np.concatenate(lengths)
    starts = (np.cumsum(sizes) - sizes)[order]
    sizes = sizes[order]
    ends = np.cumsum(sizes)
    places = np.repeat(starts - (ends - sizes), sizes) + np.arange(int(ends[-1]) if ends.size else 0)
    return raw[places], ends


def _repeated(ids: tuple[NDArray[np.uint8], NDArray[np.int64]] | None) -> dict[str, Any]:
    """Return how many documents have the id of another, and the first such ids."""
    if ids is None:
        return {}
    raw, ends = ids[0].tobytes(), ids[1].tolist()
    names = (raw[first:last] for first, last in zip([0, *ends[:-1]], ends))
    keys = np.fromiter((int.from_bytes(blake2b(name, digest_size=8).digest()) for name in names), np.uint64, len(ends))
    found, firsts, counts = np.unique(keys, return_index=True, return_counts=True)
    again = firsts[counts > 1][:EXAMPLES].tolist()
    examples = tuple(raw[ends[at - 1] if at else 0 : ends[at]].decode("utf-8", "replace") for at in again)
    return {"duplicate_ids": int(len(ends) - found.size), "duplicate_examples": examples}
