"""Public names that are imported when they are first asked for: numba, scikit-learn and SciPy take seconds to load."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["lazily"]


def lazily(
    package: str, homes: Mapping[str, Sequence[str]], packages: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package whose public names are in other modules.

    Parameters
    ----------
    package
        Its name.
    homes
        For each module the public names that are in it.
    packages
        The packages in it that are public as a whole.
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name in packages:
            return import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        own = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*home_of, *packages, *own})

    return find, listed
