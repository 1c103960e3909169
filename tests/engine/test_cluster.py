"""Passes on a Dask cluster of real processes: the same bytes, whoever dies."""

import contextlib
import itertools
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from polyad import LDA, DiscreteICA, SingleTopic
from polyad.corpus import CorpusError, index
from polyad.datasets import make_lda
from polyad.engine import ClusterError, DaskRunner, PassReport, count_blocks, listening, new_states, use, write_shards
from polyad.engine.blocks import Block
from polyad.engine.cluster.steps import Step
from polyad.engine.cluster.tasks import StateLostError, _Kept, add_task, tasks_on_host
from polyad.engine.cluster.workers import Workers, wait_for_one
from polyad.io import fingerprint
from sharded import tiny_cuts

distributed = pytest.importorskip("distributed")
cloudpickle = pytest.importorskip("cloudpickle")
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not know the folder of the tests
SAMPLE = make_lda(300, 60, 3, length=40, prior=0.2, random_state=0)


@contextlib.contextmanager
def cluster(n_workers):
    """A cluster without a dashboard; Dask's own threads and warnings are not ours to judge."""
    made = distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=60
    )
    try:
        with distributed.Client(made) as client:
            yield client, made
    finally:
        made.close(timeout=20)


@pytest.fixture(scope="module")
def cluster_of_two():
    """How to get a cluster of two; it is made anew where Dask did not bring back a worker that died as it started."""
    with contextlib.ExitStack() as stack:
        made = []

        def get(timeout):
            if made:
                try:
                    made[-1][0].wait_for_workers(2, timeout=timeout)
                    return made[-1]
                except TimeoutError:
                    pass
            made.append(stack.enter_context(cluster(2)))
            return made[-1]

        yield get


@pytest.fixture
def two(cluster_of_two):
    """Two workers that are there, whatever the test before has done to them."""
    return cluster_of_two(timeout=30)


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    with tiny_cuts(shard=1400, block=1 << 17, rows=1 << 12):
        made = write_shards(count_blocks(SAMPLE.counts), tmp_path_factory.mktemp("corpus") / "shards")
    assert made.n_shards == 4
    return made


def kill_a_worker(made, number=0):
    """Kill a worker; one that an earlier test has killed may not be back yet, and has no process then."""
    for _ in range(600):
        pids = [worker.pid for worker in made.workers.values() if worker.pid is not None]
        if pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pids[number % len(pids)], signal.SIGKILL)
                return
        time.sleep(0.1)
    raise AssertionError("there is no worker to kill")


def killed_in(name, made, when=1):
    """Return a listener that kills a worker in the first pass of a function, once so many shards are done."""
    kills = []

    def listen(report: PassReport):
        if report.name == name and report.done >= when and not kills:
            kills.append(report)
            kill_a_worker(made)

    return listen, kills


pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("cluster")]


def test_the_bytes_of_one_machine(two, shards):
    client, _ = two
    expected = fingerprint(LDA(3, polish=2).fit(shards))
    assert fingerprint(LDA(3, polish=2, n_jobs=1).fit(shards, client=client)) == expected


def test_a_worker_killed_in_the_e_step(two, shards):
    client, made = two
    expected = fingerprint(LDA(3, polish=3).fit(shards))
    listen, kills = killed_in("em_step", made)
    with use(DaskRunner(client)) as runner, listening(listen):
        assert fingerprint(LDA(3, polish=3).fit(shards)) == expected
    assert kills
    assert runner.workers.n_rebuilt >= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["_pair_products", "_third_sums", "prepare_documents", "_totals", "_diagonals"])
@pytest.mark.parametrize("when", [1, 4])
def test_a_worker_killed_in_any_pass(two, shards, name, when):
    """At its first shard, and when all are done and are being added up."""
    client, made = two
    expected = fingerprint(LDA(3, polish=3).fit(shards))
    if name == "prepare_documents":
        when = min(when, 2)  # a half of the shards
    listen, kills = killed_in(name, made, when)
    with use(DaskRunner(client)), listening(listen):
        assert fingerprint(LDA(3, polish=3).fit(shards)) == expected
    assert kills


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_workers_and_any_model(shards, n_workers):
    with cluster(n_workers) as (client, _), use(DaskRunner(client)):
        for make in (lambda: LDA(3, polish=5), lambda: DiscreteICA(3), lambda: SingleTopic(3)):
            found = fingerprint(make().fit(shards))
            assert found == _alone(make, shards)
        in_memory = LDA(3).fit(SAMPLE.counts)
        assert fingerprint(in_memory) == _alone(lambda: LDA(3), SAMPLE.counts)
        assert np.array_equal(in_memory.transform(shards), _alone_transform(in_memory, shards))


def _alone(make, X):
    from polyad.engine import Threads

    with use(Threads(1)):
        return fingerprint(make().fit(X))


def _alone_transform(model, X):
    from polyad.engine import Threads

    with use(Threads(1)):
        return model.transform(X)


def test_data_in_memory_are_sent_once_to_the_worker_that_keeps_them():
    source, sent = count_blocks(SAMPLE.counts), []
    step = Step.__new__(Step)
    step.chain = SimpleNamespace(source=source, sent={})

    def send(value, workers):
        assert value is source.shard(0)
        sent.append(workers)
        return SimpleNamespace(status="finished")

    step._sent = send
    first = step._block(0, "a")
    assert step._block(0, "a") is first
    assert sent == [["a"]]
    assert step._block(0, "b") is not first, "another worker has the shard now"
    step.chain.sent[0][1].status = "lost"
    step._block(0, "b")
    assert sent == [["a"], ["b"], ["b"]]


def test_data_in_memory_travel_once_through_the_passes_of_a_real_cluster(two, monkeypatch):
    client, sent = two[0], []
    real = client.scatter

    def scatter(value, *args, **options):
        values = value if isinstance(value, list) else [value]
        sent.extend(part.start for part in values if isinstance(part, Block))
        return real(value, *args, **options)

    monkeypatch.setattr(client, "scatter", scatter)
    with tiny_cuts(shard=1400, block=1 << 17, rows=1 << 12):
        source = count_blocks(SAMPLE.counts)
        assert source.n_shards == 4
        with use(DaskRunner(client)) as runner:
            totals = [runner.total(tokens_of_block, source) for _ in range(3)]
            assert sorted(sent) == sorted(source.edges[:-1])
            sent.clear()
            states = new_states(source)
            for number in range(1, 4):
                found, states = runner.step(counted_step, source, states)
                assert found == number * SAMPLE.counts.sum()
    assert totals == [SAMPLE.counts.sum()] * 3
    assert sorted(sent) == sorted(source.edges[:-1])


def test_neighbouring_shards_have_one_worker_so_that_sums_are_added_where_they_are(two, shards):
    client, _ = two
    with use(DaskRunner(client)) as runner:
        _, states = runner.step(counted_step, shards, new_states(shards))
        owners = states.chain.owners
        assert len(owners) >= 4
        changes = sum(one != other for one, other in itertools.pairwise(owners))
        assert changes == len(set(owners)) - 1 == 1
        assert abs(owners.count(owners[0]) - owners.count(owners[-1])) <= 1


def tokens_of_block(block):
    return float(block.tokens.sum())


def counted_step(shard, state):
    number = (state or 0) + 1
    return float(number * shard.tokens.sum()), number


def test_data_in_memory_give_the_same_bytes_through_several_passes(two):
    with tiny_cuts(shard=1400, block=1 << 17, rows=1 << 12):
        expected = fingerprint(LDA(3, polish=4).fit(SAMPLE.counts))
        assert fingerprint(LDA(3, polish=4).fit(SAMPLE.counts, client=two[0])) == expected


@pytest.mark.slow
def test_workers_come_and_go(shards):
    expected = fingerprint(LDA(3, polish=4).fit(shards))
    with cluster(1) as (client, made):
        seen = []

        def listen(report):
            """How often a pass reports depends on how many shards were done between two looks: go by its name."""
            if report.name not in seen:
                seen.append(report.name)
                if report.name == "_pair_products":
                    made.scale(3)
                if report.name == "em_step":
                    client.wait_for_workers(3, timeout=120)  # Dask itself may fail over one that dies as it starts
                    kill_a_worker(made, -1)

        with use(DaskRunner(client)), listening(listen):
            assert fingerprint(LDA(3, polish=4).fit(shards)) == expected
        assert {"_pair_products", "em_step"} <= set(seen)


def tokens_beside(block, topics):
    return float(block.tokens.sum() + 0 * topics[0])


@pytest.mark.slow
def test_workers_that_die_while_something_is_sent_to_them(shards):
    """Dask's own broadcast never ended where a worker died in it."""
    topics, chance = np.ones(500_000), np.random.default_rng(0)
    for _ in range(4):
        with cluster(2) as (client, _), use(DaskRunner(client)) as runner:
            expected, found = runner.total(tokens_beside, shards, topics), []
            died = next(iter(client.run(os.getpid).values()))
            threading.Timer(chance.uniform(0, 0.06), os.kill, (died, signal.SIGKILL)).start()

            def passes(runner=runner, found=found):
                found.extend(runner.total(tokens_beside, shards, topics) for _ in range(3))

            thread = threading.Thread(target=passes, daemon=True)
            thread.start()
            thread.join(60)
            assert found == [expected] * 3


def test_nothing_is_broadcast():
    calls = []

    def scatter(data, **options):
        calls.append(options)
        return data

    client = SimpleNamespace(scatter=scatter)
    assert Workers(client).send("topics", ["a", "b"]) == "topics"
    assert calls == [{"workers": ["a", "b"], "hash": False}]


def test_a_pass_that_is_cancelled_while_it_is_waited_for_is_looked_after(monkeypatch):
    """What a task needs may go with a worker: Dask then cancels the task, and says so to whoever waits for it."""

    def cancelled(*_, **__):
        raise distributed.client.FuturesCancelledError([])

    monkeypatch.setattr(distributed, "wait", cancelled)
    wait_for_one([SimpleNamespace(done=lambda: False)])

    def broken(*_, **__):
        raise RuntimeError("the loop is closed")

    monkeypatch.setattr(distributed, "wait", broken)
    with pytest.raises(RuntimeError, match="closed"):
        wait_for_one([SimpleNamespace(done=lambda: False)])


def slow_tokens(block, slow):
    """A pass of which one process does every block late."""
    if os.getpid() == slow:
        time.sleep(0.5)
    return block.rows.sum(), block.tokens.sum()


@pytest.mark.slow
def test_a_slow_worker_changes_nothing_but_the_time(two, shards):
    client, _ = two
    slow = next(iter(client.run(os.getpid).values()))
    with use(DaskRunner(client)) as runner:
        found = runner.total(slow_tokens, shards, slow)
    assert found == (SAMPLE.counts.sum(), SAMPLE.counts.sum())


def dies_after(shard, state, path):
    """A step after whose first run, when its result is ready, the worker dies."""
    path = Path(path)
    if shard.start == 0 and not path.exists():
        path.touch()
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
    return float(shard.tokens.sum()), (state or 0) + 1


@pytest.mark.slow
def test_a_worker_that_dies_with_its_state_between_passes(two, shards, tmp_path):
    client, _ = two
    with use(DaskRunner(client)) as runner:
        found, states = runner.step(dies_after, shards, new_states(shards), tmp_path / "once")
        time.sleep(3)
        again, states = runner.step(dies_after, shards, states, tmp_path / "once")
        assert found == again == SAMPLE.counts.sum()
        assert list(states) == [2] * 4
    assert runner.workers.n_rebuilt >= 1


@pytest.mark.slow
def test_a_lost_scheduler_is_a_sentence(shards):
    told = None
    # Closing a cluster whose scheduler is gone raises errors of Dask's own; what the fit raised is looked at after it.
    with contextlib.suppress(Exception), cluster(1) as (client, made):

        def listen(report):
            if report.name == "em_step":
                client.loop.add_callback(made.scheduler.close)
                time.sleep(1)

        try:
            with use(DaskRunner(client)), listening(listen):
                LDA(3).fit(shards)
        except ClusterError as error:
            told = str(error)
    assert told is not None
    assert "scheduler of the cluster" in told


TEXTS = [f"the cat of house{number % 37} likes dog{number % 11} and bird{number % 5}" for number in range(600)]


def contents(folder):
    """Return the bytes of all files but the one that says what was read."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.name != "corpus.json"}


@pytest.fixture
def indexed(tmp_path, monkeypatch):
    """Texts in a file, in chunks of a few, and the shards that one process makes of them."""
    for module in ("words.counting", "indexing.index", "indexing.bags"):
        monkeypatch.setattr(f"polyad.corpus.{module}.CHUNK_CHARACTERS", 2000)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    return tmp_path / "texts.txt", contents(index(tmp_path / "texts.txt", tmp_path / "alone.shards").path)


def test_text_is_counted_on_the_cluster(two, indexed, tmp_path):
    client, made = two
    file, expected = indexed
    assert contents(index(file, tmp_path / "cluster.shards", client=client).path) == expected
    started = {worker.pid for worker in made.workers.values()}

    def killed(documents, fraction):
        if documents > 300 and started == {worker.pid for worker in made.workers.values()}:
            kill_a_worker(made)

    with use(DaskRunner(client)):  # as the command does
        again = index(file, tmp_path / "killed.shards", progress=killed)
    assert contents(again.path) == expected


def test_a_bag_of_texts_is_counted_where_it_is(two, indexed, tmp_path):
    bags = pytest.importorskip("dask.bag")
    _, expected = indexed
    bag = bags.from_sequence(TEXTS, npartitions=7)
    assert contents(index(bag, tmp_path / "bag.shards", client=two[0]).path) == expected
    here = index(bag, tmp_path / "here.shards")
    assert contents(here.path) == expected
    assert here.report.documents == 600
    with pytest.raises(ValueError, match=r"polyad.corpus.index\(texts"):
        LDA(2).fit(bag)
    with pytest.raises(CorpusError, match="holds a dict"):
        index(bags.from_sequence([{"text": "a"}]), tmp_path / "wrong.shards")
    with pytest.raises(CorpusError, match="no documents"):
        index(bags.from_sequence([]), tmp_path / "empty.shards")


def test_arrays_and_tables_of_dask(two):
    arrays, tables = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    client, dense = two[0], SAMPLE.counts.toarray()
    expected = LDA(3, polish=2).fit(dense).components_.tobytes()
    lazy = arrays.from_array(dense, chunks=(90, 25))
    named = pandas.DataFrame(dense, columns=[f"word{number}" for number in range(60)])
    for X in (lazy, lazy.rechunk((90, 60)).map_blocks(sparse.csr_matrix), tables.from_pandas(named, npartitions=3)):
        model = LDA(3, polish=2).fit(X, client=client)
        assert model.components_.tobytes() == expected
    assert list(model.feature_names_in_) == list(named)
    assert np.array_equal(model.transform(tables.from_pandas(named, npartitions=3)), model.transform(named))
    with pytest.raises(ValueError, match="feature names"):
        model.transform(tables.from_pandas(named.iloc[:, ::-1], npartitions=3))


def test_states_of_workers():
    kept = _Kept()
    for generation in (1, 2, 3):
        kept.put("a", 0, generation, np.full(2, generation), on_disk=generation % 2 == 0)
    assert kept.get("a", 0, 3)[0] == 3
    assert kept.get("a", 0, 2)[0] == 2
    with pytest.raises(StateLostError, match="state 1 of shard 0"):
        kept.get("a", 0, 1)
    kept.forget(["a"])
    with pytest.raises(StateLostError):
        kept.get("a", 0, 3)


def test_adding_leaves_both_as_they_were():
    left, right = (np.ones(2), 1.0), (np.full(2, 2.0), 2.0)
    found = add_task(left, right)
    assert found[0].tolist() == [3, 3]
    assert (left[0].tolist(), right[0].tolist()) == ([1, 1], [2, 2])
    assert [tasks_on_host(*sizes) for sizes in ((1, 2, 1), (8, 2, 1), (8, 16, 4))] == [1, 2, 2]


def test_states_can_be_fetched_and_not_branched(two, shards):
    from polyad.inference.expectation import prepare_documents

    client, _ = two
    with use(DaskRunner(client)) as runner:
        begin = new_states(shards)
        found, states = runner.step(prepare_documents, shards, begin, None, 3)
        assert found == 0
        assert len(states) == 4
        assert states[1].tokens.shape == (shards.edges[2] - shards.edges[1], 16)  # topics are padded
        assert len(states[:2]) == 2
