"""What every topic model promises."""

import re
import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from polyad import LDA, DiscreteICA, SingleTopic
from polyad.datasets import make_gamma_poisson, make_lda, make_single_topic
from polyad.decompose import DIAGONALISERS, RankError, jacobi
from polyad.decompose.diagonalisation import summarise
from polyad.engine import blocks as blocks_module
from polyad.engine import count_blocks
from polyad.metrics import l1_error, match_rows
from polyad.metrics.words import top_documents
from polyad.models import NoiseWarning, UndeterminedWarning

MODELS = [LDA, DiscreteICA, SingleTopic]
SAMPLES = {
    LDA: make_lda(1500, 300, 5, length=80, prior=0.2, random_state=1),
    DiscreteICA: make_gamma_poisson(1500, 300, 5, mean_length=80.0, prior=0.4, random_state=1),
    SingleTopic: make_single_topic(1500, 300, 5, length=40, random_state=1),
}
EXPECTED = {LDA: 0.06, DiscreteICA: 0.06, SingleTopic: 0.06}
TEXTS = ["cat dog cat pet", "dog pet vet cat", "stock bond market fund", "bond fund stock rate"] * 5


def whole(X):
    """Round what scikit-learn's checks feed up to whole counts; the only thing these models ask of their input."""
    if sparse.issparse(X):
        rounded_up = X.tocsr(copy=True)
        rounded_up.data = np.ceil(rounded_up.data)
        return rounded_up.asformat(X.format)
    if hasattr(X, "columns"):
        return X.map(np.ceil)
    values = np.asarray(X)
    values = values.astype(float) if values.dtype.kind == "O" and values.ndim == 2 else values
    return np.ceil(values) if values.dtype.kind == "f" and np.isfinite(values).all() else X


class Rounding:
    """Feeds a model with whole numbers."""

    def fit(self, X, y=None):
        return super().fit(whole(X), y)

    def _checked_input(self, X):
        return super()._checked_input(whole(X))


class RoundedLDA(Rounding, LDA):
    pass


class RoundedDiscreteICA(Rounding, DiscreteICA):
    pass


class RoundedSingleTopic(Rounding, SingleTopic):
    pass


@pytest.mark.filterwarnings("ignore::polyad.models.NoiseWarning")  # the checks' data are noise, and it says so
@pytest.mark.filterwarnings("ignore:.*is not supported.*:UserWarning")
@parametrize_with_checks([RoundedLDA(2), RoundedDiscreteICA(2), RoundedSingleTopic(2)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("polish", ["off", "fast", 2])
def test_topics_are_recovered(model, polish):
    sample = SAMPLES[model]
    fitted = model(5, polish=polish).fit(sample.counts)
    error = l1_error(fitted.components_, sample.components)
    assert error < EXPECTED[model] * (2.5 if polish == "off" else 1)
    assert np.allclose(fitted.components_.sum(axis=1), 1)
    assert (fitted.components_ > 0).all()


@pytest.mark.parametrize("model", MODELS)
def test_order_is_canonical(model):
    fitted = model(5).fit(SAMPLES[model].counts)
    assert (np.diff(fitted.topic_shares_) <= 0).all()
    assert np.isclose(fitted.topic_shares_.sum(), 1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", DIAGONALISERS)
def test_every_diagonaliser(model, method):
    sample = SAMPLES[model]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tensor_power may stop before its tolerance on noisy moments
        fitted = model(5, method=method, polish="off").fit(sample.counts)
    assert l1_error(fitted.components_, sample.components) < 0.09


@pytest.mark.parametrize("model", MODELS)
def test_a_random_rotation_is_no_diagonaliser(model):
    def random_rotation(tensor, **options):
        rng = np.random.default_rng(0)
        return summarise(tensor, np.linalg.qr(rng.standard_normal(tensor.shape[1:]))[0], 1, True)

    with pytest.warns(UndeterminedWarning, match="do not determine"):
        fitted = model(5, method=random_rotation, polish="off").fit(SAMPLES[model].counts)
    assert l1_error(fitted.components_, SAMPLES[model].components) > 0.2


def test_a_callable_diagonaliser():
    sample = SAMPLES[LDA]
    named, called = LDA(5, method="jacobi").fit(sample.counts), LDA(5, method=jacobi).fit(sample.counts)
    assert np.array_equal(named.components_, called.components_)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("polish", ["off", "fast", "full"])
def test_threads_runs_and_containers_give_the_same_bytes(model, polish):
    X = SAMPLES[model].counts
    first = model(5, polish=polish, n_jobs=1).fit(X)
    for n_jobs, container in ((1, X), (2, X), (3, sparse.csc_matrix(X)), (2, X.toarray().astype(np.int64))):
        again = model(5, polish=polish, n_jobs=n_jobs).fit(container)
        assert again.components_.tobytes() == first.components_.tobytes()
        assert again.doc_topic_prior_.tobytes() == first.doc_topic_prior_.tobytes()
        assert again.transform(container).tobytes() == first.transform(X).tobytes()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("polish", ["off", "fast", "full"])
def test_the_order_of_documents_does_not_matter(model, polish):
    X = SAMPLES[model].counts
    shuffled = X[np.random.default_rng(0).permutation(X.shape[0])]
    first, second = model(5, polish=polish, n_jobs=1).fit(X), model(5, polish=polish, n_jobs=2).fit(shuffled)
    assert first.components_.tobytes() == second.components_.tobytes()
    assert first.doc_topic_prior_.tobytes() == second.doc_topic_prior_.tobytes()


def test_the_order_of_long_documents_that_repeat_words_does_not_matter():
    """Many passes, and many tokens that a document must not see: what rounding does would show here first."""
    sample = make_lda(150, 400, 20, length=1500, prior=0.3, random_state=1)
    bursts = sparse.csr_array(sample.counts * (1 + 3 * (np.random.default_rng(0).random(sample.counts.shape) < 0.1)))
    first, second = (
        LDA(20, polish=20, n_jobs=n).fit(bursts[order]) for n, order in ((1, slice(None)), (2, slice(None, None, -1)))
    )
    assert len(first.diagnostics_.objective) == 20
    assert first.components_.tobytes() == second.components_.tobytes()


@pytest.mark.parametrize("model", MODELS)
def test_blocks_of_rows_are_one_corpus(model):
    X = SAMPLES[model].counts
    whole_fit = model(5).fit(X)
    parts = model(5).fit([X[:400], X[400:401], X[401:]])
    assert whole_fit.components_.tobytes() == parts.components_.tobytes()
    assert np.allclose(parts.transform([X[:10], X[10:20]]), parts.transform(X[:20]))


@pytest.mark.parametrize("model", MODELS)
def test_word_permutation(model):
    X = SAMPLES[model].counts
    order = np.random.default_rng(0).permutation(X.shape[1])
    first, second = model(5).fit(X), model(5).fit(X.tocsc()[:, order])
    # Documents come in another order, and steps beyond the change of other halves leave a difference.
    assert l1_error(second.components_, first.components_[:, order]) < 3e-3


@pytest.mark.parametrize("model", MODELS)
def test_transform_answers_for_every_row(model):
    fitted = model(5).fit(SAMPLES[model].counts)
    strange = np.zeros((4, 300))
    strange[1, 7] = 1
    strange[2] = SAMPLES[model].counts[[0]].toarray()
    strange[3, 0] = 10**7
    shares = fitted.transform(strange)
    assert shares.shape == (4, 5)
    assert np.isfinite(shares).all()
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.allclose(shares[0], fitted.doc_topic_prior_ / fitted.doc_topic_prior_.sum())


def test_shares_are_those_of_the_truth():
    sample = SAMPLES[LDA]
    fitted = LDA(5).fit(sample.counts)
    order = match_rows(fitted.components_, sample.components)
    error = np.abs(fitted.transform(sample.counts)[:, order] - sample.intensities).sum(axis=1) / 2
    assert error.mean() < 0.09
    assert np.abs(sample.intensities[::-1] - sample.intensities).sum(axis=1).mean() / 2 > 0.4, "the null is far off"


def test_intensities_of_discrete_ica():
    sample = SAMPLES[DiscreteICA]
    fitted = DiscreteICA(5, normalize=False).fit(sample.counts)
    order = match_rows(fitted.components_, sample.components)
    found = fitted.transform(sample.counts)[:, order]
    assert np.corrcoef(found.ravel(), sample.intensities.ravel())[0, 1] > 0.97
    assert np.isclose(found.sum(), sample.counts.sum(), rtol=0.02)
    assert np.isclose(fitted.rate_, sample.rate, rtol=0.15)
    assert np.isclose(fitted.doc_topic_prior_.sum(), sample.prior.sum(), rtol=0.15)


def test_single_topics_are_assigned():
    sample = SAMPLES[SingleTopic]
    fitted = SingleTopic(5).fit(sample.counts)
    order = match_rows(fitted.components_, sample.components)
    assert (order[sample.intensities.argmax(axis=1)] == fitted.predict(sample.counts)).mean() > 0.99
    assert np.allclose(fitted.weights_[order], sample.intensities.mean(axis=0), atol=0.01)


@pytest.mark.parametrize(("total", "tolerance"), [(0.3, 0.15), (1.0, 0.2), (5.0, 0.5)])
def test_the_concentration_is_estimated(total, tolerance):
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    sample = make_lda(4000, 400, 4, length=100, prior=total * shares, random_state=2)
    fitted = LDA(4).fit(sample.counts)
    # Polishing supposes a total of 1: with more topics a document, topics come out a little too pure and the total too
    # low; with fewer, the total is about a tenth too high.
    assert np.isclose(fitted.doc_topic_prior_.sum(), total, rtol=tolerance)
    order = match_rows(fitted.components_, sample.components)
    assert np.allclose(fitted.doc_topic_prior_[order] / fitted.doc_topic_prior_.sum(), shares, atol=0.05)


def test_the_estimated_concentration_does_not_drift():
    sample = make_lda(2000, 400, 4, length=50, prior=0.25, random_state=2)
    few, many = (LDA(4, polish=passes).fit(sample.counts).doc_topic_prior_.sum() for passes in (3, 60))
    assert np.isclose(few, many, rtol=0.1)


def test_given_priors_are_kept():
    X = SAMPLES[LDA].counts
    assert np.allclose(LDA(5, doc_topic_prior=0.3).fit(X).doc_topic_prior_, 0.3)
    assert np.isclose(LDA(5, concentration=0.7).fit(X).doc_topic_prior_.sum(), 0.7)
    rough, smooth = (LDA(5, topic_word_prior=eta).fit(X).components_.min() for eta in (0.001, 1.0))
    assert smooth > 10 * rough


@pytest.mark.parametrize("model", MODELS)
def test_score_prefers_the_truth(model):
    sample = SAMPLES[model]
    fitted = model(5).fit(sample.counts[:1200])
    test = sample.counts[1200:]
    good = fitted.score(test)
    fitted.components_ = np.random.default_rng(0).dirichlet(np.ones(300), 5)
    assert good > fitted.score(test) + 0.5
    assert np.isclose(fitted.perplexity(test), np.exp(-fitted.score(test)))


@pytest.mark.parametrize(
    "draw",
    [partial(make_gamma_poisson, mean_length=200.0), partial(make_lda, length=200)],
    ids=["gamma-Poisson lengths", "fixed length"],
)
def test_fast_beats_off_on_a_sample(draw):
    sample = draw(5000, 1000, 10, prior=0.1, random_state=0)
    errors = {p: l1_error(LDA(10, polish=p).fit(sample.counts).components_, sample.components) for p in ("off", "fast")}
    assert errors["fast"] <= 2 / 3 * errors["off"]


def test_pipeline_grid_search_and_set_output():
    pandas = pytest.importorskip("pandas")
    search = GridSearchCV(make_pipeline(CountVectorizer(), LDA(2)), {"lda__n_components": [1, 2]}, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseWarning)
        search.fit(TEXTS)
        assert search.best_params_["lda__n_components"] == 2
        counts = search.best_estimator_[0].transform(TEXTS)
        shares = clone(search.best_estimator_[-1]).set_output(transform="pandas").fit(counts).transform(counts)
    assert isinstance(shares, pandas.DataFrame)
    assert list(shares.columns) == [f"topic_{k}" for k in range(shares.shape[1])]


def test_topics_of_two_worlds():
    vectorizer = CountVectorizer()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseWarning)  # twenty documents of four words
        model = LDA(2).fit(vectorizer.fit_transform(TEXTS))
    words = model.topics(3, vocabulary=vectorizer.get_feature_names_out())
    worlds = {frozenset(["cat", "dog", "pet", "vet"]), frozenset(["stock", "bond", "market", "fund", "rate"])}
    for row in words:
        assert any(set(row) <= world for world in worlds)
    assert model.topics(2)[0][0].startswith("x")


def test_names_of_a_data_frame():
    pandas = pytest.importorskip("pandas")
    X = SAMPLES[LDA].counts[:, :50].toarray()
    frame = pandas.DataFrame(X, columns=[f"word{m}" for m in range(50)])
    model = LDA(3).fit(frame)
    assert model.topics(1)[0][0].startswith("word")
    table = model.topics(4, by="probability", as_frame=True)
    assert list(table.columns) == ["topic", "rank", "word", "probability", "score", "certainty"]
    assert len(table) == 12
    assert np.allclose(table["score"], table["probability"])
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame.rename(columns={"word0": "other"}))


def test_a_corpus_with_other_words_is_refused():
    counts = SAMPLES[LDA].counts[:, :40].toarray()
    words = tuple(f"word{m}" for m in range(40))

    class Corpus:
        def __init__(self, counts, vocabulary):
            self.counts, self.vocabulary = counts, vocabulary

    model = LDA(3).fit(Corpus(counts, words))
    assert model.transform(Corpus(counts[:5], words)).shape == (5, 3)
    with pytest.raises(ValueError, match="column 0 is 'word39', and 'word0' in the model"):
        model.transform(Corpus(counts[:, ::-1], words[::-1]))


def test_names_of_an_earlier_fit_are_forgotten():
    pandas = pytest.importorskip("pandas")
    counts = SAMPLES[LDA].counts[:, :40].toarray()
    model = LDA(3).fit(pandas.DataFrame(counts, columns=[f"word{m}" for m in range(40)]))
    model.fit([counts[:100], counts[100:]])
    assert model.topics(1)[0][0].startswith("x")


def rows_in_groups(X, size):
    return [X[first : first + size] for first in range(0, X.shape[0], size)]


MEMORY = {
    "few topics": (lambda: make_lda(3000, 3000, 10, length=100, topic_prior=0.3).counts, LDA(5)),
    "no polishing": (lambda: make_lda(3000, 3000, 10, length=100, topic_prior=0.3).counts, LDA(5, polish="off")),
    "many topics": (lambda: make_lda(3000, 3000, 10, length=100, topic_prior=0.3).counts, LDA(60)),
    "a tensor": (lambda: make_lda(3000, 3000, 10, length=100, topic_prior=0.3).counts, LDA(40, method="jacobi")),
    "short documents": (lambda: make_lda(30000, 300, 10, length=4, topic_prior=0.3).counts, LDA(48, polish=1)),
    "many groups": (lambda: rows_in_groups(make_lda(2000, 3000, 10, length=50).counts, 50), LDA(16, polish=2)),
    "one topic a document": (lambda: make_lda(20000, 300, 10, length=8).counts, SingleTopic(50)),
    "one topic of a few": (lambda: rows_in_groups(make_lda(3000, 3000, 4, length=500).counts, 500), SingleTopic(2)),
}


@pytest.mark.parametrize("case", MEMORY)
def test_memory_is_planned_and_kept(case):
    X, model = MEMORY[case][0](), clone(MEMORY[case][1]).set_params(n_jobs=2)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X)  # what is loaded and compiled once does not count
        tracemalloc.start()
        model.fit(X)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert 0.1 * model.diagnostics_.memory_bytes < peak < 1.1 * model.diagnostics_.memory_bytes


def test_top_documents():
    sample = SAMPLES[SingleTopic]
    fitted = SingleTopic(5).fit(sample.counts)
    best = fitted.top_documents(sample.counts, 3)
    assert best.shape == (5, 3)
    assert (fitted.predict(sample.counts)[best] == np.arange(5)[:, None]).all()


def test_top_documents_shard_by_shard(monkeypatch):
    X = SAMPLES[LDA].counts
    fitted = LDA(5).fit(X)
    expected = top_documents(fitted.transform(X), 4)
    assert np.array_equal(fitted.top_documents(X, 4), expected)
    monkeypatch.setattr(blocks_module, "SHARD_CELLS", 3000)
    assert count_blocks(X).n_shards > 3
    assert np.array_equal(fitted.top_documents(X, 4), expected)


def test_diagnostics():
    X = SAMPLES[LDA].counts.toarray()
    X[:3] = 0
    X[:, 5] = 0
    diagnostics = LDA(5, polish=4).fit(X).diagnostics_
    assert diagnostics.n_too_short == 3
    assert diagnostics.n_unseen_words == (X.sum(axis=0) == 0).sum() > 1
    assert diagnostics.n_passes == 4
    assert diagnostics.gap > 2, "five topics stand out"
    assert diagnostics.memory_bytes > 0
    assert set(diagnostics.seconds) == {"read", "moments", "polish", "prior"}
    assert "3 documents too short" in repr(diagnostics)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.full((5, 3), 0.5), "fractional count 0.5 at row 0.*tf-idf"),
        (-np.ones((5, 3)), "Negative values"),
        (np.zeros((5, 3)), "Only 0 of the n_features=3 words occur"),
        (np.full((2, 3), 4.0), "n_samples=2"),
        (np.array([[3.0, 0, 0], [5, 0, 0], [2, 0, 0]]), "Only 1 of the n_features=3 words"),
    ],
)
def test_bad_input(model, X, message):
    with pytest.raises(ValueError, match=message):
        model(2).fit(X)


@pytest.mark.parametrize("model", MODELS)
def test_more_topics_than_documents_or_words(model):
    with pytest.raises(ValueError, match="only 4 documents"):
        model(5).fit(np.ones((4, 10)))
    with pytest.raises(ValueError, match="n_features=3 words"):
        model(4).fit(np.ones((10, 3)))


@pytest.mark.parametrize("model", MODELS)
def test_duplicate_documents_only(model):
    X = np.tile([[5.0, 3.0, 2.0, 4.0]], (20, 1))
    with pytest.raises(RankError, match="the data support at most"):
        model(3).fit(X)


def test_more_topics_than_the_moments_support_is_a_warning():
    sample = make_lda(200, 60, 2, length=20, random_state=0)
    with pytest.warns(NoiseWarning, match="stand out from the noise"):
        LDA(10).fit(sample.counts)
    with pytest.warns(NoiseWarning) as said:
        fitted = LDA(25).fit(sample.counts)
    assert any(re.search(r"supports \d+ of the 25 topics", str(warning.message)) for warning in said)
    assert any("do not determine" in str(warning.message) for warning in said)
    assert fitted.components_.shape == (25, 60)
    assert np.allclose(fitted.components_.sum(axis=1), 1)
    distances = np.abs(fitted.components_[:, None] - fitted.components_).sum(axis=2) + np.eye(25)
    assert distances.min() > 0.01, "no two topics are the same"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components is 0"),
        ({"n_components": 2.0}, "n_components is 2.0"),
        ({"polish": "slow"}, "polish is 'slow'"),
        ({"polish": -1}, "polish is -1"),
        ({"concentration": "guess"}, "concentration is 'guess'"),
        ({"concentration": -1.0}, "concentration is -1.0"),
        ({"doc_topic_prior": [1.0, 2.0]}, "doc_topic_prior must be"),
        ({"topic_word_prior": -0.1}, "topic_word_prior must be"),
        ({"method": "magic"}, "method is 'magic'"),
        ({"weights": "short"}, "weights is 'short'"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LDA(**{"n_components": 3, **parameters}).fit(SAMPLES[LDA].counts)


def test_wrong_vocabulary_at_transform():
    model = LDA(5).fit(SAMPLES[LDA].counts)
    with pytest.raises(ValueError, match="299 features, but LDA is expecting 300"):
        model.transform(SAMPLES[LDA].counts[:, :299])
    with pytest.raises(ValueError, match="vocabulary has 2 words"):
        model.topics(vocabulary=["a", "b"])
    with pytest.raises(ValueError, match="by is 'beauty'"):
        model.topics(by="beauty")


def test_empty_documents_change_nothing():
    X = make_lda(300, 100, 10, length=800).counts
    padded = sparse.vstack([X, sparse.csr_array((200, 100))], format="csr")
    without, with_them = (LDA(10).fit(counts) for counts in (X, padded))
    assert len(without.diagnostics_.objective) == len(with_them.diagnostics_.objective)
    assert np.abs(without.components_ - with_them.components_).max() < 1e-6


@pytest.mark.parametrize("model", MODELS)
def test_groups_of_rows_may_be_empty(model):
    X = SAMPLES[model].counts
    whole, groups = model(5).fit(X), model(5).fit([X[:700], X[:0], X[700:]])
    assert np.abs(whole.components_ - groups.components_).max() < 1e-6


@pytest.mark.parametrize("K", [5, 50])
def test_energy_does_not_depend_on_how_rows_are_cut(K):
    X = SAMPLES[LDA].counts
    with warnings.catch_warnings(action="ignore"):
        whole, groups = LDA(K, polish="off").fit(X), LDA(K, polish="off").fit([X[:700], X[700:]])
    assert np.isclose(whole.diagnostics_.energy, groups.diagnostics_.energy, rtol=1e-6)
