"""Fixed starts: the same for all data, in general position, and no two alike."""

import numpy as np
import pytest

from polyad.base.fixed import fixed_columns, fixed_directions, fixed_orthonormal


def by_hand(i, j):
    """Entry of row i and column j, from 1: the fractional part of i^2 times the root of the j-th number no square."""
    numbers = [n for n in range(2, 100) if int(n**0.5) ** 2 != n]
    return (i * i * numbers[j - 1] ** 0.5) % 1.0 - 0.5


def test_columns_are_those_of_the_definition():
    found = fixed_columns(7, 9)
    wanted = np.array([[by_hand(i, j) for j in range(1, 10)] for i in range(1, 8)])
    assert np.allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize(("size", "n_columns"), [(1, 1), (2, 40), (500, 3), (40, 300)])
def test_columns_have_the_shape_and_the_range(size, n_columns):
    found = fixed_columns(size, n_columns)
    assert found.shape == (size, n_columns)
    assert (np.abs(found) <= 0.5).all()
    assert np.isfinite(found).all()


def test_more_columns_and_more_rows_leave_the_first_as_they_are():
    large = fixed_columns(50, 30)
    assert np.array_equal(large[:20, :10], fixed_columns(20, 10))


NO_SQUARES = [n for n in range(2, 200) if int(n**0.5) ** 2 != n]
# sqrt(8) is 2 sqrt(2): such columns are alike, though not the same.
SQUARE_FREE = [place for place, n in enumerate(NO_SQUARES) if all(n % (d * d) for d in range(2, 15))]


def test_columns_are_spread_evenly_and_unlike_each_other():
    columns = fixed_columns(4000, 12)
    assert np.abs(columns.mean(axis=0)).max() < 0.03
    assert np.abs(columns.var(axis=0) - 1 / 12).max() < 0.005
    correlations = np.abs(np.corrcoef(columns.T) - np.eye(12))
    free = [place for place in SQUARE_FREE if place < 12]
    assert correlations[np.ix_(free, free)].max() < 0.06
    assert correlations.max() < 0.6


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 16, 33, 64])
def test_the_first_directions_are_independent(size):
    directions = fixed_directions(size, 3 * size)
    assert np.allclose(np.linalg.norm(directions, axis=1), 1)
    assert np.linalg.cond(directions[:size]) < 1e4
    assert np.linalg.cond(directions) < 100  # all together look in all directions
    assert np.linalg.matrix_rank(directions[size : 2 * size]) >= size - 1


@pytest.mark.parametrize(("size", "n_directions"), [(1, 1), (6, 6), (30, 4)])
def test_orthonormal_directions_span_those_of_the_columns(size, n_directions):
    found = fixed_orthonormal(size, n_directions)
    assert np.allclose(found @ found.T, np.eye(n_directions), atol=1e-12)
    columns = fixed_columns(size, n_directions)
    assert np.allclose(found.T @ (found @ columns), columns, atol=1e-12)
