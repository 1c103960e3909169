"""Topics of aligned texts: recovery, invariances, missing views, private topics, retrieval."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from polyad import DiscreteCCA, MultiViewMixture, PolylingualLDA, align, load
from polyad.corpus import CorpusSource, count_words, make_corpus
from polyad.datasets.topics import make_lda
from polyad.engine import aligned, blocks, count_blocks, side_by_side, view_of, write_shards
from polyad.inference.heldout import split_tokens
from polyad.metrics import l1_error
from polyad.models.recipes.aligned_start import _directions, two_groups
from polyad.models.recipes.projection import Projection, shared_projections, unit_projections

K = 5
WORDS = (60, 80)


def languages(N=3000, words=WORDS, length=80, seed=0, topic_seed=100):
    """Texts with the same topic shares in each row, and topics of their own; also the topics and the shares."""
    rng = np.random.default_rng(topic_seed)
    topics = [rng.dirichlet(np.full(size, 0.1), K) for size in words]
    theta = np.random.default_rng(seed).dirichlet(np.full(K, 0.2), N)
    rng = np.random.default_rng(seed + 1)
    return [sparse.csr_array(rng.multinomial(length, theta @ T)) for T in topics], topics, theta


def error(model, topics):
    return l1_error(np.hstack(model.components_), np.hstack(topics))


def same_topics(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one.all_components_, other.all_components_, strict=True))


@pytest.mark.parametrize("words", [WORDS, (60, 80, 50)])
@pytest.mark.parametrize("polish", ["off", "fast"])
def test_topics_are_recovered_and_errors_shrink(polish, words):
    errors = []
    for N in (500, 8000):
        views, topics, _ = languages(N, words)
        model = PolylingualLDA(K, polish=polish, concentration=1.0).fit(views)
        errors.append(error(model, topics))
        assert [found.shape for found in model.components_] == [(K, size) for size in words]
        assert all(np.allclose(found.sum(axis=1), 1) for found in model.components_)
    assert errors[1] < 0.04
    assert errors[1] < 0.8 * errors[0]


def test_random_topics_do_not_pass():
    _, topics, _ = languages(10)
    rng = np.random.default_rng(0)
    random = np.hstack([rng.dirichlet(np.full(size, 0.1), K) for size in WORDS])
    assert l1_error(random, np.hstack(topics)) > 0.5


def test_the_concentration_is_chosen():
    views, _, _ = languages(4000)
    assert 0.2 < PolylingualLDA(K).fit(views).doc_topic_prior_.sum() < 2.1  # the truth is 1
    assert PolylingualLDA(K, concentration=3.0).fit(views).doc_topic_prior_.sum() == pytest.approx(3.0, rel=1e-3)


def test_one_view_tells_the_others():
    views, topics, _ = languages(words=(60, 80, 50))
    model = PolylingualLDA(K).fit(views)
    new, _, theta = languages(400, (60, 80, 50), seed=9)
    expected, null = theta @ topics[1], views[1].sum(axis=0) / views[1].sum()
    shares = model.transform([new[0], None, None])
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.abs(shares @ model.components_[1] - expected).sum() < 0.3 * np.abs(null - expected).sum()
    errors = [
        np.abs(np.sort(model.transform(given)) - np.sort(theta)).mean()
        for given in ([new[0], None, None], [new[0], None, new[2]], new)
    ]
    assert errors[0] > errors[1] > errors[2]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        projected = [model.project(new[view], view) for view in (one, other)]
        assert np.allclose(np.linalg.norm(projected[0], axis=1), 1)
        found = ((projected[0] @ projected[1].T).argmax(axis=1) == np.arange(400)).mean()
        assert found > 20 / 400  # chance is 1 / 400


def test_the_order_of_rows_does_not_change_a_byte():
    views, _, _ = languages(2000)
    model = PolylingualLDA(K).fit(views)
    order = np.random.default_rng(0).permutation(2000)
    other = clone(model).fit([view[order] for view in views])
    assert same_topics(model, other)
    assert np.array_equal(model.doc_topic_prior_, other.doc_topic_prior_)
    assert all(np.array_equal(a, b) for a, b in zip(model.projections_, other.projections_))
    assert np.array_equal(model.transform(views)[order], other.transform([view[order] for view in views]))


@pytest.mark.parametrize("words", [(60, 60), (60, 80, 50)])
def test_the_order_of_views_does_not_change_a_byte(words):
    views, _, _ = languages(2000, words)
    model = PolylingualLDA(K).fit(views)
    other = clone(model).fit(views[::-1])
    assert all(np.array_equal(a, b) for a, b in zip(model.components_, other.components_[::-1], strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(model.projections_, other.projections_[::-1], strict=True))


def test_however_the_views_come_and_are_cut(monkeypatch):
    views, _, _ = languages(2000)
    whole = PolylingualLDA(K).fit(views)
    dense = clone(whole).fit([views[0].toarray(), views[1].tocsc()])
    source = clone(whole).fit(aligned(*(count_blocks(view) for view in views)))
    parts = clone(whole).fit([[views[0][:700], views[0][700:]], [views[1][:1500], views[1][1500:]]])
    for other in (dense, source, parts):
        assert same_topics(whole, other)
    monkeypatch.setattr(blocks, "SHARD_CELLS", 20_000)
    shards = [clone(whole).fit(given) for given in (views, [[views[0][:700], views[0][700:]], views[1]])]
    assert count_blocks(views[0]).n_shards > 1
    assert same_topics(*shards)
    assert error(shards[0], whole.components_) < 0.02  # halves are cut elsewhere


def test_threads_do_not_matter_and_topics_are_in_order():
    views, _, _ = languages(2000)
    models = [PolylingualLDA(K, n_jobs=n_jobs).fit(views) for n_jobs in (1, 2)]
    assert same_topics(*models)
    assert np.array_equal(models[0].transform(views), models[1].transform(views))
    assert (np.diff(models[0].topic_shares_) <= 0).all()
    assert models[0].topic_shares_.sum() == pytest.approx(1)
    assert set(models[0].diagnostics_.seconds) == {"read", "moments", "polish", "prior", "projections"}


def test_a_side_split_in_two_gives_the_same_topics():
    views, topics, _ = languages(6000, (60, 80), length=120)
    two = PolylingualLDA(K).fit(views)
    three = PolylingualLDA(K).fit([*split_tokens(views[0]), views[1]])
    for one, other in zip((0, 0, 1), three.components_, strict=True):
        assert align(two.components_[one], other).similarity.min() > 0.95
    assert error(three, [topics[0], topics[0], topics[1]]) < 0.03


def test_words_split_in_two_give_the_same_topics():
    views, _, _ = languages(6000, (120, 80))
    two = PolylingualLDA(K).fit(views)
    three = PolylingualLDA(K).fit([views[0][:, :50], views[0][:, 50:], views[1]])
    left, right = two.components_
    wanted = [part / part.sum(axis=1, keepdims=True) for part in (left[:, :50], left[:, 50:], right)]
    for one, other in zip(wanted, three.components_, strict=True):
        # Not exactly the same: the parts of a topic need not have the same share of both vocabularies.
        assert align(one, other).mean > 0.95


def test_private_topics_are_those_of_one_view():
    views, topics, _ = languages(4000)
    own = make_lda(4000, WORDS[0], 2, length=40, random_state=5)
    noisy = [sparse.csr_array(views[0] + own.counts), views[1]]
    plain = PolylingualLDA(K, polish=20).fit(noisy)
    private = PolylingualLDA(K, polish=20, n_private=2).fit(noisy)
    assert error(private, topics) < error(plain, topics)
    assert [found.shape for found in private.components_] == [(K, size) for size in WORDS]
    x_topics, y_topics = private.all_components_
    assert not y_topics[K : K + 2].any()
    assert not x_topics[K + 2 :].any()
    assert np.allclose(x_topics[: K + 2].sum(axis=1), 1)
    assert np.allclose(y_topics[K + 2 :].sum(axis=1), 1)
    for given in (noisy, [noisy[0], None], [None, noisy[1]]):
        assert np.allclose(private.transform(given).sum(axis=1), 1)
    turned = clone(private).fit(noisy[::-1])
    assert np.array_equal(turned.all_components_[1][:K], x_topics[:K])
    assert np.array_equal(turned.all_components_[1][K + 2 :], x_topics[K : K + 2])


def test_no_prior_revives_a_topic_that_a_view_does_not_have():
    views, _, _ = languages(200)
    x_topics, y_topics = PolylingualLDA(2, polish="full", n_private=1).fit(views).all_components_
    assert not y_topics[2].any()
    assert not x_topics[3].any()
    assert np.allclose(x_topics[:3].sum(axis=1), 1)


def test_missing_documents_of_a_view_are_empty_rows():
    views, topics, _ = languages(4000)
    gaps = views[0].tolil()
    gaps[::4] = 0
    model = PolylingualLDA(K).fit([gaps.tocsr(), views[1]])
    assert error(model, topics) < 0.06
    assert np.allclose(
        model.transform([np.zeros((1, 60)), None]), model.doc_topic_prior_ / model.doc_topic_prior_.sum()
    )
    projected = model.project(gaps.tocsr())
    assert not projected[::4].any(), "no words, no direction"
    assert np.allclose(np.linalg.norm(projected[1::4], axis=1), 1)


def test_the_length_of_a_document_is_no_cue():
    views, _, _ = languages(500)
    model = PolylingualLDA(K).fit(views)
    assert np.allclose(model.project(4 * views[1], 1), model.project(views[1], 1))


def test_projections_are_standardised_and_count_by_their_correlation():
    rng = np.random.default_rng(0)
    shared, own = 2 * rng.integers(1, 25, 400), [2 * rng.integers(1, 25, 400) for _ in range(2)]
    views = [np.stack([shared, 50 - shared, noise, 50 - noise], axis=1) for noise in own]
    directions = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0], [0.0, 0.0, 0.0, 0.0]])
    source = aligned(*(count_blocks(view) for view in views))
    found = shared_projections(source, [directions, directions])
    for view, projection in zip(views, found):
        rows = np.sqrt(view / 100) @ projection.weights.T - projection.centre
        assert np.allclose(rows.mean(axis=0), 0)
        assert rows[:, 0].std() == pytest.approx(1)
        assert rows[:, 1].std() < 0.05  # what is not shared
    assert not found[0].weights[2].any(), "a direction without variance tells nothing"
    unit = unit_projections(count_blocks(views[0]), Projection(found[0].weights, found[0].centre))
    assert np.allclose(np.linalg.norm(unit, axis=1), 1)


def test_save_and_load(tmp_path):
    texts = [
        ["cat dog cat", "tax law tax", "dog cat dog", "law tax law", "cat cat dog", "law law tax"] * 5,
        ["chat chien", "loi loi", "chien chien", "loi impot", "chat chat", "impot loi"] * 5,
        ["katze hund", "gesetz steuer", "hund hund", "steuer gesetz", "katze hund", "gesetz gesetz"] * 5,
    ]
    corpora = [count_words(lines) for lines in texts]
    model = PolylingualLDA(2, polish=3, n_private=1).fit(corpora)
    assert model.vocabularies_[1] == corpora[1].vocabulary
    assert {word for topic in model.topics(2)[0] for word in topic} == {"cat", "dog", "tax", "law"}
    model.save(tmp_path / "three.polyad")
    loaded = load(tmp_path / "three.polyad")
    assert same_topics(model, loaded)
    assert np.array_equal(loaded.transform([corpora[0], None, None]), model.transform([corpora[0], None, None]))
    assert np.array_equal(loaded.project(corpora[2], 2), model.project(corpora[2], 2))
    assert loaded.vocabularies_ == model.vocabularies_
    assert loaded.topics(3) == model.topics(3)
    model.save(tmp_path / "again.polyad")
    assert (tmp_path / "again.polyad").read_bytes() == (tmp_path / "three.polyad").read_bytes()
    bare = PolylingualLDA(2).fit([corpus.counts for corpus in corpora])
    bare.save(tmp_path / "bare.polyad", vocabulary=[corpora[0].vocabulary, None, None])
    assert load(tmp_path / "bare.polyad").vocabularies_ == [corpora[0].vocabulary, None, None]
    with pytest.raises(ValueError, match="counted over other words"):
        model.transform([None, count_words(["chat chien loi taxe"]), None])


def test_views_are_parted_into_groups_of_one_size():
    assert two_groups([3.0, 3.0]) == ((0,), (1,))
    assert two_groups([9.0, 5.0, 4.0, 1.0]) == ((0, 3), (1, 2))
    views, _, _ = languages(50, (6, 7, 8))
    source = aligned(*(count_blocks(view) for view in views))
    beside = side_by_side(source, [[2, 0], [1]])
    assert beside.widths == (14, 7)
    assert np.array_equal(beside.shard(0).views[0].toarray(), sparse.hstack([views[2], views[0]]).toarray())
    assert side_by_side(source, [[0], [1], [2]]) is source


def test_many_topics_use_some_directions():
    assert _directions(50) is None
    directions = _directions(60)
    assert np.allclose(directions @ directions.T, np.eye(24))


def test_bad_requests_are_sentences():
    views, _, _ = languages(300)
    X, Y = views
    for given, message in (
        ([X], "1 view is given, and aligned texts are two or more"),
        (X, "give a list of them"),
        ([X, None, Y], "A view is None; only transform, predict and score"),
        ([X, Y[:200]], "300, 200 rows"),
        ([X, -Y], "View 1 has the count -"),
        ([X[:3], Y[:3]], "3 rows, too few for 5 topics"),
    ):
        with pytest.raises(ValueError, match=message):
            PolylingualLDA(K).fit(given)
    for parameters, message in (
        ({"polish": 1.5}, r"polish is 1\.5"),
        ({"n_private": -1}, "n_private is -1"),
        ({"n_private": 1, "polish": "off"}, "learned by passes of likelihood"),
        ({"concentration": "some"}, "concentration is 'some'"),
        ({"n_components": 0}, "n_components is 0"),
    ):
        with pytest.raises(ValueError, match=message):
            PolylingualLDA(**{"n_components": 2, **parameters}).fit(views)
    model = PolylingualLDA(2, polish=0).fit(views)
    for given, message in (
        ([None, None], "All views are None"),
        ([X], "There is 1 view, and the model was fitted with 2"),
        ([Y, None], "View 0 has 80 columns, but the model was fitted with 60"),
    ):
        with pytest.raises(ValueError, match=message):
            model.transform(given)
    with pytest.raises(ValueError, match="view is 2"):
        model.project(X, 2)


@pytest.fixture
def apart(tmp_path):
    """Two texts as shards that were written one by one, each in the order of its own contents, and the texts."""
    texts = languages(N=200)[0]
    return [write_shards(count_blocks(text), tmp_path / f"{number}") for number, text in enumerate(texts)], texts


@pytest.mark.parametrize(
    "fit",
    [
        lambda left, right: PolylingualLDA(2).fit([left, right]),
        lambda left, right: PolylingualLDA(2).fit([CorpusSource(left.path), CorpusSource(right.path)]),
        lambda left, right: DiscreteCCA(2).fit(left, right),
        lambda left, right: MultiViewMixture(2).fit([left, right, left]),
    ],
)
def test_shards_in_orders_of_their_own_are_no_views_of_the_same_rows(apart, fit):
    with pytest.raises(ValueError, match=r"The rows of view 0 and view 1 do not belong together: shards are in"):
        fit(*apart[0])


def test_shards_of_both_texts_have_rows_that_belong_together(apart, tmp_path):
    _, texts = apart
    expected = PolylingualLDA(2).fit(texts)
    both = write_shards(aligned(*map(count_blocks, texts)), tmp_path / "both")
    assert same_topics(PolylingualLDA(2).fit(both), expected)
    assert expected.transform([view_of(both, 0), view_of(both, 1)]).shape == (200, 2)


def test_new_documents_in_orders_of_their_own_are_refused(apart):
    shards, texts = apart
    model = PolylingualLDA(2).fit(texts)
    for given in (shards, [CorpusSource(one.path) for one in shards]):
        with pytest.raises(ValueError, match="do not belong together"):
            model.transform(given)


@pytest.mark.filterwarnings("ignore:These data do not determine")  # rows that do not belong together share nothing
def test_shards_beside_rows_of_an_order_that_is_not_known_are_told(apart):
    shards, texts = apart
    with pytest.warns(UserWarning, match="View 0 is shards, in the order of their contents") as told:
        PolylingualLDA(2).fit([shards[0], texts[1]])
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="View 0 is shards, in the order of their contents") as told:
        MultiViewMixture(2, max_iter=1).fit([shards[0], texts[1], texts[0]])
    assert told[0].filename == __file__


def test_corpora_with_the_same_documents_in_other_orders_are_refused():
    texts = [text.toarray() for text in languages(N=50)[0]]
    ids = [f"d{number}" for number in range(50)]
    left, partner = (make_corpus(text, [f"w{m}" for m in range(text.shape[1])], ids) for text in texts)
    right = make_corpus(texts[1][::-1].copy(), partner.vocabulary, ids[::-1])
    with pytest.raises(ValueError, match="row 0 is 'd0' in the one and 'd49' in the other"):
        PolylingualLDA(2).fit([left, right])
    with pytest.raises(ValueError, match="the same documents in different orders"):
        DiscreteCCA(2).fit(left, right)
    groups = [f"group {number // 2}" for number in range(50)]
    grouped, turned = make_corpus(texts[0], left.vocabulary, groups), make_corpus(texts[1], None, groups[::-1])
    assert PolylingualLDA(2).fit([grouped, turned]).n_components == 2  # names of several documents are none of one
    model = PolylingualLDA(2).fit([left, partner])
    with pytest.raises(ValueError, match="the same documents in different orders"):
        model.transform([left, right])
