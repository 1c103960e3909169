"""Corpora of other libraries, both ways: gensim and AnnData.

In gensim a document is a list of pairs, but gensim's matrices are words x documents; in AnnData observations
(documents, cells) are rows as they are here. The libraries are imported only when an object of theirs is made.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import coo_array, issparse

from polyad.corpus.corpus import Corpus, make_corpus
from polyad.corpus.documents import CorpusError


def from_gensim(
    documents: Iterable[Sequence[tuple[int, float]]],
    dictionary: Any = None,
    *,
    ids: Sequence[str] | None = None,
) -> Corpus:
    """Make a corpus of a gensim corpus: an iterable of documents, each a list of pairs (word number, count).

    Parameters
    ----------
    documents
        Any gensim corpus, a list, or a streamed one.
    dictionary
        The words. A number without a word is called by its number.
    ids
        The names of the documents.

    Examples
    --------
    >>> corpus = from_gensim([[(0, 1), (2, 2)], []], {0: "cat", 1: "dog", 2: "hat"})
    >>> corpus.counts.toarray().tolist(), corpus.vocabulary
    ([[1, 0, 2], [0, 0, 0]], ('cat', 'dog', 'hat'))
    """
    if issparse(documents) or isinstance(documents, np.ndarray):
        raise TypeError(
            "a matrix is not a gensim corpus, and gensim's matrices are words x documents; give make_corpus "
            "the matrix with documents as rows."
        )
    rows: list[int] = []
    columns: list[int] = []
    data: list[float] = []
    n_documents = 0
    for document in documents:
        for word, count in document:
            rows.append(n_documents)
            columns.append(int(word))
            data.append(float(count))
        n_documents += 1
    words = _words_by_number(dictionary)
    if columns and min(columns) < 0:
        raise CorpusError(f"the word number {min(columns)} is negative")
    n_words = max(max(columns, default=-1), max(words, default=-1)) + 1
    if words and n_words > len(words) and (largest := max(columns, default=-1)) >= n_words - 1 > max(words):
        raise CorpusError(f"the word number {largest} is not in the dictionary; give the one made with this corpus")
    counts = coo_array((np.array(data), (rows, columns)), shape=(n_documents, n_words))
    vocabulary = [words.get(number, str(number)) for number in range(n_words)] if words else None
    return make_corpus(counts, vocabulary, ids)


def to_gensim(corpus: Corpus) -> tuple[list[list[tuple[int, int]]], Any]:
    """Give the documents as lists of pairs, and the words as a gensim Dictionary.

    Examples
    --------
    >>> documents, dictionary = to_gensim(corpus)  # doctest: +SKIP
    """
    try:
        from gensim.corpora import Dictionary
    except ImportError as error:
        raise ImportError("to_gensim needs the package gensim; install it with: pip install gensim.") from error
    counts = corpus.counts
    words, data, ends = counts.indices.tolist(), counts.data.tolist(), counts.indptr.tolist()
    documents = [list(zip(words[begin:end], data[begin:end])) for begin, end in pairwise(ends)]
    return documents, Dictionary.from_corpus(documents, dict(enumerate(corpus.vocabulary)))


def from_anndata(data: Any, layer: str | None = None) -> Corpus:
    """Make a corpus of an AnnData: observations are documents, variables are words.

    Parameters
    ----------
    data
        Counts in ``X`` or in a layer; values that are not whole numbers are an error.
    layer
        The layer with the counts.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> cells = SimpleNamespace(X=np.array([[1, 0, 2]]), obs_names=["cell"], var_names=["A", "B", "C"], layers={})
    >>> from_anndata(cells).vocabulary
    ('A', 'B', 'C')
    """
    if layer is not None and layer not in data.layers:
        raise CorpusError(f"there is no layer {layer!r}; the layers are {', '.join(map(repr, data.layers)) or 'none'}")
    counts = data.X if layer is None else data.layers[layer]
    if counts is None:
        raise CorpusError("the AnnData has no X; name the layer with the counts")
    return make_corpus(counts, [str(name) for name in data.var_names], [str(name) for name in data.obs_names])


def to_anndata(corpus: Corpus) -> Any:
    """Give the corpus as an AnnData, documents as observations and words as variables.

    Examples
    --------
    >>> data = to_anndata(corpus)  # doctest: +SKIP
    """
    try:
        from anndata import AnnData
        from pandas import DataFrame
        from scipy.sparse import csr_matrix
    except ImportError as error:
        raise ImportError("to_anndata needs the package anndata; install it with: pip install anndata.") from error
    return AnnData(
        X=csr_matrix(corpus.counts),
        obs=DataFrame(index=list(corpus.ids)),
        var=DataFrame(index=list(corpus.vocabulary)),
    )


def _words_by_number(dictionary: Any) -> dict[int, str]:
    if dictionary is None:
        return {}
    # A gensim Dictionary maps numbers to words only lazily; the other direction is always complete.
    if hasattr(dictionary, "token2id"):
        return {int(number): str(word) for word, number in dictionary.token2id.items()}
    if isinstance(dictionary, Mapping):
        return {int(number): str(word) for number, word in dictionary.items()}
    raise TypeError("dictionary must be a gensim Dictionary or a mapping of numbers to words.")
