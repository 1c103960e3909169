"""Text that every machine has: the docstrings of installed Python libraries, read without importing them."""

from __future__ import annotations

import ast
import os
import sysconfig
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyad.corpus import Document

__all__ = ["Bounds", "library_docstrings"]

_SKIPPED = frozenset({"test", "tests", "testing", "_vendor", "vendor", "_vendored", "externals", "__pycache__"})


@dataclass(frozen=True)
class Bounds:
    """How much to read at most, so that the demonstration is quick on every machine."""

    files_each: int = 120  # files of a library
    # Of all libraries together.
    files: int = 3000
    megabytes: int = 14
    # Of reading; on most machines the other bounds come first, so that the same is read every time.
    seconds: float = 20.0
    file_bytes: int = 400_000  # larger files are tables rather than programs
    words: int = 20  # shorter docstrings say too little


def library_docstrings(bounds: Bounds | None = None) -> Iterator[Document]:
    """Yield the docstrings of modules, classes and functions of the libraries beside polyad, in a fixed order.

    Each is a document called ``library/module.py:name``. Files that cannot be read or parsed are passed over.
    """
    from polyad.corpus import Document

    bounds = bounds or Bounds()
    deadline = time.monotonic() + bounds.seconds
    left_files, left_bytes = bounds.files, bounds.megabytes * 10**6
    seen: set[str] = set()
    for root, file in _in_turn(_libraries(), bounds.files_each):
        source = _read(file, bounds.file_bytes)
        if source is None:
            continue
        left_files, left_bytes = left_files - 1, left_bytes - len(source)
        if left_files < 0 or left_bytes < 0 or time.monotonic() > deadline:
            return
        for name, text in _docstrings(source):
            if len(text.split()) >= bounds.words and text not in seen:
                seen.add(text)
                yield Document(f"{file.relative_to(root).as_posix()}:{name}", text)


def _libraries() -> list[tuple[Path, list[Path]]]:
    """List the files of every library: packages and modules of the standard library and of site-packages."""
    folders = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")}
    libraries: list[tuple[Path, list[Path]]] = []
    for folder in sorted(folders):
        loose: list[Path] = []
        for entry in sorted(_listed(folder)):
            if entry.name in ("site-packages", "dist-packages", "polyad") or entry.name in _SKIPPED:
                continue
            if entry.is_dir():
                libraries.append((folder, _files_of(entry)))
            elif entry.suffix == ".py":
                loose.append(entry)
        libraries.append((folder, loose))
    return [(folder, files) for folder, files in libraries if files]


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _files_of(package: Path) -> list[Path]:
    found: list[Path] = []
    for parent, folders, names in os.walk(package):
        folders[:] = [name for name in folders if name not in _SKIPPED and not name.startswith(".")]
        found += [Path(parent, name) for name in names if name.endswith(".py")]
    return sorted(found)


def _in_turn(libraries: list[tuple[Path, list[Path]]], most: int) -> Iterator[tuple[Path, Path]]:
    """Take files spread over each library, one of each library in turn, so that no library crowds out the others."""
    spread = [(root, _spread(files, most)) for root, files in libraries]
    for turn in range(most):
        for root, files in spread:
            if turn < len(files):
                yield root, files[turn]


def _spread(files: list[Path], most: int) -> list[Path]:
    """Take at most so many files at even distances."""
    taken = min(most, len(files))
    return [files[number * len(files) // taken] for number in range(taken)]


def _read(file: Path, limit: int) -> bytes | None:
    try:
        if file.stat().st_size > limit:
            return None
        return file.read_bytes()
    except OSError:
        return None


def _docstrings(source: bytes) -> Iterator[tuple[str, str]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in other people's texts
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from _docstrings_of(tree, "")


def _docstrings_of(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        text = ast.get_docstring(node)
        if text:
            yield name or "module", text
        if isinstance(node, ast.Module | ast.ClassDef):
            for child in node.body:
                if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    yield from _docstrings_of(child, f"{name}.{child.name}" if name else child.name)
