import gc
import tempfile
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from polyad.engine import StateStore, count_blocks, new_states, step, use, write_shards
from sharded import doubled_shares, tiny_cuts

Pair = namedtuple("Pair", "left right")


@dataclass(frozen=True)
class Kept:
    shares: np.ndarray
    inner: tuple
    n_passes: int = 0
    name: str | None = None


@pytest.fixture
def sources(tmp_path):
    counts = np.random.default_rng(0).poisson(0.7, (60, 9)).astype(float)
    with tiny_cuts():
        in_memory = count_blocks(counts)
        yield in_memory, write_shards(in_memory, tmp_path / "x", "given")


@pytest.mark.parametrize(
    "state",
    [
        None,
        3,
        2.5,
        "words",
        np.float64(1.5),
        (),
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(4.0),
        np.empty((0, 3), np.float32),
        (np.arange(3), None, (np.ones(2, np.int32), True)),
        Pair(np.arange(3), 1),
        Kept(np.ones((2, 2)), (np.zeros(1), Kept(np.arange(2), ())), 4, "a"),
    ],
    ids=repr,
)
def test_states_come_back_as_they_were(state):
    def check(found, given):
        assert type(found) is type(given)
        if isinstance(given, np.ndarray):
            assert found.dtype == given.dtype
            assert np.array_equal(found, given)
            assert not found.flags.writeable
        elif isinstance(given, Kept):
            check(found.shares, given.shares)
            check(found.inner, given.inner)
            assert (found.n_passes, found.name) == (given.n_passes, given.name)
        elif isinstance(given, tuple):
            for a, b in zip(found, given, strict=True):
                check(a, b)
        else:
            assert found == given

    store = StateStore()
    store.append(state)
    store.append(None)
    assert len(store) == 2
    assert store[-1] is None
    for _ in range(2):
        check(store[0], state)
    (first, second), (again, _) = store, store[:]
    check(first, state)
    check(again, state)
    assert second is None
    with pytest.raises(IndexError):
        store[2]


@pytest.mark.parametrize("bad", [[1, 2], {"a": 1}, object(), (1, {2})])
def test_what_has_no_place_on_disk_is_refused(bad):
    with pytest.raises(TypeError, match=r"has no place on disk. Keep arrays"):
        StateStore().append(bad)
    with pytest.raises(ValueError, match=r"[Oo]bject arrays"):
        StateStore().append(np.array([{}]))


def test_states_lie_where_their_source_does(sources):
    in_memory, on_disk = sources
    assert new_states(in_memory) == [None] * in_memory.n_shards
    states = new_states(on_disk, (1, np.ones(2)))
    assert isinstance(states, StateStore)
    assert len(states) == on_disk.n_shards > 2
    assert all(np.array_equal(array, [1, 1]) for _, array in states)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_steps_in_memory_and_on_disk_are_the_same(sources, n_threads):
    found = []
    for source in sources:
        states, sums = new_states(source), []
        with use(n_threads):
            for scale in (0.1, 0.7, 1.3):
                result, states = step(doubled_shares, source, states, scale)
                sums.append(result.tobytes())
        assert type(states) is type(new_states(source))
        found.append((sums, [state.tobytes() for state in states]))
    assert found[0] == found[1]


def test_a_pass_that_fails_leaves_the_states_it_began_with(sources, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # other tests have states at the same time
    _, source = sources
    _, states = step(doubled_shares, source, new_states(source), 1.0)
    before = [state.tobytes() for state in states]
    folders = set(states.folder.parent.glob("polyad-states-*"))

    def fails(shard, state):
        if shard.start == source.edges[-2]:
            raise ZeroDivisionError("the last shard")
        return 0, state + 1

    with pytest.raises(ZeroDivisionError, match="the last shard"):
        step(fails, source, states)
    assert [state.tobytes() for state in states] == before
    gc.collect()
    assert states.folder in folders
    assert set(states.folder.parent.glob("polyad-states-*")) <= folders, "nothing is left of the pass"


def test_old_states_are_whole_until_nobody_needs_them(sources):
    _, source = sources
    _, old = step(doubled_shares, source, new_states(source), 1.0)
    _, new = step(doubled_shares, source, old, 2.0)
    assert np.array_equal(old[1] * 2, new[1])
    folder, array = old.folder, old[0]
    expected = array.copy()
    del old
    gc.collect()
    assert not folder.exists()
    assert np.array_equal(array, expected), "an array that is still in use keeps its content"
    assert new.folder.exists()


def test_the_next_state_is_read_while_one_is_computed(sources, monkeypatch):
    """Only the files of the shard that comes next are asked for, those of nested states as well."""
    asked = []
    monkeypatch.setattr("polyad.engine.states.will_need", asked.append)
    _, shards = sources
    store = StateStore()
    for number in range(shards.n_shards):
        store.append(Kept(np.full(2, number), (None, np.arange(number))))

    def look(shard, state, _):
        expected = 2 * min(int(state.shares[0]) + 1, shards.n_shards - 1)
        assert len(asked) == expected
        return 0, state

    step(look, shards, store, None)
    assert len(asked) == len(set(asked)) == 2 * (shards.n_shards - 1)
    assert all(np.load(file).size >= 0 for file in asked)
