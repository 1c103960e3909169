"""Saving and loading: a fitted model to the entries of an archive, and back."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from polyad.base.names import checked_names
from polyad.base.words import Vocabulary, listed_words
from polyad.corpus.words.tokens import TextOptions
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
from polyad.io.registry import MAX_VIEWS, STORED, StoredClass, is_column_names

__all__ = ["FORMAT", "VERSION", "ModelFile", "fingerprint", "load", "read_model_file", "save"]

FORMAT = "polyad model"
VERSION = 1
HEADER = "header.json"
MAX_HEADER_BYTES = 16 * 2**20

# What makes a model the model it is; the rest of the header is about the fit and the file.
_IDENTITY = ("format", "version", "class", "parameters", "scalars", "arrays", "names", "text_options")


if TYPE_CHECKING:
    from polyad import models

    Model = (
        models.LDA
        | models.DiscreteICA
        | models.SingleTopic
        | models.PolylingualLDA
        | models.DiscreteCCA
        | models.NonGaussianCCA
        | models.MixedCCA
        | models.ICA
        | models.NoisyDiscreteICA
        | models.IndependentFactors
        | models.HiddenMarkov
        | models.MultiViewMixture
        | models.SphericalMixture
    )

Kind = TypeVar("Kind")
Words = Vocabulary | Sequence[Vocabulary | None]
Options = TextOptions | tuple[TextOptions | None, ...]


@dataclass(frozen=True)
class ModelFile:
    """A model and what its file says about it.

    Parameters
    ----------
    model : estimator
        The fitted model, with ``vocabulary_`` and ``text_options_`` (None where the file has none); of two views with
        ``x_vocabulary_``, ``y_vocabulary_``, ``x_text_options_`` and ``y_text_options_``; of a list of views with the
        lists ``vocabularies_`` and ``text_options_``.
    header : dict
        The header of the file.
    """

    model: Any
    header: Mapping[str, Any]


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    vocabulary: Words | None = None,
    text_options: Options | None = None,
) -> None:
    """Save a fitted model as one file, which appears only when it is complete.

    The same model gives the same bytes. Parameters about the machine (``n_jobs``, ``verbose``) and the seconds of
    the fit are not stored.

    Parameters
    ----------
    model : estimator
        The fitted model, any of polyad's.
    path : str or path
        The file, by custom named ``.polyad``.
    vocabulary : sequence of str or mapping, optional
        The word of each column, or from words to columns; None takes those that the model knows. Of several views a
        tuple of such.
    text_options : TextOptions, optional
        How the text was split, so that new text is treated alike; None takes what the model knows of its corpus. Of
        several views a tuple.

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


@overload
def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Model: ...


@overload
def load(path: str | os.PathLike[str], kind: type[Kind], *, max_bytes: int = MAX_BYTES) -> Kind: ...


def load(path: str | os.PathLike[str], kind: type[Any] | None = None, *, max_bytes: int = MAX_BYTES) -> Any:
    """Load a model that was saved. No code of the file is run, whatever is in it.

    Parameters
    ----------
    path : str or path
        The file.
    kind : class, optional
        The class that the model must be of, such as `LDA`; a type checker then knows what is loaded.
    max_bytes : int
        Larger files are refused.

    Returns
    -------
    estimator
        The fitted model, which gives the same answers as the one that was saved. Its ``vocabulary_`` and
        ``text_options_`` (of several views one for each, see `ModelFile`) are those that were saved, or None.

    Raises
    ------
    ModelFileError
        Where the file is not a model file, or is cut short, changed, too large or of a newer version, or holds a
        model of another class than wanted.
    """
    model = read_model_file(path, max_bytes=max_bytes).model
    if kind is not None and not isinstance(model, kind):
        raise ModelFileError(f"it holds a {type(model).__name__}, and a {kind.__name__} is wanted", path=str(path))
    return model


def read_model_file(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES, bare: bool = False) -> ModelFile:
    """Load a model together with the header of its file; see `load`.

    Parameters
    ----------
    path, max_bytes
        As for `load`.
    bare : bool
        Of a model of topics, give what was fitted alone: to be looked at, without the estimator and all that it loads.
    """
    with open_archive(path, max_bytes) as archive:
        try:
            header, stored = _read_header(archive)
            return ModelFile(_read_model(archive, header, stored, bare=bare), header)
        except ModelFileError as error:
            raise error if error.path else ModelFileError(error.problem, path=archive.path) from error


def fingerprint(model: Any, *, vocabulary: Words | None = None, text_options: Options | None = None) -> str:
    """Return the fingerprint that the file of a model has: the same for the same model, on any machine.

    It covers the class, the parameters, the fitted arrays and numbers, the words and the text options.
    """
    header = parse_json(bytes(_entries(model, vocabulary, text_options)[HEADER][0]))
    return str(header["fingerprint"])


def _entries(model: Any, vocabulary: Words | None, text_options: Options | None) -> dict[str, Pieces]:
    """Put a model into entries, the header first."""
    from sklearn.utils.validation import check_is_fitted

    name = type(model).__name__
    known = STORED.get(name)
    if known is None or type(model) is not known.load(name):
        raise ModelFileError(f"a {name} cannot be stored; model files hold {', '.join(STORED)}.")
    check_is_fitted(model)
    stored = known.of_views(len(getattr(model, "components_", ()))) if known.view_arrays else known
    stored = stored.with_extra_row(any(getattr(model, key, None) is not None for key in stored.extra_row))
    if len(stored.text_options) > MAX_VIEWS:
        raise ModelFileError(f"the model has {len(stored.text_options)} views; model files hold up to {MAX_VIEWS}.")
    axes = _check_fitted_values(model, stored)
    arrays = {key: array_pieces(_value(model, key)) for key in stored.arrays}
    names = _names_of(model, stored, vocabulary)
    _check_names(names, stored, axes)
    entries: dict[str, Pieces] = {f"arrays/{key}.npy": pieces for key, (_, pieces) in arrays.items()}
    entries |= {f"names/{key}.json": [to_json(words)] for key, words in names.items()}
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
        "text_options": _text_options_of(model, stored, text_options),
        "diagnostics": diagnostics_to(getattr(model, "diagnostics_", None), stored),
        "provenance": _provenance(),
    }
    given = _component_names(model, axes["K"])
    if given:
        header["component_names"] = {str(number): name for number, name in given.items()}
    header["fingerprint"] = _fingerprint(header)
    header["checksum"] = _checksum(header)
    return {HEADER: [to_json(header)], **entries}


def _value(model: Any, key: str) -> Any:
    """Return a fitted array, a field of a structure of them, or an entry of a list."""
    name, _, place = key.partition(".")
    return getattr(model, name)[int(place)] if place.isdecimal() else attrgetter(key)(model)


def _known(model: Any, key: str) -> Any:
    """Return words or text options of a model, None where it has none."""
    return _value(model, key) if hasattr(model, key.partition(".")[0]) else None


def _check_fitted_values(model: Any, stored: StoredClass) -> dict[str, int]:
    """Refuse now, while the model is there, what loading would refuse, and return the lengths of the axes."""
    axes: dict[str, int] = {}
    for key, rule in stored.arrays.items():
        try:
            values = np.asarray(_value(model, key), dtype=np.float64)
        except AttributeError:
            raise ModelFileError(
                f"the model has no {key}; its parameters were changed after the fit: fit it again."
            ) from None
        check_values(key, values, rule)
        axes |= dict(zip(rule.shape, values.shape))
    if model.n_components != _asked(axes, stored) and not (model.n_components is None and stored.any_number):
        raise ModelFileError(f"n_components was changed to {model.n_components} after the fit; fit the model again.")
    return axes


def _names_of(model: Any, stored: StoredClass, vocabulary: Words | None) -> dict[str, list[str]]:
    given = {key: _known(model, key) for key in stored.names}
    lists = [key for key in given if not is_column_names(key)]
    given |= dict(zip(lists, _one_for_each(lists, vocabulary, "vocabulary")))
    return {key: listed_words(words) for key, words in given.items() if words is not None}


def _text_options_of(model: Any, stored: StoredClass, text_options: Options | None) -> dict[str, Any] | None:
    keys = stored.text_options
    given = dict(zip(keys, _one_for_each(keys, text_options, "text_options")))
    kept = {key: given[key] if key in given else _known(model, key) for key in keys}
    if any(options is not None and not options.is_settled for options in kept.values()):
        raise ModelFileError(
            "the text options leave something to 'auto', and new text would be split in another way than that of the "
            "fit; give those that the report of the corpus has."
        )
    plain = {key: None if options is None else options.to_dict() for key, options in kept.items()}
    if len(keys) < 2:
        return plain.get("text_options_")
    return {_view(key): value for key, value in plain.items()} if any(plain.values()) else None


def _one_for_each(keys: Sequence[str], given: Any, name: str) -> Sequence[Any]:
    """Return what was given as one value per view, nothing where nothing was given."""
    if given is None:
        return ()
    if len(keys) == 1:
        return (given,)
    if len(keys) == 0 or not isinstance(given, list | tuple) or len(given) != len(keys):
        wanted = f"{len(keys)} of them, one for each view" if keys else "nothing: the model has none"
        raise ModelFileError(f"{name} must be {wanted}.")
    return given


def _view(key: str) -> str:
    """Return the name of the view that an attribute such as x_text_options_ or text_options_.0 is about."""
    name, _, place = key.partition(".")
    return place or name.partition("_")[0]


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
    stored = STORED[name]
    if stored.view_arrays:
        n_views = stored.count_views(_section(header, "arrays"))
        if not 2 <= n_views <= MAX_VIEWS:
            raise ModelFileError(f"it holds a {name} of {n_views} views; from 2 to {MAX_VIEWS} are possible")
        stored = stored.of_views(n_views)
    extra = any(key in _section(header, "arrays") for key in stored.extra_row)
    return header, stored.with_extra_row(extra)


class BareModel:
    """What was fitted, under the names that the estimator has for it; it can do nothing."""

    def __init__(self, **parameters: Any) -> None:
        self.__dict__.update({"n_components": None, **parameters})


def _read_model(archive: Archive, header: Mapping[str, Any], stored: StoredClass, *, bare: bool = False) -> Any:
    unfolds = stored.structures or stored.view_arrays or stored.diagnostics[1] == "MixtureDiagnostics"
    bare = bare and not unfolds  # what a class sets from its arrays, only the class can set
    tags = {"has_topics": "topic_shares_" in stored.arrays, "n_views": 1}
    model_class = type(header["class"], (BareModel,), tags) if bare else stored.load(header["class"])
    axes: dict[str, int] = {}
    expected = {HEADER}
    model = model_class(**parameters_from(_section(header, "parameters"), None if bare else model_class))
    arrays = _section(header, "arrays")
    if set(arrays) != set(stored.arrays):
        raise ModelFileError(
            f"its arrays are {', '.join(map(ascii, sorted(arrays)))}; wanted are {', '.join(stored.arrays)}"
        )
    values: dict[str, Any] = {}
    for key, rule in stored.arrays.items():
        data = _verified(archive, f"arrays/{key}.npy", _section(arrays, key), expected)
        values[key] = checked_array(data, key, arrays[key].get("shape"), rule, axes)
    _check_lengths(model, stored, axes)
    values |= scalars_from(_section(header, "scalars"), stored, axes)
    _set_values(model, stored, {**dict.fromkeys(STORED[header["class"]].extra_row), **values})
    names = _read_names(archive, _section(header, "names"), stored, axes, expected)
    for key in stored.names:
        if not is_column_names(key):
            _set(model, key, tuple(names[key]) if key in names else None)
        elif key in names:
            setattr(model, key, np.array(names[key], dtype=object))
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


def _component_names(model: Any, n_components: int) -> dict[int, str]:
    """Return the names that a user gave to topics."""
    try:
        return checked_names(getattr(model, "names_", {}), n_components)
    except ValueError as error:
        raise ModelFileError(f"the names of topics cannot be stored: {error}") from error


def _read_component_names(plain: Any, n_components: int) -> dict[int, str]:
    if not isinstance(plain, dict) or not all(key.isdecimal() and key.isascii() for key in plain):
        raise ModelFileError("its names of topics are not an object with a name for each number")
    try:
        return checked_names({int(key): name for key, name in plain.items()}, n_components)
    except ValueError as error:
        raise ModelFileError(f"its names of topics cannot be used: {error}") from error


def _check_lengths(model: Any, stored: StoredClass, axes: Mapping[str, int]) -> None:
    K = _asked(axes, stored)
    whole = isinstance(model.n_components, int) and not isinstance(model.n_components, bool)
    if not (whole and model.n_components == K) and not (model.n_components is None and stored.any_number):
        raise ModelFileError(f"n_components is {model.n_components!a}, but its arrays have {axes['K']} rows")
    if axes.get("L", K) < K:
        raise ModelFileError(f"it has {axes['L']} topics, fewer than the {K} that its texts share")


def _asked(axes: Mapping[str, int], stored: StoredClass) -> int:
    """Return the number of components that were asked for, given that of the rows."""
    return axes["K"] - bool(stored.extra_row)


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
    archive: Archive, declared: Mapping[str, Any], stored: StoredClass, axes: Mapping[str, int], expected: set[str]
) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for key in declared:
        if key not in stored.names:
            raise ModelFileError(f"it has a list of words {key!a} that this version does not know")
        names[key] = parse_json(_verified(archive, f"names/{key}.json", _section(declared, key), expected))
    _check_names(names, stored, axes)
    return names


def _check_names(names: Mapping[str, Any], stored: StoredClass, axes: Mapping[str, int]) -> None:
    for key, words in names.items():
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ModelFileError(f"{key} is not a list of words")
        if len(words) != axes[stored.names[key]]:
            raise ModelFileError(f"{key} has {len(words)} words, and the model {axes[stored.names[key]]}")
        if len(set(words)) < len(words):
            raise ModelFileError(f"{key} has the same word twice")


def _read_text_options(plain: Any, stored: StoredClass) -> dict[str, TextOptions | None]:
    keys = stored.text_options
    if len(keys) == 1:
        return {keys[0]: _one_text_options(plain)}
    views = {_view(key): key for key in keys}
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
