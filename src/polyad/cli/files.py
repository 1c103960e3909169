"""Files that a command writes: checked before long work, not after it."""

import os
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

from polyad.cli.terminal.errors import CallError


def check_output(
    path: str | None, inputs: Iterable[str | None] = (), *, pattern: str | None = None, beside: bool = True
) -> None:
    """Refuse a place where no file can be written, or whose file is still needed, before hours of work go into it.

    Parameters
    ----------
    path
        The file to be written; None is none.
    inputs
        What the command reads: files, folders and ``-``. Writing must not replace any of it.
    pattern
        Of a folder, the names of the files that are read.
    beside
        Whether lists of words and ids beside the inputs count as read, too.
    """
    if path is None:
        return
    if path == "-":
        raise CallError("the output is -, and this is not written to standard output; give the name of a file.")
    target = Path(os.path.realpath(path))
    _check_place(path, target)
    for name in inputs:
        if name is not None and _is_part_of(target, name, pattern, beside):
            raise CallError(f"{path} is read by this very command ({name}), and would be lost; write to another file.")


def file_note(path: str) -> str:
    """Return the name of a file that was written, with its size where it has one."""
    from polyad.cli.terminal.summary import size

    return f"{path} ({size(Path(path).stat().st_size)})" if Path(path).is_file() else path


def _check_place(path: str, target: Path) -> None:
    folder = target.parent
    try:
        target.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # a name that is too long, or no name at all
        reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"{_shortened(path)} cannot be written: {reason.lower()}.") from error
    if target.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file.")
    if not folder.is_dir() and not target.exists():
        raise ValueError(f"{path} cannot be written: there is no folder {folder}.")
    if target.is_file() and not os.access(target, os.W_OK):
        raise ValueError(f"{path} cannot be written: the file is not open for writing.")
    if not os.access(folder if not target.exists() or target.is_file() else target, os.W_OK):
        raise ValueError(f"{path} cannot be written: the folder {folder} is not open for writing.")


def _is_part_of(target: Path, name: str, pattern: str | None, beside: bool) -> bool:
    if not target.is_file():
        return False
    if name == "-":
        try:
            return os.path.samestat(os.fstat(0), target.stat())
        except OSError:
            return False
    source = Path(name)
    if source.is_dir():
        own = target.is_relative_to(source.resolve()) and not target.name.startswith(".")
        return own and (pattern is None or fnmatch(target.name, pattern))
    return any(file.exists() and target.samefile(file) for file in (source, *(_beside(name) if beside else ())))


def _beside(name: str) -> list[Path]:
    """Return the lists of words and ids that are read with counts."""
    from polyad.corpus.formats.sidecars import find_ids, find_vocabulary

    return [file for file in (find_vocabulary(name), find_ids(name)) if file is not None]


def _shortened(path: str) -> str:
    return path if len(path) <= 60 else f"{path[:40]}..."
