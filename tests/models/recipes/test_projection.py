"""Projections across texts, linear factors and starts of mixtures: against the definitions."""

import numpy as np
import pytest

from polyad.datasets import make_spherical_mixture
from polyad.decompose.whitening.symmetric import block_columns, krylov_columns
from polyad.engine import aligned, count_blocks, signal_blocks
from polyad.inference.mixtures.gaussian import GaussianMixtureParameters
from polyad.models.recipes.factors import (
    LinearFactors,
    estimated_sources,
    explained_variance,
    nonnegative_columns,
    projected_rows,
)
from polyad.models.recipes.gaussian import (
    moment_start,
    pooled,
    seed_start,
    spans_too_little,
    spherical_parameters,
    with_covariances,
)
from polyad.models.recipes.plan import aligned_plan, moment_plan, topic_plan
from polyad.models.recipes.projection import Projection, projected_roots, shared_projections, unit_projections
from polyad.moments.signals.spherical import spherical_population

RNG = np.random.default_rng(0)


def roots(X):
    return np.sqrt(X / np.maximum(X.sum(axis=1, keepdims=True), 1.0))


def test_documents_are_roots_of_proportions():
    X = RNG.poisson(1.0, (9, 4)).astype(float)
    X[3] = 0
    columns = RNG.standard_normal((4, 2))
    block = count_blocks(X).shard(0)
    assert np.allclose(projected_roots(block, 0, columns), roots(X) @ columns)


def test_unit_projections_are_centred_and_of_length_one():
    X = RNG.poisson(1.0, (9, 4)).astype(float)
    X[3] = 0
    projection = Projection(RNG.standard_normal((2, 4)), np.array([0.1, -0.2]))
    found = unit_projections(count_blocks(X), projection)
    wanted = roots(X) @ projection.weights.T - projection.centre
    wanted[3] = 0
    wanted /= np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), 1e-300)
    assert np.allclose(found, wanted)
    assert np.allclose(unit_projections(count_blocks(7 * X), projection), found)  # the length does not matter


def test_directions_count_by_their_correlation_between_the_texts():
    shared, left, right = RNG.poisson(4.0, (3, 3000, 1)).astype(float)
    X = np.hstack([shared, left, np.full_like(left, 4.0)])
    Y = np.hstack([shared, right, np.full_like(right, 4.0)])
    directions = [np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])] * 2
    one, two = shared_projections(aligned(count_blocks(X), count_blocks(Y)), directions)
    rows = [roots(view) @ directions[0].T for view in (X, Y)]
    correlation = [np.corrcoef(rows[0][:, d], rows[1][:, d])[0, 1] for d in (0, 1)]
    for found, own in ((one, rows[0]), (two, rows[1])):
        for d in (0, 1):
            weight = max(correlation[d], 0.0) ** 2
            assert found.weights[d] @ directions[0][d] == pytest.approx(weight / own[:, d].std(), rel=1e-6)
            assert found.centre[d] == pytest.approx(weight * own[:, d].mean() / own[:, d].std(), rel=1e-6)
        assert not found.weights[2].any()  # a direction in which nothing varies is not blown up
    assert np.linalg.norm(one.weights[0]) > 5 * np.linalg.norm(one.weights[1])


def linear():
    """Two views of two sources with noise, and what linear inference should know of them."""
    D1, D2 = RNG.standard_normal((4, 2)), RNG.standard_normal((3, 2))
    noise1, noise2 = np.diag(RNG.gamma(2.0, size=4)), np.diag(RNG.gamma(2.0, size=3))
    P1, P2 = np.linalg.pinv(D1), np.linalg.pinv(D2)
    factors = LinearFactors(
        D1, D2, P1, P2,
        np.eye(2) + P1 @ noise1 @ P1.T, np.eye(2) + P2 @ noise2 @ P2.T,
        RNG.standard_normal(4), RNG.standard_normal(3),
    )  # fmt: skip
    return factors, noise1, noise2


def test_the_best_linear_estimates_are_those_of_least_squares():
    factors, noise1, noise2 = linear()
    P1, P2 = factors.x_projection, factors.y_projection
    N1, N2 = P1 @ noise1 @ P1.T, P2 @ noise2 @ P2.T
    x, y = RNG.standard_normal((2, 7, 2))
    assert np.allclose(factors.from_x(x), x @ np.linalg.inv(np.eye(2) + N1))
    assert np.allclose(factors.from_y(y), y @ np.linalg.inv(np.eye(2) + N2))
    # The covariance of (x, y) and that of them with the sources.
    joint = np.block([[np.eye(2) + N1, np.eye(2)], [np.eye(2), np.eye(2) + N2]])
    wanted = np.hstack([x, y]) @ np.linalg.solve(joint, np.vstack([np.eye(2), np.eye(2)]))
    assert np.allclose(factors.from_both(x, y), wanted)


def test_views_in_the_other_order():
    factors, _, _ = linear()
    other = factors.swapped()
    assert np.array_equal(other.x_loadings, factors.y_loadings)
    assert np.array_equal(other.y_mean, factors.x_mean)
    assert np.array_equal(other.correlations, factors.correlations)
    assert np.array_equal(other.swapped().x_covariance, factors.x_covariance)


def test_views_are_checked_on_the_way_in():
    factors, _, _ = linear()
    X, Y = RNG.standard_normal((5, 4)), RNG.standard_normal((5, 3))
    x, y = signal_blocks(X), signal_blocks(Y)
    assert np.allclose(
        projected_rows(x, factors.x_projection, factors.x_mean), (X - factors.x_mean) @ factors.x_projection.T
    )
    assert np.allclose(
        estimated_sources(factors, x, None), factors.from_x((X - factors.x_mean) @ factors.x_projection.T)
    )
    with pytest.raises(ValueError, match="Both views are None: give X, Y, or both"):
        estimated_sources(factors, None, None)
    with pytest.raises(ValueError, match="X has 3 columns, but the model was fitted with 4"):
        estimated_sources(factors, y, None)
    with pytest.raises(ValueError, match="Y has 4 columns, but the model was fitted with 3"):
        estimated_sources(factors, None, x)
    with pytest.raises(ValueError, match="X has 5 rows and Y has 2: give one row each for every sample"):
        estimated_sources(factors, x, signal_blocks(Y[:2]))


@pytest.mark.parametrize("not_negative", [False, True])
def test_explained_variance_is_that_of_scikit_learn(not_negative):
    from sklearn.metrics import r2_score

    factors, _, _ = linear()
    X, Y = RNG.standard_normal((40, 4)), RNG.standard_normal((40, 3)) + 1
    expected = factors.from_x((X - factors.x_mean) @ factors.x_projection.T) @ factors.y_loadings.T + factors.y_mean
    expected = np.maximum(expected, 0.0) if not_negative else expected
    source = aligned(signal_blocks(X), signal_blocks(Y))
    found = explained_variance(factors, source, not_negative=not_negative)
    assert np.allclose(found, r2_score(Y, expected, multioutput="raw_values"))
    Y[:, 1] = 2.0  # a column that does not vary
    source = aligned(signal_blocks(X), signal_blocks(Y))
    assert explained_variance(factors, source, not_negative=not_negative)[1] == 0.0


def test_columns_that_are_not_negative():
    found = nonnegative_columns(np.array([[1.0, -1.0], [-2.0, -2.0], [3.0, 0.0]]))
    assert np.allclose(found, [[0.25, 1 / 3], [0.0, 1 / 3], [0.75, 1 / 3]])


WEIGHTS, MEANS = (
    np.array([0.5, 0.3, 0.2]),
    np.array([[3.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, -1.0], [-1.0, 0.0, 4.0, 0.0]]),
)


@pytest.mark.parametrize("variances", [[1.0, 1.0, 1.0], [0.5, 1.0, 2.0]])
def test_moments_of_a_mixture_of_gaussians_give_it_back(variances):
    found = spherical_parameters(spherical_population(WEIGHTS, MEANS, np.array(variances)), strict=True)
    order = np.argsort(-found.mixture.weights)
    assert np.allclose(found.mixture.weights[order], WEIGHTS, atol=1e-8)
    assert np.allclose(found.mixture.means[order], MEANS, atol=1e-7)
    assert np.allclose(found.mixture.covariances[order], variances, atol=1e-7)
    assert found.energy < 1e-12


@pytest.mark.parametrize(
    ("X", "K", "note"),
    [
        (RNG.standard_normal((50, 3)), 1, "one component needs none"),
        (RNG.standard_normal((50, 3)), 4, "moments find up to 3 components in 3 columns"),
        (RNG.standard_normal((500, 1)) * np.array([1.0, 0.0, 0.0]), 3, "the points vary in fewer than 2 directions"),
        (RNG.standard_normal((500, 4)), 4, "the means of 4 components span"),
    ],
)
def test_where_moments_say_nothing_it_is_told_why(X, K, note):
    found, _, said = moment_start(signal_blocks(X), K, shared=False)
    assert found is None
    assert said.startswith(note)


def test_means_that_are_told_apart_from_noise():
    assert spans_too_little(np.array([9.0, 5.0, 1.0]), 1.0, 3, 1000) == ""
    assert spans_too_little(np.array([9.0, 1.0, 1.0]), 1.0, 3, 1000).startswith("the means of 3 components span 1 of 2")


def test_seeds_are_groups_that_lie_far_from_each_other():
    sample = make_spherical_mixture(600, 3, 3, separation=30.0)
    found = seed_start(sample.X, 3, "spherical")
    distances = np.linalg.norm(found.means[:, None] - sample.means, axis=2)
    assert distances.min(axis=0).max() < 0.5
    assert np.allclose(found.weights.sum(), 1)
    scaled = seed_start(sample.X * [1.0, 1e3, 1e-3], 3, "diag")
    assert np.allclose(np.sort(scaled.weights), np.sort(found.weights))  # units of columns do not matter


def test_covariances_of_another_kind_keep_the_proportions_of_the_points():
    points = RNG.standard_normal((100, 2)) * [1.0, 3.0]
    mixture = GaussianMixtureParameters(np.array([0.4, 0.6]), points[:2], np.array([4.0, 0.5]))
    assert with_covariances(mixture, points, "spherical") is mixture
    diag = with_covariances(mixture, points, "diag").covariances
    assert np.allclose(diag, np.minimum([[4.0], [0.5]], points.var(axis=0)))
    whole = with_covariances(mixture, points, "full").covariances
    assert np.allclose(np.diagonal(whole, axis1=1, axis2=2), diag)
    assert np.allclose(pooled(with_covariances(mixture, points, "full")), 0.4 * whole[0] + 0.6 * whole[1])


def test_a_model_with_means_in_general_position_is_asked_for():
    with pytest.raises(ValueError, match="The means are not in general position"):
        spherical_population(np.array([0.5, 0.5]), np.zeros((2, 3)), np.ones(2))


def test_plans_name_the_steps_of_a_fit():
    plan = topic_plan(20, 5, pass_cost=3.0)
    assert list(plan) == ["read", "moments", "polish"]
    assert plan["polish"].cost == 15.0
    assert list(topic_plan(20, 5, pass_cost=3.0, prior_cost=2.0)) == ["read", "moments", "polish", "prior"]
    assert list(aligned_plan(20, 5, pass_cost=3.0)) == ["read", "moments", "polish", "prior", "projections"]
    few, many = moment_plan(5), moment_plan(50)
    assert many.cost > few.cost
    assert many.passes >= krylov_columns(50) // block_columns(50)
