"""Files that a command writes: checked before long work, not after it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["check_writable"]


def check_writable(path: str | None) -> None:
    """Refuse a place where no file can be written, before hours of work go into what would be written there."""
    if path is None:
        return
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file.")
    if not folder.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {folder}.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{path} cannot be written: the folder {folder} is not open for writing.")
