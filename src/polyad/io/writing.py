"""A fitted model to the entries of an archive."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from polyad.base.names import checked_names
from polyad.base.words import Vocabulary, listed_words
from polyad.corpus.words.tokens import TextOptions
from polyad.io.archive import ModelFileError, Pieces
from polyad.io.arrays import array_pieces, check_values
from polyad.io.header import (
    FORMAT,
    HEADER,
    VERSION,
    check_names,
    checksum_of,
    digest_of,
    fingerprint_of,
    n_asked,
    view_named_in,
)
from polyad.io.plain import diagnostics_to, parameters_to, scalars_to, to_json
from polyad.io.registry import MAX_VIEWS, STORED, StoredClass

Words = Vocabulary | Sequence[Vocabulary | None]
Options = TextOptions | tuple[TextOptions | None, ...]


def entries_of(model: Any, vocabulary: Words | None, text_options: Options | None) -> dict[str, Pieces]:
    """Put a model into entries, the header first."""
    from sklearn.utils.validation import check_is_fitted

    name = type(model).__name__
    known = STORED.get(name)
    if known is None or type(model) is not known.load(name):
        raise ModelFileError(f"{name} cannot be stored; model files hold {', '.join(STORED)}.")
    check_is_fitted(model)
    stored = known.of_views(len(getattr(model, "components_", ()))) if known.view_arrays else known
    stored = stored.with_extra_row(any(getattr(model, key, None) is not None for key in stored.extra_row))
    if len(stored.text_options) > MAX_VIEWS:
        raise ModelFileError(f"the model has {len(stored.text_options)} views; model files hold up to {MAX_VIEWS}.")
    axes = _check_fitted_values(model, stored)
    arrays = {key: array_pieces(_value(model, key)) for key in stored.arrays}
    names = _names_of(model, stored, vocabulary)
    check_names(names, stored, axes)
    entries: dict[str, Pieces] = {f"arrays/{key}.npy": pieces for key, (_, pieces) in arrays.items()}
    entries |= {f"names/{key}.json": [to_json(words)] for key, words in names.items()}
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "class": name,
        "parameters": parameters_to(model),
        "scalars": scalars_to(model, stored),
        "arrays": {
            key: {"shape": list(shape), "sha256": digest_of(entries[f"arrays/{key}.npy"])}
            for key, (shape, _) in arrays.items()
        },
        "names": {
            key: {"length": len(words), "sha256": digest_of(entries[f"names/{key}.json"])}
            for key, words in names.items()
        },
        "text_options": _text_options_of(model, stored, text_options),
        "diagnostics": diagnostics_to(getattr(model, "diagnostics_", None), stored),
        "provenance": _provenance(),
    }
    given = _component_names(model, axes["K"])
    if given:
        header["component_names"] = {str(number): name for number, name in given.items()}
    header["fingerprint"] = fingerprint_of(header)
    header["checksum"] = checksum_of(header)
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
    axes |= {"V": len(stored.text_options)} if stored.view_arrays else {}
    if model.n_components != n_asked(axes, stored) and not (model.n_components is None and stored.any_number):
        raise ModelFileError(f"n_components was changed to {model.n_components} after the fit; fit the model again.")
    return axes


def _names_of(model: Any, stored: StoredClass, vocabulary: Words | None) -> dict[str, list[Any]]:
    given = {key: _known(model, key) for key in stored.names}
    words_of = [key for key in given if "vocabular" in key]
    given |= dict(zip(words_of, _one_for_each(words_of, vocabulary, "vocabulary")))
    found: dict[str, list[Any]] = {key: listed_words(words) for key, words in given.items() if words is not None}
    for key in stored.column_lists:
        lists: list[list[str] | None] = [None if names is None else list(names) for names in getattr(model, key)]
        found |= {key: lists} if any(lists) else {}
    return found


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
    return {view_named_in(key): value for key, value in plain.items()} if any(plain.values()) else None


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


def _provenance() -> dict[str, str]:
    from polyad import __version__

    return {"polyad": __version__, "numpy": np.__version__}


def _component_names(model: Any, n_components: int) -> dict[int, str]:
    """Return the names that a user gave to topics."""
    try:
        return checked_names(getattr(model, "names_", {}), n_components)
    except ValueError as error:
        raise ModelFileError(f"the names of topics cannot be stored: {error}") from error
