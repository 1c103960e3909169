import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from polyad.engine import Serial, Threads, count_blocks, ordered_by_content
from polyad.engine.order import content_keys
from strategies import corpora


def rows_of(blocks):
    return sparse.vstack([block.rows for block in blocks]).toarray()


@given(corpora(), st.randoms(use_true_random=False))
def test_any_order_of_the_same_rows_gives_the_same_order(X, random):
    shuffled = list(range(X.shape[0]))
    random.shuffle(shuffled)
    one, other = (rows_of(ordered_by_content(count_blocks(x), Serial())) for x in (X, X[shuffled]))
    assert np.array_equal(one, other)
    assert sorted(map(tuple, one)) == sorted(map(tuple, X.astype(float)))


@pytest.mark.parametrize("run", [Serial(), Threads(2)])
def test_keys_tell_rows_apart_and_equal_rows_share_them(run):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.05, (20_000, 300)).astype(float)
    counts[:, 0] = np.arange(20_000) % 7
    X = np.vstack([counts, counts])
    keys = content_keys(count_blocks(X), run)
    assert np.array_equal(keys[:20_000], keys[20_000:])
    assert np.unique(keys).size == np.unique(counts, axis=0).shape[0]


def test_the_order_is_as_good_as_random():
    """Blocks of rows in it are samples of the corpus: lengths that grow from row to row do not grow any more."""
    counts = np.random.default_rng(0).poisson(np.linspace(1, 20, 2000)[:, None], (2000, 50))
    lengths = rows_of(ordered_by_content(count_blocks(counts), Serial())).sum(axis=1)
    halves = lengths[:1000].mean(), lengths[1000:].mean()
    assert abs(halves[0] / halves[1] - 1) < 0.1
    assert abs(np.corrcoef(lengths[:-1], lengths[1:])[0, 1]) < 0.1


def test_equal_rows_are_spread_out():
    kinds = np.eye(3, dtype=int) + 1
    rows = rows_of(ordered_by_content(count_blocks(np.repeat(kinds, [500, 300, 200], axis=0)), Serial()))
    for part in np.array_split(rows, 10):
        found = [(part == kind).all(axis=1).mean() for kind in kinds]
        assert np.allclose(found, [0.5, 0.3, 0.2], atol=0.04)


def test_parts_become_one_wherever_they_come_from():
    X = np.random.default_rng(0).poisson(1.0, (40, 6))

    class Again:
        def __iter__(self):
            return iter([X[:7], X[7:]])

    whole, parts, again = (ordered_by_content(count_blocks(x), Serial()) for x in (X, [X[:7], X[7:]], Again()))
    assert np.array_equal(rows_of(whole), rows_of(parts))
    assert np.array_equal(rows_of(whole), rows_of(again))


def test_the_given_rows_are_not_touched():
    X = sparse.csr_array(np.random.default_rng(0).poisson(1.0, (40, 6)).astype(float))
    before = X.toarray()
    ordered_by_content(count_blocks(X), Serial())
    assert np.array_equal(X.toarray(), before)
