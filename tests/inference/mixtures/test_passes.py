"""Passes of EM for classes, points and chains: against the definitions, and never downhill."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from oracles import chain_by_enumeration, class_log_likelihood, gaussian_mixture_log_likelihoods
from polyad.datasets import make_hmm
from polyad.engine import aligned, count_blocks, signal_blocks
from polyad.engine.sequences import sequences_of
from polyad.inference.mixtures import chains, gaussian, passes
from polyad.inference.mixtures.chains import (
    Chain,
    chain_log_likelihood,
    chain_paths,
    chain_posterior,
    polish_chain,
    stationary,
)
from polyad.inference.mixtures.classes import ClassMixture, class_log_likelihoods, class_posterior, polish_classes
from polyad.inference.mixtures.emissions import Bernoulli, Gaussian, Multinomial, Poisson
from polyad.inference.mixtures.gaussian import (
    CovarianceRule,
    GaussianMixtureParameters,
    gaussian_log_densities,
    gaussian_posterior,
    polish_few,
    polish_gaussian,
    shares_and_evidence,
)

RNG = np.random.default_rng(0)
K, N = 2, 40


def test_shares_and_evidence_do_not_underflow():
    joint = np.array([[-1e4, -1e4 - np.log(3.0)], [0.0, -1e9]])
    shares, evidence = shares_and_evidence(joint.copy())
    assert np.allclose(shares, [[0.75, 0.25], [1.0, 0.0]])
    assert evidence[0] == pytest.approx(-1e4 + np.log(4 / 3))
    assert evidence[1] == 0.0


def three_views():
    counts = RNG.poisson(1.0, (N, 3)).astype(float)
    bits = RNG.integers(0, 2, (N, 2)).astype(float)
    values = RNG.standard_normal((N, 2))
    bits[3, 1] = values[5, 0] = np.nan
    source = aligned(count_blocks(counts), signal_or_nan(bits), signal_or_nan(values))
    return source, (counts, bits, values)


def signal_or_nan(rows):
    from polyad.engine.sources import arrays_of

    return arrays_of([rows])


def class_mixture():
    zeros = np.zeros(2)
    return ClassMixture(
        np.array([0.3, 0.7]),
        (
            Multinomial(RNG.dirichlet(np.ones(3), K)),
            Bernoulli(RNG.uniform(0.2, 0.8, (K, 2))),
            Gaussian(RNG.standard_normal((K, 2)), RNG.gamma(2.0, size=(K, 2)), zeros, zeros, zeros, 0.0),
        ),
    )


def test_likelihoods_and_posteriors_of_classes():
    source, views = three_views()
    mixture = class_mixture()
    shown = [mixture.emissions[0].probabilities, mixture.emissions[1].probabilities, mixture.emissions[2].means]
    spread = [None, None, mixture.emissions[2].variances]
    kinds = ["counts", "binary", "gaussian"]
    found = class_log_likelihoods(source, mixture)
    posterior = class_posterior(source, mixture)
    for n in range(N):
        row = [view[n] for view in views]
        assert found[n] == pytest.approx(class_log_likelihood(row, mixture.weights, shown, spread, kinds))
        alone = [
            class_log_likelihood(row, [mixture.weights[k]], [s[[k]] for s in shown],
                                 [None, None, spread[2][[k]]], kinds)
            for k in range(K)
        ]  # fmt: skip
        assert np.allclose(posterior[n], np.exp(np.array(alone) - found[n]))


def test_a_view_that_is_left_out_tells_nothing():
    source, _ = three_views()
    mixture = class_mixture()
    some = ClassMixture(mixture.weights, (None, mixture.emissions[1], None))
    only = ClassMixture(mixture.weights, (mixture.emissions[1],))
    alone = aligned(signal_or_nan(np.vstack([block.views[1] for block in source])))
    assert np.allclose(class_posterior(source, some), class_posterior(alone, only))
    nothing = ClassMixture(mixture.weights, (None, None, None))
    assert np.allclose(class_posterior(source, nothing), mixture.weights)


@pytest.mark.parametrize("prior", [0.0, 0.5])
def test_passes_of_classes_never_go_downhill_and_end(prior):
    source, _ = three_views()
    found = polish_classes(source, class_mixture(), max_iter=200, tol=1e-6, prior=prior)
    assert (np.diff(found.objective) >= -1e-10).all()
    assert found.converged
    few = polish_classes(source, class_mixture(), max_iter=2, tol=1e-7)
    assert not few.converged
    assert len(few.objective) == 2


def test_one_pass_of_classes_by_hand():
    source, views = three_views()
    mixture = class_mixture()
    posterior = class_posterior(source, mixture)
    found = polish_classes(source, mixture, max_iter=1, tol=0.0, prior=0.25)
    assert np.allclose(found.mixture.weights, (posterior.sum(axis=0) + 0.25) / (N + 0.5))
    expected = posterior.T @ views[0]
    assert np.allclose(found.mixture.emissions[0].probabilities, expected / expected.sum(axis=1, keepdims=True))
    logs = 0.25 * np.log(mixture.weights).sum()
    assert found.objective[0] == pytest.approx((class_log_likelihoods(source, mixture).sum() + logs) / N)


def test_classes_in_another_order():
    source, _ = three_views()
    mixture = class_mixture()
    assert np.allclose(class_posterior(source, mixture.taken([1, 0])), class_posterior(source, mixture)[:, [1, 0]])


POINTS = RNG.standard_normal((60, 3)) + 5.0


def parameters(kind):
    weights, means = np.array([0.4, 0.6]), POINTS[[3, 40]]
    covariances = {
        "spherical": RNG.gamma(2.0, size=2),
        "diag": RNG.gamma(2.0, size=(2, 3)),
        "full": np.stack([A @ A.T + np.eye(3) for A in RNG.standard_normal((2, 3, 3))]),
    }[kind]
    return GaussianMixtureParameters(weights, means, covariances)


def full(covariances):
    if covariances.ndim == 1:
        return np.stack([variance * np.eye(3) for variance in covariances])
    return np.stack([np.diag(row) for row in covariances]) if covariances.ndim == 2 else covariances


KINDS = ["spherical", "diag", "full"]


@pytest.mark.parametrize("kind", KINDS)
def test_densities_and_posteriors_of_points(kind):
    mixture = parameters(kind)
    found = gaussian_log_densities(signal_blocks(POINTS), mixture)
    wanted = gaussian_mixture_log_likelihoods(POINTS, mixture.weights, mixture.means, full(mixture.covariances))
    assert np.allclose(found, wanted)
    posterior = gaussian_posterior(signal_blocks(POINTS), mixture)
    for k, (weight, mean, covariance) in enumerate(zip(mixture.weights, mixture.means, full(mixture.covariances))):
        density = stats.multivariate_normal(mean, covariance).pdf(POINTS)
        assert np.allclose(posterior[:, k], weight * density / np.exp(found))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shared", [False, True])
def test_one_pass_over_points_by_hand(kind, shared):
    mixture, source = parameters(kind), signal_blocks(POINTS)
    posterior = gaussian_posterior(source, mixture)
    found = polish_gaussian(source, mixture, CovarianceRule(kind, shared, 0.01, None, 0.0), max_iter=1, tol=0.0).mixture
    counts = posterior.sum(axis=0)
    assert np.allclose(found.weights, counts / 60)
    means = posterior.T @ POINTS / counts[:, None]
    assert np.allclose(found.means, means)
    scatters = np.stack([(POINTS - m).T @ ((POINTS - m) * p[:, None]) for m, p in zip(means, posterior.T)])
    wanted = np.repeat(scatters.sum(axis=0)[None] / 60, 2, axis=0) if shared else scatters / counts[:, None, None]
    if kind == "spherical":
        wanted = np.trace(wanted, axis1=1, axis2=2) / 3 + 0.01
    elif kind == "diag":
        wanted = np.diagonal(wanted, axis1=1, axis2=2) + 0.01
    else:
        wanted = wanted + 0.01 * np.eye(3)
    assert np.allclose(found.covariances, wanted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("relaxed", [False, True])
def test_passes_over_points_never_go_downhill(kind, shared, relaxed):
    prior = {"spherical": 1.0, "diag": np.ones(3), "full": np.eye(3)}[kind]
    rule = CovarianceRule(kind, shared, 0.0, prior, 2.0)
    found = polish_gaussian(signal_blocks(POINTS), parameters(kind), rule, max_iter=40, tol=-1.0, relaxed=relaxed)
    assert (np.diff(found.objective) >= -1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_points_in_memory_are_polished_as_a_source_is(kind):
    rule, start = CovarianceRule(kind, False, 0.01, None, 0.0), parameters(kind)
    source = polish_gaussian(signal_blocks(POINTS), start, rule, max_iter=4, tol=-1.0)
    found, likelihood = polish_few(POINTS, start, rule, max_iter=4, tol=-1.0)
    assert np.allclose(found.means, source.mixture.means)
    assert np.allclose(found.covariances, source.mixture.covariances)
    assert likelihood == pytest.approx(gaussian_log_densities(signal_blocks(POINTS), found).sum())
    once = polish_few(POINTS, start, rule, max_iter=9, tol=1e9)[0]  # no later pass gains so much
    first = polish_gaussian(signal_blocks(POINTS), start, rule, max_iter=1, tol=0.0).mixture
    assert np.allclose(once.means, first.means)


def test_relaxed_passes_come_to_the_same_rest_in_fewer():
    rng = np.random.default_rng(4)
    points = rng.standard_normal((600, 2)) + np.repeat([[0.0, 0.0], [2.5, 0.0]], 300, axis=0)
    start = GaussianMixtureParameters(np.array([0.5, 0.5]), np.array([[0.9, 0.0], [1.4, 0.0]]), np.array([1.0, 1.0]))
    rule = CovarianceRule("spherical", False, 0.0, None, 0.0)
    plain, relaxed = (
        polish_gaussian(signal_blocks(points), start, rule, max_iter=2000, tol=1e-9, relaxed=further)
        for further in (False, True)
    )
    assert plain.converged
    assert relaxed.converged
    assert relaxed.objective[-1] > plain.objective[-1] - 1e-7
    assert np.allclose(relaxed.mixture.means, plain.mixture.means, atol=0.02)
    assert len(relaxed.objective) < 0.6 * len(plain.objective)


def test_a_component_that_dies_overflows_nowhere():
    """Weights of 1e-300 and less, stretched: no warning, and weights that add up to 1."""
    before = GaussianMixtureParameters(np.array([1.0, 1e-290]), POINTS[:2], np.array([1.0, 1.0]))
    after = GaussianMixtureParameters(np.array([1.0, 0.0]), POINTS[:2], np.array([1.0, 1e-8]))
    for pair in ((before, after), (after, before)):
        found = gaussian._stretched(*pair, 8.0)
        assert found.weights.sum() == pytest.approx(1.0)
        assert np.isfinite(found.covariances).all()


def test_points_that_a_component_lacks_leave_it_as_it_was():
    far = GaussianMixtureParameters(np.array([0.5, 0.5]), np.array([[5.0] * 3, [1e6] * 3]), np.array([1.0, 2.0]))
    rule = CovarianceRule("spherical", False, 0.0, None, 0.0)
    found = polish_gaussian(signal_blocks(POINTS), far, rule, max_iter=1, tol=0.0).mixture
    assert np.allclose(found.means[1], 1e6)
    assert found.covariances[1] == 2.0
    assert found.weights.tolist() == [1.0, 0.0]


SYMBOLS = 3
SIZES = np.array([4, 1, 3])
ROWS = np.eye(SYMBOLS)[RNG.integers(0, SYMBOLS, SIZES.sum())]


def chain():
    return Chain(
        np.array([0.6, 0.4]), np.array([[0.8, 0.2], [0.3, 0.7]]), Multinomial(RNG.dirichlet(np.ones(SYMBOLS), K))
    )


def source_of_sequences():
    return sequences_of(count_blocks(ROWS), SIZES, order="given")


def by_enumeration(model):
    start = 0
    for size in SIZES:
        densities = np.exp(model.emission.log_densities(ROWS[start : start + size]))
        yield chain_by_enumeration(densities, model.start, model.transitions)
        start += size


def test_chains_against_every_path():
    model, source = chain(), source_of_sequences()
    likelihoods, posteriors, bests, paths = zip(*by_enumeration(model))
    assert chain_log_likelihood(source, model) == pytest.approx(np.log(likelihoods).sum())
    assert np.allclose(chain_posterior(source, model), np.vstack(posteriors))
    best, path = chain_paths(source, model)
    assert best == pytest.approx(np.log(bests).sum())
    assert np.array_equal(path, np.concatenate(paths))


def test_one_pass_of_baum_and_welch_against_every_path():
    model, source, prior = chain(), source_of_sequences(), 0.1
    firsts, pairs, shown = np.zeros(K), np.zeros((K, K)), np.zeros((K, SYMBOLS))
    start = 0
    for size in SIZES:
        rows = ROWS[start : start + size]
        densities = np.exp(model.emission.log_densities(rows))
        likelihood = chain_by_enumeration(densities, model.start, model.transitions)[0]
        for path in product(range(K), repeat=int(size)):
            p = model.start[path[0]] * densities[0, path[0]]
            for t in range(1, size):
                p *= model.transitions[path[t - 1], path[t]] * densities[t, path[t]]
            firsts[path[0]] += p / likelihood
            for t, state in enumerate(path):
                shown[state] += p / likelihood * rows[t]
                if t:
                    pairs[path[t - 1], state] += p / likelihood
        start += size
    found = polish_chain(source, model, max_iter=1, tol=0.0, prior=prior).chain
    assert np.allclose(found.start, (firsts + prior) / (firsts + prior).sum())
    assert np.allclose(found.transitions, (pairs + prior) / (pairs + prior).sum(axis=1, keepdims=True))
    assert np.allclose(found.emission.probabilities, shown / shown.sum(axis=1, keepdims=True))


def test_passes_of_chains_never_go_downhill():
    found = polish_chain(source_of_sequences(), chain(), max_iter=30, tol=1e-8, prior=0.1)
    assert (np.diff(found.objective) >= -1e-10).all()


@pytest.mark.parametrize("kind", ["categorical", "poisson", "gaussian"])
def test_relaxed_passes_of_chains_come_to_rest_where_em_does(kind, monkeypatch):
    sample = make_hmm(6, 60, 4, 2, emission=kind, random_state=2)
    rows = np.eye(4)[sample.X[:, 0]] if kind == "categorical" else sample.X
    zeros = np.zeros(4)
    rng = np.random.default_rng(5)
    shown = {
        "categorical": Multinomial(rng.dirichlet(np.full(4, 5.0), 2)),
        "poisson": Poisson(rng.gamma(5.0, size=(2, 4))),
        "gaussian": Gaussian(rng.standard_normal((2, 4)), np.ones((2, 4)), zeros, zeros, zeros, 0.0),
    }[kind]
    begin = Chain(np.array([0.5, 0.5]), np.array([[0.6, 0.4], [0.4, 0.6]]), shown)
    blocks = count_blocks if kind != "gaussian" else signal_blocks
    source = sequences_of(blocks(rows), sample.lengths, order="given")
    relaxed = polish_chain(source, begin, max_iter=3000, tol=1e-9, prior=0.1)
    monkeypatch.setattr(passes, "MOST_STRETCH", 1.0)
    plain = polish_chain(source, begin, max_iter=3000, tol=1e-9, prior=0.1)
    assert (np.diff(relaxed.objective) >= 0).all()
    assert relaxed.converged
    assert plain.converged
    assert relaxed.objective[-1] == pytest.approx(plain.objective[-1], abs=1e-5)
    if kind == "categorical":  # the other states are told apart at once
        assert len(relaxed.objective) < 0.8 * len(plain.objective)


def test_ranges_of_sequences_change_nothing(monkeypatch):
    model, source = chain(), source_of_sequences()
    before = chain_posterior(source, model), chain_paths(source, model)
    monkeypatch.setattr(chains, "RANGE_ROWS", 2)
    after = chain_posterior(source, model), chain_paths(source, model)
    assert np.array_equal(before[0], after[0])
    assert np.array_equal(before[1][1], after[1][1])
    assert before[1][0] == pytest.approx(after[1][0])


def test_states_in_another_order():
    model, source = chain(), source_of_sequences()
    assert np.allclose(chain_posterior(source, model.taken([1, 0])), chain_posterior(source, model)[:, [1, 0]])


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_distribution_that_transitions_leave(size):
    transitions = RNG.dirichlet(np.ones(size), size)
    found = stationary(transitions)
    assert np.allclose(found @ transitions, found)
    assert found.sum() == pytest.approx(1.0)


def test_cycles_and_islands_have_a_mean_over_time():
    assert np.allclose(stationary(np.array([[0.0, 1.0], [1.0, 0.0]])), 0.5)
    assert np.allclose(stationary(np.eye(3)), 1 / 3)
