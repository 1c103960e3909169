"""Sequences as a source, rows that are chosen or repeated, and words spread by chance, against loops."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyad.engine import aligned, count_blocks, every, first_rows, signal_blocks, view_of, write_shards
from polyad.engine.sequences import sequences_of
from polyad.engine.sources.parts import Thinned
from polyad.engine.sources.repeated import Repeated, weighted
from polyad.engine.sources.scaled import scaled
from polyad.engine.spread import expected_documents
from sharded import tiny_cuts

SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=12)


def rows_of(source):
    return [np.concatenate([np.asarray(source.shard(n).views[v]) for n in range(source.n_shards)]) for v in (0, 1)]


@given(SIZES)
@settings(deadline=None, max_examples=40)
def test_sequences_stay_whole_and_marked(sizes):
    rows = np.arange(float(sum(sizes)))[:, None]
    source = sequences_of(signal_blocks(rows), np.array(sizes), order="given")
    values, marks = rows_of(source)
    assert np.array_equal(values, rows)
    assert np.flatnonzero(marks).tolist() == np.concatenate([[0], np.cumsum(sizes)])[:-1].tolist()
    assert source.widths == (1, 1)
    assert source.n_rows == len(rows)


@given(SIZES, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_the_order_of_sequences_depends_on_their_content_alone(sizes, random):
    rng = np.random.default_rng(sum(sizes))
    sequences = [rng.standard_normal((size, 2)) for size in sizes]
    shuffled = random.sample(sequences, len(sequences))
    one, other = (
        sequences_of(signal_blocks(np.vstack(some)), np.array([len(part) for part in some]))
        for some in (sequences, shuffled)
    )
    for a, b in zip(rows_of(one), rows_of(other)):
        assert np.array_equal(a, b)
    values, marks = rows_of(one)
    begins = [*np.flatnonzero(marks), len(values)]
    found = {values[a:b].tobytes() for a, b in itertools.pairwise(begins)}
    assert found == {part.tobytes() for part in sequences}


def test_the_same_rows_in_other_sequences_are_others():
    rows = signal_blocks(np.arange(4.0)[:, None])
    marks = [rows_of(sequences_of(rows, np.array(sizes)))[1].ravel().tolist() for sizes in ([2, 2], [1, 3], [4])]
    assert len({tuple(mark) for mark in marks}) == 3


def test_shards_are_cut_between_sequences():
    with tiny_cuts():
        rng = np.random.default_rng(0)
        sizes = rng.integers(1, 9, 60)
        source = sequences_of(signal_blocks(rng.standard_normal((sizes.sum(), 3))), sizes, order="given")
        assert source.n_shards > 1
        for number in range(source.n_shards):
            assert source.shard(number).views[1][0, 0] == 1.0  # the first row of a shard begins a sequence


TIMES = st.lists(st.integers(0, 3), min_size=1, max_size=20).filter(any)


@given(TIMES)
@settings(deadline=None, max_examples=40)
def test_repeated_rows_are_repeated(times):
    rows = np.arange(1.0, len(times) + 1)[:, None]
    source = count_blocks(rows)
    wanted = np.repeat(rows, times, axis=0)
    lazy = Repeated(source, np.array(times))
    for found in (weighted(source, times), lazy):
        assert found.n_rows == sum(times)
        together = np.concatenate([found.shard(n).rows.toarray() for n in range(found.n_shards)])
        assert np.array_equal(together, wanted)
    assert lazy.n_cells == sum(times)
    assert lazy.edges == (0, sum(times))


@pytest.mark.parametrize("remainders", [(0,), (1, 2), (0, 3)])
def test_every_nth_row_of_many_shards(remainders):
    with tiny_cuts():
        rows = np.arange(1.0, 301)[:, None]
        source = count_blocks(rows)
        assert source.n_shards > 2
        wanted = rows[np.isin(np.arange(300) % 4, remainders)]
        for found in (every(source, 4, remainders), Thinned(source, 4, remainders)):
            shards = [found.shard(n) for n in range(found.n_shards)]
            assert np.array_equal(np.concatenate([shard.rows.toarray() for shard in shards]), wanted)
            assert [shard.start for shard in shards] == list(found.edges[:-1])
            assert found.n_cells == len(wanted)


def test_lazy_rows_tell_the_source_what_is_asked_for_next(monkeypatch):
    with tiny_cuts():
        source = count_blocks(np.ones((200, 1)))
        told = []
        monkeypatch.setattr(type(source), "announce", lambda self, number: told.append(number))
        times = np.zeros(200, np.int64)
        times[source.edges[1] : source.edges[2]] = 1  # only the second shard has rows
        Repeated(source, times).announce(0)
        assert told == [1]


def test_shards_in_the_order_of_their_contents_have_no_sequences(tmp_path):
    rows = signal_blocks(np.random.default_rng(0).normal(size=(40, 2)))
    by_content = write_shards(rows, tmp_path / "content")
    with pytest.raises(ValueError, match="the rows of a sequence do not follow each other"):
        sequences_of(by_content, np.array([30, 10]))
    assert sequences_of(by_content, np.ones(40, np.int64)).n_rows == 40  # every row by itself
    as_given = sequences_of(write_shards(rows, tmp_path / "given", order="given"), np.array([30, 10]))
    assert np.array_equal(rows_of(as_given)[0], rows_of(sequences_of(rows, np.array([30, 10])))[0])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"sample_weight has the shape \(2,\); give one number for each of the 3 rows"),
        ([1, -1, 0], "sample_weight is -1 at row 1"),
        ([1, 0.5, 0], r"is 0\.5 at row 1; a weight says how often a row counts.*Multiply fractional weights"),
        ([1, np.nan, 0], "is nan at row 1"),
        ([0, 0, 0], "zero for every row"),
        (["a", "b", "c"], "sample_weight has dtype <U1; give one number"),
    ],
)
def test_weights_that_cannot_be_are_told(weights, message):
    with pytest.raises(ValueError, match=message):
        weighted(count_blocks(np.ones((3, 1))), weights)


def test_no_weights_leave_a_source_as_it_is():
    source = count_blocks(np.ones((3, 1)))
    assert weighted(source, None) is source


def test_views_first_rows_and_scales():
    X, Y = np.arange(1.0, 9).reshape(4, 2), np.arange(4.0)[:, None]
    both = aligned(count_blocks(X), signal_blocks(Y))
    assert np.array_equal(view_of(both, 1).shard(0).rows, Y)
    assert np.array_equal(first_rows(both, 3).shard(0).views[0].toarray(), X[:3])
    assert first_rows(both, 99).n_rows == 4
    tripled = scaled(count_blocks(X), 3.0).shard(0)
    assert np.array_equal(tripled.rows.toarray(), 3 * X)
    assert np.array_equal(tripled.tokens, 3 * X.sum(axis=1))
    with pytest.raises(ValueError, match="The views have 4, 3 rows: they must have one row each for every sample"):
        aligned(count_blocks(X), signal_blocks(Y[:3]))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.lists(st.floats(0, 0.5), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_words_that_fall_on_documents_by_chance(lengths, frequencies):
    found = expected_documents(np.array(lengths), np.array(frequencies))
    wanted = [sum(1 - np.exp(-share * length) for length in lengths) for share in frequencies]
    assert np.allclose(found, wanted, atol=1e-9)
