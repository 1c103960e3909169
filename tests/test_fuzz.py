"""Broken input by the thousand, each format and the model file: a sentence or a corpus, in bounded memory."""

import sys

import pytest

from fuzzing import FORMATS, PART, PARTS, in_a_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit memory by the data")


def fuzz(names, n_inputs, seed):
    pytest.importorskip("pyarrow")
    found = in_a_process(names, n_inputs, seed)
    assert [failure for of_format in found.values() for failure in of_format["failures"]] == []
    # Else nothing would have been tried.
    assert all(min(of_format["read"], of_format["refused"]) > n_inputs / 100 for of_format in found.values()), found


def test_some_broken_inputs_of_every_format():
    fuzz([*FORMATS, "golden"], 60, 0)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, PARTS + 1))
@pytest.mark.parametrize("name", [*FORMATS, "model"])
def test_a_hundred_thousand_broken_inputs(name, part):
    fuzz([name], PART, part)
