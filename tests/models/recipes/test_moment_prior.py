"""The prior that the moments tell: exact input, and what users give."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from polyad import LDA, DiscreteICA
from polyad.datasets import make_gamma_poisson, make_lda
from polyad.decompose import jacobi, polyadic, polyadic_decomposition, whiten
from polyad.engine import count_blocks, ordered_by_content, resident
from polyad.inference import completion_bits
from polyad.inference.polish import polish as run_passes
from polyad.inference.presets import PRESETS
from polyad.metrics import l1_error, match_rows
from polyad.models import NoiseWarning
from polyad.models.recipes import moment_prior
from polyad.models.recipes.dirichlet import as_far_as_words_say, polish_topics, reach
from polyad.models.recipes.moment_prior import WhitenedMoments, start_at_usual_total
from polyad.models.recipes.moment_start import FLOOR_SHARE, LENGTH_POWER, SummedCounts, start_from_moments
from polyad.models.recipes.own_prior import (
    begin,
    begin_with_total,
    document_shares,
    floor_share,
    total_of_shapes,
    warn_of_total,
)
from polyad.models.recipes.predicted_total import (
    BIAS_OF_ONE,
    FURTHEST,
    LEAST_BIAS,
    Opinion,
    agreed,
    predicted_total,
)
from polyad.models.topics.base import in_tokens
from polyad.moments import RawMoments, SymmetricMoments, discrete_ica_population, raw_moments, summarise_counts
from polyad.moments.counts.concentration import estimate_concentration, total_error
from polyad.moments.counts.weights import effective_documents

GIANT = np.array([3, 0.05, 0.05, 0.05, 0.05])


def raw_population(topics, prior):
    """Raw moments of three words of a document, from the moments of a Dirichlet, entry by entry."""
    K, c0 = prior.size, prior.sum()
    second, third = np.zeros((K, K)), np.zeros((K, K, K))
    for i in range(K):
        for j in range(K):
            second[i, j] = prior[i] * (prior[j] + (i == j)) / (c0 * (c0 + 1))
            for k in range(K):
                last = prior[k] + (k == i) + (k == j)
                third[i, j, k] = second[i, j] * last / (c0 + 2)
    cube = np.einsum("ijk,ia,jb,kc->abc", third, topics, topics, topics, optimize=True)

    def whitened(whitener, images=None):
        return np.einsum("abc,ia,jb,kc->ijk", cube, whitener, whitener, whitener, optimize=True)

    def moments(words):
        return SymmetricMoments(
            (prior / c0) @ topics, aslinearoperator(topics.T @ second @ topics), whitened, lambda _: None, moments
        )

    pairs = topics.T @ second @ topics
    return RawMoments(moments(None), lambda directions: ((directions @ pairs) * directions).sum(axis=1), 0)


def corpus_of(X):
    source = ordered_by_content(count_blocks(X))
    return SummedCounts(source, summarise_counts(source))


@pytest.mark.parametrize(
    "prior", [np.full(4, 0.05), np.full(4, 1.25), np.full(4, 5.0), np.array([3.0, 0.1, 0.2, 0.4])], ids=str
)
def test_exact_moments_tell_the_total_and_the_topics(prior):
    topics = np.random.default_rng(0).dirichlet(np.full(30, 0.3), 4)
    corpus = corpus_of(make_lda(50, components=topics, length=100, prior=1.0).counts)
    _, own = start_at_usual_total(raw_population(topics, prior), corpus, 4, "jacobi", 2.0)
    assert own.sides().is_sharp
    assert np.isclose(own.total, prior.sum(), rtol=0.06)
    exact = own.start(prior.sum()).topics
    assert np.allclose(exact[match_rows(exact, topics)], topics, atol=1e-8)
    other = own.start(3 * prior.sum()).topics
    assert l1_error(other, topics) > 1e-3, "another total gives other topics"


def test_the_edge_of_the_space_does_not_matter(monkeypatch):
    """Four topics are asked for of twelve: a soft edge lets in more, and the total is told as with a sharp one."""
    corpus = corpus_of(make_lda(2000, 150, 12, length=60, prior=1.0, random_state=0).counts)
    raw, tensors = raw_moments(corpus.source, "length"), []

    def recorded(tensor, **options):
        tensors.append(tensor)
        return jacobi(tensor, **options)

    _, soft = start_at_usual_total(raw, corpus, 4, recorded, 2.0)
    monkeypatch.setattr(polyadic, "whiten", lambda *args, soft_edge, **options: whiten(*args, **options))
    _, sharp = start_at_usual_total(raw, corpus, 4, recorded, 2.0)
    assert [len(tensor) for tensor in tensors] == [5, 4, 4]
    assert np.isclose(soft.total, sharp.total, rtol=1e-6)
    for c0 in (0.5, soft.total):
        one, other = soft.start(c0), sharp.start(c0)
        order = match_rows(one.topics, other.topics)
        assert np.allclose(one.topics[order], other.topics, atol=1e-8)
        assert np.allclose(one.certainty[order], other.certainty, atol=1e-6)


def test_exact_cumulants_tell_the_total_of_the_shapes():
    topics = np.random.default_rng(0).dirichlet(np.full(30, 0.3), 5)
    found = polyadic_decomposition(
        discrete_ica_population(topics, GIANT / 2, GIANT / 4, 2 * GIANT / 8), 5, method=partial(jacobi)
    )
    order = match_rows(found.components / found.components.sum(axis=1, keepdims=True), topics)
    assert np.isclose(total_of_shapes(found.values[order], GIANT / GIANT.sum()), 3.2, rtol=1e-8)


@pytest.mark.parametrize("total", [0.1, 1.0, 5.0, 20.0])
def test_a_sample_tells_its_total(total):
    sample = make_lda(8000, 200, 4, length=80, prior=total / 4, random_state=1)
    fitted = LDA(4, polish="off").fit(sample.counts)
    assert np.isclose(fitted.doc_topic_prior_.sum(), total, rtol=0.25)
    # Below one the third moment hardly tells it, and words tell it in steps of half an octave.
    assert np.isclose(fitted.diagnostics_.concentration, total, rtol=0.25 if total >= 1 else 0.35)


@pytest.mark.parametrize("law", ["fixed", "heavy tail"])
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_the_total_of_a_giant_is_near_or_a_warning_says_that_it_is_not(law, seed):
    """With heavy-tailed lengths 2,000 documents told from 1.2 to 5.9 for 3.2, without a word."""
    rng = np.random.default_rng(seed + 100)
    length = 100 if law == "fixed" else np.clip(rng.pareto(1.5, 2000) * 40, 5, 5000).astype(int)
    sample = make_lda(2000, 300, 5, length=length, prior=GIANT, random_state=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        total = LDA(5, polish="off").fit(sample.counts).doc_topic_prior_.sum()
    is_warned = any("do not tell the total of the prior well" in str(each.message) for each in caught)
    assert is_warned or np.isclose(total, 3.2, rtol=0.25)
    assert is_warned or law == "fixed"


def test_totals_that_agree_pass_without_a_word():
    flat = np.full(5, 0.9)
    by = ("triples of words", "prediction", "pairs")
    warn_of_total(flat, 0.03, dict(zip(by, (4.0, 5.0, 4.5))))
    for told in ((1.2, 3.0, 3.0), (3.0, 1.2, 3.0), (3.0, 3.0, 1.2)):
        with pytest.warns(NoiseWarning, match="do not tell the total of the prior well"):
            warn_of_total(flat, 0.03, dict(zip(by, told)))
    with pytest.warns(NoiseWarning, match=r"1\.2 by triples of words, 3 by prediction, 5 by pairs"):
        warn_of_total(flat, 0.03, dict(zip(by, (1.2, 3.0, 5.0))))
    warn_of_total(flat, 0.03)
    with pytest.warns(NoiseWarning, match="standard error"):
        warn_of_total(GIANT, total_error(GIANT, 100.0))


@pytest.mark.parametrize("prior", [np.full(5, 0.2), GIANT, np.array([0.02, 0.05])])
def test_the_error_of_the_total_is_that_of_known_shares(prior):
    c0 = prior.sum()
    shares = np.random.default_rng(0).dirichlet(prior, (400, 500))
    spread = ((shares - prior / c0) ** 2).sum(axis=2).mean(axis=1)  # of samples of 500 documents
    expected = spread.std() / spread.mean() * (c0 + 1) / c0
    assert np.isclose(total_error(prior, 500.0), expected, rtol=0.12)


def test_documents_of_different_weights_are_worth_fewer():
    counts = np.diag([5, 5, 5, 20]) + 1
    lengths = counts.sum(axis=1)
    for weights, share in (("uniform", np.ones(4)), ("length", lengths * (lengths - 1)), (1.25, lengths**1.25)):
        expected = share.sum() ** 2 / (share**2).sum()
        assert np.isclose(effective_documents(count_blocks(counts), weights), expected)


@pytest.mark.parametrize("sure", [0.15, 1.0])
def test_words_have_a_say_in_a_total(sure, monkeypatch):
    """Two topics that go together: the third moment tells 1.1, and words are predicted better with 2.

    Its standard error is .23; words are heard where triples of words are as sure as that, too.
    """
    monkeypatch.setattr(moment_prior, "SURE", sure)
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(400, 0.1), 5)
    covariance = 2 * np.eye(5)
    covariance[0, 1] = covariance[1, 0] = 1.9
    shares = np.exp(rng.multivariate_normal(np.zeros(5), covariance, size=9000))
    shares /= shares.sum(axis=1, keepdims=True)
    corpus = summed(rng.multinomial(100, shares @ topics)[:8000])
    raw = raw_moments(corpus.source, LENGTH_POWER)
    _, own = start_at_usual_total(raw, corpus, 5, "power", 2.0)
    assert own.sides().is_sharp == (sure == 1.0)
    assert begin(raw, corpus, 5, "power", polished=False).concentration > 1.4 * own.total


def test_the_log_says_where_there_is_no_total(caplog):
    """Thirty topics of three hundred short documents: the third moment is noise."""
    told = make_lda(2000, 300, 5, length=100, prior=0.2).counts
    for counts, n_components, is_said in ((told, 5, False), (make_lda(300, 3000, 30, length=30).counts, 30, True)):
        caplog.clear()
        with caplog.at_level("INFO", logger="polyad"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LDA(n_components, polish="off").fit(counts)
        assert ("No total of a Dirichlet prior explains" in caplog.text) == is_said
        assert (model.diagnostics_.concentration == 2.0) == is_said


def told_by(sample):
    """The total that triples of words tell, and the start that it leads to."""
    corpus = summed(sample.counts)
    raw = raw_moments(corpus.source, LENGTH_POWER)
    _, own = start_at_usual_total(raw, corpus, 5, "power", 2.0)
    assert not own.sides().is_sharp
    return own.total, begin(raw, corpus, 5, "power", polished=False)


def test_prediction_hardly_lowers_a_wide_total():
    """Shares that are most probable predict best with half the total of a wide prior, or less."""
    by_triples, begun = told_by(make_lda(8000, 300, 5, length=100, prior=20 * GIANT / GIANT.sum(), random_state=21))
    opinions = {opinion.by: opinion.total for opinion in begun.opinions}
    assert opinions["triples of words"] == by_triples
    assert opinions["prediction"] < 0.8 * by_triples
    assert 0.85 * by_triples < begun.total < by_triples
    assert begun.total_error > 0.25


def test_prediction_tells_a_narrow_total():
    """Of one giant with dwarfs triples of words tell .41 and .34 for .1 and 1: nothing, by their own error."""
    for total in (0.1, 1.0):
        sample = make_lda(
            2000, 300, 5, length=100, prior=total * np.array([15, 0.25, 0.25, 0.25, 0.25]) / 16, random_state=1
        )
        by_triples, begun = told_by(sample)
        assert abs(np.log(by_triples / total)) > 0.7
        assert abs(np.log(begun.total / total)) < 0.35
        assert begun.total_error < 0.3
        assert np.isclose(begun.concentration, begun.total * (1 + begun.total_error / 2))
        assert np.isclose(begun.prior.sum(), begun.total)


def test_a_total_in_doubt_is_told_by_words_of_documents():
    """Bits of parts of documents are parabolas in the logarithm of the total, lowest at totals that differ."""
    lowest = np.log2(3.0 * np.array([0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.1, 1.2]))
    asked = []

    def bits(total):
        asked.append(total)
        return None if total > 40 else 9 + np.arange(8) + 0.01 * (np.log2(total) - lowest) ** 2

    found = predicted_total(bits, 0.5)
    assert found.total == pytest.approx(2.0 ** lowest.mean())
    chance = np.log(2) * np.sqrt(7 * np.var([np.delete(lowest, g).mean() for g in range(8)]))
    assert found.error == pytest.approx(np.hypot(chance, LEAST_BIAS + BIAS_OF_ONE * found.total))
    assert len(asked) == len(set(asked)) <= 8
    assert predicted_total(bits, 30.0, furthest=1.0).error == pytest.approx(np.log(2)), "nothing there to compare"
    assert predicted_total(lambda total: -np.full(8, np.log(total)), 1.0).total == 2.0**FURTHEST


def test_prediction_has_more_to_say_of_narrow_priors():
    assert agreed(2.0, 3.0) == 3.0
    assert 0.1 < agreed(1.0, 0.1) < 0.101
    assert 18 < agreed(20.0, 10.0) < 20
    assert not Opinion("pairs", 2.0, 0.3).contradicts(3.0)
    assert Opinion("pairs", 2.0, 0.3).contradicts(4.0)
    assert not Opinion("pairs", 2.0, 0.0).contradicts(2.6)


@pytest.mark.parametrize(("n_documents", "prior"), [(2000, 1.0), (8000, 1.0), (8000, 4.0), (2000, 0.2)])
def test_the_error_of_a_total_by_triples(n_documents, prior):
    """Over some samples the total errs as its standard error says, from a third of it to a half more."""
    found, errors = [], []
    for seed in range(6):
        corpus = summed(make_lda(n_documents, 300, 5, length=100, prior=prior, random_state=seed).counts)
        _, own = start_at_usual_total(raw_moments(corpus.source, LENGTH_POWER), corpus, 5, "power", 2.0)
        found.append(np.log(own.total / (5 * prior)))
        errors.append(own.sides().error)
    assert 0.3 < np.sqrt(np.mean(np.square(found))) / np.median(errors) < 1.5


def test_exact_pairs_tell_the_total():
    prior = np.array([1.5, 0.5, 0.3, 0.2])
    topics = np.random.default_rng(0).dirichlet(np.full(30, 0.3), 4)
    total, shares = estimate_concentration(raw_population(topics, prior), topics)
    assert np.isclose(total, 2.5, rtol=1e-8)
    assert np.allclose(shares, prior / 2.5, atol=1e-8)


def test_a_giant_with_dwarfs():
    """Polishing with a flat prior ended three times as far from the truth as it had begun."""
    sample = make_lda(5000, 400, 5, length=100, prior=GIANT)
    learn, judge = sample.counts[:4000], sample.counts[4000:]
    fits = {polish: LDA(5, polish=polish).fit(learn) for polish in ("off", "fast", "full", 20)}
    errors = {polish: l1_error(fit.components_, sample.components) for polish, fit in fits.items()}
    assert errors["off"] < 0.12
    for polish in ("fast", "full", 20):
        assert errors[polish] <= 1.1 * errors["off"]
    assert np.isclose(fits["fast"].doc_topic_prior_.sum(), 3.2, rtol=0.25)
    bits = {p: completion_bits(fit.components_, fit.doc_topic_prior_, judge) for p, fit in fits.items()}
    assert bits["fast"] < bits["off"] + 5e-4
    assert bits["fast"] < completion_bits(sample.components, GIANT, judge) + 0.006


def test_what_the_user_gives_helps():
    sample = make_lda(4000, 400, 5, length=100, prior=GIANT, random_state=3)
    given = {
        "total": LDA(5, concentration=3.2),
        "prior": LDA(5, doc_topic_prior=GIANT),
        "prior in another order": LDA(5, doc_topic_prior=GIANT[::-1]),
    }
    errors = {name: l1_error(model.fit(sample.counts).components_, sample.components) for name, model in given.items()}
    alone = l1_error(LDA(5).fit(sample.counts).components_, sample.components)
    assert max(errors.values()) < min(0.12, 1.1 * alone)
    assert errors["prior"] == errors["prior in another order"]


def summed(counts):
    return in_tokens(resident(ordered_by_content(count_blocks(counts))))


def test_a_given_total_reaches_the_moments_and_the_passes():
    sample = make_lda(1500, 120, 3, length=60, prior=[0.2, 0.3, 0.5])
    corpus = summed(sample.counts)
    raw = raw_moments(corpus.source, LENGTH_POWER)
    expected = start_from_moments(raw.at(6.0), corpus, 3, "power").with_background(corpus, floor_share(corpus))
    found = LDA(3, concentration=6.0, polish="off").fit(sample.counts)
    order = match_rows(found.components_, expected)
    assert np.allclose(found.components_[order], expected, atol=1e-12)
    assert np.isclose(found.doc_topic_prior_.sum(), 6.0)
    begun = begin_with_total(raw, corpus, 3, "power", 6.0)
    assert np.allclose(begun.prior, 6 * document_shares(expected, corpus.source))


@pytest.mark.parametrize("weights", ["uniform", "length", 0.5])
def test_weights_reach_the_moments(weights):
    lengths = np.clip(np.random.default_rng(0).pareto(1.5, 800) * 30, 5, 900).astype(int)
    counts = make_lda(800, 100, 3, length=lengths, prior=0.4).counts
    corpus = summed(counts)
    start = start_from_moments(raw_moments(corpus.source, weights).at(1.2), corpus, 3, "power")
    found = LDA(3, concentration=1.2, weights=weights, polish="off").fit(counts).components_
    expected = start.with_background(corpus, floor_share(corpus))
    assert np.allclose(found[match_rows(found, expected)], expected, atol=1e-12)


def test_words_say_how_far_topics_go():
    """All the way to topics that predict far better, and otherwise as far as they reach."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(40, 0.3), 3)
    corpus = summed(make_lda(400, components=truth, length=200, prior=[2.0, 0.7, 0.3]).counts)
    prior = np.array([2.0, 0.7, 0.3])
    far, near = ((1 - part) * truth + part / 40 for part in (0.3, 0.01))
    assert np.array_equal(as_far_as_words_say(far, truth, prior, corpus.source, corpus), truth)
    reached = reach(near, prior / 3, corpus.unigram)[:, None]
    assert reached.min() < 0.5
    found = as_far_as_words_say(near, truth, prior, corpus.source, corpus)
    assert np.allclose(found, near + reached * (truth - near), rtol=1e-12)


def test_a_topic_goes_as_far_as_its_share_allows():
    """Between the topics of the moments and those of the passes, by one number for each topic."""
    counts = make_lda(1500, 120, 3, length=60, prior=[2.0, 0.5, 0.2]).counts
    corpus = summed(counts)
    begun = begin_with_total(raw_moments(corpus.source, LENGTH_POWER), corpus, 3, "power", 2.7)
    whole = run_passes(corpus.source, begun.topics, begun.prior, preset=PRESETS["fast"], near=True).components
    part = reach(begun.topics, begun.prior / begun.prior.sum(), corpus.unigram)[:, None]
    found = polish_topics(corpus, begun.topics, begun.prior, None, PRESETS["fast"], near=True).components
    assert np.sort(part.ravel())[0] < 0.4
    assert part.max() == 1
    assert np.allclose(found, part * whole + (1 - part) * begun.topics, atol=1e-9)


@pytest.mark.parametrize("model", [LDA, DiscreteICA])
def test_a_given_prior_belongs_to_the_topics_by_their_shares(model):
    prior = np.array([0.1, 0.8, 0.2, 0.4])
    draw = make_lda if model is LDA else make_gamma_poisson
    sample = draw(3000, 200, 4, prior=prior, random_state=0)
    fitted = model(4, doc_topic_prior=prior).fit(sample.counts)
    assert np.array_equal(fitted.doc_topic_prior_, [0.8, 0.4, 0.2, 0.1]), "largest share first, as components_"
    order = match_rows(fitted.components_, sample.components)
    assert np.array_equal(fitted.doc_topic_prior_[order], prior)


def test_the_prior_is_in_proportions_of_documents():
    """Documents of one topic are ten times as long: it has most tokens, and no more than its part of the documents."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(100, 0.1), 3)
    own = rng.integers(0, 3, 3000)
    X = np.array([rng.multinomial(400 if k == 0 else 40, topics[k]) for k in own])
    fitted = LDA(3).fit(X)
    order = match_rows(fitted.components_, topics)
    found = fitted.doc_topic_prior_[order] / fitted.doc_topic_prior_.sum()
    assert np.allclose(found, np.bincount(own) / own.size, atol=0.02)
    assert fitted.topic_shares_[order][0] > 0.75
    assert np.allclose(document_shares(topics, count_blocks(X)), np.bincount(own) / own.size, atol=0.02)


def test_the_background_of_topics_fades_with_more_data():
    small, large = (corpus_of(make_lda(n, 200, 3, length=50).counts) for n in (20, 4000))
    assert floor_share(small) == FLOOR_SHARE
    assert np.isclose(floor_share(large), 2 * 200 / (4000 * 50))


def test_products_of_tensors_need_no_tensors():
    rng = np.random.default_rng(0)
    third = rng.standard_normal((6, 6, 6))
    third = sum(third.transpose(order) for order in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    moments = WhitenedMoments(1.5, rng.standard_normal(6), rng.standard_normal(6), third)
    tensors = [third, moments._pairs, moments._cube]
    expected = [[np.vdot(a, b) for a in tensors] for b in tensors]
    assert np.allclose(moments.products(), expected, rtol=1e-12)
