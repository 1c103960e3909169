"""A process that fits and transforms for days: threads, open files and memory stay what they were."""

import os
import sys
import time
import warnings

import numpy as np
import pytest

from polyad import LDA
from sharded import tiny_cuts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what a process holds is read from /proc")


def holds():
    """The threads, the open files and the megabytes of this process."""
    time.sleep(0.2)  # a thread that has ended is gone for the system a moment later
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return (
        len(os.listdir("/proc/self/task")),
        len(os.listdir("/proc/self/fd")),
        pages * os.sysconf("SC_PAGESIZE") / 2**20,
    )


def soak(n_transforms, n_fits):
    """Return what is held after a tenth of the calls, and after all of them."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.dirichlet(np.full(3, 0.2), 40) @ rng.dirichlet(np.full(30, 0.2), 3) * 40)
    errors = []
    with tiny_cuts(shard=1 << 24, block=200, rows=20), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LDA(3, n_jobs=2).fit(counts)
        found = []
        for share in (0.1, 0.9):
            for _ in range(int(share * n_transforms)):
                model.transform(counts)
            for _ in range(int(share * n_fits)):
                LDA(3, n_jobs=2, polish=2).fit(counts)
                try:
                    model.transform(-counts)
                except ValueError as error:
                    errors = [error]  # with its traceback, as an interactive session keeps the last one
            found.append(holds())
    assert len(errors) == 1
    return found


def test_some_calls():
    (threads, files, before), (threads_after, files_after, after) = soak(200, 10)
    assert threads_after <= threads  # those of other tests may end meanwhile
    assert files_after <= files
    assert after - before < 8


@pytest.mark.slow
def test_many_calls():
    (threads, files, before), (threads_after, files_after, after) = found = soak(100_000, 1000)
    sys.stdout.write(f"threads, open files and megabytes after a tenth of the calls and after all: {found}\n")
    assert threads_after <= threads  # those of other tests may end meanwhile
    assert files_after <= files
    assert after - before < 32
