"""Names of topics that a user gave."""

from collections.abc import Mapping
from typing import Any

MAX_NAME = 200  # characters


def checked_names(names: Any, n_components: int) -> dict[int, str]:
    """Return names of components in the order of their numbers, or say what is wrong with them.

    Examples
    --------
    >>> checked_names({3: "Courts", 0: " Markets "}, 4)
    {0: 'Markets', 3: 'Courts'}
    >>> checked_names({4: "Courts"}, 4)
    Traceback (most recent call last):
    ...
    ValueError: There is no topic 4 to be named 'Courts': topics have the numbers 0 to 3.
    """
    if not isinstance(names, Mapping):
        raise ValueError(f"Names of topics are a dictionary such as {{3: 'Courts'}}, not {names!r}.")
    found: dict[int, str] = {}
    for number, name in names.items():
        if not isinstance(name, str):
            raise ValueError(f"The name of topic {number} is {name!r}; give a text.")
        is_number = hasattr(number, "__index__") and not isinstance(number, bool)
        if not is_number or not 0 <= number < n_components:
            raise ValueError(
                f"There is no topic {number} to be named {name[:MAX_NAME]!r}: topics have the numbers 0 to "
                f"{n_components - 1}."
            )
        if len(name) > MAX_NAME:
            raise ValueError(f"The name of topic {number} has {len(name):,} characters; the most is {MAX_NAME}.")
        if name.strip():
            found[int(number)] = name.strip()
    return dict(sorted(found.items()))


def given_names(model: Any) -> dict[int, str]:
    """Return the names that a user gave to the topics of a model, checked."""
    return checked_names(getattr(model, "names_", {}), len(model.topic_shares_))
