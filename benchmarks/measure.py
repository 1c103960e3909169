"""Seconds and peak memory of a step, and one measurement in a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Steps:
    """Seconds, seconds of processors and peak memory (MB above the start) of named steps, in their order.

    On a machine that does other things as well, the seconds of all processors together tell more than the clock.

    Linux lets a process reset the mark of its peak memory; elsewhere memory is not told (NaN).
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.processor_seconds: dict[str, float] = {}
        self.megabytes: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Measure a step."""
        before = _reset_peak()
        start, used = time.perf_counter(), _processor_seconds()
        yield
        self.seconds[name] = time.perf_counter() - start
        self.processor_seconds[name] = _processor_seconds() - used
        self.megabytes[name] = _peak() - before


def _processor_seconds() -> float:
    """Of this process with all its threads, and of the processes that it started and that have ended."""
    return sum(os.times()[:4])


def _status(field: str) -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next((float(line.split()[1]) / 1024 for line in lines if line.startswith(field)), float("nan"))


def _reset_peak() -> float:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return float("nan")
    return _status("VmRSS")


def _peak() -> float:
    return _status("VmHWM")


def isolated(script: str, *arguments: object, python: str | None = None, timeout: float = 3600) -> dict:
    """Run a benchmark script in a fresh process and return the JSON object on its last line."""
    command = [python or sys.executable, str(Path(script).resolve()), *map(str, arguments)]
    with tempfile.TemporaryDirectory() as folder:  # some libraries leave log files where they run
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, cwd=folder)
    if done.returncode != 0:
        message = done.stderr.strip().splitlines()[-1:] or ["no message"]
        return {"error": message[0]}
    return json.loads(done.stdout.strip().splitlines()[-1])
