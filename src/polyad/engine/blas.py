"""BLAS on one thread while polyad computes, whichever thread polyad is called from.

NumPy and SciPy each bring a BLAS of their own, and each has threads of its own.
"""

import threading
from contextlib import ContextDecorator
from functools import cache
from typing import Any

import numpy as np  # noqa: F401  both libraries must be loaded before the controller below looks for them
import scipy.linalg  # noqa: F401
from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_depth = 0
_before: list[int] = []
_own = threading.local()


class _SingleThreaded(ContextDecorator):
    """What :func:`single_threaded_blas` returns; it has no state of its own, and one is enough for all."""

    def __enter__(self) -> None:
        depth = getattr(_own, "depth", 0)
        if depth == 0:  # where the thread has its limits already, as within a fit, there is nothing to set
            _enter_process()
            _enter_thread()
        _own.depth = depth + 1

    def __exit__(self, *error: object) -> None:
        _own.depth -= 1
        if _own.depth == 0:
            _leave_thread()
            _leave_process()


_SINGLE_THREADED = _SingleThreaded()


def single_threaded_blas() -> _SingleThreaded:
    """Run BLAS on one thread, so that its sums do not depend on the number of cores.

    For most libraries the limit belongs to the process: the first to come sets it and the last to leave lifts it, so
    that fits in several threads do not lift it under each other. Where it belongs to a thread (BLAS on OpenMP), every
    thread sets its own.

    Also a decorator, written with its parentheses.

    Examples
    --------
    >>> with single_threaded_blas():
    ...     np.eye(2) @ np.ones(2)
    array([1., 1.])
    """
    return _SINGLE_THREADED


def limit_own_thread() -> None:
    """Limit BLAS in a thread that polyad has started, for as long as the thread lives."""
    for library in _libraries()[1]:
        library.set_num_threads(1)


def _enter_process() -> None:
    global _depth, _before
    with _lock:
        if _depth == 0:
            shared, _ = _libraries()
            _before = [library.get_num_threads() for library in shared]
            _set_shared([1] * len(shared))
        _depth += 1


def _leave_process() -> None:
    global _depth
    with _lock:
        _depth -= 1
        if _depth == 0:
            _set_shared(_before)
            _let_any_thread_set_limits()


def _enter_thread() -> None:
    _, of_thread = _libraries()
    _own.before = [library.get_num_threads() for library in of_thread]
    for library in of_thread:
        library.set_num_threads(1)


def _leave_thread() -> None:
    _, of_thread = _libraries()
    for library, n_threads in zip(of_thread, _own.before):
        library.set_num_threads(n_threads)


def _set_shared(numbers: list[int]) -> None:
    shared, _ = _libraries()
    _let_any_thread_set_limits()
    for library, n_threads in zip(shared, numbers):
        library.set_num_threads(n_threads)


def _let_any_thread_set_limits() -> None:
    """Forget which thread has set a limit before.

    From version 3.8 on threadpoolctl obeys the thread that was first to set a limit, and silently ignores all others
    as long as that one lives. A fit in a worker thread would run on a BLAS with all its threads, which wait for each
    other in busy loops: tens of times slower, and with other last digits.
    """
    for library in _libraries()[0]:
        forget = getattr(library, "clear_controlling_thread", None)
        if forget is not None:
            forget(force=True)


@cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """Return the libraries whose limit belongs to the process, and those whose limit belongs to a thread."""
    found = [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
    of_thread = [library for library in found if getattr(library, "threading_layer", "") == "openmp"]
    return [library for library in found if library not in of_thread], of_thread
