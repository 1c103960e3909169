"""Warnings that point at the line of the user, however deep in the library they arise."""

import sys
import warnings

# What lies between a user's line and a step of a fit: this library, the decorators around it, and scikit-learn, whose
# pipelines and searches call fits.
_IN_BETWEEN = ("polyad", "sklearn", "contextlib", "functools", "joblib")


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, with the place of the nearest caller outside of the library.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_caller("Ask for fewer topics.")
    >>> str(caught[0].message), caught[0].filename.endswith("caller.py")
    ('Ask for fewer topics.', False)
    """
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and _is_in_between(frame.f_globals.get("__name__", "")):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=depth)


def _is_in_between(module: str) -> bool:
    return module.partition(".")[0] in _IN_BETWEEN
