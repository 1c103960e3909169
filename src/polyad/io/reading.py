"""The entries of an archive to a fitted model, everything checked on the way."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from polyad.base.names import checked_names
from polyad.base.plurals import how_many
from polyad.corpus.words.tokens import TextOptions
from polyad.io.archive import Archive, ModelFileError
from polyad.io.arrays import checked_array
from polyad.io.header import (
    FORMAT,
    HEADER,
    VERSION,
    check_names,
    checksum_of,
    fingerprint_of,
    n_asked,
    section,
    view_named_in,
)
from polyad.io.plain import diagnostics_from, parameters_from, parse_json, scalars_from
from polyad.io.registry import MAX_VIEWS, STORED, StoredClass, is_column_names

MAX_HEADER_BYTES = 16 * 2**20


def read_header(archive: Archive) -> tuple[dict[str, Any], StoredClass]:
    """Return the header of a file, and what is stored of the model that it names."""
    if HEADER not in archive.sizes:
        raise ModelFileError(f"it is a zip without {HEADER}, and so not a polyad model file")
    header = parse_json(archive.read(HEADER, MAX_HEADER_BYTES))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError("its header is not that of a polyad model file")
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ModelFileError(f"its version is {version!a}, and versions are numbers from 1 on")
    if version > VERSION:
        raise ModelFileError(
            f"it is of format version {version}, and this polyad reads up to {VERSION}; update polyad to load it"
        )
    if header.get("checksum") != checksum_of(header) or header.get("fingerprint") != fingerprint_of(header):
        raise ModelFileError("its header was changed after it was saved; save the model again")
    name = header.get("class")
    if not isinstance(name, str) or name not in STORED:
        raise ModelFileError(f"it holds {name!a}, which this version does not know; it knows {', '.join(STORED)}")
    stored = STORED[name]
    if stored.view_arrays:
        n_views = stored.count_views(section(header, "arrays"))
        if not 2 <= n_views <= MAX_VIEWS:
            raise ModelFileError(f"it holds {name} of {how_many(n_views, 'views')}; from 2 to {MAX_VIEWS} are possible")
        stored = stored.of_views(n_views)
    extra = any(key in section(header, "arrays") for key in stored.extra_row)
    return header, stored.with_extra_row(extra)


class BareModel:
    """What was fitted, under the names that the estimator has for it; it can do nothing."""

    def __init__(self, **parameters: Any) -> None:
        self.__dict__.update({"n_components": None, **parameters})


def read_model(archive: Archive, header: Mapping[str, Any], stored: StoredClass, *, bare: bool = False) -> Any:
    """Return the model; with ``bare`` what was fitted alone, where a class need not work it out."""
    # What a class sets from its arrays, only the class can set.
    unfolds = stored.structures or stored.view_arrays or stored.column_lists
    bare = bare and not unfolds and stored.diagnostics[1] != "MixtureDiagnostics"
    tags = {"has_topics": "topic_shares_" in stored.arrays, "n_views": 1}
    model_class = type(header["class"], (BareModel,), tags) if bare else stored.load(header["class"])
    axes: dict[str, int] = {}
    expected = {HEADER}
    model = model_class(**parameters_from(section(header, "parameters"), None if bare else model_class))
    arrays = section(header, "arrays")
    if set(arrays) != set(stored.arrays):
        raise ModelFileError(
            f"its arrays are {', '.join(map(ascii, sorted(arrays)))}; wanted are {', '.join(stored.arrays)}"
        )
    values: dict[str, Any] = {}
    for key, rule in stored.arrays.items():
        data = _verified(archive, f"arrays/{key}.npy", section(arrays, key), expected)
        values[key] = checked_array(data, key, arrays[key].get("shape"), rule, axes)
    axes |= {"V": len(stored.text_options)} if stored.view_arrays else {}
    _check_lengths(model, stored, axes)
    values |= scalars_from(section(header, "scalars"), stored, axes)
    _set_values(model, stored, {**dict.fromkeys(STORED[header["class"]].extra_row), **values})
    names = _read_names(archive, section(header, "names"), stored, axes, expected)
    for key in stored.names:
        if not is_column_names(key):
            _set(model, key, tuple(names[key]) if key in names else None)
        elif key in names:
            setattr(model, key, np.array(names[key], dtype=object))
    for key in stored.column_lists:
        _set_columns(model, key, names.get(key))
    for key, options in _read_text_options(header.get("text_options"), stored).items():
        _set(model, key, options)
    diagnostics = diagnostics_from(header.get("diagnostics"), stored, bare=bare)
    if diagnostics is not None:
        model.diagnostics_ = diagnostics
    model.names_ = _read_component_names(header.get("component_names", {}), axes["K"])
    unknown = sorted(set(archive.sizes) - expected)
    if unknown:
        raise ModelFileError(f"it has an entry {unknown[0]!a} that does not belong to it")
    return model


def _read_component_names(plain: Any, n_components: int) -> dict[int, str]:
    if not isinstance(plain, dict) or not all(key.isdecimal() and key.isascii() for key in plain):
        raise ModelFileError("its names of topics are not an object with a name for each number")
    try:
        return checked_names({int(key): name for key, name in plain.items()}, n_components)
    except ValueError as error:
        raise ModelFileError(f"its names of topics cannot be used: {error}") from error


def _check_lengths(model: Any, stored: StoredClass, axes: Mapping[str, int]) -> None:
    K = n_asked(axes, stored)
    whole = isinstance(model.n_components, int) and not isinstance(model.n_components, bool)
    if not (whole and model.n_components == K) and not (model.n_components is None and stored.any_number):
        raise ModelFileError(f"n_components is {model.n_components!a}, but its arrays have {axes['K']} rows")
    if axes.get("L", K) < K:
        raise ModelFileError(f"it has {axes['L']} topics, fewer than the {K} that its texts share")


def _set_values(model: Any, stored: StoredClass, values: Mapping[str, Any]) -> None:
    """Set fitted arrays and numbers, those that are fields of a structure as that structure."""
    for key, value in values.items():
        if key.partition(".")[0] not in stored.structures:
            _set(model, key, value)
    for name, structure in stored.load_structures().items():
        fields = {key.removeprefix(f"{name}."): value for key, value in values.items() if key.startswith(f"{name}.")}
        setattr(model, name, structure(**fields))
    if hasattr(model, "_unfold"):
        try:
            model._unfold()
        except (ValueError, KeyError) as error:
            raise ModelFileError(f"its arrays do not belong together: {error}") from error


def _set(model: Any, key: str, value: Any) -> None:
    """Set an attribute, or the next entry of one that is a list."""
    name, _, place = key.partition(".")
    if place:
        model.__dict__.setdefault(name, []).append(value)
    else:
        setattr(model, name, value)


def _set_columns(model: Any, key: str, lists: list[list[str] | None] | None) -> None:
    """Set the names of the columns of each view; files of models that were not fitted with tables have none."""
    known = None if lists is None else [None if names is None else tuple(names) for names in lists]
    try:
        model._set_columns(known)
    except ValueError as error:
        raise ModelFileError(f"{key} does not belong to its arrays: {error}") from error


def _verified(archive: Archive, name: str, declared: Mapping[str, Any], expected: set[str]) -> bytes:
    expected.add(name)
    data = archive.read(name)
    if hashlib.sha256(data).hexdigest() != declared.get("sha256"):
        raise ModelFileError(f"its entry {name} was changed after it was saved; save the model again")
    return data


def _read_names(
    archive: Archive, declared: Mapping[str, Any], stored: StoredClass, axes: Mapping[str, int], expected: set[str]
) -> dict[str, list[Any]]:
    names: dict[str, list[Any]] = {}
    for key in declared:
        if key not in stored.names and key not in stored.column_lists:
            raise ModelFileError(f"it has a list of words {key!a} that this version does not know")
        names[key] = parse_json(_verified(archive, f"names/{key}.json", section(declared, key), expected))
    check_names(names, stored, axes)
    return names


def _read_text_options(plain: Any, stored: StoredClass) -> dict[str, TextOptions | None]:
    keys = stored.text_options
    if len(keys) == 1:
        return {keys[0]: _one_text_options(plain)}
    views = {view_named_in(key): key for key in keys}
    if plain is None:
        return dict.fromkeys(keys)
    if not isinstance(plain, dict) or set(plain) != set(views):
        wanted = f"those of {' and '.join(views)}" if views else "absent"
        raise ModelFileError(f"its text options are not {wanted}")
    return {key: _one_text_options(plain[view]) for view, key in views.items()}


def _one_text_options(plain: Any) -> TextOptions | None:
    if plain is None:
        return None
    # Given as a text, stop words would be the name of another file to read.
    if not isinstance(plain, dict) or not isinstance(plain.get("stop_words"), dict | None):
        raise ModelFileError("its text options are not an object with the stop words spelled out")
    try:
        options = TextOptions.from_dict(plain)
        if not options.is_settled:
            raise ValueError("they leave something to 'auto'")
        return options
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelFileError(f"its text options cannot be used: {error}") from error
