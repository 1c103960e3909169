"""LDA with one topic more for what all documents share: it is found, and the others are without it."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import polyad
from polyad import LDA
from polyad.corpus import TextOptions, count_words
from polyad.engine import count_blocks
from polyad.inference import completion_bits
from polyad.inference.posterior import topic_shares
from polyad.metrics import l1_error
from polyad.models.topics.base import INFERENCE_ITERATIONS
from sharded import tiny_cuts

SHARED = Path(polyad.__file__).parents[3] / "shared" / "data"
K, N_SHARED, N_OWN = 4, 40, 800


def with_stop_words(n_documents, seed=0):
    """Documents of topics and a background of frequent words that has about half of the tokens of each."""
    rng = np.random.default_rng(seed)
    topics = np.zeros((K, N_SHARED + N_OWN))
    topics[:, N_SHARED:] = rng.dirichlet(np.full(N_OWN, 0.1), K)
    shared = np.zeros(N_SHARED + N_OWN)
    shared[:N_SHARED] = rng.dirichlet(np.full(N_SHARED, 2.0))
    shares = rng.dirichlet(np.append(np.full(K, 0.15), 1.2), n_documents)
    counts = rng.poisson(150 * shares @ np.vstack([topics, shared]))
    return sparse.csr_array(counts), topics, shared


def stop_words_in(topics, n_shared=N_SHARED):
    """The part of background words among the ten most probable of each topic."""
    return np.mean(np.argsort(-topics, axis=1)[:, :10] < n_shared)


def test_topics_and_background_are_found_and_errors_shrink():
    errors, apart = [], []
    for n_documents in (300, 6000):
        counts, topics, shared = with_stop_words(n_documents)
        model = LDA(K, background=True).fit(counts)
        assert model.components_.shape == (K + 1, counts.shape[1])
        assert np.allclose(model.components_.sum(axis=1), 1)
        errors.append(l1_error(model.components_[:K], topics))
        apart.append(np.abs(model.components_[K] - shared).sum() / 2)
        assert stop_words_in(model.components_[:K]) == 0
        without = LDA(K).fit(counts)
        assert stop_words_in(without.components_) > 0.2  # one topic of the four is spent on them
        assert l1_error(without.components_, topics) > 2 * errors[-1]
    assert errors[0] < 0.2
    assert errors[1] < 0.3 * errors[0]
    assert errors[1] < 0.05  # of random rows it is above .7
    assert apart[1] < 0.05


def test_one_topic_to_whoever_looks_and_shapes_inside():
    counts, _, _ = with_stop_words(500)
    model = LDA(K, background=True).fit(counts)
    shares = model.transform(counts)
    assert shares.shape == (500, K + 1)
    assert np.allclose(shares.sum(axis=1), 1)
    assert list(model.get_feature_names_out()) == ["topic_0", "topic_1", "topic_2", "topic_3", "background"]
    assert abs(shares[:, K].mean() - model.topic_shares_[K]) < 0.05
    assert abs(model.topic_shares_[K] - 1.2 / 1.8) < 0.05
    assert np.all(np.diff(model.topic_shares_[:K]) <= 0)
    assert np.isclose(model.background_prior_.sum(), model.doc_topic_prior_[K])
    parts = model.background_prior_ / model.background_prior_.sum()
    assert np.allclose(parts @ model.background_, model.components_[K])
    assert len(model.topics()) == K + 1
    # Documents are explained by the shapes.
    rows = np.vstack([model.components_[:K], model.background_])
    prior = np.append(model.doc_topic_prior_[:K], model.background_prior_)
    apart = topic_shares(rows, prior, count_blocks(counts), max_iter=INFERENCE_ITERATIONS)
    assert np.allclose(shares, np.column_stack([apart[:, :K], apart[:, K:].sum(axis=1)]))
    assert np.isclose(-model.score(counts) / np.log(2), completion_bits(rows, prior, counts))


def test_without_a_background_nothing_changes():
    counts, _, _ = with_stop_words(200)
    model = LDA(K).fit(counts)
    assert model.background_ is None
    assert model.components_.shape[0] == model.transform(counts).shape[1] == K
    with pytest.raises(ValueError, match="background is 'yes'; give True or False"):
        LDA(K, background="yes").fit(counts)


def test_the_same_bytes_for_any_order_and_any_number_of_threads():
    counts, _, _ = with_stop_words(120)
    with tiny_cuts(shard=2000, block=500, rows=20):
        one = LDA(K, background=True, n_jobs=1).fit(counts)
        other = LDA(K, background=True, n_jobs=2).fit(counts[::-1])
    assert one.components_.tobytes() == other.components_.tobytes()
    assert one.background_.tobytes() == other.background_.tobytes()
    assert one.transform(counts).tobytes() == other.transform(counts).tobytes()


def test_it_is_stored(tmp_path):
    counts, _, _ = with_stop_words(200)
    for name, model in {"with": LDA(K, background=True), "without": LDA(K)}.items():
        model.fit(counts).save(tmp_path / name)
        loaded = polyad.load(tmp_path / name)
        assert loaded.transform(counts).tobytes() == model.transform(counts).tobytes()
        assert loaded.score(counts) == model.score(counts)
        assert list(loaded.get_feature_names_out()) == list(model.get_feature_names_out())
        assert loaded.background == model.background
    model.background_ = model.components_
    with pytest.raises(polyad.io.ModelFileError, match="background_prior_"):
        model.save(tmp_path / "mixed")


@pytest.mark.parametrize("options", [{"doc_topic_prior": 0.3}, {"topic_word_prior": 0.1}, {"concentration": 2.0}])
def test_priors_that_are_given(options):
    counts, topics, _ = with_stop_words(1000)
    model = LDA(K, background=True, **options).fit(counts)
    assert l1_error(model.components_[:K], topics) < 0.12
    if "doc_topic_prior" in options:
        assert np.allclose(model.doc_topic_prior_, [0.3] * K + [2 * 0.3 * K])
    if "concentration" in options:
        assert np.isclose(model.doc_topic_prior_.sum(), 2.0)


def test_hardly_any_word_is_shared():
    """Each document has words of its own: the background finds nothing, and the topics are what they are."""
    counts = sparse.csr_array(np.kron(np.eye(3), np.full((6, 20), 4)))
    model = LDA(3, background=True).fit(counts)
    assert model.background_.shape == (1, 60)
    assert l1_error(model.components_[:3], np.kron(np.eye(3), np.full(20, 1 / 20))) < 0.1
    assert np.isfinite(model.transform(counts)).all()


CORPORA = {
    "State of the Union": ("state_union/state_union.jsonl.gz", "text", "english", 10),
    "Acts in English": ("canada_acts_en_fr/sections.jsonl.gz", "en", "english", 20),
    "Acts in French": ("canada_acts_en_fr/sections.jsonl.gz", "fr", "french", 20),
    "Dante, no list given": ("dante/divina_commedia.jsonl.gz", "text", "italian", 10),
}
# Of the hundred words of Dante 3 to 8, whichever cantos are held out.
MOST_STOP_WORDS = dict.fromkeys(CORPORA, 0.05) | {"Dante, no list given": 0.1}


@pytest.mark.parametrize("corpus", CORPORA)
def test_real_text_with_its_stop_words_left_in(corpus):
    """Few stop words among the ten top words of topics, and held-out bits no worse by more than .01."""
    file, field, language, n_topics = CORPORA[corpus]
    if not (SHARED / file).exists():
        pytest.skip("the texts of ../shared/data are not here")
    with gzip.open(SHARED / file, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)[field] for line in lines]
    texts = texts[:: max(1, len(texts) // 6000)]
    read = count_words(texts, TextOptions(min_df="auto"))
    stop_words = set((SHARED / "stopwords" / f"{language}.txt").read_text(encoding="utf-8").split())
    test = np.arange(len(texts)) % 5 == 0
    plain, shared = (LDA(n_topics, background=b).fit(read.counts[~test]) for b in (False, True))

    def stop_words_among(topics):
        return np.mean([word in stop_words for topic in topics for word in topic])

    assert stop_words_among(plain.topics(vocabulary=read.vocabulary)) > 0.2
    assert stop_words_among(shared.topics(vocabulary=read.vocabulary)[:-1]) < MOST_STOP_WORDS[corpus]
    bits = [-model.score(read.counts[test]) / np.log(2) for model in (plain, shared)]
    assert bits[1] < bits[0] + 0.01, bits
