"""Worker processes that end when the process that started them is gone, however it went."""

import os
import threading
import time

SECONDS = 1.0
_watched: set[int] = set()


def begin_under(parent: int) -> None:
    """Begin a worker process that a process has just started: it ends soon after that one, or at once if it is gone."""
    if os.getppid() != parent:
        os._exit(1)
    end_with(parent)


def end_with(parent: int) -> None:
    """End this process soon after its parent: killed, that one says no farewell, and workers would wait for ever.

    To be called in a worker, any number of times. Where another process than the one that is named has started this
    one, on this machine or elsewhere, nothing is watched.
    """
    if parent in _watched or os.getppid() != parent:
        return
    _watched.add(parent)
    threading.Thread(target=_watch, args=(parent,), name="polyad-watch", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS)
    os._exit(1)
