"""More data help: errors at sixteen times the rows are at most .55 of what they were."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from polyad import ICA, DiscreteCCA, DiscreteICA, MixedCCA, NonGaussianCCA
from polyad.datasets import (
    make_discrete_cca,
    make_discrete_ica,
    make_gamma_poisson,
    make_ica,
    make_mixed_cca,
    make_nongaussian_cca,
)
from polyad.engine import count_blocks, signal_blocks
from polyad.metrics import amari_distance, match_rows
from polyad.models import UndeterminedWarning
from polyad.models.recipes.cross import CrossOptions, paired, points_of
from polyad.moments.views.cross import cross_means

FEW, MANY, SEEDS = 2000, 32_000, 2


def mean_error(error, N):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndeterminedWarning)
        return np.mean([error(N, seed) for seed in range(SEEDS)])


def shrinks(error, few=FEW, many=MANY):
    return mean_error(error, many) <= 0.55 * mean_error(error, few)


# DiscreteICA: topics of the cumulants alone, as their own route to the parameters; polishing has tests of its own.


def cumulant_topics(sample, **options):
    """l1 error of the topics, without the one per cent of the corpus' own words that every topic gets."""
    model = DiscreteICA(len(sample.components), polish="off", **options).fit(sample.counts)
    rows = np.maximum(model.components_ - 0.01 * model.word_probabilities_, 0.0) / 0.99
    return np.abs(rows[match_rows(rows, sample.components)] - sample.components).sum(axis=1).mean() / 2


PRIORS = {
    "flat": np.full(5, 0.2),
    "skewed": np.array([0.6, 0.3, 0.2, 0.1, 0.05]),
    "sparse": np.full(5, 0.02),
    "wide": np.full(5, 1.0),
}


@pytest.mark.parametrize("prior", ["skewed", "sparse"])
def test_discrete_ica_topics(prior):
    def error(N, seed):
        return cumulant_topics(make_gamma_poisson(N, 150, 5, mean_length=100.0, prior=PRIORS[prior], random_state=seed))

    assert shrinks(error)


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("statistics", ["cumulants", "generalised"])
def test_discrete_ica_statistics(prior, statistics):
    def error(N, seed):
        sample = make_gamma_poisson(N, 150, 5, mean_length=100.0, prior=PRIORS[prior], random_state=seed)
        return cumulant_topics(sample, statistics=statistics)

    assert shrinks(error)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:These documents do not tell the total of the shapes")  # of another law than gamma
@pytest.mark.parametrize("statistics", ["cumulants", "generalised"])
@pytest.mark.parametrize("law", ["two values", "lognormal", "uniform"])
def test_discrete_ica_of_any_law(law, statistics):
    draw = {
        "two values": lambda rng, n, k: 60.0 * (rng.random((n, k)) < 0.3),
        "lognormal": lambda rng, n, k: rng.lognormal(2.0, 1.0, (n, k)),
        "uniform": lambda rng, n, k: 100 * rng.random((n, k)) ** 3,
    }[law]

    def error(N, seed):
        return cumulant_topics(make_discrete_ica(draw, N, 150, 5, random_state=seed), statistics=statistics)

    assert shrinks(error)


@pytest.mark.slow
@pytest.mark.parametrize("rates", ["shared", "own"])
def test_discrete_ica_shapes(rates):
    """The shapes and the rates, in relative error."""

    def error(N, seed):
        sample = make_gamma_poisson(N, 150, 4, mean_length=100.0, prior=[0.5, 0.4, 0.3, 0.2], random_state=seed)
        model = DiscreteICA(4, polish="off", rates=rates).fit(sample.counts)
        order = match_rows(model.components_, sample.components)
        return np.abs(model.doc_topic_prior_[order] / sample.prior - 1).mean()

    assert shrinks(error, many=64_000)
    assert mean_error(error, MANY) < 0.06


# ICA and the two-view models


@pytest.mark.parametrize(
    ("statistics", "sources"),
    [("third", "skewed"), ("fourth", "super"), ("fourth", "sub"), ("characteristic", "skewed"), ("auto", "super")],
)
def test_ica(statistics, sources):
    def error(N, seed):
        sample = make_ica(N, 4, sources=sources, random_state=seed)
        return amari_distance(ICA(4, statistics=statistics).fit(sample.X).components_, sample.mixing)

    assert shrinks(error)


def loading_error(model, sample):
    """Half of the l1 distance of matched loadings of both views, scaled to unit l1 norm, whatever their joint sign."""
    found = np.vstack([D / np.abs(D).sum(axis=0) for D in (model.x_loadings_, model.y_loadings_)]).T
    true = sample.loadings
    distances = np.minimum(np.abs(found[:, None] - true).sum(axis=2), np.abs(found[:, None] + true).sum(axis=2))
    return distances[linear_sum_assignment(distances)].mean() / 4


VIEWS = {
    "discrete": (make_discrete_cca, DiscreteCCA, {}),
    "mixed": (make_mixed_cca, MixedCCA, {}),
    "heavy tails": (make_nongaussian_cca, NonGaussianCCA, {}),
    "skewed": (make_nongaussian_cca, NonGaussianCCA, {"sources": "skewed", "private_sources": "gaussian"}),
    "light tails": (make_nongaussian_cca, NonGaussianCCA, {"sources": "sub", "private_sources": "gaussian"}),
}


@pytest.mark.parametrize("case", VIEWS)
def test_two_views(case):
    make, model, options = VIEWS[case]

    def error(N, seed):
        sample = make(N, (8, 9), 3, random_state=seed, **options)
        return loading_error(model(3).fit(sample.X, sample.Y), sample)

    assert shrinks(error)


@pytest.mark.slow
@pytest.mark.parametrize("statistics", ["third", "characteristic", "generalised"])
@pytest.mark.parametrize(("make", "model"), [(make_discrete_cca, DiscreteCCA), (make_mixed_cca, MixedCCA)])
def test_two_views_by_every_statistic(make, model, statistics):
    def error(N, seed):
        sample = make(N, (8, 9), 3, random_state=seed)
        return loading_error(model(3, statistics=statistics).fit(sample.X, sample.Y), sample)

    assert shrinks(error)


@pytest.mark.parametrize(
    ("statistics", "step"), [("generalised", None), ("generalised", 0.03), ("characteristic", 0.4)]
)
def test_the_step_reaches_the_processing_points(statistics, step):
    """The delta of eq. (46), over the mean size of an entry; or a step in standard deviations."""
    sample = make_mixed_cca(300, (5, 6), 2)
    options = CrossOptions(2, statistics, "jdtm", "auto", step, 0.6, None, False, True)
    source = paired(signal_blocks(sample.X), count_blocks(sample.Y))
    rng = np.random.default_rng(0)
    whitening = SimpleNamespace(x_whitener=rng.standard_normal((2, 5)), y_whitener=rng.standard_normal((2, 6)))
    points = points_of(source, whitening, cross_means(source), statistics, options)
    X, Y = sample.X, sample.Y.toarray()
    for view, W, found in ((X, whitening.x_whitener, points.x[:2]), (Y, whitening.y_whitener, points.y[2:])):
        if statistics == "generalised":
            expected = (0.1 if step is None else step) / np.abs(view).mean() * W
        else:
            expected = step * W / (view @ W.T).std(axis=0, ddof=1)[:, None]
        assert np.allclose(found, expected, rtol=1e-10)
    assert not points.x[2:].any()
    assert not points.y[:2].any()


def test_a_step_must_be_positive():
    sample = make_mixed_cca(300, (5, 6), 2)
    with pytest.raises(ValueError, match="step is 0"):
        MixedCCA(2, step=0.0).fit(sample.X, sample.Y)
