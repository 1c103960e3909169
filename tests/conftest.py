"""Settings of all tests."""

from hypothesis import settings

# A test is right or wrong, however busy the machine is: the first example of some compiles loops.
settings.register_profile("polyad", deadline=None)
settings.load_profile("polyad")
