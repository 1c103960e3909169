"""Arrays gone through piece by piece: the same as all at once."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyad.moments import chunks as module
from polyad.moments.chunks import chunks, subtract_diagonal, subtract_outer, used_columns


@given(st.integers(0, 20_000))
def test_pieces_are_even_in_number_follow_each_other_and_fit_the_cache(n_rows):
    pieces = list(chunks(n_rows))
    assert len(pieces) % 2 == 0
    assert pieces[0].start == 0
    assert pieces[-1].stop == n_rows
    assert all(one.stop == two.start for one, two in pairwise(pieces))
    sizes = [piece.stop - piece.start for piece in pieces]
    assert max(sizes) <= module.CHUNK_ROWS
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("rows", [1, 5, 2048, 3001])
def test_differences_are_made_in_place(rows):
    rng = np.random.default_rng(rows)
    products, columns = rng.standard_normal((2, rows, 3))
    diagonal, right = rng.standard_normal(rows), rng.standard_normal(3)
    wanted = products - np.diag(diagonal) @ columns if rows < 100 else products - diagonal[:, None] * columns
    given_memory = products.copy()
    assert subtract_diagonal(given_memory, diagonal, columns) is given_memory
    assert np.allclose(given_memory, wanted, atol=1e-14)
    given_memory = products.copy()
    assert subtract_outer(given_memory, diagonal, right) is given_memory
    assert np.allclose(given_memory, products - np.outer(diagonal, right), atol=1e-14)


def test_used_columns_are_those_with_anything_in_them():
    whitener = np.array([[0.0, 1.0, 0.0, -2.0], [0.0, 0.0, 0.0, 1e-300]])
    assert used_columns(whitener).tolist() == [1, 3]
    assert used_columns(whitener[:, [1, 3]]) == slice(None)
    assert used_columns(np.zeros((2, 3))).tolist() == []
