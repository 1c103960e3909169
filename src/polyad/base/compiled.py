"""How loops are compiled: one decorator for the loops that Python calls, and one for the parts they are made of.

A function that is compiled on its own and called by another one is there twice: as its own code, and as a copy in the
caller's, which went through the optimiser once more. With ``fastmath`` the two may round differently, and which of
them the linker takes depends on what was loaded from the cache. So parts with ``fastmath`` are put into their callers
before anything is compiled, and the first fit, which compiles, gives the same bytes as all later ones. Strict
arithmetic means the same in all copies: there a part may be ``compiled`` as well, if it is large and used often.
"""

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from numba import njit

# Loops never hold the interpreter's lock; x / 0 is what it is in NumPy: the test and the exception cost time to
# compile and to run.
HOUSE: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def compiled(function: Callable[..., Any] | None = None, *, fastmath: bool = False) -> Any:
    """Compile a function when it is first called, and keep the code in numba's cache.

    Parameters
    ----------
    function
        The function; without it, a decorator is returned.
    fastmath
        Sums may be added up in any order, which vector registers need. Infinite values and NaN must not occur.
    """
    if function is None:
        return partial(compiled, fastmath=fastmath)
    try:
        return njit(cache=True, fastmath=fastmath, **HOUSE)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _warn_without_cache()
        return njit(fastmath=fastmath, **HOUSE)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Put a function into the compiled functions that call it; it follows their rules of arithmetic.

    Examples
    --------
    >>> @inlined
    ... def square(x):
    ...     return x * x
    >>> square(3.0)
    9.0
    """
    return njit(inline="always", **HOUSE)(function)


@cache
def _warn_without_cache() -> None:
    """Warn once in a process; the same holds for all functions."""
    warnings.warn(
        "numba finds no directory that it can write its cache to: the loops of polyad are compiled anew in every "
        "process, which takes seconds. Set the environment variable NUMBA_CACHE_DIR to a directory that can be "
        "written to.",
        RuntimeWarning,
        stacklevel=3,
    )
