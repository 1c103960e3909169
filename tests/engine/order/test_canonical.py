import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from polyad.engine import Shards, aligned, columns_of, count_blocks, ordered_by_content, use, write_shards
from polyad.engine.disk import writer as shard_writer
from polyad.engine.order import canonical as order
from polyad.engine.order.keys import content_keys
from sharded import assert_same_shards, rows_of, tiny_cuts
from strategies import corpora


@settings(max_examples=60)
@given(corpora(), st.randoms(use_true_random=False), st.booleans())
def test_any_order_of_the_same_rows_gives_the_same_order(X, random, in_shards):
    shuffled = list(range(X.shape[0]))
    random.shuffle(shuffled)
    with tiny_cuts(*((7, 3, 2) if in_shards else ())):
        one, other = (ordered_by_content(count_blocks(x)) for x in (X, X[shuffled]))
        assert_same_shards(one, other)
    assert sorted(map(tuple, rows_of(one))) == sorted(map(tuple, X.astype(float)))


@settings(max_examples=30)
@given(corpora(), corpora(), st.randoms(use_true_random=False))
def test_rows_of_several_views_move_together(X, Y, random):
    n_rows = min(X.shape[0], Y.shape[0])
    shuffled = list(range(n_rows))
    random.shuffle(shuffled)
    X, Y = X[:n_rows], Y[:n_rows]
    with tiny_cuts():
        one, other = (
            ordered_by_content(aligned(count_blocks(X[chosen]), count_blocks(Y[chosen])))
            for chosen in (slice(None), shuffled)
        )
        assert_same_shards(one, other)
        blocks = [np.hstack([view.toarray() for view in block.views]) for block in one]
    assert sorted(map(tuple, np.vstack(blocks))) == sorted(map(tuple, np.hstack([X, Y])))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_keys_tell_rows_apart_and_equal_rows_share_them(n_threads):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.05, (8_000, 300)).astype(float)
    counts[:, 0] = np.arange(8_000) % 7
    X = sparse.csr_array(counts)
    with use(n_threads):
        keys = content_keys(count_blocks([X, X]))
    assert np.array_equal(keys[:8_000], keys[8_000:])
    assert np.unique(keys).size == np.unique(counts, axis=0).shape[0]


def test_the_order_is_as_good_as_random():
    """Blocks of rows in it are samples of the corpus: lengths that grow from row to row do not grow any more."""
    counts = np.random.default_rng(0).poisson(np.linspace(1, 20, 2000)[:, None], (2000, 50))
    lengths = rows_of(ordered_by_content(count_blocks(counts))).sum(axis=1)
    halves = lengths[:1000].mean(), lengths[1000:].mean()
    assert abs(halves[0] / halves[1] - 1) < 0.1
    assert abs(np.corrcoef(lengths[:-1], lengths[1:])[0, 1]) < 0.1


def test_equal_rows_are_spread_out():
    kinds = np.eye(3, dtype=int) + 1
    rows = rows_of(ordered_by_content(count_blocks(np.repeat(kinds, [500, 300, 200], axis=0))))
    for part in np.array_split(rows, 10):
        found = [(part == kind).all(axis=1).mean() for kind in kinds]
        assert np.allclose(found, [0.5, 0.3, 0.2], atol=0.04)


def test_parts_become_one_wherever_they_come_from():
    X = np.random.default_rng(0).poisson(1.0, (40, 6))
    with tiny_cuts():
        whole = ordered_by_content(count_blocks(X))
        for parts in ([X[:7], X[7:]], iter([X[:7], X[7:]]), (X[row : row + 1] for row in range(40))):
            assert_same_shards(ordered_by_content(count_blocks(parts)), whole)


def test_the_given_rows_are_not_touched():
    X = sparse.csr_array(np.random.default_rng(0).poisson(1.0, (40, 6)).astype(float))
    before = X.toarray()
    ordered_by_content(count_blocks(X))
    assert np.array_equal(X.toarray(), before)


@pytest.fixture
def on_disk(tmp_path):
    counts = np.random.default_rng(0).poisson(1.0, (40, 6))
    with tiny_cuts():
        yield count_blocks(counts), write_shards(count_blocks(counts), tmp_path / "given", "given")


def test_rows_on_disk_stay_on_disk(on_disk, tmp_path):
    in_memory, given_order = on_disk
    expected = ordered_by_content(in_memory)
    found = ordered_by_content(given_order)
    assert isinstance(found, Shards)
    assert_same_shards(found, expected)
    assert ordered_by_content(found) is found
    canonical = write_shards(given_order, tmp_path / "content")
    assert ordered_by_content(canonical) is canonical
    some = columns_of(given_order, np.array([0, 3]))
    assert_same_shards(ordered_by_content(some), ordered_by_content(columns_of(in_memory, np.array([0, 3]))))


def test_temporary_shards_go_with_their_source(on_disk):
    _, given_order = on_disk
    found = ordered_by_content(given_order)
    part = columns_of(found, np.array([0, 1]))
    folder = found.path.parent
    del found
    gc.collect()
    assert folder.exists(), "what is made of a source needs its files"
    part.shard(0)
    del part
    gc.collect()
    assert not folder.exists()


def test_temporary_shards_go_after_an_error_and_with_the_process(on_disk, monkeypatch, tmp_path):
    _, given_order = on_disk
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    script = "from polyad.engine import *; import sys; kept = ordered_by_content(Shards(sys.argv[1])); print(kept.path)"
    environment = {"PYTHONPATH": str(Path(order.__file__).parents[2]), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", script, str(given_order.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    folder = Path(done.stdout.strip()).parent
    assert folder.parent == tmp_path
    assert not folder.exists()

    def fails(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tempfile.tempdir", None)  # it is looked up again
    monkeypatch.setattr(shard_writer, "_save", fails)
    with pytest.raises(KeyboardInterrupt):
        ordered_by_content(given_order)
    assert [path.name for path in tmp_path.iterdir()] == ["given"]
