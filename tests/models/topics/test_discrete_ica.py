"""DiscreteICA: shapes and rates of the intensities, generalised covariances, and what it says of lengths."""

import copy
import warnings

import numpy as np
import pytest

from oracles import generalised_s_covariance
from polyad import DiscreteICA
from polyad.datasets import make_discrete_ica, make_gamma_poisson, make_lda
from polyad.engine import count_blocks
from polyad.inference.heldout import completion_log_likelihood, split_tokens
from polyad.metrics import l1_error, match_rows
from polyad.models import NoiseWarning, UndeterminedWarning
from polyad.models.recipes import own_prior
from polyad.moments import discrete_ica_moments, discrete_ica_population
from polyad.moments.counts.generalised_ica import generalised_ica_moments
from polyad.moments.counts.source_cumulants import source_cumulants


def own_rates(n_documents, seed=0, scale=1.0):
    """Three topics of which one is rare and large, one frequent and small."""
    shapes, rates = np.array([0.2, 1.0, 0.5]), scale * np.array([0.005, 0.05, 0.02])
    rng = np.random.default_rng(seed)
    topics = np.random.default_rng(9).dirichlet(np.full(60, 0.1), 3)
    intensities = rng.gamma(shapes, 1 / rates, size=(n_documents, 3))
    return rng.poisson(intensities @ topics), topics, shapes, rates, intensities


def matched(model, topics):
    return match_rows(model.components_, topics)


@pytest.mark.parametrize("law", ["poisson", "fixed"])
def test_lengths_without_a_spread_are_told_and_the_total_survives(law):
    """A total of 129,507 was found for 1, from a variance less a mean that were the same but for noise."""
    lengths = np.random.default_rng(0).poisson(100, 2000) if law == "poisson" else 100
    sample = make_lda(2000, 300, 5, length=lengths, prior=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndeterminedWarning)
        with pytest.warns(UserWarning, match="lengths of the documents vary less") as caught:
            model = DiscreteICA(5).fit(sample.counts)
    assert caught[0].filename == __file__, "the warning points at the caller"
    assert 0.75 < model.doc_topic_prior_.sum() < 1.25
    shares = model.transform(sample.counts)
    true = sample.intensities / sample.intensities.sum(axis=1, keepdims=True)
    error = ((shares[:, matched(model, sample.components)] - true) ** 2).sum()
    mean = ((true - true.mean(axis=0)) ** 2).sum()
    assert error < 0.7 * mean, "shares were no better than their mean"


@pytest.mark.parametrize("prior", [0.04, 0.2, 1.0])
def test_the_total_is_found_where_the_model_holds(prior):
    sample = make_gamma_poisson(6000, 300, 5, mean_length=100.0, prior=prior)
    model = DiscreteICA(5).fit(sample.counts)
    assert 0.75 < model.doc_topic_prior_.sum() / (5 * prior) < 1.25
    assert 0.75 < model.rate_ / sample.rate < 1.25
    assert np.array_equal(model.rates_, np.full(5, model.rate_))
    lengths = np.asarray(sample.counts.sum(axis=1)).ravel()  # where pairs agree, the spread of the lengths decides
    expected = lengths.mean() ** 2 / (lengths.var(ddof=1) - lengths.mean())
    assert np.isclose(model.doc_topic_prior_.sum(), expected, rtol=1e-3)


def test_lengths_with_a_heavy_tail_do_not_decide():
    """Lengths that vary far more than the intensities make them: the total is what pairs of words tell."""
    lengths = np.random.default_rng(0).lognormal(4.0, 1.5, 4000).astype(int) + 3
    sample = make_lda(4000, 200, 4, length=np.minimum(lengths, 20_000), prior=0.5)
    excess = lengths.var() - lengths.mean()
    assert lengths.mean() ** 2 / excess < 0.3, "what the lengths say by themselves"
    assert 1.5 < DiscreteICA(4).fit(sample.counts).doc_topic_prior_.sum() < 2.5


def test_polishing_begins_with_the_total_of_the_values_or_that_of_the_lengths(monkeypatch):
    sample = make_gamma_poisson(1500, 100, 3, mean_length=80.0, prior=0.5)
    seen = []
    monkeypatch.setattr(own_prior, "better_of", lambda owns, usual, some: seen.extend(owns) or owns[0])
    DiscreteICA(3).fit(sample.counts)
    lengths = sample.counts.sum(axis=1)
    by_values, by_lengths = (begun.prior.sum() for begun in seen)
    assert np.isclose(by_lengths, lengths.mean() ** 2 / (lengths.var(ddof=1) - lengths.mean()), rtol=1e-3)
    assert np.isclose(by_values, own_prior.total_of_shapes(seen[0].start.values, seen[0].prior / by_values), rtol=1e-8)
    assert np.isclose(by_values, 1.5, rtol=0.3)


def test_half_a_document_is_half_of_the_evidence():
    X = own_rates(500, scale=10.0)[0]
    model = DiscreteICA(3, rates="own", polish="off").fit(X)
    weights = 1 / (0.5 + model.rates_)
    found, n_tokens = completion_log_likelihood(model.components_, model.doc_topic_prior_, X, weights=weights)
    assert model.score(X) == pytest.approx(found / n_tokens, rel=1e-12)


def test_rates_of_their_own():
    X, topics, shapes, rates, _ = own_rates(8000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        shared = DiscreteICA(3, normalize=False).fit(X)
    own = DiscreteICA(3, normalize=False, rates="own").fit(X)
    order = matched(own, topics)
    assert np.abs(own.doc_topic_prior_[order] / shapes - 1).max() < 0.15
    assert np.abs(own.rates_[order] / rates - 1).max() < 0.15
    new, _, _, _, true = own_rates(2000, seed=1)

    def error(model):
        return np.mean((model.transform(new)[:, matched(model, topics)] - true) ** 2)

    assert error(own) < 0.985 * error(shared), "the truth has .973 of it"
    truth = copy.copy(own)
    truth.components_, truth.doc_topic_prior_ = topics, shapes
    truth.topic_shares_, truth.rate_ = shapes / rates / (shapes / rates).sum(), shapes.sum() / (shapes / rates).sum()
    assert error(own) < 1.02 * error(truth)
    exact = np.linalg.lstsq(topics.T, new.T.astype(float), rcond=None)[0].T
    assert error(own) < np.mean((exact - true) ** 2), "the posterior is better than least squares"


def test_own_rates_predict_short_documents_better():
    X, new = (own_rates(N, seed, scale=10.0)[0] for seed, N in ((0, 8000), (1, 4000)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        shared, own = (DiscreteICA(3, polish="off", rates=rates).fit(X).score(new) for rates in ("shared", "own"))
    assert own > shared + 0.002


@pytest.mark.filterwarnings("ignore:These documents do not tell the total")  # few documents
def test_intensities_are_the_fixed_point_of_their_posterior():
    X, *_ = own_rates(300)
    model = DiscreteICA(3, normalize=False, rates="own").fit(X)
    found = model.transform(X[:5])
    for x, alpha in zip(X[:5], found):
        expected = alpha / alpha.sum()
        for _ in range(400):
            p = expected @ model.components_
            tokens = expected * (model.components_ @ np.divide(x, p, out=np.zeros_like(p), where=p > 0))
            expected = (model.doc_topic_prior_ + tokens) / (model.rates_ + 1)
        assert np.allclose(alpha, expected, rtol=0.02, atol=0.3)
    shares = model.set_params(normalize=True).transform(X[:5])
    assert np.allclose(shares, found / found.sum(axis=1, keepdims=True), rtol=1e-6)


def test_completion_with_weights_of_topics():
    rng = np.random.default_rng(0)
    topics, prior = rng.dirichlet(np.ones(12), 3), np.array([0.5, 1.0, 0.3])
    X, weights = rng.poisson(2.0, (20, 12)), np.array([4.0, 1.0, 2.0])
    plain = completion_log_likelihood(topics, prior, X)
    assert completion_log_likelihood(topics, prior, X, weights=np.full(3, 0.7)) == pytest.approx(plain, rel=1e-5)
    observed, hidden = split_tokens(X)
    expected = 0.0
    for x, y in zip(observed.toarray(), hidden.toarray()):
        t = prior / prior.sum()
        for _ in range(20):
            p = (t * weights) @ topics
            t = prior + t * weights * (topics @ (x / p))
            t /= t.sum()
        shares = t * weights / (t @ weights)
        expected += y @ np.log(shares @ topics)
    found, n_tokens = completion_log_likelihood(topics, prior, X, weights=weights)
    assert n_tokens == hidden.sum()
    assert found == pytest.approx(expected, rel=2e-3)


def test_cumulants_of_sources_come_back():
    topics = np.random.default_rng(0).dirichlet(np.ones(9), 4)
    cumulants = np.random.default_rng(1).uniform(0.5, 2.0, (3, 4))
    assert np.allclose(source_cumulants(discrete_ica_population(topics, *cumulants), topics), cumulants, atol=1e-8)


def test_generalised_slices_are_differences_of_generalised_covariances():
    X = np.random.default_rng(0).poisson(1.5, (30, 6)) * np.random.default_rng(1).integers(1, 3, (30, 1))
    W, step = np.random.default_rng(2).standard_normal((2, 6)) * 0.3, 0.4
    found = generalised_ica_moments(count_blocks(X), step).third(W)
    for p in range(2):
        size = np.sqrt(1 + (W[p] ** 2 * X.mean(axis=0)).sum())
        t = step * W[p] / size
        difference = generalised_s_covariance(X, t) - generalised_s_covariance(X, -t)
        assert np.allclose(found[p], W @ difference @ W.T * size / (2 * step), atol=1e-10)


def test_generalised_covariances_tend_to_the_third_cumulant():
    sample = make_gamma_poisson(500, 20, 2, prior=1.0)
    blocks, W = count_blocks(sample.counts), np.random.default_rng(0).standard_normal((2, 20)) * 0.02
    third = discrete_ica_moments(blocks).third(W)
    near, nearer = (np.abs(generalised_ica_moments(blocks, step).third(W) - third).max() for step in (0.1, 0.01))
    assert nearer < 0.02 * np.abs(third).max()
    assert nearer < near


def test_generalised_statistics_recover_topics():
    errors = []
    for N in (2000, 32_000):
        sample = make_gamma_poisson(N, 100, 4, mean_length=100.0, prior=0.3)
        model = DiscreteICA(4, statistics="generalised", polish="off").fit(sample.counts)
        errors.append(l1_error(model.components_, sample.components))
    assert errors[1] < 0.55 * errors[0]
    assert errors[1] < 0.05


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DiscreteICA(2, statistics="odd"), "statistics is 'odd'; give one of 'cumulants', 'generalised'"),
        (DiscreteICA(2, rates="odd"), "rates is 'odd'; give one of 'shared', 'own'"),
        (DiscreteICA(2, statistics="generalised", step=0.0), "step is 0.0"),
        (DiscreteICA(2, statistics="generalised", method="svtd"), "no word rows"),
        (DiscreteICA(2, statistics="generalised", method="power"), "needs a symmetric"),
    ],
)
def test_bad_parameters_are_a_sentence(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(make_gamma_poisson(300, 20, 2).counts)


@pytest.mark.filterwarnings("ignore:These documents do not tell the total")  # of another law
def test_sources_of_another_law_are_recovered():
    """Intensities that are not gamma: the topics are found all the same."""
    errors = []
    for N in (1000, 16_000):
        sample = make_discrete_ica(
            lambda rng, n, k: rng.choice([0.0, 10.0, 120.0], p=[0.6, 0.2, 0.2], size=(n, k)), N, 100, 4
        )
        errors.append(l1_error(DiscreteICA(4, polish="off").fit(sample.counts).components_, sample.components))
    assert errors[1] < 0.4 * errors[0] < 0.1


def test_lengths_and_pairs_that_differ_are_told():
    """One giant: pairs of words tell a total of about a half of what lengths tell."""
    shares = np.array([15.0, 0.25, 0.25, 0.25, 0.25]) / 16
    sample = make_gamma_poisson(32_000, 300, 5, mean_length=100.0, prior=20 * shares, random_state=1)
    with pytest.warns(NoiseWarning, match="by the lengths of the documents"):
        DiscreteICA(5, polish="off").fit(sample.counts)
