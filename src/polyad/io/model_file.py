"""Saving and loading: a fitted model to the entries of an archive, and back."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyad.corpus.words import TextOptions
from polyad.io.archive import MAX_BYTES, Archive, ModelFileError, Pieces, open_archive, write_archive
from polyad.io.arrays import array_pieces, check_values, checked_array
from polyad.io.plain import (
    diagnostics_from,
    diagnostics_to,
    parameters_from,
    parameters_to,
    parse_json,
    scalars_from,
    scalars_to,
    to_json,
)
from polyad.io.registry import NAMES, STORED, StoredClass

__all__ = ["FORMAT", "VERSION", "ModelFile", "fingerprint", "load", "read_model_file", "save"]

FORMAT = "polyad model"
VERSION = 1
HEADER = "header.json"
MAX_HEADER_BYTES = 64 * 2**20

# What makes a model the model it is; the rest of the header is about the fit and the file.
_IDENTITY = ("format", "version", "class", "parameters", "scalars", "arrays", "names", "text_options")


@dataclass(frozen=True)
class ModelFile:
    """A model and what its file says about it.

    Parameters
    ----------
    model : estimator
        The fitted model, with ``vocabulary_`` and ``text_options_`` (None where the file has none).
    header : dict
        The header of the file.
    """

    model: Any
    header: Mapping[str, Any]


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    vocabulary: Sequence[str] | None = None,
    text_options: TextOptions | None = None,
) -> None:
    """Save a fitted model as one file, which appears only when it is complete.

    The same model gives the same bytes. Parameters about the machine (``n_jobs``, ``verbose``) and the seconds of
    the fit are not stored.

    Parameters
    ----------
    model : LDA, DiscreteICA or SingleTopic
        The fitted model.
    path : str or path
        The file, by custom named ``.polyad``.
    vocabulary : sequence of str, optional
        The word of each column; None takes those that the model knows.
    text_options : TextOptions, optional
        How the text was split, so that new text is treated alike.

    Raises
    ------
    ModelFileError
        Where the model is not of a class that can be stored, or has a parameter that is code.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polyad import LDA, load
    >>> counts = [[4, 1, 0, 0], [3, 2, 0, 0], [0, 0, 2, 3], [0, 1, 1, 4], [2, 3, 0, 0]]
    >>> model = LDA(2).fit(counts)
    >>> file = pathlib.Path(tempfile.mkdtemp(), "small.polyad")
    >>> save(model, file, vocabulary=["sun", "rain", "tax", "budget"])
    >>> bool((load(file).transform(counts) == model.transform(counts)).all())
    True
    >>> sorted(load(file).topics(2)[0])
    ['rain', 'sun']
    """
    write_archive(path, _entries(model, vocabulary, text_options))


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Load a model that was saved. No code of the file is run, whatever is in it.

    Parameters
    ----------
    path : str or path
        The file.
    max_bytes : int
        Larger files are refused.

    Returns
    -------
    estimator
        The fitted model, which gives the same answers as the one that was saved. Its ``vocabulary_`` and
        ``text_options_`` are those that were saved, or None.

    Raises
    ------
    ModelFileError
        Where the file is not a model file, or is cut short, changed, too large or of a newer version.
    """
    return read_model_file(path, max_bytes=max_bytes).model


def read_model_file(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> ModelFile:
    """Load a model together with the header of its file; see `load`."""
    with open_archive(path, max_bytes) as archive:
        try:
            header, stored = _read_header(archive)
            return ModelFile(_read_model(archive, header, stored), header)
        except ModelFileError as error:
            raise error if error.path else ModelFileError(error.problem, path=archive.path) from error


def fingerprint(model: Any, *, vocabulary: Sequence[str] | None = None, text_options: TextOptions | None = None) -> str:
    """Return the fingerprint that the file of a model has: the same for the same model, on any machine.

    It covers the class, the parameters, the fitted arrays and numbers, the words and the text options.
    """
    header = parse_json(bytes(_entries(model, vocabulary, text_options)[HEADER][0]))
    return str(header["fingerprint"])


def _entries(model: Any, vocabulary: Sequence[str] | None, text_options: TextOptions | None) -> dict[str, Pieces]:
    """Put a model into entries, the header first."""
    from sklearn.utils.validation import check_is_fitted

    name = type(model).__name__
    stored = STORED.get(name)
    if stored is None or type(model) is not stored.load(name):
        raise ModelFileError(f"a {name} cannot be stored; model files hold {', '.join(STORED)}.")
    check_is_fitted(model)
    _check_fitted_values(model, stored)
    arrays = {key: array_pieces(getattr(model, key)) for key in stored.arrays}
    names = _names_of(model, vocabulary)
    _check_names(names, {"M": int(model.n_features_in_)})
    entries: dict[str, Pieces] = {f"arrays/{key}.npy": pieces for key, (_, pieces) in arrays.items()}
    entries |= {f"names/{key}.json": [to_json(words)] for key, words in names.items()}
    options = text_options if text_options is not None else getattr(model, "text_options_", None)
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "class": name,
        "parameters": parameters_to(model),
        "scalars": scalars_to(model, stored),
        "arrays": {
            key: {"shape": list(shape), "sha256": _digest(entries[f"arrays/{key}.npy"])}
            for key, (shape, _) in arrays.items()
        },
        "names": {
            key: {"length": len(words), "sha256": _digest(entries[f"names/{key}.json"])} for key, words in names.items()
        },
        "text_options": None if options is None else options.to_dict(),
        "diagnostics": diagnostics_to(getattr(model, "diagnostics_", None), stored),
        "provenance": _provenance(),
    }
    header["fingerprint"] = _fingerprint(header)
    header["checksum"] = _checksum(header)
    return {HEADER: [to_json(header)], **entries}


def _check_fitted_values(model: Any, stored: StoredClass) -> None:
    """Refuse now, while the model is there, what loading would refuse."""
    for key, rule in stored.arrays.items():
        check_values(key, np.asarray(getattr(model, key), dtype=np.float64), rule)
    if model.n_components != model.components_.shape[0]:
        raise ModelFileError(f"n_components was changed to {model.n_components} after the fit; fit the model again.")


def _names_of(model: Any, vocabulary: Sequence[str] | None) -> dict[str, list[str]]:
    given = {key: getattr(model, key, None) for key in NAMES}
    if vocabulary is not None:
        given["vocabulary_"] = vocabulary
    return {key: [str(word) for word in words] for key, words in given.items() if words is not None}


def _provenance() -> dict[str, str]:
    from polyad import __version__

    return {"polyad": __version__, "numpy": np.__version__}


def _digest(pieces: Pieces) -> str:
    sha = hashlib.sha256()
    for piece in pieces:
        sha.update(piece)
    return sha.hexdigest()


def _fingerprint(header: Mapping[str, Any]) -> str:
    return _digest([to_json({key: header.get(key) for key in _IDENTITY})])


def _checksum(header: Mapping[str, Any]) -> str:
    return _digest([to_json({key: value for key, value in header.items() if key != "checksum"})])


def _read_header(archive: Archive) -> tuple[dict[str, Any], StoredClass]:
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
    if header.get("checksum") != _checksum(header) or header.get("fingerprint") != _fingerprint(header):
        raise ModelFileError("its header was changed after it was saved; save the model again")
    name = header.get("class")
    if not isinstance(name, str) or name not in STORED:
        raise ModelFileError(f"it holds a {name!a}, which this version does not know; it knows {', '.join(STORED)}")
    return header, STORED[name]


def _read_model(archive: Archive, header: Mapping[str, Any], stored: StoredClass) -> Any:
    model_class = stored.load(header["class"])
    axes: dict[str, int] = {}
    expected = {HEADER}
    model = model_class(**parameters_from(_section(header, "parameters"), model_class))
    arrays = _section(header, "arrays")
    if set(arrays) != set(stored.arrays):
        raise ModelFileError(
            f"its arrays are {', '.join(map(ascii, sorted(arrays)))}; wanted are {', '.join(stored.arrays)}"
        )
    for key, rule in stored.arrays.items():
        data = _verified(archive, f"arrays/{key}.npy", _section(arrays, key), expected)
        setattr(model, key, checked_array(data, key, arrays[key].get("shape"), rule, axes))
    if axes.get("K") != model.n_components:
        raise ModelFileError(f"n_components is {model.n_components!a}, but its arrays have {axes.get('K')} rows")
    for key, value in scalars_from(_section(header, "scalars"), stored, axes).items():
        setattr(model, key, value)
    names = _read_names(archive, _section(header, "names"), axes, expected)
    if "feature_names_in_" in names:
        model.feature_names_in_ = np.array(names["feature_names_in_"], dtype=object)
    model.vocabulary_ = tuple(names["vocabulary_"]) if "vocabulary_" in names else None
    model.text_options_ = _read_text_options(header.get("text_options"))
    diagnostics = diagnostics_from(header.get("diagnostics"), stored)
    if diagnostics is not None:
        model.diagnostics_ = diagnostics
    unknown = sorted(set(archive.sizes) - expected)
    if unknown:
        raise ModelFileError(f"it has an entry {unknown[0]!a} that does not belong to it")
    return model


def _section(header: Mapping[str, Any], key: str) -> dict[str, Any]:
    section = header.get(key)
    if not isinstance(section, dict):
        raise ModelFileError(f"its header has no {key}")
    return section


def _verified(archive: Archive, name: str, declared: Mapping[str, Any], expected: set[str]) -> bytes:
    expected.add(name)
    data = archive.read(name)
    if hashlib.sha256(data).hexdigest() != declared.get("sha256"):
        raise ModelFileError(f"its entry {name} was changed after it was saved; save the model again")
    return data


def _read_names(
    archive: Archive, declared: Mapping[str, Any], axes: Mapping[str, int], expected: set[str]
) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for key in declared:
        if key not in NAMES:
            raise ModelFileError(f"it has a list of words {key!a} that this version does not know")
        names[key] = parse_json(_verified(archive, f"names/{key}.json", _section(declared, key), expected))
    _check_names(names, axes)
    return names


def _check_names(names: Mapping[str, Any], axes: Mapping[str, int]) -> None:
    for key, words in names.items():
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ModelFileError(f"{key} is not a list of words")
        if len(words) != axes.get(NAMES[key]):
            raise ModelFileError(f"{key} has {len(words)} words, and the model {axes.get(NAMES[key])}")
        if len(set(words)) < len(words):
            raise ModelFileError(f"{key} has the same word twice")


def _read_text_options(plain: Any) -> TextOptions | None:
    if plain is None:
        return None
    # Given as a text, stop words would be the name of another file to read.
    if not isinstance(plain, dict) or not isinstance(plain.get("stop_words"), dict | None):
        raise ModelFileError("its text options are not an object with the stop words spelled out")
    try:
        return TextOptions.from_dict(plain)
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelFileError(f"its text options cannot be used: {error}") from error
