import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from polyad.engine import blocks as blocks_module
from polyad.engine import count_blocks, signal_blocks
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
    counts = sparse.csr_array(X)


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
        Corpus(),
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
    original = blocks_module.BLOCK_CELLS
    try:
        blocks_module.BLOCK_CELLS = 3
        small = count_blocks(counts)
        assert np.array_equal(assembled(small), counts)
        assert all(b.rows.nnz < 3 + counts.shape[1] for b in small), "no more than a row over the limit"
    finally:
        blocks_module.BLOCK_CELLS = original


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[1, 2], [3, -4]], "Negative values .* count -4 at row 1, column 1"),
        ([[1.0, np.nan]], "missing count .NaN. at row 0, column 1"),
        ([[1.0], [np.inf]], "infinite count at row 1, column 0"),
        ([[0.5, 1.0]], "fractional count 0.5 at row 0, column 0.*tf-idf"),
        (np.zeros((0, 3)), r"empty: 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (np.zeros((3, 0)), r"empty: 0 feature\(s\) \(shape=\(3, 0\)\)"),
        (np.zeros(3), "1 dimension"),
        (np.zeros((2, 2, 2)), "3 dimension"),
        ([["a", "b"]], "dtype <U1"),
        (np.ones((2, 2), dtype=complex), "dtype complex128"),
        (np.array([["a", 1]], dtype=object), "dtype object and is not made of numbers"),
        (sparse.csr_array([[1.0, 0.0], [0.0, -2.0]]), "count -2 at row 1, column 1"),
        ([X, -X], "count -2 at row"),
        ([X, X[:, :2]], r"different numbers of columns: \[2, 4\]"),
        (Reiterable(), "empty sequence of blocks"),
        (iter([X]), "read only once"),
        ("text", "dtype <U4"),
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
    counts = sparse.random_array((n_documents, 300), density=0.3, rng=np.random.default_rng(0))
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


@pytest.mark.parametrize("once", [True, False], ids=["in memory", "read again"])
def test_chosen_columns(once):
    X = np.random.default_rng(0).poisson(1.0, (9, 5)).astype(float)
    blocks = count_blocks(X) if once else count_blocks(Reiterable(X[:4], X[4:]))
    chosen = blocks.columns(np.array([0, 3, 4]))
    assert chosen.shape == (9, 3)
    for _ in range(2):
        assert np.array_equal(sparse.vstack([block.rows for block in chosen]).toarray(), X[:, [0, 3, 4]])
        assert all(block.rows.indices.dtype == np.int32 for block in chosen)


@pytest.mark.parametrize("blocks", [count_blocks, signal_blocks])
def test_stacked(blocks):
    rows = np.arange(12.0).reshape(4, 3)
    for given_rows in (rows, [rows[:1], rows[1:]], Reiterable(rows[:3], rows[3:])):
        stacked = blocks(given_rows).stacked()
        assert np.array_equal(stacked.toarray() if sparse.issparse(stacked) else stacked, rows)
