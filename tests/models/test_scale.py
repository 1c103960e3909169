import numpy as np
import pytest

from polyad import LDA, DiscreteICA, SingleTopic
from polyad.datasets import make_gamma_poisson, make_lda
from polyad.engine import count_blocks, listening, ordered_by_content
from polyad.metrics import l1_error
from polyad.models.recipes.moment_start import first_sample
from sharded import tiny_cuts


@pytest.mark.slow
def test_fifty_topics_of_fifty_thousand_documents():
    sample = make_gamma_poisson(50_000, 10_000, 50, mean_length=200.0, prior=0.05, random_state=0)
    model = LDA(50).fit(sample.counts)
    assert l1_error(model.components_, sample.components) < 0.1  # the moments alone have 0.14
    assert model.diagnostics_.gap > 3, "fifty topics stand out"


MODELS = {"lda": LDA, "discrete ica": DiscreteICA, "single topic": SingleTopic}


def shards_read(model, source):
    """Return how many shards each pass of a fit has read, by the name of its function."""
    found = {}

    def listen(report):
        if report.finished:
            found.setdefault(report.name, []).append(report.n_shards)

    with listening(listen):
        model.fit(source)
    return found


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:These data")
def test_moments_are_made_of_as_many_shards_as_they_need(name):
    with tiny_cuts(shard=1000, block=500, rows=50):
        source = ordered_by_content(count_blocks(make_lda(1200, 60, 3, length=40, prior=0.1, random_state=0).counts))
        assert source.n_shards >= 16
        n_moments = max(4, int(np.ceil(np.sqrt(source.n_shards))))
        found = shards_read(MODELS[name](3), source)
        assert found["_third_sums"] == [n_moments]
        assert n_moments < source.n_shards
        halves = [source.n_shards // 2, source.n_shards - source.n_shards // 2]
        if name == "single topic":
            assert set(found["_expected_counts"]) == {source.n_shards}
        else:  # a half of the shards at a time, and no more passes than reads are worth
            n_passes = len(found["em_step"]) // 2
            assert found["em_step"] == n_passes * halves
            assert 4 <= n_passes <= 6
            assert shards_read(MODELS[name](3, polish=7), source)["em_step"] == 7 * halves  # a user's number holds
        assert shards_read(MODELS[name](3, polish="off"), source)["_third_sums"] == [source.n_shards]
        assert first_sample(source, 0) is source


def test_topics_from_a_part_of_the_moments_are_as_good():
    # Of one corpus the error goes up or down by a twentieth, whatever part of it the moments are made of.
    ratios = []
    for seed in range(6):
        sample = make_lda(4000, 120, 4, length=40, prior=0.1, random_state=seed)
        whole = l1_error(LDA(4).fit(sample.counts).components_, sample.components)
        with tiny_cuts(shard=4000, block=2000, rows=200):
            source = ordered_by_content(count_blocks(sample.counts))
            assert first_sample(source, 4).n_shards < source.n_shards / 3
            part = l1_error(LDA(4).fit(source).components_, sample.components)
        assert part < 0.025
        ratios.append(part / whole)
    assert np.mean(ratios) < 1.05  # shards have four thousand times as many cells
