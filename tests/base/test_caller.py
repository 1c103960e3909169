"""Warnings point at the line of who called, whatever of the library lies in between."""

import warnings
from functools import partial

import pytest

from polyad.base.caller import warn_caller


def called_through(*modules):
    """Return a function that calls ``warn_caller`` through functions of other modules."""
    inner = partial(warn_caller, "Ask for fewer.", FutureWarning)  # compiled: no frame of its own
    for name in modules:
        space = {"__name__": name, "inner": inner}
        exec(compile("def outer():\n    return inner()", name, "exec"), space)
        inner = space["outer"]
    return inner


@pytest.mark.parametrize(
    "modules",
    [
        (),
        ("polyad.models.fitting",),
        ("polyad.decompose", "functools", "polyad.models", "sklearn.pipeline", "joblib.parallel", "contextlib"),
    ],
)
def test_the_nearest_caller_outside_of_the_library_is_named(modules):
    call = called_through(*modules)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    (warning,) = caught
    assert warning.filename == __file__
    assert (warning.category, str(warning.message)) == (FutureWarning, "Ask for fewer.")


def test_a_user_between_two_parts_of_the_library_is_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        called_through("polyad.inner", "polyadic_tools", "polyad.outer")()
    assert caught[0].filename == "polyadic_tools"  # polyadic_tools, which only begins like the library
