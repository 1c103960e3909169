"""Passes for many topics, in which documents keep only their own: the same as those that look at all topics."""

import numpy as np
import pytest
from numba import typeof
from numba.core.dispatcher import Dispatcher

from polyad import LDA
from polyad.datasets import make_lda
from polyad.engine import Threads, count_blocks, halves, new_states, ordered_by_content, step, use, write_shards
from polyad.inference import completion_bits, expectation, few_topics
from polyad.inference import polish as polish_topics
from polyad.inference.cells import padded_vector, topic_table
from polyad.inference.expectation import Iterations, TopicTable, em_step, prepare_documents
from polyad.inference.few_topics import few_bytes, few_step, has_many, places_for, prepare_few
from polyad.inference.polish import _Run, polish_bytes
from polyad.inference.presets import PRESETS, Preset
from polyad.io import fingerprint
from polyad.metrics import l1_error
from polyad.models.recipes import dirichlet, moment_start
from purity import Checking
from sharded import tiny_cuts

K = 40
SAMPLE = make_lda(240, 200, K, length=60, prior=0.02, random_state=0)
X = count_blocks(SAMPLE.counts)
NOISE = np.random.default_rng(0).dirichlet(np.ones(200), K)
START = 0.8 * SAMPLE.components + 0.2 * NOISE
PRIOR = np.full(K, 0.3 / K)


@pytest.fixture
def few_are_kept(monkeypatch):
    monkeypatch.setattr(few_topics, "MANY_TOPICS", 8)
    monkeypatch.setattr(few_topics, "LEAST_PLACES", 16)


def passes(n, **options):
    return polish_topics(X, START, PRIOR, preset=Preset(n, n), **options)


@pytest.mark.parametrize("leave_out", [True, False])
def test_with_all_topics_kept_the_passes_are_those_of_all_topics(monkeypatch, leave_out):
    expected = passes(4, leave_out=leave_out)
    for name, value in {"MANY_TOPICS": 8, "LEAST_TOKENS": -1.0, "LEAST_PLACES": 64}.items():
        monkeypatch.setattr(few_topics, name, value)
    found = passes(4, leave_out=leave_out)
    assert np.allclose(found.components, expected.components, atol=2e-6)
    assert np.allclose(found.view_tokens, expected.view_tokens, rtol=1e-4, atol=1e-2)
    assert np.allclose(found.objective, expected.objective, atol=1e-6)


def test_what_is_left_out_is_little(few_are_kept, monkeypatch):
    found = passes(5)
    monkeypatch.setattr(few_topics, "MANY_TOPICS", 1000)
    expected = passes(5)
    apart = np.abs(found.components - expected.components).sum(axis=1)
    assert 0 < apart.mean() < 0.02  # each topic sums to 1
    bits = [completion_bits(it.components, PRIOR, SAMPLE.counts) for it in (found, expected)]
    assert abs(bits[0] - bits[1]) < 0.002


def states_after(n_passes):
    table = TopicTable(topic_table(START), padded_vector(PRIOR), (0, 200))
    _, states = step(prepare_few, X, new_states(X), np.asarray(X.shard(0).rows.sum(axis=0)).ravel(), K)
    for number in range(n_passes):
        (tokens, _), states = step(few_step, X, states, table, Iterations(4, warm=number > 0))
    return tokens, states[0]


def test_documents_lose_topics_and_tokens_are_not_lost(few_are_kept):
    first, second = states_after(1)[1], states_after(3)[1]
    assert (first.sizes >= 1).all()
    assert (second.sizes <= first.sizes).all()
    assert second.sizes.sum() < 0.7 * first.sizes.sum()
    for number in range(0, 240, 40):
        before, now = (
            set(kept.topics[kept.place[number] : kept.place[number] + kept.sizes[number]]) for kept in (first, second)
        )
        assert now <= before
        assert len(now) == second.sizes[number]
    tokens, _ = states_after(3)
    assert np.isclose(tokens.sum(), SAMPLE.counts.sum(), rtol=2e-3)


def test_the_least_are_lost_where_there_are_more_than_places(few_are_kept):
    _, kept = states_after(1)
    table = TopicTable(topic_table(START), padded_vector(PRIOR), (0, 200))
    _, states = step(prepare_documents, X, new_states(X), None, K)
    _, states = step(em_step, X, states, table, Iterations(4))
    full = states[0].tokens[:, :K]
    crowded = np.flatnonzero((full > few_topics.LEAST_TOKENS).sum(axis=1) > np.diff(kept.place))
    assert crowded.size
    for number in crowded:
        own = kept.topics[kept.place[number] : kept.place[number] + kept.sizes[number]]
        others = np.setdiff1d(np.arange(K), own)
        assert full[number, own].min() > full[number, others].max()


def test_a_document_without_a_word_has_no_topics(few_are_kept):
    rows = np.vstack([np.zeros((1, 200)), SAMPLE.counts.toarray()[:50]])
    found = polish_topics(count_blocks(rows), START, PRIOR, preset=Preset(3, 3))
    assert np.isfinite(found.components).all()
    assert np.allclose(found.components.sum(axis=1), 1)


@pytest.fixture
def many_topics(monkeypatch, few_are_kept):
    """A fit of a few topics takes the way of many: some from the moments, the others from documents."""
    for module in (moment_start, dirichlet):
        monkeypatch.setattr(module, "MOST_BY_MOMENTS", 6)


@pytest.mark.filterwarnings("ignore")
def test_the_same_bytes_for_any_threads_order_and_place(many_topics, tmp_path):
    model = LDA(20, polish=3, n_jobs=1).fit(SAMPLE.counts)
    expected = fingerprint(model)
    order = np.random.default_rng(1).permutation(240)
    assert fingerprint(LDA(20, polish=3, n_jobs=2).fit(SAMPLE.counts[order])) == expected
    shards = write_shards(X, tmp_path / "shards")
    assert fingerprint(LDA(20, polish=3, n_jobs=2).fit(shards)) == expected
    with use(Checking()) as runner:
        assert fingerprint(LDA(20, polish=3).fit(SAMPLE.counts)) == expected
    assert {f"polyad.inference.few_topics.{name}" for name in ("prepare_few", "few_step")} <= runner.seen


@pytest.mark.parametrize(("module", "many"), [(expectation, 1000), (few_topics, 8)])
def test_loops_are_compiled_once_wherever_their_input_comes_from(module, many, monkeypatch):
    """What came out of a pickle, as on a cluster, can be written to, and for numba is of another type."""
    types = {}

    def recorded(name, loop):
        def call(*arguments):
            types.setdefault(name, set()).add(tuple(str(typeof(argument)) for argument in arguments))
            return loop(*arguments)

        return call

    monkeypatch.setattr(few_topics, "MANY_TOPICS", many)
    for name, loop in [(name, loop) for name, loop in vars(module).items() if isinstance(loop, Dispatcher)]:
        monkeypatch.setattr(module, name, recorded(name, loop))
    passes(2)
    with use(Checking()):
        passes(2)
    assert {name: len(found) for name, found in types.items()} == dict.fromkeys(types, 1)
    assert len(types) == 2


@pytest.mark.filterwarnings("ignore")
def test_topics_beyond_those_of_the_moments_start_from_documents(many_topics):
    model = LDA(20).fit(SAMPLE.counts)
    known = np.isfinite(model.diagnostics_.certainty)
    assert known.sum() == 6
    assert not set(np.flatnonzero(~known)) & set(model.diagnostics_.undetermined)
    assert np.allclose(model.components_.sum(axis=1), 1)
    fewer = LDA(6).fit(SAMPLE.counts)
    bits = [completion_bits(it.components_, it.doc_topic_prior_, SAMPLE.counts) for it in (model, fewer)]
    assert bits[0] < bits[1] - 0.05


@pytest.mark.filterwarnings("ignore")
def test_halves_on_disk_keep_their_topics(few_are_kept, tmp_path):
    with tiny_cuts(shard=2000, block=700, rows=50):
        source = ordered_by_content(count_blocks(SAMPLE.counts))  # cut here and now
        shards = write_shards(source, tmp_path / "shards")
        assert len(halves(shards)[0].edges) > 2
        with use(Threads(2)):
            on_disk, in_memory = (
                polish_topics(it, START, PRIOR, preset=Preset(3, 3)).components for it in (shards, source)
            )
    assert on_disk.tobytes() == in_memory.tobytes()


def test_topics_from_documents_get_more_passes():
    fast, few = PRESETS["fast"], Preset(3, 3)
    assert fast.for_corpus(many_shards=False, many_topics=False) == fast
    assert fast.for_corpus(many_shards=False, many_topics=True).least_passes == fast.most_passes == 11
    many = fast.for_corpus(many_shards=True, many_topics=True)
    assert (many.least_passes, many.most_passes) == (6, 6)
    assert few.for_corpus(many_shards=True, many_topics=True) == few
    assert PRESETS["full"].for_corpus(many_shards=True, many_topics=False) == PRESETS["full"]


def test_many_topics_of_long_documents_begin_with_rounds():
    fast, of = PRESETS["fast"], {"many_topics": True, "long_documents": True}
    found = fast.for_corpus(many_shards=False, **of)
    assert (found.rounds, found.least_passes, found.most_passes) == (6, 16, 16)
    assert [number for number in range(1, 17) if found.begins_a_round(number)] == [1, 3, 5, 7, 9, 11]
    assert [number for number in range(1, 17) if found.is_in_a_round(number)] == list(range(1, 13))
    found = fast.for_corpus(many_shards=True, **of)
    assert (found.rounds, found.most_passes) == (2, 6)
    assert [Preset(n, n).for_corpus(many_shards=False, **of).rounds for n in range(6)] == [0, 0, 0, 0, 1, 1]
    assert PRESETS["full"].for_corpus(many_shards=False, **of).most_passes == PRESETS["full"].most_passes
    assert fast.for_corpus(many_shards=False, many_topics=False, long_documents=True) == fast


def a_run(n_passes, table=None):
    """Passes so far, and then a round with given topics."""
    run = _Run(halves(X), np.ones(200), 240, START, PRIOR, None, True)
    for _ in range(n_passes):
        run.go_on()
    if table is not None:
        run.table = table
    return run


def test_a_round_begins_with_the_topics_that_words_have_anywhere(few_are_kept, monkeypatch):
    monkeypatch.setattr(few_topics, "LEAST_TOKENS", -1.0)
    monkeypatch.setattr(few_topics, "LEAST_PLACES", 64)
    run = a_run(2)
    topics = run.table.topics[:, :K].astype(float)
    run.go_on(anew=True, in_a_round=True)
    of_words = topics / topics.sum(axis=1, keepdims=True)  # under a flat prior, whatever the document
    expected = SAMPLE.counts.sum(axis=0)[:, None] * of_words
    assert np.allclose(sum(run.tokens)[:, :K], expected, rtol=1e-4, atol=2e-3)  # kept in parts of a token, 16 bits each


def test_documents_forget_their_shares(few_are_kept):
    settled = a_run(4)
    fresh = a_run(1, settled.table)
    for run in (settled, fresh):
        run.go_on(anew=True, in_a_round=True)
    assert fresh.table.topics.tobytes() == settled.table.topics.tobytes()
    for run in (settled, fresh):
        run.go_on(in_a_round=True)
    assert sum(fresh.tokens).tobytes() == sum(settled.tokens).tobytes()


@pytest.mark.filterwarnings("ignore")
def test_rounds_make_better_topics_of_long_documents(monkeypatch):
    """As many passes with rounds and without, on documents of 200 topics: nearer to the truth, and better bits."""
    sample = make_lda(500, 1500, 200, length=800, prior=0.05, topic_prior=0.03, random_state=1)
    new = make_lda(100, 1500, 200, length=800, prior=0.05, components=sample.components, random_state=2).counts
    with_rounds = LDA(200, polish=16).fit(sample.counts)
    monkeypatch.setattr(dirichlet, "LONG_DOCUMENTS", np.inf)
    without = LDA(200, polish=16).fit(sample.counts)
    errors, bits = (
        [judge(it) for it in (with_rounds, without)]
        for judge in (
            lambda it: l1_error(it.components_, sample.components),
            lambda it: completion_bits(it.components_, it.doc_topic_prior_, new),
        )
    )
    assert errors[0] < 0.9 * errors[1]
    assert bits[0] < bits[1] - 0.015


LONG = make_lda(300, 300, 30, length=500, prior=0.1, topic_prior=0.05, random_state=1)


@pytest.mark.filterwarnings("ignore")
def test_rounds_give_the_same_bytes_everywhere(many_topics, tmp_path):
    expected = fingerprint(LDA(20, polish=6, n_jobs=1).fit(LONG.counts))
    order = np.random.default_rng(1).permutation(300)
    assert fingerprint(LDA(20, polish=6, n_jobs=2).fit(LONG.counts[order])) == expected
    shards = write_shards(count_blocks(LONG.counts), tmp_path / "shards")
    assert fingerprint(LDA(20, polish=6).fit(shards)) == expected
    with use(Checking()):
        assert fingerprint(LDA(20, polish=6).fit(LONG.counts)) == expected


def test_memory_goes_with_the_topics_of_a_document():
    assert not has_many(128)
    assert has_many(129)
    sizes = 10**6, 50_000, 6 * 10**7, 10**6
    assert polish_bytes(*sizes, 1000) < 0.4 * (4 * 1008 * (2 * 10**6 + 7 * 50_000) + 3 * 1008 * 10**6)
    assert few_bytes(100, 6000, 0, 1000) == 100 * 48 * 20
    assert places_for(np.array([10**6]), 500)[0] == 512
