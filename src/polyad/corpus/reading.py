"""One function for every input: text or counts in, a corpus out."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from polyad.base.caller import warn_caller
from polyad.base.plurals import how_many
from polyad.corpus.corpus import Corpus, align_vocabulary, complete_report, make_corpus
from polyad.corpus.documents import CorpusError, Document, Tally
from polyad.corpus.formats.entries import Entries, blocks_in_order, blocks_of_batches, check_size, to_matrix
from polyad.corpus.formats.ldac import read_ldac
from polyad.corpus.formats.market import read_matrix_market
from polyad.corpus.formats.npz import read_npz
from polyad.corpus.formats.options import ReadOptions
from polyad.corpus.formats.recognise import COUNT_FORMATS, Format, recognise_bytes
from polyad.corpus.formats.sidecars import find_ids, find_vocabulary, read_names
from polyad.corpus.formats.streams import ByteStream, open_stream
from polyad.corpus.formats.text import DocumentReader, batched
from polyad.corpus.formats.uci import read_uci
from polyad.corpus.report import CorpusReport
from polyad.corpus.words.choices import (
    SAMPLE_CHARACTERS,
    Beginning,
    SpreadSample,
    look_at_beginning,
    of_counts,
    with_stop_words,
)
from polyad.corpus.words.counting import count_words
from polyad.corpus.words.filtering import filter_words
from polyad.corpus.words.tokens import TextOptions

ReadProgress = Callable[[int, float | None], None]

BLOCK_CHARACTERS = 1 << 26


def read_corpus(
    path: str | os.PathLike[str],
    options: TextOptions | None = None,
    *,
    reading: ReadOptions | None = None,
    vocabulary: Sequence[str] | None = None,
    n_jobs: int | None = None,
    progress: ReadProgress | None = None,
) -> Corpus:
    r"""Read a corpus from a file of text or of counts, a folder, or standard input (``-``).

    Parameters
    ----------
    path
        What to read; the format is recognised.
    options
        How to split text, and which words to keep. Text is read once: what is left to "auto" is settled on the way.
        Of counts, which are split already, the options choose words: stop words, document frequency and the number of
        words apply, but nothing is left to "auto"; without options counts are taken as they are.
    reading
        How to read the file: format, columns, encoding, bad lines.
    vocabulary
        Count these words only, for new text of a model; counts are put in its order.
    n_jobs
        Processes for splitting; see `count_words`.
    progress
        Called now and then with the number of documents so far, and the share of the input (None if unknown).

    Returns
    -------
    Corpus
        With ``report`` on what was read, skipped and dropped.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "a.csv")
    >>> _ = file.write_text("id,text\nx,to be\ny,or not to be\n")
    >>> corpus = read_corpus(file)
    >>> corpus.ids, corpus.vocabulary
    (('x', 'y'), ('be', 'not', 'or', 'to'))
    """
    reading = reading or ReadOptions()
    started = time.perf_counter()
    with _opened(path, reading) as source:
        if isinstance(source, DocumentReader):
            return _read_text(source, options, vocabulary, n_jobs, progress)
        tally = Tally(reading.skip_bad)
        chosen, stream = source
        corpus = _read_counts(chosen, stream, path, tally, reading)
    if len(corpus) == 0 and vocabulary is None:
        raise CorpusError("there are no documents in it", path=os.fspath(path))
    report = replace(corpus.report, reading=replace(tally.report(), documents=len(corpus)))
    corpus = replace(corpus, report=replace(report, seconds_reading=time.perf_counter() - started))
    if progress is not None:
        progress(len(corpus), 1.0)
    if vocabulary is not None:
        return align_vocabulary(corpus, vocabulary)
    asked = None if options is None else of_counts(options)
    return corpus if asked is None else filter_words(corpus, asked)


def read_blocks(
    path: str | os.PathLike[str],
    options: TextOptions | None = None,
    *,
    vocabulary: Sequence[str],
    reading: ReadOptions | None = None,
    documents: int = 4096,
    n_jobs: int | None = 1,
    progress: ReadProgress | None = None,
) -> Iterator[Corpus]:
    r"""Read a corpus in blocks over a known vocabulary, only one block of text in memory at a time.

    The blocks, stacked, are what `read_corpus` gives with the same vocabulary. Matrix Market and npz files are
    read whole before the first block; UCI files must have their documents in order. A list of the blocks is data for
    any model; `CorpusSource` can be read again and again.

    Stop words that are left to the language of the text (``stop_words="auto"``) are those of documents from all over
    it, for which a file or folder is read once before the first block. What can be read only once, such as standard
    input, is judged by its first documents, with a warning where others are in another language.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "a.txt")
    >>> _ = file.write_text("to be\nor not\nto be\n")
    >>> [len(block) for block in read_blocks(file, vocabulary=["be"], documents=2)]
    [2, 1]
    """
    reading = reading or ReadOptions()
    with _opened(path, reading) as source:
        blocks: Iterator[Corpus]
        if isinstance(source, DocumentReader):
            first = DocumentReader(path, reading) if _can_be_read_again(path) else None
            blocks = _text_blocks(source, options or TextOptions(), vocabulary, documents, n_jobs, first)
        else:
            counts = _count_blocks(*source, path, reading, documents, len(vocabulary))
            blocks = (align_vocabulary(corpus, vocabulary) for corpus in counts)
        done = 0
        for block in blocks:
            done += len(block)
            if progress is not None:
                progress(done, source.fraction if isinstance(source, DocumentReader) else source[1].fraction())
            yield block


def _text_blocks(
    reader: DocumentReader,
    options: TextOptions,
    vocabulary: Sequence[str],
    documents: int,
    n_jobs: int | None,
    first: DocumentReader | None,
) -> Iterator[Corpus]:
    # The language is that of the text, and not of each block for itself.
    spread = SpreadSample()
    texts: Iterable[Document | str] = reader
    if first is not None and options.stop_words == "auto" and options.ngrams == (1, 1):
        beginning = _look_all_over(first, options)
    else:
        beginning, texts = look_at_beginning(texts, options)
        texts = spread.over(texts) if beginning.sampled else texts
    for batch in batched(texts, documents, BLOCK_CHARACTERS):
        block = count_words(batch, beginning.options, vocabulary=vocabulary, n_jobs=n_jobs)
        report = replace(block.report, reading=reader.report, language=beginning.language, sampled=beginning.sampled)
        yield replace(block, report=report)
    if spread.texts:
        spread.warn_of_others(beginning)
    _warn(reader)


def _can_be_read_again(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path) != "-" and (Path(path).is_dir() or Path(path).is_file())


def _look_all_over(reader: DocumentReader, options: TextOptions) -> Beginning:
    """Settle by documents from all over the text what the options leave to its language."""
    spread = SpreadSample(SAMPLE_CHARACTERS)
    for _ in spread.over(reader):
        pass
    plain = replace(options, stemming=None, min_df=1, max_df=1.0, max_features=None)
    report = count_words(spread.texts, plain, n_jobs=1).report
    stop_words = None if report.options is None else report.options.stop_words
    return Beginning(with_stop_words(options, stop_words), report.language, len(spread.texts))


def _warn(reader: DocumentReader) -> None:
    """Tell what may have been lost in reading."""
    sentence = reader.report.warning()
    if sentence is not None:
        warn_caller(sentence)


@contextmanager
def _opened(path: str | os.PathLike[str], reading: ReadOptions) -> Iterator[DocumentReader | tuple[Format, ByteStream]]:
    """Open the input once, since standard input has no second time, and tell text from counts."""
    if os.fspath(path) != "-" and Path(path).is_dir():
        yield DocumentReader(path, reading)
        return
    with open_stream(path, reading.max_unpacked) as stream:
        chosen = reading.format or recognise_bytes(stream.sample(), stream.name)
        if chosen in COUNT_FORMATS:
            yield chosen, stream
        else:
            yield DocumentReader(path, replace(reading, format=chosen), stream=stream)


def _read_text(
    reader: DocumentReader,
    options: TextOptions | None,
    vocabulary: Sequence[str] | None,
    n_jobs: int | None,
    progress: ReadProgress | None,
) -> Corpus:
    def moved(documents: int) -> None:
        if progress is not None:
            progress(documents, reader.fraction)

    documents: Iterator[Document] = iter(reader)
    corpus = count_words(documents, options, vocabulary=vocabulary, n_jobs=n_jobs, progress=moved)
    if len(corpus) == 0 and vocabulary is None:
        bad = f"; {how_many(reader.report.bad, 'bad records')} skipped" if reader.report.bad else ""
        raise CorpusError(f"there are no documents in it{bad}", path=reader.path)
    _warn(reader)
    return replace(corpus, report=replace(corpus.report, reading=reader.report))


def _read_counts(
    chosen: Format, stream: ByteStream, path: str | os.PathLike[str], tally: Tally, reading: ReadOptions
) -> Corpus:
    words, ids = _sidecars(path, reading)
    n_words = None if words is None else len(words)
    if chosen == "uci":
        shape, batches = read_uci(stream, tally, reading)
        counts: Any = to_matrix(batches, shape)
    elif chosen == "ldac":
        counts = _ldac_matrix(stream, tally, n_words, reading)
    else:
        counts = read_matrix_market(stream, tally, reading) if chosen == "mtx" else read_npz(stream, reading)
    # What a header announced may not have come, and neither may be made room for.
    entries = counts.nnz if hasattr(counts, "nnz") else counts.size
    check_size("documents", counts.shape[0], entries, stream.name, reading.max_announced)
    if words is None:
        check_size("words", counts.shape[1], entries, stream.name, reading.max_announced)
    if ids is not None and tally.bad and len(ids) != counts.shape[0]:
        # Which names the skipped documents had is not known.
        ids = None
    return make_corpus(counts, words, ids, path=stream.name, report=CorpusReport())


def _count_blocks(
    chosen: Format,
    stream: ByteStream,
    path: str | os.PathLike[str],
    reading: ReadOptions,
    documents: int,
    n_columns: int,
) -> Iterator[Corpus]:
    tally = Tally(reading.skip_bad)
    if chosen not in ("uci", "ldac"):
        whole = _read_counts(chosen, stream, path, tally, reading)
        for start in range(0, len(whole), documents):
            block = whole[start : start + documents]
            yield replace(block, report=complete_report(block.report, block.counts, block.ids))
        return
    words, ids = _sidecars(path, reading)
    if chosen == "uci":
        shape, batches = read_uci(stream, tally, reading)
        if words is None and shape[1] != n_columns:
            raise CorpusError(
                f"the counts have {shape[1]} columns and no words, but the vocabulary has {n_columns}; give the file "
                "of the words",
                path=stream.name,
            )
        blocks = blocks_in_order(batches, shape, documents, stream.name, reading.max_announced)
    else:
        if words is None:
            raise CorpusError("the file of the words is needed to read LDA-C in blocks", path=stream.name)
        batches_of_lines = read_ldac(stream, tally, len(words), reading.max_document_bytes)
        blocks = blocks_of_batches(batches_of_lines, len(words), documents)
    first = 0
    for matrix in blocks:
        stop = first + matrix.shape[0]
        names = ids[first:stop] if ids is not None and not tally.bad else tuple(map(str, range(first, stop)))
        block = make_corpus(matrix, words, names, path=stream.name)
        yield replace(block, report=replace(block.report, reading=replace(tally.report(), documents=stop)))
        first = stop


def _ldac_matrix(stream: ByteStream, tally: Tally, n_words: int | None, reading: ReadOptions) -> Any:
    n_documents = 0
    batches: list[Entries] = []
    largest = -1
    for n_new, entries in read_ldac(stream, tally, n_words, reading.max_document_bytes):
        n_documents += n_new
        batches.append(entries)
        largest = max(largest, int(entries.words.max(initial=-1)))
    return to_matrix(batches, (n_documents, largest + 1 if n_words is None else n_words))


def words_of_counts(path: str, reading: ReadOptions) -> tuple[str, ...] | None:
    """Return the words of a file of counts that lie beside it or were named; None where there are none."""
    return _sidecars(path, reading)[0]


def _sidecars(
    path: str | os.PathLike[str], reading: ReadOptions
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    on_disk = os.fspath(path) != "-"
    if reading.vocabulary_file is None:
        words_file = find_vocabulary(path) if on_disk else None
    else:
        words_file = None if reading.vocabulary_file == "none" else Path(reading.vocabulary_file)
    ids_file = find_ids(path) if on_disk else None
    return (
        read_names(words_file, reading) if words_file is not None else None,
        read_names(ids_file, reading) if ids_file is not None else None,
    )
