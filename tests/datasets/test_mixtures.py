"""Samplers of mixtures, chains, factors and signals: samples have the moments that their parameters say."""

import numpy as np
import pytest
from scipy import sparse, stats

from polyad.datasets import (
    make_hmm,
    make_ica,
    make_independent_factors,
    make_multiview_mixture,
    make_spherical_mixture,
)
from polyad.datasets.mixtures import drawn_weights
from polyad.datasets.signals import SOURCES, draw_sources

N = 20_000


def test_points_have_the_weights_means_and_variances_of_their_components():
    sample = make_spherical_mixture(N, 4, 3)
    assert np.abs(np.bincount(sample.labels) / N - sample.weights).max() < 0.015
    for k in range(3):
        points = sample.X[sample.labels == k]
        assert np.abs(points.mean(axis=0) - sample.means[k]).max() < 0.06
        assert np.allclose(points.var(axis=0), sample.variances[k], rtol=0.06)
        off = np.corrcoef(points.T) - np.eye(4)
        assert np.abs(off).max() < 0.06


@pytest.mark.parametrize("separation", [1.0, 6.0])
def test_means_lie_as_far_apart_as_was_asked_for(separation):
    squares = []
    for seed in range(40):
        means = make_spherical_mixture(1, 30, 2, separation=separation, random_state=seed).means
        squares.append(((means[0] - means[1]) ** 2).sum())
    assert np.sqrt(np.mean(squares)) == pytest.approx(separation, rel=0.1)


def test_what_is_given_is_used_and_shared_variances_are_one():
    means, weights = np.eye(2, 3), [0.9, 0.1]
    sample = make_spherical_mixture(50, means=means, n_components=2, weights=weights, variances=0.0)
    assert np.array_equal(sample.X, means[sample.labels])
    assert sample.weights.tolist() == weights
    assert make_spherical_mixture(5, 3, 2, shared=True).variances.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("weights", [[0.5], [0.7, 0.7], [-0.5, 1.5], [[0.5, 0.5]]])
def test_weights_that_are_no_probabilities_are_told(weights):
    with pytest.raises(ValueError, match="give 2 probabilities that sum to 1"):
        drawn_weights(np.random.default_rng(0), 2, weights)


@pytest.mark.parametrize("emission", ["categorical", "multinomial", "poisson", "gaussian"])
def test_chains_move_and_show_as_they_should(emission):
    sample = make_hmm(8, 1000, 3, 2, emission=emission, stay=0.8, trials=7)
    states = sample.states.reshape(8, 1000)
    moves = np.zeros((2, 2))
    np.add.at(moves, (states[:, :-1].ravel(), states[:, 1:].ravel()), 1)
    assert np.abs(moves / moves.sum(axis=1, keepdims=True) - sample.transitions).max() < 0.03
    assert np.diag(sample.transitions).tolist() == [0.8, 0.8]
    shown = np.eye(3)[sample.X[:, 0]] if emission == "categorical" else sample.X
    for k in range(2):
        wanted = sample.emissions[k] * (7 if emission == "multinomial" else 1)
        rows = shown[sample.states == k]
        assert np.abs(rows.mean(axis=0) - wanted).max() < 5 * np.sqrt(rows.var(axis=0).max() / len(rows))
    if emission == "multinomial":
        assert (sample.X.sum(axis=1) == 7).all()


def test_first_states_and_lengths():
    sample = make_hmm(2000, (1, 4), 2, 3, start=[0.2, 0.5, 0.3])
    firsts = sample.states[np.concatenate([[0], np.cumsum(sample.lengths)])[:-1]]
    assert np.abs(np.bincount(firsts) / 2000 - [0.2, 0.5, 0.3]).max() < 0.03
    assert set(sample.lengths) == {1, 2, 3, 4}
    assert len(sample.X) == sample.lengths.sum()
    alone = make_hmm(1, 5, 2, 1)
    assert alone.transitions.tolist() == [[1.0]]
    with pytest.raises(ValueError, match="emission is 'gamma'; give 'categorical', 'multinomial', 'poisson' or"):
        make_hmm(emission="gamma")


def test_views_show_their_classes():
    kinds = ("counts", "binary", "gaussian", "categorical")
    sample = make_multiview_mixture(N, (5, 4, 3, 6), 2, kinds=kinds, length=9)
    assert sparse.issparse(sample.views[0])
    assert (sample.views[0].sum(axis=1) == 9).all()
    assert np.abs(np.bincount(sample.labels) / N - sample.weights).max() < 0.015
    for k in range(2):
        rows = sample.labels == k
        counts = np.asarray(sample.views[0].toarray()[rows].mean(axis=0)) / 9
        assert np.abs(counts - sample.components[0][k]).max() < 0.01
        assert np.abs(sample.views[1][rows].mean(axis=0) - sample.components[1][k]).max() < 0.03
        assert np.abs(sample.views[2][rows].mean(axis=0) - sample.components[2][k]).max() < 0.06
        shares = np.bincount(sample.views[3][rows, 0], minlength=6) / rows.sum()
        assert np.abs(shares - sample.components[3][k]).max() < 0.02


def test_missing_values_are_missing_at_random_and_counts_are_whole():
    sample = make_multiview_mixture(5000, (5, 4, 3), 2, kinds=("counts", "binary", "categorical"), missing=0.2)
    assert np.isfinite(sample.views[0].data).all()
    for view in sample.views[1:]:
        assert np.isnan(view).mean() == pytest.approx(0.2, abs=0.02)
    holes = np.isnan(sample.views[1]).any(axis=1)
    assert np.abs(np.bincount(sample.labels[holes]) / holes.sum() - sample.weights).max() < 0.04


def test_views_that_cannot_be_are_told():
    with pytest.raises(ValueError, match="There are 2 kinds and 3 numbers of columns"):
        make_multiview_mixture(n_features=(1, 2, 3), kinds=("binary", "binary"))
    with pytest.raises(ValueError, match="kinds has 'text'; the kinds are 'counts', 'categorical', 'binary' and"):
        make_multiview_mixture(kinds=("text", "binary", "binary"))


@pytest.mark.parametrize("factors", ["skewed", "kurtotic", "binary"])
@pytest.mark.parametrize("observation", ["gaussian", "poisson"])
def test_exchangeable_views_share_their_mean_and_nothing_else(factors, observation):
    sample = make_independent_factors(8000, 5, 2, n_views=2, factors=factors, observation=observation)
    X, Y = (view.toarray() if sparse.issparse(view) else view for view in sample.views)
    means = sample.factors @ sample.components
    scale = X.std(axis=0)
    assert (np.abs(X.mean(axis=0) - means.mean(axis=0)) < 0.05 * scale).all()
    left, right = X - means, Y - means
    correlations = (left * right).mean(axis=0) / (left.std(axis=0) * right.std(axis=0))
    assert np.abs(correlations).max() < 0.05
    skew = stats.skew(sample.factors, axis=0)
    kurtosis = stats.kurtosis(sample.factors, axis=0)
    if factors == "skewed":
        assert (skew > 1).all()
    elif factors == "kurtotic":
        assert (np.abs(skew) < 0.5).all()
        assert (np.abs(kurtosis) > 0.5).all()
    else:
        assert all(len(np.unique(column)) == 2 for column in sample.factors.T)
    if observation == "poisson":
        assert np.allclose(sample.components.sum(axis=1), 1)
        assert X.sum(axis=1).mean() == pytest.approx(50.0, rel=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factors": "gaussian"}, "factors is 'gaussian'; give one of 'skewed', 'kurtotic', 'binary'"),
        ({"observation": "any"}, "observation is 'any'; give 'gaussian' or 'poisson'"),
    ],
)
def test_factors_that_cannot_be_drawn_are_told(options, message):
    with pytest.raises(ValueError, match=message):
        make_independent_factors(10, **options)


@pytest.mark.parametrize("kind", SOURCES)
def test_sources_have_mean_0_and_variance_1(kind):
    values = draw_sources(np.random.default_rng(0), kind, 100_000, 2)
    assert np.abs(values.mean(axis=0)).max() < 0.015
    assert np.abs(values.var(axis=0) - 1).max() < 0.04
    skew, tails = stats.skew(values[:, 0]), stats.kurtosis(values[:, 0])
    wanted = {"super": (0.0, 3.0), "sub": (0.0, -1.2), "skewed": (2.0, 6.0), "gaussian": (0.0, 0.0)}[kind]
    assert skew == pytest.approx(wanted[0], abs=0.15)
    assert tails == pytest.approx(wanted[1], abs=0.7)


def test_mixtures_of_sources_have_the_condition_and_the_noise_that_were_asked_for():
    sample = make_ica(N, 6, 4, condition=8.0, noise=0.5, sources=("super", "sub"))
    assert np.linalg.cond(sample.mixing) == pytest.approx(8.0)
    assert np.array_equal(make_ica(10, 6, 4, condition=8.0, noise=0.5).mixing, sample.mixing)
    noise = sample.X - sample.sources @ sample.mixing.T
    assert np.allclose(np.cov(noise.T), sample.noise_covariance, atol=0.03 * np.trace(sample.noise_covariance))
    signal = (sample.mixing**2).sum() / 6
    assert np.trace(sample.noise_covariance) / 6 == pytest.approx(0.5 * signal)
    white = make_ica(10, 3, noise=0.1, correlated=False).noise_covariance
    assert np.allclose(white, white[0, 0] * np.eye(3))
    assert not make_ica(10, 3).noise_covariance.any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 9}, "9 sources in 5 features with the condition number 5 cannot be drawn"),
        ({"condition": 0.5}, "a condition number from 1 up"),
        ({"noise": -1.0}, r"noise is -1\.0; give a share of the variance from 0 up"),
        ({"noise": np.nan}, "noise is nan"),
        ({"sources": "loud"}, "sources is 'loud'; give one or several of 'super', 'sub', 'skewed', 'gaussian'"),
        ({"sources": ()}, r"sources is \(\)"),
        ({"mixing": [1.0, 2.0]}, r"mixing must be features x components; it has 1 dimension\(s\)"),
    ],
)
def test_signals_that_cannot_be_drawn_are_told(options, message):
    with pytest.raises(ValueError, match=message):
        make_ica(10, 5, **options)
