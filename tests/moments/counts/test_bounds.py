import numpy as np
import pytest

from polyad.datasets import make_single_topic
from polyad.engine import count_blocks
from polyad.moments import raw_moments, sample_accuracy, single_topic_population


def test_fixed_lengths_give_remark_2():
    N, c, delta = 50, 1000, 0.1
    expected = np.sqrt(1 / N) + np.sqrt(np.log(1 / delta) / (N * c))
    assert np.isclose(sample_accuracy(np.full(N, c), failure=delta).second, expected, rtol=2e-3)


def test_the_bound_holds_on_samples():
    errors = {2: [], 3: []}
    lengths = np.random.default_rng(0).integers(3, 30, 100)
    for seed in range(20):
        sample = make_single_topic(100, 8, 3, length=lengths, random_state=seed)
        raw = raw_moments(count_blocks(sample.counts), "length").moments
        truth = single_topic_population(sample.components, sample.prior)
        eye = np.eye(8)
        errors[2].append(np.linalg.norm(raw.second @ eye - truth.second @ eye))
        errors[3].append(np.linalg.norm(raw.third(eye) - truth.third(eye)))
    bound = sample_accuracy(lengths, failure=0.05)
    assert np.quantile(errors[2], 0.95) < bound.second < 20 * np.mean(errors[2])
    assert np.quantile(errors[3], 0.95) < bound.third < 40 * np.mean(errors[3])


@pytest.mark.parametrize("failure", [0.0, 1.0, -1.0])
def test_bad_probability(failure):
    with pytest.raises(ValueError, match="failure is"):
        sample_accuracy(np.array([5.0]), failure=failure)


def test_no_triples():
    with pytest.raises(ValueError, match="three words"):
        sample_accuracy(np.array([2.0, 1.0]))
