"""Broken input by the thousand, each format and the model file: a sentence or a corpus, in bounded memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import polyad

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit memory by the data")

FORMATS = ("lines", "jsonl", "csv", "tsv", "parquet", "uci", "ldac", "mtx", "npz", "packed")


def fuzz(names, n_inputs, seed, folder):
    pytest.importorskip("pyarrow")
    environment = {**os.environ, "PYTHONPATH": str(Path(polyad.__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"}
    script = Path(__file__).parent / "fuzzing.py"
    command = [sys.executable, "-W", "ignore", script, ",".join(names), str(n_inputs), str(seed), folder]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [failure for of_format in found.values() for failure in of_format["failures"]] == []
    # Else nothing would have been tried.
    assert all(min(of_format["read"], of_format["refused"]) > n_inputs / 100 for of_format in found.values()), found


def test_some_broken_inputs_of_every_format(tmp_path):
    fuzz([*FORMATS, "golden"], 60, 0, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FORMATS, "model"])
def test_a_hundred_thousand_broken_inputs(tmp_path, name):
    fuzz([name], 100_000, 1, tmp_path)
