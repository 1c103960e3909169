"""Data of other libraries: what they are taken for, and the sentences about what they are not."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from polyad.engine.inputs import (
    counts_of_bags,
    is_bag,
    is_bags,
    is_lazy_frame,
    matrix_of,
    names_of_columns,
    refuse_document,
    refuse_listed_pairs,
    refuse_texts,
)

BAGS = st.lists(st.dictionaries(st.integers(0, 6), st.integers(1, 5), max_size=5), min_size=1, max_size=6)


@given(BAGS)
@settings(max_examples=40, deadline=None)
def test_bags_of_words_are_counts(bags):
    pairs = [list(bag.items()) for bag in bags]
    found = counts_of_bags(pairs, n_columns=7).toarray()
    wanted = np.zeros((len(bags), 7))
    for row, bag in enumerate(bags):
        for word, count in bag.items():
            wanted[row, word] = count
    assert np.array_equal(found, wanted)
    if any(bags):
        assert is_bags(pairs)
        assert np.array_equal(matrix_of(pairs, 7).toarray(), wanted)
        width = 1 + max(word for bag in bags for word in bag)
        assert matrix_of(pairs).shape == (len(bags), width)


@pytest.mark.parametrize(
    ("X", "bags"),
    [
        ([[(0, 2)], []], True),
        ([[], []], False),
        ([], False),
        ([[[0, 2]], [[1, 1]]], False),  # lists of two numbers are rows of a table
        ([(0, 2), (1, 1)], False),
        ([[(0.5, 2)]], False),
        ([[(0, 1, 2)]], False),
        (np.zeros((2, 2)), False),
    ],
)
def test_what_is_a_list_of_bags(X, bags):
    assert is_bags(X) == bags


def test_lists_without_a_word_are_bags_where_they_may_be():
    assert is_bags([[], []], may_be_empty=True)
    assert is_bag([])
    assert not is_bag([(1, 2), "x"])


@pytest.mark.parametrize(
    ("bags", "n_columns", "message"),
    [
        ([[(0, 1)], [(3, 1), (5, 2)]], 4, "The bag of words 1 has the word number 5, and the model knows 0 to 3"),
        ([[], [(-1, 1)]], None, r"The bag of words 1 has the word number -1\."),
    ],
)
def test_words_that_nobody_knows_are_told(bags, n_columns, message):
    with pytest.raises(ValueError, match=message):
        counts_of_bags(bags, n_columns)


def test_one_bag_of_an_iterable_is_refused_and_other_parts_are_not():
    with pytest.raises(ValueError, match=r"X yields bags of words.*give list\(bags\), or gensim"):
        refuse_document([(0, 1), (3, 2)])
    for part in ([], [[1, 2]], np.zeros((2, 2)), [[(1, 2)]]):
        refuse_document(part)


def test_pairs_in_lists_are_bags_or_blocks_of_two_words():
    for X in ([[[0, 2], [3, 1]], [[1, 4]]], [[], [[1, 2]]]):
        with pytest.raises(ValueError, match=r"X is a list of lists of pairs.*tuple\(pair\).*columns as arrays"):
            refuse_listed_pairs(X)
    for X in ([[1, 2], [3, 4]], [[], []], [[[0, 2, 1]]], [[[0.5, 2]]], [[(0, 2)]], [np.ones((2, 2))], np.ones((2, 2))):
        refuse_listed_pairs(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("some text", r"X is a text, and counts of words are needed\. polyad\.corpus\.read_corpus\(path\)"),
        (b"bytes", "X is a text"),
        (["one", "two"], "X is a list of texts, and counts of words are needed; count the words first"),
        (("one",), "list of texts"),
        (np.array(["one", "two"]), "list of texts"),
        (np.array(["one", "two"], dtype=object), "CountVectorizer"),
        ([["one", "two"], ["two"]], r"list of lists of words.*CountVectorizer\(analyzer=list\)"),
        ([{"one": 2}, {"two": 1}], r"list of mappings.*DictVectorizer\(\)\.fit_transform\(X\)"),
        ({"one": [1, 2], "two": [0, 3]}, r"X is a mapping.*pandas\.DataFrame\(X\)"),
    ],
)
def test_texts_are_refused_with_the_lines_that_count_them(X, message):
    for refuse in (refuse_texts, matrix_of):
        with pytest.raises(ValueError, match=f"(?s){message}"):
            refuse(X)


@pytest.mark.parametrize("X", [[], (), np.array([]), np.zeros((0, 3)), [[1, 2]], 3, None])
def test_what_is_no_text_is_not_refused(X):
    refuse_texts(X)


def annotated(X, names=("a", "b")):
    return SimpleNamespace(X=X, obs=None, var=None, var_names=list(names), shape=(7, len(names)))


def test_annotated_matrices_are_their_matrix():
    dense, counts = np.eye(3, 2), sparse.csr_array(np.eye(3, 2))
    assert matrix_of(annotated(dense)) is dense
    assert matrix_of(annotated(counts)) is counts
    assert names_of_columns(annotated(dense)) == ("a", "b")
    view = SimpleNamespace(parent=None, toarray=lambda: dense)
    assert matrix_of(annotated(view)) is dense
    with pytest.raises(ValueError, match=r"AnnData without a matrix in X: set it, such as adata\.X = adata\.layers"):
        matrix_of(annotated(None))


def test_annotated_matrices_in_a_file_are_read_some_rows_at_a_time(monkeypatch):
    asked = []

    class OnDisk:
        def __getitem__(self, rows):
            asked.append((rows.start, rows.stop))
            return np.arange(14.0).reshape(7, 2)[rows]

    monkeypatch.setattr("polyad.engine.inputs.BLOCK_CELLS", 1)  # eight times as many at a time: four rows of two cells
    parts = list(matrix_of(annotated(OnDisk())))
    assert asked == [(0, 4), (4, 7)]
    assert np.array_equal(np.vstack(parts), np.arange(14.0).reshape(7, 2))


class Tiles:
    """What is known of an array of dask: blocks in rows and columns, computed one by one."""

    __module__ = "dask.array.core"

    def __init__(self, matrix, rows, columns, ndim=2):
        self.ndim, self.numblocks = ndim, (len(rows) - 1, len(columns) - 1)
        cut = lambda at: matrix[rows[at[0]] : rows[at[0] + 1], columns[at[1]] : columns[at[1] + 1]]
        self.blocks = type("Blocks", (), {"__getitem__": lambda _, at: SimpleNamespace(compute=lambda: cut(at))})()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_tiles_are_put_beside_each_other_when_their_turn_comes(make):
    matrix = np.arange(12.0).reshape(4, 3)
    parts = list(matrix_of(Tiles(make(matrix), [0, 1, 4], [0, 2, 3])))
    assert [part.shape for part in parts] == [(1, 3), (3, 3)]
    assert np.array_equal(np.vstack([part.toarray() if sparse.issparse(part) else part for part in parts]), matrix)
    with pytest.raises(ValueError, match=r"X has 3 dimension\(s\); expected two"):
        matrix_of(Tiles(matrix, [0, 4], [0, 3], ndim=3))


def test_names_of_columns():
    assert names_of_columns(np.eye(2)) is None
    assert names_of_columns(SimpleNamespace(columns=[])) is None
    assert names_of_columns(SimpleNamespace(columns=["a", 1])) is None
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"sun": [1], "rain": [2]})
    assert names_of_columns(table) == names_of_columns(table.lazy()) == ("sun", "rain")
    assert is_lazy_frame(table.lazy())
    assert not is_lazy_frame(table)
    assert matrix_of(table.lazy()).equals(table)


def test_a_corpus_is_its_counts_and_a_table_with_such_a_column_is_a_table():
    counts = np.eye(2)
    assert matrix_of(SimpleNamespace(counts=counts)) is counts
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"counts": [1, 2]})
    assert matrix_of(table) is table
