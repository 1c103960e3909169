"""Sequences whose items are made when they are asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyad.base.items import Items


class Squares(Items[int]):
    def __init__(self, n):
        self.n, self.asked = n, []

    def __len__(self):
        return self.n

    def item(self, place):
        self.asked.append(place)
        return place * place


PLACES = st.none() | st.integers(-9, 9)


@given(st.integers(0, 6), PLACES, PLACES, st.none() | st.integers(-4, 4).filter(bool))
def test_slices_are_those_of_a_tuple(n, first, last, step):
    assert Squares(n)[first:last:step] == tuple(k * k for k in range(n))[first:last:step]


def test_places_count_from_either_end_and_no_others():
    squares = Squares(4)
    assert [squares[k] for k in (0, 3, -1, -4)] == [0, 9, 9, 0]
    for place in (4, -5):
        with pytest.raises(IndexError):
            squares[place]
    assert list(squares) == [0, 1, 4, 9]
    assert 9 in squares
    assert squares.index(4) == 2


def test_only_what_is_asked_for_is_made():
    squares = Squares(100)
    assert squares[10:13] == (100, 121, 144)
    assert squares.asked == [10, 11, 12]
