"""Steps 1 to 4 for counts: from a corpus to the topics that its moments give."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, sqrt
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from polyad.base.arrays import FloatArray
from polyad.base.caller import warn_caller
from polyad.base.determined import DETERMINED, NoiseWarning
from polyad.base.plurals import how_many
from polyad.decompose import Diagonaliser, RankError, polyadic_decomposition
from polyad.decompose.polyadic import PARTIAL_SUMS, Polyadic, copies_used_words
from polyad.decompose.unmixing import simplex_rows
from polyad.decompose.whitening.edge import WIDEST
from polyad.decompose.whitening.symmetric import krylov_columns
from polyad.engine import Block, Source, first_rows, writing_bytes
from polyad.engine.blocks import BLOCK_ROWS
from polyad.models.limits import FitPlan, tell_plan, within_limit
from polyad.models.recipes.standing_out import n_standing_out, whiteners_in
from polyad.moments import CountSummary, SymmetricMoments

LENGTH_POWER = 1.25  # a document weighs its length to this power in the moments, where the user does not say
UNIGRAM_SHARE = 0.05  # of every topic when polishing starts: no word is impossible yet
LEAST_FIRST_SHARDS = 4
MOST_BY_MOMENTS = 128  # topics: memory goes with the third power of their number, and time with the fourth
CANDIDATES = 1 << 14  # documents that further topics may start from
LEAST_UNLIKE = 1e-3  # of its own square: the squared distance of a document that a topic may start from
FLOOR_SHARE = 0.01  # of every topic that is left unpolished: no word of the corpus has probability 0


@dataclass(frozen=True)
class SummedCounts:
    """A corpus that has been checked and summed up once."""

    source: Source  # the counts
    summary: CountSummary  # lengths, word totals and document frequencies

    @property
    def n_tokens(self) -> int:
        """Tokens in all."""
        return int(self.summary.tokens)

    @property
    def unigram(self) -> FloatArray:
        """Word probabilities; half a token is added to every word, so that none is impossible."""
        totals = self.summary.word_totals + 0.5
        return totals / totals.sum()


def first_sample(source: Source, n_passes: int) -> Source:
    """Return the documents that a fit begins with: all, or of many shards the first, which are a sample of all.

    Moments are only the start where likelihood passes over all documents follow, and they take more reading than
    these. Four shards, some 67 million cells, start them well. The root of the number of shards grows with the corpus,
    so that the start gets better with more documents, too. Without such passes the moments are the result, and made of
    all.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> first_sample(count_blocks([[1, 2], [3, 4]]), 4).n_rows
    2
    """
    if n_passes == 0 or not is_sampled(source):
        return source
    return first_rows(source, source.edges[_n_first(source)])


def is_sampled(source: Source) -> bool:
    """Tell whether a source has so many shards that a fit begins with a sample of them."""
    return _n_first(source) < source.n_shards


def _n_first(source: Source) -> int:
    return max(LEAST_FIRST_SHARDS, ceil(sqrt(source.n_shards)))


def word_metric(corpus: SummedCounts, n_components: int) -> FloatArray:
    """Return the scale of each word in the whitening: (tokens per document)^(-1/4), and 0 for rare words.

    Rare words carry noise and no directions of their own; what they share with the others is filled in when the
    components are turned back to the whole vocabulary.
    """
    summary = corpus.summary
    n_documents = corpus.source.n_rows
    enough = summary.document_frequency >= np.clip(np.sqrt(n_documents) / 4, 3, 50)
    if enough.sum() < 4 * n_components + 40:
        enough = summary.document_frequency >= 1
    frequency = np.maximum(summary.word_totals, 1.0) / n_documents
    return np.where(enough, frequency**-0.25, 0.0)


def moment_bytes(corpus: SummedCounts, n_components: int, method: str | Diagonaliser) -> int:
    """Return the working memory of :func:`start_from_moments`, in bytes."""
    (N, M), dear = corpus.source.shape, corpus.source.passes_are_dear
    n_cells = corpus.summary.n_cells
    columns_used = (8 + 4) * n_cells if not dear and copies_used_words(n_components, M, n_cells) else 0
    K = min(min(n_components, MOST_BY_MOMENTS) + WIDEST, M)  # directions
    in_flight = 8 * 8 * min(N, BLOCK_ROWS) * K  # projected rows of the blocks that a few threads work on
    whitening = 8 * M * krylov_columns(K, dear) + PARTIAL_SUMS * 8 * M * K
    third = 8 * (6 + PARTIAL_SUMS) * K**3
    return in_flight + columns_used + whitening + third


def with_documents(corpus: SummedCounts, n_components: int, working_bytes: int, seconds: float) -> int:
    """Return the memory of a fit beside X, given that of its steps, and tell it with the time.

    Documents in memory are copied into their own order, and are there twice while that is done, where X comes in
    several parts. Of documents on disk one shard is looked at after the other. A plan beyond the limit of the fit
    (:func:`polyad.models.limits.limited`) is an error, before the work.
    """
    N, M, in_memory = corpus.source.n_rows, sum(corpus.source.widths), corpus.source.in_memory
    copy = (8 + 4) * corpus.summary.n_cells
    needed = max(2 * copy, copy + working_bytes) if in_memory else max(writing_bytes(N), working_bytes)
    tell_plan(FitPlan(N, M, n_components, needed, seconds))
    return within_limit(needed, in_memory and len(corpus.source.widths) == 1)  # views have no index of their own


@dataclass(frozen=True)
class MomentStart:
    """What the moments of a corpus give."""

    topics: FloatArray  # K x M, on the simplex
    values: FloatArray  # values of the whitened third moment, K
    # Of the whitening and the diagonalisation: see :class:`polyad.models.Diagnostics`.
    certainty: FloatArray
    spectrum: FloatArray
    gap: float
    noise: float
    energy: float
    polyadic: Polyadic | None = None  # what the topics were read off, where it is kept: as large as they are
    n_noise: int = 0  # of the directions, the last: what other documents do not have

    def with_background(self, corpus: SummedCounts, share: float) -> FloatArray:
        """Return the topics with a share of the corpus' own word distribution in each."""
        topics = (1 - share) * self.topics
        topics += share * corpus.unigram
        return topics


def start_from_moments(
    moments: SymmetricMoments,
    corpus: SummedCounts,
    n_components: int,
    method: str | Diagonaliser,
    *,
    keep: bool = False,
    second_of: Callable[[Source], LinearOperator] | None = None,
) -> MomentStart:
    """Whiten in the words' metric, diagonalise, and put the components on the simplex.

    Where the second moment has fewer positive directions than topics are wanted, the others start from documents
    that are least like the topics found, with a warning; nothing is then kept of what they were read off.

    With ``second_of``, the second moment of some of the documents, directions that half of them have and the other half
    has not are told (see :mod:`polyad.models.recipes.standing_out`): no component is certain that consists of these.
    """
    metric, n_found = word_metric(corpus, n_components), min(n_components, MOST_BY_MOMENTS)
    try:
        start = _decompose(moments, metric, n_found, method)
        if second_of is not None:
            n_told = n_standing_out(second_of, partial(whiteners_in, metric), corpus.source, start.spectrum, n_found)
            start = _without(start, n_found - n_told)
        _warn_of_noise(start, n_found)
        if n_found < n_components:
            return _with_documents(start, corpus, n_components)
        return start if keep else replace(start, polyadic=None)
    except RankError as error:
        found, message = error.supported, str(error)
        spectrum = error.spectrum
    if found:
        start = _decompose(moments, metric, found, method)
    else:
        noise = float(max(-spectrum[-1], 0.0)) if spectrum.size else 0.0
        start = MomentStart(corpus.unigram[None, :], np.ones(1), np.ones(1), spectrum, float("inf"), noise, 0.0)
    topics = add_unlike_documents(start.topics, corpus, n_components)
    if topics.shape[0] < n_components:
        raise RankError(message, found, spectrum)
    if n_components > 1:
        warn_caller(
            f"The second moment of these data supports {found} of the {n_components} topics asked for; the others "
            "start from single documents. Ask for fewer topics, or give more (or longer) documents.",
            NoiseWarning,
        )
    values = np.resize(start.values, n_components)
    certainty = np.concatenate([start.certainty, np.zeros(n_components - start.certainty.size)])
    return replace(start, topics=topics, values=values, certainty=certainty, polyadic=None)


def _with_documents(start: MomentStart, corpus: SummedCounts, n_components: int) -> MomentStart:
    """Add topics that start from single documents to those of the moments; their certainty is not known."""
    topics = add_unlike_documents(start.topics, corpus, n_components)
    n_added = n_components - start.values.size
    if topics.shape[0] < n_components:
        message = f"There are only {topics.shape[0]} different documents and topics of the moments to start from."
        raise RankError(message, topics.shape[0], start.spectrum)
    values = np.concatenate([start.values, np.full(n_added, start.values.mean())])
    certainty = np.concatenate([start.certainty, np.full(n_added, np.nan)])
    return replace(start, topics=topics, values=values, certainty=certainty, polyadic=None)


def _decompose(
    moments: SymmetricMoments, metric: FloatArray, n_components: int, method: str | Diagonaliser
) -> MomentStart:
    found = polyadic_decomposition(
        moments,
        n_components,
        method=method,
        metric=metric,
        strict=False,
    )
    whitening = found.whitening
    return MomentStart(
        simplex_rows(found.components),
        found.values,
        found.certainty,
        whitening.spectrum,
        whitening.gap,
        whitening.noise,
        found.diagonalisation.energy,
        found,
    )


def _without(start: MomentStart, n_noise: int) -> MomentStart:
    """Take what a component has in directions that are noise off its certainty, a squared cosine."""
    found = start.polyadic
    if found is None or n_noise == 0:
        return start
    noise = (found.diagonalisation.rotation[found.whitening.n_components - n_noise :] ** 2).sum(axis=0)
    return replace(start, certainty=start.certainty * (1 - noise), n_noise=n_noise)


def _warn_of_noise(start: MomentStart, n_components: int) -> None:
    if (start.certainty < DETERMINED).any():  # those are named when the fit is done
        return
    last = start.spectrum[n_components - 1]
    if start.n_noise:
        n_told = n_components - start.n_noise
        warn_caller(
            f"{how_many(n_components, 'topics')} were asked for, and about {n_told} stand out: what one half of the "
            "documents says of the others the other half does not know. Some topics may be made of noise, or be one "
            "topic twice. Ask for fewer, or give more documents.",
            NoiseWarning,
        )
    elif last <= start.noise:
        standing_out = int((start.spectrum > start.noise).sum())
        warn_caller(
            f"{how_many(n_components, 'topics')} {'was' if n_components == 1 else 'were'} asked for, and about "
            f"{standing_out} stand out from the noise of the second moment (eigenvalue {last:.2g}, noise "
            f"{start.noise:.2g}): some topics may be made of noise. Ask for fewer, or give more documents.",
            NoiseWarning,
        )


def add_unlike_documents(topics: FloatArray, corpus: SummedCounts, n_components: int) -> FloatArray:
    """Add, one after the other, the word distribution of the document least like all topics so far.

    Looked at are the first documents, which are a sample of all. A document of few different words is unlike its own
    topic as well, and would be taken again and again: others come first. Stops short where none of them differs from
    the topics there are.
    """
    documents: Any = sparse.vstack(list(map(_proportions, first_rows(corpus.source, CANDIDATES))), format="csr")
    squares = np.asarray(documents.multiply(documents).sum(axis=1)).ravel()

    def away_from(place: FloatArray) -> FloatArray:
        return np.asarray(squares - 2 * (documents @ place) + place @ place)

    distances = squares[:, None] - 2 * (documents @ topics.T) + (topics**2).sum(axis=1)
    has_tokens = np.diff(documents.indptr) > 0
    nearest = np.where(has_tokens, distances.min(axis=1), -1.0)  # to a topic
    untaken = nearest  # to a topic, or to a document that one began with
    added: list[FloatArray] = []
    while topics.shape[0] + len(added) < n_components:
        furthest = int(untaken.argmax())
        if untaken[furthest] < LEAST_UNLIKE * squares[furthest]:
            furthest = int(nearest.argmax())
        if nearest[furthest] < LEAST_UNLIKE * squares[furthest]:
            break
        document = documents[[furthest]].toarray()[0]
        topic = 0.5 * document + 0.5 * corpus.unigram
        added.append(topic)
        nearest = np.minimum(nearest, away_from(topic))
        untaken = np.minimum(np.minimum(untaken, nearest), away_from(document))
    return np.vstack([topics, *added])


def _proportions(block: Block) -> sparse.csr_array:
    """Return the word distribution of each document."""
    # Fractional counts may come to less than one token.
    one_over = np.divide(1.0, block.tokens, out=np.zeros(block.tokens.size), where=block.tokens > 0)
    return sparse.csr_array(block.rows.multiply(one_over[:, None]))
