"""How sure a model's topics are: bootstrap over statistics of groups of documents, after one pass."""

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import Block, step
from polyad.engine.sources import aligned, rows_of_block
from polyad.inference.cells import padded_vector, topic_table
from polyad.inference.expectation import Iterations, Table, TopicTable, collect, e_step, prepare_documents
from polyad.inference.polish import SMOOTHING
from polyad.models.fitting import running
from polyad.models.topics.base import INFERENCE_ITERATIONS


@dataclass(frozen=True)
class Uncertainty:
    """What another sample of documents of the same kind might have given.

    Attributes
    ----------
    standard_errors
        K x M: of every topic's word probabilities; of aligned texts a list of these, one for each.
    stability
        K: mean probability mass that a topic shares with its bootstrap replicates; 1 does not change at all. Of aligned
        texts the mean over them.
    n_groups, n_replicates
        Groups of documents that were drawn, and how often.
    """

    standard_errors: FloatArray | list[FloatArray]
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
        A fitted :class:`polyad.LDA`, :class:`polyad.DiscreteICA` or :class:`polyad.PolylingualLDA`.
    X
        The documents it was fitted on, or others of the same kind; of aligned texts a list.
    n_groups, n_replicates
        Groups of documents, and draws; groups x words x topics numbers of 4 bytes are kept.
    random_state, n_jobs
        Seed of the draws, and threads; the result does not depend on the threads.
    """
    if not hasattr(model, "doc_topic_prior_") or hasattr(model, "weights_"):
        raise ValueError(f"A {type(model).__name__} has no topic shares to draw from: give an LDA or a DiscreteICA.")
    if isinstance(model.components_, list):
        source, topics = aligned(*model._known_views(X).values()), np.hstack(model.all_components_)
        if len(source.widths) != len(model.components_):
            raise ValueError("A bootstrap takes all of the aligned texts: give each of them, and not None.")
    else:
        source, topics = model._checked_input(X), model.components_
    n_groups = min(n_groups, source.n_rows)
    if n_groups < 2:
        raise ValueError(f"A bootstrap needs at least 2 documents; X has {source.n_rows}.")
    edges = tuple(accumulate(source.widths, initial=0))
    table = TopicTable(topic_table(topics), padded_vector(model.doc_topic_prior_), edges)
    with running(n_jobs):
        groups, _ = step(_group_counts, source, [None] * source.n_shards, table, n_groups, len(topics))
    generator = np.random.default_rng(random_state)
    draws = generator.multinomial(n_groups, np.full(n_groups, 1 / n_groups), n_replicates).astype(np.float64)
    K = len(model.topic_shares_)  # topics of one text alone are not among them
    found = [_errors(groups[:, first:last, :K], draws) for first, last in pairwise(edges)]
    errors, stability = [own for own, _ in found], np.mean([own for _, own in found], axis=0)
    return Uncertainty(errors[0] if len(errors) == 1 else errors, stability, n_groups, n_replicates)


def _errors(groups: Table, draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the standard errors and the stability of topics, from the counts of groups, groups x words x topics."""
    K = groups.shape[2]
    errors, stability = np.empty((K, groups.shape[1])), np.empty(K)
    by_topic = np.ascontiguousarray(np.moveaxis(groups, 2, 0))  # the groups of a topic side by side
    for k in range(K):
        own = by_topic[k].astype(np.float64)
        replicates = _normalised(draws @ own, K)
        errors[k] = replicates.std(axis=0, ddof=1)
        centre = _normalised(own.sum(axis=0)[None], K)
        stability[k] = 1 - np.abs(replicates - centre).sum(axis=1).mean() / 2
    return errors, stability


def _group_counts(shard: Block, _: None, table: TopicTable, n_groups: int, K: int) -> tuple[Table, None]:
    """Return the expected tokens of each word in each topic in the groups of documents of a shard, groups x M x K."""
    found = np.zeros((n_groups, table.topics.shape[0], K), np.float32)
    for group in range(n_groups):
        chosen = np.flatnonzero(np.arange(shard.start, shard.start + shard.n_rows) % n_groups == group)
        if chosen.size:
            documents = prepare_documents(rows_of_block(shard, chosen), None, None, K)[1]
            shares, _likelihood, expected = e_step(documents, table, Iterations(INFERENCE_ITERATIONS))
            found[group] = collect(expected, shares, table.topics)[:, :K]
    return found, None


def _normalised(counts: NDArray[Any], n_components: int) -> FloatArray:
    """Topics from rows of counts, smoothed as polishing does on average."""
    smoothed = counts + SMOOTHING / n_components
    return smoothed / smoothed.sum(axis=1, keepdims=True)
