import numpy as np
import pytest

from polyad import LDA, load, merge
from polyad.corpus import make_corpus
from polyad.datasets import make_lda
from polyad.engine import count_blocks, write_shards
from polyad.inference import completion_bits
from polyad.io import fingerprint
from polyad.metrics import l1_error
from polyad.models.stream import copied, tokens_of, topics_of
from purity import Checking
from sharded import tiny_cuts

SAMPLE = make_lda(6000, 200, 5, length=60, prior=0.2, random_state=0)
X, HELD_OUT = SAMPLE.counts[:5000], SAMPLE.counts[5000:]


def streamed(batches, **options):
    model = LDA(5)
    for batch in batches:
        model.partial_fit(batch, **options)
    return model


def parts(n):
    return [X[first : first + n] for first in range(0, X.shape[0], n)]


def test_the_first_batch_is_a_fit():
    assert fingerprint(LDA(5).partial_fit(X)) == fingerprint(LDA(5).fit(X))


def test_more_batches_are_better():
    """Errors shrink with the documents seen, near to those of a fit to all at once; a random matrix is far off."""
    errors = [l1_error(streamed(parts(250)[:n]).components_, SAMPLE.components) for n in (1, 4, 20)]
    whole = l1_error(LDA(5).fit(X).components_, SAMPLE.components)
    assert errors[0] > 1.2 * errors[1] > 1.2 * errors[2]
    assert errors[2] < 1.5 * whole
    nothing = np.random.default_rng(0).dirichlet(np.ones(200), 5)
    assert l1_error(nothing, SAMPLE.components) > 3 * errors[0]


def test_it_predicts_as_well_as_a_fit_to_all():
    stream, whole = streamed(parts(500)), LDA(5).fit(X)
    few = LDA(5).fit(X[:500])
    bits = [completion_bits(model.components_, model.doc_topic_prior_, HELD_OUT) for model in (stream, whole, few)]
    assert bits[0] - bits[1] < 0.003
    # Five hundred documents tell the prior of the topics, too, and are .012 bits behind: a quarter stays.
    assert bits[0] - bits[1] < 0.25 * (bits[2] - bits[1])


def test_what_is_kept_adds_up():
    model = streamed(parts(1000))
    diagnostics = model.diagnostics_
    assert diagnostics.n_documents == 5000
    assert abs(diagnostics.n_tokens - X.sum()) <= 5
    assert np.allclose(model.components_.sum(axis=1), 1)
    totals = np.asarray(X.sum(axis=0)).ravel() + 0.5
    assert np.allclose(model.word_probabilities_, totals / totals.sum())
    assert np.allclose(topics_of(tokens_of(model)), model.components_, atol=1e-9)
    assert len(diagnostics.objective) == LDA(5).fit(X[:1000]).diagnostics_.n_passes + 4


def test_the_same_bytes_in_any_order_in_memory_and_on_disk(tmp_path):
    start = LDA(5).fit(X[:1000])
    expected = fingerprint(copied(start).partial_fit(X[1000:2000]))
    turned = X[1000:2000][np.random.default_rng(0).permutation(1000)]
    assert fingerprint(copied(start).partial_fit(turned)) == expected
    shards = write_shards(count_blocks(X[1000:2000]), tmp_path / "x")
    assert fingerprint(copied(start).partial_fit(shards)) == expected
    with tiny_cuts(shard=4000):
        shards = write_shards(count_blocks(X[1000:2000]), tmp_path / "y")
        threads = [copied(start).set_params(n_jobs=n).partial_fit(shards) for n in (1, 3)]
    assert np.array_equal(threads[0].components_, threads[1].components_)


def test_it_goes_on_from_a_file(tmp_path):
    start = LDA(5).fit(X[:1000])
    start.save(tmp_path / "m.polyad")
    going_on = load(tmp_path / "m.polyad").partial_fit(X[1000:2000])
    assert np.allclose(going_on.components_, start.partial_fit(X[1000:2000]).components_, atol=1e-12)
    going_on.save(tmp_path / "n.polyad")
    assert np.array_equal(load(tmp_path / "n.polyad").components_, going_on.components_)


def test_forgetting_follows_a_change():
    """Topics that turn to other words: what is remembered of the old ones stands in the way."""
    rng = np.random.default_rng(0)
    changed = 0.4 * SAMPLE.components + 0.6 * np.roll(SAMPLE.components, 40, axis=1)
    later = [
        np.stack([rng.multinomial(60, shares @ changed) for shares in rng.dirichlet(np.full(5, 0.2), 500)])
        for _ in range(6)
    ]
    errors = []
    for forget in (0.0, 0.5):
        model = LDA(5).fit(X[:2000])
        for batch in later:
            model.partial_fit(batch, forget=forget)
        errors.append(l1_error(model.components_, changed))
    assert errors[1] < 0.5 * errors[0]
    assert model.diagnostics_.n_tokens < 60 * 500 * 2.1
    for share in (1, "much"):
        with pytest.raises(ValueError, match=f"forget is {share!r}; give a share"):
            model.partial_fit(later[0], forget=share)


def test_merged_models_have_seen_all():
    start = LDA(5).fit(X[:1000])
    ends = [copied(start).partial_fit(X[first : first + 2000]) for first in (1000, 3000)]
    merged = merge(*ends, start=start)
    assert merged.diagnostics_.n_documents == 5000
    assert abs(merged.diagnostics_.n_tokens - X.sum()) <= 5
    error = [l1_error(model.components_, SAMPLE.components) for model in (start, *ends, merged)]
    assert error[3] < min(error[1:3]) < error[0]
    sums = tokens_of(ends[0]).by_topic + tokens_of(ends[1]).by_topic - tokens_of(start).by_topic
    assert np.allclose(tokens_of(merged).by_topic, sums, atol=1e-2)
    twice = merge(LDA(5).fit(X), LDA(5).fit(X))
    assert np.allclose(twice.topic_shares_, LDA(5).fit(X).topic_shares_)
    with pytest.raises(ValueError, match="went on from one start"):
        merge(start, LDA(4).fit(X[:1000]))


def test_models_of_separate_fits_are_told_apart():
    one, other = LDA(5).fit(X[:1000]), LDA(5).fit(X[1000:2000])
    turned = copied(other)
    turned.components_ = other.components_[::-1].copy()
    with pytest.warns(UserWarning, match="is most like topic . of another. Only models that went on from one start"):
        merge(one, turned)


def test_words_that_come_later():
    names = [f"w{number:03d}" for number in range(200)]
    early = make_corpus(X[:2000][:, :150].astype(int), names[:150])
    later = make_corpus(X[2000:4000].astype(int), names)
    model = LDA(5).fit(early)
    with pytest.raises(ValueError, match="other words"):
        copied(model).partial_fit(later)
    model.partial_fit(later, grow=True)
    assert model.vocabulary_ == tuple(names)
    assert model.components_.shape == (5, 200)
    assert np.allclose(model.components_.sum(axis=1), 1)
    assert model.transform(later).shape == (2000, 5)
    share = tokens_of(model).words[150:].sum() / X[2000:4000][:, 150:].sum()
    assert abs(share - 1) < 0.01
    with pytest.raises(ValueError, match="corpus that has words"):
        model.partial_fit(X[:10], grow=True)


def test_an_error_leaves_the_model_as_it_was():
    model = LDA(5).fit(X[:1000])
    before = fingerprint(model)
    for wrong in (-X[:10], X[:10, :50]):
        with pytest.raises(ValueError):  # noqa: PT011  which of the checks it is does not matter
            model.partial_fit(wrong)
    assert fingerprint(model) == before


def test_its_passes_are_pure():
    from polyad.engine import use

    model = LDA(5).fit(X[:500])
    with use(Checking()) as runner:
        model.partial_fit(X[500:600])
    assert "polyad.models.stream._expected" in runner.seen
