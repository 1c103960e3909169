"""The prior of the topics: told where data tell it, and otherwise the usual two tokens on every word."""

import numpy as np
import pytest
from scipy import sparse

import oracles
from polyad import LDA, DiscreteICA, SingleTopic
from polyad.datasets import make_gamma_poisson, make_lda
from polyad.engine import count_blocks, write_shards
from polyad.inference import completion_bits
from polyad.inference.topic_prior import told_smoothing
from polyad.metrics import match_rows
from polyad.models.stream import tokens_of
from polyad.models.uncertainty import bootstrap
from sharded import tiny_cuts


def drawn(b, *, n_documents=1000, n_words=500, n_components=8, length=80, seed=1):
    return make_lda(
        n_documents + 500, n_words, n_components, length=length, prior=0.1, topic_prior=b, random_state=seed
    )


def shared_mass(model, sample):
    topics = model.components_[match_rows(model.components_, sample.components)]
    return np.minimum(topics, sample.components).sum(axis=1).mean()


@pytest.mark.parametrize("tokens", [[200, 200, 200, 200], [5000, 700, 90, 30]])
@pytest.mark.parametrize(("b", "alike"), [(0.02, 0.0), (0.3, 0.0), (0.3, 0.02), (0.3, 0.5), (1.0, 0.0), (2.5, 0.0)])
def test_what_is_told_equals_brute_force(b, alike, tokens):
    rng = np.random.default_rng(0)
    topics = (1 - alike) * rng.dirichlet(np.full(60, b), 4) + alike * rng.dirichlet(np.full(60, 0.02))
    halves = [rng.poisson(np.array(tokens)[:, None] * topics).T.astype(float) + 0.25 for _ in range(2)]
    wide = [np.pad(half, ((0, 0), (0, 4))).astype(np.float32) for half in halves]  # as tables of the passes are
    found, expected = told_smoothing(*wide, 4), oracles.told_smoothing(*halves)
    assert found == pytest.approx(expected, rel=1e-5) if expected is not None else found is None
    assert (expected is None) == (alike == 0.5 or (b == 1 and tokens[0] == 200))


@pytest.mark.parametrize("b", [0.01, 0.1, 1.0])
def test_population_topics_give_the_prior_back(b):
    """Squares of 400 topics over 200 words: their mean is (b + 1) / (M b + 1) within a few thousandths."""
    topics = np.random.default_rng(3).dirichlet(np.full(200, b), 400).T
    assert told_smoothing(1e5 * topics, 1e5 * topics, 400) == pytest.approx(b, rel=0.04)


@pytest.mark.parametrize("b", [0.02, 0.1, 0.25])
def test_a_known_prior_is_recovered(b):
    sample = drawn(b)
    model = LDA(8).fit(sample.counts[:1000])
    assert model.topic_word_prior_ == pytest.approx(np.full(8, b), rel=0.25)
    assert model.topic_word_prior_ is model.diagnostics_.topic_word_prior


@pytest.mark.parametrize(("b", "gain"), [(0.005, 0.005), (0.05, 0.002), (1.0, 0.008)])
def test_topics_of_narrow_and_wide_priors_gain(b, gain):
    sample = drawn(b)
    told = LDA(8).fit(sample.counts[:1000])
    usual = LDA(8, topic_word_prior=0.25).fit(sample.counts[:1000])
    assert shared_mass(told, sample) > shared_mass(usual, sample) + gain
    bits = [completion_bits(it.components_, it.doc_topic_prior_, sample.counts[1000:]) for it in (told, usual)]
    assert bits[0] < bits[1]


def test_the_intensities_of_discrete_ica_have_the_same_topics():
    sample = make_gamma_poisson(1500, 300, 5, mean_length=100.0, prior=0.3, random_state=2)
    b = LDA(5).fit(sample.counts).topic_word_prior_[0]
    assert b < 0.3
    assert DiscreteICA(5).fit(sample.counts).topic_word_prior_ == pytest.approx(np.full(5, b), rel=0.1)


def usual(model):
    return model.topic_word_prior_ == pytest.approx(2 * model.topic_shares_, rel=1e-6)


def test_words_that_all_topics_have_are_no_such_prior():
    """Frequent words are those of all topics, as in text: two tokens on every word stay."""
    sample = drawn(0.05)
    background = np.random.default_rng(0).dirichlet(np.full(500, 0.02))
    X = make_lda(1000, components=0.5 * sample.components + 0.5 * background, length=80, prior=0.1).counts
    assert usual(LDA(8).fit(X))


@pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")  # topics of a wide prior are much alike
def test_too_few_tokens_do_not_tell_a_prior_somewhat_wider_than_the_usual_one():
    """Four tokens over all topics; twenty are told by the same few tokens."""
    somewhat, wide = (drawn(b, n_documents=550, n_words=300, length=40) for b in (0.5, 2.5))
    assert usual(LDA(8).fit(somewhat.counts[:550]))
    assert LDA(8).fit(wide.counts[:550]).topic_word_prior_.min() > 1


def test_topics_of_many_words_share_hardly_anything_by_chance():
    """As topics of text: of a hundred topics the words of all are a small part, and far from chance."""
    rng = np.random.default_rng(0)
    topics = 0.85 * rng.dirichlet(np.full(8000, 0.02), 60) + 0.15 * rng.dirichlet(np.full(8000, 0.02))
    tokens = (1e5 * topics.T).astype(np.float32)
    assert told_smoothing(tokens, tokens, 60) is None
    alone = (1e5 * rng.dirichlet(np.full(8000, 0.02), 60).T).astype(np.float32)
    assert told_smoothing(alone, alone, 60) == pytest.approx(0.02, rel=0.1)


def test_what_is_given_is_used_and_told():
    sample = drawn(0.05)
    for given in (0.3, np.linspace(0.1, 0.8, 8)):
        model = LDA(8, topic_word_prior=given).fit(sample.counts[:300])
        assert sorted(model.topic_word_prior_) == pytest.approx(np.broadcast_to(given, 8))
    assert SingleTopic(3, topic_word_prior=0.2).fit(sample.counts[:300]).topic_word_prior_ == pytest.approx([0.2] * 3)


def test_one_topic_and_no_pass_have_the_usual_prior():
    X = drawn(0.05).counts[:200]
    assert LDA(1).fit(X).topic_word_prior_ == pytest.approx([2.0])
    assert usual(LDA(8, polish="off").fit(X))


def test_wide_passes_end_with_what_was_told():
    """A flat prior of the shares is far from the truth: the passes are not those from a start near it."""
    sample = drawn(0.05)
    model = LDA(8, polish="full").fit(sample.counts[:1000])
    assert model.topic_word_prior_ == pytest.approx(np.full(8, 0.05), rel=0.25)


def test_order_shards_and_threads_change_no_byte(tmp_path):
    X = sparse.csr_array(drawn(0.05).counts[:400])
    with tiny_cuts(shard=3000, block=500, rows=50):
        whole = LDA(8).fit(X)
        shards = write_shards(count_blocks(X), tmp_path / "x")
        others = (LDA(8, n_jobs=1).fit(X[::-1]), LDA(8).fit(shards))
    for other in others:
        assert other.topic_word_prior_.tobytes() == whole.topic_word_prior_.tobytes()
        assert other.components_.tobytes() == whole.components_.tobytes()


def test_a_model_goes_on_with_its_prior():
    X = drawn(0.02).counts
    model = LDA(8, topic_word_prior=5.0).fit(X[:700])
    assert tokens_of(model).by_topic.min(axis=1).max() < 0.5  # words without tokens have only those of the prior
    model.partial_fit(X[700:701])
    assert model.topic_word_prior_ == pytest.approx(np.full(8, 5.0))


def test_the_bootstrap_has_the_prior_of_the_fit():
    X = drawn(0.02).counts[:300]
    few, many = (bootstrap(LDA(8, topic_word_prior=b).fit(X), X, n_replicates=20) for b in (0.01, 30.0))
    assert many.stability.min() > few.stability.max()
