"""Workers keep the memory that a pass frees, so that the next block does not ask the system for it again."""

import ctypes
import os
import subprocess
import sys

import pytest

from polyad.engine.cluster.allocator import SETTING, keep_freed_memory

FAULTS = """
import resource
import numpy as np
from polyad.engine.cluster.allocator import keep_freed_memory

changed = [keep_freed_memory(), keep_freed_memory()]
np.ones(1 << 18)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(200):
    np.ones(1 << 18)  # 2 MB: 512 pages
print(*changed, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(setting):
    """Return what a process with this setting says of it, and the pages that two hundred arrays of 2 MB ask for."""
    done = subprocess.run(
        [sys.executable, "-c", FAULTS], env={**os.environ, SETTING: setting}, capture_output=True, text=True, check=True
    )
    *changed, asked = done.stdout.split()
    return changed, int(asked)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="the allocator is not glibc's")
def test_freed_memory_is_kept_as_without_the_setting_of_a_nanny():
    changed, asked = faults("65536")
    assert changed == ["True", "True"]
    assert asked < 2 * 512  # every array would ask for 512 otherwise


def test_a_setting_of_the_owner_stays(monkeypatch):
    for setting in ("", "1048576"):
        monkeypatch.setenv(SETTING, setting)
        assert not keep_freed_memory.__wrapped__()
    monkeypatch.delenv(SETTING)
    assert not keep_freed_memory.__wrapped__()


def test_other_allocators_are_left_alone(monkeypatch):
    monkeypatch.setenv(SETTING, "65536")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert not keep_freed_memory.__wrapped__()
