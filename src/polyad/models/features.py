"""The columns that a model was fitted with, and whether new data have the same."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from polyad.base.plurals import how_many
from polyad.engine import Source, signal_blocks
from polyad.engine.checks import is_parts
from polyad.engine.inputs import is_dask_table, matrix_of, names_of_columns


def remember_columns(model: Any, X: Any, n_columns: int, *, reset: bool) -> None:
    """Set or compare the number and names of the columns of X, as scikit-learn does.

    Parameters
    ----------
    model
        The estimator: its ``n_features_in_`` and ``feature_names_in_``.
    X, n_columns
        Data, and the number of their columns, which blocks and sources do not tell by themselves.
    reset
        Whether to set them, in a fit, or to compare.
    """
    X = X._meta if is_dask_table(X) else matrix_of(X)  # of a lazy table the columns, without a row
    if sparse.issparse(X) or hasattr(X, "shape") or hasattr(X, "__array__"):
        validate_data(model, X, reset=reset, skip_check_array=True)
    elif reset:
        model.n_features_in_ = n_columns
        remember_no_names(model)
    else:
        refuse_other_number(model, n_columns)


def remember_no_names(model: Any) -> None:
    """Forget the names of columns of another fit."""
    if hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def signal_source(model: Any, X: Any, *, reset: bool) -> Source:
    """Return measurements as a source; the number and names of their columns are set in a fit, or compared."""
    X = matrix_of(X)
    if reset and type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and min(X.shape) > 1:
        remember_no_names(model)  # there is nothing that scikit-learn's checks could find
    elif not is_parts(X) and not isinstance(X, Source):
        # Values are checked on the way into a source, whose message names the cell.
        least = 2 if reset else 1
        X = validate_data(model, X, reset=reset, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=least)
    source = signal_blocks(X)
    if not reset:
        refuse_other_number(model, source.n_columns)
    elif source.n_rows < 2:
        raise ValueError(f"X has {source.n_rows} row(s); a minimum of 2 is required.")
    else:
        model.n_features_in_ = source.n_columns
    return source


def refuse_other_number(model: Any, n_columns: int) -> None:
    """Say, in scikit-learn's words, that X has another number of columns than at fit."""
    if n_columns != model.n_features_in_:
        raise ValueError(
            f"X has {n_columns} features, but {type(model).__name__} is expecting {model.n_features_in_} features."
        )


def views_by_name(views: Mapping[str, Any], names: Sequence[str] | None) -> list[Any]:
    """Return views that are given by name in the order of the fit; None for those that are not given."""
    if names is None:
        raise ValueError("The model was fitted on a list of views: give a list, or fit it on views with names.")
    unknown = [name for name in views if name not in names]
    if unknown:
        raise ValueError(f"There is a view {unknown[0]!r}; the model knows {', '.join(map(repr, names))}.")
    return [views.get(name) for name in names]


def refuse_other_columns(found: int, expected: int, name: str) -> None:
    """Say that a view has another number of columns than at fit."""
    if found != expected:
        raise ValueError(f"{name} has {how_many(found, 'columns')}, but the model was fitted with {expected}.")


def refuse_other_names(view: Any, fitted: Sequence[str] | None, name: str) -> None:
    """Refuse a table whose columns have other names, or come in another order, than at fit."""
    found = names_of_columns(view)
    if found is None or fitted is None or found == tuple(fitted):
        return
    place = _first_difference(found, fitted)
    there, here = (repr(names[place]) if place < len(names) else "nothing" for names in (found, fitted))
    order = " The columns are the same in another order." if set(found) == set(fitted) else ""
    raise ValueError(
        f"The columns of {name} have other feature names than those the model was fitted with: column {place} is "
        f"{there}, and was {here}.{order}"
    )


def refuse_other_words(found: Sequence[str], fitted: Sequence[str]) -> None:
    """Refuse documents counted over other words, or in another order, than the model was fitted with."""
    if tuple(found) == tuple(fitted):
        return
    place = _first_difference(found, fitted)
    there, here = (repr(words[place]) if place < len(words) else "nothing" for words in (found, fitted))
    raise ValueError(
        f"The documents were counted over other words than the model was fitted with: column {place} is {there}, and "
        f"{here} in the model. Count them against the model's own vocabulary."
    )


def _first_difference(found: Sequence[str], fitted: Sequence[str]) -> int:
    return next((m for m, (a, b) in enumerate(zip(found, fitted)) if a != b), min(len(found), len(fitted)))
