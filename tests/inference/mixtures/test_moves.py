"""Seeds and moves of mixtures: groups that lie apart are found, losses of merging against their definition."""

from itertools import permutations

import numpy as np
import pytest

from polyad.engine import signal_blocks
from polyad.inference.mixtures import moves
from polyad.inference.mixtures.gaussian import (
    CovarianceRule,
    GaussianMixtureParameters,
    gaussian_log_densities,
    polish_few,
    polish_gaussian,
    polish_one_more,
)
from polyad.inference.mixtures.moves import best_moves, parameters_of_one
from polyad.inference.mixtures.seeds import SAMPLE_ROWS, group_sums, sample_size, seeded_groups

RNG = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0], [20.0, 20.0]])
LABELS = np.arange(200) % 4
POINTS = CENTRES[LABELS] + RNG.standard_normal((200, 2))


def test_sums_of_groups_are_those_of_a_loop_and_0_for_none():
    groups = np.arange(len(POINTS)) % 3
    found = group_sums(POINTS, groups, 4)
    assert np.allclose(found[:3], [sum(POINTS[groups == k]) for k in range(3)])
    assert (found[3] == 0).all()


def test_groups_that_lie_apart_are_found():
    groups = seeded_groups(POINTS, 4)
    assert len({(a, b) for a, b in zip(groups.tolist(), LABELS.tolist())}) == 4


def test_groups_are_at_rest():
    """Every point is nearest to the mean of its group, as k-means leaves it."""
    points = RNG.standard_normal((300, 3))
    groups = seeded_groups(points, 5)
    means = np.stack([points[groups == k].mean(axis=0) for k in range(5)])
    distances = ((points[:, None] - means) ** 2).sum(axis=2)
    assert (distances.argmin(axis=1) == groups).mean() > 0.97


def test_groups_may_rest_sooner():
    """Half of the points may still move: one step of k-means, and each point is where its nearest seed is."""
    points = RNG.standard_normal((300, 3))
    soon, late = seeded_groups(points, 5, at_rest=1.0), seeded_groups(points, 5)
    spread = [
        sum(((points[groups == k] - points[groups == k].mean(axis=0)) ** 2).sum() for k in range(5))
        for groups in (soon, late)
    ]
    assert spread[1] <= spread[0]
    assert not np.array_equal(soon, late)


def test_seeds_are_the_same_every_time_and_wherever_the_points_lie():
    groups = seeded_groups(POINTS, 4)
    assert np.array_equal(seeded_groups(POINTS.copy(), 4), groups)
    assert np.array_equal(seeded_groups(POINTS + 7.0, 4), groups)
    assert np.array_equal(seeded_groups(3.0 * POINTS, 4), groups)


def test_fewer_different_points_than_groups_are_no_error():
    groups = seeded_groups(np.repeat([[0.0], [1.0]], 5, axis=0), 4)
    assert len(set(groups[:5].tolist())) == 1
    assert groups[0] != groups[5]


@pytest.mark.parametrize(("K", "size"), [(1, SAMPLE_ROWS), (1000, 100_000)])
def test_samples_grow_with_the_components(K, size):
    assert sample_size(K) == size


@pytest.mark.parametrize(("kind", "number"), [("spherical", 1 + 4 + 1), ("diag", 1 + 4 + 4), ("full", 1 + 4 + 10)])
def test_parameters_of_a_component(kind, number):
    assert parameters_of_one(4, kind) == number


def fitted(points, groups, kind):
    """The likeliest components of given groups of points."""
    labels = sorted(set(groups))
    weights = np.array([(groups == k).mean() for k in labels])
    means = np.stack([points[groups == k].mean(axis=0) for k in labels])
    covariances = np.stack([np.cov(points[groups == k].T, bias=True) for k in labels])
    if kind == "spherical":
        covariances = np.trace(covariances, axis1=1, axis2=2) / points.shape[1]
    elif kind == "diag":
        covariances = np.diagonal(covariances, axis1=1, axis2=2).copy()
    return GaussianMixtureParameters(weights, means, covariances)


def hard_likelihood(points, groups, mixture):
    """Log-likelihood of points together with the component that each is in."""
    total = 0.0
    for k in range(mixture.weights.size):
        one = GaussianMixtureParameters(np.ones(1), mixture.means[[k]], mixture.covariances[[k]])
        members = points[groups == k]
        total += gaussian_log_densities(signal_blocks(members), one).sum() + len(members) * np.log(mixture.weights[k])
    return total


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
def test_merging_loses_what_likelihood_says(kind):
    """Two groups in one component: the loss is that of the likelihood of points with their components."""
    points = RNG.standard_normal((90, 2)) @ np.array([[1.0, 0.4], [0.0, 0.7]])
    groups = np.repeat([0, 1, 2], [30, 40, 20])
    points[groups == 1] += [4.0, 1.0]
    mixture = fitted(points, groups, kind)
    losses = moves._merge_losses(mixture.weights * 90, mixture)
    together = np.where(groups == 1, 0, groups)
    together = np.where(together == 2, 1, together)
    lost = hard_likelihood(points, groups, mixture) - hard_likelihood(points, together, fitted(points, together, kind))
    # In one component nobody asks which of the two a point was in.
    assert losses[0, 1] == pytest.approx(max(lost, 0.0), abs=1e-6)
    assert np.allclose(losses, losses.T)


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
def test_two_components_become_one_with_their_mean_and_covariance(kind):
    groups = np.repeat([0, 1], [60, 140])
    mixture = fitted(POINTS, groups, kind)
    found = moves._merged(mixture, 0, 1)
    whole = fitted(POINTS, np.zeros(200, int), kind)
    assert np.allclose(found.means, whole.means)
    assert np.allclose(found.covariances, whole.covariances)
    assert found.weights.tolist() == [1.0]


def test_a_move_frees_a_component_from_a_shared_group():
    """Two components in one group and one over two groups: the best move puts that right."""
    wrong = GaussianMixtureParameters(
        np.array([0.125, 0.125, 0.25, 0.5]),
        np.array([[-0.5, 0.0], [0.5, 0.0], [20.0, 0.0], [10.0, 20.0]]),
        np.array([1.0, 1.0, 1.0, 50.0]),
    )
    rule = CovarianceRule("spherical", False, 1e-6, None, 0.0)
    best = best_moves(POINTS, wrong, rule, 2)[0]
    assert set(best.merged) == {0, 1}
    assert best.split == 3
    assert best.gain > 100
    source = signal_blocks(POINTS)
    after = polish_gaussian(source, best.mixture, rule, max_iter=50, tol=1e-8)
    before = polish_gaussian(source, wrong, rule, max_iter=50, tol=1e-8)
    assert after.objective[-1] > before.objective[-1] + 0.5
    errors = min(np.abs(after.mixture.means[list(order)] - CENTRES).max() for order in permutations(range(4)))
    assert errors < 0.6


def spread_group():
    """Twelve groups, eleven components, and one of a single point: the last group is spread over all of them."""
    M, K, n = 60, 12, 100
    centres = 3 * np.eye(M)[:K]
    points = np.repeat(centres, n, axis=0) + np.random.default_rng(3).standard_normal((K * n, M))
    mixture = GaussianMixtureParameters(
        np.append(np.full(K - 1, 1 / K), 1e-3), np.vstack([centres[:-1], points[:1]]), np.append(np.ones(K - 1), 0.5)
    )
    rule = CovarianceRule("spherical", False, 1e-6, np.ones(()), 1.0)
    return points, centres, polish_gaussian(signal_blocks(points), mixture, rule, max_iter=99, tol=1e-6).mixture, rule


def test_a_group_that_all_components_share_gets_one_of_its_own():
    points, centres, rest, rule = spread_group()
    nearest = np.sqrt(((rest.means[:, None] - centres) ** 2).sum(axis=2)).min(axis=0)
    assert nearest[-1] > 3  # EM has come to rest without it
    (move,) = best_moves(points, rest, rule, 3)
    assert move.split is None
    assert move.gain > 0
    assert move.mixture.weights.sum() == pytest.approx(1.0)
    after = polish_gaussian(signal_blocks(points), move.mixture, rule, max_iter=50, tol=1e-6).mixture
    assert np.sqrt(((after.means[:, None] - centres) ** 2).sum(axis=2)).min(axis=0).max() < 1.2


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
def test_a_component_is_added_by_em_of_the_whole_mixture(kind):
    """One more component, with the mixture as it is: the gain is that of the definition, and never falls."""
    mixture = fitted(POINTS, np.minimum(LABELS, 2), kind)
    rule = CovarianceRule(kind, False, 1e-6, None, 0.0)
    densities = gaussian_log_densities(signal_blocks(POINTS), mixture)
    covariance = {"spherical": np.ones(1), "diag": np.ones((1, 2)), "full": np.eye(2)[None]}[kind]
    one = GaussianMixtureParameters(np.array([0.2]), CENTRES[[3]], covariance)
    gains = [polish_one_more(POINTS, densities, one, rule, max_iter=n)[1] for n in (1, 2, 3, 6)]
    assert (np.diff(gains) >= -1e-9).all()
    alone = gaussian_log_densities(signal_blocks(POINTS), GaussianMixtureParameters(np.ones(1), one.means, covariance))
    assert gains[0] == pytest.approx((np.logaddexp(np.log(0.8) + densities, np.log(0.2) + alone) - densities).sum())
    assert polish_one_more(POINTS, densities, one, rule, max_iter=9, needed=1e9)[1] == pytest.approx(gains[2])


def test_passes_end_where_they_cannot_reach_what_is_needed():
    rule = CovarianceRule("spherical", False, 1e-6, None, 0.0)
    start = GaussianMixtureParameters(np.full(2, 0.5), np.array([[9.0, 9.0], [11.0, 11.0]]), np.full(2, 50.0))
    soon = polish_few(POINTS, start, rule, max_iter=40, tol=0.0, needed=1e9)[1]
    assert soon == polish_few(POINTS, start, rule, max_iter=2, tol=0.0)[1]
    assert polish_few(POINTS, start, rule, max_iter=40, tol=0.0)[1] > soon


def test_where_all_is_well_there_is_no_move():
    rule = CovarianceRule("spherical", False, 1e-6, None, 0.0)
    assert best_moves(POINTS, fitted(POINTS, LABELS, "spherical"), rule, 3) == []
    assert best_moves(POINTS, fitted(POINTS, LABELS % 2, "spherical"), rule, 3) == []  # of two there is none to merge


def test_moves_keep_the_weight_of_all_components():
    mixture = fitted(POINTS, np.random.default_rng(1).integers(0, 5, 200), "diag")
    rule = CovarianceRule("diag", False, 1e-6, None, 0.0)
    found = best_moves(POINTS, mixture, rule, 5)
    assert found
    assert len({move.split for move in found}) == len(found)
    for move in found:
        assert move.mixture.weights.sum() == pytest.approx(1.0)
        assert move.mixture.means.shape == mixture.means.shape
    assert [move.gain for move in found] == sorted((move.gain for move in found), reverse=True)
