"""Settings of all tests."""

import gc
import signal

import numpy as np  # noqa: F401  both libraries must be loaded before their threads are limited
import pytest
import scipy.linalg  # noqa: F401
from hypothesis import settings
from threadpoolctl import threadpool_limits

# A test is right or wrong, however busy the machine is: the first example of some compiles loops.
settings.register_profile("polyad", deadline=None)
settings.load_profile("polyad")

# A shell that starts the suite in the background lets it ignore Ctrl-C, and nohup the end of the terminal; so do all
# processes that tests start, and tests of interrupts send these signals.
signal.signal(signal.SIGINT, signal.default_int_handler)
for ignored in ("SIGHUP", "SIGQUIT"):
    if hasattr(signal, ignored):
        signal.signal(getattr(signal, ignored), signal.SIG_DFL)

# Tests run in as many processes as there are cores, and threads of BLAS beside them wait for each other most of the
# time. Processes that tests start have as many threads as they like; fingerprints are compared between one and several.
threadpool_limits(1, user_api="blas")

LONGEST = ("test_first_fit.py", "test_bounded_memory.py")
WITHOUT_LOOPS = (
    "/tests/base/",
    "/tests/corpus/",
    "/tests/io/",
    "/polyad/corpus/",
    "/polyad/cli/",
    "/tests/test_layers",
)


def pytest_collectstart():
    """What is collected stays; looking through it for what could go would take a fifth of the time."""
    gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    """Begin with the tests that take longest, so that no process waits for another at the end.

    Of two processes the second begins in the middle, with tests that need no compiled loops: in a fresh clone those of
    the first fit compile all of them meanwhile, and hand them over.
    """
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
    free = [item for item in items if any(place in item.path.as_posix() for place in WITHOUT_LOOPS)]
    chosen = set(free)
    others = [item for item in items if item not in chosen]
    half = len(items) // 2
    items[:] = [*others[:half], *free, *others[half:]]


@pytest.fixture
def two_threads_of_blas():
    """For tests of the limit that fits set."""
    with threadpool_limits(2, user_api="blas"):
        yield
