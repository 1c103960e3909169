"""Which models a file can hold, and what is stored of each: the allow-list of loading.

To store another model, add a line to `STORED`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

# How to run, not what to compute: these belong to a machine and a moment, and are left at their defaults by loading.
# So does the matrix that a fit began at.
RUNTIME_PARAMETERS = frozenset({"n_jobs", "verbose", "w_init"})

MAX_VIEWS = 12  # of one model: a file has a few entries for each

# What is neither nothing nor infinite in the single precision that loops over documents run in, sums included.
LEAST_POSITIVE, MOST_POSITIVE = 1e-35, 1e35

Values = Literal["probabilities", "topics", "positive", "not negative", "covariance", "finite"]
Kind = Literal["whole", "number", "optional number", "numbers", "array", "later array", "text", "truth", "left out"]


@dataclass(frozen=True)
class ArrayRule:
    """What an array must be like."""

    shape: tuple[str, ...]  # the name of each axis; axes with one name have one length
    # Rows of probabilities that sum to 1, such rows or rows of zeros, numbers above 0, such numbers or 0, a matrix
    # with numbers above 0 on its diagonal, or any finite numbers.
    values: Values = "finite"


@dataclass(frozen=True)
class StoredClass:
    """What is stored of a class of models."""

    module: str  # where the class is; never taken from a file
    # The fitted arrays; one named ``structure.field`` is a field of an attribute in `structures`.
    arrays: Mapping[str, ArrayRule]
    # The fitted numbers; the name of an axis for those that are its length, or None for others, which are above 0.
    scalars: Mapping[str, str | None]
    diagnostics: tuple[str, str]  # the class of ``diagnostics_``, and where it is
    diagnostic_fields: Mapping[str, Kind] = field(default_factory=dict)  # its fields
    # The attributes that are frozen structures of arrays, with their classes and where these are. A model that has any
    # sets what follows from them in ``_unfold``.
    structures: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # The lists of words that the model may have, and the axis that each names.
    names: Mapping[str, str] = field(default_factory=dict)
    # The attributes that have for each view the names of its columns, or None; set by ``_set_columns`` of the model.
    column_lists: tuple[str, ...] = ()
    text_options: tuple[str, ...] = ()  # the attributes that say how text is split: one, or one for each view
    # Of a model of a list of views, the attributes that are lists of arrays, one for each view; the axis ``M`` is that
    # of the view's words.
    view_arrays: Mapping[str, ArrayRule] = field(default_factory=dict)
    # The arrays that a model has beside the others where it has one row more than ``n_components``; without, they are
    # None.
    extra_row: Mapping[str, ArrayRule] = field(default_factory=dict)
    any_number: bool = False  # whether ``n_components`` may be None, which leaves K to the data
    # Those of the scalars that files of older versions do not have, and what they are then.
    later_scalars: Mapping[str, float] = field(default_factory=dict)

    def with_extra_row(self, present: bool) -> "StoredClass":
        """Return what is stored of a model with a row more than ``n_components``, or without."""
        return replace(self, arrays={**self.arrays, **self.extra_row}) if present else replace(self, extra_row={})

    def of_views(self, n_views: int) -> "StoredClass":
        """Return what is stored of a model of so many views: entry 0, 1, ... of each list; others as they are."""
        if not self.view_arrays:
            return self
        numbers = range(n_views)
        arrays = {
            f"{key}.{n}": ArrayRule(tuple(f"M{n}" if axis == "M" else axis for axis in rule.shape), rule.values)
            for key, rule in self.view_arrays.items()
            for n in numbers
        }
        return replace(
            self,
            arrays={**self.arrays, **arrays},
            names={"view_names_": "V", **{f"vocabularies_.{n}": f"M{n}" for n in numbers}},
            text_options=tuple(f"text_options_.{n}" for n in numbers),
        )

    def count_views(self, keys: Iterable[str]) -> int:
        """Return the number of views from the names of stored arrays."""
        first = next(iter(self.view_arrays), None)
        return 0 if first is None else sum(key.startswith(f"{first}.") for key in keys)

    def load(self, name: str) -> type[Any]:
        """Import the class."""
        return _imported(self.module, name)

    def load_diagnostics(self) -> type[Any]:
        """Import the class of the diagnostics."""
        return _imported(*self.diagnostics)

    def load_structures(self) -> dict[str, type[Any]]:
        """Import the classes of the structures."""
        return {key: _imported(*home) for key, home in self.structures.items()}


def is_column_names(key: str) -> bool:
    """Tell the names of a table's columns, which a model has only where it was fitted with a table."""
    return key.endswith("feature_names_in_")


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
    "certainty": "later array",
    "concentration": "optional number",
    "topic_word_prior": "later array",
    "objective": "numbers",
    # The time a fit took is not part of what it found: two fits of the same data give the same file.
    "seconds": "left out",
    "memory_bytes": "whole",
}
_BACKGROUND_ARRAYS = {
    "background_": ArrayRule(("B", "M"), "probabilities"),
    "background_prior_": ArrayRule(("B",), "positive"),
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
    "certainty": "later array",
}
_LINEAR_FACTORS = ("polyad.models.recipes.factors", "LinearFactors")
_VIEW_ARRAYS = {
    # L is K and the topics that one view has for itself, D the number of directions that views are projected to.
    "all_components_": ArrayRule(("L", "M"), "topics"),
    "projections_": ArrayRule(("D", "M")),
    "centres_": ArrayRule(("D",)),
}
_LINEAR_ARRAYS = {
    "factors_.x_loadings": ArrayRule(("M1", "K")),
    "factors_.y_loadings": ArrayRule(("M2", "K")),
    "factors_.x_projection": ArrayRule(("K", "M1")),
    "factors_.y_projection": ArrayRule(("K", "M2")),
    "factors_.x_covariance": ArrayRule(("K", "K"), "covariance"),
    "factors_.y_covariance": ArrayRule(("K", "K"), "covariance"),
    "factors_.x_mean": ArrayRule(("M1",)),
    "factors_.y_mean": ArrayRule(("M2",)),
}
_SIGNAL_ARRAYS = {
    "components_": ArrayRule(("K", "M")),
    "mixing_": ArrayRule(("M", "K")),
    "mean_": ArrayRule(("M",)),
}


def _topic_model(
    arrays: Mapping[str, ArrayRule],
    scalars: Mapping[str, str | None],
    extra_row: Mapping[str, ArrayRule] | None = None,
) -> StoredClass:
    return StoredClass(
        "polyad.models",
        {**_TOPIC_ARRAYS, **arrays},
        {"n_features_in_": "M", **scalars},
        ("polyad.models", "Diagnostics"),
        _TOPIC_DIAGNOSTICS,
        names={"vocabulary_": "M", "feature_names_in_": "M"},
        text_options=("text_options_",),
        extra_row=extra_row or {},
    )


_MIXTURE_DIAGNOSTICS: dict[str, Kind] = {
    "n_rows": "whole",
    "spectrum": "array",
    "energy": "number",
    "start": "text",
    "note": "text",
    "objective": "numbers",
    "n_moves": "whole",
    "converged": "truth",
    "seconds": "left out",
    "certainty": "later array",
}

_LINEAR = StoredClass(
    "polyad.models",
    _LINEAR_ARRAYS,
    {},
    ("polyad.models", "FactorDiagnostics"),
    _FACTOR_DIAGNOSTICS,
    structures={"factors_": _LINEAR_FACTORS},
    names={"x_vocabulary_": "M1", "y_vocabulary_": "M2", "feature_names_in_": "M1", "y_feature_names_in_": "M2"},
    text_options=("x_text_options_", "y_text_options_"),
)

STORED: Mapping[str, StoredClass] = {
    "LDA": _topic_model({}, {}, _BACKGROUND_ARRAYS),
    "DiscreteICA": _topic_model({}, {"rate_": None}),
    "SingleTopic": _topic_model({"weights_": ArrayRule(("K",), "probabilities")}, {}),
    "PolylingualLDA": StoredClass(
        "polyad.models",
        {"doc_topic_prior_": ArrayRule(("L",), "positive"), "topic_shares_": ArrayRule(("K",), "probabilities")},
        {},
        ("polyad.models", "Diagnostics"),
        _TOPIC_DIAGNOSTICS,
        view_arrays=_VIEW_ARRAYS,
    ),
    "DiscreteCCA": _LINEAR,
    "NonGaussianCCA": _LINEAR,
    "MixedCCA": replace(_LINEAR, scalars={"counts_view_": None}, later_scalars={"counts_view_": 2.0}),
    "ICA": StoredClass(
        "polyad.models",
        _SIGNAL_ARRAYS,
        {"n_features_in_": "M"},
        ("polyad.models", "FactorDiagnostics"),
        _FACTOR_DIAGNOSTICS,
        names={"feature_names_in_": "M"},
        any_number=True,
    ),
    "NoisyDiscreteICA": StoredClass(
        "polyad.models",
        {
            "components_": ArrayRule(("K", "M"), "probabilities"),
            "variances_": ArrayRule(("K",), "not negative"),
            "noise_variances_": ArrayRule(("M",)),
            "mean_": ArrayRule(("M",)),
        },
        {"n_features_in_": "M"},
        ("polyad.models", "FactorDiagnostics"),
        _FACTOR_DIAGNOSTICS,
        names={"vocabulary_": "M", "feature_names_in_": "M"},
        text_options=("text_options_",),
    ),
    "IndependentFactors": StoredClass(
        "polyad.models",
        {
            "components_": ArrayRule(("K", "M")),
            "mean_": ArrayRule(("M",)),
            "whitener_": ArrayRule(("K", "M")),
            "noise_": ArrayRule(("K", "K")),
            "factor_means_": ArrayRule(("K",)),
            "factor_variances_": ArrayRule(("K",), "positive"),
            "cumulants_": ArrayRule(("K",)),
        },
        {"n_features_in_": "M"},
        ("polyad.models", "FactorDiagnostics"),
        _FACTOR_DIAGNOSTICS,
        names={"feature_names_in_": "M"},
        column_lists=("view_columns_",),
    ),
    "HiddenMarkov": StoredClass(
        "polyad.models",
        {
            "startprob_": ArrayRule(("K",), "probabilities"),
            "transmat_": ArrayRule(("K", "K"), "probabilities"),
            "emission_rows_": ArrayRule(("K", "E")),
        },
        {},
        ("polyad.models", "MixtureDiagnostics"),
        _MIXTURE_DIAGNOSTICS,
    ),
    "MultiViewMixture": StoredClass(
        "polyad.models",
        {
            "weights_": ArrayRule(("K",), "probabilities"),
            "parameter_rows_": ArrayRule(("K", "P")),
            "layout_": ArrayRule(("V", "two")),
        },
        {},
        ("polyad.models", "MixtureDiagnostics"),
        _MIXTURE_DIAGNOSTICS,
        names={"view_names_": "V"},
        column_lists=("view_columns_",),
    ),
    "SphericalMixture": StoredClass(
        "polyad.models",
        {
            "weights_": ArrayRule(("K",), "probabilities"),
            "means_": ArrayRule(("K", "M")),
            "covariance_rows_": ArrayRule(("K", "C")),
        },
        {"n_features_in_": "M"},
        ("polyad.models", "MixtureDiagnostics"),
        _MIXTURE_DIAGNOSTICS,
        names={"feature_names_in_": "M"},
    ),
}
