"""How a pass is run: in this thread or in several, with the same bytes as the answer."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.linalg  # noqa: F401  SciPy's BLAS must be loaded before the controller below looks for libraries
from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")
Result = TypeVar("Result")


class Runner(Protocol):
    """Runs a pass: the sum of ``function(part)`` over the parts, added in a fixed tree order.

    A function must not start another pass with the same runner.
    """

    def __call__(self, function: Callable[[Part], Result], parts: Iterable[Part], /) -> Result:
        """Return the sum of the function's results."""
        ...

    def each(self, function: Callable[[Part], object], parts: Iterable[Part], /) -> None:
        """Call the function on every part for what it writes; the parts must write to disjoint places."""
        ...


class Serial:
    """Runs a pass in the calling thread.

    Examples
    --------
    >>> import numpy as np
    >>> Serial()(lambda part: (np.ones(2) * part, 1), [1.0, 2.0, 3.0])
    (array([6., 6.]), 3)
    """

    def __call__(self, function: Callable[[Part], Result], parts: Iterable[Part], /) -> Result:
        """Return the sum of the function's results."""
        with single_threaded_blas():
            return tree_sum(map(function, parts))

    def each(self, function: Callable[[Part], object], parts: Iterable[Part], /) -> None:
        """Call the function on every part, one after the other."""
        with single_threaded_blas():
            for part in parts:
                function(part)


class Threads:
    """Runs a pass in several threads, holding at most two results a thread at any time.

    Parameters
    ----------
    n_jobs
        The number of threads.

    Examples
    --------
    >>> Threads(2)(lambda part: part**2, range(10))
    285
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        self._own = threading.local()
        self._pool = ThreadPoolExecutor(n_jobs, initializer=self._mark)  # its threads end with the runner

    def _mark(self) -> None:
        self._own.thread = True

    def __call__(self, function: Callable[[Part], Result], parts: Iterable[Part], /) -> Result:
        """Return the sum of the function's results."""
        with single_threaded_blas():
            return tree_sum(self._in_order(function, parts))

    def each(self, function: Callable[[Part], object], parts: Iterable[Part], /) -> None:
        """Call the function on every part, several at a time."""
        with single_threaded_blas():
            for _ in self._in_order(function, parts):
                pass

    def _in_order(self, function: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
        if getattr(self._own, "thread", False):
            raise RuntimeError("A pass was started from inside a pass of the same runner, and would wait for ever.")
        waiting: deque[Future[Result]] = deque()
        try:
            for part in parts:
                waiting.append(self._pool.submit(function, part))
                if len(waiting) >= 2 * self.n_jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
            wait(waiting)  # none of them may still write when the caller goes on


def runner_for(n_jobs: int | None) -> Runner:
    """Return the runner for a number of threads.

    Parameters
    ----------
    n_jobs
        ``None`` or -1 for every core this process may use, otherwise the number of threads. The answer of a
        pass does not depend on it.

    Examples
    --------
    >>> type(runner_for(1)).__name__
    'Serial'
    """
    if n_jobs is not None and (n_jobs == 0 or n_jobs < -1 or n_jobs != int(n_jobs)):
        raise ValueError(f"n_jobs is {n_jobs}; give a number of threads, or None or -1 for all cores.")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = cores if n_jobs is None or n_jobs == -1 else int(n_jobs)
    return Serial() if threads == 1 else Threads(threads)


def tree_sum(results: Iterable[Result]) -> Result:
    """Add results pairwise, as a binary counter does, keeping no more than log2 of them at a time.

    The order depends on the number of results alone. Arrays are added in place: a result must be fresh.
    """
    partial: list[tuple[int, Any]] = []  # (level, sum of 2**level results)
    for result in results:
        level, value = 0, result
        while partial and partial[-1][0] == level:
            value = _add(partial.pop()[1], value)
            level += 1
        partial.append((level, value))
    if not partial:
        raise ValueError("There is not one block of data to sum over.")
    total = partial.pop()[1]
    while partial:
        total = _add(partial.pop()[1], total)
    return total


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, tuple):
        return tuple(_add(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, np.ndarray) and left.ndim > 0:
        left += right
        return left
    return left + right


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


_blas_lock = threading.Lock()
_blas_depth = 0
_blas_limit: Any = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Run BLAS on one thread, so that its sums do not depend on the number of cores.

    The limit belongs to the process, not to a thread: the first to come sets it and the last to leave lifts it, so
    that fits in several threads do not lift it under each other.
    """
    global _blas_depth, _blas_limit
    with _blas_lock:
        if _blas_depth == 0:
            _blas_limit = _controller().limit(limits=1)
        _blas_depth += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_depth -= 1
            if _blas_depth == 0:
                _blas_limit.restore_original_limits()
