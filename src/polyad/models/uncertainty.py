"""How sure a model's topics are: bootstrap over statistics of groups of documents, after one pass."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.engine import runner_for, single_threaded_blas
from polyad.engine.blocks import FloatArray
from polyad.inference.cells import cells_of, padded_vector, topic_table
from polyad.inference.expectation import collect, expect, prepare_documents
from polyad.inference.polish import SMOOTHING
from polyad.models.topic_model import INFERENCE_ITERATIONS


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
    counts = model._checked_input(X)
    n_groups = min(n_groups, counts.shape[0])
    if n_groups < 2:
        raise ValueError(f"A bootstrap needs at least 2 documents; X has {counts.shape[0]}.")
    with single_threaded_blas():
        groups = np.stack([_group_counts(model, counts[g::n_groups], n_jobs) for g in range(n_groups)])
    draws = np.random.default_rng(random_state).multinomial(n_groups, np.full(n_groups, 1 / n_groups), n_replicates)
    K = model.components_.shape[0]
    errors, stability = np.empty_like(model.components_), np.empty(K)
    for k in range(K):
        replicates = _normalised(draws @ groups[:, :, k], K)
        errors[k] = replicates.std(axis=0, ddof=1)
        centre = _normalised(groups[:, :, k].sum(axis=0, dtype=np.float64)[None], K)
        stability[k] = 1 - np.abs(replicates - centre).sum(axis=1).mean() / 2
    return Uncertainty(errors, stability, n_groups, n_replicates)


def _group_counts(model: Any, counts: sparse.csr_array, n_jobs: int | None) -> NDArray[np.float32]:
    """Return the expected tokens of each word in each topic in some documents, M x K."""
    K = model.components_.shape[0]
    state = prepare_documents(cells_of(sparse.csr_array(counts)), None, K)
    table, prior, run = topic_table(model.components_), padded_vector(model.doc_topic_prior_), runner_for(n_jobs)
    tokens = np.empty_like(table)
    expect(state, table, prior, run, INFERENCE_ITERATIONS)
    collect(state, table, run, tokens)
    return tokens[:, :K]


def _normalised(counts: NDArray[Any], n_components: int) -> FloatArray:
    """Topics from rows of counts, smoothed as polishing does on average."""
    smoothed = counts + SMOOTHING / n_components
    return smoothed / smoothed.sum(axis=1, keepdims=True)
