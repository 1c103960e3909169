"""The distribution of intensities: unbiased moments, and gamma told from others."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special, stats

from polyad import DiscreteCCA, DiscreteICA
from polyad.datasets import make_discrete_ica, make_gamma_poisson
from polyad.models.intensities import laguerre_coefficients, source_powers, source_shapes
from polyad.models.shared_intensities import ORDERS, joint_powers, shared_moments


def test_powers_are_unbiased():
    """The expectation over all small counts of two words is the power of the rates' combination."""
    rates, inverse = np.array([0.3, 0.5]), np.array([[1.5], [-0.4]])
    counts = np.array(list(product(range(14), repeat=2)), dtype=float)
    chances = stats.poisson.pmf(counts, rates).prod(axis=1)
    value = float(rates @ inverse[:, 0])
    found = (source_powers(counts, inverse)[:, :, 0] * chances).sum(axis=1)
    assert np.allclose(found, value ** np.arange(1, 5), rtol=1e-6)


def test_powers_are_sums_over_distinct_tokens():
    weights = np.array([0.5, -1.0, 2.0])
    x = np.array([2, 1, 3])
    tokens = np.repeat(weights, x)
    expected = []
    for order in range(1, 5):
        places = product(range(len(tokens)), repeat=order)
        expected.append(sum(np.prod(tokens[list(p)]) for p in places if len(set(p)) == order))
    assert np.allclose(source_powers(x[None].astype(float), weights[:, None]).ravel(), expected)


def test_coefficients_are_those_of_the_expansion():
    """A density that is a gamma one times 1 + .05 L3 - .02 L4 has these coefficients; a gamma one has none."""
    c, b = 2.5, 0.3
    x = np.linspace(0, 150, 400_001)[1:]
    gamma = stats.gamma.pdf(x, c, scale=1 / b)
    for third, fourth in ((0.0, 0.0), (0.05, -0.02)):
        factor = (
            1 + third * special.eval_genlaguerre(3, c - 1, b * x) + fourth * special.eval_genlaguerre(4, c - 1, b * x)
        )
        moments = np.array([[(gamma * factor * x**order).sum() * (x[1] - x[0])] for order in range(1, 5)])
        found = laguerre_coefficients(moments, np.array([c]), np.array([b])).ravel()
        assert np.allclose(found, [third, fourth], atol=1e-5)


LAWS = {  # all of them skewed: third cumulants tell nothing of sources that are not
    "bounded": lambda rng, n, k: 80 * rng.random((n, k)) ** 2,
    "shifted": lambda rng, n, k: 15 + rng.exponential(20.0, (n, k)),
    "two values": lambda rng, n, k: 60.0 * (rng.random((n, k)) < 0.3),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.filterwarnings("ignore:.*do not tell the total of the shapes")  # they are no gamma shapes
def test_other_laws_are_not_gamma(law):
    sample = make_discrete_ica(LAWS[law], 12_000, 60, 2)
    shapes = source_shapes(DiscreteICA(2, polish="off").fit(sample.counts), sample.counts)
    assert shapes.gamma == (False, False)
    assert "0: not gamma" in repr(shapes)
    true = np.sort((sample.intensities**2).mean(axis=0))
    assert np.allclose(np.sort(shapes.moments[1]), true, rtol=0.05)


@pytest.mark.parametrize("prior", [0.3, 1.0, 4.0])
def test_gamma_is_gamma_in_shape_rate_and_density(prior):
    sample = make_gamma_poisson(12_000, 60, 2, mean_length=100.0, prior=prior, random_state=3)
    shapes = source_shapes(DiscreteICA(2, polish="off").fit(sample.counts), sample.counts)
    assert shapes.gamma == (True, True)
    assert np.abs(shapes.shapes / prior - 1).max() < 0.1
    assert np.abs(shapes.rates / sample.rate - 1).max() < 0.1
    apart = np.abs(shapes.density - shapes.gamma_density).sum(axis=1) / shapes.gamma_density.sum(axis=1)
    assert apart.max() < 0.1


def test_the_density_of_the_moments_is_nearer_to_the_truth_than_gamma_is():
    sample = make_discrete_ica(LAWS["shifted"], 12_000, 60, 2)
    shapes = source_shapes(DiscreteICA(2, polish="off").fit(sample.counts), sample.counts)
    truth = np.where(shapes.grid < 15, 0.0, np.exp(-(shapes.grid - 15) / 20) / 20)
    apart = [np.abs(density - truth).sum(axis=1) for density in (shapes.density, shapes.gamma_density)]
    assert (apart[0] < 0.95 * apart[1]).all()


def test_too_little_is_a_sentence():
    sample = make_gamma_poisson(300, 20, 2)
    model = DiscreteICA(2, polish="off").fit(sample.counts)
    with pytest.raises(ValueError, match="at least 32 are needed"):
        source_shapes(model, sample.counts[:20])
    with pytest.raises(ValueError, match="X has 19 columns"):
        source_shapes(model, sample.counts[:, :19])


def test_order_and_threads_change_no_byte():
    sample = make_gamma_poisson(2000, 30, 2, prior=1.0)
    model = DiscreteICA(2, polish="off").fit(sample.counts)
    first = source_shapes(model, sample.counts)
    again = source_shapes(model, sample.counts[::-1], n_jobs=1)
    for name in ("moments", "departures", "errors", "density"):
        assert getattr(first, name).tobytes() == getattr(again, name).tobytes()


def drawn_views(law, n_samples, seed=0):
    """Two views that share two intensities of a law, and have three of noise each; the second has fewer tokens."""
    rng = np.random.default_rng(seed)
    intensities, views = law(rng, n_samples, 2), []
    for n_words, scale in ((20, 1.0), (25, 0.5)):
        shared, private = (rng.dirichlet(np.full(n_words, 0.5), size) for size in (2, 3))
        noise = rng.gamma(0.5, 30.0, (n_samples, 3))
        views.append(rng.poisson(scale * intensities @ shared + noise @ private))
    return intensities, views


def gamma_law(shape):
    return lambda rng, n, k: rng.gamma(shape, 100 / shape, (n, k))


@pytest.mark.parametrize("shape", [0.3, 1.0, 3.0])
def test_two_views_tell_the_shape_they_share_without_their_noise(shape):
    _, views = drawn_views(gamma_law(shape), 12_000)
    shapes = source_shapes(DiscreteCCA(2).fit(*views), *views)
    assert shapes.gamma == (True, True)
    assert np.abs(shapes.shapes / shape - 1).max() < 0.2
    assert np.abs(shapes.rates * 100 / shape - 1).max() < 0.2
    assert np.abs(shapes.departures[0]).max() < 1e-9  # the skewness is what the shape was read off


@pytest.mark.parametrize("law", ["bounded", "two values"])
def test_two_views_tell_other_laws(law):
    intensities, views = drawn_views(LAWS[law], 12_000)
    shapes = source_shapes(DiscreteCCA(2).fit(*views), *views)
    assert shapes.gamma == (False, False)
    assert np.allclose(shapes.moments[1] - shapes.moments[0] ** 2, intensities.var(axis=0), rtol=0.1)


def test_joint_cumulants_of_noisy_views_are_those_of_what_they_share():
    """Populations of few values: moments of (a + e, 2 (a + f)) in, the cumulants of a out, whatever the noises are."""
    a, e, f = (np.array(each) for each in ([0.0, 1.0, 7.0], [0.0, 3.0], [1.0, 2.0, 9.0]))
    chances = np.array([0.6, 0.3, 0.1])[:, None, None] * np.array([0.2, 0.8])[:, None] * np.array([0.5, 0.1, 0.4])
    u = a[:, None, None] + e[:, None] + 0 * f
    v = 2 * (a[:, None, None] + 0 * e[:, None] + f)
    joint = np.array([[(chances * u**i * v**j).sum()] for i, j in ORDERS])
    found = shared_moments(joint).ravel()
    weights = np.array([0.6, 0.3, 0.1])
    mean = weights @ a
    k2, k3, k4 = (weights @ (a - mean) ** order for order in (2, 3, 4))
    shift = found[0] - mean  # of the mean, which is not told
    moved = a + shift
    assert np.allclose(found, [weights @ moved**order for order in range(1, 5)], rtol=1e-9)
    assert np.isclose(found[0], 2 * k2**2 / k3, rtol=1e-9)
    assert k4 > 3 * k2**2


def test_joint_powers_are_unbiased():
    """The expectation over all small counts of one word in each view."""
    rates, weights = np.array([0.7, 0.4]), (np.array([[1.5]]), np.array([[-0.8]]))
    grid = np.array(list(product(range(16), repeat=2)), dtype=float)
    chances = stats.poisson.pmf(grid, rates).prod(axis=1)
    block = SimpleNamespace(views=(grid[:, :1], grid[:, 1:]))
    found = (joint_powers(block, weights)[:, :, 0] * chances).sum(axis=1)
    assert np.allclose(found, [(1.5 * 0.7) ** i * (-0.8 * 0.4) ** j for i, j in ORDERS], rtol=1e-6)


def test_views_that_share_no_skewed_intensities_are_refused():
    _, views = drawn_views(lambda rng, n, k: 100 * (1 - rng.random((n, k)) ** 4), 3000)
    with pytest.raises(ValueError, match="skewed to the left"):
        source_shapes(DiscreteCCA(2).fit(*views), *views)
    with pytest.raises(ValueError, match="Y has 24 columns"):
        source_shapes(DiscreteCCA(2).fit(*views), views[0], views[1][:, :24])
