"""What one pass tells about a corpus of counts: lengths, word totals, document frequencies."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyad.engine import Block, Blocks, Runner
from polyad.engine.blocks import FloatArray


@dataclass(frozen=True)
class CountSummary:
    """Totals of a corpus.

    Attributes
    ----------
    lengths
        Tokens of every document, N.
    word_totals
        Tokens of every word, M.
    document_frequency
        Documents in which every word occurs, M.
    n_cells
        Non-zero cells.
    """

    lengths: FloatArray
    word_totals: FloatArray
    document_frequency: NDArray[np.int64]
    n_cells: int

    @property
    def n_too_short(self) -> int:
        """Documents with fewer than three tokens: they carry no third moment."""
        return int((self.lengths < 3).sum())

    @property
    def n_unseen_words(self) -> int:
        """Words that occur in no document."""
        return int((self.document_frequency == 0).sum())


def summarise_counts(blocks: Blocks, run: Runner) -> CountSummary:
    """Return lengths, word totals and document frequencies in one pass.

    Examples
    --------
    >>> from polyad.engine import Serial, count_blocks
    >>> summary = summarise_counts(count_blocks([[2, 0, 1], [0, 0, 1]]), Serial())
    >>> summary.lengths, summary.word_totals, summary.document_frequency
    (array([3., 1.]), array([2., 0., 2.]), array([1, 0, 2]))
    """
    n_documents, n_words = blocks.shape
    lengths = np.zeros(n_documents)

    def block_sums(block: Block) -> tuple[FloatArray, NDArray[np.int64], int]:
        rows = block.rows
        lengths[block.slice] = rows.sum(axis=1)
        totals: FloatArray = np.bincount(rows.indices, weights=rows.data, minlength=n_words).astype(np.float64)
        frequency = np.bincount(rows.indices, minlength=n_words).astype(np.int64)
        return totals, frequency, rows.nnz

    totals, frequency, n_cells = run(block_sums, blocks)
    return CountSummary(lengths, totals, frequency, n_cells)
