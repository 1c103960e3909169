"""Where fits begin: summaries against NumPy, groups and orders that depend on the data alone, exact input."""

import numpy as np
import pytest
from scipy import sparse

from polyad.datasets import make_hmm
from polyad.decompose.three_views import Classes
from polyad.engine import aligned, count_blocks, signal_blocks
from polyad.engine.sequences import sequences_of
from polyad.engine.sources import arrays_of
from polyad.inference.mixtures.emissions import Bernoulli, Gaussian, Multinomial, Poisson
from polyad.models.recipes import chains
from polyad.models.recipes.aligned_start import align_texts, text_metrics, two_groups
from polyad.models.recipes.chains import (
    chain_from_seeds,
    choose_window,
    first_emission,
    row_features,
    shown_by,
    summarise_rows,
    transitions_of,
)
from polyad.models.recipes.classes import emission_of, features_of, summarise_views, three_groups
from polyad.models.recipes.ica_start import start_of_user
from polyad.models.recipes.moment_start import (
    SummedCounts,
    add_unlike_documents,
    first_sample,
    is_sampled,
    word_metric,
)
from polyad.moments import summarise_counts
from polyad.moments.signals.ica import SignalWhitening
from polyad.moments.views.triples import three_views_population
from sharded import tiny_cuts

RNG = np.random.default_rng(0)


def summed(X):
    source = count_blocks(X)
    return SummedCounts(source, summarise_counts(source))


def test_word_probabilities_have_half_a_token_more():
    corpus = summed([[3.0, 0.0, 1.0], [0.0, 0.0, 2.0]])
    assert np.allclose(corpus.unigram, np.array([3.5, 0.5, 3.5]) / 7.5)
    assert corpus.n_tokens == 6


def test_a_fit_begins_with_the_first_shards_where_passes_follow():
    with tiny_cuts():
        source = count_blocks(np.ones((900, 1)))
        assert source.n_shards > 16
        sample = first_sample(source, 4)
        wanted = max(4, int(np.ceil(np.sqrt(source.n_shards))))
        assert sample.n_rows == source.edges[wanted]
        assert is_sampled(source)
        assert first_sample(source, 0) is source
        few = count_blocks(np.ones((40, 1)))
        assert not is_sampled(few)
        assert first_sample(few, 4) is few


def test_rare_words_have_no_scale_where_others_are_enough():
    X = sparse.csr_array(np.vstack([RNG.poisson(2.0, (400, 80)), np.zeros((1, 80))]).astype(float))
    X = sparse.hstack([X, sparse.csr_array(([5.0], ([0], [0])), shape=(401, 1))]).tocsr()  # a word of one document
    corpus = summed(X)
    found = word_metric(corpus, 5)
    assert found[-1] == 0.0
    totals = np.asarray(X.sum(axis=0)).ravel()
    assert np.allclose(found[:-1], (totals[:-1] / 401) ** -0.25)
    assert word_metric(corpus, 50)[-1] > 0  # of many topics all words are needed


def test_documents_least_like_all_topics_are_added_one_after_the_other():
    X = np.array([[9.0, 0, 0], [8, 1, 0], [0, 9, 0], [0, 0, 9], [0, 0, 0]])
    corpus = summed(X)
    first = np.array([[1.0, 0.0, 0.0]])
    found = add_unlike_documents(first, corpus, 3)
    assert np.array_equal(found[0], first[0])
    assert {int(row.argmax()) for row in found[1:]} == {1, 2}
    assert np.allclose(found.sum(axis=1), 1)
    same = summed(np.tile([[2.0, 2.0]], (4, 1)))
    alike = add_unlike_documents(np.array([[0.5, 0.5]]), same, 3)
    assert len(alike) == 1  # no document differs from the topic there is


def test_a_document_of_few_words_starts_one_topic():
    """Half of it is further from it than others are from all topics: it started topic after topic."""
    X = np.vstack([np.repeat([[90.0, 0.0, 0.0, 0.0, 0.0]], 2, axis=0), np.full((4, 5), 20.0) + 4 * np.eye(5)[1:]])
    found = add_unlike_documents(np.array([[0.0, 0.25, 0.25, 0.25, 0.25]]), summed(X), 6)
    assert (found[1:, 0] > 0.5).sum() == 1
    more = add_unlike_documents(np.array([[0.0, 0.25, 0.25, 0.25, 0.25]]), summed(X), 8)
    assert len(more) == 8, "where no other document is left it is taken again"


def test_the_order_of_texts_and_of_documents_does_not_matter():
    views = [RNG.poisson(rate, (30, size)).astype(float) for rate, size in ((2.0, 4), (1.0, 6), (1.5, 5))]
    texts = align_texts([count_blocks(view) for view in views])
    shuffled = RNG.permutation(30)
    other = align_texts([count_blocks(views[number][shuffled]) for number in (2, 0, 1)])
    assert texts.source.widths == other.source.widths
    for one, two in zip(texts.source.shard(0).views, other.source.shard(0).views):
        assert np.array_equal(one.toarray(), two.toarray())
    tokens = [views[number].sum() for number in texts.order]
    assert tokens == sorted(tokens, reverse=True)
    given_back = texts.as_given([np.full(1, number) for number in texts.order])
    assert [int(value[0]) for value in given_back] == [0, 1, 2]
    assert texts.words_of((1,)).tolist() == list(range(texts.edges[1], texts.edges[2]))
    for unigram, (first, last) in zip(texts.unigrams, zip(texts.edges, texts.edges[1:])):
        assert unigram.size == last - first
        assert unigram.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("tokens", "groups"),
    [
        ([5.0, 1.0], ((0,), (1,))),
        ([3.0, 3.0, 3.0], ((0, 2), (1,))),
        ([9.0, 2.0, 2.0, 2.0], ((0,), (1, 2, 3))),
    ],
)
def test_texts_are_parted_in_groups_of_about_the_same_size(tokens, groups):
    assert two_groups(tokens) == groups


def test_words_in_too_few_documents_have_no_scale():
    from polyad.moments.views.texts import summarise_texts

    X = np.array([[1.0, 0, 2], [2, 0, 1], [1, 1, 0]])
    summary = summarise_texts(aligned(count_blocks(X), count_blocks(X[:, :2])))
    x, y = text_metrics(summary, np.array([0.5, 0.1, 0.4]), np.array([0.6, 0.0]), 2)
    assert (x > 0).tolist() == [True, False, True]
    assert (y > 0).tolist() == [True, False]
    assert (text_metrics(summary, np.full(3, 0.3), np.full(2, 0.5), 1)[0] > 0).all()


def mixed_views():
    counts = RNG.poisson(0.7, (25, 3)).astype(float)
    counts[4] = 0
    bits = RNG.integers(0, 2, (25, 2)).astype(float)
    values = RNG.standard_normal((25, 4)) * [1.0, 5.0, 1.0, 0.0]
    bits[2, 0] = values[7, 1] = np.nan
    source = aligned(count_blocks(counts), arrays_of([bits]), arrays_of([values]))
    return source, (counts, bits, values), ["counts", "binary", "gaussian"]


def test_views_are_summed_up():
    source, (counts, bits, values), kinds = mixed_views()
    found = summarise_views(source, kinds)
    assert [view.kind for view in found] == kinds
    assert found[0].is_counts
    assert found[0].totals.tolist() == counts.sum(axis=0).tolist()
    assert found[0].seen.tolist() == [(counts.sum(axis=1) > 0).sum()] * 3
    for view, rows in zip(found[1:], (bits, values)):
        assert view.seen.tolist() == (~np.isnan(rows)).sum(axis=0).tolist()
        assert np.allclose(view.mean, np.nanmean(rows, axis=0))
        assert np.allclose(view.variance, np.nanvar(rows, axis=0))
    features = features_of(found, 25)
    assert [view.kind for view in features] == ["counts", "values", "values"]
    assert (features[1].scale > 0).all()
    assert features[2].scale[3] == 1.0  # a column that does not vary keeps its unit


def test_views_are_parted_in_three_groups_of_about_as_many_columns():
    source, _, kinds = mixed_views()
    features = features_of(summarise_views(aligned(source, source), kinds * 2), 25)
    groups = three_groups(features)
    assert sorted(view.view for group in groups for view in group) == list(range(6))
    sizes = [sum(view.n_features for view in group) for group in groups]
    assert max(sizes) - min(sizes) <= max(view.n_features for view in features)
    assert all([view.view for view in group] == sorted(view.view for view in group) for group in groups)


def test_emissions_of_given_means_are_kept_from_zeros():
    source, _, kinds = mixed_views()
    counts, bits, values = summarise_views(source, kinds)
    shown = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    exact = emission_of(shown, counts, smoothing=0.1, softening=0.0)
    assert isinstance(exact, Multinomial)
    assert np.allclose(exact.probabilities, [[1, 0, 0], [0, 0, 1]])
    soft = emission_of(shown, counts, smoothing=0.1, softening=0.05)
    assert (soft.probabilities > 0).all()
    assert np.allclose(soft.probabilities.sum(axis=1), 1)
    bernoulli = emission_of(np.array([[1.4, -0.2]]), bits, smoothing=0.0, softening=0.0)
    assert isinstance(bernoulli, Bernoulli)
    assert bernoulli.probabilities.tolist() == [[1.0, 0.0]]
    gaussian = emission_of(np.zeros((2, 4)), values, smoothing=0.0, softening=0.05)
    assert isinstance(gaussian, Gaussian)
    assert (gaussian.variances > 0).all()


SEQUENCES = make_hmm(6, 50, 4, 2, emission="multinomial", trials=5)


def test_rows_of_sequences_are_summed_up():
    for rows in (SEQUENCES.X.astype(float), RNG.standard_normal((300, 3))):
        blocks = count_blocks(rows) if rows.min() >= 0 else signal_blocks(rows)
        found = summarise_rows(sequences_of(blocks, np.full(6, 50)))
        assert np.allclose(found.mean, rows.mean(axis=0))
        assert np.allclose(found.variance, rows.var(axis=0))
        assert np.allclose(found.totals, rows.sum(axis=0))


def test_states_show_what_all_rows_show_before_anything_is_known():
    rows = SEQUENCES.X.astype(float)
    summary = summarise_rows(sequences_of(count_blocks(rows), np.full(6, 50)))
    shares = first_emission("multinomial", summary, 3, 0.1)
    assert np.allclose(shares.probabilities, rows.sum(axis=0) / rows.sum())
    assert isinstance(first_emission("poisson", summary, 2, 0.0), Poisson)
    gaussian = first_emission("gaussian", summary, 2, 0.0)
    assert np.allclose(gaussian.means, rows.mean(axis=0))
    assert np.allclose(gaussian.variances, rows.var(axis=0))


def test_rare_symbols_have_no_feature_of_their_own(monkeypatch):
    rows = SEQUENCES.X.astype(float)
    summary = summarise_rows(sequences_of(count_blocks(rows), np.full(6, 50)))
    assert row_features("multinomial", summary).chosen is None
    monkeypatch.setattr(chains, "MOST_SYMBOLS", 2)
    features = row_features("multinomial", summary)
    assert features.chosen.tolist() == sorted(np.argsort(-rows.sum(axis=0), kind="stable")[:2].tolist())
    blank = first_emission("multinomial", summary, 2, 0.0)
    means = np.array([[0.3, 0.6], [0.7, 0.4], [1.0, 1.0]])  # of the two features in two states, and the constant
    found = shown_by(means, features, blank, softening=0.0).probabilities
    common = blank.probabilities[0]
    rest = np.setdiff1d(range(4), features.chosen)
    assert np.allclose(found[:, rest], common[rest])
    assert np.allclose(found[:, features.chosen], means[:2].T * (1 - common[rest].sum()))
    assert np.allclose(found.sum(axis=1), 1)


def test_transitions_come_out_of_what_states_show_now_and_next():
    A = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    now = np.vstack([RNG.dirichlet(np.ones(5), 3).T, np.ones((1, 3))])
    weights = np.array([0.4, 0.4, 0.2])
    for future in (now @ A.T, np.vstack([now @ A.T, now @ A.T @ A.T])):
        moments = three_views_population(weights, now, future, now)
        found = transitions_of(Classes(weights, (now, future, now), np.ones(3), 0.0), moments)
        assert np.allclose(found, A, atol=1e-8)


@pytest.mark.parametrize(
    ("length", "window"),
    [(2, None), (8, 5)],
)
def test_sequences_shorter_than_a_window_are_told(length, window):
    rows = np.eye(3)[RNG.integers(0, 3, 40 * length)]
    source = sequences_of(count_blocks(rows), np.full(40, length))
    features = row_features("categorical", summarise_rows(source))
    found, size, said = choose_window(source, features, 2, window)
    assert (found, size, said) == (None, 0, "no sequence has as many rows as a window")


def test_rows_that_tell_no_states_apart_are_told():
    rows = np.eye(3)[np.zeros(4000, int)]
    source = sequences_of(count_blocks(rows), np.full(40, 100))
    found, _, said = choose_window(source, row_features("categorical", summarise_rows(source)), 2, None)
    assert found is None
    assert said == "neighbouring rows do not tell 2 states apart"
    turns = np.eye(3)[np.tile([0, 1], 2000)]  # what comes next is known for sure
    source = sequences_of(count_blocks(turns), np.full(40, 100))
    found, size, said = choose_window(source, row_features("categorical", summarise_rows(source)), 2, None)
    assert (size, said) == (1, "")
    assert found is not None


def test_seeds_of_a_chain_are_a_chain():
    rows = SEQUENCES.X.astype(float)
    source = sequences_of(count_blocks(rows), np.full(6, 50))
    summary = summarise_rows(source)
    blank = first_emission("multinomial", summary, 2, 0.01)
    found = chain_from_seeds(source, row_features("multinomial", summary), blank, 2, neighbours=0.5, squares=True)
    assert found.start.sum() == pytest.approx(1.0)
    assert np.allclose(found.transitions.sum(axis=1), 1)
    assert (found.transitions > 0).all()
    assert (found.emission.probabilities > 0).all()


def test_seeds_tell_states_by_their_variances_or_by_their_neighbours():
    rng = np.random.default_rng(5)
    states = np.repeat(rng.integers(0, 2, 100), 20)  # they last for long
    wide = (1 + 9 * states)[:, None] * rng.standard_normal((2000, 3))
    apart = states[:, None] * 1.2 + rng.standard_normal((2000, 3))

    def found(rows, **options):
        source = sequences_of(signal_blocks(rows), np.array([2000]))
        summary = summarise_rows(source)
        blank = first_emission("gaussian", summary, 2, 0.01)
        return chain_from_seeds(source, row_features("gaussian", summary), blank, 2, **options)

    by_variance, by_value = (found(wide, neighbours=0.0, squares=squares).emission for squares in (True, False))
    assert np.ptp(by_variance.variances[:, 0]) > 2 * np.ptp(by_value.variances[:, 0])
    alone, together = (found(apart, neighbours=weight, squares=False).transitions for weight in (0.0, 1.0))
    assert np.diag(together).min() > np.diag(alone).max()  # of 0.95, the truth


def test_values_are_started_from_three_kinds_of_groups():
    source = sequences_of(signal_blocks(RNG.standard_normal((60, 2))), np.array([30, 30]))
    options = {"start": "seeds", "window": None, "smoothing": 0.01, "softening": 0.0}
    starts = chains.chain_starts(source, "gaussian", summarise_rows(source), 2, **options)[0]
    assert list(starts) == ["seeds", "seeds of rows", "seeds of neighbours"]
    assert len({chain.transitions.tobytes() for chain in starts.values()}) == 3


def test_a_start_that_a_user_gives_is_made_orthogonal():
    whitening = SignalWhitening(RNG.standard_normal((3, 3)), np.zeros(3))
    Q = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
    found = start_of_user(Q @ whitening.whitener, whitening)
    assert np.allclose(found.rotation, Q)
    skewed = start_of_user(RNG.standard_normal((3, 3)), whitening).rotation
    assert np.allclose(skewed @ skewed.T, np.eye(3))
    assert found.statistics == "given"
    for bad in (np.eye(2), np.full((3, 3), np.nan)):
        with pytest.raises(ValueError, match="w_init must be K x M, here 3 x 3, without missing values"):
            start_of_user(bad, whitening)
    with pytest.raises(ValueError, match="w_init has rows that depend on each other"):
        start_of_user(np.ones((3, 3)), whitening)
