"""Settings of all tests."""

import signal

from hypothesis import settings

# A test is right or wrong, however busy the machine is: the first example of some compiles loops.
settings.register_profile("polyad", deadline=None)
settings.load_profile("polyad")

# A shell that starts the suite in the background lets it ignore Ctrl-C, and tests of interrupts send it.
signal.signal(signal.SIGINT, signal.default_int_handler)
