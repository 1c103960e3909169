"""What writers and readers of model files agree on: the header, its sums, and lists of words."""

import hashlib
from collections.abc import Mapping
from typing import Any

from polyad.base.plurals import how_many
from polyad.io.archive import ModelFileError, Pieces
from polyad.io.plain import to_json
from polyad.io.registry import StoredClass

FORMAT = "polyad model"
VERSION = 1
HEADER = "header.json"

# What makes a model the model it is; the rest of the header is about the fit and the file.
_IDENTITY = ("format", "version", "class", "parameters", "scalars", "arrays", "names", "text_options")


def digest_of(pieces: Pieces) -> str:
    """Return the SHA-256 of pieces that follow one another."""
    sha = hashlib.sha256()
    for piece in pieces:
        sha.update(piece)
    return sha.hexdigest()


def fingerprint_of(header: Mapping[str, Any]) -> str:
    """Return the sum of what makes a model the model it is."""
    return digest_of([to_json({key: header.get(key) for key in _IDENTITY})])


def checksum_of(header: Mapping[str, Any]) -> str:
    """Return the sum of the whole header."""
    return digest_of([to_json({key: value for key, value in header.items() if key != "checksum"})])


def section(header: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an object of the header, or say that there is none."""
    found = header.get(key)
    if not isinstance(found, dict):
        raise ModelFileError(f"its header has no {key}")
    return found


def view_named_in(key: str) -> str:
    """Return the name of the view that an attribute such as x_text_options_ or text_options_.0 is about."""
    name, _, place = key.partition(".")
    return place or name.partition("_")[0]


def n_asked(axes: Mapping[str, int], stored: StoredClass) -> int:
    """Return the number of components that were asked for, given that of the rows."""
    return axes["K"] - bool(stored.extra_row)


def check_names(names: Mapping[str, Any], stored: StoredClass, axes: Mapping[str, int]) -> None:
    """Refuse lists that are not of different words, one for each place of their axis."""
    for key, words in names.items():
        if key in stored.column_lists:
            if not isinstance(words, list):
                raise ModelFileError(f"{key} is not a list with the names of each view's columns")
            for number, names_of_view in enumerate(words):
                if names_of_view is not None:
                    _check_words(f"{key}.{number}", names_of_view)
            continue
        _check_words(key, words)
        if len(words) != axes[stored.names[key]]:
            raise ModelFileError(f"{key} has {how_many(len(words), 'words')}, and the model {axes[stored.names[key]]}")


def _check_words(key: str, words: Any) -> None:
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ModelFileError(f"{key} is not a list of words")
    if len(set(words)) < len(words):
        raise ModelFileError(f"{key} has the same word twice")
