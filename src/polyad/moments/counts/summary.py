"""What one pass tells about a corpus of counts: word totals, document frequencies, lengths."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, total
from polyad.engine.blocks import sum_of_lengths


@dataclass(frozen=True)
class CountSummary:
    """Totals of a corpus; a document of several aligned texts is all of them, their words one after the other.

    Attributes
    ----------
    n_documents
        All documents.
    n_empty, n_too_short
        Documents without tokens, and with fewer than three: they carry no third moment.
    n_cells
        Non-zero cells.
    tokens, squared_lengths
        Sums of the documents' lengths, and of their squares.
    word_totals
        Tokens of every word, M.
    document_frequency
        Documents in which every word occurs, M.
    """

    n_documents: int
    n_empty: int
    n_too_short: int
    n_cells: int
    tokens: float
    squared_lengths: float
    word_totals: FloatArray
    document_frequency: NDArray[np.int64]

    @property
    def n_unseen_words(self) -> int:
        """Words that occur in no document."""
        return int((self.document_frequency == 0).sum())

    @property
    def mean_length(self) -> float:
        """Tokens of a document on average."""
        return self.tokens / self.n_documents

    @property
    def length_variance(self) -> float:
        """Variance of the documents' lengths."""
        return self.squared_lengths / self.n_documents - self.mean_length**2


def summarise_counts(source: Source) -> CountSummary:
    """Return the totals of a corpus, in one pass.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> summary = summarise_counts(count_blocks([[2, 0, 1], [0, 0, 1]]))
    >>> summary.tokens, summary.word_totals, summary.document_frequency, summary.n_too_short
    (4.0, array([2., 0., 2.]), array([1, 0, 2]), 1)
    """
    return CountSummary(source.n_rows, *total(block_totals, source))


def block_totals(block: Block) -> tuple[int, int, int, float, float, FloatArray, NDArray[np.int64]]:
    """Return the totals of a block, in the order of :class:`CountSummary`."""
    lengths = sum_of_lengths(block.lengths)
    return (
        int((lengths == 0).sum()),
        int((lengths < 3).sum()),
        block.n_cells,
        float(lengths.sum()),
        float(lengths @ lengths),
        np.concatenate([np.bincount(v.indices, v.data, v.shape[1]).astype(np.float64) for v in block.views]),
        np.concatenate([np.bincount(v.indices, minlength=v.shape[1]).astype(np.int64) for v in block.views]),
    )
