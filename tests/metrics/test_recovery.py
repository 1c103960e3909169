import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyad.metrics import amari_distance, l1_error, match_rows


@given(st.integers(0, 1000), st.integers(1, 6))
def test_order_does_not_matter(seed, K):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.ones(8), K)
    order = rng.permutation(K)
    assert l1_error(topics[order], topics) == pytest.approx(0, abs=1e-12)
    assert np.array_equal(topics[order][match_rows(topics[order], topics)], topics)


def test_l1_error_by_hand():
    assert l1_error([[0.75, 0.25], [0.25, 0.75]], [[0.0, 1.0], [1.0, 0.0]]) == pytest.approx(0.25)
    assert 0 <= l1_error([[1.0, 0.0]], [[0.0, 1.0]]) <= 1


def test_the_assignment_is_global():
    """Taking the nearest row greedily for the first topic would force a bad match on the second."""
    true = np.array([[0.5, 0.5, 0.0], [0.4, 0.6, 0.0]])
    found = np.array([[0.42, 0.58, 0.0], [0.0, 0.0, 1.0]])
    assert l1_error(found, true) == pytest.approx((0.02 + 1) / 2)


@given(st.integers(0, 1000), st.integers(2, 6))
def test_amari_ignores_order_sign_and_scale(seed, K):
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((K, K)) + 3 * np.eye(K)
    scaled = np.linalg.inv(mixing)[rng.permutation(K)] * rng.uniform(0.5, 2, (K, 1)) * rng.choice([-1, 1], (K, 1))
    assert amari_distance(scaled, mixing) < 1e-8


def test_amari_by_hand():
    # Rows and columns each: (1 + .5) / 1 - 1 = .5; four of them over 2 * 2 * 1.
    assert amari_distance([[1, 0.5], [0.5, 1]], np.eye(2)) == pytest.approx(0.5)
    assert amari_distance(np.ones((3, 3)), np.eye(3)) == pytest.approx(1.0)
    assert amari_distance([[2.0]], [[1.0]]) == 0


def test_bad_shapes():
    with pytest.raises(ValueError, match="same shape"):
        l1_error(np.ones((2, 3)), np.ones((3, 3)))
    with pytest.raises(ValueError, match="NaN"):
        l1_error([[np.nan]], [[1.0]])
    with pytest.raises(ValueError, match="square"):
        amari_distance(np.ones((2, 3)), np.ones((3, 4)))
