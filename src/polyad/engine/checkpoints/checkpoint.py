"""Passes whose results are kept on disk: a run that was cut short goes on, and ends with the same bytes.

Everything between passes is a function of their results. So a run that begins anew with the results of earlier passes
at hand is soon where it was, without a word of it in the mathematics. That a pass is the one whose result is there is
not believed but compared: by its function, its data and all that it was given.
"""

import json
import shutil
import time
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from polyad.base.items import Items
from polyad.engine import blocks
from polyad.engine.checkpoints.digests import digest, digest_of_source
from polyad.engine.checkpoints.records import decoded, encoded, read_record, write_record, write_whole
from polyad.engine.disk.shards import checksum
from polyad.engine.progress import tell
from polyad.engine.runners import Runner, Threads, runner_of
from polyad.engine.sources import Source
from polyad.engine.states import save_array
from polyad.engine.sums import TreeSum

Result = TypeVar("Result")
State = TypeVar("State")

ABOUT = "checkpoint.json"
VERSION = 2
SECONDS = 30.0  # between the times that an unfinished pass is written: a small part of the work that could be lost


class CheckpointError(ValueError):
    """A folder is no checkpoint, or one of other data or options."""


class Checkpoint:
    """A runner that keeps the result of every pass in a folder, and takes it from there when it is run again.

    Inside a pass the sum so far is written every ``seconds``, after a shard. Results are kept until the folder is
    removed, states (topic shares and responsibilities) only as long as a later pass may need them. On disk that is, for
    likelihood passes, a table of words x topics for each half of a pass.

    Parameters
    ----------
    folder
        Where; it is made. With the results of an earlier run in it the run goes on from there.
    runner
        Runs the passes: threads of this process, or their number; None for the context around.
    seconds
        Between the times that an unfinished pass is written.
    durable
        Wait for the disk after every file, so that it outlives a power cut, and not only the process.

    Raises
    ------
    CheckpointError
        Where the folder holds something else, another process works with it, or a pass meets the result of another.

    Examples
    --------
    >>> import tempfile
    >>> from polyad.engine import count_blocks, total, use
    >>> folder = tempfile.mkdtemp()
    >>> for _ in range(2):  # the second time nothing is computed
    ...     with use(Checkpoint(folder)):
    ...         total(lambda block: block.rows.sum(), count_blocks([[1, 2], [3, 4]]))
    np.float64(10.0)
    np.float64(10.0)
    """

    decides = True  # a number of threads that a fit asks for does not replace it

    def __init__(
        self,
        folder: str | PathLike[str],
        runner: Runner | int | None = None,
        *,
        seconds: float = SECONDS,
        durable: bool = True,
    ) -> None:
        self.folder, self.seconds, self.durable = Path(folder).absolute(), seconds, durable
        self.runner = _local(runner_of(runner))
        self._number = 0
        self.n_replayed = 0
        self._lock: Any = _opened(self.folder)

    def release(self) -> None:
        """Let others work with the folder; another pass takes it again. :func:`use` does so at its end."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def threads(self) -> Threads:
        """The threads of this process."""
        return self.runner.threads

    def total(self, function: Callable[..., Result], source: Source, /, *shared: Any) -> Result:
        """Return the sum of ``function(block, *shared)`` over the small blocks of all shards."""
        entry = self._entry(function, source, shared, None)
        if not entry.is_done:
            first, tree = entry.begun()
            with closing(self.runner.shard_totals(function, source, shared, first)) as results:
                self._add_up(entry, tree, results, first, source.n_shards)
            entry.finish(tree.result())
        return entry.value()

    def step(
        self, function: Callable[..., tuple[Result, State]], source: Source, states: Sequence[Any], /, *shared: Any
    ) -> tuple[Result, Sequence[State]]:
        """Return the sum of the first results of ``function(shard, state, *shared)``, and the new states."""
        entry = self._entry(function, source, shared, states)
        kept: KeptStates = KeptStates(
            entry.folder / f"states-{entry.number:05d}", source.n_shards, durable=self.durable
        )
        if not entry.is_done:
            first, tree = entry.begun()
            kept.folder.mkdir(exist_ok=True)

            def results() -> Iterator[Result]:
                with closing(self.runner.shard_steps(function, source, states, shared, first)) as found:
                    for number, (result, state) in enumerate(found, first):
                        kept.put(number, state)
                        yield result

            with closing(results()) as found:  # type: ignore[type-var]
                self._add_up(entry, tree, found, first, source.n_shards)
            entry.finish(tree.result())
        if isinstance(states, KeptStates):
            states.may_go()
        return entry.value(), kept

    def rows(self, function: Callable[..., NDArray[Any]], source: Source, /, *shared: Any) -> NDArray[Any]:
        """Return the rows that ``function(block, *shared)`` gives for each block, under each other."""
        entry = self._entry(function, source, shared, None)
        if not entry.is_done:
            entry.finish(self.runner.rows(function, source, *shared))
        return entry.value()

    def _add_up(self, entry: "_Entry", tree: TreeSum, results: Any, first: int, n_shards: int) -> None:
        saved = time.perf_counter()
        for done, result in enumerate(results, first + 1):
            tree.push(result)
            if done < n_shards and time.perf_counter() - saved >= self.seconds:
                entry.save_begun(done, tree)
                saved = time.perf_counter()

    def _entry(
        self, function: Callable[..., Any], source: Source, shared: tuple[Any, ...], states: Sequence[Any] | None
    ) -> "_Entry":
        if self._lock is None:
            self._lock = _opened(self.folder)
        self._number += 1
        before = states.name if isinstance(states, KeptStates) else digest(list(states or ()))
        about = {
            "function": f"{function.__module__}.{function.__qualname__}",
            "data": digest_of_source(source),
            "given": digest((shared, before)),
        }
        entry = _Entry(self.folder, self._number, about, self.durable)
        if entry.is_done:
            self.n_replayed += 1
            tell(function.__name__, source.n_shards, source.n_shards, 0.0)
        return entry


@dataclass(frozen=True)
class _Entry:
    """A pass of a run: its number, and what makes it the same as one of an earlier run."""

    folder: Path
    number: int
    about: dict[str, str]
    durable: bool

    @property
    def file(self) -> Path:
        return self.folder / f"pass-{self.number:05d}.npz"

    @property
    def begun_file(self) -> Path:
        return self.folder / f"pass-{self.number:05d}-begun.npz"

    @property
    def is_done(self) -> bool:
        return self.file.exists()

    def finish(self, value: Any) -> None:
        write_record(self.file, (json.dumps(self.about), value), durable=self.durable)
        self.begun_file.unlink(missing_ok=True)

    def save_begun(self, done: int, tree: TreeSum) -> None:
        write_record(self.begun_file, (json.dumps(self.about), done, tuple(tree.partial)), durable=self.durable)

    def begun(self) -> tuple[int, TreeSum]:
        """Return how many shards an interrupted pass has done, and their sum."""
        if not self.begun_file.exists():
            return 0, TreeSum()
        about, done, partial = read_record(self.begun_file)
        self._compare(about)
        return done, TreeSum(partial)

    def value(self) -> Any:
        """Return the result as it is on disk, so that a run that goes on has nothing that this one has not."""
        about, value = read_record(self.file)
        self._compare(about)
        return value

    def _compare(self, text: str) -> None:
        before = json.loads(text)
        differs = [name for name in self.about if before.get(name) != self.about[name]]
        if not differs:
            return
        other = "other data" if differs == ["data"] or (self.number <= 2 and "data" in differs) else "other options"
        raise CheckpointError(
            f"{self.folder} is the checkpoint of a run with {other} (pass {self.number} differs in its "
            f"{' and '.join(differs)}). Call it as it was, or give another folder."
        )


class KeptStates(Items[Any]):
    """States of shards in files that outlive the process; they are opened as they are asked for.

    Every file has a sum, which is compared when the state of its shard is first asked for.
    """

    def __init__(self, folder: Path, n_shards: int, *, durable: bool) -> None:
        self.folder, self.name, self._n_shards, self._durable = folder, folder.name, n_shards, durable
        self._superseded = [False]
        self._compared: set[str] = set()
        weakref.finalize(self, _remove_superseded, folder, self._superseded)

    def may_go(self) -> None:
        """Let the files be removed as soon as nobody has the states in hand: a later pass has its own."""
        self._superseded[0] = True

    def put(self, number: int, state: Any) -> None:
        """Keep the state of a shard."""
        names = iter(range(1 << 30))

        def put(array: NDArray[Any]) -> tuple[str, int]:
            name = f"shard-{number:05d}-{next(names)}.npy"
            (self.folder / name).unlink(missing_ok=True)
            save_array(self.folder / name, array, durable=self._durable)
            return name, checksum(self.folder / name)

        plain = json.dumps(encoded(state, put))
        content = json.dumps({"state": plain, "sum": zlib.crc32(plain.encode())}).encode()
        write_whole(self.folder / f"shard-{number:05d}.json", lambda out: out.write(content), durable=self._durable)

    def __len__(self) -> int:
        return self._n_shards

    def item(self, place: int) -> Any:
        """Return the state of a shard."""
        file = self.folder / f"shard-{place:05d}.json"
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            self._compare(file.name, content["sum"], zlib.crc32(content["state"].encode()))
            return decoded(json.loads(content["state"]), self._mapped)
        except (OSError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError(f"{file} is damaged ({error}). Remove the checkpoint and begin anew.") from error

    def _mapped(self, named: tuple[str, int]) -> NDArray[Any]:
        name, expected = named
        if name not in self._compared:
            self._compare(name, expected, checksum(self.folder / name))
            self._compared.add(name)
        return np.asarray(np.load(self.folder / name, mmap_mode="r", allow_pickle=False))

    def _compare(self, name: str, expected: int, found: int) -> None:
        if found != expected:
            raise CheckpointError(
                f"{self.folder / name} is damaged: its sum is not the one that it was written with. Remove the "
                "checkpoint and begin anew."
            )


def _remove_superseded(folder: Path, superseded: list[bool]) -> None:
    if superseded[0]:
        shutil.rmtree(folder, ignore_errors=True)


def _local(runner: Runner) -> Threads:
    if not isinstance(runner, Threads):
        raise ValueError(
            "A checkpoint keeps passes of this process. On a cluster a worker that dies is made up for without one."
        )
    return runner


def _opened(folder: Path) -> Any:
    """Make the folder of a checkpoint, or open one, and keep others out of it; return what must be held meanwhile."""
    if folder.exists() and not folder.is_dir():
        raise CheckpointError(f"{folder} is a file. Give the name of a folder for the checkpoint.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / ABOUT).is_file():
        raise CheckpointError(f"{folder} is no checkpoint: there are other files in it. Give another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("a")
    try:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # no such locks on this system
        pass
    except OSError:
        lock.close()
        raise CheckpointError(f"Another process works with the checkpoint {folder}. Wait for it to end.") from None
    about = folder / ABOUT
    if about.is_file():
        try:
            _check_version(about)
        except CheckpointError:
            lock.close()
            raise
    else:
        content = json.dumps({"format": "polyad-checkpoint", "version": VERSION, "made_by": _made_by()}).encode()
        write_whole(about, lambda out: out.write(content))
    return lock


def _check_version(about: Path) -> None:
    try:
        found = json.loads(about.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("format") != "polyad-checkpoint":
        raise CheckpointError(f"{about} is not what a checkpoint has. Give another folder.")
    if found.get("version") != VERSION:
        raise CheckpointError(
            f"{about.parent} is a checkpoint of version {found.get('version')}, and this polyad goes on from version "
            f"{VERSION}. Remove it and begin anew."
        )
    before, now = found.get("made_by"), json.loads(json.dumps(_made_by()))
    if before != now:
        raise CheckpointError(
            f"{about.parent} was made with {_told(before)}, and this is {_told(now)}: last digits may differ. Go on "
            "with the same, or remove it and begin anew."
        )


def _made_by() -> dict[str, Any]:
    """Return what the last digits of a result may depend on, beside data and options."""
    versions = {name: version(name) for name in ("polyad", "numpy", "scipy", "numba")}
    return {**versions, "blocks": [blocks.BLOCK_CELLS, blocks.BLOCK_ROWS]}


def _told(made_by: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in dict(made_by or {}).items()) or "nothing known"


def has_checkpoint(folder: str | PathLike[str]) -> bool:
    """Tell whether a folder has a checkpoint with results in it."""
    return any(Path(folder).glob("pass-*.npz"))


def remove_checkpoint(folder: str | PathLike[str]) -> None:
    """Remove a checkpoint, and nothing else."""
    if (Path(folder) / ABOUT).is_file():
        shutil.rmtree(folder)
