import itertools
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse

from polyad.engine import (
    Block,
    Shards,
    aligned,
    columns_of,
    count_blocks,
    halves,
    ordered_by_content,
    quarters,
    signal_blocks,
    total,
    write_shards,
    writing_bytes,
)
from polyad.engine.checks import checked_counts
from polyad.engine.disk import spool
from polyad.engine.disk import writer as shard_writer
from polyad.engine.sources import arrays_of
from sharded import assert_same_shards, products, rows_of, tiny_cuts


@st.composite
def aligned_counts(draw):
    """One to three views of the same few documents, some of them empty, equal, or larger than a shard."""
    n_documents, n_views = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    counts = st.integers(0, 3).map(float)
    views = [
        draw(npst.arrays(np.float64, (n_documents, draw(st.integers(1, 9))), elements=counts)) for _ in range(n_views)
    ]
    copies = np.array(draw(st.lists(st.integers(0, n_documents - 1), min_size=1, max_size=12)))
    return [sparse.csr_array(view[copies]) for view in views]


@settings(max_examples=40)
@given(aligned_counts(), st.sampled_from([(5, 3, 2), (20, 6, 4), (10**6, 10**6, 10**3)]))
@example(
    [sparse.csr_array(np.ones((5, 3))), sparse.csr_array(np.ones((5, 1)))], (20, 6, 4)
)  # one shard each, two of all
def test_the_canonical_order_on_disk_is_that_of_memory(views, cuts):
    with tempfile.TemporaryDirectory() as folder, tiny_cuts(*cuts):
        source = aligned(*map(count_blocks, views))
        shards = write_shards(source, Path(folder, "shards"))
        assert_same_shards(shards, ordered_by_content(source))
        assert_same_shards(Shards(Path(folder, "shards")), shards)
        shards.verify()
        if len(views) == 1:
            rows = checked_counts(views[0])
            read_once = (part for part in (rows[:2], rows[2:2], rows[2:]))
            assert_same_shards(write_shards(read_once, Path(folder, "parts")), shards)


@settings(max_examples=25)
@given(aligned_counts(), st.integers(1, 4))
def test_the_given_order_on_disk_is_that_of_memory(views, part_rows):
    with tempfile.TemporaryDirectory() as folder, tiny_cuts():
        source = aligned(*map(count_blocks, views))
        assert_same_shards(write_shards(source, Path(folder, "source"), "given"), source)
        rows = checked_counts(views[0])
        parts = [rows[first : first + part_rows] for first in range(0, rows.shape[0], part_rows)]
        assert_same_shards(write_shards(iter(parts), Path(folder, "parts"), "given"), arrays_of(parts))


def test_measurements_and_mixed_views_in_the_given_order(tmp_path):
    values = np.random.default_rng(0).standard_normal((23, 3))
    counts = np.random.default_rng(1).poisson(1.0, (23, 4))
    with tiny_cuts():
        signals, both = signal_blocks(values), aligned(count_blocks(counts), signal_blocks(values))
        assert_same_shards(write_shards(signals, tmp_path / "signals", "given"), signals)
        assert_same_shards(write_shards(iter([values[:9], values[9:]]), tmp_path / "parts", "given"), signals)
        assert_same_shards(write_shards(both, tmp_path / "both", "given"), both)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["both", "parts", "signals"]


def test_measurements_and_mixed_views_in_the_canonical_order(tmp_path):
    rng = np.random.default_rng(0)
    values, counts = rng.standard_normal((23, 3)).round(1), rng.poisson(1.0, (23, 4))
    values[3], values[5], counts[5] = values[8], values[8], counts[8]  # equal rows
    values[2, 1], values[4, 0] = 0.0, np.nan
    shuffled, negated = rng.permutation(23), np.where(values == 0, -0.0, values)
    with tiny_cuts():
        both = aligned(count_blocks(counts), arrays_of([values]))
        other = aligned(count_blocks(counts[shuffled]), arrays_of([negated[shuffled]]))
        ordered = ordered_by_content(both)
        assert ordered.n_shards > 2
        for one, again in zip(ordered, ordered_by_content(other), strict=True):
            assert np.array_equal(one.views[1], again.views[1], equal_nan=True)
            assert (one.views[0] != again.views[0]).nnz == 0
        assert_same_shards(write_shards(both, tmp_path / "both"), ordered)
        signals = arrays_of([values])
        assert_same_shards(write_shards(signals, tmp_path / "signals"), ordered_by_content(signals))


@pytest.fixture
def counts():
    return np.random.default_rng(0).poisson(0.7, (60, 9)).astype(float)


def test_lengths_are_those_over_all_words(tmp_path, counts):
    with tiny_cuts():
        some = columns_of(count_blocks(counts), np.array([1, 4]))
        assert_same_shards(write_shards(some, tmp_path / "some"), ordered_by_content(some))
        on_disk = write_shards(count_blocks(counts), tmp_path / "all")
        lazy = columns_of(on_disk, np.array([1, 4]))
        assert not lazy.in_memory
        gathered = columns_of(ordered_by_content(count_blocks(counts)), np.array([1, 4]))
        for number in range(gathered.n_shards):
            assert np.array_equal(lazy.shard(number).tokens, gathered.shard(number).tokens)
            assert np.array_equal(lazy.shard(number).rows.toarray(), gathered.shard(number).rows.toarray())


def test_arrays_are_the_files(tmp_path, counts):
    shard = write_shards(count_blocks(counts), tmp_path / "x").shard(0)
    for array in (shard.rows.data, shard.rows.indices, shard.rows.indptr, shard.tokens, shard.blocks[0].rows.data):
        base = array
        while not isinstance(base, np.memmap):
            base = base.base
        assert not array.flags.writeable
    assert shard.rows.indices.dtype == np.int32
    assert shard.rows.has_canonical_format


def test_parts_and_halves_of_shards_on_disk(tmp_path, counts):
    for cuts in ((20, 6, 4), (10**6, 10**6, 10**3)):  # many shards, and one that is cut itself
        with tiny_cuts(*cuts):
            shards = write_shards(count_blocks(counts), tmp_path / str(cuts[0]))
            whole = ordered_by_content(count_blocks(counts))
            for parts in (halves, quarters):
                for on_disk, in_memory in zip(parts(shards), parts(whole), strict=True):
                    assert_same_shards(on_disk, in_memory)
            assert sum(quarter.n_rows for quarter in quarters(shards)) == counts.shape[0]


def test_one_array_parts_and_shards_give_the_same_sums(tmp_path, counts):
    columns = np.random.default_rng(1).standard_normal((9, 4)) * 10.0 ** np.arange(4)
    with tiny_cuts():
        parts = [counts[:13], counts[13:14], counts[14:]]
        sources = [
            count_blocks(counts),
            count_blocks(parts),
            count_blocks(iter(parts)),
            write_shards(count_blocks(counts), tmp_path / "given", "given"),
        ]
        assert not sources[2].in_memory
        assert len({total(products, source, columns).tobytes() for source in sources}) == 1
        ordered = [total(products, ordered_by_content(source), columns).tobytes() for source in sources]
        assert len(set(ordered)) == 1


def test_sources_and_functions_travel_to_another_process(tmp_path):
    counts = np.random.default_rng(0).poisson(0.3, (9000, 20)).astype(float)
    columns = np.random.default_rng(1).standard_normal((20, 3))
    with tiny_cuts(20_000, 1 << 17, 1 << 12):
        in_memory = count_blocks(counts)
        on_disk = write_shards(in_memory, tmp_path / "x", "given")
        spooled = count_blocks(iter([counts]))
    assert len(pickle.dumps(on_disk)) < 500
    assert len(pickle.dumps(spooled)) < 2000
    expected = total(products, in_memory, columns)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for source in (in_memory, on_disk, spooled):
            found = pool.submit(total, products, source, columns).result()
            assert found.tobytes() == expected.tobytes()
    assert spooled.folder.exists(), "a copy of a source elsewhere does not own its files"


def test_many_shards_need_few_open_files(tmp_path):
    """Rows are scattered to buckets in one file, so that there may be more shards than a process may open files."""
    resource = pytest.importorskip("resource")
    script = """
        import resource, sys
        import numpy as np
        from polyad.engine import blocks, count_blocks, write_shards
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        blocks.SHARD_CELLS = 4
        shards = write_shards(count_blocks(np.ones((300, 1))), sys.argv[1])
        print(shards.n_shards)
    """
    assert resource
    assert int(run_script(script, tmp_path / "x")) > 100


def run_script(script, *arguments):
    source = Path(shard_writer.__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the memory of a process by its data")
def test_memory_is_bounded_whatever_comes(tmp_path):
    """40 MB of counts from a generator, to shards, to moments: holding the counts would break the limit.

    The limit is what writing shards is announced to take, and 8 MB for the parts, the sums and the caches of malloc.
    """
    script = """
        import resource, sys
        import numpy as np
        from scipy import sparse
        from polyad.engine import (
            blocks,
            count_blocks,
            new_states,
            ordered_by_content,
            step,
            write_shards
        )
        from polyad.engine import writing_bytes
        from polyad.moments.counts.summary import summarise_counts
        from polyad.moments.counts.lda import raw_moments

        ROWS, CELLS, WORDS, PARTS = 2000, 60, 2000, 28
        blocks.SHARD_CELLS, blocks.BLOCK_CELLS = 1 << 17, 1 << 14

        def parts():
            rng = np.random.default_rng(0)
            for _ in range(PARTS):
                indices = np.cumsum(rng.integers(1, 30, (ROWS, CELLS)), axis=1, dtype=np.int32).ravel()
                indptr = np.arange(ROWS + 1, dtype=np.int32) * CELLS
                data = rng.integers(1, 4, indices.size).astype(float)
                yield sparse.csr_array((data, indices, indptr), shape=(ROWS, WORDS))

        def shares(shard, state):
            return float(shard.n_rows), np.ones((shard.n_rows, 60)) if state is None else state + 1

        def use_moments(source):
            summarise_counts(source)
            return raw_moments(source, "uniform").moments.second @ np.ones((WORDS, 8))

        use_moments(count_blocks(next(parts())))  # loads what is loaded on the first call
        held = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData")) << 10
        limit = held + writing_bytes(ROWS * PARTS) + (8 << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

        source = count_blocks(parts())
        assert not source.in_memory and source.n_shards > 20
        one = use_moments(ordered_by_content(source))
        shards = write_shards(parts(), sys.argv[1])
        assert use_moments(shards).tobytes() == one.tobytes()
        states = new_states(shards)
        for _ in range(3):
            _, states = step(shares, shards, states)  # 27 MB of states
        try:
            count_blocks(list(parts()))
        except MemoryError:
            print("gathering breaks the limit")
    """
    assert run_script(script, tmp_path / "x").strip() == "gathering breaks the limit"


def test_announced_memory():
    assert writing_bytes(2 * 10**9) - writing_bytes(10**9) == 40 * 10**9
    assert writing_bytes(0) < 1 << 29


def test_what_is_there_is_not_replaced_unasked(tmp_path, counts):
    path = tmp_path / "x"
    write_shards(count_blocks(counts), path)
    with pytest.raises(FileExistsError, match=r"is there already.*overwrite=True"):
        write_shards(count_blocks(counts[:5]), path)
    assert Shards(path).n_rows == 60
    again = write_shards(Shards(path).shard(0).views, path, overwrite=True)
    assert again.n_rows == 60
    assert write_shards(count_blocks(counts[:5]), path, overwrite=True).n_rows == 5
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letters.txt").write_text("dear")
    for other in (tmp_path / "mine", tmp_path / "mine" / "letters.txt"):
        with pytest.raises(FileExistsError, match="no folder of shards, and will not be replaced"):
            write_shards(count_blocks(counts), other, overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "x"]


@pytest.mark.parametrize("order", ["content", "given"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError("bad cell")])
@pytest.mark.parametrize("place", ["rows", "spool", "shards", "name"])
def test_nothing_is_left_of_shards_that_could_not_be_written(tmp_path, counts, monkeypatch, order, error, place):
    old = write_shards(count_blocks(counts[:5]), tmp_path / "x")

    def fails(*_):
        raise error

    def parts():
        yield checked_counts(counts)
        if place == "rows":
            raise error

    if place == "spool":
        monkeypatch.setattr(spool.RawFiles, "_write", fails)
    if place == "shards":
        monkeypatch.setattr(shard_writer, "_save", fails)
    if place == "name":
        rename = Path.rename
        monkeypatch.setattr(Path, "rename", lambda self, to: fails() if self.name == "shards" else rename(self, to))
    with pytest.raises(type(error)) as caught:
        write_shards(parts(), tmp_path / "x", order, overwrite=True)
    if isinstance(error, OSError):
        assert str(tmp_path / "x") in str(caught.value)
        assert caught.value.errno == 28
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    old.verify()
    assert np.array_equal(np.sort(rows_of(old), axis=0), np.sort(counts[:5], axis=0))


def test_bad_arguments(tmp_path, counts):
    with pytest.raises(ValueError, match="The order is 'random'; give 'content' or 'given'"):
        write_shards(count_blocks(counts), tmp_path / "x", "random")
    with pytest.raises(ValueError, match="not one row to write"):
        write_shards(iter([]), tmp_path / "x")
    with pytest.raises(ValueError, match=r"from 60 on are .*give rows of one kind"):
        write_shards([checked_counts(counts), checked_counts(counts[:, :3])], tmp_path / "x")
    with pytest.raises(ValueError, match="no lengths of documents: make it with count_blocks"):
        write_shards([Block((checked_counts(counts),), (None,))], tmp_path / "x")
    wide = sparse.csr_array((np.ones(1), ([0], [2**31])), shape=(1, 2**31 + 1))
    with pytest.raises(ValueError, match="2,147,483,649 columns, more than shards can number"):
        write_shards([wide], tmp_path / "x", "given")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_shards(count_blocks(counts), tmp_path / "nowhere" / "x")
    assert list(tmp_path.iterdir()) == []


def test_folders_that_are_none_of_shards(tmp_path, counts):
    (tmp_path / "file").write_text("")
    for name in ("nothing", "file", "."):
        with pytest.raises(ValueError, match=r"is no folder of shards: it has no manifest.json. Give a folder"):
            Shards(tmp_path / name)
    shards = write_shards(count_blocks(counts), tmp_path / "x")
    manifest = shards.path / "manifest.json"
    content = json.loads(manifest.read_text())
    for changes, message in [
        ({"format": "other"}, "not of the format 'polyad-shards'"),
        ({"version": 2}, "shards of version 2; this polyad reads version 1"),
        ({"edges": None}, "is damaged"),
        ({"views": [{"kind": "pictures", "width": 3}]}, "is damaged"),
        ({"files": {}}, "is damaged"),
    ]:
        manifest.write_text(json.dumps({**content, **changes}))
        with pytest.raises(ValueError, match=message):
            Shards(shards.path)
    for text in ("{", "[]", "\x00"):
        manifest.write_text(text)
        with pytest.raises(ValueError, match="manifest"):
            Shards(shards.path)


def test_damaged_files_are_named(tmp_path, counts):
    with tiny_cuts():
        shards = write_shards(count_blocks(counts), tmp_path / "x")
    file = shards.path / "shard-00002-view-0-data.npy"
    whole = file.read_bytes()

    file.write_bytes(whole[:-8])
    with pytest.raises(ValueError, match=r"shard-00002-view-0-data.npy has \d+ bytes, but \d+ were written"):
        Shards(shards.path)
    with pytest.raises(ValueError, match=r"shard-00002-view-0-data.npy (is damaged|cannot be read)"):
        shards.shard(2)

    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ValueError, match=r"shard-00002-view-0-data.npy is damaged.*Write the shards again"):
        Shards(shards.path).verify()

    file.unlink()
    for use in (lambda: Shards(shards.path), lambda: shards.shard(2)):
        with pytest.raises(ValueError, match=r"shard-00002-view-0-data.npy is missing. Write the shards again"):
            use()


def test_a_relative_path_stays_where_it_was(tmp_path, counts, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shards = write_shards(count_blocks(counts), "x")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pickle.loads(pickle.dumps(shards)).shard(0).n_rows == 60


def test_equal_documents_more_than_a_pass_of_keys(tmp_path, monkeypatch):
    """Keys are moved apart some at a time: copies of a document that are not together must still be counted on."""
    from polyad.engine.order import keys

    rng = np.random.default_rng(0)
    given_keys = rng.integers(0, 5, 97).astype(np.uint64)
    expected = given_keys.copy()
    seen = {}
    for row, key in enumerate(given_keys.tolist()):
        expected[row] = (key + seen.get(key, 0) * int(keys.SCATTER)) % 2**64
        seen[key] = seen.get(key, 0) + 1
    for rows, part in itertools.product((97, 1), (1, 7, 100)):
        monkeypatch.setattr(keys, "SPREAD_ROWS", part)
        assert np.array_equal(keys._spread_out(given_keys[:rows]), expected[:rows])


def test_cells_are_checked_when_they_are_written(tmp_path):
    good = sparse.csr_array([[1.0, 2.0]])
    with pytest.raises(ValueError, match="count -2 at row 2, column 1"):
        write_shards([good, sparse.csr_array([[0.0, 1.0], [0.0, -2.0]])], tmp_path / "x")
    with pytest.raises(ValueError, match="value nan at row 1, column 0"):
        write_shards([np.array([[1.0], [np.nan]])], tmp_path / "x", order="given")
    assert not list(tmp_path.iterdir())
    assert write_shards([sparse.coo_array([[1, 0], [0, 2]]), good], tmp_path / "x").n_rows == 3
