"""The corpus: word counts of documents, with the words and the names of the documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from polyad.base.plurals import how_many
from polyad.corpus.documents import EXAMPLES, CorpusError
from polyad.corpus.report import CorpusReport, Dropped

_MAX_COUNT = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Corpus:
    """Word counts: one row per document, one column per word. Made by `read_corpus`, `count_words`, `make_corpus`.

    Parameters
    ----------
    counts
        Documents x words, whole numbers (int32), columns of each row sorted, no zero stored.
    vocabulary
        The word of each column; the number of the column where no words are known.
    ids
        The name of each document, or its number.
    report
        How the corpus came to be.

    Examples
    --------
    >>> corpus = make_corpus([[1, 0, 2], [0, 0, 0]], ["a", "b", "c"])
    >>> corpus
    Corpus(2 documents, 3 words, 3 tokens)
    >>> corpus.ids
    ('0', '1')
    """

    counts: csr_array
    vocabulary: tuple[str, ...]
    ids: tuple[str, ...]
    report: CorpusReport = field(default_factory=CorpusReport)

    def __post_init__(self) -> None:
        rows, columns = self.counts.shape
        if columns != len(self.vocabulary):
            raise ValueError(
                f"the counts have {how_many(columns, 'columns')}, and the vocabulary {len(self.vocabulary):,}."
            )
        if rows != len(self.ids):
            raise ValueError(f"the counts have {how_many(rows, 'rows')}, and the list of ids {len(self.ids):,}.")

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of documents and of words."""
        return len(self.ids), len(self.vocabulary)

    @property
    def numbered(self) -> bool:
        """Whether the words are only the numbers of their columns."""
        return all(word == str(number) for number, word in enumerate(self.vocabulary))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        tokens = int(self.counts.sum(dtype=np.int64))
        sizes = zip((*self.shape, tokens), ("documents", "words", "tokens"))
        return f"Corpus({', '.join(how_many(size, things) for size, things in sizes)})"

    def __getitem__(self, rows: slice) -> "Corpus":
        """Take a range of documents; the report stays that of the whole.

        Examples
        --------
        >>> make_corpus([[1], [2], [3]])[1:].counts.toarray().tolist()
        [[2], [3]]
        """
        if not isinstance(rows, slice):
            raise TypeError("a corpus is sliced by a range of documents, such as corpus[:100].")
        return replace(self, counts=csr_array(self.counts[rows]), ids=self.ids[rows])

    def blocks(self, documents: int = 4096) -> Iterator[csr_array]:
        """Yield the counts in blocks of so many rows, for passes over the data."""
        for start in range(0, len(self.ids), documents):
            yield csr_array(self.counts[start : start + documents])


def make_corpus(
    counts: Any,
    vocabulary: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    *,
    path: str | None = None,
    report: CorpusReport | None = None,
) -> Corpus:
    """Make a corpus of counts in any form, sparse or dense, documents x words.

    Entries for the same cell are added. What is not a whole number from 0 on is an error that names the first
    bad cell.

    Examples
    --------
    >>> make_corpus([[1, -2]], ["a", "b"])
    Traceback (most recent call last):
    ...
    polyad.corpus.documents.CorpusError: the count of word 1 ('b') in document 0 is -2; counts are whole numbers from 0 on
    """  # noqa: E501 - the message is one line
    matrix = _canonical(counts, vocabulary, path)
    rows, columns = matrix.shape
    if vocabulary is not None and len(vocabulary) != columns:
        turned = "; it seems to be words x documents: transpose it" if len(vocabulary) == rows else ""
        raise CorpusError(
            f"the counts have {how_many(columns, 'columns')} (words), but the vocabulary has "
            f"{len(vocabulary):,}{turned}",
            path=path,
        )
    if ids is not None and len(ids) != rows:
        raise CorpusError(f"the counts have {how_many(rows, 'rows')} (documents), and the ids {len(ids):,}", path=path)
    words = tuple(map(str, range(columns))) if vocabulary is None else tuple(vocabulary)
    names = tuple(map(str, range(rows))) if ids is None else tuple(ids)
    repeated = _repeated(words)
    if repeated:
        raise CorpusError(
            f"the word {repeated[0]!r} is twice in the vocabulary; each column must have a word of its own", path=path
        )
    return Corpus(matrix, words, names, complete_report(report or CorpusReport(), matrix, names))


def complete_report(report: CorpusReport, counts: csr_array, ids: tuple[str, ...]) -> CorpusReport:
    """Fill in what the counts and the ids themselves tell."""
    repeated = _repeated(ids)
    return replace(
        report,
        documents=len(ids),
        tokens=int(counts.sum(dtype=np.int64)),
        empty_documents=int(np.count_nonzero(np.diff(counts.indptr) == 0)),
        duplicate_ids=len(repeated),
        duplicate_examples=tuple(dict.fromkeys(repeated))[:EXAMPLES],
    )


def align_vocabulary(corpus: Corpus, vocabulary: Sequence[str]) -> Corpus:
    """Order the columns as another vocabulary has them; words that it lacks are dropped and reported.

    Counts without words are taken as they are if the number of columns is right.

    Examples
    --------
    >>> aligned = align_vocabulary(make_corpus([[1, 2]], ["a", "b"]), ["b", "c"])
    >>> aligned.counts.toarray().tolist(), aligned.report.dropped["unknown words"].examples
    ([[2, 0]], ('a',))
    """
    words = tuple(vocabulary)
    if corpus.vocabulary == words:
        return corpus
    if corpus.numbered:
        if len(corpus.vocabulary) != len(words):
            raise CorpusError(
                f"the counts have {len(corpus.vocabulary)} columns and no words, but the vocabulary has {len(words)}; "
                "give the file of the words"
            )
        return replace(corpus, vocabulary=words)
    column_of = {word: column for column, word in enumerate(words)}
    columns = np.array([column_of.get(word, -1) for word in corpus.vocabulary], dtype=np.int64)
    totals = np.asarray(corpus.counts.sum(axis=0, dtype=np.int64)).ravel()
    lost = {corpus.vocabulary[at]: int(totals[at]) for at in np.flatnonzero((columns < 0) & (totals > 0))}
    counts = map_columns(corpus.counts, columns, len(words))
    dropped = {**corpus.report.dropped, **({"unknown words": Dropped.from_totals(lost)} if lost else {})}
    report = complete_report(replace(corpus.report, dropped=dropped), counts, corpus.ids)
    return Corpus(counts, words, corpus.ids, report)


def map_columns(counts: csr_array, columns: NDArray[np.int64], n_columns: int) -> csr_array:
    """Move each column to a new place, add those that meet, and drop those whose new place is -1."""
    moved = columns[counts.indices]
    kept = moved >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    indptr = before[counts.indptr]
    index_type = np.int32 if indptr[-1] <= _MAX_COUNT else np.int64
    result = csr_array(
        (counts.data[kept], moved[kept].astype(index_type), indptr.astype(index_type)),
        shape=(counts.shape[0], n_columns),
    )
    result.sum_duplicates()
    return result


def stack(corpora: Sequence[Corpus]) -> Corpus:
    """Put corpora with the same vocabulary under each other.

    Examples
    --------
    >>> stack([make_corpus([[1]]), make_corpus([[2]])]).counts.toarray().tolist()
    [[1], [2]]
    """
    if not corpora:
        raise ValueError("there is no corpus to stack.")
    if any(corpus.vocabulary != corpora[0].vocabulary for corpus in corpora):
        raise ValueError("the corpora have different vocabularies; align them with align_vocabulary first.")
    counts = csr_array(vstack([corpus.counts for corpus in corpora], format="csr"))
    ids = tuple(name for corpus in corpora for name in corpus.ids)
    return Corpus(counts, corpora[0].vocabulary, ids, complete_report(corpora[0].report, counts, ids))


def _canonical(counts: Any, vocabulary: Sequence[str] | None, path: str | None) -> csr_array:
    matrix: Any
    if issparse(counts):
        matrix = counts.tocoo()  # type: ignore[attr-defined]
    else:
        dense = np.asarray(counts)
        if dense.ndim != 2:
            raise CorpusError(f"the counts must be a matrix, documents x words, not of {dense.ndim} axes", path=path)
        if dense.dtype.kind not in "biuf":
            raise CorpusError(f"the counts are not numbers but {dense.dtype}", path=path)
        matrix = csr_array(dense).tocoo()
    rows, columns, data = matrix.row, matrix.col, matrix.data
    if data.dtype.kind not in "biuf":
        raise CorpusError(f"the counts are not real numbers but {data.dtype}", path=path)
    with np.errstate(invalid="ignore"):
        bad = ~((data >= 0) & (data <= _MAX_COUNT) & (data == np.floor(data)))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        column = int(columns[at])
        name = f" ({vocabulary[column]!r})" if vocabulary is not None and column < len(vocabulary) else ""
        raise CorpusError(
            f"the count of word {column}{name} in document {int(rows[at])} is {data[at]}; "
            "counts are whole numbers from 0 on",
            path=path,
        )
    wide = csr_array((data.astype(np.int64), (rows, columns)), shape=matrix.shape)
    wide.sum_duplicates()
    wide.eliminate_zeros()
    if wide.nnz and int(wide.data.max()) > _MAX_COUNT:
        raise CorpusError(f"a count is above {_MAX_COUNT}, the largest that is read", path=path)
    index_type = np.int32 if wide.nnz <= _MAX_COUNT else np.int64
    return csr_array(
        (wide.data.astype(np.int32), wide.indices.astype(index_type), wide.indptr.astype(index_type)),
        shape=wide.shape,
    )


def _repeated(names: tuple[str, ...]) -> list[str]:
    """Give the names that an earlier one equals."""
    if len(set(names)) == len(names):
        return []
    seen: set[str] = set()
    again: list[str] = []
    for name in names:
        if name in seen:
            again.append(name)
        seen.add(name)
    return again
