"""Results and states as files without any code in them: arrays, numbers and texts, in tuples and dataclasses."""

import importlib
import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PACKAGE = "polyad"


def encoded(value: Any, put: Callable[[NDArray[Any]], Any]) -> Any:
    """Return a value as plain JSON, its arrays replaced by what ``put`` returns for them.

    Raises
    ------
    TypeError
        Where a part has no place in a file.
    """
    if value is None or isinstance(value, bool | int | str):
        return value if not isinstance(value, np.generic) else {"scalar": put(np.asarray(value))}
    if isinstance(value, np.generic):
        return {"scalar": put(np.asarray(value))}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, np.ndarray):
        return {"array": put(value)}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {item.name: encoded(getattr(value, item.name), put) for item in fields(value) if item.init}
        return {"class": _name(type(value)), "parts": parts}
    if isinstance(value, tuple | list):
        kind = _name(type(value)) if hasattr(value, "_fields") else type(value).__name__
        return {"items": [encoded(part, put) for part in value], "kind": kind}
    raise TypeError(
        f"A result holds a {type(value).__name__}, which has no place in a file. Keep arrays, numbers, strings and "
        "None, in tuples and dataclasses."
    )


def decoded(plain: Any, get: Callable[[Any], NDArray[Any]]) -> Any:
    """Return a value from plain JSON, its arrays from ``get``.

    Examples
    --------
    >>> kept = []
    >>> plain = encoded((1.5, np.arange(2), None), lambda array: kept.append(array) or len(kept) - 1)
    >>> decoded(plain, kept.__getitem__)
    (1.5, array([0, 1]), None)
    """
    if not isinstance(plain, dict):
        return plain
    if "scalar" in plain:
        return get(plain["scalar"])[()]
    if "float" in plain:
        return float.fromhex(plain["float"])
    if "array" in plain:
        return get(plain["array"])
    if "class" in plain:
        return _class(plain["class"])(**{name: decoded(part, get) for name, part in plain["parts"].items()})
    items = [decoded(part, get) for part in plain["items"]]
    if plain["kind"] == "list":
        return items
    return tuple(items) if plain["kind"] == "tuple" else _class(plain["kind"])(*items)


def _name(kind: type[Any]) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _class(name: str) -> Any:
    """Return a class of this package: a file must not name any other."""
    module, _, qualified = name.partition(":")
    if module != PACKAGE and not module.startswith(f"{PACKAGE}."):
        raise ValueError(f"a file names the class {name!r}, which is none of {PACKAGE}.")
    found: Any = importlib.import_module(module)
    for part in qualified.split("."):
        found = getattr(found, part)
    if not (isinstance(found, type) and (is_dataclass(found) or hasattr(found, "_fields"))):
        raise ValueError(f"a file names {name!r}, which is no record.")
    return found


def write_record(path: Path, value: Any, *, durable: bool = True) -> None:
    """Write a value to a file that appears when it is whole and on the disk."""
    arrays: list[NDArray[Any]] = []

    def put(array: NDArray[Any]) -> int:
        arrays.append(array)
        return len(arrays) - 1

    plain = json.dumps(encoded(value, put)).encode()
    named = {f"array-{number}": array for number, array in enumerate(arrays)}
    structure = np.frombuffer(plain, np.uint8)
    write_whole(path, lambda out: np.savez(out, structure=structure, **named), durable=durable)  # type: ignore[arg-type]


def read_record(path: Path) -> Any:
    """Read a value; what is damaged is an error that names the file."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            plain = json.loads(arrays["structure"].tobytes())
            return decoded(plain, lambda number: arrays[f"array-{number}"])
    except (zipfile.BadZipFile, ValueError, KeyError, EOFError, AttributeError, ImportError) as error:
        raise ValueError(f"{path} is damaged ({error}).") from error


def write_whole(path: Path, write: Callable[[Any], object], *, durable: bool = True) -> None:
    """Write a file that appears when it is whole, ``durable`` on the disk; a full disk is an error that names it."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as out:
            write(out)
            if durable:
                out.flush()
                os.fsync(out.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
