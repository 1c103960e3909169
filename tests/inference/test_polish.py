import sys
import warnings
from importlib import import_module

import numpy as np
import pytest
from scipy import sparse

from oracles import told_smoothing
from polyad import LDA
from polyad.datasets import make_lda, make_single_topic
from polyad.engine import count_blocks, halves, use
from polyad.inference import completion_bits, polish, polish_mixture
from polyad.inference import polish as polish_function
from polyad.inference.expectation import LEAVE_OUT_SHARE
from polyad.inference.polish import COUNTS_RELAXATION, INNER, SHARES_RELAXATION, TELLING_PASSES, shrink_rare_words
from polyad.inference.presets import PRESETS, Preset, preset_of
from polyad.metrics import l1_error
from polyad.models.recipes.moment_start import NoiseWarning
from polyad.moments import raw_moments
from polyad.moments.counts.concentration import estimate_concentration

SAMPLE = make_lda(1500, 300, 5, length=80, prior=0.2, random_state=4)
X = count_blocks(SAMPLE.counts)
COUNTS = X.shard(0).rows
NOISE = np.random.default_rng(0).dirichlet(np.ones(300), 5)
START = 0.5 * SAMPLE.components + 0.5 * NOISE
PRIOR, SMOOTHING = np.full(5, 0.2), np.full(5, 0.05)


def exactly(n_passes):
    return Preset(n_passes, n_passes)


def plain_em(n_passes):
    return polish(X, START, PRIOR, preset=exactly(n_passes), smoothing=SMOOTHING, leave_out=False)


def slow_em(n_passes):
    """The same passes in NumPy, shares kept."""
    counts, topics = COUNTS.toarray(), START.copy()
    tokens, objective = None, []
    for _ in range(n_passes):
        shares = PRIOR * (1 + counts.sum(axis=1, keepdims=True) / PRIOR.sum()) if tokens is None else PRIOR + tokens
        for inner in range(INNER):
            if inner:
                shares = PRIOR + tokens
            mixture = shares @ topics
            tokens = shares * ((counts / mixture) @ topics.T)
        objective.append((counts * np.log(mixture / shares.sum(axis=1, keepdims=True))).sum() / counts.sum())
        new = topics * (shares.T @ (counts / mixture)) + SMOOTHING[:, None]
        topics = new / new.sum(axis=1, keepdims=True)
    return topics, objective


def test_plain_em_equals_its_numpy_twin():
    topics, objective = slow_em(3)
    found = plain_em(3)
    assert np.allclose(found.components, topics, atol=1e-6)
    assert np.allclose(found.objective, objective, atol=1e-5)


def split_by_cells(counts, group):
    """Return the first and the second half of a group of documents, given and returned as masks."""
    cells = np.cumsum(np.where(group, (counts > 0).sum(axis=1), 0))
    is_first = np.concatenate([[0], cells[:-1]]) < cells[-1] / 2
    return [group & is_first, group & ~is_first]


def slow_passes(counts, topics, prior, n_passes, n_groups=2):
    """The passes that models use, in NumPy: cell by cell, a document's own tokens left out of a word's row.

    And no token sees its own vote in the shares of its document.
    """
    (N, M), K = counts.shape, prior.size
    totals = counts.sum(axis=0)
    own = counts >= LEAVE_OUT_SHARE * totals
    groups = split_by_cells(counts, np.ones(N, bool))
    if n_groups == 4:
        groups = [quarter for half in groups for quarter in split_by_cells(counts, half)]
    share = np.where(totals * LEAVE_OUT_SHARE > 1, COUNTS_RELAXATION, 0.0)
    responsibilities, tokens = np.zeros((N, K, M)), np.zeros((N, K))
    one_token = floor = early = told = None

    def expected_tokens(responsibilities):
        """Of each group; responsibilities that are less than nothing must not outweigh the others."""
        kept, found = (np.where(own == is_kept, counts, 0) for is_kept in (True, False))
        return np.stack(
            [
                np.einsum("nm,nkm->km", kept[group], responsibilities[group])
                + np.maximum(np.einsum("nm,nkm->km", found[group], responsibilities[group]), 0)
                for group in groups
            ]
        )

    for number in range(n_passes):
        for turn, group in enumerate(groups):
            is_last = turn == n_groups - 1
            x = counts[group]
            if number == 0:
                rows = np.repeat(topics[None], x.shape[0], axis=0)  # documents x K x M
                shares = prior * (1 + x.sum(axis=1, keepdims=True) / prior.sum())
            else:
                left_out = x[:, None] * responsibilities[group] * one_token[:, None]
                rows = np.where(own[group][:, None], np.maximum(topics - left_out, floor[:, None]), topics)
                shares = prior + tokens[group]
                seen = rows
                rows = rows * np.maximum(1 - rows / np.einsum("nk,nkm->nm", shares, rows)[:, None], 0)
            for inner in range(INNER):
                if inner:
                    step = prior + tokens[group]
                    shares = np.maximum(step + SHARES_RELAXATION * (step - shares), 0.2 * step)
                mixture = np.einsum("nk,nkm->nm", shares, rows)
                tokens[group] = shares * np.einsum("nm,nkm->nk", x / mixture, rows)
            before = expected_tokens(responsibilities).sum(axis=0)
            responsibilities[group] = shares[:, :, None] * rows / mixture[:, None]
            if number:  # of words that keep none they are found again, from the last shares
                votes = shares[:, :, None] * seen
                sums = votes.sum(axis=1, keepdims=True)
                squares = (votes * seen).sum(axis=1, keepdims=True)
                part = np.minimum(1 / sums, 0.95 * sums / squares)
                found = votes * (1 - seen * part) / (sums - squares * part)
                responsibilities[group] = np.where(own[group][:, None], responsibilities[group], found)
            of_groups = expected_tokens(responsibilities)
            expected = of_groups.sum(axis=0)
            beyond = expected
            if number and (number < n_passes - 1 or not is_last):
                beyond = np.maximum(expected + share * (expected - before), 0.2 * expected)
            elif number == 0 and not is_last:
                continue
            if number < TELLING_PASSES:
                of_halves = of_groups.reshape(2, n_groups // 2, K, M).sum(axis=1)
                told = told_smoothing(*np.swapaxes(of_halves, 1, 2))
            smoothing = 2 * beyond.sum(axis=1) / beyond.sum() if told is None else np.full(K, told)
            sums = beyond.sum(axis=1) + M * smoothing
            topics = (beyond + smoothing[:, None]) / sums[:, None]
            one_token, floor = 1 / sums, smoothing / sums
        if number == 0:
            early = topics
    topics = topics + 0.5 * K / (K + totals) * (early - topics)
    return topics / topics.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_groups", [2, 4])
@pytest.mark.parametrize("alike", [False, True])
def test_passes_of_the_models_equal_their_numpy_twin(alike, n_groups, monkeypatch):
    """Bursty words, rare words, and words so frequent that no document has a hundredth of their tokens.

    The data tell the prior of the topics, but not where all of these have one frequent word.
    """
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(25, 0.2), 4)
    topics = 0.4 * topics + 0.6 * np.eye(25)[0] if alike else topics
    sample = make_lda(300, components=topics, length=60, prior=0.1, random_state=1)
    counts = sample.counts.toarray()
    counts[rng.integers(0, 300, 40), rng.integers(0, 25, 40)] += 20
    counts[7, 3:5] = [1, 2]
    assert 0.01 < (counts >= LEAVE_OUT_SHARE * counts.sum(axis=0))[counts > 0].mean() < 0.9
    start = 0.5 * sample.components + 0.5 / 25
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    monkeypatch.setattr(import_module("polyad.inference.polish"), "MANY_DOCUMENTS", 1 if n_groups == 4 else 10**9)
    found = polish(count_blocks(counts), start, prior, preset=exactly(4))
    assert (found.smoothing is None) == alike
    # Rounding may turn a vote that is cut at zero, and each renewal of the topics carries it on.
    atol = 2e-6 if n_groups == 2 else 2e-5
    assert np.allclose(found.components, slow_passes(counts, start, prior, 4, n_groups), atol=atol)


def test_plain_em_never_gets_worse():
    """The penalised likelihood rises; the last part of the curve would show any step back."""
    assert np.diff(plain_em(40).objective[1:]).min() > -1e-4
    penalised = []
    for n in range(1, 8):
        found = plain_em(n)
        again = polish(X, found.components, PRIOR, preset=exactly(1), smoothing=SMOOTHING, leave_out=False)
        penalised.append(again.objective[0] + (SMOOTHING @ np.log(found.components)).sum() / COUNTS.sum())
    assert np.diff(penalised).min() > -1e-6


@pytest.mark.parametrize("leave_out", [True, False])
def test_topics_get_better_from_a_bad_start(leave_out):
    found = polish(X, START, PRIOR, preset=exactly(8), leave_out=leave_out)
    assert l1_error(START, SAMPLE.components) > 0.3
    assert l1_error(found.components, SAMPLE.components) < 0.06
    assert np.allclose(found.components.sum(axis=1), 1)
    assert (found.components > 0).all()
    assert np.isclose(found.topic_tokens.sum(), COUNTS.sum(), rtol=1e-4)
    assert found.objective[-1] > found.objective[0] + 0.1


@pytest.mark.parametrize("leave_out", [True, False])
def test_threads_give_the_same_bytes(leave_out):
    whole = polish(X, START, PRIOR, preset=exactly(3), leave_out=leave_out)
    with use(3):
        threads = polish(X, START, PRIOR, preset=exactly(3), leave_out=leave_out)
    assert whole.components.tobytes() == threads.components.tobytes()
    assert whole.objective == threads.objective


def test_the_order_of_documents_does_not_matter_within_a_half():
    first, second = (half.shard(0).rows for half in halves(X))
    assert first.nnz - first[[0]].nnz < COUNTS.nnz / 2  # or the halves would not be the same when they are turned round
    shuffled = sparse.vstack([first[::-1], second[::-1]], format="csr")
    one, other = (polish(x, START, PRIOR, preset=exactly(3)) for x in (X, count_blocks(shuffled)))
    assert np.abs(one.components - other.components).max() < 1e-6


@pytest.mark.parametrize("rows", [[0], [0, 1], [0, 1, -1], [-1, 0, -1, -1], [-1, -1, 0]])
def test_few_and_empty_documents(rows):
    """A half may be one document, or empty documents alone; with a book at the end that has most cells, and without."""
    book = sparse.csr_array(np.full((1, 300), 50.0))
    some = sparse.csr_array(sparse.vstack([COUNTS[:2], sparse.csr_array((1, 300))], format="csr"))
    for counts in (some[rows], sparse.csr_array(sparse.vstack([some[rows], book], format="csr"))):
        found = polish(count_blocks(counts), START, PRIOR, preset=exactly(40))
        assert np.isfinite(found.objective).all()
        assert np.allclose(found.components.sum(axis=1), 1)
        assert (found.components > 0).all()
        assert np.isclose(found.topic_tokens.sum(), counts.sum(), rtol=1e-4)


def test_small_changes_do_not_grow():
    """Documents that repeat words, and leave out their own tokens, must not swap opinions from pass to pass."""
    rng = np.random.default_rng(0)
    sample = make_lda(300, 400, 12, length=400, prior=0.3, random_state=1)
    bursts = count_blocks(sample.counts * (1 + 5 * (rng.random(sample.counts.shape) < 0.1)))
    start = 0.3 * sample.components + 0.7 / 400
    other = start * (1 + 1e-5 * rng.standard_normal(start.shape))
    prior = np.full(12, 0.025)
    one, two = (polish(bursts, s / s.sum(axis=1, keepdims=True), prior, preset=exactly(60)) for s in (start, other))
    assert np.abs(one.components - two.components).max() < 1e-5


def test_leaving_own_tokens_out_helps_rare_words(monkeypatch):
    """Many rare words, few documents: plain EM explains each rare word by itself, and does worse on new documents."""
    sample = make_lda(600, 3000, 10, length=60, prior=0.1, topic_prior=0.3, random_state=0)
    train, test = count_blocks(sample.counts[:400]), sample.counts[400:]
    start = 0.7 * sample.components + 0.3 / 3000
    module = sys.modules["polyad.inference.polish"]
    monkeypatch.setattr(module, "shrink_rare_words", lambda early, late, totals, K: late)  # it helps them, too
    prior = np.full(10, 0.1)
    bits = {}
    for leave_out in (True, False):
        found = polish_function(train, start, prior, preset=exactly(20), leave_out=leave_out)
        bits[leave_out] = completion_bits(found.components, prior, test)
    assert bits[True] < bits[False] - 0.01


def test_leaving_own_tokens_out_helps_bursty_words(monkeypatch):
    """A word that a document repeats says little of other documents; leaving out one token of many is not enough."""
    sample = make_lda(1000, 2000, 10, length=60, prior=0.1, topic_prior=0.3, random_state=0)
    bursts = sample.counts.copy()
    bursts.data *= 1 + np.random.default_rng(0).geometric(0.2, bursts.data.size) * (
        np.arange(bursts.data.size) % 4 == 0
    )
    train, test = count_blocks(bursts[:700]), bursts[700:]
    start, prior = 0.7 * sample.components + 0.3 / 2000, np.full(10, 0.1)
    bits = {}
    for share in (LEAVE_OUT_SHARE, 2.0):  # no document has twice the tokens of a word
        for module in ("polish", "expectation"):
            monkeypatch.setattr(sys.modules[f"polyad.inference.{module}"], "LEAVE_OUT_SHARE", share)
        found = polish_function(train, start, prior, preset=exactly(12))
        bits[share] = completion_bits(found.components, prior, test)
    assert bits[LEAVE_OUT_SHARE] < bits[2.0] - 0.01


def test_rows_of_rare_words_stay_near_the_first_pass():
    K, width = 3, 16
    early, late = np.zeros((2, 4, width), np.float32)
    rng = np.random.default_rng(0)
    early[:, :K], late[:, :K] = rng.dirichlet(np.ones(4), (2, K)).transpose(0, 2, 1)
    totals = np.array([0.0, 3.0, 297.0, 3e6], np.float32)
    expected = late.copy()
    for word, share in enumerate([1 / 2, 1 / 4, 1 / 200, 0]):
        expected[word] = (1 - share) * late[word] + share * early[word]
    assert np.allclose(shrink_rare_words(early, late, totals, K), expected, atol=1e-6)


def many_topics():
    """Few tokens for each word and topic, topics as the moments find them, and documents to predict."""
    sample = make_lda(1250, 1500, 30, length=60, prior=0.05, topic_prior=0.1, random_state=0)
    train, test = sample.counts[:1000], sample.counts[1000:]
    with warnings.catch_warnings(action="ignore", category=NoiseWarning):
        start = LDA(30, polish="off").fit(train).components_
    return count_blocks(train), test, start, np.full(30, 1 / 30)


def test_settled_words_predict_better_where_topics_are_many(monkeypatch):
    train, test, start, prior = many_topics()
    settled = polish(train, start, prior, preset=exactly(12))
    module = sys.modules["polyad.inference.polish"]
    monkeypatch.setattr(module, "shrink_rare_words", lambda early, late, totals, K: late)
    as_they_are = polish(train, start, prior, preset=exactly(12))
    bits = [completion_bits(found.components, prior, test) for found in (settled, as_they_are)]
    assert bits[0] < bits[1] - 0.003


def test_mixture_em_never_gets_worse():
    sample = make_single_topic(800, 200, 4, length=30)
    noise = np.random.default_rng(0).dirichlet(np.ones(200), 4)
    start = 0.5 * sample.components + 0.5 * noise
    blocks = count_blocks(sample.counts)
    found = polish_mixture(blocks, start, np.full(4, 0.25), preset=exactly(15), smoothing=0.05)
    assert np.diff(found.objective).min() > -1e-10
    assert l1_error(found.components, sample.components) < 0.06
    with use(3):
        again = polish_mixture(blocks, start, np.full(4, 0.25), preset=exactly(15), smoothing=0.05)
    assert again.components.tobytes() == found.components.tobytes()


@pytest.mark.parametrize("total", [0.2, 1.0, 5.0])
def test_concentration_of_known_topics(total):
    sample = make_lda(4000, 300, 6, length=60, prior=total / 6, random_state=1)
    blocks = count_blocks(sample.counts)
    raw = raw_moments(blocks, 1.25)
    found, shares = estimate_concentration(raw, sample.components)
    assert np.isclose(found, total, rtol=0.15)
    assert np.allclose(shares, 1 / 6, atol=0.02)


def test_concentration_where_rare_words_alone_tell_topics_apart():
    topics = np.zeros((5, 70))
    topics[:, :20] = 0.92 / 20
    for k in range(5):
        topics[k, 20 + 10 * k : 30 + 10 * k] = 0.08 / 10
    rng = np.random.default_rng(0)
    counts = np.array([rng.multinomial(300, p) for p in rng.dirichlet(np.full(5, 0.2), 3000) @ topics])
    blocks = count_blocks(counts)
    found, _ = estimate_concentration(raw_moments(blocks, 1.25), topics)
    assert np.isclose(found, 1.0, rtol=0.2)


@pytest.mark.parametrize(("least_gain", "n_passes"), [(-np.inf, 12), (np.inf, 4), (0.0, None)])
def test_polishing_stops_when_a_pass_gains_too_little(least_gain, n_passes):
    found = polish(X, START, PRIOR, preset=Preset(4, 12, least_gain))
    if n_passes is not None:
        assert len(found.objective) == n_passes
    same = polish(X, START, PRIOR, preset=exactly(len(found.objective)))
    assert found.components.tobytes() == same.components.tobytes(), "any pass can be the last"


def test_learning_by_heart_is_seen():
    """Few tokens for many topics: new documents are predicted best after a few passes, and polishing stops there."""
    sample = make_lda(3000, 3000, 30, length=50, prior=0.05, topic_prior=0.05, random_state=0)
    train, test, prior = count_blocks(sample.counts[:2400]), sample.counts[2400:], np.full(30, 0.01)
    start = 0.6 * sample.components + 0.4 / 3000
    stopped = polish(train, start, prior, preset=PRESETS["fast"])
    assert len(stopped.objective) < PRESETS["fast"].most_passes
    bits = {
        n: completion_bits(polish(train, start, prior, preset=exactly(n)).components, prior, test)
        for n in (len(stopped.objective), 40)
    }
    assert bits[len(stopped.objective)] < bits[40] - 0.004


def test_presets():
    assert PRESETS["off"].n_passes == 0
    assert preset_of(7) == Preset(7, 7)
    for wrong in ("quick", -1, True, 2.5, None):
        with pytest.raises(ValueError, match="give 'off', 'fast', 'full' or a number"):
            preset_of(wrong)
