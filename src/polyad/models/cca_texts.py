"""Topics of two aligned texts: moments on proportions, then likelihood passes."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from polyad.decompose.cross_whitening import cross_whiten
from polyad.decompose.similarity import SimilarityDiagonaliser
from polyad.decompose.similarity_registry import similarity_diagonaliser
from polyad.engine import Blocks, Runner
from polyad.engine.blocks import Block, FloatArray
from polyad.inference.polylingual import PairedTopics, Text, polish_topics
from polyad.models.cca_diagnostics import FactorDiagnostics
from polyad.models.cca_factors import nonnegative_columns
from polyad.models.cca_fit import assemble
from polyad.models.stopwatch import StopWatch
from polyad.moments.cross_blocks import PairedBlocks
from polyad.moments.cross_texts import TextSummary, summarise_texts, two_text_moments

ALL_AXES = 50  # up to this many topics the third moments are contracted with all axes of the whitened space
N_DIRECTIONS = 24  # above: with this many random orthonormal directions
UNIGRAM = 0.05  # share of the plain word frequencies that is mixed into topics from moments
METRIC_POWER = -0.25  # of the mean proportion of a word; 1/sqrt(mean) gives rare words too much say in text
DIAGONALISER_TOL = 1e-5  # the polish moves topics by far more than this
POLISH = {"off": 0, "fast": 10, "full": 30}


@dataclass(frozen=True)
class TextOptions:
    """What the user chose: see the parameters of ``DiscreteCCA``."""

    n_components: int
    method: str | SimilarityDiagonaliser
    concentration: float
    min_frequency: int | None
    n_passes: int
    n_private: int
    max_iter: int | None
    random_state: int


@dataclass(frozen=True)
class TextFit:
    """Topics of two aligned texts.

    Attributes
    ----------
    topics
        The topics; the last columns are those that a language has for itself, zeros in the other.
    shares
        K, the share of all tokens that each shared topic has.
    x_whitener, y_whitener
        K x M1 and K x M2: projections under which a text and its translation lie close.
    diagnostics
        How the fit went.
    """

    topics: PairedTopics
    shares: FloatArray
    x_whitener: FloatArray
    y_whitener: FloatArray
    diagnostics: FactorDiagnostics


def fit_texts(pairs: PairedBlocks, run: Runner, options: TextOptions) -> TextFit:
    """Find the topics of two aligned texts from moments, and polish them."""
    watch, K = StopWatch(), options.n_components
    with watch("summary"):
        summary = summarise_texts(pairs, run)
        directions = _directions(K, options.random_state)
        moments = two_text_moments(pairs, run, summary, concentration=options.concentration, directions=directions)
    with watch("whiten"):
        x_metric, y_metric = text_metrics(summary, moments.x_mean, moments.y_mean, options.min_frequency)
        whitening = cross_whiten(
            moments.second, K, x_metric=x_metric, y_metric=y_metric, random_state=options.random_state
        )
    with watch("targets"):
        stack = moments.targets(whitening.x_whitener, whitening.y_whitener)
    with watch("diagonalise"):
        similarity = similarity_diagonaliser(options.method)(
            stack, max_iter=options.max_iter, tol=DIAGONALISER_TOL, random_state=options.random_state
        )
    with watch("loadings"):
        means = moments.x_mean, moments.y_mean
        found = assemble(moments.second, means, whitening, similarity, "proportions", float("nan"), watch)
        topics, shares = _topics_from_moments(found.x_loadings, found.y_loadings, summary, options)
    with watch("polish"):
        topics, shares = _polished(topics, shares, pairs, run, summary, options)
    diagnostics = replace(found.diagnostics, seconds=watch.seconds)
    return TextFit(topics, shares, whitening.x_whitener, whitening.y_whitener, diagnostics)


def text_metrics(
    summary: TextSummary, x_mean: FloatArray, y_mean: FloatArray, min_frequency: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return the scales of the words of both texts; 0 for words in too few documents to vary with anything."""
    least = int(np.clip(summary.x_lengths.size // 1500, 2, 20)) if min_frequency is None else min_frequency

    def scales(mean: FloatArray, frequency: NDArray[np.int64]) -> FloatArray:
        used = (frequency >= least) & (mean > 0)
        return np.where(used, np.where(used, mean, 1.0) ** METRIC_POWER, 0.0)

    return scales(x_mean, summary.x_frequency), scales(y_mean, summary.y_frequency)


def _directions(K: int, random_state: int) -> FloatArray | None:
    if K <= ALL_AXES:
        return None
    draws = np.random.default_rng(random_state).standard_normal((K, N_DIRECTIONS))
    return np.ascontiguousarray(linalg.qr(draws, mode="economic")[0].T)


def _topics_from_moments(
    x_loadings: FloatArray, y_loadings: FloatArray, summary: TextSummary, options: TextOptions
) -> tuple[PairedTopics, FloatArray]:
    """Turn loadings to their heavier sign, in both texts together, and put them on the simplex."""
    scaled = [loadings / np.linalg.norm(loadings, axis=0) for loadings in (x_loadings, y_loadings)]
    balance = sum((np.sign(view) * view**2).sum(axis=0) for view in scaled)
    signs = np.where(balance < 0, -1.0, 1.0)
    strengths = np.prod([np.maximum(signs * view, 0.0).sum(axis=0) for view in (x_loadings, y_loadings)], axis=0)
    # S12 = sum of c_k / (c0 (c0 + 1)) d1 d2': strengths are proportional to the Dirichlet parameters.
    shares = np.maximum(strengths, 1e-3 * strengths.max())
    shares /= shares.sum()
    order = np.argsort(-shares, kind="stable")
    topics = [
        (1 - UNIGRAM) * nonnegative_columns(signs * loadings) + UNIGRAM * (totals / totals.sum())[:, None]
        for loadings, totals in ((x_loadings, summary.x_totals), (y_loadings, summary.y_totals))
    ]
    # Bare moments may have the concentration 0; shares of documents need a prior above it.
    prior = np.full(options.n_components, max(options.concentration, 1e-3) / options.n_components)
    return PairedTopics(topics[0][:, order], topics[1][:, order], prior), shares[order]


def _polished(
    topics: PairedTopics,
    shares: FloatArray,
    pairs: PairedBlocks,
    run: Runner,
    summary: TextSummary,
    options: TextOptions,
) -> tuple[PairedTopics, FloatArray]:
    if options.n_passes == 0:
        return topics, shares
    K = options.n_components
    if options.n_private:
        topics = with_private_topics(topics, summary, options.n_private, options.random_state)
    x_text, y_text = (Text.from_blocks(blocks) for blocks in pairs.views)
    frozen = min(3, options.n_passes - 1) if options.n_private else 0
    topics, mixtures = polish_topics(
        topics, run, x_text, y_text, n_passes=options.n_passes, n_frozen=K, frozen_passes=frozen
    )
    shares = (summary.x_lengths + summary.y_lengths) @ mixtures[:, :K]
    order = np.argsort(-shares, kind="stable")
    columns = np.concatenate([order, np.arange(K, topics.prior.size)])
    ordered = PairedTopics(topics.x_topics[:, columns], topics.y_topics[:, columns], topics.prior[columns])
    return ordered, shares[order] / shares.sum()


def with_private_topics(topics: PairedTopics, summary: TextSummary, n_private: int, random_state: int) -> PairedTopics:
    """Add topics that only one of the texts has: word frequencies times random numbers, zeros in the other text."""
    rng = np.random.default_rng(random_state)

    def draws(totals: FloatArray) -> FloatArray:
        columns = (totals + 1.0)[:, None] * rng.gamma(1.0, size=(totals.size, n_private))
        return columns / columns.sum(axis=0)

    x_own, y_own = draws(summary.x_totals), draws(summary.y_totals)
    prior = np.concatenate([topics.prior, np.full(2 * n_private, topics.prior.mean())])
    return PairedTopics(
        np.hstack([topics.x_topics, x_own, np.zeros_like(x_own)]),
        np.hstack([topics.y_topics, np.zeros_like(y_own), y_own]),
        prior,
    )


def standard_projection(blocks: Blocks, run: Runner, whitener: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return K x M weights and K centres under which the documents have the mean 0 and the variance 1.

    A document is the root of its word proportions here, so that its length does not matter; those without a word of
    the whitener are left out.
    """

    def block_sums(block: Block) -> tuple[FloatArray, FloatArray, int]:
        rows = _projected_proportions(block, whitener)
        return rows.sum(axis=0), (rows**2).sum(axis=0), int(rows.any(axis=1).sum())

    total, squares, n_rows = run(block_sums, blocks)
    mean, mean_square = total / max(n_rows, 1), squares / max(n_rows, 1)
    variance = mean_square - mean**2
    # A direction in which all documents are the same tells nothing, and must not be blown up from rounding.
    varies = variance > 1e-10 * mean_square
    scale = np.where(varies, 1 / np.sqrt(np.where(varies, variance, 1.0)), 0.0)
    return whitener * scale[:, None], mean * scale


def _projected_proportions(block: Block, weights: FloatArray) -> FloatArray:
    """Return the rows of sqrt(X / length) @ weights.T."""
    lengths = np.maximum(np.asarray(block.rows.sum(axis=1)).ravel(), 1.0)
    projected: FloatArray = (block.rows.sqrt() @ np.ascontiguousarray(weights.T)) / np.sqrt(lengths)[:, None]
    return projected


def unit_projections(blocks: Blocks, run: Runner, weights: FloatArray, centre: FloatArray) -> FloatArray:
    """Return the rows of sqrt(X / length) @ weights.T less their centre, scaled to unit length, N x K.

    What all documents have in common is no sign of which two belong together. A row without any word that has a
    weight stays zero.
    """
    out = np.empty((blocks.shape[0], weights.shape[0]))

    def project(block: Block) -> None:
        projected = _projected_proportions(block, weights)
        projected = np.where(np.any(projected, axis=1, keepdims=True), projected - centre, 0.0)
        out[block.slice] = projected / np.maximum(np.linalg.norm(projected, axis=1, keepdims=True), 1e-300)

    run.each(project, blocks)
    return out
