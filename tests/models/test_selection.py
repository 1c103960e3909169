import re

import numpy as np
import pytest

from polyad import LDA, PolylingualLDA, SingleTopic, align, bootstrap, select_n_components
from polyad.datasets import make_gamma_poisson, make_lda, make_single_topic
from polyad.inference.topic_prior import SMOOTHING
from polyad.metrics import match_rows


@pytest.mark.parametrize(("K", "N"), [(4, 1200), (10, 2000)])
@pytest.mark.parametrize("maker", ["lda", "gamma_poisson"])
def test_the_true_number_of_topics_is_found(K, N, maker):
    if maker == "lda":
        X = make_lda(N, 400, K, length=120, prior=1 / K, random_state=2).counts
    else:
        X = make_gamma_poisson(N, 400, K, mean_length=120.0, prior=1 / K, random_state=2).counts
    result = select_n_components(X, n_max=30, n_values=6)
    assert result.recommended == K
    assert re.search(f"spectrum falls (sharply after them|after {K} topics)", result.reason)
    numbers = [row["n_components"] for row in result.table]
    assert K in numbers
    bits = {row["n_components"]: row["bits"] for row in result.table}
    assert bits[K] < bits[min(numbers)] - 0.1
    assert bits[K] <= min(bits.values()) + 0.03


def test_no_answer_is_sure_and_wrong():
    """Small topics hide in the noise of the spectrum: it falls sharply before them, and one topic more tells."""
    sure = 0
    for seed in range(5):
        for ratio, K in ((0.5, 6), (0.65, 8)):
            shares = ratio ** np.arange(K)
            X = make_lda(800, 150, K, length=70, prior=shares / shares.sum(), random_state=seed).counts
            result = select_n_components(X, [2, 5, 9])
            if "falls sharply" in result.reason:
                sure += 1
                assert result.recommended == K, (seed, K, result.reason)
    assert sure >= 3


def test_a_range_that_ends_too_early_is_said_to():
    X = make_lda(1500, 400, 12, length=100, prior=0.08, random_state=1).counts
    result = select_n_components(X, [2, 4, 6])
    assert "Bits still fall at 6, where the range ends" in result.reason
    assert "sharply" not in result.reason


def test_structureless_text_gets_an_elbow_and_a_reason():
    """Topics with a slowly falling share each, as in real text: the spectrum singles out nothing."""
    prior = 0.5 / np.arange(1, 61) ** 1.2
    X = make_lda(1500, 800, 60, length=60, prior=prior, random_state=0).counts
    result = select_n_components(X, [2, 5, 10, 20, 40])
    assert result.recommended in (5, 10, 20, 40)
    assert result.reason.startswith(f"{result.recommended} topics: the fewest with 90%")
    assert str(result).count("\n") == 6
    assert all(0 <= row["stability"] <= 1 for row in result.table)
    stability = [row["stability"] for row in result.table]
    assert stability[0] > stability[-1]


def test_threads_and_progress():
    X = make_lda(400, 100, 3, length=50).counts
    seen = []
    one = select_n_components(X, [2, 3], n_jobs=1, progress=lambda done, of: seen.append((done, of)))
    two = select_n_components(X, [2, 3], n_jobs=2)
    assert seen == [(1, 2), (2, 2)]
    for a, b in zip(one.table, two.table):
        assert {k: v for k, v in a.items() if k != "seconds"} == {k: v for k, v in b.items() if k != "seconds"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [500]}, "the most is"),
        ({"n_min": 5, "n_max": 2}, "n_min is 5"),
        ({"values": []}, "the most is"),
        ({"values": [0, 3]}, "0 is among the numbers of topics"),
    ],
)
def test_bad_ranges(arguments, message):
    with pytest.raises(ValueError, match=message):
        select_n_components(make_lda(100, 50, 3).counts, **arguments)


def test_numbers_that_cannot_be_judged_are_told():
    counts = make_lda(200, 60, 3, length=50, prior=0.2).counts
    with pytest.warns(UserWarning, match=r"to judge so many topics: 70, 500\.") as told:
        found = select_n_components(counts, [2, 3, 70, 500])
    assert [row["n_components"] for row in found.table][:2] == [2, 3]
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match=r"so many topics: 51, 52, 53, \.\.\., 63\."):
        select_n_components(counts, [2, *range(51, 64)])


def test_numbers_beyond_the_words_of_a_half_and_beyond_its_rank():
    """Two things bound what can be judged, and the second was an error."""
    counts = make_lda(200, 60, 3, length=50, prior=0.2).counts
    assert [row["n_components"] for row in select_n_components(counts, n_max=60).table][:2] == [2, 3]


def test_numbers_come_in_any_form():
    counts = make_lda(200, 60, 3, length=50, prior=0.2).counts
    judged = [row["n_components"] for row in select_n_components(counts, [2, 3, 4]).table]
    for values in (np.arange(2, 5), iter((2, 3, 4)), (2.0, 3.0, 4.0)):
        assert [row["n_components"] for row in select_n_components(counts, values).table] == judged


def test_align_pairs_topics():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.ones(30), 6)
    order = rng.permutation(6)
    found = align(topics, topics[order])
    assert [order[b] for _, b in found.pairs] == [a for a, _ in found.pairs]
    assert np.allclose(found.similarity, 1)
    assert found.mean == pytest.approx(1)
    assert len(align(topics, topics[:4]).pairs) == 4


def test_align_uses_common_words():
    pandas = pytest.importorskip("pandas")
    X = make_lda(500, 40, 3, length=60).counts.toarray()
    names = np.array([f"w{m}" for m in range(40)])
    a = LDA(3).fit(pandas.DataFrame(X, columns=names))
    order = np.random.default_rng(0).permutation(40)[:35]
    b = LDA(3).fit(pandas.DataFrame(X[:, order], columns=names[order]))
    found = align(a, b)
    assert found.n_words == 35
    assert found.mean > 0.97
    with pytest.raises(ValueError, match="no word in common"):
        align(a, LDA(3).fit(pandas.DataFrame(X, columns=[f"v{m}" for m in range(40)])))
    with pytest.raises(ValueError, match="shapes"):
        align(np.ones((2, 3)), np.ones((2, 4)))


def test_bootstrap_errors_have_the_right_size():
    """Against the spread of topics over fresh samples of the same size."""
    truth = make_lda(1, 60, 4, random_state=5).components
    fits = []
    for seed in range(12):
        model = LDA(4).fit(make_lda(800, components=truth, length=60, prior=0.1, random_state=seed).counts)
        fits.append(model.components_[match_rows(model.components_, truth)])
    spread = np.std(fits, axis=0, ddof=1)
    X = make_lda(800, components=truth, length=60, prior=0.1, random_state=99).counts
    model = LDA(4).fit(X)
    found = bootstrap(model, X, n_replicates=100)
    errors = found.standard_errors[match_rows(model.components_, truth)]
    frequent = truth > 0.02
    assert 0.6 < np.median(errors[frequent] / spread[frequent]) < 1.4
    assert (found.stability > 0.8).all()
    assert (found.stability < 1).all()
    few = bootstrap(model, X[:100], n_replicates=100)
    assert few.standard_errors[frequent].mean() > 1.5 * found.standard_errors[frequent].mean()
    assert few.stability.mean() < found.stability.mean()


def test_stability_does_not_depend_on_the_number_of_replicates():
    X = make_lda(600, 3000, 4, length=80, topic_prior=0.02).counts
    model = LDA(4).fit(X)
    few, many = (bootstrap(model, X, n_replicates=n).stability for n in (20, 200))
    assert np.allclose(few, many, atol=0.01)
    assert few.min() > 0.85


def test_bootstrap_of_aligned_texts_draws_the_same_groups_of_both():
    """Against loops over words: expected tokens by the rule of Bayes, groups drawn together, topics of their sums."""
    X = make_lda(300, 50, 3, length=60, prior=0.1).counts
    views = [X[:, :30], X[:, 30:]]
    model = PolylingualLDA(3).fit(views)
    found = bootstrap(model, views, n_groups=5, n_replicates=40, random_state=7)
    shares = model.transform(views)
    draws = np.random.default_rng(7).multinomial(5, np.full(5, 0.2), 40)
    stability = np.zeros(3)
    for counts, topics, errors in zip(views, model.components_, found.standard_errors):
        for k in range(3):
            tokens = np.zeros((5, topics.shape[1]))
            for d, row in enumerate(counts.toarray()):
                tokens[d % 5] += row * shares[d, k] * topics[k] / np.maximum(shares[d] @ topics, 1e-300)
            replicates = draws @ tokens + SMOOTHING / 3
            replicates /= replicates.sum(axis=1, keepdims=True)
            centre = tokens.sum(axis=0) + SMOOTHING / 3
            stability[k] += (1 - np.abs(replicates - centre / centre.sum()).sum(axis=1).mean() / 2) / 2
            assert errors[k] == pytest.approx(replicates.std(axis=0, ddof=1), rel=0.02, abs=1e-6)
    assert found.stability == pytest.approx(stability, abs=1e-3)
    with pytest.raises(ValueError, match="all of the aligned texts"):
        bootstrap(model, [views[0], None])


def test_bootstrap_is_for_models_with_shares():
    X = make_single_topic(200, 40, 3).counts
    with pytest.raises(ValueError, match="give an LDA or a DiscreteICA"):
        bootstrap(SingleTopic(3).fit(X), X)


def test_align_knows_the_words_of_a_corpus():
    X = make_lda(400, 30, 3, length=60).counts.toarray()
    words = np.array([f"w{m}" for m in range(30)])
    order = np.random.default_rng(0).permutation(30)

    class Words:
        def __init__(self, columns):
            self.counts, self.vocabulary = X[:, columns], tuple(words[columns])

    one, other = LDA(3).fit(Words(np.arange(30))), LDA(3).fit(Words(order))
    assert align(one, other).mean > 0.99


def test_bootstrap_is_reproducible():
    X = make_lda(300, 50, 3, length=40).counts
    model = LDA(3).fit(X)
    one, two = (bootstrap(model, X, n_jobs=n, n_replicates=20) for n in (1, 2))
    assert one.standard_errors.tobytes() == two.standard_errors.tobytes()
    with pytest.raises(ValueError, match="at least 2 documents"):
        bootstrap(model, X[:1])


def test_the_order_of_documents_does_not_matter():
    X = make_lda(400, 120, 3, length=60).counts
    one, other = (select_n_components(x, [2, 3, 5], n_jobs=n) for n, x in ((1, X), (2, X[::-1])))
    assert one.recommended == other.recommended
    for row in (*one.table, *other.table):
        row.pop("seconds")
    assert one.table == other.table
