"""Files that are either whole or not there, one alone or several together."""

import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

_SPOOLED_BYTES = 1 << 24
# What the system itself calls open files by: a file behind such a name is written through it, and never replaced.
_HANDLES = ("/dev/fd/", "/dev/std", "/proc/")
# Ctrl-C first: its handler is put back last, when nothing is left to be done.
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only when it is complete and on the disk.

    On any error, Ctrl-C included, what was there before stays as it was and nothing is left behind. A link is
    followed, and keeps pointing to where it points. A pipe or a device gets all bytes at the end.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "a.txt")
    >>> with atomic_write(file) as out:
    ...     _ = out.write(b"whole")
    >>> file.read_bytes()
    b'whole'
    """
    with atomic_writes([path]) as (out,):
        yield out


@contextmanager
def atomic_writes(
    paths: Sequence[str | os.PathLike[str]], check: Callable[[], None] | None = None
) -> Iterator[tuple[BinaryIO, ...]]:
    """Open files that take their names together, when all of them are complete; see `atomic_write`.

    Parameters
    ----------
    paths
        The files. Those that are pipes or devices are written in their order, before any file takes its name.
    check
        Called before the first file takes its name, while no other process that writes to the same folder by this
        function is at this step; an error of it leaves everything as it was.
    """
    with ExitStack() as stack:
        parts = [stack.enter_context(_Part.begin(path)) for path in paths]
        yield tuple(part.out for part in parts)
        for part in parts:
            part.complete()
        stack.enter_context(_alone([part.target.parent for part in parts if part.temporary is not None]))
        if check is not None:
            check()
        _undisturbed(lambda: _rename(parts))


class _Part:
    """A file that is being written, under a name that is not its own."""

    def __init__(self, target: Path, temporary: Path | None, out: BinaryIO) -> None:
        self.target = target
        self.temporary = temporary  # None of a pipe or a device
        self.out = out

    @classmethod
    @contextmanager
    def begin(cls, path: str | os.PathLike[str]) -> "Iterator[_Part]":
        """Open it, and remove what is left of it at the end."""
        if is_written_through(path):
            with tempfile.SpooledTemporaryFile(_SPOOLED_BYTES) as spooled:
                yield cls(Path(path), None, cast(BinaryIO, spooled))
            return
        target = Path(os.path.realpath(path))
        # Short, since a name that only just fits would not fit with an ending.
        try:
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:20]}.", suffix=".part")
        except OSError as error:
            error.filename = os.fspath(path)  # and not a name that nobody has asked for
            raise
        try:
            with os.fdopen(handle, "wb") as out:
                yield cls(target, Path(name), cast(BinaryIO, out))
        finally:
            for left in (name, f"{name}.before"):
                with suppress(OSError):
                    os.unlink(left)

    def complete(self) -> None:
        """Bring all bytes to the disk, or to the device."""
        if self.temporary is None:
            self.out.seek(0)
            with open(self.target, "wb") as device:
                shutil.copyfileobj(self.out, device)
            return
        self.out.flush()
        os.fsync(self.out.fileno())
        self.out.close()
        os.chmod(self.temporary, _rights(self.target))


def is_written_through(path: str | os.PathLike[str]) -> bool:
    """Tell whether a name stands for a pipe, a device or an open file, which cannot be replaced.

    Examples
    --------
    >>> is_written_through("/dev/null"), is_written_through("no-such-file")
    (True, False)
    """
    if os.path.abspath(path).startswith(_HANDLES):
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


def _rights(target: Path) -> int:
    """Return the rights that a plain open would leave: mkstemp makes files for the owner alone."""
    with suppress(OSError):
        return stat.S_IMODE(os.stat(target).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _rename(parts: Sequence[_Part]) -> None:
    """Let all files take their names; where one cannot, those that have done so give them back."""
    with ExitStack() as undo:
        for part in parts:
            if part.temporary is None:
                continue
            if len(parts) > 1:
                undo.callback(_put_back, part.target, _kept(part.target, part.temporary))
            os.replace(part.temporary, part.target)
        undo.pop_all()


def _kept(target: Path, temporary: Path) -> Path | None:
    """Keep what has the name now under another one."""
    before = Path(f"{temporary}.before")
    try:
        os.link(target, before)
    except FileNotFoundError:
        return None
    except OSError:  # a disk without links
        shutil.copy2(target, before)
    return before


def _put_back(target: Path, before: Path | None) -> None:
    if before is not None:
        os.replace(before, target)
    else:
        with suppress(FileNotFoundError):
            os.unlink(target)


@contextmanager
def _alone(folders: Sequence[Path]) -> Iterator[None]:
    """Wait until no other process is at this step with one of the folders."""
    with ExitStack() as stack:
        try:
            import fcntl
        except ImportError:  # no such locks on this system
            yield
            return
        for folder in sorted(set(folders)):
            with suppress(OSError):  # a disk without locks
                handle = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _undisturbed(work: Callable[[], None]) -> None:
    """Do a little work whole, and obey only then the signals that came meanwhile."""
    came: list[int] = []
    before: dict[int, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():  # no other thread is ever interrupted
            for number in _SIGNALS:
                handler = signal.getsignal(number)
                if handler not in (None, signal.SIG_IGN):
                    signal.signal(number, lambda number, _: came.append(number))
                    before[number] = handler
        work()
    finally:
        for number in reversed(before):
            signal.signal(number, before[number])
    for number in came[:1]:
        signal.raise_signal(number)
