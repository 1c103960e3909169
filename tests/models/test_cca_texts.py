"""Discrete CCA on two texts: topics from moments, the polish, retrieval, private topics."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from polyad.datasets.topics import make_lda
from polyad.engine import Serial, Threads, count_blocks
from polyad.inference import cells
from polyad.inference.polylingual import PairedTopics, Text, polish_topics, topic_mixtures
from polyad.metrics import l1_error
from polyad.models.cca_discrete import DiscreteCCA
from polyad.models.cca_texts import _directions, standard_projection

K = 5


def two_languages(N=3000, words=(60, 80), length=80, seed=0, topic_seed=100):
    """Two texts a row with the same topic proportions and topics of their own."""
    rng = np.random.default_rng(topic_seed)
    topics = [rng.dirichlet(np.full(size, 0.1), K) for size in words]
    theta = np.random.default_rng(seed).dirichlet(np.full(K, 0.2), N)
    rng = np.random.default_rng(seed + 1)
    counts = [sparse.csr_array(rng.multinomial(length, theta @ T)) for T in topics]
    return counts[0], counts[1], topics, theta


def stacked_error(model, topics):
    found = np.vstack([model.x_loadings_, model.y_loadings_]).T
    return l1_error(found, np.hstack(topics))


@pytest.mark.parametrize("polish", ["off", "fast"])
def test_topics_are_recovered_and_errors_shrink(polish):
    errors = []
    for N in (500, 8000):
        X, Y, topics, _ = two_languages(N)
        model = DiscreteCCA(K, polish=polish, concentration=1.0).fit(X, Y)
        errors.append(stacked_error(model, topics))
        assert np.allclose(model.x_loadings_.sum(axis=0), 1, atol=1e-5)
        assert np.allclose(model.y_loadings_.sum(axis=0), 1, atol=1e-5)
    assert errors[1] < (0.09 if polish == "off" else 0.04)  # without a polish 5% of unigrams stay mixed in
    assert errors[1] < 0.8 * errors[0]


def test_random_topics_do_not_pass():
    _, _, topics, _ = two_languages(10)
    rng = np.random.default_rng(0)
    random = np.hstack([rng.dirichlet(np.full(size, 0.1), K) for size in (60, 80)])
    assert l1_error(random, np.hstack(topics)) > 0.5


def test_one_text_tells_the_other():
    X, Y, topics, _ = two_languages()
    model = DiscreteCCA(K, concentration=1.0).fit(X, Y)
    X2, Y2, _, theta2 = two_languages(400, seed=9)
    expected = theta2 @ topics[1]
    null = np.asarray(Y.sum(axis=0)).ravel() / Y.sum()
    assert np.abs(model.predict(X2) - expected).sum() < 0.3 * np.abs(null - expected).sum()
    proportions = model.transform(X2)
    assert np.allclose(proportions.sum(axis=1), 1)
    errors = [np.abs(np.sort(found) - np.sort(theta2)).mean() for found in (proportions, model.transform(X2, Y2))]
    assert errors[1] < errors[0]
    cosines = model.project(X2) @ model.project(None, Y2).T
    assert (cosines.argmax(axis=1) == np.arange(400)).mean() > 20 / 400  # chance is 1 / 400
    assert np.allclose(np.linalg.norm(model.project(X2), axis=1), 1)


def test_projections_are_standardised_and_do_not_depend_on_the_length():
    X, Y, _, _ = two_languages(1000)
    X2, Y2, _, _ = two_languages(400, seed=9)
    model = DiscreteCCA(K).fit(X, Y)
    for seen, new, projection, found in (
        (X, X2, model.x_projection_, model.project(X2)),
        (Y, Y2, model.y_projection_, model.project(None, Y2)),
    ):
        roots = [np.sqrt(view.toarray() / view.sum(axis=1)[:, None]) for view in (seen, new)]
        assert np.allclose((roots[0] @ projection.T).std(axis=0), 1)
        rows = (roots[1] - roots[0].mean(axis=0)) @ projection.T
        assert np.allclose(found, rows / np.linalg.norm(rows, axis=1, keepdims=True))
    assert np.allclose(model.project(4 * X2), model.project(X2)), "the length is no cue"


def test_a_direction_without_variance_is_left_out():
    rows = sparse.csr_array(np.array([[4.0, 0.0, 1.0], [0.0, 4.0, 1.0], [4.0, 4.0, 2.0]]))
    blocks = count_blocks(rows)
    weights, centre = standard_projection(blocks, Serial(), np.array([[0.0, 0.0, 1.0], [1.0, -1.0, 0.0]]))
    assert not weights[0].any()
    assert centre[0] == 0
    assert np.allclose(weights[1] * np.sqrt(4 / 5) - centre[1], [np.sqrt(1.5), -np.sqrt(1.5), 0], atol=1e-12)


def test_order_is_by_tokens_and_threads_do_not_matter():
    X, Y, _, _ = two_languages(2000)
    model = DiscreteCCA(K)
    whole = clone(model).fit(X, Y)
    assert (np.diff(whole.shares_) <= 0).all()
    assert whole.shares_.sum() == pytest.approx(1)
    one = clone(model).set_params(n_jobs=1).fit(X, Y)
    assert np.array_equal(one.y_loadings_, whole.y_loadings_)
    assert np.array_equal(one.transform(X), whole.transform(X))
    assert set(whole.diagnostics_.seconds) == {"summary", "whiten", "targets", "diagonalise", "loadings", "polish"}


def test_private_topics_take_up_what_only_one_text_has():
    X, Y, topics, _ = two_languages(4000)
    own = make_lda(4000, 60, 2, length=40, random_state=5)
    noisy = sparse.csr_array(X + own.counts)
    plain = DiscreteCCA(K, polish=20).fit(noisy, Y)
    private = DiscreteCCA(K, polish=20, n_private=2).fit(noisy, Y)
    assert stacked_error(private, topics) < stacked_error(plain, topics)
    assert private.x_loadings_.shape == (60, K)
    assert np.allclose(private.transform(noisy).sum(axis=1), 1)


def test_many_topics_use_some_directions():
    assert _directions(50, 0) is None
    directions = _directions(60, 0)
    assert np.allclose(directions @ directions.T, np.eye(24))


def test_empty_and_one_word_texts_get_the_prior():
    X, Y, _, _ = two_languages(1000)
    X = X.tolil()
    X[3] = 0
    Y = Y.tolil()
    Y[4] = 0
    model = DiscreteCCA(K).fit(X.tocsr(), Y.tocsr())
    assert np.isfinite(model.transform(X.tocsr())).all()
    assert np.allclose(model.transform(np.zeros((1, 60))), 1 / K)
    projected = model.project(X.tocsr())
    assert np.isfinite(projected).all()
    assert not projected[3].any(), "no words, no direction"
    unused = np.flatnonzero(~model.x_projection_.any(axis=0))
    assert not model.project(np.eye(60)[unused]).any(), "nor with words that were left out"


def test_bad_requests_are_sentences():
    X, Y, _, _ = two_languages(300)
    model = DiscreteCCA(2, polish=0).fit(X, Y)
    with pytest.raises(ValueError, match="Give one view to project"):
        model.project(X, Y)
    with pytest.raises(ValueError, match="X has 80 columns, but the model was fitted with 60"):
        model.transform(Y)
    with pytest.raises(ValueError, match="Y has 60 columns"):
        model.project(None, X)
    with pytest.raises(ValueError, match="None"):
        model.transform()
    with pytest.raises(ValueError, match=r"polish is 1\.5"):
        DiscreteCCA(2, polish=1.5).fit(X, Y)


def start(seed=0, sizes=(6, 7), k=3):
    rng = np.random.default_rng(seed)
    return PairedTopics(*(rng.dirichlet(np.ones(size), k).T for size in sizes), np.full(k, 0.3))


def small_texts(seed=0):
    rng = np.random.default_rng(seed)
    X, Y = rng.poisson(1.0, (9, 6)), rng.poisson(1.0, (9, 7))
    return X, Y, [Text.from_blocks(count_blocks(view)) for view in (X, Y)]


def plain_mixtures(X, Y, topics, theta, n_iter):
    """NumPy twin of the E step."""
    for _ in range(n_iter):
        gathered = sum(
            (C / np.maximum(theta @ T.T, 1e-30)) @ T
            for C, T in ((X, topics.x_topics), (Y, topics.y_topics))
            if C is not None
        )
        theta = topics.prior + theta * gathered
    return theta


def test_inference_agrees_with_plain_numpy():
    X, Y, texts = small_texts()
    topics = start()
    first = np.tile(topics.prior, (9, 1))
    for x, y in ((X, Y), (X, None), (None, Y)):
        expected = plain_mixtures(x, y, topics, first, 20)
        found = topic_mixtures(
            topics, Serial(), None if x is None else texts[0], None if y is None else texts[1], n_iter=20
        )
        assert np.allclose(found, expected / expected.sum(axis=1, keepdims=True), atol=1e-5)


def test_a_pass_agrees_with_plain_numpy():
    X, Y, texts = small_texts()
    topics = start()
    theta = plain_mixtures(X, Y, topics, np.tile(topics.prior, (9, 1)), 10)
    found, mixtures = polish_topics(topics, Serial(), *texts, n_passes=1, smoothing=0.1)
    for C, T, result in ((X, topics.x_topics, found.x_topics), (Y, topics.y_topics, found.y_topics)):
        expected = T * ((C / (theta @ T.T)).T @ theta) + 0.1
        assert np.allclose(result, expected / expected.sum(axis=0), atol=1e-5)
    assert np.allclose(mixtures, theta / theta.sum(axis=1, keepdims=True), atol=1e-5)


def test_no_pass_lowers_the_objective():
    X, Y, texts = small_texts()
    objectives = []

    def objective(_, topics):
        theta = topic_mixtures(topics, Serial(), *texts, n_iter=2000)
        fit = sum((C * np.log(theta @ T.T)).sum() for C, T in ((X, topics.x_topics), (Y, topics.y_topics)))
        priors = (topics.prior * np.log(np.maximum(theta, 1e-30))).sum()
        smooth = 0.1 * sum(np.log(T).sum() for T in (topics.x_topics, topics.y_topics))
        objectives.append(fit + priors + smooth)

    polish_topics(start(), Serial(), *texts, n_passes=15, smoothing=0.1, on_pass=objective)
    # Three inner iterations do not reach the maximum that the objective is taken at: a hair of slack.
    assert (np.diff(objectives) > -1e-3).all()
    assert objectives[-1] > objectives[0] + 0.1


def test_ranges_and_threads_do_not_change_a_bit(monkeypatch):
    X, Y, _, _ = two_languages(300)
    texts = [Text.from_blocks(count_blocks(view)) for view in (X, Y)]
    topics = start(sizes=(60, 80), k=4)
    whole, _ = polish_topics(topics, Serial(), *texts, n_passes=3)
    monkeypatch.setattr(cells, "RANGE_CELLS", 500)
    assert len(cells.even_ranges(texts[0].by_document.indptr.astype(np.int64))) > 5
    cut, _ = polish_topics(topics, Threads(2), *texts, n_passes=3)
    assert np.array_equal(cut.x_topics, whole.x_topics)
    assert np.array_equal(cut.y_topics, whole.y_topics)


def test_frozen_topics_and_missing_ones_stay():
    _, _, texts = small_texts()
    topics = start()
    topics.y_topics[:, 2] = 0
    found, _ = polish_topics(topics, Serial(), *texts, n_passes=2, n_frozen=1, frozen_passes=2)
    assert np.allclose(found.x_topics[:, 0], topics.x_topics[:, 0], atol=1e-6)
    assert not np.allclose(found.x_topics[:, 1], topics.x_topics[:, 1], atol=1e-3)
    assert not found.y_topics[:, 2].any()


def test_texts_of_the_wrong_shape_are_refused():
    _, _, texts = small_texts()
    with pytest.raises(ValueError, match="expected 9 documents x 5 words"):
        topic_mixtures(start(sizes=(5, 7)), Serial(), texts[0], None)
    with pytest.raises(ValueError, match="Both texts are None"):
        topic_mixtures(start(), Serial(), None, None)
    bare = Text(texts[0].by_document, None)
    with pytest.raises(ValueError, match="no index by word"):
        polish_topics(start(), Serial(), bare, texts[1], n_passes=1)
