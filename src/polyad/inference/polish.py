"""Polishing: a few passes of likelihood over the corpus, started from the topics of the moments.

Every pass is an E step over documents and an M step over words, shard by shard, for one half of the documents and then
for the other, or for one quarter of many documents after the other. It knows of one text, and of several aligned ones
whose documents share their topic shares (polylingual topics): the words of all views stand one after the other, and the
topics of each view sum to 1 by themselves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.base.arrays import FloatArray
from polyad.engine import Block, Source, for_each, halves, new_states, one_round, quarters, step, sum_over, total
from polyad.inference.background import Restraint
from polyad.inference.cells import Range, padded_vector, read_only, topic_table, word_ranges
from polyad.inference.expectation import (
    LEAVE_OUT_SHARE,
    Iterations,
    Likelihood,
    Table,
    TokenScale,
    TopicTable,
    em_step,
    prepare_documents,
)
from polyad.inference.few_topics import few_bytes, few_step, has_many, prepare_few
from polyad.inference.kernels.topics import over_relax, padded, scale_and_raise, topic_sums
from polyad.inference.presets import Preset
from polyad.inference.topic_prior import split_smoothing, told_smoothing

INNER = 4  # iterations for each document in a pass; later passes go on from the shares of the last one
SHARES_RELAXATION = 0.9  # of its last change by which a step in the shares of a document goes on (over-relaxation)
TELLING_PASSES = 2  # that look for the prior of topics: later ones have it as it is, and settle
COUNTS_RELAXATION = 1.5  # the same for the counts of words, of the change in one half of the documents
# Documents from which on topics are renewed after every quarter (incremental EM: Neal and Hinton 1998). Eleven passes
# then predict the speeches of the European Parliament as well as twenty with halves do (K = 50: 11.090 bits, 11.096
# after eleven with halves). Of AP and NIPS, 1,400 to 1,800 documents, quarters are too small (+.008 to -.002 bits). The
# Acts of Canada, on which nothing was chosen, gain .003 to .004 (English and French, K = 20 and 50). Of several shards
# halves are enough: on a cluster every renewal sends the topics to all workers, 2.2 GB in place of 1.5 (K = 100).
MANY_DOCUMENTS = 1 << 14


@dataclass(frozen=True)
class Polished:
    """Topics after the last pass."""

    # K x M, rows sum to 1 over the words of each view and are positive, but for topics that a view does not have.
    components: FloatArray
    view_tokens: FloatArray  # expected tokens of each topic in each view of the corpus, views x K
    # Log-likelihood per token that each pass found, of the topics it saw (before rare words are shrunk). From the
    # second pass on documents do not see their own tokens, and tokens not their own vote: it then estimates how well
    # the topics predict. Passes that begin a round see both.
    objective: tuple[float, ...]
    edges: tuple[int, ...]  # the first word of each view, and the number of all words
    # Tokens that the prior adds to every word of each topic, views x K; None: the usual ones, split by topics' tokens.
    smoothing: FloatArray | None = None

    @property
    def topic_tokens(self) -> FloatArray:
        """Expected tokens of each topic in the corpus, K."""
        return self.view_tokens.sum(axis=0)

    @property
    def added(self) -> FloatArray:
        """Tokens that the prior adds to every word of each topic, given, told by the data or the usual, views x K."""
        return split_smoothing(self.view_tokens) if self.smoothing is None else self.smoothing


def has_quarters(source: Source) -> bool:
    """Tell whether topics are renewed after every quarter of the documents, and not after every half."""
    return source.n_rows >= MANY_DOCUMENTS and source.n_shards == 1


def polish_bytes(
    n_documents: int,
    n_words: int,
    n_cells: int,
    n_left_out_cells: int,
    n_components: int,
    *,
    in_quarters: bool = False,
) -> int:
    """Return the memory that :func:`polish` needs beside the counts themselves, in bytes."""
    K = padded(n_components)
    by_document, by_word = n_cells * (4 + 4), n_cells * (4 + 4 + 4)  # counts, kept places; documents as well
    transposition = 16 * n_cells // 2  # of one half after the other
    tables = 4 * K * (10 if in_quarters else 7) * n_words
    if has_many(n_components):
        expected = few_bytes(n_documents, n_cells, n_left_out_cells, n_components)
    else:  # of one half the old and the new are there for a while
        expected = 4 * K * 2 * n_documents + 3 * K * n_left_out_cells
    return by_document + by_word + transposition + tables + expected


def polish(
    source: Source,
    components: FloatArray,
    prior: FloatArray,
    *,
    preset: Preset,
    smoothing: FloatArray | None = None,
    leave_out: bool = True,
    near: bool = False,
    restraint: Restraint | None = None,
) -> Polished:
    """Improve topics by passes of EM in which a document's own tokens do not count for themselves.

    Plain EM explains a rare word by the topic that this very document has put the word in, and a frequent one by a
    document that repeats it again and again; it overfits from the third pass on. What predicts other documents is a
    word's row without the document at hand. The document's tokens are left out where they are a hundredth of the
    word's tokens or more, which costs keeping the responsibilities of these cells; where they are fewer it makes no
    difference. A collapsed sampler leaves out one token, and the others of a bursty word stand for it. And the fewer
    tokens a word has, the more of its row in the end is that of the first pass (:func:`shrink_rare_words`).

    In the same way a token explained by the shares of its document is explained by itself in part, the more the shorter
    the document. EM then spreads documents over many topics that are too sharp, most of all where stop words are left
    in. So from the second pass on a token sees the shares that the other tokens give, as in a collapsed sampler.

    Long documents settle on a few of many topics before these are what they could be, wherever topics start, and the
    others are lost to them. So for many topics and long documents there are first ``preset.rounds`` of two passes. In
    the first of a round documents forget their shares and look at all topics again: a token has the topics that its
    word has anywhere. In both there is one iteration for each document, so that topics change before documents settle.

    Topics are renewed after each half of the documents, or after each quarter of many. Were it after all of them, two
    documents that share a word and leave out their own tokens would go on swapping what they think of it, and steps
    beyond the change would make that worse from pass to pass.

    Parameters
    ----------
    source
        Counts of one text, or of several aligned ones. The first half of the documents (by shards, or by the cells of
        one) and the second should be alike: see :func:`polyad.engine.ordered_by_content`.
    components
        Where to start: K x M, rows sum to 1 over the words of each view. A topic without any word of a view is one
        that the view does not have, and stays so.
    prior
        Dirichlet parameters of the topic shares, K.
    preset
        How many passes, and when to stop.
    smoothing
        Tokens added to every word of each topic, K; None adds what the two halves tell, and where they do not tell it
        ``SMOOTHING`` in all, split by the topics' tokens (:mod:`polyad.inference.topic_prior`).
    leave_out
        False gives plain EM: no halves, no over-relaxation and no shrinkage of rare words. With a given ``smoothing``
        its penalised likelihood never gets worse.
    near
        Whether the start is near the truth, with the right prior. Then counts do not go beyond their change, in whose
        direction topics of few tokens would leave a good start.
    restraint
        Of the words that may not lead a topic: see :mod:`polyad.inference.background`.
    """
    word_totals, n_documents = total(_totals, source)
    groups = (quarters if has_quarters(source) else halves)(source) if leave_out else [source]
    run = _Run(
        groups, word_totals, n_documents, components, prior, smoothing, leave_out, near=near, restraint=restraint
    )
    for number in range(1, preset.most_passes + 1):
        with one_round(number, preset.most_passes, passes=len(groups)) as found:
            run.go_on(anew=preset.begins_a_round(number), in_a_round=preset.is_in_a_round(number))
            found.append(run.objective[-1])
        if preset.has_enough(run.gained, number, run.n_topics, float(word_totals.sum())):
            break
    return run.result()


def _totals(block: Block) -> tuple[FloatArray, int]:
    """Return the tokens of every word, and the number of documents that have any."""
    words = [np.bincount(v.indices, v.data, v.shape[1]).astype(np.float64) for v in block.views]
    has_any = np.any([np.diff(v.indptr) > 0 for v in block.views], axis=0)
    return np.concatenate(words), int(has_any.sum())


class _Run:
    """The tables that passes renew, and the passes."""

    def __init__(
        self,
        groups: Sequence[Source],
        word_totals: FloatArray,
        n_documents: int,
        components: FloatArray,
        prior: FloatArray,
        smoothing: FloatArray | None,
        leave_out: bool,
        *,
        near: bool = False,
        restraint: Restraint | None = None,
    ) -> None:
        self.groups, self.word_totals, self.leave_out = groups, word_totals, leave_out
        self.n_topics, self.smoothing, self.n_documents = components.shape[0], smoothing, n_documents
        self.relaxation, self.restraint = (0.0 if near else COUNTS_RELAXATION), restraint
        edges = tuple(accumulate(groups[0].widths, initial=0))
        self.present = np.stack([components[:, first:last].any(axis=1) for first, last in pairwise(edges)])
        self.table = TopicTable(topic_table(components), padded_vector(prior), edges)
        self.early = self.table.topics
        self.tokens = [np.zeros_like(self.table.topics) for _ in groups]  # of each group, expected in its last pass
        totals = word_totals if leave_out else None
        prepare: Callable[..., Any] = prepare_few if has_many(self.n_topics) else prepare_documents
        self.step: Callable[..., Any] = few_step if has_many(self.n_topics) else em_step
        self.states = [step(prepare, group, new_states(group), totals, self.n_topics)[1] for group in groups]
        self.found: list[Likelihood] = []  # by every pass
        self.told: FloatArray | None = None  # smoothing of the last topics, given or told by the data, views x K

    @property
    def objective(self) -> tuple[float, ...]:
        """Log-likelihood per token of every pass."""
        n_tokens = max(float(self.word_totals.sum()), 1.0)
        return tuple(found.all / n_tokens for found in self.found)

    @property
    def gained(self) -> float:
        """The most that one of the last two passes gained on the tokens of frequent words, in nats for each document.

        The first pass saw topics with its own tokens in them: the second is the first to compare others with. A single
        pass may go too far, and the next one makes up for it.
        """
        if len(self.found) < 4:
            return np.inf
        gains = (later.frequent - before.frequent for before, later in pairwise(self.found[-3:]))
        return max(gains) / max(self.n_documents, 1)

    def go_on(self, *, anew: bool = False, in_a_round: bool = False) -> None:
        """Run a pass: the E step, the M step and new topics, for each group of documents in turn.

        ``anew`` forgets the shares of documents, as in the first pass; ``in_a_round`` iterates them only once.
        """
        first = anew or not self.found
        relaxation = SHARES_RELAXATION if self.leave_out and not in_a_round else 0.0
        iterations = Iterations(1 if in_a_round else INNER, warm=not first, relaxation=relaxation)
        likelihood = Likelihood(0.0, 0.0)
        if first:  # responsibilities of own tokens are forgotten as well
            self.table = replace(self.table, token_scale=None)
        for turn, group in enumerate(self.groups):
            (fresh, found), self.states[turn] = step(self.step, group, self.states[turn], self.table, iterations)
            likelihood += found
            if first and turn < len(self.groups) - 1:
                self.tokens[turn] = fresh  # the topics wait for the others
            else:
                self._renew(turn, fresh, 0.0 if first else self.relaxation)
        self.found.append(likelihood)
        if first:
            self.early = self.table.topics

    def _renew(self, turn: int, fresh: Table, relaxation: float) -> None:
        """Renew the expected tokens of a group and all topics; counts of words go beyond their change by a part."""
        before = self.tokens[turn]
        others = _added([tokens for other, tokens in enumerate(self.tokens) if other != turn], before)
        # All tokens of a rarer word are own ones, and going beyond them would show documents a part of them again.
        may_over_relax = (len(self.groups) > 1) & (self.word_totals * LEAVE_OUT_SHARE > 1)
        parts = np.where(may_over_relax, relaxation, 0.0).astype(np.float32)
        topics, edges = np.empty_like(before), self.table.edges
        sums = np.stack(
            [
                sum_over(
                    lambda words: over_relax(*words, others, before, fresh, parts, topics),
                    word_ranges(*view, topics.shape[1]),
                )
                for view in pairwise(edges)
            ]
        )
        if self.restraint is not None:
            self.restraint.apply(topics)
            sums = np.stack([topic_sums(topics[first:last]) for first, last in pairwise(edges)])
        self.tokens[turn] = fresh
        sums = sums[:, : self.n_topics]
        if len(self.found) < TELLING_PASSES:
            self.told = self._told_smoothing(sums)
        token_scale = token_scale_of(sums, np.diff(edges), self.told, self.present)
        normalise(topics, token_scale, edges)
        self.table = replace(self.table, topics=topics, token_scale=token_scale if self.leave_out else None)

    def _told_smoothing(self, sums: FloatArray) -> FloatArray | None:
        """Return the tokens of the prior on every word of each topic, views x K: given, or what the halves tell."""
        if self.smoothing is not None:
            return np.broadcast_to(self.smoothing, sums.shape)
        if len(self.groups) == 1 or self.restraint is not None:
            return None
        middle = len(self.tokens) // 2
        one, other = (_added(half, half[0]) for half in (self.tokens[:middle], self.tokens[middle:]))
        edges = pairwise(self.table.edges)
        told = [told_smoothing(one[first:last], other[first:last], self.n_topics) for first, last in edges]
        if all(found is None for found in told):
            return None
        usual = split_smoothing(sums)
        return np.stack([row if b is None else np.full_like(row, b) for b, row in zip(told, usual)])

    def result(self) -> Polished:
        """Return the topics of the expected tokens, rare words shrunk to the first pass: any pass can be the last."""
        K, edges = self.n_topics, self.table.edges
        if self.found:
            self._renew(len(self.groups) - 1, self.tokens[-1], 0.0)
        topics = self.table.topics
        if self.leave_out:
            topics = shrink_rare_words(self.early, topics, self.word_totals, K)
        components = np.ascontiguousarray(topics[:, :K].T, dtype=np.float64)
        for first, last in pairwise(edges):
            components[:, first:last] /= np.maximum(components[:, first:last].sum(axis=1, keepdims=True), 1e-300)
        view_tokens = np.stack(
            [sum(topic_sums(half[first:last])[:K] for half in self.tokens) for first, last in pairwise(edges)]
        )
        return Polished(components, view_tokens, self.objective, edges, self.told)


def _added(tables: Sequence[Table], like: Table) -> Table:
    """Return the sum of tables, which is the table itself where there is one, and zeros like another without any."""
    if len(tables) == 1:
        return tables[0]
    found = np.zeros_like(like)
    for table in tables:
        found += table
    return found


def shrink_rare_words(early: Table, late: Table, word_totals: FloatArray, K: int) -> Table:
    """Take up to half of a word's row back to the first pass, the more the fewer tokens it has for each topic.

    Every pass sharpens all rows. For a word with few tokens that is learning by heart, and how early to stop depends
    on the word: one that occurs n times keeps 1/2 K / (K + n) of its early row. Topics need no longer sum to 1.
    """
    share = (0.5 * K / (K + word_totals)).astype(np.float32)[:, None]
    return late + share * (early - late)


def token_scale_of(
    tokens: FloatArray,
    n_words: NDArray[np.integer],
    smoothing: FloatArray | None,
    present: NDArray[np.bool_] | None = None,
) -> TokenScale:
    """Return what turns counts into probabilities, given the tokens of the topics and of the prior, both views x K.

    A topic that is not ``present`` in a view (views x K; None: all are) has none of its words, smoothed or not.
    """
    one_token, floor = [], []
    present = np.ones(tokens.shape, bool) if present is None else present
    smoothing = split_smoothing(tokens) if smoothing is None else smoothing
    for view, size, has, given in zip(tokens, n_words, present, smoothing):
        added = np.maximum(given, 1e-8)  # a topic that lost all its tokens still has every word
        totals = view + size * added
        one_token.append(padded_vector(has / totals))
        floor.append(padded_vector(has * added / totals))
    return TokenScale(read_only(np.stack(one_token)), read_only(np.stack(floor)))


def normalise(counts: Table, token_scale: TokenScale, edges: tuple[int, ...]) -> None:
    """Turn counts of words in topics into probabilities, in place."""
    for view, (first, last) in enumerate(pairwise(edges)):
        scale, floor = token_scale.one_token[view], token_scale.floor[view]

        def scale_range(words: Range, scale: Table = scale, floor: Table = floor) -> None:
            scale_and_raise(*words, counts, scale, floor, counts)

        for_each(scale_range, word_ranges(first, last, counts.shape[1]))


def normalised_topics(counts: Table, K: int, smoothing: FloatArray) -> tuple[Table, TokenScale]:
    """Topics of one view from expected counts, and what one token is worth in them."""
    edges = (0, counts.shape[0])
    token_scale = token_scale_of(topic_sums(counts)[None, :K], np.diff(edges), smoothing[None])
    topics = counts.copy()
    normalise(topics, token_scale, edges)
    return topics, token_scale
