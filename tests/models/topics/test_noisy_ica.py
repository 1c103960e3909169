"""Discrete ICA with noise in every word: topics in spite of it, and its size."""

import numpy as np
import pytest

from polyad import DiscreteICA, NoisyDiscreteICA, load
from polyad.corpus import TextOptions, count_words
from polyad.datasets import make_noisy_discrete_ica
from polyad.metrics import l1_error, match_rows
from polyad.models import UndeterminedWarning
from polyad.models.topics.noisy_ica import word_halves

OPTIONS = {"noise_length": 300.0, "noise_shape": 0.03}


def errors(model, N, seeds=2):
    found = []
    for seed in range(seeds):
        sample = make_noisy_discrete_ica(N, 60, 3, random_state=seed, **OPTIONS)
        found.append(l1_error(model.fit(sample.counts).components_, sample.components))
    return np.mean(found)


@pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")  # of few documents, or of noise as topics
@pytest.mark.filterwarnings("ignore:These documents do not tell the total")  # of noise
def test_topics_are_found_in_spite_of_the_noise_and_more_data_help():
    few, many = (errors(NoisyDiscreteICA(3), N) for N in (2000, 32_000))
    assert many < 0.55 * few
    assert many < 0.07
    plain = errors(DiscreteICA(3, polish="off"), 32_000)
    assert many < 0.5 * plain, "discrete ICA takes noise for topics"


@pytest.mark.parametrize("shape", [0.05, 1.0])
def test_variances_of_intensities_and_of_noise(shape):
    sample = make_noisy_discrete_ica(40_000, 30, 2, noise_shape=shape)
    model = NoisyDiscreteICA(2).fit(sample.counts)
    order = match_rows(model.components_, sample.components)
    true = sample.prior / sample.rate**2
    assert np.abs(model.variances_[order] / true - 1).max() < 0.1
    noise = shape * (100.0 / (30 * shape)) ** 2
    assert abs(np.median(model.noise_variances_) / noise - 1) < 0.15
    centred = sample.intensities - sample.intensities.mean(axis=0)
    left = ((model.transform(sample.counts)[:, order] - centred) ** 2).sum(axis=0) / (centred**2).sum(axis=0)
    assert left.max() < 0.5


def test_transform_is_the_best_linear_estimate():
    sample = make_noisy_discrete_ica(500, 20, 2)
    model = NoisyDiscreteICA(2).fit(sample.counts)
    D, V = model.components_, np.diag(model.variances_)
    covariance = D.T @ V @ D + np.diag(model.noise_variances_ + model.mean_)
    X = sample.counts.toarray()
    expected = (X - X.mean(axis=0)) @ np.linalg.solve(covariance, D.T @ V)
    assert np.allclose(model.transform(sample.counts), expected, atol=1e-8 * np.abs(expected).max())
    with pytest.raises(ValueError, match="X has 19 features"):
        model.transform(X[:, :19])


def test_halves_of_the_words_share_the_tokens():
    totals = np.random.default_rng(0).gamma(0.3, size=101)
    first, second = word_halves(totals)
    assert np.array_equal(np.sort(np.concatenate([first, second])), np.arange(101))
    assert abs(totals[first].sum() - totals[second].sum()) < totals.max()


def test_words_of_a_corpus_are_kept_and_compared(tmp_path):
    counts = make_noisy_discrete_ica(600, 6, 2).counts
    words = ["sun", "rain", "wind", "tax", "bank", "loan"]
    texts = [" ".join(np.repeat(words, row.astype(int))) for row in counts.toarray()]
    corpus = count_words(texts, TextOptions())
    model = NoisyDiscreteICA(2).fit(corpus)
    assert sorted(model.vocabulary_) == sorted(words)
    model.save(tmp_path / "a.polyad")
    back = load(tmp_path / "a.polyad")
    assert (back.vocabulary_, back.text_options_) == (corpus.vocabulary, corpus.report.options)
    assert back.transform(corpus).tobytes() == model.transform(corpus).tobytes()
    with pytest.raises(ValueError, match="counted over other words"):
        back.transform(count_words([text.replace("sun", "moon") for text in texts], TextOptions()))


@pytest.mark.parametrize(
    ("shape", "n_components", "message"),
    [((1, 6), 2, "n_samples=1"), ((9, 6), 4, "n_components is 4, and X has n_features=6"), ((9, 6), 0, "from 1 up")],
)
def test_too_little_is_a_sentence(shape, n_components, message):
    with pytest.raises(ValueError, match=message):
        NoisyDiscreteICA(n_components).fit(np.ones(shape))


def test_words_that_do_not_vary_together_have_no_topics(tmp_path):
    """All pairs of two counts once, which are uncorrelated: nothing but how frequent the words are can be told."""
    pairs = np.array([(first, second) for first in range(1, 5) for second in range(1, 4)])
    with pytest.warns(UndeterminedWarning, match="do not determine 1 of the 1"):
        model = NoisyDiscreteICA(1).fit(pairs)
    assert np.allclose(model.components_, [[2.5 / 4.5, 2.0 / 4.5]])
    assert (model.variances_.tolist(), model.diagnostics_.certainty.tolist()) == ([0.0], [0.0])
    assert not model.transform(pairs).any()
    model.save(tmp_path / "a.polyad")
    assert load(tmp_path / "a.polyad").variances_.tolist() == [0.0]


def test_components_beyond_those_supported_leave_the_others_as_they_are():
    """Words of one topic, and words that never occur: a second direction there is not."""
    counts = np.pad(make_noisy_discrete_ica(2000, 2, 1).counts.toarray(), ((0, 0), (0, 2)))
    one = NoisyDiscreteICA(1).fit(counts)
    with pytest.warns(UndeterminedWarning, match=r"do not determine 1 of the 2 components \(number 1;"):
        two = NoisyDiscreteICA(2).fit(counts)
    assert np.allclose(two.components_[0], one.components_[0])
    assert np.allclose(two.components_[1], one.mean_ / one.mean_.sum())
    assert np.allclose(two.transform(counts)[:, [0]], one.transform(counts))
    assert not two.transform(counts)[:, 1].any()


def test_nothing_but_zeros_is_a_sentence():
    with pytest.raises(ValueError, match="Every count in X is 0"):
        NoisyDiscreteICA(2).fit(np.zeros((9, 6)))


def test_order_of_documents_threads_and_files(tmp_path):
    sample = make_noisy_discrete_ica(600, 30, 2)
    model = NoisyDiscreteICA(2).fit(sample.counts)
    order = np.random.default_rng(0).permutation(600)
    again = NoisyDiscreteICA(2, n_jobs=1).fit(sample.counts[order])
    assert again.components_.tobytes() == model.components_.tobytes()
    assert again.noise_variances_.tobytes() == model.noise_variances_.tobytes()
    model.save(tmp_path / "a.polyad")
    back = load(tmp_path / "a.polyad")
    assert np.array_equal(back.transform(sample.counts), model.transform(sample.counts))
    assert np.array_equal(back.diagnostics_.certainty, model.diagnostics_.certainty)
