"""Checks of parameters that models share; errors are sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def refuse_unknown(name: str, value: object, known: Sequence[str]) -> None:
    """Refuse a value that is none of the known ones."""
    if value not in known:
        raise ValueError(f"{name} is {value!r}; give one of {', '.join(map(repr, known))}.")


def refuse_no_seed(random_state: Any) -> None:
    """Refuse what no generator can begin at, in a fit and not only where something is drawn."""
    if random_state is None or isinstance(random_state, np.random.RandomState | np.random.Generator):
        return
    try:
        np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state is {random_state!r}; give None, a whole number from 0 up, a RandomState or a Generator."
        ) from None


def tags_of_counts(tags: Any) -> Any:
    """Tell scikit-learn that the input is non-negative and may be sparse, and that floats stay as wide as they are."""
    tags.input_tags.sparse = True
    tags.input_tags.positive_only = True
    tags.transformer_tags.preserves_dtype = ["float64", "float32"]
    return tags


def refuse_bad_numbers(model: Any, *, whole: Mapping[str, int], numbers: Sequence[str] = ()) -> None:
    """Refuse parameters that are no whole numbers from some number up, or no numbers from 0 up."""
    for name, least in whole.items():
        value = getattr(model, name)
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} is {value!r}; give a whole number from {least} up.")
    for name in numbers:
        value = getattr(model, name)
        is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if not is_number or not 0 <= value < np.inf:
            raise ValueError(f"{name} is {value!r}; give a number from 0 up.")
