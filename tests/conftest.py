"""Settings of all tests."""

import signal

from hypothesis import settings

# A test is right or wrong, however busy the machine is: the first example of some compiles loops.
settings.register_profile("polyad", deadline=None)
settings.load_profile("polyad")

# A shell that starts the suite in the background lets it ignore Ctrl-C, and tests of interrupts send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

LONGEST = ("test_first_fit.py", "test_bounded_memory.py")


def pytest_collection_modifyitems(items):
    """Begin with the tests that take longest, so that no process waits for another at the end."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
