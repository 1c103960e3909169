"""The words of documents that are counted to chunk files: stop words, stems and the vocabulary, in bounded memory."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyad.corpus.corpus import map_columns
from polyad.corpus.indexing.chunks import ChunkFiles
from polyad.corpus.indexing.terms import Choice, Totals, choose, dropped_words, look_up
from polyad.corpus.words.choices import with_stop_words
from polyad.corpus.words.detection import Listed, is_listed, row_lengths
from polyad.corpus.words.hashing import hashed_names
from polyad.corpus.words.languages import stem_terms
from polyad.corpus.words.scripts import count_scripts
from polyad.corpus.words.stopping import Stopping, stop_words_in
from polyad.corpus.words.tokens import TextOptions, drop_reason


def settle_stop_words(chunks: ChunkFiles, options: TextOptions) -> tuple[TextOptions, Stopping]:
    """Settle stop words that are left to the languages of all documents, and the stems with them.

    The choice is that of :func:`polyad.corpus.count_words`. The chunks are read three or four times; in memory are one
    of them, and some 30 bytes for every document.
    """
    found: set[str] = set()
    scripts, n_documents = np.zeros(4, np.int64), 0
    for chunk in chunks:
        found.update(filter(is_listed, chunk.terms))
        scripts += count_scripts(chunk.terms, _totals(chunk.counts))
        n_documents += chunk.counts.shape[0]
    terms = tuple(sorted(found))
    number = {term: column for column, term in enumerate(terms)}

    def blocks() -> Iterator[tuple[csr_array, NDArray[np.int64]]]:
        for chunk in chunks:
            columns = np.fromiter((number.get(term, -1) for term in chunk.terms), np.int64, len(chunk.terms))
            yield map_columns(chunk.counts, columns, len(terms)), row_lengths(chunk.counts)

    stopping = stop_words_in(Listed(terms, blocks), scripts, n_documents)
    return with_stop_words(options, stopping.stop_words), stopping


def choose_from_chunks(
    work: Path, chunks: ChunkFiles, options: TextOptions, n_documents: int, vocabulary: Sequence[str] | None
) -> Choice:
    """Choose the words when all documents are counted, or look up given ones.

    Parameters
    ----------
    work
        A folder for totals of more terms than memory holds.
    chunks
        The counts of all words; stop words that were told at the end are among them, and forms of one stem are apart.
    options
        With everything settled that was left to the language.
    n_documents
        Of all chunks.
    vocabulary
        Words to look up.
    """
    if options.hashed is not None:
        return _hashed(work, chunks, options.hashed)
    terms, forms, left = (Totals(work / name) for name in ("terms", "forms", "left"))
    reason_of, language = drop_reason(options), options.stemming

    def is_stopped(word: str) -> bool:
        return reason_of(word) == "stop words"

    for chunk in chunks:
        totals = _totals(chunk.counts)
        # Of runs of words the stop words were dropped before.
        stopped = np.array([" " not in term and is_stopped(term) for term in chunk.terms], dtype=bool)
        lost, kept = np.flatnonzero(stopped), np.flatnonzero(~stopped)
        left.add([f"stop words\0{chunk.terms[at]}" for at in lost.tolist()], [0] * lost.size, totals[lost].tolist())
        names = [chunk.terms[at] for at in kept.tolist()]
        stems = names if language is None else stem_terms(names, language)
        group_of = {stem: group for group, stem in enumerate(dict.fromkeys(stems))}
        columns = np.full(len(chunk.terms), -1, np.int64)
        columns[kept] = [group_of[stem] for stem in stems]
        counts = map_columns(chunk.counts, columns, len(group_of))
        in_documents = np.bincount(counts.indices, minlength=len(group_of))
        terms.add(group_of, in_documents.tolist(), _totals(counts).tolist())
        if language is not None:
            named = [f"{stem}\0{form}" for stem, form in zip(stems, names)]
            forms.add(named, [0] * len(named), totals[kept].tolist())
        for reason, words in chunk.dropped.items():
            left.add([f"{reason}\0{word}" for word in words], [0] * len(words), words.values())
    if vocabulary is not None:
        asked = tuple(vocabulary)
        keys = asked if language is None else tuple(stem_terms(asked, language))
        choice = look_up(terms, asked, keys) if language is None else look_up(forms, asked, keys, stemmed=True)
    else:
        choice = choose(terms, n_documents, options, None if language is None else _named(forms))
    if language is not None:
        counted_as = _counted_as(forms, set(choice.terms))
    else:  # a stop word can be among those that are asked for, and is dropped as it is in memory
        counted_as = {term: term for term in choice.terms if not is_stopped(term)}
    return choice._replace(dropped={**dropped_words(left), **choice.dropped}, counted_as=counted_as)


def _hashed(work: Path, chunks: ChunkFiles, n_columns: int) -> Choice:
    """Take all columns that words are hashed to, and sum up what was dropped before."""
    left, names = Totals(work / "left"), hashed_names(n_columns)
    for chunk in chunks:
        for reason, words in chunk.dropped.items():
            left.add([f"{reason}\0{word}" for word in words], [0] * len(words), words.values())
    return Choice(names, names, dropped_words(left))


def _totals(counts: csr_array) -> NDArray[np.int64]:
    return np.bincount(counts.indices, counts.data, counts.shape[1]).astype(np.int64)


def _named(forms: Totals) -> dict[str, str]:
    """Return for each stem its most frequent form, the first by alphabet of equals."""
    best: dict[str, tuple[int, str]] = {}
    for term in forms:
        stem, _, form = term.name.partition("\0")
        best[stem] = min(best.get(stem, (1, "")), (-term.tokens, form))
    return {stem: form for stem, (_, form) in best.items()}


def _counted_as(forms: Totals, kept: set[str]) -> dict[str, str]:
    """Return the stem of every form that a chosen one has."""
    pairs = (term.name.split("\0", 1) for term in forms)
    return {form: stem for stem, form in pairs if stem in kept}
