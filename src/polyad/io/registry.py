"""Which models a file can hold, and what is stored of each: the allow-list of loading.

To store another model, add a line to `STORED`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

__all__ = ["NAMES", "RUNTIME_PARAMETERS", "STORED", "ArrayRule", "StoredClass"]

# How to run, not what to compute: these belong to a machine and a moment, and are left at their defaults by loading.
RUNTIME_PARAMETERS = frozenset({"n_jobs", "verbose"})

Values = Literal["probabilities", "positive", "finite"]
Kind = Literal["whole", "number", "optional number", "numbers", "array", "left out"]


@dataclass(frozen=True)
class ArrayRule:
    """What an array must be like.

    Parameters
    ----------
    shape : tuple of str
        The name of each axis; axes with one name have one length.
    values : {"probabilities", "positive", "finite"}
        Rows of probabilities that sum to 1, numbers above 0, or any finite numbers.
    """

    shape: tuple[str, ...]
    values: Values = "finite"


@dataclass(frozen=True)
class StoredClass:
    """What is stored of a class of models.

    Parameters
    ----------
    module : str
        Where the class is; never taken from a file.
    arrays : mapping
        The fitted arrays.
    scalars : mapping
        The fitted numbers; the name of an axis for those that are its length, or None.
    diagnostics : str
        The class of ``diagnostics_``, and where it is.
    diagnostic_fields : mapping
        Its fields.
    """

    module: str
    arrays: Mapping[str, ArrayRule]
    scalars: Mapping[str, str | None]
    diagnostics: tuple[str, str]
    diagnostic_fields: Mapping[str, Kind] = field(default_factory=dict)

    def load(self, name: str) -> type[Any]:
        """Import the class."""
        found: type[Any] = getattr(import_module(self.module), name)
        return found

    def load_diagnostics(self) -> type[Any]:
        """Import the class of the diagnostics."""
        module, name = self.diagnostics
        found: type[Any] = getattr(import_module(module), name)
        return found


# Lists of words, one for each place of an axis, where the model has them.
NAMES: Mapping[str, str] = {"vocabulary_": "M", "feature_names_in_": "M"}

_TOPIC_ARRAYS = {
    "components_": ArrayRule(("K", "M"), "probabilities"),
    "doc_topic_prior_": ArrayRule(("K",), "positive"),
    "topic_shares_": ArrayRule(("K",), "probabilities"),
    "word_probabilities_": ArrayRule(("M",), "probabilities"),
}
_TOPIC_DIAGNOSTICS: dict[str, Kind] = {
    "n_documents": "whole",
    "n_words": "whole",
    "n_tokens": "whole",
    "n_too_short": "whole",
    "n_unseen_words": "whole",
    "spectrum": "array",
    "gap": "number",
    "noise": "number",
    "energy": "number",
    "concentration": "optional number",
    "objective": "numbers",
    # The time a fit took is not part of what it found: two fits of the same data give the same file.
    "seconds": "left out",
    "memory_bytes": "whole",
}


def _topic_model(arrays: Mapping[str, ArrayRule], scalars: Mapping[str, str | None]) -> StoredClass:
    return StoredClass(
        "polyad.models",
        {**_TOPIC_ARRAYS, **arrays},
        {"n_features_in_": "M", **scalars},
        ("polyad.models", "Diagnostics"),
        _TOPIC_DIAGNOSTICS,
    )


STORED: Mapping[str, StoredClass] = {
    "LDA": _topic_model({}, {}),
    "DiscreteICA": _topic_model({}, {"rate_": None}),
    "SingleTopic": _topic_model({"weights_": ArrayRule(("K",), "probabilities")}, {}),
}
