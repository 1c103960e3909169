"""The model file: a fitted model as one `.polyad` file, written whole or not at all, read without running code.

The format is described in docs/model-file.md.
"""

from typing import TYPE_CHECKING, Any

from polyad.base.lazy import importer

if TYPE_CHECKING:
    from polyad.io.archive import MAX_BYTES, ModelFileError
    from polyad.io.model_file import ModelFile, fingerprint, load, read_model_file, save

__all__ = ["MAX_BYTES", "ModelFile", "ModelFileError", "fingerprint", "load", "read_model_file", "save"]

_HOMES = {
    "MAX_BYTES": "polyad.io.archive",
    "ModelFile": "polyad.io.model_file",
    "ModelFileError": "polyad.io.archive",
    "fingerprint": "polyad.io.model_file",
    "load": "polyad.io.model_file",
    "read_model_file": "polyad.io.model_file",
    "save": "polyad.io.model_file",
}


def __getattr__(name: str) -> Any:
    return importer(__name__, _HOMES)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
