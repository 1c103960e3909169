import gc
import itertools
import pickle
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from polyad.engine import aligned, columns_of, count_blocks, every, halves, signal_blocks
from polyad.engine import blocks as blocks_module
from polyad.engine.blocks import block_edges, shard_edges
from polyad.engine.disk.spool import Spool
from random_counts import random_counts
from sharded import arrays_in, assert_same_shards, rows_of, tiny_cuts
from strategies import corpora

X = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [1, 3, 0, 0]])


def assembled(blocks):
    parts = [b.rows for b in blocks]
    assert [b.start for b in blocks] == list(np.cumsum([0] + [p.shape[0] for p in parts[:-1]]))
    return sparse.vstack(parts).toarray()


class Reiterable:
    def __init__(self, *parts):
        self.parts = parts

    def __iter__(self):
        return iter(self.parts)


class Corpus:
    def __init__(self, counts=X):
        self.counts = sparse.csr_array(counts)


@pytest.mark.parametrize(
    "given_x",
    [
        X,
        X.tolist(),
        X.astype(np.float32),
        X.astype(np.uint8),
        np.asfortranarray(X),
        sparse.csr_array(X),
        sparse.csr_matrix(X),
        sparse.csc_array(X),
        sparse.csc_matrix(X),
        sparse.coo_array(X),
        sparse.lil_matrix(X),
        [X[:1], sparse.csr_array(X[1:])],
        (sparse.csc_matrix(X[:2]), X[2:]),
        Reiterable(X[:2], X[2:]),
        iter([X[:2], sparse.csc_array(X[2:])]),
        Corpus(),
        [Corpus(X[:1]), Corpus(X[1:])],
        (Corpus(X[:2]), X[2:]),
        Reiterable(Corpus(X[:2]), Corpus(X[2:])),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_container_gives_the_same_blocks(given_x):
    blocks = count_blocks(given_x)
    assert blocks.shape == X.shape
    for _ in range(2):  # can be gone over again
        assert np.array_equal(assembled(blocks), X)
    for block in blocks:
        assert block.rows.dtype == np.float64
        assert block.rows.indices.dtype == np.int32
        assert block.rows.has_canonical_format


def test_dataframes():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    assert np.array_equal(assembled(count_blocks(frame)), X)


def test_duplicates_explicit_zeros_unsorted_and_int64_indices():
    data, rows, columns = [1, 1, 0, 1, 3], [0, 0, 1, 0, 2], [0, 0, 3, 2, 1]
    messy = sparse.csr_matrix((np.array(data, float), (rows, columns)), shape=(3, 4))
    messy.indices = messy.indices.astype(np.int64)
    messy.indptr = messy.indptr.astype(np.int64)
    before = messy.data.copy()
    expected = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [0, 3, 0, 0]])
    blocks = count_blocks(messy)
    assert np.array_equal(assembled(blocks), expected)
    assert all(b.rows.data.all() for b in blocks)
    assert np.array_equal(messy.data, before), "the user's matrix must not change"


def test_read_only_arrays_are_fine_and_not_copied(monkeypatch):
    counts = sparse.csr_array(X.astype(np.float64))
    for array in (counts.data, counts.indices, counts.indptr):
        array.setflags(write=False)
    monkeypatch.setattr(blocks_module, "BLOCK_ROWS", 1)
    for block in count_blocks(counts):
        assert np.shares_memory(block.rows.data, counts.data) or block.rows.nnz == 0
        assert np.shares_memory(block.rows.indices, counts.indices) or block.rows.nnz == 0


@given(corpora())
def test_cutting_changes_nothing(counts):
    with tiny_cuts(shard=8, block=3):
        small = count_blocks(counts)
        assert np.array_equal(assembled(small), counts)
        assert all(b.rows.nnz < 3 + counts.shape[1] for b in small), "no more than a row over the limit"


@settings(max_examples=40)
@given(corpora(), st.lists(st.integers(0, 8), max_size=3))
def test_shards_depend_on_the_rows_and_not_on_their_parts(counts, cuts):
    edges = [0, *sorted(min(cut, counts.shape[0]) for cut in cuts), counts.shape[0]]
    parts = [counts[first:last] for first, last in itertools.pairwise(edges)]
    with tiny_cuts():
        whole = count_blocks(counts)
        for given_parts in (parts, tuple(parts), Reiterable(*parts), iter(parts)):
            assert_same_shards(count_blocks(given_parts), whole)
        for values in (parts, iter(parts)):
            assert_same_shards(signal_blocks(values), signal_blocks(counts))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 40))
def test_shards_are_one_or_even_in_number_and_about_equal(cells, limit):
    before = np.concatenate([[0], np.cumsum(cells)])
    with tiny_cuts(shard=limit):
        edges = shard_edges(before)
        assert edges == shard_edges(before + 17), "rows of a larger array are cut like the same rows alone"
    assert edges[0] == 0
    assert edges[-1] == len(cells)
    assert list(edges) == sorted(set(edges))
    sizes = [sum(cells[first:last]) + last - first for first, last in itertools.pairwise(edges)]
    assert max(sizes) <= limit + max(cells) + 1, "no more than a row over the limit"
    if sum(cells) + len(cells) <= limit:
        assert len(sizes) == 1


def test_a_shard_in_one_part_is_not_copied():
    counts = sparse.csr_array(np.ones((40, 3)))
    with tiny_cuts():
        source = count_blocks(counts)
    assert source.n_shards > 4
    assert all(np.shares_memory(source.shard(number).rows.data, counts.data) for number in range(source.n_shards))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[1, 2], [3, -4]], "Negative values .* count -4 at row 1, column 1"),
        ([[1.0, np.nan]], "missing count .NaN. at row 0, column 1"),
        ([[1.0], [np.inf]], "infinite count at row 1, column 0"),
        (np.zeros((0, 3)), r"empty: 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (np.zeros((3, 0)), r"empty: 0 feature\(s\) \(shape=\(3, 0\)\)"),
        (np.zeros(3), "1 dimension"),
        (np.zeros((2, 2, 2)), "3 dimension"),
        ([["a", "b"]], "count the words first"),
        (np.ones((2, 2), dtype=complex), "dtype complex128"),
        (np.array([["a", 1]], dtype=object), "dtype object and is not made of numbers"),
        (sparse.csr_array([[1.0, 0.0], [0.0, -2.0]]), "count -2 at row 1, column 1"),
        ([X, -X], "count -2 at row"),
        ([X, X[:, :2]], r"different numbers of columns: \[2, 4\]"),
        (Reiterable(), "empty sequence of blocks"),
        (iter([]), "empty sequence of blocks"),
        (iter([X, X[:, :2]]), r"different numbers of columns: \[2, 4\]"),
        ("text", "read_corpus"),
    ],
)
def test_bad_counts_are_refused_with_the_place(bad, message):
    with pytest.raises(ValueError, match=message):
        count_blocks(bad)


def test_objects_that_are_no_numbers():
    with pytest.raises(TypeError, match="dtype object"):
        count_blocks(np.array([[{}, 1]], dtype=object))
    assert np.array_equal(assembled(count_blocks(X.astype(object))), X)


def test_the_row_of_a_bad_cell_counts_from_the_first_block():
    late = Reiterable(X, np.array([[0, 0, 0, 0], [0, 0, 1, -1]]))
    with pytest.raises(ValueError, match="row 4, column 3"):
        count_blocks(late)


@pytest.mark.parametrize("n_documents", [1700, 2501, 4003])
def test_blocks_are_even_in_number_and_about_equal(n_documents):
    counts = random_counts(np.random.default_rng(0), (n_documents, 300), 0.3)
    counts.data = np.ones_like(counts.data)
    sizes = [block.rows.nnz for block in count_blocks(counts)]
    assert len(sizes) % 2 == 0
    assert max(sizes) - min(sizes) < 400


def test_a_table_may_have_a_column_named_counts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["counts", "a", "b", "c"])
    assert np.array_equal(assembled(count_blocks(frame)), X)


def test_an_empty_block_among_others_is_no_error():
    assert np.array_equal(assembled(count_blocks([X, X[:0], X])), np.vstack([X, X]))
    with pytest.raises(ValueError, match="empty sequence"):
        count_blocks([X[:0], X[:0]])


def test_counts_beyond_reason_are_refused():
    with pytest.raises(ValueError, match=r"count 1e\+39 at row 1, column 0, larger than"):
        count_blocks([[1.0], [1e39]])


def test_signals():
    values = np.random.default_rng(0).standard_normal((10, 3))
    blocks = signal_blocks(values)
    assert np.array_equal(np.vstack([b.rows for b in blocks]), values)
    assert np.array_equal(np.vstack([b.rows for b in signal_blocks(sparse.csr_array(values))]), values)
    values[7, 1] = np.inf
    with pytest.raises(ValueError, match="value inf at row 7, column 1"):
        signal_blocks(values)


def test_an_iterable_that_fits_a_shard_is_in_memory_and_a_larger_one_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rows = np.random.default_rng(0).poisson(1.0, (40, 5)).astype(float)
    for make in (count_blocks, signal_blocks):
        assert make(iter([rows[:9], rows[9:]])).in_memory
        with tiny_cuts():
            assert make(rows).in_memory
            assert make([rows[:9], rows[9:]]).in_memory
            source = make(rows[first : first + 3] for first in range(0, 40, 3))
            assert isinstance(source, Spool)
            assert_same_shards(source, make(rows))
            assert len(list(tmp_path.iterdir())) == 1
            for _ in range(2):
                assert np.array_equal(rows_of(source), rows)
            del source
            gc.collect()
            assert list(tmp_path.iterdir()) == []


def test_parts_are_let_go_when_they_are_on_disk():
    alive = []

    def parts():
        for _ in range(30):
            assert sum(part() is not None for part in alive) < 12, "parts pile up in memory"
            part = np.ones((2, 3))
            alive.append(weakref.ref(part))
            yield part
            del part

    with tiny_cuts(shard=40):
        assert signal_blocks(parts()).shape == (60, 3)


@pytest.mark.parametrize("make", [count_blocks, signal_blocks])
def test_nothing_is_left_on_disk_after_an_error(tmp_path, monkeypatch, make):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rows = np.ones((30, 4))
    bad = rows.copy()
    bad[7, 2] = np.inf
    with tiny_cuts():
        with pytest.raises(ValueError, match="row 37, column 2"):
            make(iter([rows, bad, rows]))
        with pytest.raises(ValueError, match=r"different numbers of columns: \[3, 4\]"):
            make(iter([rows, rows[:, :3]]))

        def interrupted():
            yield rows
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            make(interrupted())
    assert list(tmp_path.iterdir()) == []


def test_a_source_is_returned_as_it_is():
    source = count_blocks(X)
    assert count_blocks(source) is source


@pytest.mark.parametrize("once", [True, False], ids=["in memory", "on disk"])
def test_chosen_columns(once):
    X = np.random.default_rng(0).poisson(1.0, (9, 5)).astype(float)
    with tiny_cuts():
        blocks = count_blocks(X) if once else count_blocks(Reiterable(X[:4], X[4:]))
        assert blocks.in_memory == once
        chosen = columns_of(blocks, np.array([0, 3, 4]))
        assert chosen.shape == (9, 3)
        for _ in range(2):
            assert np.array_equal(rows_of(chosen), X[:, [0, 3, 4]])
            assert all(block.rows.indices.dtype == np.int32 for block in chosen)
        assert np.array_equal(np.concatenate([block.tokens for block in chosen]), X.sum(axis=1))


def test_aligned_views():
    counts = np.random.default_rng(0).poisson(1.0, (30, 5)).astype(float)
    values = np.random.default_rng(1).standard_normal((30, 2))
    with tiny_cuts():
        in_memory = aligned(count_blocks(counts), signal_blocks(values))
        mixed = aligned(count_blocks(iter([counts])), signal_blocks(values))
        assert in_memory.in_memory
        assert not mixed.in_memory
        assert_same_shards(in_memory, mixed)
        assert set(count_blocks(counts).edges) | set(signal_blocks(values).edges) == set(mixed.edges)
        blocks = list(mixed)
    assert np.array_equal(np.vstack([block.views[0].toarray() for block in blocks]), counts)
    assert np.array_equal(np.vstack([block.views[1] for block in blocks]), values)
    assert all(block.lengths[1] is None for block in blocks)
    with pytest.raises(ValueError, match="The views have 30, 29 rows"):
        aligned(count_blocks(counts), count_blocks(counts[1:]))


def test_measurements_have_no_tokens():
    with pytest.raises(ValueError, match="Measurements have no tokens"):
        signal_blocks([[1.0]]).shard(0).tokens  # noqa: B018


@pytest.mark.parametrize("shard", [20, 10**6], ids=["many shards", "one shard"])
def test_halves(shard):
    counts = np.random.default_rng(0).poisson(1.0, (41, 5)).astype(float)
    with tiny_cuts(shard=shard):
        first, second = halves(count_blocks(counts))
        assert np.array_equal(np.vstack([rows_of(first), rows_of(second)]), counts)
    assert abs(first.n_cells - second.n_cells) < 0.2 * np.count_nonzero(counts)
    assert first.edges[0] == second.edges[0] == 0
    assert len(halves(count_blocks([[1, 2]]))) == 1


def test_a_block_travels_without_its_cuts_and_lets_go_of_itself():
    block = count_blocks(X).shard(0)
    assert block.blocks[0] is not block
    size = len(pickle.dumps(block))
    with tiny_cuts(block=1, rows=1):
        whole = count_blocks(X).shard(0)
        assert len(whole.blocks) == 3
        assert len(pickle.dumps(whole)) == size
        again = pickle.loads(pickle.dumps(whole))
    assert all(np.array_equal(a, b) for a, b in zip(arrays_in(again), arrays_in(whole), strict=True))


def test_the_transposed_rows_of_a_block_are_no_copy():
    shard = count_blocks(np.tile(X, (50_000, 1))).shard(0)
    assert len(shard.blocks) > 1
    for block in shard.blocks:
        assert np.shares_memory(block.columns.data, shard.rows.data)
        assert (block.columns != block.rows.T).nnz == 0
        assert block.columns is block.columns


def test_sources_of_another_kind_are_refused():
    counts, signals = count_blocks(X), signal_blocks(X)
    with pytest.raises(ValueError, match="source of measurements, and counts are needed"):
        count_blocks(signals)
    with pytest.raises(ValueError, match="source of counts, and measurements are needed"):
        signal_blocks(counts)
    with pytest.raises(ValueError, match="source of 2 views"):
        count_blocks(aligned(counts, counts))


def test_measurements_lie_row_by_row():
    """Sums of columns round by the order in memory: one order for all, wherever they come from."""
    values = np.asfortranarray(np.random.default_rng(0).standard_normal((20, 3)))
    assert signal_blocks(values).shard(0).rows.flags.c_contiguous


def test_shards_of_which_no_row_stays_are_left_out():
    with tiny_cuts(shard=8):
        source = count_blocks(np.ones((12, 3)))
        some = every(source, 10, (0, 5))
        assert source.n_shards > 3
        assert some.edges[-1] == 3
        assert np.array_equal(rows_of(some), np.ones((3, 3)))
        assert [shard.start for shard in map(some.shard, range(some.n_shards))] == list(some.edges[:-1])


def test_dense_rows_are_cut_where_rows_of_as_many_cells_are():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n_rows, width = int(rng.integers(1, 40_000)), int(rng.integers(1, 60))
        dense = np.broadcast_to(0.0, (n_rows, width))
        cells = np.arange(n_rows + 1) * width
        as_counts = sparse.csr_array((n_rows, width))
        as_counts.indptr = cells
        assert block_edges(dense) == block_edges(as_counts)
    assert block_edges(np.empty((9000, 0))) == block_edges(sparse.csr_array((9000, 0)))
