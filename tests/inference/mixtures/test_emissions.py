"""What classes and states show: densities against SciPy, parameters against weighted sums, value by value."""

import numpy as np
import pytest
from scipy import sparse, stats

from polyad.inference.mixtures.emissions import Bernoulli, Gaussian, Multinomial, Poisson, log_prior

RNG = np.random.default_rng(0)
K, M, N = 3, 4, 11
POSTERIOR = RNG.dirichlet(np.ones(K), N)
PROBABILITIES = RNG.dirichlet(np.ones(M), K)
COUNTS = RNG.poisson(1.5, (N, M)).astype(float)
VALUES = RNG.standard_normal((N, M)) + 1000.0  # far from 0: squares must not lose what is in the last digits
BITS = RNG.integers(0, 2, (N, M)).astype(float)


def with_holes(rows):
    rows = rows.copy()
    rows[RNG.random(rows.shape) < 0.3] = np.nan
    rows[2] = np.nan  # a row of which nothing was seen
    return rows


def gaussian(**options):
    means = RNG.standard_normal((K, M)) + 1000.0
    zeros = np.zeros(M)
    base = {"centre": VALUES.mean(axis=0), "floor": zeros, "prior": zeros, "prior_points": 0.0}
    return Gaussian(means, RNG.gamma(2.0, size=(K, M)), **{**base, **options})


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_densities_of_counts(make):
    rows = make(COUNTS)
    found = Multinomial(PROBABILITIES).log_densities(rows)
    for n, x in enumerate(COUNTS):
        for k, p in enumerate(PROBABILITIES):
            assert found[n, k] == pytest.approx(stats.multinomial.logpmf(x, x.sum(), p))
    rates = RNG.gamma(2.0, size=(K, M))
    found = Poisson(rates).log_densities(rows)
    assert np.allclose(found, stats.poisson.logpmf(COUNTS[:, None], rates).sum(axis=2))


@pytest.mark.parametrize("with_empty", [False, True])
def test_categories_are_rows_with_one_count(with_empty):
    chosen = RNG.integers(0, M, N)
    rows = np.eye(M)[chosen]
    if with_empty:
        rows[4] = 0
    found = Multinomial(PROBABILITIES).log_densities(sparse.csr_array(rows))
    wanted = np.log(PROBABILITIES[:, chosen].T)
    wanted[~rows.any(axis=1)] = 0.0
    assert np.allclose(found, wanted)
    assert np.allclose(found, Multinomial(PROBABILITIES).log_densities(rows))


def test_densities_of_what_was_seen():
    bits, values = with_holes(BITS), with_holes(VALUES)
    found = Bernoulli(PROBABILITIES).log_densities(bits)
    shown = gaussian()
    densities = shown.log_densities(values)
    for n in range(N):
        for k in range(K):
            seen = ~np.isnan(bits[n])
            assert found[n, k] == pytest.approx(stats.bernoulli.logpmf(bits[n, seen], PROBABILITIES[k, seen]).sum())
            seen = ~np.isnan(values[n])
            terms = stats.norm.logpdf(values[n, seen], shown.means[k, seen], np.sqrt(shown.variances[k, seen]))
            assert densities[n, k] == pytest.approx(terms.sum(), rel=1e-9, abs=1e-9)
    assert np.array_equal(found[2], np.zeros(K))
    assert np.array_equal(densities[2], np.zeros(K))


def test_nothing_is_impossible_for_ever():
    certain = np.array([[1.0, 0.0, 0.0, 0.0]])
    for emission in (Multinomial(certain), Poisson(certain), Bernoulli(certain)):
        found = emission.log_densities(np.ones((1, M)))
        assert np.isfinite(found).all()
        assert found < -600


def weighted(rows, k):
    """Weights and values of what was seen, column by column."""
    for m in range(M):
        seen = ~np.isnan(rows[:, m])
        yield m, POSTERIOR[seen, k], rows[seen, m]


@pytest.mark.parametrize("smoothing", [0.0, 0.7])
def test_the_likeliest_probabilities(smoothing):
    emission = Multinomial(PROBABILITIES, smoothing)
    found = emission.maximised(emission.sums(sparse.csr_array(COUNTS), POSTERIOR)).probabilities
    wanted = POSTERIOR.T @ COUNTS + smoothing
    assert np.allclose(found, wanted / wanted.sum(axis=1, keepdims=True))
    rows = with_holes(BITS)
    emission = Bernoulli(PROBABILITIES, smoothing)
    found = emission.maximised(emission.sums(rows, POSTERIOR)).probabilities
    for k in range(K):
        for m, weights, seen in weighted(rows, k):
            assert found[k, m] == pytest.approx((weights @ seen + smoothing) / (weights.sum() + 2 * smoothing))


def test_the_likeliest_rates_means_and_variances():
    emission = Poisson(RNG.gamma(2.0, size=(K, M)))
    found = emission.maximised(emission.sums(COUNTS, POSTERIOR)).rates
    assert np.allclose(found, POSTERIOR.T @ COUNTS / POSTERIOR.sum(axis=0)[:, None])
    rows = with_holes(VALUES)
    for options in ({}, {"floor": np.full(M, 0.1), "prior": np.full(M, 2.0), "prior_points": 1.5}):
        emission = gaussian(**options)
        found = emission.maximised(emission.sums(rows, POSTERIOR))
        for k in range(K):
            for m, weights, seen in weighted(rows, k):
                mean = weights @ seen / weights.sum()
                points = emission.prior_points
                scatter = weights @ (seen - mean) ** 2 + points * emission.prior[m]
                assert found.means[k, m] == pytest.approx(mean)
                wanted = scatter / weights.sum() + emission.floor[m]
                assert found.variances[k, m] == pytest.approx(wanted, rel=1e-6)


def emissions():
    return {
        "multinomial": (Multinomial(PROBABILITIES, 0.5), COUNTS),
        "poisson": (Poisson(RNG.gamma(2.0, size=(K, M)), floor=0.0), COUNTS),
        "bernoulli": (Bernoulli(PROBABILITIES, 0.5), BITS),
        "gaussian": (gaussian(prior=np.ones(M), prior_points=1.0), VALUES),
    }


@pytest.mark.parametrize("name", ["multinomial", "poisson", "bernoulli", "gaussian"])
def test_no_other_parameters_are_likelier(name):
    """The maximum of the expected log-likelihood and the prior, against small steps away from it."""
    emission, rows = emissions()[name]
    best = emission.maximised(emission.sums(rows, POSTERIOR))

    def objective(one):
        return float((POSTERIOR * one.log_densities(rows)).sum()) + log_prior(one)

    top = objective(best)
    assert top >= objective(emission)
    rng = np.random.default_rng(1)
    for _ in range(10):
        if name == "gaussian":
            other = Gaussian(
                best.means + 0.01 * rng.standard_normal((K, M)),
                best.variances * np.exp(0.01 * rng.standard_normal((K, M))),
                best.centre, best.floor, best.prior, best.prior_points,
            )  # fmt: skip
        else:
            values = next(value for value in vars(best).values() if isinstance(value, np.ndarray))
            moved = np.clip(values * np.exp(0.01 * rng.standard_normal((K, M))), 1e-9, None)
            if name == "multinomial":
                moved /= moved.sum(axis=1, keepdims=True)
            other = type(best)(np.clip(moved, 0, 1) if name == "bernoulli" else moved)
            if name != "poisson":
                other = type(best)(other.probabilities, best.smoothing)
        assert objective(other) <= top + 1e-9


@pytest.mark.parametrize("name", ["multinomial", "poisson", "bernoulli", "gaussian"])
def test_a_component_without_rows_stays_as_it_was(name):
    emission, rows = emissions()[name]
    nobody = POSTERIOR.copy()
    nobody[:, 1] = 0.0
    if hasattr(emission, "smoothing"):
        emission = type(emission)(emission.probabilities)
    found = emission.maximised(emission.sums(rows, nobody))
    for key, value in vars(emission).items():
        if isinstance(value, np.ndarray) and value.shape == (K, M):
            assert np.array_equal(getattr(found, key)[1], value[1]), key


@pytest.mark.parametrize("name", ["multinomial", "poisson", "bernoulli", "gaussian"])
def test_components_in_another_order(name):
    emission, rows = emissions()[name]
    order = [2, 0, 1]
    assert emission.n_components == K
    assert np.allclose(emission.taken(order).log_densities(rows), emission.log_densities(rows)[:, order])
