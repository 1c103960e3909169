"""Classes that three views show: exact moments in, exact classes out, by both routes and in any order."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import aslinearoperator

from polyad.decompose import RankError
from polyad.decompose.three_views import Classes, averaged_classes, classes_of, symmetric_classes
from polyad.moments.views.triples import ThreeViews, clearness, three_views_population

RNG = np.random.default_rng(0)


def features(size, K, rng=RNG):
    return np.vstack([rng.standard_normal((size - 1, K)), np.ones((1, K))])


WEIGHTS = np.array([0.5, 0.3, 0.2])
VIEWS = [features(size, 3) for size in (5, 4, 6)]


def matched(found, wanted):
    """The order of found classes that fits best: columns of all views under each other."""
    stacked, true = np.vstack(found.views), np.vstack(wanted)
    return linear_sum_assignment(((true[:, :, None] - stacked[:, None, :]) ** 2).sum(axis=0))[1]


@pytest.mark.parametrize("method", ["exact", "jdtm", "spectral"])
@pytest.mark.parametrize("third_rank", [3, 2])
def test_exact_moments_give_the_classes_back(method, third_rank):
    views = list(VIEWS)
    if third_rank == 2:  # the third view may have any rank that tells classes apart
        views[2] = features(2, 3)
    found = classes_of(three_views_population(WEIGHTS, *views), 3, method=method)
    order = matched(found, views)
    assert np.allclose(found.weights[order], WEIGHTS, atol=1e-8)
    for one, other in zip(found.views, views):
        assert np.allclose(one[:, order], other, atol=1e-7)
    assert found.energy < 1e-12


def test_operators_are_matrices():
    moments = three_views_population(WEIGHTS, *VIEWS)
    lazy = ThreeViews(aslinearoperator(moments.second), moments.means, moments.third, moments.scales, moments.n_rows)
    one, other = classes_of(moments, 3), classes_of(lazy, 3)
    assert np.allclose(one.weights, other.weights, atol=1e-9)
    assert clearness(lazy, 3) == np.inf  # not formed to be looked at


def test_too_few_directions_are_told():
    views = [VIEWS[0], VIEWS[1][:, [0, 1, 1]], VIEWS[2]]  # two classes look the same in the second view
    with pytest.raises(RankError):
        classes_of(three_views_population(WEIGHTS, *views), 3)


def pairings():
    return {
        (a, b, c): three_views_population(WEIGHTS, VIEWS[a], VIEWS[b], VIEWS[c])
        for a, b, c in ((0, 1, 2), (0, 2, 1), (1, 2, 0))
    }


def test_the_symmetric_route_gives_the_classes_back():
    found = symmetric_classes(pairings(), 3)
    order = matched(found, VIEWS)
    assert np.allclose(found.weights[order], WEIGHTS, rtol=0, atol=1e-8)
    for one, other in zip(found.views, VIEWS):
        assert np.allclose(one[:, order], other, rtol=0, atol=1e-8)


def test_the_symmetric_route_tells_how_many_classes_there_are():
    with pytest.raises(RankError, match="has 3 positive directions, and 4 classes were asked for"):
        symmetric_classes(pairings(), 4)


@pytest.mark.parametrize("shuffle", list(permutations(range(3)))[1:4])
def test_the_mean_of_pairings_pairs_the_same_classes(shuffle):
    shuffle = list(shuffle)
    one = Classes(WEIGHTS, tuple(VIEWS), np.ones(3), 0.1)
    # The second pairing has its views in another place, and its classes in another order.
    moved = [view + 0.02 for view in VIEWS]
    other = Classes(
        WEIGHTS[shuffle], (moved[0][:, shuffle], moved[2][:, shuffle], moved[1][:, shuffle]), np.ones(3), 0.3
    )
    found = averaged_classes({(0, 1, 2): one, (0, 2, 1): other}, [np.ones(len(view)) for view in VIEWS])
    assert np.allclose(found.weights, WEIGHTS)
    for view, wanted in zip(found.views, VIEWS):
        assert np.allclose(view, wanted + 0.01)
    assert found.energy == pytest.approx(0.2)


def test_clearness_is_a_singular_value_over_that_of_noise():
    moments = three_views_population(WEIGHTS, *VIEWS, n_rows=400)
    left, right, _ = (1 / scale for scale in moments.scales)
    values = np.linalg.svd(np.diag(left) @ moments.second @ np.diag(right), compute_uv=False)
    noise = (np.sqrt(5) + np.sqrt(4)) / 20
    for K in (1, 2, 3):
        assert clearness(moments, K) == pytest.approx(values[K - 1] / noise)
    assert clearness(moments, 9) == 0.0
    assert clearness(moments, 4) < 1e-6
