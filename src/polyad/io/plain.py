"""Plain values: parameters, fitted numbers and diagnostics to JSON and back, everything checked on the way in."""

import inspect
import json
import math
import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from polyad.io.archive import ModelFileError
from polyad.io.registry import LEAST_POSITIVE, MOST_POSITIVE, RUNTIME_PARAMETERS, Kind, StoredClass

# JSON has no numbers for these.
_NOT_FINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def to_json(value: Any) -> bytes:
    """Write JSON as UTF-8 in one canonical way: keys sorted, no spaces.

    Examples
    --------
    >>> to_json({"b": 0.1, "a": ["é"]}).decode()
    '{"a":["é"],"b":0.1}'
    """
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ModelFileError(
            f"the text {error.object[error.start : error.end]!a} cannot be written as UTF-8"
        ) from error


def parse_json(data: bytes) -> Any:
    """Read strict JSON: UTF-8, no key twice, no NaN."""
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_without_doubles, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"an entry is not valid JSON ({error})") from error


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def parameters_to(model: Any) -> dict[str, Any]:
    """Return the parameters of a model as plain values, without those about the machine."""
    parameters = model.get_params(deep=False)
    return {name: _plain(name, value) for name, value in parameters.items() if name not in RUNTIME_PARAMETERS}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if callable(value):
        return _name_of_method(name, value)
    if _is_plain_list(value):
        return list(value)
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None  # what it would draw next is no part of the model; None draws anew each time, as it does
    if value is None or isinstance(value, str | bool) or _is_number(value):
        return value
    raise ModelFileError(
        f"the parameter {name} is {value!r}, and a model file holds numbers, texts and lists of them only; "
        "set it to one of these before saving."
    )


def _name_of_method(name: str, value: Any) -> str:
    from polyad.decompose.orthogonal.registry import DIAGONALISERS
    from polyad.decompose.similarity.registry import SIMILARITY_DIAGONALISERS

    for known, function in (*DIAGONALISERS.items(), *SIMILARITY_DIAGONALISERS.items()):
        if function is value:
            return known
    raise ModelFileError(
        f"the parameter {name} is the function {getattr(value, '__name__', value)!r}, and a model file holds no code; "
        f"set it to a name ({', '.join(DIAGONALISERS)}) before saving. The fitted topics do not depend on it any more."
    )


def parameters_from(plain: Mapping[str, Any], model_class: type[Any] | None) -> dict[str, Any]:
    """Check that stored parameters are plain, and of a class that has them (None: whatever it has)."""
    if model_class is not None:
        known = set(inspect.signature(model_class).parameters) - RUNTIME_PARAMETERS
        unknown = sorted(set(plain) - known)
        if unknown:
            raise ModelFileError(f"it has a parameter {unknown[0]!a} that {model_class.__name__} does not have here")
    for name, value in plain.items():
        if not (value is None or _is_plain_list(value) or isinstance(value, str | bool) or _is_number(value)):
            raise ModelFileError(f"its parameter {name} is neither a number, a text nor a list of such")
    seed = plain.get("random_state")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise ModelFileError(f"its parameter random_state is {seed!a}, and a seed is a whole number from 0 on")
    return dict(plain)


def _is_plain_list(value: Any) -> bool:
    """Tell a list of numbers or of texts."""
    if not isinstance(value, list | tuple):
        return False
    return all(_is_number(item) for item in value) or all(isinstance(item, str) for item in value)


def scalars_to(model: Any, stored: StoredClass) -> dict[str, float]:
    """Return the fitted numbers of a model."""
    return {
        name: int(getattr(model, name)) if axis is not None else float(getattr(model, name))
        for name, axis in stored.scalars.items()
    }


def scalars_from(plain: Mapping[str, Any], stored: StoredClass, axes: Mapping[str, int]) -> dict[str, float]:
    """Check the stored numbers; those that are the length of an axis must be that."""
    plain = {**stored.later_scalars, **plain}
    if set(plain) != set(stored.scalars):
        raise ModelFileError(f"its numbers are not {', '.join(stored.scalars)}")
    for name, axis in stored.scalars.items():
        value = plain[name]
        if axis is None:
            fits = _is_number(value) and LEAST_POSITIVE <= value <= MOST_POSITIVE
        else:
            fits = _is_number(value) and isinstance(value, int) and value == axes.get(axis)
        if not fits:
            raise ModelFileError(f"its number {name} is {value!a}, which cannot be")
    return dict(plain)


def diagnostics_to(diagnostics: Any, stored: StoredClass) -> dict[str, Any] | None:
    """Return diagnostics as plain values."""
    if diagnostics is None:
        return None
    kept = {name: kind for name, kind in stored.diagnostic_fields.items() if kind != "left out"}
    return {name: _diagnostic_to(getattr(diagnostics, name), kind) for name, kind in kept.items()}


def _diagnostic_to(value: Any, kind: Kind) -> Any:
    if kind in ("array", "later array", "numbers"):
        return [_float_to(item) for item in np.asarray(value, dtype=float).ravel().tolist()]
    if value is None:
        return None
    if kind in ("text", "truth"):
        return str(value) if kind == "text" else bool(value)
    return int(value) if kind == "whole" else _float_to(float(value))


def diagnostics_from(plain: Any, stored: StoredClass, *, bare: bool = False) -> Any:
    """Make diagnostics of plain values; ``bare`` gives a namespace of them, without loading their class."""
    if plain is None:
        return None
    kept = {name for name, kind in stored.diagnostic_fields.items() if kind != "left out"}
    later = {name for name, kind in stored.diagnostic_fields.items() if kind == "later array"}
    if not isinstance(plain, dict) or not kept - later <= set(plain) <= kept:
        raise ModelFileError("its diagnostics are not those of its class")
    values = {name: _diagnostic_from(name, plain.get(name), kind) for name, kind in stored.diagnostic_fields.items()}
    return SimpleNamespace(**values) if bare else stored.load_diagnostics()(**values)


def _diagnostic_from(name: str, value: Any, kind: Kind) -> Any:
    if kind == "left out":
        return {}
    if kind == "optional number" and value is None:
        return None
    if kind == "later array" and value is None:  # a file of a version that did not know it yet
        return np.empty(0)
    if kind == "whole":
        if not isinstance(value, int) or isinstance(value, bool):
            raise ModelFileError(f"its diagnostic {name} is not a whole number")
        return value
    if kind in ("text", "truth"):
        if not isinstance(value, str if kind == "text" else bool):
            raise ModelFileError(f"its diagnostic {name} is not {'a text' if kind == 'text' else 'true or false'}")
        return value
    if kind in ("array", "later array", "numbers"):
        if not isinstance(value, list):
            raise ModelFileError(f"its diagnostic {name} is not a list of numbers")
        numbers = [_float_from(name, item) for item in value]
        return tuple(numbers) if kind == "numbers" else np.array(numbers, dtype=float)
    return _float_from(name, value)


def _float_to(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _float_from(name: str, value: Any) -> float:
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if not _is_number(value):
        raise ModelFileError(f"its diagnostic {name} is not a number")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
