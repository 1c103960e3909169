"""Data as other libraries hold them: bags of words, annotated matrices, lazy tables and arrays; and texts, refused."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.base.arrays import FloatArray
from polyad.engine.blocks import BLOCK_CELLS, is_sparse

_COUNT_FIRST = """count the words first:
    from sklearn.feature_extraction.text import CountVectorizer
    X = CountVectorizer().fit_transform(texts)"""
_COUNT_LISTS = _COUNT_FIRST.replace("CountVectorizer()", "CountVectorizer(analyzer=list)")


def matrix_of(X: Any, n_columns: int | None = None, *, name: str = "X") -> Any:
    """Return the numbers that X holds as a matrix or as blocks of rows, and anything else as it is.

    Known are a corpus (its ``counts``), AnnData (its ``X``, also where it lies in a file), a LazyFrame of polars, a
    dask array, also of sparse blocks, a dask table, and a list of bags of words as gensim makes it.

    Parameters
    ----------
    X
        Data.
    n_columns
        Words that bags of words are counted over; None for as many as they have.
    name
        What messages call it.

    Raises
    ------
    ValueError
        Where X is text; the message says how to count its words.

    Examples
    --------
    >>> matrix_of([[(0, 2), (3, 1)], [(1, 1)]]).toarray()
    array([[2., 0., 0., 1.],
           [0., 1., 0., 0.]])
    """
    if type(X) is np.ndarray and X.dtype.kind in "biuf":
        return X  # it can be nothing else
    refuse_texts(X, name)
    if is_lazy_frame(X):
        return X.collect()
    if is_dask_array(X):
        return _dask_rows(X, name)
    if is_dask_table(X):
        return (X.partitions[number].compute() for number in range(X.npartitions))
    if is_annotated(X):
        return _annotated_rows(X, name)
    if is_bags(X):
        return counts_of_bags(X, n_columns)
    is_matrix = hasattr(X, "__array__") or hasattr(X, "__dataframe__") or is_sparse(X)
    # A table may have a column named "counts".
    return X if is_matrix else getattr(X, "counts", X)


def refuse_texts(X: Any, name: str = "X", *, new: str = "") -> None:
    """Refuse texts, lists of words, mappings and a path, with what makes counts of them.

    Parameters
    ----------
    X
        Data.
    name
        What messages call it.
    new
        How new texts are counted for a model that was fitted; empty in a fit.
    """
    if is_dask_bag(X):
        raise ValueError(
            f"{name} is a dask.bag of texts, and counts of words are needed: polyad.corpus.index(texts, "
            "'corpus.shards') has the workers count them, and any model takes what it returns."
        )
    if _of_dask(X) and type(X).__name__ in ("Delayed", "DelayedLeaf", "Series"):
        raise ValueError(f"{name} has not been computed by dask yet: give {name}.compute().")
    if isinstance(X, str | bytes):
        raise ValueError(
            f"{name} is a text, and counts of words are needed. polyad.corpus.read_corpus(path) reads a file or a "
            f"folder of texts; of texts in memory {new or _COUNT_FIRST}"
        )
    if isinstance(X, os.PathLike):
        raise ValueError(
            f"{name} is a path, and data are needed: polyad.corpus.CorpusSource(path) reads a file or a folder "
            "of texts or of counts, polyad.engine.Shards(path) a folder of shards."
        )
    if _is_mapping(X):
        raise ValueError(
            f"{name} is a mapping, and rows of numbers are needed: pandas.DataFrame({name}) makes a table of it."
        )
    first = _first_of(X)
    if isinstance(first, str | bytes):
        raise ValueError(f"{name} is a list of texts, and counts of words are needed; {new or _COUNT_FIRST}")
    if is_words(first):
        raise ValueError(f"{name} is a list of lists of words, and counts of them are needed; {new or _COUNT_LISTS}")
    if _is_mapping(first):
        raise ValueError(
            f"{name} is a list of mappings, and rows of numbers are needed: "
            f"sklearn.feature_extraction.DictVectorizer().fit_transform({name}) makes them of words and their counts."
        )


def _is_mapping(X: Any) -> bool:
    return isinstance(X, Mapping) and not is_sparse(X)  # a matrix of keys is a dictionary in older versions of SciPy


def _first_of(X: Any) -> Any:
    """Return the first element of a list, or of an array or a column of a table; None where there is none."""
    if isinstance(X, list | tuple):
        return X[0] if X else None
    is_column = hasattr(X, "iloc") or type(X).__name__ == "Series"
    if not (is_column or isinstance(X, np.ndarray)) or np.ndim(X) != 1:
        return None
    values = np.asarray(X)
    return values[0] if values.size else None


def is_words(part: Any) -> bool:
    """Tell a document as a list of its words."""
    return isinstance(part, list | tuple) and len(part) > 0 and all(isinstance(word, str) for word in part)


def is_lazy_frame(X: Any) -> bool:
    """Tell a table of polars that has not been computed yet."""
    return type(X).__name__ == "LazyFrame" and hasattr(X, "collect")


def is_dask_array(X: Any) -> bool:
    """Tell an array of dask."""
    return _of_dask(X) and hasattr(X, "blocks") and hasattr(X, "numblocks")


def is_dask_table(X: Any) -> bool:
    """Tell a table of dask, which has partitions and columns."""
    return _of_dask(X) and hasattr(X, "partitions") and hasattr(X, "columns")


def is_dask_bag(X: Any) -> bool:
    """Tell a bag of dask: any objects, in partitions."""
    return _of_dask(X) and hasattr(X, "to_delayed") and type(X).__name__ == "Bag"


def _of_dask(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def _dask_rows(X: Any, name: str) -> Any:
    """Return blocks of all columns, each computed when its turn comes."""
    if X.ndim != 2:
        raise ValueError(f"{name} has {X.ndim} dimension(s); expected two. Reshape your data.")
    return _computed_rows(X)


def _computed_rows(X: Any) -> Iterator[Any]:
    n_blocks, n_beside = X.numblocks
    for number in range(n_blocks):
        parts = [X.blocks[number, place].compute() for place in range(n_beside)]
        if len(parts) == 1:
            yield parts[0]
        else:
            yield sparse.hstack(parts, format="csr") if is_sparse(parts[0]) else np.hstack(parts)


def is_annotated(X: Any) -> bool:
    """Tell AnnData: a matrix with tables about its rows and its columns."""
    return all(hasattr(X, name) for name in ("X", "obs", "var", "var_names"))


def names_of_columns(X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of AnnData or of a table; None where there are none.

    Examples
    --------
    >>> import types
    >>> names_of_columns(types.SimpleNamespace(columns=["sun", "rain"]))
    ('sun', 'rain')
    """
    if is_annotated(X):
        return tuple(map(str, X.var_names))
    columns = X.collect_schema().names() if is_lazy_frame(X) else getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    return tuple(names) if names and all(isinstance(name, str) for name in names) else None


def _annotated_rows(X: Any, name: str) -> Any:
    rows = X.X
    if rows is None:
        raise ValueError(f"{name} is AnnData without a matrix in X: set it, such as adata.X = adata.layers['counts'].")
    if is_sparse(rows) or isinstance(rows, np.ndarray):
        return rows
    if is_dask_array(rows):
        return _dask_rows(rows, name)
    if hasattr(rows, "parent") and hasattr(rows, "toarray"):
        return rows.toarray()  # a view of an array
    return _rows_of_file(rows, *X.shape)


def _rows_of_file(rows: Any, n_rows: int, n_columns: int) -> Iterator[Any]:
    """Yield rows of a matrix that lies in a file, some at a time."""
    some = max(1, 8 * BLOCK_CELLS // max(n_columns, 1))
    for first in range(0, n_rows, some):
        yield rows[first : min(first + some, n_rows)]


def is_bags(X: Any, *, may_be_empty: bool = False) -> bool:
    """Tell a list of bags of words: lists of pairs (number of the word, count), which are tuples as gensim's are.

    A list of empty lists may be anything; ``may_be_empty`` takes it for bags without a word.
    """
    is_list = isinstance(X, list | tuple) and len(X) > 0 and all(map(is_bag, X))
    return is_list and (may_be_empty or any(len(bag) for bag in X))


def is_bag(part: Any) -> bool:
    """Tell one bag of words; a list without any pair is an empty one."""
    return isinstance(part, list | tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], int | np.integer) for pair in part
    )


def counts_of_bags(bags: Sequence[Any], n_columns: int | None = None) -> sparse.csr_array:
    """Return bags of words as counts, documents x words.

    Parameters
    ----------
    bags
        A list of pairs (number of the word, count) for each document.
    n_columns
        Words in all; None for the largest number and one.
    """
    sizes = np.array([len(bag) for bag in bags], np.int64)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    words: NDArray[np.int64] = np.array([word for bag in bags for word, _ in bag], np.int64)
    counts: FloatArray = np.array([count for bag in bags for _, count in bag], np.float64)
    width = (int(words.max(initial=-1)) + 1) if n_columns is None else n_columns
    outside = np.flatnonzero((words < 0) | (words >= width))
    if outside.size:
        document = int(np.searchsorted(indptr, outside[0], side="right")) - 1
        known = "" if n_columns is None else f", and the model knows 0 to {width - 1}"
        raise ValueError(f"The bag of words {document} has the word number {words[outside[0]]}{known}.")
    return sparse.csr_array((counts, words, indptr), shape=(len(bags), width))


def refuse_listed_pairs(X: Any, name: str = "X") -> None:
    """Refuse lists of lists of pairs: they may be bags of words as JSON has them, or blocks of counts of two words."""

    def is_pair(values: Any) -> bool:
        return isinstance(values, list) and len(values) == 2 and isinstance(values[0], int)

    if isinstance(X, list) and all(isinstance(part, list) and all(map(is_pair, part)) for part in X) and any(X):
        raise ValueError(
            f"{name} is a list of lists of pairs. In bags of words pairs are tuples: give "
            f"[[tuple(pair) for pair in bag] for bag in {name}]; and blocks of two columns as arrays."
        )


def refuse_document(part: Any, name: str = "X") -> None:
    """Refuse a document that an iterable yields in the place of a block; a bag would be read as one of two columns."""
    if isinstance(part, str | bytes):
        raise ValueError(f"{name} yields texts, and counts of words are needed; {_COUNT_FIRST}")
    if is_words(part):
        raise ValueError(f"{name} yields lists of words, and counts of them are needed; {_COUNT_LISTS}")
    if isinstance(part, list | tuple) and len(part) > 0 and is_bag(part):
        raise ValueError(
            f"{name} yields bags of words, pairs of a word's number and its count, and blocks of counts are needed: "
            "give list(bags), or gensim.matutils.corpus2csc(bags, num_terms=len(dictionary)).T where they are many."
        )
