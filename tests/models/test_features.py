"""Columns, words, views and parameters as they come in: what is kept, and the sentences about what does not fit."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from polyad.corpus import make_corpus
from polyad.engine import signal_blocks
from polyad.models.checks import refuse_bad_numbers, refuse_unknown
from polyad.models.features import (
    refuse_other_columns,
    refuse_other_names,
    refuse_other_words,
    remember_columns,
    signal_source,
    views_by_name,
)
from polyad.models.limits import MemoryLimitError, limited, parse_size, within_limit
from polyad.models.stopwatch import StopWatch
from polyad.models.text_sources import (
    TextBlocks,
    counted_over,
    known_text,
    known_words,
    numbered_words,
    read_once,
    remember_words,
    words_of,
)


class Model(BaseEstimator):
    """An estimator that has nothing but the columns it was fitted with."""


def table(columns):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(np.eye(3, len(columns)), columns=list(columns))


def test_columns_of_a_fit_are_set_and_those_of_new_data_compared():
    model = Model()
    remember_columns(model, table("abc"), 3, reset=True)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    remember_columns(model, table("abc"), 3, reset=False)
    with pytest.raises(ValueError, match="feature names"):
        remember_columns(model, table("acb"), 3, reset=False)
    remember_columns(model, iter([]), 5, reset=True)  # blocks: another fit forgets the names
    assert model.n_features_in_ == 5
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 4 features, but Model is expecting 5 features"):
        remember_columns(model, iter([]), 4, reset=False)


@pytest.mark.parametrize("make", [np.asarray, signal_blocks, lambda X: [X[:2], X[2:]]])
def test_measurements_are_checked_wherever_they_lie(make):
    X, model = np.arange(12.0).reshape(4, 3), Model()
    assert signal_source(model, make(X), reset=True).shape == (4, 3)
    assert model.n_features_in_ == 3
    assert signal_source(model, make(X[:3]), reset=False).n_rows == 3
    with pytest.raises(ValueError, match="X has 2 features, but Model is expecting 3 features"):
        signal_source(model, make(X[:, :2]), reset=False)
    with pytest.raises(ValueError, match="a minimum of 2 is required"):
        signal_source(Model(), make(X[:1]), reset=True)


def test_names_and_words_that_differ_are_told_with_the_first_place():
    refuse_other_names(np.eye(2), ["a"], "Y")
    refuse_other_names(table("ab"), None, "Y")
    refuse_other_names(table("ab"), ["a", "b"], "Y")
    with pytest.raises(ValueError, match=r"of Y have other .* column 1 is 'b', and was 'c'\.$"):
        refuse_other_names(table("ab"), ["a", "c"], "Y")
    with pytest.raises(ValueError, match=r"column 0 is 'b', and was 'a'\. The columns are the same in another order"):
        refuse_other_names(table("ba"), ["a", "b"], "Y")
    with pytest.raises(ValueError, match="column 2 is nothing, and was 'c'"):
        refuse_other_names(table("ab"), ["a", "b", "c"], "Y")
    with pytest.raises(ValueError, match=r"column 1 is 'x', and 'b' in the model\. Count them against"):
        refuse_other_words(["a", "x"], ["a", "b"])
    with pytest.raises(ValueError, match="Y has 2 columns, but the model was fitted with 3"):
        refuse_other_columns(2, 3, "Y")


def test_views_by_name_come_in_the_order_of_the_fit():
    assert views_by_name({"b": 2, "a": 1}, ("a", "b", "c")) == [1, 2, None]
    with pytest.raises(ValueError, match="There is a view 'd'; the model knows 'a', 'b'"):
        views_by_name({"d": 1}, ("a", "b"))
    with pytest.raises(ValueError, match="fitted on a list of views: give a list, or fit it on views with names"):
        views_by_name({"a": 1}, None)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"whole": 0}, "whole is 0; give a whole number from 1 up"),
        ({"whole": 2.0}, r"whole is 2\.0; give a whole number"),
        ({"whole": True}, "whole is True"),
        ({"whole": None}, "whole is None"),
        ({"number": -0.1}, r"number is -0\.1; give a number from 0 up"),
        ({"number": np.inf}, "number is inf"),
        ({"number": np.nan}, "number is nan"),
        ({"number": "1"}, "number is '1'"),
        ({"number": False}, "number is False"),
    ],
)
def test_parameters_that_are_no_such_numbers_are_told(parameters, message):
    sound = {"whole": np.int64(3), "number": np.float32(0.5)}
    refuse_bad_numbers(SimpleNamespace(**sound), whole={"whole": 1}, numbers=("number",))
    with pytest.raises(ValueError, match=message):
        refuse_bad_numbers(SimpleNamespace(**{**sound, **parameters}), whole={"whole": 1}, numbers=("number",))


def test_unknown_values_are_told_with_the_known_ones():
    refuse_unknown("start", "auto", ("auto", "seeds"))
    with pytest.raises(ValueError, match="start is 'here'; give one of 'auto', 'seeds'"):
        refuse_unknown("start", "here", ("auto", "seeds"))


CORPUS = make_corpus([[1, 0, 2], [0, 1, 0]], ["a", "b", "c"])


def test_words_of_a_fit_are_set_and_those_of_new_data_compared():
    model = Model()
    remember_words(model, CORPUS, 3, reset=True)
    assert model.vocabulary_ == ("a", "b", "c")
    assert words_of(model) == ("a", "b", "c")
    remember_words(model, CORPUS, 3, reset=False)
    with pytest.raises(ValueError, match="counted over other words"):
        remember_words(model, make_corpus([[1, 0, 2]], ["a", "c", "b"]), 3, reset=False)
    remember_words(model, CORPUS.counts, 3, reset=True)
    assert (model.vocabulary_, known_words(model)) == (None, None)
    assert words_of(model) == ("0", "1", "2")
    assert numbered_words(["x"], 9) == ("x",)


def test_blocks_of_one_vocabulary_are_followed_and_others_refused():
    blocks = TextBlocks([CORPUS, CORPUS[1:]])
    assert known_text(blocks) == (None, None)  # not before they have passed
    assert sum(len(block) for block in blocks) == 3
    assert known_text(blocks)[0] == ("a", "b", "c")
    with pytest.raises(ValueError, match="The parts of X were counted over different words"):
        list(TextBlocks([CORPUS, make_corpus([[1]], ["z"])]))


def test_an_iterator_is_read_once_with_its_words():
    found = read_once(iter([CORPUS, CORPUS]))
    assert found.counts.n_rows == 4
    assert known_text(found)[0] == ("a", "b", "c")
    assert read_once(CORPUS) is CORPUS


def test_bags_of_words_are_counted_over_the_words_of_a_model():
    assert counted_over([[(2, 3)], []], None, 4, None).toarray().tolist() == [[0, 0, 3, 0], [0, 0, 0, 0]]
    with pytest.raises(ValueError, match="word number 7, and the model knows 0 to 3"):
        counted_over([[(7, 1)]], None, 4, None)
    counts = np.eye(2)
    assert counted_over(counts, None, 2, None) is counts


@pytest.mark.parametrize(
    ("size", "n_bytes"),
    [("4GB", 4 * 10**9), ("1.5 MiB", 3 * 2**19), ("2k", 2000), (" 7 ", 7), (12, 12), ("1TiB", 2**40), ("0.5kb", 500)],
)
def test_sizes_are_bytes(size, n_bytes):
    assert parse_size(size) == n_bytes


@pytest.mark.parametrize("size", ["", "GB", "-1GB", "0", "1PB", "1 2", "4GiBs", "nan"])
def test_sizes_that_are_none_are_told(size):
    with pytest.raises(ValueError, match="give a size such as '4GB' or '512MiB', or a number of bytes"):
        parse_size(size)


def test_limits_hold_inside_and_are_gone_outside():
    assert within_limit(10**12, True) == 10**12
    with limited("1GB"):
        with limited(None):  # sets none of its own
            assert within_limit(10**9, False) == 10**9
            with pytest.raises(MemoryLimitError, match=r"about 2\.00 GB of memory, and may have 1\.00 GB\. Ask"):
                within_limit(2 * 10**9, False)
        with pytest.raises(MemoryLimitError, match="Index the corpus, so that documents stay on disk, or ask"):
            within_limit(2 * 10**9, True)
        with limited("3GB"):
            assert within_limit(2 * 10**9, True) == 2 * 10**9
    assert within_limit(10**12, True) == 10**12


def test_a_watch_adds_up_the_times_of_a_step_also_of_one_that_fails():
    watch = StopWatch()

    def fail():
        with watch("polish"):
            raise RuntimeError

    with watch("read"):
        pass
    first = watch.seconds["read"]
    with watch("read"):
        sum(range(1000))
    with pytest.raises(RuntimeError):
        fail()
    assert list(watch.seconds) == ["read", "polish"]
    assert watch.seconds["read"] > first
