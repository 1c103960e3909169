import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from polyad.engine import Serial, Threads, runner_for, single_threaded_blas
from polyad.engine.passes import tree_sum


def awkward_numbers(part):
    """Sums that differ in the last bits whenever the order of addition does."""
    rng = np.random.default_rng(part)
    return rng.standard_normal(50) * 10.0 ** rng.integers(-12, 12, 50), float(rng.standard_normal())


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7, 8, 100])
def test_any_number_of_threads_gives_the_same_bytes(n_parts):
    expected = Serial()(awkward_numbers, range(n_parts))
    for n_jobs in (2, 3, 8):
        found = Threads(n_jobs)(awkward_numbers, range(n_parts))
        assert found[0].tobytes() == expected[0].tobytes()
        assert found[1] == expected[1]


def test_tree_sum_is_a_sum():
    parts = [awkward_numbers(i)[0] for i in range(37)]
    assert np.allclose(tree_sum(p.copy() for p in parts), np.sum(parts, axis=0), rtol=1e-12)


def test_tree_sum_adds_pairwise():
    """A left-to-right sum would lose every small term next to the large one."""
    values = [1e16] + [1.0] * 7
    assert tree_sum(values) == ((1e16 + 1.0) + 2.0) + 4.0
    assert sum(values) == 1e16


def test_an_empty_pass_is_an_error():
    with pytest.raises(ValueError, match="not one block"):
        Serial()(lambda part: part, [])


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

    Threads(2)(function, range(1000))
    assert most <= 4 + 2 + 11  # in flight, being added, and one partial sum for each level of the tree


def test_an_error_in_a_block_comes_out():
    def fails(part):
        raise ZeroDivisionError("block at fault")

    for run in (Serial(), Threads(2)):
        with pytest.raises(ZeroDivisionError, match="block at fault"):
            run(fails, range(5))
        with pytest.raises(ZeroDivisionError, match="block at fault"):
            run.each(fails, range(5))


def test_each_calls_every_part():
    for run in (Serial(), Threads(3)):
        out = np.zeros(20)

        def write(part, out=out):
            out[part] = part

        run.each(write, range(20))
        assert np.array_equal(out, np.arange(20))


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5])
def test_bad_n_jobs(n_jobs):
    with pytest.raises(ValueError, match="n_jobs is"):
        runner_for(n_jobs)


def test_runner_for():
    assert isinstance(runner_for(1), Serial)
    assert runner_for(3).n_jobs == 3
    assert getattr(runner_for(None), "n_jobs", 1) == getattr(runner_for(-1), "n_jobs", 1) >= 1


def test_a_pass_inside_a_pass_is_an_error_and_no_deadlock():
    run = Threads(2)
    with pytest.raises(RuntimeError, match="inside a pass"):
        run(lambda part: run(lambda other: 1, range(3)), range(8))


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
