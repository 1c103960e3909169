"""One pass of EM over a shard for many topics: documents keep the topics that they have, and no others.

The same E and M step as in :mod:`polyad.inference.expectation`, but that a topic with hardly a token in a document is
left out of it from then on. Time and memory go with the topics of a document in place of all topics.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import Block, for_each, sum_over
from polyad.inference.cells import Range, all_read_only, even_ranges, read_only
from polyad.inference.expectation import (
    Documents,
    Iterations,
    Likelihood,
    Table,
    TokenScale,
    TopicTable,
    prepare_documents,
)
from polyad.inference.kernels.few_topics import Kept, collect_few, expect_few
from polyad.inference.kernels.topics import PAD, DocumentCells, EStep, TopicRows, padded

MANY_TOPICS = 128  # from which on documents keep only their own: below, vector registers are faster at all of them
LEAST_TOKENS = 0.01  # of a topic that a document keeps
LEAST_PLACES, CELLS_FOR_A_PLACE = 32, 8  # for topics of a document: so many, and one more for so many different words


@dataclass(frozen=True)
class FewTopics:
    """The documents of a shard, and the topics that each of them has.

    Attributes
    ----------
    documents
        The cells by document and by word; what they expect is kept here in place of there.
    place, sizes, topics, tokens, responsibility_place, responsibilities
        See :class:`~polyad.inference.kernels.few_topics.Kept`.
    """

    documents: Documents
    place: NDArray[np.int64]
    sizes: NDArray[np.int32]
    topics: NDArray[np.uint16]
    tokens: NDArray[np.float32]
    responsibility_place: NDArray[np.int64]
    responsibilities: NDArray[np.uint16]


def places_for(n_cells: NDArray[np.integer], K: int) -> NDArray[np.int64]:
    """Return for how many topics of documents with so many cells there are places.

    Examples
    --------
    >>> places_for(np.array([0, 60, 900]), 500)
    array([ 32,  48, 144])
    """
    wanted = np.minimum(LEAST_PLACES + n_cells.astype(np.int64) // CELLS_FOR_A_PLACE, K)
    return -(-wanted // PAD) * PAD


def few_bytes(n_documents: int, n_cells: int, n_left_out_cells: int, K: int) -> int:
    """Return the memory that what is kept of documents takes, in bytes; old and new are there for a while."""
    width = int(places_for(np.array([n_cells // max(n_documents, 1)]), K)[0])
    return width * (2 * (2 + 4 + 4) * n_documents + 3 * n_left_out_cells)


def prepare_few(shard: Block, _: None, word_totals: FloatArray | None, K: int) -> tuple[int, FewTopics]:
    """Set up a shard for the passes: see :func:`~polyad.inference.expectation.prepare_documents`."""
    n_left_out, documents = prepare_documents(shard, None, word_totals, 1)
    cells = documents.cells
    n_cells = np.diff(cells.indptr)
    places = places_for(n_cells, K)
    of_cell = np.repeat(np.arange(n_cells.size), n_cells)[documents.responsibility_at >= 0]
    place = np.concatenate([[0], np.cumsum(places)])
    responsibility_place = np.concatenate([[0], np.cumsum(places[of_cell])])
    found = FewTopics(
        documents,
        read_only(place),
        np.zeros(n_cells.size, np.int32),
        np.zeros(0, np.uint16),  # the first pass looks at all topics, and at none of these
        np.zeros(0, np.float32),
        read_only(responsibility_place),
        np.zeros(0, np.uint16),
    )
    return n_left_out, found


def few_step(
    shard: Block, kept: FewTopics, table: TopicTable, iterations: Iterations
) -> tuple[tuple[Table, Likelihood], FewTopics]:
    """One pass of EM over a shard: see :func:`~polyad.inference.expectation.em_step`."""
    documents, leave_out = kept.documents, table.token_scale is not None
    cells, n_documents = documents.cells, documents.cells.shape[0]
    none = read_only(np.zeros((1, table.prior.size), np.float32))  # not looked at without
    token_scale = table.token_scale or TokenScale(none, none)
    known = TopicRows(
        *all_read_only(table.topics, table.prior, table.view_of, token_scale.one_token, token_scale.floor)
    )
    how = EStep(iterations.inner, np.float32(iterations.relaxation), iterations.warm, leave_out)
    old = _kept(kept, kept.tokens)
    new = Kept(
        old.place,
        np.zeros(n_documents, np.int32),
        np.zeros(int(kept.place[-1]), np.uint16),
        np.zeros(int(kept.place[-1]), np.float32),
        np.zeros(int(kept.place[-1]), np.float32),
        old.responsibility_place,
        np.zeros(int(kept.responsibility_place[-1]), np.uint16),
    )
    likelihood = np.zeros((n_documents, 2))
    own = DocumentCells(*all_read_only(cells.indptr, cells.words, cells.counts))
    responsibility_at = read_only(documents.responsibility_at)

    def expect_range(between: Range) -> Likelihood:
        expect_few(*between, own, responsibility_at, known, how, np.float32(LEAST_TOKENS), old, new, likelihood)
        return Likelihood(*likelihood[slice(*between)].sum(axis=0))

    found = sum_over(expect_range, cells.ranges)
    renewed = replace(
        kept,
        sizes=read_only(new.sizes),
        topics=read_only(new.topics),
        tokens=read_only(new.tokens),
        responsibilities=read_only(new.responsibilities),
    )
    collected, seen = np.empty_like(table.topics), _kept(renewed, read_only(new.shares))
    word_cells = all_read_only(
        documents.word_ptr, documents.word_documents, documents.word_counts, documents.word_responsibility_at
    )

    def collect_range(words: Range) -> None:
        collect_few(*words, *word_cells, seen, known.table, leave_out, collected)

    for_each(collect_range, even_ranges(documents.word_ptr))
    return (collected, found), renewed


def _kept(few: FewTopics, shares: NDArray[np.float32]) -> Kept:
    arrays = (few.place, few.sizes, few.topics, few.tokens, shares, few.responsibility_place, few.responsibilities)
    return Kept(*all_read_only(*arrays))


def has_many(K: int) -> bool:
    """Tell whether documents should keep only their own topics.

    Examples
    --------
    >>> has_many(100), has_many(500)
    (False, True)
    """
    return padded(K) > MANY_TOPICS
