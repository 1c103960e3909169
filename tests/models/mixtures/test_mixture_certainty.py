"""Which components of a mixture, classes and states the rows determine, and which are one too many."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from polyad import HiddenMarkov, MultiViewMixture, SphericalMixture, load
from polyad.datasets import make_hmm, make_multiview_mixture, make_spherical_mixture
from polyad.engine import signal_blocks
from polyad.engine.sequences import sequences_of
from polyad.inference.mixtures.chains import Chain, chain_log_likelihood, stationary
from polyad.inference.mixtures.classes import ClassMixture, class_log_likelihoods
from polyad.inference.mixtures.emissions import Bernoulli, Gaussian, Multinomial, Poisson
from polyad.inference.mixtures.gaussian import GaussianMixtureParameters, gaussian_log_densities
from polyad.inference.mixtures.merging import (
    chain_losses,
    class_losses,
    emission_distances,
    gaussian_distances,
    gaussian_losses,
    merged_chain,
    merged_emission,
    merged_gaussians,
    n_told,
    near_pairs,
    shares_in_pairs,
)
from polyad.models import UndeterminedWarning
from polyad.models.mixtures.sequences import checked_sequences
from polyad.models.recipes import mixture_certainty
from polyad.models.recipes.mixture_certainty import (
    chain_certainty,
    class_certainty,
    gaussian_certainty,
    noise_gain,
    pairs_certainty,
)

KINDS = ("counts", "binary", "gaussian")


def of_points(seed, K, **options):
    sample = make_spherical_mixture(1500, 5, 3, separation=9, random_state=seed)
    return lambda: SphericalMixture(K, **options).fit(sample.X)


def of_round_points(seed, K):
    return of_points(seed, K)


def of_long_points(seed, K):
    return of_points(seed, K, covariance_type="full")


def of_views(seed, K):
    sample = make_multiview_mixture(1000, (30, 8, 4), 3, kinds=KINDS, random_state=seed)
    return lambda: MultiViewMixture(K).fit(sample.views)


def of_answers(seed, K):
    sample = make_multiview_mixture(1000, (6, 6, 6), 3, kinds=("binary",) * 3, missing=0.2, random_state=seed)
    return lambda: MultiViewMixture(K).fit(sample.views)


def of_values(seed, K):
    sample = make_hmm(10, 200, 6, 3, emission="gaussian", random_state=seed)
    return lambda: HiddenMarkov(K, emission="gaussian").fit(sample.X, sample.lengths)


def of_counts(seed, K):
    sample = make_hmm(10, 200, 6, 3, emission="poisson", random_state=seed)
    return lambda: HiddenMarkov(K, emission="poisson").fit(sample.X, sample.lengths)


SAMPLES = [of_round_points, of_long_points, of_views, of_answers, of_values, of_counts]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("fit_of", SAMPLES)
def test_one_component_too_many_is_named_and_no_other(fit_of, seed):
    """Whatever says 1, or 0, of all components fails: of three there are three, of four one is parted."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        three = fit_of(seed, 3)().diagnostics_
    assert three.undetermined == ()
    assert three.certainty.min() > 0.75
    assert "3 of 3 components determined" in repr(three)
    with pytest.warns(UndeterminedWarning, match=r"do not determine [12] of the 4 components"):
        four = fit_of(seed, 4)().diagnostics_
    assert 1 <= len(four.undetermined) <= 2
    assert np.sort(four.certainty)[2:].min() > 0.75, "those that are left as they are"
    assert four.certainty.min() < 0.4
    assert f"{4 - len(four.undetermined)} of 4 components determined" in repr(four)


TRUE_POINTS = make_spherical_mixture(2000, 4, 3, separation=8)
TRUE_VIEWS = make_multiview_mixture(600, (20, 6, 3), 3, kinds=KINDS)
TRUE_CHAIN = make_hmm(8, 200, 10, 3, emission="poisson", random_state=3)


def points_certainty(taken, weights, covariance_type="spherical"):
    """The certainty at the true parameters, of components by their numbers and with some weights."""
    M = TRUE_POINTS.means.shape[1]
    covariances = {
        "spherical": TRUE_POINTS.variances,
        "diag": TRUE_POINTS.variances[:, None] * np.ones(M),
        "full": TRUE_POINTS.variances[:, None, None] * np.eye(M),
    }[covariance_type]
    mixture = GaussianMixtureParameters(weights, TRUE_POINTS.means[taken], covariances[taken])
    return gaussian_certainty(signal_blocks(TRUE_POINTS.X), mixture, shared=False)


def diagonal_certainty(taken, weights):
    return points_certainty(taken, weights, "diag")


def full_certainty(taken, weights):
    return points_certainty(taken, weights, "full")


def views_of(sample, taken):
    zeros = np.zeros(3)
    counts, ones, values = (shown[taken] for shown in sample.components)
    return Multinomial(counts), Bernoulli(ones), Gaussian(values, np.ones_like(values), zeros, zeros, zeros)


def views_certainty(taken, weights):
    model = MultiViewMixture(3, max_iter=0).fit(TRUE_VIEWS.views)
    source, _ = model._known(TRUE_VIEWS.views)
    return class_certainty(source, ClassMixture(weights, views_of(TRUE_VIEWS, taken)))


def sequences():
    rows, sizes = checked_sequences(TRUE_CHAIN.X, TRUE_CHAIN.lengths, "poisson")
    return sequences_of(rows, sizes)


def parted_chain(taken, within):
    """The true chain with some states twice, each with a share of what goes to the state."""
    transitions = TRUE_CHAIN.transitions[np.ix_(taken, taken)] * within
    start = TRUE_CHAIN.start[taken] * within
    return Chain(start, transitions, Poisson(TRUE_CHAIN.emissions[taken]))


def chain_of_states(taken, weights):
    within = weights / np.bincount(taken, weights, 3)[taken]
    return chain_certainty(sequences(), parted_chain(taken, within))


@pytest.mark.parametrize(
    "found", [points_certainty, diagonal_certainty, full_certainty, views_certainty, chain_of_states]
)
def test_components_of_the_same_parameters_and_empty_ones(found):
    """The truth is certain; one of its components twice is not, where both have as much; nor is one without rows."""
    thirds = np.full(3, 1 / 3)
    assert found([0, 1, 2], thirds).min() > 0.7
    twice = found([0, 1, 2, 1], np.array([1, 0.5, 1, 0.5]) / 3)
    assert twice[[1, 3]].max() < 1e-6
    assert twice[[0, 2]].min() > 0.7
    nearly_all = found([0, 1, 2, 1], np.array([1, 0.99, 1, 0.01]) / 3)
    assert nearly_all[3] < 1e-6
    assert nearly_all[:3].min() > 0.7
    assert found([0, 1, 2, 1], np.array([1, 1, 1, 0]) / 3)[3] == 0


def test_certainty_stands_in_the_order_of_the_parameters():
    """Two of four components are near each other; they are the uncertain ones, wherever they stand."""
    means = np.array([[0.0, 0, 0], [9, 0, 0], [9.0, 2.2, 0], [0, 0, 9]])
    sample = make_spherical_mixture(800, means=means, variances=[1.0] * 4, weights=[0.4, 0.2, 0.25, 0.15])
    model = SphericalMixture(4).fit(sample.X)
    near = np.flatnonzero(model.means_[:, 0] > 5)
    sure = model.diagnostics_.certainty
    assert set(np.argsort(sure)[:2]) == set(near)
    assert sure[near].max() < 0.97 < np.delete(sure, near).min()
    for order in ([1, 2, 3, 0], [3, 1, 0, 2]):
        parameters = model._parameters().taken(order)
        assert np.allclose(gaussian_certainty(signal_blocks(sample.X), parameters, shared=False), sure[order])


@pytest.mark.parametrize(("make", "seed"), [(of_views, 4), (of_values, 4), (of_round_points, 4)])
def test_files_keep_every_byte(make, seed, tmp_path):
    with pytest.warns(UndeterminedWarning):
        model = make(seed, 4)()
    model.save(tmp_path / "model.polyad")
    back = load(tmp_path / "model.polyad").diagnostics_
    assert back.certainty.tobytes() == model.diagnostics_.certainty.tobytes()
    assert back.undetermined == model.diagnostics_.undetermined


@pytest.mark.filterwarnings("ignore::polyad.models.UndeterminedWarning")
def test_permuted_rows_and_threads_keep_every_byte():
    order = np.random.default_rng(0).permutation(600)
    points = make_spherical_mixture(600, 4, 2, separation=6).X
    views = make_multiview_mixture(600, (20, 5, 3), 2, kinds=KINDS, missing=0.1).views
    parts = np.split(make_hmm(30, 20, 5, 2, emission="poisson").X, 30)
    for model, data, turned in (
        (SphericalMixture(3, covariance_type="full"), points, points[order]),
        (MultiViewMixture(3), views, [view[order] for view in views]),
        (HiddenMarkov(3, emission="poisson"), parts, parts[::-1]),
    ):
        expected = model.fit(data).diagnostics_.certainty.tobytes()
        assert clone(model).fit(turned).diagnostics_.certainty.tobytes() == expected
        assert clone(model).set_params(n_jobs=2).fit(data).diagnostics_.certainty.tobytes() == expected


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
def test_losses_are_those_of_the_mixture_with_two_put_together(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) * [1, 2, 3]
    factors = rng.standard_normal((4, 3, 3))
    covariances = {
        "spherical": rng.uniform(0.5, 2, 4),
        "diag": rng.uniform(0.5, 2, (4, 3)),
        "full": factors @ factors.transpose(0, 2, 1) + np.eye(3),
    }[kind]
    mixture = GaussianMixtureParameters(rng.dirichlet(np.ones(4)), rng.standard_normal((4, 3)), covariances)
    pairs = np.array([[0, 1], [1, 3], [0, 2]])
    losses = gaussian_losses(signal_blocks(X), mixture, pairs)
    whole = gaussian_log_densities(signal_blocks(X), mixture).sum()
    for pair, loss in zip(pairs, losses):
        w, m, c = mixture.weights[pair], mixture.means[pair], mixture.covariances[pair]
        mean = w @ m / w.sum()
        full = [one * np.eye(3) if kind != "full" else one for one in c]
        scatter = sum(a * (one + np.outer(b - mean, b - mean)) for a, b, one in zip(w, m, full)) / w.sum()
        of_kind = {"spherical": np.trace(scatter) / 3, "diag": np.diag(scatter), "full": scatter}[kind]
        others = mixture.taken(np.delete(np.arange(4), pair))
        fewer = GaussianMixtureParameters(
            np.append(others.weights, w.sum()),
            np.vstack([others.means, mean]),
            np.concatenate([others.covariances, np.asarray(of_kind)[None]]),
        )
        together = merged_gaussians(mixture, pair[None])
        assert np.allclose(together.covariances[0], of_kind)
        assert np.isclose(loss, whole - gaussian_log_densities(signal_blocks(X), fewer).sum(), rtol=1e-9)


def test_losses_of_classes_and_states_are_those_of_the_smaller_model():
    model = MultiViewMixture(3, max_iter=0).fit(TRUE_VIEWS.views)
    source, mixture = model._known(TRUE_VIEWS.views)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    whole = class_log_likelihoods(source, mixture).sum()
    for (one, other), loss in zip(pairs, class_losses(source, mixture, pairs)):
        pair = np.array([[one, other]])
        shares = shares_in_pairs(mixture.weights, pair)
        last = 3 - one - other
        merged = [merged_emission(emission, pair, shares) for emission in mixture.emissions]
        both = [mixture.weights[[one, other]].sum(), mixture.weights[last]]
        shown = tuple(joined(a, b.taken([last])) for a, b in zip(merged, mixture.emissions))
        fewer = class_log_likelihoods(source, ClassMixture(np.array(both), shown)).sum()
        assert np.isclose(loss, whole - fewer, rtol=1e-9)
    chain = parted_chain([0, 1, 2], np.ones(3))
    weights, data = stationary(chain.transitions), sequences()
    for pair, loss in zip(pairs, chain_losses(data, chain, weights, pairs)):
        share = shares_in_pairs(weights, pair[None])[0]
        rates = np.vstack([np.delete(chain.emission.rates, pair, axis=0), share @ chain.emission.rates[pair]])
        start, transitions = merged_chain(chain, weights, pair)
        assert np.allclose(transitions.sum(axis=1), 1)
        smaller = Chain(start, transitions, Poisson(rates))
        assert np.isclose(loss, chain_log_likelihood(data, chain) - chain_log_likelihood(data, smaller), rtol=1e-9)


def joined(first, second):
    fields = {name: np.vstack([value, getattr(second, name)]) for name, value in vars(first).items() if is_table(value)}
    return type(first)(**{**vars(first), **fields})


def is_table(value):
    return isinstance(value, np.ndarray) and value.ndim == 2


def test_states_that_differ_in_nothing_but_where_they_come_from_lose_nothing():
    chain = parted_chain([0, 1, 2, 1], np.array([1, 0.3, 1, 0.7]))
    arriving = chain.transitions.copy()
    arriving[0, [1, 3]] = arriving[0, [1, 3]].sum(), 0.0  # from the first state to one of the two alone
    chain = Chain(chain.start, arriving, chain.emission)
    losses = chain_losses(sequences(), chain, stationary(arriving), np.array([[1, 3], [0, 1]]))
    assert abs(losses[0]) < 1e-6
    assert losses[1] > 10


def test_pairs_are_those_of_the_nearest():
    means = np.array([[0.0], [1.0], [5.0], [5.5]])
    found = GaussianMixtureParameters(np.full(4, 0.25), means, np.ones(4))
    distances = gaussian_distances(found)
    assert np.allclose(distances, distances.T)
    # of two with the variance 1, d apart: log(1 + d^2 / 4) / 2 for each of the half of all rows that they have
    assert np.isclose(distances[0, 1], 0.5 * np.log(1.25) / 2)
    assert near_pairs(distances, found.weights).tolist() == [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]


def test_halves_of_one_component_are_found_beside_light_ones():
    """All rows lose less by a light component put to a half than by the other half: both halves were called certain."""
    light = GaussianMixtureParameters(
        np.array([0.5, 0.49, 0.005, 0.005, 0.0]), np.array([[0.0], [0.3], [9.0], [-9.0], [2.0]]), np.ones(5)
    )
    pairs = near_pairs(gaussian_distances(light), light.weights).tolist()
    assert [0, 1] in pairs
    assert sum(4 in pair for pair in pairs) == 2, "one without rows is near to nobody"
    rng = np.random.default_rng(0)
    outliers = [0.5 * rng.standard_normal((4, 20)) + 8 * np.eye(20)[j] for j in range(4)]
    X = np.vstack([rng.standard_normal((2000, 20)), *outliers])
    with pytest.warns(UndeterminedWarning):
        model = SphericalMixture(6).fit(X)
    parts = model.weights_ > 0.05
    assert parts.sum() > 1
    assert (model.diagnostics_.certainty[parts] > 0.5).sum() <= 1, "one blob is at most one component"


WEIGHTS, PAIR = np.array([0.5, 0.2, 0.3]), np.array([[0, 2]])
ZEROS = np.zeros(2)


def test_two_values_put_together_have_the_moments_of_both():
    means, variances = np.array([[0.0, 3.0], [9.0, 9.0], [4.0, 1.0]]), np.array([[1.0, 2.0], [9.0, 9.0], [0.5, 6.0]])
    shares = shares_in_pairs(WEIGHTS, PAIR)
    assert np.allclose(shares, [[0.625, 0.375]])
    both = merged_emission(Gaussian(means, variances, ZEROS, ZEROS, ZEROS), PAIR, shares)
    first = 0.625 * means[0] + 0.375 * means[2]
    second = 0.625 * (variances[0] + means[0] ** 2) + 0.375 * (variances[2] + means[2] ** 2)
    assert np.allclose(both.means, first)
    assert np.allclose(both.variances, second - first**2)
    words = np.array([[0.7, 0.3], [0.5, 0.5], [0.1, 0.9]])
    assert np.allclose(merged_emission(Multinomial(words), PAIR, shares).probabilities, [[0.475, 0.525]])


@pytest.mark.parametrize("kind", ["words", "answers", "counts", "values"])
def test_what_a_row_loses_is_its_divergence_from_both_together(kind):
    """Over all that a row of one column, or a token, may be: the weights of the two times their divergences."""
    rows = np.array([[0.7, 0.3], [0.5, 0.5], [0.1, 0.9]])
    if kind == "words":
        emission, shown = Multinomial(rows), rows
    elif kind == "answers":
        emission, shown = Bernoulli(rows[:, :1]), rows
    elif kind == "counts":
        emission, shown = Poisson(10 * rows[:, :1]), stats.poisson.pmf(np.arange(60), 10 * rows[:, :1])
    else:
        grid = np.linspace(-30, 30, 20_001)
        emission = Gaussian(10 * rows[:, :1], 1 + rows[:, 1:], ZEROS[:1], ZEROS[:1], ZEROS[:1])
        shown = stats.norm.pdf(grid, 10 * rows[:, :1], np.sqrt(1 + rows[:, 1:])) * (grid[1] - grid[0])
    found = emission_distances(emission, WEIGHTS)
    assert np.allclose(found, found.T)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        both = WEIGHTS[[one, other]] / WEIGHTS[[one, other]].sum()
        if kind == "counts":
            together = stats.poisson.pmf(np.arange(60), 10 * both @ rows[[one, other], 0])
        elif kind == "values":
            mean = 10 * both @ rows[[one, other], 0]
            variance = both @ (1 + rows[[one, other], 1] + (10 * rows[[one, other], 0] - mean) ** 2)
            together = stats.norm.pdf(grid, mean, np.sqrt(variance)) * (grid[1] - grid[0])
        else:
            together = both @ shown[[one, other]]
        divergences = [stats.entropy(shown[k], together) for k in (one, other)]
        assert np.isclose(found[one, other], WEIGHTS[[one, other]] @ divergences, rtol=1e-6)


TRANSITIONS = np.array([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.5, 0.3, 0.2]])


def test_two_states_put_together_have_the_rows_of_both_in_the_long_run():
    chain = Chain(np.array([0.2, 0.3, 0.5]), TRANSITIONS, Poisson(np.ones((3, 4))))
    weights = stationary(chain.transitions)
    for pair, other in (([0, 1], 2), ([0, 2], 1), ([1, 2], 0)):
        start, transitions = merged_chain(chain, weights, np.array(pair))
        assert np.allclose(start, [chain.start[other], chain.start[pair].sum()])
        assert np.allclose(stationary(transitions), [weights[other], weights[pair].sum()])


def test_what_tells_two_components_apart_is_counted(monkeypatch):
    """How much of both each is, and what it shows; of states also where they go and where they come from."""
    told = []

    def kept(losses, n_parameters, weights, pairs):
        told.append(n_parameters)
        return np.ones(weights.size)

    monkeypatch.setattr(mixture_certainty, "pairs_certainty", kept)
    thirds = np.full(3, 1 / 3)
    M = TRUE_POINTS.means.shape[1]
    for kind, size in (("spherical", 1), ("diag", M), ("full", M * (M + 1) // 2)):
        points_certainty([0, 1, 2], thirds, kind)
        assert (told[-1] == 1 + M + size).all()
    shared = GaussianMixtureParameters(thirds, TRUE_POINTS.means, TRUE_POINTS.variances)
    gaussian_certainty(signal_blocks(TRUE_POINTS.X), shared, shared=True)
    assert (told[-1] == 1 + M).all()
    views_certainty([0, 1, 2], thirds)
    # 20 words, 6 answers, and 3 means with 3 variances; rare words say less
    assert (told[-1] > 1 + 19 + 6 + 6 - 3).all()
    assert (told[-1] <= 1 + 19 + 6 + 6).all()
    chain_of_states([0, 1, 2], thirds)
    K, columns = 3, TRUE_CHAIN.emissions.shape[1]
    assert np.allclose(told[-1], 1 + columns + (K - 1) + K, atol=1.0)


def test_what_rows_cannot_tell_is_no_parameter():
    words = Multinomial(np.array([[0.5, 0.3, 0.2 - 1e-6, 1e-6]]))
    assert n_told(words, np.array([1000.0])).round(3).tolist() == [2.001]
    assert n_told(Bernoulli(np.array([[0.5, 0.999, 0.001]])), np.array([100.0])).round(3).tolist() == [1.2]
    assert n_told(Poisson(np.array([[3.0, 0.001]])), np.array([100.0])).round(3).tolist() == [1.1]
    assert n_told(Gaussian(*np.ones((2, 1, 3)), *np.zeros((3, 3))), np.array([5.0])).tolist() == [6.0]


def test_certainty_of_pairs():
    weights, pairs = np.array([0.5, 0.3, 0.2]), np.array([[0, 1], [1, 2]])
    h = noise_gain(np.array([9.0]))[0]
    assert h == 15
    both = pairs_certainty(np.array([1.5 * h, 1e9]), np.full(2, 9.0), weights, pairs)
    assert np.allclose(both, [0.5 + 0.5 * 0.4, 0.5, 1.0]), "d^2 is three times the noise: half; the larger keeps more"
    assert np.allclose(pairs_certainty(np.array([-3.0, 1e9]), np.full(2, 9.0), weights, pairs), [0.4, 0.0, 1.0])
    added = pairs_certainty(np.array([1.5 * h] * 2), np.full(2, 9.0), np.full(3, 1 / 3), pairs)
    assert np.allclose(added, [1 / 2, 1 / 3, 1 / 2]), "squared tangents towards two others add up"


def test_one_component_is_certain():
    sample = make_spherical_mixture(50, 3, 1)
    assert SphericalMixture(1).fit(sample.X).diagnostics_.certainty.tolist() == [1.0]
