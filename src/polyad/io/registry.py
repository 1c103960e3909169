"""Which models a file can hold, and what is stored of each: the allow-list of loading.

To store another model, add a line to `STORED`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

__all__ = ["RUNTIME_PARAMETERS", "STORED", "ArrayRule", "StoredClass"]

# How to run, not what to compute: these belong to a machine and a moment, and are left at their defaults by loading.
RUNTIME_PARAMETERS = frozenset({"n_jobs", "verbose"})

Values = Literal["probabilities", "columns", "positive", "finite"]
Kind = Literal["whole", "number", "optional number", "numbers", "array", "text", "truth", "left out"]


@dataclass(frozen=True)
class ArrayRule:
    """What an array must be like.

    Parameters
    ----------
    shape : tuple of str
        The name of each axis; axes with one name have one length.
    values : {"probabilities", "columns", "positive", "finite"}
        Rows of probabilities that sum to 1, columns of probabilities that sum to 1 (or of zeros), numbers above 0, or
        any finite numbers.
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
        The fitted arrays; one named ``structure.field`` is a field of an attribute in `structures`.
    scalars : mapping
        The fitted numbers; the name of an axis for those that are its length, or None.
    diagnostics : str
        The class of ``diagnostics_``, and where it is.
    diagnostic_fields : mapping
        Its fields.
    structures : mapping
        The attributes that are frozen structures of arrays, with their classes and where these are. A model that has
        any sets what follows from them in ``_unfold``.
    names : mapping
        The lists of words that the model may have, and the axis that each names.
    text_options : tuple of str
        The attributes that say how text is split: one, or one for each view.
    forms : mapping
        Other forms of the class, by the value of the parameter ``form_by``.
    form_by : str
        The parameter that tells the forms apart.
    any_number : bool
        Whether ``n_components`` may be None, which leaves K to the data.
    """

    module: str
    arrays: Mapping[str, ArrayRule]
    scalars: Mapping[str, str | None]
    diagnostics: tuple[str, str]
    diagnostic_fields: Mapping[str, Kind] = field(default_factory=dict)
    structures: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    text_options: tuple[str, ...] = ()
    forms: Mapping[str, StoredClass] = field(default_factory=dict)
    form_by: str = ""
    any_number: bool = False

    def form(self, parameters: Mapping[str, Any]) -> StoredClass | None:
        """Return the form that a model with these parameters has, None where there is no such form."""
        if not self.forms:
            return self
        value = parameters.get(self.form_by)
        return self.forms.get(value) if isinstance(value, str) else None

    def load(self, name: str) -> type[Any]:
        """Import the class."""
        return _imported(self.module, name)

    def load_diagnostics(self) -> type[Any]:
        """Import the class of the diagnostics."""
        return _imported(*self.diagnostics)

    def load_structures(self) -> dict[str, type[Any]]:
        """Import the classes of the structures."""
        return {key: _imported(*home) for key, home in self.structures.items()}


def _imported(module: str, name: str) -> type[Any]:
    found: type[Any] = getattr(import_module(module), name)
    return found


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
_FACTOR_DIAGNOSTICS: dict[str, Kind] = {
    "spectrum": "array",
    "gap": "number",
    "energy": "number",
    "statistics": "text",
    "reliability": "number",
    "n_iter": "whole",
    "converged": "truth",
    "seconds": "left out",
}
_PAIRED_TOPICS = ("polyad.inference.polylingual", "PairedTopics")
_LINEAR_FACTORS = ("polyad.models.cca_factors", "LinearFactors")
_TEXT_ARRAYS = {
    # L is K and the topics that one text has for itself.
    "topics_.x_topics": ArrayRule(("M1", "L"), "columns"),
    "topics_.y_topics": ArrayRule(("M2", "L"), "columns"),
    "topics_.prior": ArrayRule(("L",), "positive"),
    "shares_": ArrayRule(("K",), "probabilities"),
    "x_projection_": ArrayRule(("K", "M1")),
    "y_projection_": ArrayRule(("K", "M2")),
    "x_centre_": ArrayRule(("K",)),
    "y_centre_": ArrayRule(("K",)),
}
_LINEAR_ARRAYS = {
    "factors_.x_loadings": ArrayRule(("M1", "K")),
    "factors_.y_loadings": ArrayRule(("M2", "K")),
    "factors_.x_projection": ArrayRule(("K", "M1")),
    "factors_.y_projection": ArrayRule(("K", "M2")),
    "factors_.x_covariance": ArrayRule(("K", "K")),
    "factors_.y_covariance": ArrayRule(("K", "K")),
    "factors_.x_mean": ArrayRule(("M1",)),
    "factors_.y_mean": ArrayRule(("M2",)),
}
_SIGNAL_ARRAYS = {
    "components_": ArrayRule(("K", "M")),
    "mixing_": ArrayRule(("M", "K")),
    "mean_": ArrayRule(("M",)),
}


def _topic_model(arrays: Mapping[str, ArrayRule], scalars: Mapping[str, str | None]) -> StoredClass:
    return StoredClass(
        "polyad.models",
        {**_TOPIC_ARRAYS, **arrays},
        {"n_features_in_": "M", **scalars},
        ("polyad.models", "Diagnostics"),
        _TOPIC_DIAGNOSTICS,
        names={"vocabulary_": "M", "feature_names_in_": "M"},
        text_options=("text_options_",),
    )


def _two_views(arrays: Mapping[str, ArrayRule], structures: Mapping[str, tuple[str, str]]) -> StoredClass:
    return StoredClass(
        "polyad.models",
        arrays,
        {},
        ("polyad.models", "FactorDiagnostics"),
        _FACTOR_DIAGNOSTICS,
        structures=structures,
        names={"x_vocabulary_": "M1", "y_vocabulary_": "M2"},
        text_options=("x_text_options_", "y_text_options_"),
    )


_TEXTS = _two_views(_TEXT_ARRAYS, {"topics_": _PAIRED_TOPICS})
_LINEAR = _two_views(_LINEAR_ARRAYS, {"factors_": _LINEAR_FACTORS})

STORED: Mapping[str, StoredClass] = {
    "LDA": _topic_model({}, {}),
    "DiscreteICA": _topic_model({}, {"rate_": None}),
    "SingleTopic": _topic_model({"weights_": ArrayRule(("K",), "probabilities")}, {}),
    "DiscreteCCA": replace(_TEXTS, forms={"proportions": _TEXTS, "poisson": _LINEAR}, form_by="model"),
    "NonGaussianCCA": _LINEAR,
    "MixedCCA": _LINEAR,
    "ICA": StoredClass(
        "polyad.models",
        _SIGNAL_ARRAYS,
        {"n_features_in_": "M"},
        ("polyad.models", "FactorDiagnostics"),
        _FACTOR_DIAGNOSTICS,
        names={"feature_names_in_": "M"},
        any_number=True,
    ),
}
