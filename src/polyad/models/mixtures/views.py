"""Views of different kinds as they come, checked once on the way in."""

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from polyad.base.arrays import FloatArray
from polyad.base.plurals import how_many, there_are
from polyad.engine import Block, Source, aligned, count_blocks, total
from polyad.engine.blocks import canonical_rows, is_sparse
from polyad.engine.checks import is_parts
from polyad.engine.inputs import is_lazy_frame, matrix_of, refuse_texts
from polyad.engine.sources import arrays_of
from polyad.engine.sources.views import warn_of_unknown_orders

KINDS = ("counts", "categorical", "binary", "gaussian")
LEAST_VIEWS = 3
ROWS_OF = {
    "categorical": "one category each",
    "binary": "0, 1, or NaN where nothing was seen",
    "gaussian": "finite, or NaN where nothing was seen",
}
MOST_CATEGORIES = 1 << 24


def checked_kinds(kinds: Any, n_views: int) -> list[str | None]:
    """Return the kind of each view; None where it is to be told from the values."""
    if isinstance(kinds, str):
        if kinds == "auto":
            return [None] * n_views
        kinds = [kinds] * n_views
    if not isinstance(kinds, Sequence) or len(kinds) != n_views:
        raise ValueError(f"kinds is {kinds!r}; give one kind, or a list of {n_views}, one for each view.")
    for kind in kinds:
        if kind not in (*KINDS, "auto"):
            raise ValueError(f"kinds has {kind!r}; the kinds are {', '.join(map(repr, KINDS))} and 'auto'.")
    return [None if kind == "auto" else kind for kind in kinds]


def refuse_no_list(views: Any) -> None:
    """Refuse what is no list of views."""
    if not isinstance(views, list | tuple):
        raise ValueError(f"The views are one {type(views).__name__}; give a list of them: fit([X1, X2, X3]).")


def views_of_table(table: Any) -> dict[str, Any] | None:
    """Return views by their names, of a mapping or of a DataFrame whose columns are named by view; None without names.

    Names of columns have two levels, of which the first is the view, or are "view.column".

    Examples
    --------
    >>> import pandas
    >>> table = pandas.DataFrame([[1, 0, 2]], columns=["taste.sweet", "taste.sour", "price"])
    >>> {name: list(view.columns) for name, view in views_of_table(table).items()}
    {'taste': ['taste.sweet', 'taste.sour'], 'price': ['price']}
    """
    if isinstance(table, Mapping):
        return {str(name): view for name, view in table.items()}
    table = table.collect() if is_lazy_frame(table) else table
    by_place = hasattr(table, "iloc")
    if not (hasattr(table, "columns") and (by_place or hasattr(table, "select"))):
        return None
    given_names = list(table.columns)
    names = [".".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in given_names]
    if by_place:  # two levels of names become one, which a view is known by as well
        table = table.set_axis(names, axis=1)
    columns: dict[str, list[int]] = {}
    for place, (name, given) in enumerate(zip(names, given_names)):
        view = str(given[0]) if isinstance(given, tuple) else name.split(".", 1)[0]
        columns.setdefault(view, []).append(place)
    return {
        view: table.iloc[:, places] if by_place else table.select([names[place] for place in places])
        for view, places in columns.items()
    }


def fitted_views(views: Any, kinds: Any) -> tuple[Source, list[str], list[int]]:
    """Return views to learn from as one source, their kinds and their widths."""
    refuse_no_list(views)
    if len(views) < LEAST_VIEWS:
        raise ValueError(
            f"{there_are(len(views), 'views')}, and a mixture of classes is told by {LEAST_VIEWS} or more that are "
            "independent given the class. Columns of a binary or Gaussian view are: cut such a view into several."
        )
    asked = checked_kinds(kinds, len(views))
    if any(view is None for view in views):
        raise ValueError("A view is None; only predict, predict_proba and score take views that are not there.")
    names = [f"View {number}" for number in range(len(views))]
    found = [kind or kind_of(view, name) for view, kind, name in zip(views, asked, names)]
    sources = [view_source(view, kind, name=name) for view, kind, name in zip(views, found, names)]
    warn_of_unknown_orders(sources)
    return aligned(*sources), found, [source.n_columns for source in sources]


def known_views(views: Any, kinds: Sequence[str], widths: Sequence[int]) -> tuple[Source, list[int]]:
    """Return views like those of the fit as one source, and the numbers of those that are there."""
    refuse_no_list(views)
    if len(views) != len(kinds):
        raise ValueError(
            f"{there_are(len(views), 'views')}, and the model was fitted on {len(kinds)}: give None for absent ones."
        )
    there = [number for number, view in enumerate(views) if view is not None]
    if not there:
        raise ValueError("All views are None: give at least one.")
    sources = []
    for number in there:
        source = view_source(views[number], kinds[number], widths[number], name=f"View {number}")
        if source.n_columns != widths[number]:
            raise ValueError(
                f"View {number} has {how_many(source.n_columns, 'columns')}, and the model was fitted on "
                f"{widths[number]}."
            )
        sources.append(source)
    warn_of_unknown_orders(sources)
    return aligned(*sources), there


def kind_of(view: Any, name: str) -> str:
    """Return what the values of a view look like: sparse or whole numbers are counts, a column of them categories."""
    if isinstance(view, list | tuple | np.ndarray) or getattr(view, "ndim", 0) == 1:
        if len(view) and isinstance(next(iter(view)), str):  # categories, more likely than documents
            _numbers(view, name)
    else:
        refuse_texts(view, name)
    if hasattr(view, "__next__"):
        raise ValueError(
            f"{name} is an iterator, which can be read once, and what its values are is looked at before: give a list."
        )
    if isinstance(view, Source):
        if is_sparse(view.shard(0).rows):
            return "counts"
        return "binary" if total(_rows_unlike, view, "binary") == 0 else "gaussian"
    parts = list(view) if is_parts(view) else [matrix_of(view, name=name)]
    if is_sparse(parts[0]):
        return "counts"
    arrays = [_numbers(part, name) for part in parts]
    one_column = arrays[0].ndim == 1 or arrays[0].shape[1:] == (1,)
    if all(_is_binary(array) for array in arrays):
        return "binary"
    if all(array.dtype.kind in "biu" for array in arrays):
        return "categorical" if one_column else "counts"
    # A gap makes floats of whole numbers; counts have no gaps.
    gaps = any(np.isnan(array).any() for array in arrays if array.dtype.kind == "f")
    return "categorical" if one_column and gaps and all(_is_whole(array) for array in arrays) else "gaussian"


def _is_binary(values: NDArray[Any]) -> bool:
    seen = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    return bool(((seen == 0) | (seen == 1)).all())


def _is_whole(values: NDArray[Any]) -> bool:
    seen = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    return bool(((seen >= 0) & (seen == np.floor(seen)) & (seen < MOST_CATEGORIES)).all())


def _rows_unlike(block: Block, kind: str) -> int:
    """Return how many rows are none of a view of this kind."""
    rows = block.rows
    if kind == "categorical":  # a row without a cell was not seen
        return int(((block.tokens > 1) | (np.diff(rows.indptr) > 1)).sum())
    alike = np.isnan(rows) | ((rows == 0) | (rows == 1) if kind == "binary" else np.isfinite(rows))
    return int((~alike).any(axis=1).sum())


def _refuse_unseen(arrays: Sequence[FloatArray], width: int | None, name: str) -> None:
    if width is None and all(np.isnan(array).all() for array in arrays):
        raise ValueError(f"{name} has not one value that was seen: leave it out.")


def view_source(view: Any, kind: str, width: int | None = None, *, name: str) -> Source:
    """Return a view as a source: counts and categories sparse, others dense with NaN where nothing was seen."""
    if isinstance(view, Source):
        if is_sparse(view.shard(0).rows) != (kind in ("counts", "categorical")):
            raise ValueError(f"{name} is a source of another kind than {kind!r}.")
        if kind != "counts" and (bad := total(_rows_unlike, view, kind)) > 0:
            raise ValueError(f"{name} has {how_many(bad, 'rows')} that are not {ROWS_OF[kind]}.")
        return view
    if kind == "counts":
        return count_blocks(view, name=name)
    parts = list(view) if is_parts(view) else [view]
    arrays = [_values(part, name) for part in parts]
    _refuse_unseen(arrays, width, name)
    if kind == "categorical":
        codes = np.concatenate([_codes(array, width, name) for array in arrays])
        largest = int(np.nanmax(codes)) if not np.isnan(codes).all() else 0
        return count_blocks(_indicators(codes, largest + 1 if width is None else width))
    if len({array.shape[1] for array in arrays}) > 1:
        raise ValueError(f"The parts of {name} have different numbers of columns.")
    start = 0
    for array in arrays:
        _refuse_bad(array, kind, start, name)
        start += array.shape[0]
    return arrays_of(arrays)


def _values(part: Any, name: str) -> FloatArray:
    values = np.ascontiguousarray(part.toarray() if is_sparse(part) else _numbers(part, name), dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or values.size == 0:
        raise ValueError(f"{name} has the shape {values.shape}; expected samples x columns, at least one of each.")
    return values


def _numbers(part: Any, name: str) -> NDArray[Any]:
    """Return values as an array of numbers, or say that categories are to be numbered first."""
    values = np.asarray(part)
    try:
        values = values.astype(np.float64) if values.dtype.kind == "O" else values
        is_numbers = values.dtype.kind in "biuf"
    except (ValueError, TypeError):
        is_numbers = False
    if not is_numbers:
        odd = next((value for value in values.ravel().tolist() if not isinstance(value, Number)), values.dtype)
        raise ValueError(
            f"{name} has {odd!r} among its values; expected numbers, NaN where nothing was seen. Number categories "
            "from 0 up first, for example with scikit-learn's OrdinalEncoder, and count the words of texts with its "
            "CountVectorizer."
        )
    return values


def _refuse_bad(values: FloatArray, kind: str, start: int, name: str) -> None:
    bad = np.isinf(values) if kind == "gaussian" else ~(np.isnan(values) | (values == 0) | (values == 1))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        wanted = "finite, or NaN" if kind == "gaussian" else "0, 1, or NaN"
        raise ValueError(
            f"{name} has the value {values[row, column]:g} at row {start + row}, column {column}; values are {wanted} "
            "where nothing was seen."
        )


def _codes(values: FloatArray, width: int | None, name: str) -> FloatArray:
    if values.shape[1] != 1:
        raise ValueError(
            f"{name} has {values.shape[1]} columns; a categorical view has one, of whole numbers from 0 up."
        )
    codes = values[:, 0]
    bad = ~(np.isnan(codes) | ((codes >= 0) & (codes == np.floor(codes)) & (codes < MOST_CATEGORIES)))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{name} has the category {codes[row]:g} at row {row}; categories are whole numbers from 0 up."
        )
    if width is not None and np.nanmax(codes, initial=0) >= width:
        row = int(np.flatnonzero(codes >= width)[0])
        raise ValueError(
            f"{name} has the category {codes[row]:g} at row {row}, and the model knows 0 to {width - 1}: put NaN there "
            "to leave it out."
        )
    return codes


def _indicators(codes: FloatArray, width: int) -> sparse.csr_array:
    """Return categories as rows with a single 1, and no cell where nothing was seen."""
    seen = ~np.isnan(codes)
    indptr = np.concatenate([[0], np.cumsum(seen)])
    return canonical_rows(np.ones(int(seen.sum())), codes[seen].astype(np.int32), indptr, width)
