import logging
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from polyad.engine import (
    Best,
    Largest,
    Stacked,
    Threads,
    count_blocks,
    for_each,
    listening,
    rows,
    runners,
    signal_blocks,
    single_threaded_blas,
    step,
    sum_over,
    total,
    use,
    write_shards,
)
from polyad.engine.runners import current_runner, in_this_thread, runner_of
from polyad.engine.sums import tree_sum
from sharded import doubled_shares, products, tiny_cuts


def awkward_numbers(part):
    """Sums that differ in the last bits whenever the order of addition does."""
    rng = np.random.default_rng(part)
    return rng.standard_normal(50) * 10.0 ** rng.integers(-12, 12, 50), float(rng.standard_normal())


def awkward_block(block):
    return awkward_numbers(block.start)


def one_row_blocks(n_rows):
    return count_blocks(np.ones((n_rows, 1)))


@pytest.mark.parametrize("n_rows", [1, 2, 3, 7, 8, 100])
def test_any_number_of_threads_gives_the_same_bytes(n_rows):
    with tiny_cuts(block=1, rows=1):
        source = one_row_blocks(n_rows)
        expected = total(awkward_block, source)
        for n_threads in (1, 2, 3, 8):
            with use(n_threads):
                found = total(awkward_block, source)
                local = sum_over(awkward_numbers, range(n_rows))
            assert found[0].tobytes() == expected[0].tobytes()
            assert found[1] == expected[1]
            assert local[0].tobytes() == sum_over(awkward_numbers, range(n_rows))[0].tobytes()


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_one_array_parts_and_shards_on_disk_give_the_same_bytes(tmp_path, n_threads):
    counts = np.random.default_rng(0).poisson(0.7, (80, 9)).astype(float)
    columns = np.random.default_rng(1).standard_normal((9, 4)) * 10.0 ** np.arange(4)
    with tiny_cuts():
        expected = total(products, count_blocks(counts), columns).tobytes()
        sources = [
            count_blocks(counts),
            count_blocks([counts[:31], counts[31:]]),
            count_blocks(iter([counts[:31], counts[31:]])),
            write_shards(count_blocks(counts), tmp_path / "x", "given"),
        ]
        seen = set()
        with use(n_threads):
            for source in sources:
                assert total(products, source, columns).tobytes() == expected
                projected = rows(projections, source, columns)
                assert np.allclose(projected, counts @ columns)
                found, states = step(doubled_shares, source, [None] * source.n_shards, 0.3)
                again, states = step(doubled_shares, source, states, 0.3)
                kept = [state.tobytes() for state in states]
                seen.add((projected.tobytes(), found.tobytes(), again.tobytes(), *kept))
    assert len(seen) == 1


def projections(block, columns):
    return block.rows.toarray() @ columns


def test_rows_have_any_shape_and_type():
    with tiny_cuts():
        source = count_blocks(np.arange(60).reshape(20, 3))
        assert rows(lambda block: block.tokens.astype(np.int32), source).dtype == np.int32
        assert np.array_equal(rows(lambda block: block.rows.toarray(), source), np.arange(60).reshape(20, 3))
        assert rows(lambda block: np.zeros((block.n_rows, 2, 4)), source).shape == (20, 2, 4)


def test_tree_sum_is_a_sum():
    parts = [awkward_numbers(i)[0] for i in range(37)]
    assert np.allclose(tree_sum(p.copy() for p in parts), np.sum(parts, axis=0), rtol=1e-12)


def test_tree_sum_adds_pairwise():
    """A left-to-right sum would lose every small term next to the large one."""
    values = [1e16] + [1.0] * 7
    assert tree_sum(values) == ((1e16 + 1.0) + 2.0) + 4.0
    assert sum(values) == 1e16


def test_an_empty_sum_is_an_error():
    with pytest.raises(ValueError, match="not one block"):
        sum_over(lambda part: part, [])


def test_results_that_are_not_added():
    values = np.random.default_rng(0).standard_normal((20, 3))
    with tiny_cuts():
        source = signal_blocks(values)
        stacked, largest, best = total(
            lambda block: (
                Stacked((block.rows,)),
                Largest(block.rows.max(axis=0)),
                Best(float(block.rows[:, 0].max()), block.start),
            ),
            source,
        )
        blocks = {block.start: block.rows for block in source}
    assert np.array_equal(stacked.rows(), values)
    assert np.array_equal(largest.values, values.max(axis=0))
    assert best.score == values[:, 0].max() == blocks[best.what][:, 0].max()
    assert (Best(1.0, "first") + Best(1.0, "second")).what == "first"


def test_threads_hold_few_results_at_a_time():
    alive, most, lock = 0, 0, threading.Lock()

    class Result:
        def __add__(self, other):
            nonlocal alive
            alive -= 1
            return self

    def function(part):
        nonlocal alive, most
        with lock:
            alive += 1
            most = max(most, alive)
        return Result()

    with use(2):
        sum_over(function, range(1000))
        assert most <= 4 + 2 + 11  # in flight, being added, and one partial sum for each level of the tree
        most = alive = 0
        with tiny_cuts(block=1, rows=1):
            total(function, one_row_blocks(300))
    assert most <= 4 + 2 + 11


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_in_a_block_comes_out(n_threads):
    def fails(*_):
        raise ZeroDivisionError("block at fault")

    with tiny_cuts(block=1, rows=1), use(n_threads):
        source = one_row_blocks(5)
        for run in (
            lambda: total(fails, source),
            lambda: rows(fails, source),
            lambda: step(fails, source, [None] * source.n_shards),
            lambda: sum_over(fails, range(5)),
            lambda: for_each(fails, range(5)),
        ):
            with pytest.raises(ZeroDivisionError, match="block at fault"):
                run()
        assert total(lambda block: block.n_rows, source) == 5, "the runner works after an error"


@pytest.mark.parametrize("n_threads", [1, 3])
def test_for_each_calls_every_part(n_threads):
    out = np.zeros(20)

    def write(part):
        out[part] = part

    with use(n_threads):
        for_each(write, range(20))
    assert np.array_equal(out, np.arange(20))


@pytest.mark.parametrize("n_threads", [0, 1.5, True])
def test_bad_numbers_of_threads(n_threads):
    with pytest.raises(ValueError, match="n_jobs is"), use(n_threads):
        pass


def test_contexts_choose_the_runner():
    assert current_runner().threads.n_threads == 1
    with use() as every_core, use(-1) as the_same:
        assert every_core.n_threads == the_same.n_threads >= 1
    with use(3) as outer:
        assert current_runner() is outer
        with use() as inherited:
            assert inherited is outer
        with use(2):
            assert current_runner().n_threads == 2
        with pytest.raises(ZeroDivisionError), use(4):
            raise ZeroDivisionError
        assert current_runner() is outer
        with use(own := Threads(1)):
            assert current_runner() is own
    assert current_runner().threads.n_threads == 1


def test_contexts_of_threads_are_their_own():
    seen = {}

    def work(n_threads):
        seen["before", n_threads] = current_runner().n_threads
        with use(n_threads):
            barrier.wait()
            seen[n_threads] = current_runner().n_threads
            barrier.wait()

    barrier = threading.Barrier(2)
    threads = [threading.Thread(target=work, args=(n_threads,)) for n_threads in (2, 3)]
    with use(4):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert current_runner().n_threads == 4
    assert seen == {2: 2, 3: 3, ("before", 2): 1, ("before", 3): 1}


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_pass_inside_a_pass_is_no_deadlock(n_threads):
    with tiny_cuts(block=1, rows=1), use(n_threads):
        source = one_row_blocks(8)

        def inner(block):
            if threading.current_thread() is not threading.main_thread():
                assert current_runner().threads.n_threads == 1, "threads of a pass start no others"
            return total(lambda other: other.n_rows, source)

        assert total(inner, source) == 64
        assert sum_over(lambda part: sum_over(int, range(3)), range(8)) == 24
        found, _ = step(lambda shard, state: (total(inner, source), state), source, [None] * source.n_shards)
    assert found == 64 * source.n_shards


def test_passes_tell_how_far_they_are(caplog):
    reports = []
    with tiny_cuts():
        source = one_row_blocks(60)
        with listening(reports.append), caplog.at_level(logging.DEBUG, "polyad"):
            total(awkward_block, source)
        total(awkward_block, source)
    assert [report.done for report in reports] == list(range(1, source.n_shards + 1))
    assert {(report.name, report.n_shards) for report in reports} == {("awkward_block", source.n_shards)}
    assert [report.finished for report in reports] == [False] * (source.n_shards - 1) + [True]
    assert sorted(report.seconds for report in reports) == [report.seconds for report in reports]
    assert [record.args[1:3] for record in caplog.records] == [("awkward_block", source.n_shards)]


@pytest.mark.usefixtures("two_threads_of_blas")
def test_the_limit_on_blas_survives_overlapping_contexts():
    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before = threads()
    first, second = single_threaded_blas(), single_threaded_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}, "leaving one context must not lift the limit of the other"
    second.__exit__(None, None, None)
    assert threads() == before


def test_fits_in_several_threads_share_the_cores(monkeypatch):
    monkeypatch.setattr(runners, "cores", lambda: 8)
    with ThreadPoolExecutor(1) as pool:

        def threads_of_another():
            return pool.submit(lambda: runner_of(None).n_threads).result()

        assert threads_of_another() == 8
        with use() as first, use() as same:
            assert first is same
            assert first.n_threads == 8
            assert threads_of_another() == 4
            with use(3):  # whoever names a number has it
                assert threads_of_another() == 2
        assert threads_of_another() == 8


@pytest.mark.parametrize("n_jobs", ["2", "all", [2], np.True_, float("nan"), float("inf"), 1.5, 0, True])
def test_what_is_neither_a_runner_nor_a_number_of_threads(n_jobs):
    with pytest.raises(ValueError, match="n_jobs is"), use(n_jobs):
        pass


def test_an_interrupt_waits_for_what_has_begun():
    """In another thread as well: it might still write."""
    started, heard, done = threading.Event(), threading.Event(), []

    def slow(part):
        if threading.current_thread() is threading.main_thread():
            try:
                started.wait()  # for the other thread to begin, and then for the interrupt
                for _ in range(1000):  # a signal just before one long sleep would be heard at its end
                    time.sleep(0.01)
            finally:
                heard.set()
        else:
            started.set()
            heard.wait(2)  # on a busy machine it comes late; or between two parts, where nobody hears it
            time.sleep(0.5)
        done.append(part)

    def interrupt():
        started.wait()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # as Ctrl-C does

    threading.Thread(target=interrupt).start()
    with use(2), pytest.raises(KeyboardInterrupt):
        for_each(slow, range(4))
    assert len(done) == 1
    time.sleep(0.05)
    assert len(done) == 1, "what had not begun does not begin any more"


def test_the_thread_of_the_caller_works_as_well():
    both = threading.Barrier(2, timeout=10)
    workers = set()

    def meet(part):
        workers.add(threading.current_thread())
        both.wait()
        return part

    with use(2) as runner:
        assert list(runner.map(meet, range(6))) == list(range(6))
    assert len(workers) == 2
    assert threading.main_thread() in workers


def test_of_several_errors_that_of_the_first_part_comes_out():
    """Whichever thread has come to its part first: the message does not depend on the number of threads."""

    def fails(part):
        time.sleep(0.01 * (part == 0))
        raise ValueError(f"part {part}")

    for n_threads in (1, 2, 3):
        with use(n_threads), pytest.raises(ValueError, match="part 0"):
            for_each(fails, range(6))


def own_threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")}


def test_threads_end_with_the_context_that_started_them():
    before = own_threads()
    known = []  # as the traceback of an error knows the runner
    for _ in range(3):
        with use(2) as runner:
            known.append(runner)
            assert sum_over(int, range(8)) == 28
            with use(None):
                sum_over(int, range(8))
            assert own_threads() - before, "a context that took over the threads of another does not end them"
        assert own_threads() <= before
    with pytest.raises(ZeroDivisionError), use(2):
        sum_over(lambda part: 1 // part, range(8))
    assert own_threads() <= before
    assert sum(runner.map(int, range(8))) == 28, "a closed runner starts new threads"
    runner.close()


def test_a_runner_of_the_caller_keeps_its_threads():
    before = own_threads()
    runner = Threads(2)
    with use(runner):
        sum_over(int, range(8))
    assert own_threads() - before
    runner.close()
    assert own_threads() <= before


@pytest.mark.parametrize("n_threads", [1, 2])
def test_one_shard_adds_up_as_several_threads_do(n_threads, monkeypatch):
    """The short way of a pass over one shard: the same tree, and the same report."""
    tiny_cuts(monkeypatch)
    source = signal_blocks(np.random.default_rng(0).standard_normal((300, 4)) * 1e3)
    one = source.shard(0)
    alone = type(source)((one,), source.widths)
    reports = []
    with use(n_threads), listening(reports.append):
        found = total(awkward_block, alone)
    expected = tree_sum(awkward_block(block) for block in one.blocks)
    assert np.array_equal(found[0], expected[0])
    assert found[1] == expected[1]
    assert [(report.done, report.n_shards) for report in reports] == [(1, 1)]


def test_little_work_stays_in_the_thread_of_the_caller():
    with use(3) as threads:
        with in_this_thread(little=False):
            assert current_runner() is threads
        with in_this_thread(little=True):
            assert current_runner().n_threads == 1
        assert current_runner() is threads

    class Own(Threads):
        """A runner of a user."""

    with use(Own(2)) as own, in_this_thread(little=True):
        assert current_runner() is own


@pytest.mark.parametrize("n_rows", [3, 9000])
def test_rows_are_new_memory_also_where_a_function_returns_what_it_was_given(n_rows):
    X = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    source = signal_blocks(X)
    found = rows(itself, source)
    assert np.array_equal(found, X)
    assert found.flags.c_contiguous
    assert not np.shares_memory(found, source.shard(0).rows)


def itself(block):
    return block.rows


def test_an_error_in_a_context_lifts_the_limit_on_blas_and_a_context_within_does_not():
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    def fails():
        with single_threaded_blas():
            assert set(threads()) == {1}
            raise ValueError("within")

    before = threads()
    with single_threaded_blas():
        with pytest.raises(ValueError, match="within"):
            fails()
        assert set(threads()) == {1}
    assert threads() == before
    with pytest.raises(ValueError, match="within"):
        fails()
    assert threads() == before
