"""How a pass over a source is run.

A pass is a pure function of a block or of a shard and of what is shared by all of them; its results are added in a
fixed tree. Where and how often a function is called, and in how many threads, never changes a bit of the answer.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from polyad.engine.blas import limit_own_thread, single_threaded_blas
from polyad.engine.blocks import Block
from polyad.engine.progress import tell
from polyad.engine.sources import Source
from polyad.engine.states import empty_like
from polyad.engine.sums import tree_sum

Part = TypeVar("Part")
Result = TypeVar("Result")
State = TypeVar("State")


class Runner(Protocol):
    """Runs passes. Functions are pure, and defined at the top of a module, so that they can be sent elsewhere."""

    @property
    def threads(self) -> "Threads":
        """The threads of this process, for loops that are no passes."""
        ...

    def total(self, function: Callable[..., Result], source: Source, /, *shared: Any) -> Result:
        """Return the sum of ``function(block, *shared)`` over the small blocks of all shards."""
        ...

    def step(
        self, function: Callable[..., tuple[Result, State]], source: Source, states: Sequence[Any], /, *shared: Any
    ) -> tuple[Result, Sequence[State]]:
        """Return the sum of the first results of ``function(shard, state, *shared)``, and the new states."""
        ...

    def rows(self, function: Callable[..., NDArray[Any]], source: Source, /, *shared: Any) -> NDArray[Any]:
        """Return the rows that ``function(block, *shared)`` gives for each block, under each other."""
        ...


class Threads:
    """Runs passes in this process, shard by shard, with the blocks of a shard in several threads.

    Parameters
    ----------
    n_threads
        How many. At most two results for each are held at any time.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> Threads(2).total(lambda block: block.rows.sum(), count_blocks([[1, 2], [3, 4]]))
    np.float64(10.0)
    """

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self._pool: ThreadPoolExecutor | None = None
        self._pool_lock = threading.Lock()

    def close(self) -> None:
        """End the threads; another pass starts new ones. :func:`use` closes what it has made itself."""
        with self._pool_lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    def _workers(self) -> ThreadPoolExecutor:
        """Return the pool, started when it is first needed: small data never need it."""
        with self._pool_lock:
            if self._pool is None:  # the thread of the caller is one of them
                self._pool = ThreadPoolExecutor(self.n_threads - 1, initializer=limit_own_thread)
            return self._pool

    @property
    def threads(self) -> "Threads":
        """The threads of this process: these."""
        return self

    def total(self, function: Callable[..., Result], source: Source, /, *shared: Any) -> Result:
        """Return the sum of ``function(block, *shared)`` over the small blocks of all shards."""
        if source.n_shards == 1:
            shard = source.shard(0)
            if self.n_threads == 1 or len(shard.blocks) == 1:
                return _total_here(function, shard, shared)
        return tree_sum(self.shard_totals(function, source, shared))

    def step(
        self, function: Callable[..., tuple[Result, State]], source: Source, states: Sequence[Any], /, *shared: Any
    ) -> tuple[Result, Sequence[State]]:
        """Return the sum of the first results of ``function(shard, state, *shared)``, and the new states."""
        kept = empty_like(states)

        def results() -> Generator[Result, None, None]:
            with closing(self.shard_steps(function, source, states, shared)) as found:
                for result, state in found:
                    kept.append(state)
                    yield result

        return tree_sum(results()), kept

    def shard_totals(
        self, function: Callable[..., Result], source: Source, shared: tuple[Any, ...], first: int = 0
    ) -> Generator[Result, None, None]:
        """Yield the total of each shard from a number on."""
        return self._each_shard(
            lambda number: self.shard_total(function, source.shard(number), shared), function, source, first
        )

    def shard_total(self, function: Callable[..., Result], shard: Block, shared: tuple[Any, ...]) -> Result:
        """Return the sum of ``function(block, *shared)`` over the small blocks of a shard."""
        return tree_sum(self.map(lambda block: function(block, *shared), shard.blocks))

    def shard_steps(
        self,
        function: Callable[..., tuple[Result, State]],
        source: Source,
        states: Sequence[Any],
        shared: tuple[Any, ...],
        first: int = 0,
    ) -> Generator[tuple[Result, State], None, None]:
        """Yield what is found in each shard from a number on, and its new state."""

        def work(number: int) -> tuple[Result, State]:
            if number + 1 < len(states) and hasattr(states, "announce"):
                states.announce(number + 1)  # the shard itself is announced to the source
            return function(source.shard(number), states[number], *shared)

        return self._each_shard(work, function, source, first)

    def rows(self, function: Callable[..., NDArray[Any]], source: Source, /, *shared: Any) -> NDArray[Any]:
        """Return the rows that ``function(block, *shared)`` gives for each block, under each other."""
        if source.n_shards == 1 and len(source.shard(0).blocks) == 1:
            return np.array(_total_here(function, source.shard(0), shared), order="C")
        out: NDArray[Any] = np.empty(0)

        def shard_rows(number: int) -> int:
            nonlocal out
            blocks = source.shard(number).blocks
            with closing(self.map(lambda block: function(block, *shared), blocks)) as results:
                for block, found in zip(blocks, results):
                    if block.start == 0:
                        out = np.empty((source.n_rows, *found.shape[1:]), found.dtype)
                    out[block.start : block.start + block.n_rows] = found
            return 0

        tree_sum(self._each_shard(shard_rows, function, source))
        return out

    def map(self, function: Callable[[Part], Result], parts: Iterable[Part]) -> Generator[Result, None, None]:
        """Yield the results of a function for some parts in their order, several at a time."""
        parts = list(parts)
        if self.n_threads == 1 or len(parts) == 1:
            yield from map(function, parts)
            return
        pool = self._workers()
        waiting: deque[_Task[Part, Result]] = deque()
        gate = _Gate()
        try:
            for part in parts:
                waiting.append(_Task(part, pool.submit(gate.run, function, part)))
                if len(waiting) >= 2 * self.n_threads:
                    yield _first_result(waiting, function)
            while waiting:
                yield _first_result(waiting, function)
        finally:
            gate.close()  # none of them may still work when the caller goes on

    def _each_shard(
        self, work: Callable[[int], Result], function: Callable[..., Any], source: Source, first: int = 0
    ) -> Generator[Result, None, None]:
        """Yield what is done with each shard, and tell how far the pass is."""
        started = time.perf_counter()
        with single_threaded_blas():
            for number in range(first, source.n_shards):
                if number + 1 < source.n_shards:
                    source.announce(number + 1)
                yield work(number)
                tell(function.__name__, number + 1, source.n_shards, time.perf_counter() - started)


def _total_here(function: Callable[..., Result], shard: Block, shared: tuple[Any, ...]) -> Result:
    """Return the sum over the blocks of the only shard, in this thread: what hands out work costs more than little."""
    started = time.perf_counter()
    with single_threaded_blas():
        found = tree_sum(function(block, *shared) for block in shard.blocks)
    tell(function.__name__, 1, 1, time.perf_counter() - started)
    return found


@dataclass
class _Task(Generic[Part, Result]):
    """A part of a loop, and its result to come."""

    part: Part
    future: "Future[Result]"

    def run_here(self, function: Callable[[Part], Result]) -> bool:
        """Take the task back from the pool and do it in this thread, if none has begun with it."""
        if not self.future.cancel():
            return False
        self.future = Future()
        try:
            self.future.set_result(function(self.part))
        except Exception as error:  # told when it is the turn of this part, as if it had run elsewhere
            self.future.set_exception(error)
        return True


def _first_result(waiting: "deque[_Task[Part, Result]]", function: Callable[[Part], Result]) -> Result:
    """Return the result of the first task; the caller works, too, on what no thread has begun with.

    To hand a task to another thread and to wake up when it is done takes as long as many tasks do.
    """
    first = waiting.popleft()
    if not first.run_here(function):
        for task in waiting:
            if first.future.done():
                break
            task.run_here(function)
    return first.future.result()


class _Gate:
    """Lets tasks begin until it is closed, and knows those that have begun.

    An interrupt may come at any place of the loop that hands out tasks, also before it has taken note of one: futures
    alone would not tell what still runs.
    """

    def __init__(self) -> None:
        self._changed, self._running, self._closed = threading.Condition(), 0, False

    def run(self, function: Callable[[Part], Result], part: Part) -> Result:
        """Call the function, if the gate is open."""
        with self._changed:
            if self._closed:
                raise CancelledError
            self._running += 1
        try:
            return function(part)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Let no task begin any more, and wait for those that have."""
        with self._changed:
            self._closed = True
            while self._running:
                self._changed.wait()


_chosen: ContextVar[Runner | None] = ContextVar("polyad_runner", default=None)
_serial = Threads(1)
_under_way: set[int] = set()  # the runners that contexts of this process have made, in whatever thread


@contextmanager
def use(runner: Runner | int | None = None) -> Iterator[Runner]:
    """Run all passes of the body, and the loops between them, with a runner.

    Parameters
    ----------
    runner
        A runner; or a number of threads of this process, as joblib counts them: -1 for one on every core, -2 for all
        cores but one; or None for the runner of the context around, or where there is none for the number of
        ``joblib.parallel_config``, or where that has none either for every core, shared with other fits of this
        process. A runner around that decides where passes run (a checkpoint, a cluster) keeps to it, whatever number is
        given. The answer of a pass does not depend on it.

    Examples
    --------
    >>> with use(2) as runner:
    ...     runner.n_threads
    2
    """
    chosen = runner_of(runner)
    is_own = chosen is not runner and chosen is not _chosen.get()
    token = _chosen.set(chosen)
    if is_own:
        _under_way.add(id(chosen))
    try:
        yield chosen
    finally:
        _under_way.discard(id(chosen))
        _chosen.reset(token)
        release = getattr(chosen, "release", None)
        if release is not None and chosen is runner:
            release()
        if is_own:
            # Left to the collector of garbage, the threads would stay for as long as anything, such as the traceback
            # of an error, still knows the runner.
            chosen.threads.close()


def in_this_thread(little: bool) -> AbstractContextManager[Any]:
    """Run the passes of the body in the thread of the caller where they would run in several and do little.

    What runs elsewhere, on a cluster or with a runner of the user's own, stays there.
    """
    return use(1) if little and type(_chosen.get()) is Threads else nullcontext()


def current_runner() -> Runner:
    """Return the runner of the context: the thread of the caller alone where none was chosen."""
    return _chosen.get() or _serial


def runner_of(runner: Runner | int | None) -> Runner:
    """Return the runner that :func:`use` would use."""
    around = _chosen.get()
    is_number = isinstance(runner, int | np.integer) and not isinstance(runner, bool) and runner != 0
    if runner is None or (is_number and getattr(around, "decides", False)):
        return around if around is not None else Threads(_configured_threads())
    if all(hasattr(runner, name) for name in ("threads", "total", "step", "rows")):
        return cast(Runner, runner)
    if isinstance(runner, int | np.integer) and not isinstance(runner, bool) and runner != 0:
        return Threads(int(runner) if runner > 0 else max(1, cores() + 1 + int(runner)))
    raise ValueError(
        f"n_jobs is {runner!r}; give a number of threads, None or -1 for all cores, or -2 for all but one."
    )


def _configured_threads() -> int:
    """Return the threads where nobody says how many: as many as joblib was told, otherwise one on every core.

    In a worker of joblib (a search over parameters, a cross-validation) it is one: the others have theirs. Fits in
    several threads share the cores: more threads than cores only wait for each other.
    """
    backend, n_jobs = get_active_backend()
    if not n_jobs:
        return 1 if getattr(backend, "nesting_level", 0) else max(1, cores() // (1 + len(_under_way)))
    return int(n_jobs) if n_jobs > 0 else max(1, cores() + 1 + int(n_jobs))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def total(function: Callable[..., Result], source: Source, /, *shared: Any) -> Result:
    """Return the sum of ``function(block, *shared)`` over the small blocks of a source, added in a fixed tree.

    The function is pure: it writes to nothing but what it returns. It should be defined at the top of a module, so
    that it can be sent to another process.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> total(lambda block, scale: (scale * block.tokens.sum(), block.n_rows), count_blocks([[1, 2], [3, 4]]), 10)
    (np.float64(100.0), 2)
    """
    return current_runner().total(function, source, *shared)


def step(
    function: Callable[..., tuple[Result, State]], source: Source, states: Sequence[Any], /, *shared: Any
) -> tuple[Result, Sequence[State]]:
    """Return the sum of what ``function(shard, state, *shared)`` finds in all shards, and the new state of each.

    The function is pure: it returns (what it found, the new state) and leaves the old state as it was, so that a
    shard whose work was lost can be done again. Inside it, loops over ranges may run in
    threads (:func:`~polyad.engine.for_each`).
    New states are kept where the old ones are: :func:`~polyad.engine.new_states` makes the first ones.
    """
    return current_runner().step(function, source, states, *shared)


def rows(function: Callable[..., NDArray[Any]], source: Source, /, *shared: Any) -> NDArray[Any]:
    """Return an array with one row for each row of the source, from the rows that a function gives for each block.

    Examples
    --------
    >>> from polyad.engine import count_blocks
    >>> rows(lambda block: block.tokens, count_blocks([[1, 2], [3, 4]]))
    array([3., 7.])
    """
    return current_runner().rows(function, source, *shared)
