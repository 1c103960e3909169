"""A fit from shards on disk keeps to the memory that it announces, where holding the counts would not."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import polyad

SCRIPT = """
    import resource, sys
    import numpy as np
    from scipy import sparse
    from polyad import LDA
    from polyad.engine import (
        Shards,
        blocks,
        count_blocks,
        write_shards
    )

    ROWS, CELLS, WORDS, PARTS = 3000, 60, 2000, 42
    blocks.SHARD_CELLS, blocks.BLOCK_CELLS = 1 << 18, 1 << 15

    def parts(n_parts):
        rng = np.random.default_rng(0)
        for _ in range(n_parts):
            indices = np.cumsum(rng.integers(1, 30, (ROWS, CELLS)), axis=1, dtype=np.int32).ravel()
            indptr = np.arange(ROWS + 1, dtype=np.int32) * CELLS
            data = rng.integers(1, 4, indices.size).astype(np.float64)
            yield sparse.csr_array((data, indices, indptr), shape=(ROWS, WORDS))

    def held():
        return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData")) << 10

    folder, planned = sys.argv[1], int(sys.argv[2])
    model = LDA(8, polish=2, n_jobs=1)
    if planned == 0:
        write_shards(parts(PARTS), folder)
        print(model.fit(Shards(folder)).diagnostics_.memory_bytes)
    else:
        model.fit(list(parts(1)))  # loads and compiles what is loaded and compiled once
        limit = held() + planned + (8 << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        model.fit(Shards(folder))
        try:
            model.fit(list(parts(PARTS)))
        except MemoryError:
            print("holding the counts breaks the limit")
"""


def run(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(Path(polyad.__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SCRIPT), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the memory of a process by its data")
def test_a_fit_from_shards_keeps_to_the_memory_it_announces(tmp_path):
    planned = int(run(tmp_path / "shards", 0))
    assert planned < 60 << 20, "90 MB of counts are on disk"
    assert run(tmp_path / "shards", planned) == "holding the counts breaks the limit"
