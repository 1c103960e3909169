"""What a fit is expected to take, told before the work."""

import logging

import numpy as np
import pytest

from polyad import LDA, DiscreteICA, PolylingualLDA, SingleTopic
from polyad.datasets import make_lda
from polyad.engine import count_blocks, ordered_by_content, use
from polyad.inference.presets import PRESETS
from polyad.models.limits import hearing_plans
from polyad.models.recipes.plan import dirichlet_pass_cost, moment_plan, prior_cost, seconds_of, topic_plan
from polyad.models.topics.base import in_tokens
from sharded import tiny_cuts

SAMPLE = make_lda(1200, 60, 3, length=40, prior=0.1, random_state=0)
FAST = PRESETS["fast"]


def planned(K, corpus, preset=FAST):
    plan = topic_plan(K, preset.n_passes, pass_cost=dirichlet_pass_cost(K), prior_cost=prior_cost(K))
    return seconds_of(plan, corpus, preset)


def corpus_of(counts):
    return in_tokens(ordered_by_content(count_blocks(counts)))


def test_time_goes_with_cells_and_topics_and_cores():
    one, two = corpus_of(SAMPLE.counts), corpus_of(np.vstack(2 * [SAMPLE.counts.toarray()]))
    with use(1):
        alone = planned(10, one)
        assert np.isclose(planned(10, two), 2 * alone)
        assert 2 * alone < planned(100, one) < 10 * alone
    with use(2):
        assert np.isclose(planned(10, one), alone / 2)


def test_more_topics_than_the_moments_give_cost_no_more_there():
    assert moment_plan(500) == moment_plan(1000)
    assert dirichlet_pass_cost(500) == dirichlet_pass_cost(1000) > dirichlet_pass_cost(100)


def test_a_sample_of_many_shards_and_fewer_passes_cost_less():
    whole = corpus_of(SAMPLE.counts)
    with tiny_cuts(shard=1000, block=500, rows=50):
        parts = corpus_of(SAMPLE.counts)
        assert parts.source.n_shards > 9
        with use(1):
            assert planned(50, parts) < 0.6 * planned(50, whole)


def aligned_fit(counts):
    PolylingualLDA(3, polish=1).fit([counts, counts[:, ::-1]])


FITS = {
    "lda": LDA(3, polish=1).fit,
    "discrete ica": DiscreteICA(3, polish=1).fit,
    "single topic": SingleTopic(3, polish=1).fit,
    "aligned": aligned_fit,
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore")
def test_it_is_told_before_the_work(name, caplog):
    heard = []
    with caplog.at_level(logging.INFO, logger="polyad"), hearing_plans(heard.append):
        FITS[name](SAMPLE.counts)
    lines = [record.getMessage() for record in caplog.records]
    (told,) = [number for number, line in enumerate(lines) if "of memory, at most about 1 second" in line]
    assert not any("moments" in line or "likelihood" in line for line in lines[:told])
    (plan,) = heard
    assert str(plan) in lines[told]
    assert (plan.n_documents, plan.n_topics) == (1200, 3)
    assert plan.n_words == (120 if name == "aligned" else 60)


@pytest.mark.filterwarnings("ignore")
def test_the_plan_that_is_told_is_the_one_that_is_kept():
    heard = []
    with hearing_plans(heard.append), use(1):
        model = LDA(3, polish=2).fit(SAMPLE.counts)
        LDA(30, polish=2).fit(SAMPLE.counts)
    assert [plan.n_topics for plan in heard] == [3, 30]
    assert heard[0].memory_bytes == model.diagnostics_.memory_bytes < heard[1].memory_bytes
    assert 0 < heard[0].seconds < heard[1].seconds


def test_moments_of_all_and_all_passes_take_longer():
    with tiny_cuts(shard=1000, block=500, rows=50):
        parts = corpus_of(SAMPLE.counts)
        plan = topic_plan(50, FAST.n_passes, pass_cost=dirichlet_pass_cost(50))
        with use(1):
            least = seconds_of(plan, parts, FAST)
            assert (
                least
                < seconds_of(plan, parts, FAST, sampled=False)
                < seconds_of(plan, parts, FAST, sampled=False, few_passes=False)
            )
