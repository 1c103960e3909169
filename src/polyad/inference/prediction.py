"""How well some of several aligned texts predict the others, with the topics known."""

import numpy as np
from scipy import sparse

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, total
from polyad.inference.cells import cells_of, read_only, topic_table
from polyad.inference.expectation import Table
from polyad.inference.kernels.evaluation import score_documents
from polyad.inference.posterior import infer_block


def cross_log_likelihood(
    source: Source, topics: tuple[FloatArray, FloatArray], priors: list[FloatArray], max_iter: int
) -> FloatArray:
    """Return the log-likelihood of each of two aligned texts given the other, summed, under each of some priors.

    The topic shares of a document come from one of its texts; the words of the other are scored. One pass.

    Parameters
    ----------
    source
        Counts of two texts.
    topics
        Their topics, K x M1 and K x M2.
    priors
        Dirichlet parameters of the shares, K, to be compared.
    max_iter
        Iterations of the shares of each document.

    Examples
    --------
    >>> from polyad.engine import aligned, count_blocks
    >>> texts = aligned(count_blocks([[5, 0], [0, 5]]), count_blocks([[4, 0], [0, 4]]))
    >>> topics = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> narrow, wide = cross_log_likelihood(texts, (topics, topics), [np.full(2, 0.1), np.full(2, 10.0)], 20)
    >>> bool(narrow > wide)
    True
    """
    tables = topic_table(topics[0]), topic_table(topics[1])
    columns = np.ascontiguousarray(topics[0].T), np.ascontiguousarray(topics[1].T)
    return total(_predicted, source, tables, columns, priors, max_iter)


def _predicted(
    block: Block,
    tables: tuple[Table, Table],
    columns: tuple[FloatArray, FloatArray],
    priors: list[FloatArray],
    max_iter: int,
) -> FloatArray:
    found = np.zeros(len(priors))
    for known, hidden in ((0, 1), (1, 0)):
        seen = Block((block.views[known],), (block.lengths[known],), block.start)
        for number, prior in enumerate(priors):
            shares = infer_block(seen, tables[known], prior, "map", max_iter)
            found[number] += _score(block.views[hidden], columns[hidden], shares)
    return found


def _score(rows: sparse.csr_array, columns: FloatArray, shares: FloatArray) -> float:
    cells, scores = cells_of(rows), np.empty(rows.shape[0])
    data, columns, shares = map(read_only, (rows.data, columns, shares))
    score_documents(0, rows.shape[0], cells.indptr, cells.words, data, columns, shares, scores)
    return float(scores.sum())
