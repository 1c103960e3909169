"""Temporary folders that go when what lies in them is no longer needed."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Made = TypeVar("Made")


def in_temporary_folder(make: Callable[[Path], Made]) -> Made:
    """Return what ``make(folder)`` makes, which owns the folder: it is removed with it, or when the process ends.

    On any error, Ctrl-C included, it is removed at once. The folder lies where :mod:`tempfile` puts its files: set
    the environment variable TMPDIR where that disk is too small, or is memory.
    """
    folder = Path(tempfile.mkdtemp(prefix="polyad-"))
    try:
        made = make(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    remove_with(made, folder)
    return made


def remove_with(owner: Any, folder: Path) -> None:
    """Remove a folder once its owner is no longer needed. A copy of the owner in another process owns nothing."""
    weakref.finalize(owner, _remove, folder, os.getpid())


def _remove(folder: Path, owner_process: int) -> None:
    if os.getpid() == owner_process:  # a forked process has the owner too, and must leave the folder to its parent
        shutil.rmtree(folder, ignore_errors=True)


def will_need(file: Path) -> None:
    """Have the system read a file while something else is computed, where it can."""
    if not hasattr(os, "posix_fadvise"):
        return
    try:
        opened = os.open(file, os.O_RDONLY)
    except OSError:
        return  # whoever reads it says what is wrong
    try:
        os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_WILLNEED)
    finally:
        os.close(opened)
