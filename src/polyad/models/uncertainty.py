"""How sure a model's topics are: bootstrap over statistics of groups of documents, after one pass."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import Block, step
from polyad.engine.sources import rows_of_block
from polyad.inference.cells import padded_vector, topic_table
from polyad.inference.expectation import Iterations, Table, TopicTable, collect, expect, prepare_documents
from polyad.inference.polish import SMOOTHING
from polyad.models.fitting import running
from polyad.models.topics.base import INFERENCE_ITERATIONS


@dataclass(frozen=True)
class Uncertainty:
    """What another sample of documents of the same kind might have given.

    Attributes
    ----------
    standard_errors
        K x M: of every topic's word probabilities.
    stability
        K: mean probability mass that a topic shares with its bootstrap replicates; 1 does not change at all.
    n_groups, n_replicates
        Groups of documents that were drawn, and how often.
    """

    standard_errors: FloatArray
    stability: FloatArray
    n_groups: int
    n_replicates: int


def bootstrap(
    model: Any, X: Any, *, n_groups: int = 32, n_replicates: int = 200, random_state: int = 0, n_jobs: int | None = None
) -> Uncertainty:
    """Estimate the sampling error of a fitted model's topics.

    One pass collects every group's expected word counts by topic; each replicate then draws groups with replacement
    and makes topics of their sums, without touching the data again. Groups are made of every n-th document. The
    assignments of words to topics are those of the fitted model, so that this is the error of the word
    probabilities given what the topics are about.

    Parameters
    ----------
    model
        A fitted :class:`polyad.LDA` or :class:`polyad.DiscreteICA`.
    X
        The documents it was fitted on, or others of the same kind.
    n_groups, n_replicates
        Groups of documents, and draws; groups x words x topics numbers of 4 bytes are kept.
    random_state, n_jobs
        Seed of the draws, and threads; the result does not depend on the threads.
    """
    if not hasattr(model, "doc_topic_prior_") or hasattr(model, "weights_"):
        raise ValueError(f"A {type(model).__name__} has no topic shares to draw from: give an LDA or a DiscreteICA.")
    source = model._checked_input(X)
    n_groups = min(n_groups, source.n_rows)
    if n_groups < 2:
        raise ValueError(f"A bootstrap needs at least 2 documents; X has {source.n_rows}.")
    K = model.components_.shape[0]
    table = TopicTable(topic_table(model.components_), padded_vector(model.doc_topic_prior_), (0, source.n_columns))
    with running(n_jobs):
        groups, _ = step(_group_counts, source, [None] * source.n_shards, table, n_groups, K)
    generator = np.random.default_rng(random_state)
    draws = generator.multinomial(n_groups, np.full(n_groups, 1 / n_groups), n_replicates).astype(np.float64)
    errors, stability = np.empty_like(model.components_), np.empty(K)
    by_topic = np.ascontiguousarray(np.moveaxis(groups, 2, 0))  # the groups of a topic side by side
    for k in range(K):
        own = by_topic[k].astype(np.float64)
        replicates = _normalised(draws @ own, K)
        errors[k] = replicates.std(axis=0, ddof=1)
        centre = _normalised(own.sum(axis=0)[None], K)
        stability[k] = 1 - np.abs(replicates - centre).sum(axis=1).mean() / 2
    return Uncertainty(errors, stability, n_groups, n_replicates)


def _group_counts(shard: Block, _: None, table: TopicTable, n_groups: int, K: int) -> tuple[Table, None]:
    """Return the expected tokens of each word in each topic in the groups of documents of a shard, groups x M x K."""
    found = np.zeros((n_groups, table.topics.shape[0], K), np.float32)
    for group in range(n_groups):
        chosen = np.flatnonzero(np.arange(shard.start, shard.start + shard.n_rows) % n_groups == group)
        if chosen.size:
            documents = prepare_documents(rows_of_block(shard, chosen), None, None, K)[1]
            shares, _likelihood, expected = expect(documents, table, Iterations(INFERENCE_ITERATIONS))
            found[group] = collect(expected, shares, table.topics)[:, :K]
    return found, None


def _normalised(counts: NDArray[Any], n_components: int) -> FloatArray:
    """Topics from rows of counts, smoothed as polishing does on average."""
    smoothed = counts + SMOOTHING / n_components
    return smoothed / smoothed.sum(axis=1, keepdims=True)
