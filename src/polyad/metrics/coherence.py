"""Whether the top words of a topic come together in documents."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from polyad.base.arrays import FloatArray
from polyad.engine import Block, count_blocks, total
from polyad.metrics.words import top_words

# Documents with both words, with the more probable one, with the less probable one, and documents in all.
Pairs = tuple[FloatArray, FloatArray, FloatArray, int]


def umass_coherence(components: ArrayLike, X: Any, *, n_words: int = 20) -> FloatArray:
    """Return the UMass coherence of each topic, K; higher (nearer to 0) is better.

    The sum over pairs of a topic's top words, w_i more probable than w_j, of ``log((D(w_i, w_j) + 1) / D(w_i))``,
    with D the number of documents that contain the words (Mimno et al., 2011; the SVTD paper, section 4.3.1).
    It is a sum: compare topics with the same number of words only.

    Parameters
    ----------
    components
        Topics, K x M. Top words are the most probable ones, ties in the order of word numbers.
    X
        Documents x words, anything that :func:`polyad.engine.count_blocks` takes.
    n_words
        Top words of a topic; all words where the vocabulary has fewer.

    Notes
    -----
    The formula has no value where w_i is in no document: such a pair counts as the worst that N documents can show,
    ``log(1 / N)``. A vocabulary of one word has no pairs and gives 0.

    Examples
    --------
    >>> X = [[1, 1, 0], [2, 1, 0], [0, 0, 3], [1, 0, 1]]
    >>> umass_coherence([[0.6, 0.4, 0.0], [0.0, 0.4, 0.6]], X, n_words=2).round(3)
    array([ 0.   , -0.693])
    """
    return _over_pairs(components, X, n_words, _umass, summed=True)


def npmi_coherence(components: ArrayLike, X: Any, *, n_words: int = 10) -> FloatArray:
    """Return the mean normalised pointwise mutual information of each topic's top words, K, in [-1, 1].

    For a pair of words with the shares p_i, p_j and p_ij of the documents that contain the one, the other and both,
    ``log(p_ij / (p_i p_j)) / -log(p_ij)``: 1 where they only come together, 0 where they are independent, -1 where
    they never come together. How often a word stands in a document does not matter.

    Parameters
    ----------
    components
        Topics, K x M. Top words are the most probable ones, ties in the order of word numbers.
    X
        The reference corpus, documents x words, anything that :func:`polyad.engine.count_blocks` takes.
    n_words
        Top words of a topic; all words where the vocabulary has fewer.

    Notes
    -----
    A pair with a word that is in no document counts -1, and a pair that is in every document 1. A vocabulary of one
    word has no pairs and gives 0.

    Examples
    --------
    >>> X = [[1, 1, 0], [2, 1, 0], [0, 0, 3], [0, 0, 1]]
    >>> npmi_coherence([[0.6, 0.4, 0.0], [0.0, 0.4, 0.6]], X, n_words=2)
    array([ 1., -1.])
    """
    return _over_pairs(components, X, n_words, _npmi, summed=False)


def _umass(pairs: Pairs) -> FloatArray:
    together, first, _, n_documents = pairs
    return np.where(first > 0, np.log((together + 1) / np.maximum(first, 1)), -np.log(n_documents))


def _npmi(pairs: Pairs) -> FloatArray:
    together, first, second, n_documents = pairs
    values = np.full(together.size, -1.0)
    values[together == n_documents] = 1.0
    usual = (together > 0) & (together < n_documents)
    share = together[usual] / n_documents
    independent = (first[usual] / n_documents) * (second[usual] / n_documents)
    values[usual] = np.log(share / independent) / -np.log(share)
    return values


def _over_pairs(
    components: ArrayLike, X: Any, n_words: int, measure: Callable[[Pairs], FloatArray], *, summed: bool
) -> FloatArray:
    """Return the sum or the mean of a measure over the pairs of each topic's top words."""
    if n_words != int(n_words) or n_words < 2:
        raise ValueError(f"n_words is {n_words}; a pair of words takes a whole number from 2 up.")
    words = top_words(components, n_words)
    distinct, columns = np.unique(words, return_inverse=True)
    together, n_documents = _documents_of_pairs(X, distinct, np.shape(components)[1])
    totals = np.array([measure(_pairs(together, own, n_documents)).sum() for own in columns.reshape(words.shape)])
    n_pairs = words.shape[1] * (words.shape[1] - 1) // 2
    return totals if summed else totals / max(n_pairs, 1)


def _documents_of_pairs(X: Any, words: NDArray[np.intp], n_words: int) -> tuple[sparse.csr_array, int]:
    """Return in how many documents each two of the chosen words come together, and the number of all documents."""
    source = count_blocks(X)
    if source.n_columns != n_words:
        raise ValueError(
            f"The topics have {n_words} words and the documents {source.n_columns}. "
            "Count the documents over the vocabulary of the topics."
        )
    return total(_together, source, words), source.n_rows


def _together(block: Block, words: NDArray[np.intp]) -> sparse.csr_array:
    present = block.rows[:, words]
    present.data = np.ones(present.nnz)
    return sparse.csr_array(present.T @ present)


def _pairs(together: sparse.csr_array, words: NDArray[np.intp], n_documents: int) -> Pairs:
    """Count the documents of each pair i < j of some words."""
    own = together[words][:, words].toarray()
    first, second = np.triu_indices(own.shape[0], 1)
    alone = own.diagonal()
    return own[first, second], alone[first], alone[second], n_documents
