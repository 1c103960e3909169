import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from polyad import LDA, DiscreteICA, SingleTopic
from polyad.datasets import make_lda
from polyad.engine import (
    Checkpoint,
    CheckpointError,
    Shards,
    count_blocks,
    new_states,
    rows,
    step,
    total,
    use,
    write_shards,
)
from polyad.engine.checkpoints.checkpoint import remove_checkpoint
from polyad.engine.checkpoints.digests import digest, digest_of_source
from polyad.engine.checkpoints.records import read_record, write_record
from polyad.engine.sums import TreeSum, tree_sum
from polyad.inference.expectation import Likelihood
from polyad.io import fingerprint
from sharded import tiny_cuts

FAULTS = Path(__file__).parent.parent / "faults.py"
SAMPLE = make_lda(200, 60, 3, length=40, prior=0.2, random_state=0)


@pytest.fixture
def shards(tmp_path):
    with tiny_cuts(shard=1500, block=400, rows=40):
        yield write_shards(count_blocks(SAMPLE.counts), tmp_path / "corpus.shards")


class StopError(Exception):
    """Stands for the end of the process."""


class Counting:
    """Counts the calls of functions of passes, and stops at one of them."""

    def __init__(self, monkeypatch, last=np.inf):
        from polyad.engine.runners import Threads

        self.n_shards, self.last = 0, last
        real = Threads._each_shard

        def each_shard(runner, work, function, source, first=0):
            def counted(number):
                self.n_shards += 1
                if self.n_shards > self.last:
                    raise StopError
                return work(number)

            return real(runner, counted, function, source, first)

        monkeypatch.setattr(Threads, "_each_shard", each_shard)


def word_totals(block, scale):
    return scale * np.asarray(block.rows.sum(axis=0)).ravel(), Likelihood(float(block.n_rows), 1.0)


def remember(shard, state, scale):
    kept = scale * shard.tokens if state is None else state[0] + scale * shard.tokens
    return kept.sum(), (kept, None)


MODELS = {"lda": lambda: LDA(3), "wide": lambda: LDA(3, polish="full"), "discrete ica": lambda: DiscreteICA(3),
          "single topic": lambda: SingleTopic(3)}  # fmt: skip


@pytest.mark.parametrize(
    "name", ["lda", *(pytest.param(name, marks=pytest.mark.slow) for name in ("discrete ica", "single topic", "wide"))]
)
@pytest.mark.filterwarnings("ignore:These data")
def test_a_checkpoint_changes_nothing(shards, tmp_path, name):
    expected = fingerprint(MODELS[name]().fit(shards))
    for X, folder in ((shards, "run"), (shards, "run"), (SAMPLE.counts, "other")):
        with use(Checkpoint(tmp_path / folder, durable=False)):
            assert fingerprint(MODELS[name]().fit(X)) == expected


def test_a_run_goes_on_from_every_shard(shards, tmp_path, monkeypatch):
    """Stopped at any shard of any kind of pass, and resumed: the same bytes, and at most one shard is done twice."""
    with monkeypatch.context() as patch:
        counted = Counting(patch)
        expected = fingerprint(LDA(3, polish=3).fit(shards))
        n_shards = counted.n_shards
    assert n_shards > 50
    for last in range(0, n_shards, 13):
        folder = tmp_path / f"run-{last}"
        with monkeypatch.context() as patch:
            Counting(patch, last)
            with pytest.raises(StopError), use(Checkpoint(folder, 1, seconds=0.0, durable=False)):
                LDA(3, polish=3).fit(shards)
        with monkeypatch.context() as patch:
            counted = Counting(patch)
            with use(Checkpoint(folder, 1, seconds=0.0, durable=False)):
                assert fingerprint(LDA(3, polish=3).fit(shards)) == expected
            assert counted.n_shards <= n_shards - last + 1


def test_stopped_again_and_again(shards, tmp_path, monkeypatch):
    expected = fingerprint(LDA(3, polish=2).fit(shards))
    for _ in range(100):
        with monkeypatch.context() as patch:
            Counting(patch, 37)
            try:
                with use(Checkpoint(tmp_path / "run", 1, seconds=0.0, durable=False)):
                    found = LDA(3, polish=2).fit(shards)
            except StopError:
                continue
        assert fingerprint(found) == expected
        return
    raise AssertionError("it never came to its end")


def test_states_go_when_later_ones_are_there(shards, tmp_path):
    with use(Checkpoint(tmp_path / "run", 1)):
        states = new_states(shards)
        for number in range(4):
            found, states = step(remember, shards, states, float(number + 1))
            assert len(list((tmp_path / "run").glob("states-*"))) <= 2
    expected = 10 * SAMPLE.counts.sum()
    assert found == expected
    assert sum(states[at][0].sum() for at in range(len(states))) == expected
    assert states[0][1] is None
    assert len(states[:2]) == 2


def test_other_data_and_other_options_are_refused(shards, tmp_path):
    LDA(3, polish=1).fit(shards, checkpoint=tmp_path / "run")
    other = make_lda(200, 60, 3, length=40, prior=0.2, random_state=1).counts
    with tiny_cuts(shard=1500, block=400, rows=40):
        others = write_shards(count_blocks(other), tmp_path / "others")
    with pytest.raises(CheckpointError, match=r"checkpoint of a run with other data.*Call it as it was"):
        LDA(3, polish=1).fit(others, checkpoint=tmp_path / "run")
    for model in (LDA(4, polish=1), LDA(3, polish=1, weights="uniform"), DiscreteICA(3)):
        with pytest.raises(CheckpointError, match="checkpoint of a run with other options"):
            model.fit(shards, checkpoint=tmp_path / "run")


def test_folders_that_are_no_checkpoint(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "thesis.txt").write_text("mine")
    with pytest.raises(CheckpointError, match="there are other files in it"):
        Checkpoint(tmp_path / "notes")
    remove_checkpoint(tmp_path / "notes")
    assert (tmp_path / "notes" / "thesis.txt").exists()
    with pytest.raises(CheckpointError, match="is a file"):
        Checkpoint(tmp_path / "notes" / "thesis.txt")
    one = Checkpoint(tmp_path / "run")
    assert one.n_replayed == 0
    with pytest.raises(CheckpointError, match="Another process works with"):
        Checkpoint(tmp_path / "run")
    one.release()
    Checkpoint(tmp_path / "run").release()
    about = tmp_path / "run" / "checkpoint.json"
    about.write_text(about.read_text().replace('"version": 2', '"version": 99'))
    with pytest.raises(CheckpointError, match="version 99"):
        Checkpoint(tmp_path / "run")
    about.write_text(about.read_text().replace("99", "2").replace('"numba": "', '"numba": "9'))
    with pytest.raises(CheckpointError, match=r"was made with .*numba 9.*Go on with the same"):
        Checkpoint(tmp_path / "run")


def test_a_damaged_result_is_named(shards, tmp_path):
    LDA(3, polish=1).fit(shards, checkpoint=tmp_path / "run")
    file = sorted((tmp_path / "run").glob("pass-*.npz"))[3]
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 1
    file.write_bytes(raw)
    with pytest.raises(ValueError, match=f"{file.name} is damaged"):
        LDA(3, polish=1).fit(shards, checkpoint=tmp_path / "run")


@pytest.mark.parametrize("suffix", ["npy", "json"])
def test_a_flipped_bit_in_a_kept_state_is_named(shards, tmp_path, suffix):
    """Wherever it is: in the numbers themselves, which any reader would take, or in what tells them apart."""
    with use(Checkpoint(tmp_path / "run", 1)):
        _, states = step(remember, shards, new_states(shards), 1.0)
        (file,) = (tmp_path / "run").glob(f"states-*/shard-00001*{suffix}")
        raw = file.read_bytes()
        for at in range(0, len(raw), max(len(raw) // 40, 1)):
            file.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
            with pytest.raises(CheckpointError, match=rf"{file.name} is damaged.*begin anew"):
                states[1]
        file.write_bytes(raw)
        assert states[1][1] is None
        assert states[0][0].size


def test_a_damaged_state_is_found_when_a_run_goes_on(shards, tmp_path):
    with use(Checkpoint(tmp_path / "run", 1)):
        step(remember, shards, new_states(shards), 1.0)
    file = max((tmp_path / "run").glob("states-*/*.npy"))
    raw = file.read_bytes()
    file.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with use(Checkpoint(tmp_path / "run", 1)) as runner:
        _, states = step(remember, shards, new_states(shards), 1.0)
        assert runner.n_replayed == 1
        with pytest.raises(CheckpointError, match=f"{file.name} is damaged: its sum"):
            step(remember, shards, states, 2.0)


def test_rows_and_totals_come_back_as_they_were(tmp_path):
    source = count_blocks(SAMPLE.counts)
    found = []
    for _ in range(2):
        with use(Checkpoint(tmp_path / "run")) as runner:
            found.append((total(word_totals, source, 2.0), rows(_lengths, source)))
    assert runner.n_replayed == 2
    (first, one), (second, two) = found
    assert np.array_equal(first[0], second[0])
    assert first[1] == second[1]
    assert np.array_equal(one, two)
    assert np.array_equal(first[0], 2 * np.asarray(SAMPLE.counts.sum(axis=0)).ravel())


def _lengths(block):
    return block.tokens


Pair = namedtuple("Pair", "a b")


def test_records(tmp_path):
    value = (
        None,
        True,
        3,
        0.1,
        float("nan"),
        "x",
        np.float32(2),
        [1, ()],
        np.asfortranarray(np.eye(2)),
        Likelihood(1.0, 2.0),
    )
    write_record(tmp_path / "r.npz", value)
    found = read_record(tmp_path / "r.npz")
    assert repr(found) == repr(value)
    assert found[8].flags.f_contiguous
    assert isinstance(found[6], np.float32)
    for wrong in ({1: 2}, object()):
        with pytest.raises(TypeError, match="has no place in a file"):
            write_record(tmp_path / "w.npz", wrong)
    write_record(tmp_path / "w.npz", Pair(1, 2))
    with pytest.raises(ValueError, match="which is none of polyad"):
        read_record(tmp_path / "w.npz")
    assert not list(tmp_path.glob("*.part"))


def test_digests_tell_data_apart(shards):
    in_memory = count_blocks(SAMPLE.counts)
    changed = SAMPLE.counts.copy()
    changed.data[5] += 1
    assert digest_of_source(in_memory) == digest_of_source(count_blocks(SAMPLE.counts.copy()))
    assert digest_of_source(in_memory) != digest_of_source(count_blocks(changed))
    assert digest_of_source(shards) == digest_of_source(Shards(shards.path)) != digest_of_source(in_memory)
    weights = [digest(_Weight(power).of) for power in (1.0, 2.0)]
    assert weights[0] != weights[1]
    assert digest(sparse.eye_array(3, format="csr")) != digest(2 * sparse.eye_array(3, format="csr"))


class _Weight:
    def __init__(self, power):
        self.power = power

    def __repr__(self):
        return f"_Weight({self.power})"

    def of(self, x):
        return x


def test_sums_go_on_in_the_same_tree():
    chance = np.random.default_rng(0)
    for n in range(1, 20):
        numbers = list(chance.random(n) * 10.0 ** chance.integers(-8, 8, n))
        expected = tree_sum(iter(numbers))
        for cut in range(n):
            first = TreeSum()
            for number in numbers[:cut]:
                first.push(number)
            second = TreeSum(first.partial)
            for number in numbers[cut:]:
                second.push(number)
            assert second.result() == expected


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_moments(shards, tmp_path, kills):
    found = subprocess.run(
        [sys.executable, FAULTS, "fit", tmp_path, str(kills), str(kills)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    whole, killed = ((tmp_path / f"{name}.polyad") for name in ("whole", "killed"))
    from polyad import load

    assert fingerprint(load(whole)) == fingerprint(load(killed))


def test_a_full_disk_is_told_and_the_fit_goes_on(shards, tmp_path):
    code = (
        "import resource, signal, sys\n"
        "from polyad import LDA\n"
        "from polyad.engine import Shards, blocks\n"
        "blocks.BLOCK_CELLS, blocks.BLOCK_ROWS = 400, 40\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "LDA(2, polish='off').fit(Shards(sys.argv[1]))\n"  # compiled code goes to files, too
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4500, resource.RLIM_INFINITY))\n"
        "try:\n"
        "    LDA(3).fit(Shards(sys.argv[1]), checkpoint=sys.argv[2])\n"
        "except OSError as error:\n"
        "    print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code, shards.path, tmp_path / "run"], capture_output=True, text=True)
    assert "File too large" in found.stdout, found
    assert str(tmp_path / "run" / "pass-") in found.stdout or str(tmp_path / "run" / "states-") in found.stdout, found
    assert fingerprint(LDA(3).fit(shards, checkpoint=tmp_path / "run")) == fingerprint(LDA(3).fit(shards))
