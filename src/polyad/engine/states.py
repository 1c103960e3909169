"""What is kept for every shard from one pass to the next: in memory, or on disk where the shards are not in memory."""

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.base.items import Items
from polyad.engine.disk.temporary import remove_with, will_need
from polyad.engine.sources import Source


def new_states(source: Source, default: Any = None) -> "list[Any] | StateStore":
    """Return a state for every shard, to begin a run of :func:`~polyad.engine.step` with.

    Parameters
    ----------
    source
        The shards.
    default
        The state of each; see :class:`StateStore` for what it can be.

    Returns
    -------
    list or StateStore
        A list where the source is in memory, and states on disk where it is not.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> new_states(count_blocks([[1, 2], [3, 4]]))
    [None]
    """
    if source.in_memory:
        return [default] * source.n_shards
    store = StateStore()
    for _ in range(source.n_shards):
        store.append(default)
    return store


def empty_like(states: Sequence[Any]) -> "list[Any] | StateStore":
    """Return a place for new states, of the same kind as some others."""
    return StateStore() if isinstance(states, StateStore) else []


class StateStore(Items[Any]):
    """States whose arrays lie in a temporary folder, which goes with the store.

    A pass writes its states to a new store, so that the old one is whole until nobody needs it: a pass that fails
    leaves the states it began with. An array is read as a part of its file that cannot be written to.

    A state is None, a number, a string, a NumPy array, or a dataclass or a tuple of such.

    Examples
    --------
    >>> store = StateStore()
    >>> store.append((np.arange(3.0), None))
    >>> len(store), store[0]
    (1, (array([0., 1., 2.]), None))
    """

    def __init__(self) -> None:
        self.folder = Path(mkdtemp(prefix="polyad-states-"))
        remove_with(self, self.folder)
        self._states: list[Any] = []
        self._names = itertools.count()

    def __len__(self) -> int:
        return len(self._states)

    def item(self, place: int) -> Any:
        """Return the state of a shard."""
        return _loaded(self._states[place])

    def append(self, state: Any) -> None:
        """Keep the state of the next shard."""
        self._states.append(self._saved(state))

    def announce(self, number: int) -> None:
        """Have the system read the arrays of a state while something else is computed, where it can."""
        for file in _files(self._states[number]):
            will_need(file)

    def _saved(self, value: Any) -> Any:
        """Return a value with a file in the place of each array."""
        if isinstance(value, np.ndarray):
            file = self.folder / f"{next(self._names):08d}.npy"
            save_array(file, value)
            return _File(file)
        if is_dataclass(value) and not isinstance(value, type):
            parts = {field.name: self._saved(getattr(value, field.name)) for field in fields(value) if field.init}
            return _Record(type(value), parts)
        if isinstance(value, tuple):
            return _Items(type(value), [self._saved(part) for part in value])
        if value is None or isinstance(value, bool | int | float | str | np.generic):
            return value
        raise TypeError(
            f"A state holds a {type(value).__name__}, which has no place on disk. Keep arrays, numbers, strings and "
            "None, in tuples and dataclasses."
        )


def save_array(file: Path, array: NDArray[Any], *, durable: bool = False) -> None:
    """Write an array to a new file, or give the file that it came from another name.

    ``durable`` waits until it is on the disk, for what must outlive a power cut.
    """
    if _linked(array, file):
        return
    with file.open("wb") as out:
        np.save(out, array, allow_pickle=False)
        if durable:
            out.flush()
            os.fsync(out.fileno())


def _linked(array: NDArray[Any], file: Path) -> bool:
    """Give the file of an array that came from one another name, so that what does not change is not written again."""
    mapped = array.base
    if not isinstance(mapped, np.memmap) or mapped.shape != array.shape or mapped.dtype != array.dtype:
        return False
    if mapped.filename is None or Path(mapped.filename).suffix != ".npy":
        return False
    try:
        os.link(mapped.filename, file)
    except OSError:  # on another disk, or one that knows no links
        return False
    return True


@dataclass(frozen=True)
class _File:
    path: Path


@dataclass(frozen=True)
class _Record:
    kind: type[Any]
    parts: dict[str, Any]


@dataclass(frozen=True)
class _Items:
    kind: type[Any]
    parts: list[Any]


def _files(saved: Any) -> Iterator[Path]:
    if isinstance(saved, _File):
        yield saved.path
    elif isinstance(saved, _Record | _Items):
        for part in saved.parts.values() if isinstance(saved, _Record) else saved.parts:
            yield from _files(part)


def _loaded(saved: Any) -> Any:
    """Return a state as it was, its arrays as parts of their files."""
    if isinstance(saved, _File):
        return np.asarray(np.load(saved.path, mmap_mode="r", allow_pickle=False))
    if isinstance(saved, _Record):
        return saved.kind(**{name: _loaded(part) for name, part in saved.parts.items()})
    if isinstance(saved, _Items):
        parts = [_loaded(part) for part in saved.parts]
        return saved.kind(*parts) if hasattr(saved.kind, "_fields") else saved.kind(parts)
    return saved
