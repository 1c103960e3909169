"""The layout of compiled loops: nothing lost on the way, ranges that depend on the data alone."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from polyad.engine import aligned, count_blocks
from polyad.inference import cells as module
from polyad.inference.cells import (
    by_word,
    cells_of,
    cells_of_block,
    even_ranges,
    padded_vector,
    read_only,
    topic_table,
    word_ranges,
)
from polyad.inference.presets import PRESETS, Preset, preset_of
from strategies import corpora


@given(corpora())
@settings(max_examples=40, deadline=None)
def test_cells_by_document_and_by_word_are_the_same(X):
    cells = cells_of(count_blocks(X).shard(0).rows)
    turned = by_word(cells)
    back = np.zeros(X.shape)
    for word in range(X.shape[1]):
        for p in range(turned.indptr[word], turned.indptr[word + 1]):
            assert cells.words[turned.cells[p]] == word
            back[turned.documents[p], word] = cells.counts[turned.cells[p]]
    assert np.array_equal(back, X)
    assert np.array_equal(np.sort(turned.cells), np.arange(cells.words.size))


def test_words_of_several_views_are_numbered_on():
    X, Y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[0.0, 3.0, 0.0], [4.0, 0.0, 5.0]])
    cells = cells_of_block(aligned(count_blocks(X), count_blocks(Y)).shard(0))
    assert cells.shape == (2, 5)
    assert cells.words.tolist() == [0, 3, 1, 2, 4]
    assert cells.counts.tolist() == [1.0, 3.0, 2.0, 4.0, 5.0]


@given(st.lists(st.integers(0, 40), min_size=0, max_size=30), st.integers(1, 50))
def test_ranges_follow_each_other_and_are_about_equal(sizes, limit):
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    before, module.RANGE_CELLS = module.RANGE_CELLS, limit
    try:
        ranges = even_ranges(indptr)
    finally:
        module.RANGE_CELLS = before
    assert [place for pair in ranges for place in range(*pair)] == list(range(len(sizes)))
    for first, last in ranges:
        cells = indptr[last] - indptr[first]
        assert cells <= limit or last == first + 1  # one long row is a range of its own
    for (first, _), (_, last) in itertools.pairwise(ranges):
        assert indptr[last] - indptr[first] > limit or last == first + 1  # no two fit into one


@pytest.mark.parametrize(("first", "last", "n_topics"), [(0, 10, 3), (5, 6, 1), (3, 3, 7), (0, 1000, 1 << 20)])
def test_ranges_of_words_cover_them(first, last, n_topics):
    ranges = word_ranges(first, last, n_topics)
    assert [word for pair in ranges for word in range(*pair)] == list(range(first, last))
    assert all((b - a) * n_topics <= max(module.RANGE_ENTRIES, n_topics) for a, b in ranges)


@pytest.mark.parametrize("K", [1, 15, 16, 17, 33])
def test_tables_are_padded_by_zeros(K):
    rng = np.random.default_rng(K)
    components = rng.dirichlet(np.ones(5), K)
    table, vector = topic_table(components), padded_vector(components[:, 0])
    assert table.shape == (5, -(-K // 16) * 16)
    assert np.array_equal(table[:, :K], components.T.astype(np.float32))
    assert not table[:, K:].any()
    assert np.array_equal(vector[:K], components[:, 0].astype(np.float32))
    assert not vector[K:].any()
    for array in (table, vector):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_read_only_views_leave_the_array_as_it_is():
    array = np.zeros(3)
    view = read_only(array)
    assert np.shares_memory(array, view)
    array[1] = 2.0
    assert view[1] == 2.0
    cells = cells_of(sparse.csr_array(np.eye(2)))
    assert not any(part.flags.writeable for part in (cells.indptr, cells.words, cells.counts))


def test_presets_stop_after_two_bounds():
    preset = Preset(least_passes=3, most_passes=9, least_gain=10.0)
    # 100 tokens for 4 topics are 12.5 for each pair: a gain of .8 nats is 10
    assert not preset.has_enough(0.1, 2, 4, 100.0)
    assert preset.has_enough(0.79, 3, 4, 100.0)
    assert not preset.has_enough(0.81, 3, 4, 100.0)
    assert not Preset(0, 9).has_enough(-1e9, 5, 4, 100.0)


@pytest.mark.parametrize("polish", ["much", -1, True, 2.0, None])
def test_presets_that_are_none_are_told(polish):
    with pytest.raises(ValueError, match="give 'off', 'fast', 'full' or a number of passes"):
        preset_of(polish)


def test_presets_by_name_and_number():
    assert preset_of("full") is PRESETS["full"]
    assert preset_of(np.int64(7)) == Preset(7, 7)
    assert PRESETS["full"].n_passes == PRESETS["full"].most_passes + PRESETS["full"].wide_passes
    assert all(preset.least_passes <= preset.most_passes for preset in PRESETS.values())
