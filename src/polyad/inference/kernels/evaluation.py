"""Compiled loops of the samplers that assign every token of a document to a topic, the topics being known.

A document draws from a stream of its own, whose start is made from the seed and the document's row number, so that
neither blocks nor threads change what is drawn. Topic tables are words x K, float64; the rows that a document needs
are gathered once. Every function works on a range of documents and writes to places of its own.
"""

import numpy as np

from polyad.base.arrays import FloatArray
from polyad.base.compiled import compiled, inlined
from polyad.engine import Block
from polyad.inference.kernels.topics import longest_row

PROBABILITY_FLOOR = 1e-12  # 40 bits for a token that no topic explains: a heavy fine, and a finite one
CLIMB_SWEEPS = 100  # a climb ends by itself long before; this guards against cycles of rounding
MANY_TOKENS = 1000  # in a cell, of which halves are drawn at once: counts of reads are in the millions
GROUP_DOCUMENTS = 8  # few, because the time of a document grows with the square of its length

# The splitmix64 generator: the step of its counter, and the multipliers and shifts of its hash.
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
FIRST_SHIFT, SECOND_SHIFT, LAST_SHIFT = np.uint64(30), np.uint64(27), np.uint64(31)
MANTISSA_SHIFT, UNIT = np.uint64(11), 2.0**-53


def seed_of(random_state: int | np.random.RandomState | np.random.Generator | None) -> np.uint64:
    """Return the number from which the streams of all documents start; a generator moves on by it."""
    if isinstance(random_state, np.random.RandomState):
        return random_state.randint(0, 2**64, dtype=np.uint64)
    return np.random.default_rng(random_state).integers(0, 2**64, dtype=np.uint64)


def refuse_fractions(shard: Block) -> None:
    """Refuse counts that are no whole numbers: a sampler gives every single token a topic."""
    fractional = np.flatnonzero(shard.rows.data % 1 != 0)
    if fractional.size:
        row = shard.start + int(np.searchsorted(shard.rows.indptr, fractional[0], side="right")) - 1
        raise ValueError(
            f"X has the fractional count {shard.rows.data[fractional[0]]:g} at row {row}, and a sampler gives every "
            "token a topic: round the counts first."
        )


def sampling_table(topics: FloatArray) -> FloatArray:
    """Return topics as a words x K table in which every word can come from some topic.

    A word that all topics give less than ``PROBABILITY_FLOOR`` gets that probability in all of them.
    """
    table = np.ascontiguousarray(topics.T)
    impossible = table.max(axis=1) < PROBABILITY_FLOOR
    if impossible.any():
        table = np.where(impossible[:, None], PROBABILITY_FLOOR, table)
    return table


def document_groups(n_documents: int) -> list[tuple[int, int]]:
    """Return ranges of a few documents each."""
    starts = range(0, n_documents, GROUP_DOCUMENTS)
    return [(first, min(first + GROUP_DOCUMENTS, n_documents)) for first in starts]


@inlined
def _hash(value):  # type: ignore[no-untyped-def]
    value = (value ^ (value >> FIRST_SHIFT)) * FIRST_FACTOR
    value = (value ^ (value >> SECOND_SHIFT)) * SECOND_FACTOR
    return value ^ (value >> LAST_SHIFT)


@inlined
def start_stream(stream, seed, row):  # type: ignore[no-untyped-def]
    """Set a stream to the start that belongs to a row; hashed, because neighbours would be shifts of each other."""
    stream[0] = _hash(_hash(seed) + _hash(STEP * np.uint64(row + 1)))


@inlined
def next_uniform(stream):  # type: ignore[no-untyped-def]
    """Draw from [0, 1) and move the stream on."""
    stream[0] += STEP
    return (_hash(stream[0]) >> MANTISSA_SHIFT) * UNIT


@inlined
def _drawn_at_once(count, wanted, to_come, stream):  # type: ignore[no-untyped-def]
    """Draw how many of a cell's tokens are among those wanted: the hypergeometric distribution, for large numbers."""
    share = wanted / to_come
    spread = np.sqrt(count * share * (1 - share) * (to_come - count) / max(to_come - 1, 1))
    normal = np.sqrt(-2 * np.log(1 - next_uniform(stream))) * np.cos(2 * np.pi * next_uniform(stream))
    drawn = int(np.round(count * share + spread * normal))
    return min(max(drawn, 0, wanted - (to_come - count)), count, wanted)


@compiled
def split_documents(first, last, offset, indptr, counts, seed, observed):  # type: ignore[no-untyped-def]
    """Write how many tokens of each cell are in the first half of their document.

    Every token in turn is taken with probability (tokens still wanted) / (tokens still to come), which makes all
    choices of the wanted number equally likely and needs no list of tokens. Of a cell with more than ``MANY_TOKENS``
    the number taken is drawn at once, from the normal distribution with the mean and the variance of the exact one.
    """
    stream = np.empty(1, np.uint64)
    for d in range(first, last):
        start_stream(stream, seed, offset + d)
        to_come = 0
        for cell in range(indptr[d], indptr[d + 1]):
            to_come += int(counts[cell])
        wanted = to_come // 2
        for cell in range(indptr[d], indptr[d + 1]):
            taken, count = 0, int(counts[cell])
            if count > MANY_TOKENS:
                taken = _drawn_at_once(count, wanted, to_come, stream)
                wanted -= taken
                to_come -= count
                count = 0
            for _ in range(count):
                if wanted > 0 and next_uniform(stream) * to_come < wanted:
                    wanted -= 1
                    taken += 1
                to_come -= 1
            observed[cell] = taken


@compiled
def score_documents(first, last, indptr, words, counts, table, shares, out):  # type: ignore[no-untyped-def]
    """Write the log-likelihood of each document's tokens given its topic shares."""
    K = table.shape[1]
    for d in range(first, last):
        total = 0.0
        for cell in range(indptr[d], indptr[d + 1]):
            probability = 0.0
            for k in range(K):
                probability += shares[d, k] * table[words[cell], k]
            total += counts[cell] * np.log(max(probability, PROBABILITY_FLOOR))
        out[d] = total


@inlined
def _most_tokens(first, last, indptr, counts):  # type: ignore[no-untyped-def]
    """Return the length of the longest document of the range."""
    most = 0
    for d in range(first, last):
        length = 0
        for cell in range(indptr[d], indptr[d + 1]):
            length += int(counts[cell])
        most = max(most, length)
    return most


@inlined
def _gather_tokens(start, n, words, counts, table, rows, cell_of):  # type: ignore[no-untyped-def]
    """Copy the topic rows of a document's words, and note the cell of each token; return the number of tokens."""
    length = 0
    for i in range(n):
        for k in range(table.shape[1]):
            rows[i, k] = table[words[start + i], k]
        for _ in range(int(counts[start + i])):
            cell_of[length] = i
            length += 1
    return length


@inlined
def _draw_topic(row, tokens, prior, cumulative, stream):  # type: ignore[no-untyped-def]
    """Draw a token's topic given the topics of the others: eq. (2) of the SVTD paper."""
    total = 0.0
    for k in range(prior.size):
        total += row[k] * (tokens[k] + prior[k])
        cumulative[k] = total
    target = next_uniform(stream) * total
    topic = 0
    while topic < prior.size - 1 and cumulative[topic] <= target:
        topic += 1
    return topic


@inlined
def _assign_in_turn(rows, cell_of, topic_of, tokens, prior, cumulative, stream):  # type: ignore[no-untyped-def]
    """Draw a first topic for every token given those before it."""
    tokens[:] = 0.0
    for i in range(cell_of.size):
        topic_of[i] = _draw_topic(rows[cell_of[i]], tokens, prior, cumulative, stream)
        tokens[topic_of[i]] += 1.0


@compiled
def _sweep(rows, cell_of, topic_of, tokens, prior, cumulative, stream, backward):  # type: ignore[no-untyped-def]
    """Draw the topic of every token again, from the first token to the last or the other way round."""
    n = cell_of.size
    for step in range(n):
        i = n - 1 - step if backward else step
        tokens[topic_of[i]] -= 1.0
        topic_of[i] = _draw_topic(rows[cell_of[i]], tokens, prior, cumulative, stream)
        tokens[topic_of[i]] += 1.0


@compiled
def sample_shares(  # type: ignore[no-untyped-def]
    first, last, offset, indptr, words, counts, table, prior, n_iter, burn_in, seed, out
):
    """Write the topic shares of documents first to last, averaged over the sweeps after the burn-in.

    The rows of the documents in the data start at ``offset``.
    """
    K = prior.size
    rows = np.empty((longest_row(first, last, indptr), K))
    longest = _most_tokens(first, last, indptr, counts)
    cells, topics = np.empty(longest, np.int32), np.empty(longest, np.int32)
    tokens, cumulative, stream = np.empty(K), np.empty(K), np.empty(1, np.uint64)
    prior_total = prior.sum()
    for d in range(first, last):
        start_stream(stream, seed, offset + d)
        start, n = indptr[d], indptr[d + 1] - indptr[d]
        length = _gather_tokens(start, n, words, counts, table, rows, cells)
        cell_of, topic_of = cells[:length], topics[:length]
        _assign_in_turn(rows, cell_of, topic_of, tokens, prior, cumulative, stream)
        out[d] = 0.0
        for sweep in range(n_iter):
            _sweep(rows, cell_of, topic_of, tokens, prior, cumulative, stream, False)
            for k in range(K if sweep >= burn_in else 0):
                out[d, k] += tokens[k]
        for k in range(K):
            out[d, k] = (out[d, k] / (n_iter - burn_in) + prior[k]) / (length + prior_total)


@inlined
def _shuffle(values, stream):  # type: ignore[no-untyped-def]
    for i in range(values.size - 1, 0, -1):
        j = int(next_uniform(stream) * (i + 1))
        values[i], values[j] = values[j], values[i]


@inlined
def _draw_ancestors(weights, ancestors, stream):  # type: ignore[no-untyped-def]
    """Draw which particles go on, each in proportion to its weight, at evenly spaced points with a random start."""
    n = weights.size
    spacing = weights.sum() / n
    point = next_uniform(stream) * spacing
    particle, reached = 0, weights[0]
    for r in range(n):
        while particle < n - 1 and reached <= point:
            particle += 1
            reached += weights[particle]
        ancestors[r] = particle
        point += spacing


@inlined
def _left_to_right(rows, cell_of, prior, topics, tokens, new_topics, new_tokens, stream):  # type: ignore[no-untyped-def]
    """Return the estimated log-probability of one document's tokens."""
    n_particles, K = tokens.shape
    weights, ancestors, cumulative = np.empty(n_particles), np.empty(n_particles, np.int64), np.empty(K)
    prior_total, log_probability = prior.sum(), 0.0
    tokens[:] = 0.0
    for i in range(cell_of.size):
        row = rows[cell_of[i]]
        for r in range(n_particles):
            _sweep(rows, cell_of[:i], topics[r], tokens[r], prior, cumulative, stream, False)
            weights[r] = 0.0
            for k in range(K):
                weights[r] += row[k] * (tokens[r, k] + prior[k])
        log_probability += np.log(weights.mean() / (i + prior_total))
        _draw_ancestors(weights, ancestors, stream)
        for r in range(n_particles):
            for j in range(i):
                new_topics[r, j] = topics[ancestors[r], j]
            for k in range(K):
                new_tokens[r, k] = tokens[ancestors[r], k]
            new_topics[r, i] = _draw_topic(row, new_tokens[r], prior, cumulative, stream)
            new_tokens[r, new_topics[r, i]] += 1.0
        topics, new_topics = new_topics, topics
        tokens, new_tokens = new_tokens, tokens
    return log_probability


@compiled
def left_to_right_documents(  # type: ignore[no-untyped-def]
    first, last, offset, indptr, words, counts, table, prior, n_particles, seed, out
):
    """Write the left-to-right estimates of documents first to last, whose rows in the data start at ``offset``."""
    K = prior.size
    rows = np.empty((longest_row(first, last, indptr), K))
    longest = _most_tokens(first, last, indptr, counts)
    cells, stream = np.empty(longest, np.int32), np.empty(1, np.uint64)
    topics, new_topics = np.empty((n_particles, longest), np.int32), np.empty((n_particles, longest), np.int32)
    tokens, new_tokens = np.empty((n_particles, K)), np.empty((n_particles, K))
    for d in range(first, last):
        start_stream(stream, seed, offset + d)
        start, n = indptr[d], indptr[d + 1] - indptr[d]
        cell_of = cells[: _gather_tokens(start, n, words, counts, table, rows, cells)]
        _shuffle(cell_of, stream)
        out[d] = _left_to_right(rows, cell_of, prior, topics, tokens, new_topics, new_tokens, stream)


@inlined
def _climb(rows, cell_of, topic_of, tokens, prior):  # type: ignore[no-untyped-def]
    """Give each token its most probable topic given the others, until none changes."""
    for _ in range(CLIMB_SWEEPS):
        changed = False
        for i in range(cell_of.size):
            row, old = rows[cell_of[i]], topic_of[i]
            tokens[old] -= 1.0
            best = old
            for k in range(prior.size):
                if row[k] * (tokens[k] + prior[k]) > row[best] * (tokens[best] + prior[best]):
                    best = k
            tokens[best] += 1.0
            topic_of[i] = best
            changed |= best != old
        if not changed:
            break


@inlined
def _log_joint(rows, cell_of, topic_of, prior, tokens):  # type: ignore[no-untyped-def]
    """Return log P(topics, tokens) of an assignment, one token after the other; ``tokens`` is scratch."""
    prior_total, total = prior.sum(), 0.0
    tokens[:] = 0.0
    for i in range(cell_of.size):
        k = topic_of[i]
        total += np.log(rows[cell_of[i], k] * (tokens[k] + prior[k]) / (i + prior_total))
        tokens[k] += 1.0
    return total


@inlined
def _copy(source, target):  # type: ignore[no-untyped-def]
    for i in range(source.size):
        target[i] = source[i]


@compiled
def _log_transition(rows, cell_of, source, target, tokens, prior, moving):  # type: ignore[no-untyped-def]
    """Return the log-probability that a forward sweep leads from one assignment to another; ``moving`` is scratch."""
    _copy(tokens, moving)
    total = 0.0
    for i in range(cell_of.size):
        row = rows[cell_of[i]]
        moving[source[i]] -= 1.0
        normaliser = 0.0
        for k in range(prior.size):
            normaliser += row[k] * (moving[k] + prior[k])
        total += np.log(row[target[i]] * (moving[target[i]] + prior[target[i]]) / normaliser)
        moving[target[i]] += 1.0
    return total


@inlined
def _log_add(a, b):  # type: ignore[no-untyped-def]
    """Return log(exp(a) + exp(b))."""
    return max(a, b) + np.log1p(np.exp(-abs(a - b)))


@inlined
def _find_special(rows, cell_of, special, tokens, prior, cumulative, burn_in, stream):  # type: ignore[no-untyped-def]
    """Write an assignment of high probability: a few Gibbs sweeps, then up to the next maximum."""
    _assign_in_turn(rows, cell_of, special, tokens, prior, cumulative, stream)
    for _ in range(burn_in):
        _sweep(rows, cell_of, special, tokens, prior, cumulative, stream, False)
    _climb(rows, cell_of, special, tokens, prior)


@inlined
def _chib(rows, cell_of, prior, n_iter, burn_in, stream):  # type: ignore[no-untyped-def]
    """Return the Chib-style estimate of one document's log-probability."""
    K, length = prior.size, cell_of.size
    if length == 0:
        return 0.0
    cumulative, tokens, middle_tokens = np.empty(K), np.empty(K), np.empty(K)
    special, middle, topic_of = np.empty(length, np.int32), np.empty(length, np.int32), np.empty(length, np.int32)
    _find_special(rows, cell_of, special, tokens, prior, cumulative, burn_in, stream)

    # The chain has n_iter states. The one at a random place is drawn by a backward sweep from the special assignment,
    # those after it by forward sweeps, and those before it by further backward sweeps.
    n_before = int(next_uniform(stream) * n_iter)
    _copy(special, middle)
    _copy(tokens, middle_tokens)
    _sweep(rows, cell_of, middle, middle_tokens, prior, cumulative, stream, True)
    log_sum = _log_transition(rows, cell_of, middle, special, middle_tokens, prior, tokens)
    for step in range(n_iter - 1):
        if step == 0 or step == n_before:
            _copy(middle, topic_of)
            _copy(middle_tokens, tokens)
        _sweep(rows, cell_of, topic_of, tokens, prior, cumulative, stream, step < n_before)
        log_transition = _log_transition(rows, cell_of, topic_of, special, tokens, prior, cumulative)
        log_sum = _log_add(log_sum, log_transition)
    return _log_joint(rows, cell_of, special, prior, tokens) - (log_sum - np.log(n_iter))


@compiled
def chib_documents(  # type: ignore[no-untyped-def]
    first, last, offset, indptr, words, counts, table, prior, n_iter, burn_in, seed, out
):
    """Write the Chib-style estimates of documents first to last, whose rows in the data start at ``offset``."""
    rows = np.empty((longest_row(first, last, indptr), prior.size))
    cells, stream = np.empty(_most_tokens(first, last, indptr, counts), np.int32), np.empty(1, np.uint64)
    for d in range(first, last):
        start_stream(stream, seed, offset + d)
        start, n = indptr[d], indptr[d + 1] - indptr[d]
        cell_of = cells[: _gather_tokens(start, n, words, counts, table, rows, cells)]
        out[d] = _chib(rows, cell_of, prior, n_iter, burn_in, stream)
