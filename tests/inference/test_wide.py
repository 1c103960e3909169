"""Passes under a wide prior, and topics without it."""

import warnings

import numpy as np

from polyad import LDA
from polyad.datasets import make_lda
from polyad.engine import count_blocks, use
from polyad.inference import completion_bits, polish
from polyad.inference.presets import PRESETS, Preset
from polyad.inference.wide import LAST_SMOOTHING, WIDE_SMOOTHING, wide_passes, with_other_smoothing
from polyad.models.recipes.moment_start import NoiseWarning

SAMPLE = make_lda(900, 1500, 20, length=80, prior=0.05, topic_prior=0.1, random_state=2)
X = count_blocks(SAMPLE.counts[:600])
PRIOR = np.full(20, 0.015)
START = 0.5 * SAMPLE.components + 0.5 / 1500


def test_other_smoothing_is_that_of_the_same_tokens():
    """Exactly so where topics are tokens and smoothing alone."""
    rng = np.random.default_rng(0)
    tokens = rng.poisson(3.0, (4, 30)).astype(float)
    before, after = np.array([0.5, 1.0, 2.0, 0.1]), np.array([0.1, 0.05, 3.0, 0.2])

    def topics(added):
        rows = tokens + added[:, None]
        return rows / rows.sum(axis=1, keepdims=True)

    found = with_other_smoothing(topics(before), tokens.sum(axis=1), before, after)
    assert np.allclose(found, topics(after), atol=1e-12)


def test_rows_stay_positive_where_more_is_taken_off_than_there_is():
    topics = np.array([[0.999, 0.001, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    found = with_other_smoothing(topics, np.array([10.0, 0.0]), np.full(2, 5.0), np.zeros(2))
    assert (found > 0).all()
    assert np.allclose(found.sum(axis=1), 1)


def test_wide_passes_are_passes_with_another_prior():
    """The passes are those of polishing, under the wide prior; what is taken off is what that prior put on."""
    K, M = START.shape
    found = wide_passes(X, START, PRIOR, n_passes=3)
    same = polish(X, START, PRIOR, preset=Preset(3, 3), smoothing=np.full(K, WIDE_SMOOTHING / K))
    tokens = same.components * (same.topic_tokens + M * WIDE_SMOOTHING / K)[:, None]
    slow = np.maximum(tokens - (WIDE_SMOOTHING - LAST_SMOOTHING) / K, 1e-6)
    assert np.allclose(found.components, slow / slow.sum(axis=1, keepdims=True), atol=1e-12)
    assert np.isclose(found.topic_tokens.sum(), SAMPLE.counts[:600].sum(), rtol=1e-4)
    assert found.objective == same.objective


def test_wide_passes_predict_new_documents_better():
    """Where topics are many for the data, and start from moments that noise has mixed up."""
    sample = make_lda(1250, 1500, 30, length=60, prior=0.05, topic_prior=0.1, random_state=0)
    train, test, prior = count_blocks(sample.counts[:1000]), sample.counts[1000:], np.full(30, 1 / 30)
    with warnings.catch_warnings(action="ignore", category=NoiseWarning):
        start = LDA(30, polish="off").fit(train).components_
    settled = polish(train, start, prior, preset=Preset(60, 60))
    wide = wide_passes(train, settled.components, prior, n_passes=30)
    bits = [completion_bits(found.components, prior, test) for found in (settled, wide)]
    assert bits[1] < bits[0] - 0.001


def test_threads_and_a_second_run_give_the_same_bytes():
    runs = set()
    for n_threads in (1, 2, 1):
        with use(n_threads):
            runs.add(wide_passes(X, START, PRIOR, n_passes=3).components.tobytes())
    assert len(runs) == 1


def long_documents(n_topics):
    """Ten million tokens in each document: a draw for each of them would take hours."""
    topics = make_lda(20, 200, n_topics, length=1000, random_state=0).components
    rng = np.random.default_rng(0)
    return np.array([rng.multinomial(10_000_000, p) for p in rng.dirichlet(np.full(n_topics, 0.1), 20) @ topics])


def test_full_costs_by_cells_and_does_not_depend_on_a_seed():
    """Three topics of eight: no prior of three is that of the moments, and "full" makes all its passes."""
    counts = long_documents(8)
    with warnings.catch_warnings(action="ignore", category=NoiseWarning):
        one, other = (LDA(3, polish="full", random_state=seed).fit(counts) for seed in (0, 1))
    assert np.array_equal(one.components_, other.components_)
    full = PRESETS["full"]
    n_passes = len(one.diagnostics_.objective)
    assert full.least_passes + full.wide_passes <= n_passes <= full.n_passes


def test_full_goes_as_far_as_fast_where_the_prior_is_that_of_the_moments():
    counts = long_documents(3)
    fast, full = (LDA(3, polish=polish).fit(counts) for polish in ("fast", "full"))
    assert np.array_equal(fast.components_, full.components_)
    assert len(full.diagnostics_.objective) <= PRESETS["fast"].n_passes
