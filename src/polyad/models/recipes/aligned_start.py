"""Steps 1 to 4 for aligned texts: from a list of them to the topics that their cross moments give."""

from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.base.fixed import fixed_orthonormal
from polyad.decompose.certainty import certainty
from polyad.decompose.polyadic import PARTIAL_SUMS
from polyad.decompose.similarity.registry import similarity_diagonaliser
from polyad.decompose.similarity.sweeps import SimilarityDiagonalisation, SimilarityDiagonaliser
from polyad.decompose.whitening.cross import CrossWhitening, cross_loadings, cross_whiten
from polyad.engine import Block, Source, aligned, ordered_by_content, resident, side_by_side, total
from polyad.models.recipes.dirichlet import polishing_bytes
from polyad.models.recipes.factors import nonnegative_columns
from polyad.models.recipes.moment_start import SummedCounts, with_documents
from polyad.models.recipes.standing_out import Whiteners, n_standing_out
from polyad.moments import summarise_counts
from polyad.moments.views.texts import TextSummary, summarise_texts, two_text_moments

ALL_AXES = 50  # up to this many topics the third moments are contracted with all axes of the whitened space
N_DIRECTIONS = 24  # above: with this many fixed orthonormal directions
METRIC_POWER = -0.25  # of the mean proportion of a word; 1/sqrt(mean) gives rare words too much say in text
DIAGONALISER_TOL = 1e-5  # the polish moves topics by far more than this


@dataclass(frozen=True)
class AlignedTexts:
    """Aligned texts in an order that depends on what is in them alone, summed up once."""

    # The counts, with rows in canonical order and views by their size; their words are numbered on from view to view.
    corpus: SummedCounts
    order: tuple[int, ...]  # for each of these views the number that it was given under
    groups: tuple[tuple[int, ...], tuple[int, ...]]  # the views in two groups of about the same number of tokens

    @property
    def source(self) -> Source:
        """The counts."""
        return self.corpus.source

    @property
    def edges(self) -> tuple[int, ...]:
        """The first word of each view, and the number of all words."""
        return tuple(accumulate(self.source.widths, initial=0))

    @property
    def unigrams(self) -> list[FloatArray]:
        """Word probabilities of each view; half a token is added to every word, so that none is impossible."""
        totals = self.corpus.summary.word_totals + 0.5
        return [totals[first:last] / totals[first:last].sum() for first, last in pairwise(self.edges)]

    def words_of(self, group: tuple[int, ...]) -> NDArray[np.intp]:
        """Return the numbers of the words of some views, in the order of these views."""
        return np.concatenate([np.arange(self.edges[view], self.edges[view + 1]) for view in group])

    def as_given(self, views: list[FloatArray]) -> list[FloatArray]:
        """Return something for each view in the order in which the views were given."""
        return [views[self.order.index(number)] for number in range(len(views))]


def align_texts(views: list[Source]) -> AlignedTexts:
    """Put aligned texts into their canonical order: neither the order of rows nor that of views matters after it."""
    sizes = total(_view_sizes, aligned(*views))
    order = tuple(int(number) for number in np.lexsort(sizes.T[::-1])[::-1])
    source = resident(ordered_by_content(aligned(*(views[number] for number in order))))
    groups = two_groups([float(sizes[number, 0]) for number in order])
    return AlignedTexts(SummedCounts(source, summarise_counts(source)), order, groups)


def _view_sizes(block: Block) -> FloatArray:
    """Return tokens and cells of each view, and a sum of its words' numbers that tells views of one size apart."""
    return np.array(
        [[rows.data.sum(), rows.nnz, rows.data @ (1.0 + rows.indices), rows.shape[1]] for rows in block.views]
    )


def two_groups(tokens: list[float]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Part views, the largest first, into two groups of about the same number of tokens.

    Examples
    --------
    >>> two_groups([5.0, 4.0, 3.0, 1.0])
    ((0, 3), (1, 2))
    """
    groups: tuple[list[int], list[int]] = [], []
    loads = [0.0, 0.0]
    for view, size in enumerate(tokens):
        lighter = int(loads[1] < loads[0])
        groups[lighter].append(view)
        loads[lighter] += size
    return tuple(groups[0]), tuple(groups[1])


def aligned_bytes(texts: AlignedTexts, n_components: int, seconds: float) -> int:
    """Return the working memory of a fit beside the views, in bytes, and tell it with the time."""
    summary, M, K = texts.corpus.summary, texts.edges[-1], n_components
    whitening = 8 * M * (2 * K + 30) + PARTIAL_SUMS * 8 * M * K
    stack = 8 * 6 * 2 * min(K, ALL_AXES) * K**2
    pairs = (8 + 4) * summary.n_cells  # views side by side
    working = max(whitening + stack + pairs, polishing_bytes(texts.corpus, K))
    return with_documents(texts.corpus, K, working, seconds)


@dataclass(frozen=True)
class AlignedStart:
    """What the cross moments of aligned texts give."""

    topics: FloatArray  # K x M over the words of all views, on the simplex in each view
    shares: FloatArray  # K, proportional to the Dirichlet parameters of the topics
    # D x M over the words of all views, with D from K up: directions in which the two groups vary together.
    directions: FloatArray
    # How they were found.
    whitening: CrossWhitening
    similarity: SimilarityDiagonalisation
    n_told: int  # directions of the whitening that are no noise

    @property
    def certainty(self) -> FloatArray:
        """How well the data determine each topic, K: a squared cosine; what it has in directions of noise is lost."""
        parts = np.stack([self.similarity.rotation, self.similarity.inverse.T]) ** 2
        noise = parts[:, self.n_told :].sum(axis=1) / parts.sum(axis=1)
        return np.asarray(certainty(self.similarity.turned) * (1 - noise.mean(axis=0)))

    def with_background(self, texts: AlignedTexts, share: float) -> FloatArray:
        """Return the topics with a share of the word distribution of each view in them."""
        return (1 - share) * self.topics + share * np.concatenate(texts.unigrams)


def start_from_aligned(
    texts: AlignedTexts,
    n_components: int,
    *,
    concentration: float,
    min_frequency: int | None,
    method: str | SimilarityDiagonaliser,
    max_iter: int | None,
) -> AlignedStart:
    """Whiten the cross moments of the two groups of texts, diagonalise, and put the topics on the simplex.

    The views of a group stand side by side as one text; each gets its own part of the topics. As many directions
    beyond the topics are kept as topics: the Krylov basis has them anyway, and they tell pairs of documents apart.
    """
    K, pairs = n_components, side_by_side(texts.source, texts.groups)
    summary = summarise_texts(pairs)
    moments = two_text_moments(pairs, summary, concentration=concentration, directions=_directions(K))
    x_metric, y_metric = text_metrics(summary, moments.x_mean, moments.y_mean, min_frequency)
    whitening = cross_whiten(moments.second, K, x_metric=x_metric, y_metric=y_metric, n_beyond=K)
    n_told = n_standing_out(
        partial(_second_of, concentration),
        partial(_whiteners, (x_metric, y_metric)),
        pairs,
        whitening.spectrum,
        K,
    )
    stack = moments.targets(whitening.x_whitener, whitening.y_whitener)
    similarity = similarity_diagonaliser(method)(stack, max_iter=max_iter, tol=DIAGONALISER_TOL)
    x_loadings, y_loadings = cross_loadings(moments.second, whitening, similarity)
    loadings, strengths = _turned(x_loadings.T, y_loadings.T)
    words = [texts.words_of(group) for group in texts.groups]
    topics = _spread(loadings, words)
    for first, last in pairwise(texts.edges):
        topics[:, first:last] = nonnegative_columns(topics[:, first:last].T).T
    # S12 = sum of c_k / (c0 (c0 + 1)) d1 d2': strengths are proportional to the Dirichlet parameters.
    shares = np.maximum(strengths, 1e-3 * strengths.max())
    directions = [
        np.vstack([whitening.x_whitener, whitening.x_beyond]),
        np.vstack([whitening.y_whitener, whitening.y_beyond]),
    ]
    return AlignedStart(topics, shares / shares.sum(), _spread(directions, words), whitening, similarity, n_told)


def _second_of(concentration: float, pairs: Source) -> LinearOperator:
    return two_text_moments(pairs, summarise_texts(pairs), concentration=concentration, directions=None).second


def _whiteners(metrics: tuple[FloatArray, FloatArray], second: LinearOperator, K: int) -> Whiteners:
    found = cross_whiten(second, K, x_metric=metrics[0], y_metric=metrics[1])
    return found.x_whitener, found.y_whitener


def text_metrics(
    summary: TextSummary, x_mean: FloatArray, y_mean: FloatArray, min_frequency: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return the scales of the words of both texts; 0 for words in too few documents to vary with anything."""
    least = int(np.clip(summary.n_pairs // 1500, 2, 20)) if min_frequency is None else min_frequency

    def scales(mean: FloatArray, frequency: NDArray[np.int64]) -> FloatArray:
        used = (frequency >= least) & (mean > 0)
        return np.where(used, np.where(used, mean, 1.0) ** METRIC_POWER, 0.0)

    return scales(x_mean, summary.x_frequency), scales(y_mean, summary.y_frequency)


def _directions(K: int) -> FloatArray | None:
    return None if K <= ALL_AXES else fixed_orthonormal(K, N_DIRECTIONS)


def _turned(x_loadings: FloatArray, y_loadings: FloatArray) -> tuple[list[FloatArray], FloatArray]:
    """Turn loadings to their heavier sign, in both texts together, and return them with their strengths."""
    scaled = [
        view / np.maximum(np.linalg.norm(view, axis=1, keepdims=True), 1e-300) for view in (x_loadings, y_loadings)
    ]
    balance = sum((np.sign(view) * view**2).sum(axis=1) for view in scaled)
    signs = np.where(balance < 0, -1.0, 1.0)[:, None]
    turned = [signs * view for view in (x_loadings, y_loadings)]
    return turned, np.prod([np.maximum(view, 0.0).sum(axis=1) for view in turned], axis=0)


def _spread(parts: list[FloatArray], words: list[NDArray[np.intp]]) -> FloatArray:
    """Return rows over the words of all views from those over the words of each group."""
    whole = np.empty((parts[0].shape[0], sum(numbers.size for numbers in words)))
    for part, numbers in zip(parts, words):
        whole[:, numbers] = part
    return whole
