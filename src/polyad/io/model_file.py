"""Saving and loading: a fitted model to the entries of an archive, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

from polyad.io.archive import MAX_BYTES, ModelFileError, open_archive, write_archive
from polyad.io.header import HEADER
from polyad.io.plain import parse_json
from polyad.io.reading import read_header, read_model
from polyad.io.writing import Options, Words, entries_of

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


@dataclass(frozen=True)
class ModelFile:
    """A model and what its file says about it.

    Parameters
    ----------
    model
        The fitted model, with ``vocabulary_`` and ``text_options_`` (None where the file has none); of two views with
        ``x_vocabulary_``, ``y_vocabulary_``, ``x_text_options_`` and ``y_text_options_``; of a list of views with the
        lists ``vocabularies_`` and ``text_options_``.
    header
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
    model
        The fitted model, any of polyad's.
    path
        The file, by custom named ``.polyad``.
    vocabulary
        The word of each column, or from words to columns; None takes those that the model knows. Of several views a
        tuple of such.
    text_options
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
    write_archive(path, entries_of(model, vocabulary, text_options))


@overload
def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Model: ...


@overload
def load(path: str | os.PathLike[str], kind: type[Kind], *, max_bytes: int = MAX_BYTES) -> Kind: ...


def load(path: str | os.PathLike[str], kind: type[Any] | None = None, *, max_bytes: int = MAX_BYTES) -> Any:
    """Load a model that was saved. No code of the file is run, whatever is in it.

    Parameters
    ----------
    path
        The file.
    kind
        The class that the model must be of, such as `LDA`; a type checker then knows what is loaded.
    max_bytes
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
        raise ModelFileError(f"it holds {type(model).__name__}, and {kind.__name__} is wanted", path=str(path))
    return model


def read_model_file(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES, bare: bool = False) -> ModelFile:
    """Load a model together with the header of its file; see `load`.

    Parameters
    ----------
    path, max_bytes
        As for `load`.
    bare
        Of a model of topics, give what was fitted alone: to be looked at, without the estimator and all that it loads.
    """
    with open_archive(path, max_bytes) as archive:
        try:
            header, stored = read_header(archive)
            return ModelFile(read_model(archive, header, stored, bare=bare), header)
        except ModelFileError as error:
            raise error if error.path else ModelFileError(error.problem, path=archive.path) from error


def fingerprint(model: Any, *, vocabulary: Words | None = None, text_options: Options | None = None) -> str:
    """Return the fingerprint that the file of a model has: the same for the same model, on any machine.

    It covers the class, the parameters, the fitted arrays and numbers, the words and the text options.
    """
    header = parse_json(bytes(entries_of(model, vocabulary, text_options)[HEADER][0]))
    return str(header["fingerprint"])
