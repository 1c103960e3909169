"""Names that a user gives to topics, and the words of columns, in all forms and none that is wrong."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyad.base.names import MAX_NAME, checked_names, given_names
from polyad.base.words import listed_words


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["Courts"], r"Names of topics are a dictionary such as \{3: 'Courts'\}, not \['Courts'\]"),
        ({0: 3}, "The name of topic 0 is 3; give a text"),
        ({-1: "x"}, "There is no topic -1 to be named 'x': topics have the numbers 0 to 4"),
        ({True: "x"}, "There is no topic True"),
        ({"1": "x"}, "There is no topic 1 to be named"),
        ({1.0: "x"}, r"There is no topic 1\.0"),
        ({0: "x" * 201}, "The name of topic 0 has 201 characters; the most is 200"),
    ],
)
def test_names_that_cannot_be_are_told(names, message):
    with pytest.raises(ValueError, match=message):
        checked_names(names, 5)


def test_names_come_in_the_order_of_the_topics_without_spaces_around_them():
    found = checked_names({np.int64(4): " d ", 0: "a", 2: "  "}, 5)
    assert found == {0: "a", 4: "d"}
    assert list(found) == [0, 4]
    assert all(type(number) is int for number in found)
    assert checked_names({0: "x" * MAX_NAME}, 1)[0] == "x" * MAX_NAME


def test_names_of_a_model_are_checked_against_its_topics():
    model = SimpleNamespace(topic_shares_=np.ones(2) / 2)
    assert given_names(model) == {}
    model.names_ = {1: "Seas"}
    assert given_names(model) == {1: "Seas"}
    model.names_ = {2: "Seas"}
    with pytest.raises(ValueError, match="numbers 0 to 1"):
        given_names(model)


WORDS = st.lists(st.text("abcé ", min_size=1, max_size=5), unique=True, min_size=1, max_size=8)


@given(WORDS, st.randoms(use_true_random=False))
def test_a_vocabulary_is_the_same_in_every_form(words, random):
    pairs = list(enumerate(words))
    random.shuffle(pairs)
    assert listed_words(words) == words
    assert listed_words(np.array(words, dtype=object)) == words
    assert listed_words({word: np.int64(number) for number, word in pairs}) == words
    assert listed_words(dict(pairs)) == words
    assert listed_words(word for word in words) == words


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ("sun rain", "The vocabulary is the text 'sun rain'; give a list of words"),
        ({"sun": 1, "rain": 2}, "has 2 words and none for column 0"),
        ({"sun": 0, "rain": 0}, "has 2 words and none for column 1"),
        ({0: "sun", 2: "rain"}, "has 2 words and none for column 1: give every column from 0 up one word"),
    ],
)
def test_a_vocabulary_that_cannot_be_is_told(vocabulary, message):
    with pytest.raises(ValueError, match=message):
        listed_words(vocabulary)
