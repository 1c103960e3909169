"""The model file: a fitted model as one `.polyad` file, written whole or not at all, read without running code.

The format is described in docs/model-file.md.
"""

from typing import TYPE_CHECKING

from polyad.base.lazy import lazily

if TYPE_CHECKING:
    from polyad.io.archive import MAX_BYTES, ModelFileError
    from polyad.io.model_file import ModelFile, fingerprint, load, read_model_file, save

__all__ = ["MAX_BYTES", "ModelFile", "ModelFileError", "fingerprint", "load", "read_model_file", "save"]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "polyad.io.archive": ("MAX_BYTES", "ModelFileError"),
        "polyad.io.model_file": ("ModelFile", "fingerprint", "load", "read_model_file", "save"),
    },
)
