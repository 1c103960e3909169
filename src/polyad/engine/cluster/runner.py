"""Passes on a Dask cluster: shards are read by the workers, states stay with them, and sums are added by a tree there.

A worker that dies is a shard that is computed again, with the same result: passes without states are left to Dask, and
a lost state is worked out anew from the shard and from what each earlier pass was given, of which the client keeps a
journal. The tree is that of :class:`~polyad.engine.sums.TreeSum`, so that the bytes are those of one machine.
"""

import itertools
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from polyad.base.items import Items
from polyad.engine.checkpoints.records import read_record, write_record
from polyad.engine.cluster.tasks import (
    StateLostError,
    add_task,
    forget_task,
    rows_task,
    step_task,
    take_task,
    tasks_on_host,
    total_task,
)
from polyad.engine.disk.temporary import remove_with
from polyad.engine.progress import tell
from polyad.engine.runners import Threads, cores
from polyad.engine.sources import Source
from polyad.engine.sums import TreeSum

Result = TypeVar("Result")
State = TypeVar("State")

LOOK_SECONDS = 0.2  # between two looks at whether a worker is gone
FETCH_SECONDS = 10.0  # after which a result on its way is looked after, and then twice as long
ATTEMPTS = 20  # losses in one pass after which workers are taken to die of the pass itself


class ClusterError(RuntimeError):
    """The cluster was lost, or has no worker that survives a pass."""


class DaskRunner:
    """A runner that has the workers of a Dask cluster do the passes, with the same result to the last bit.

    Shards on disk are read by the workers, which must see the same path (shared storage, or one machine); data in the
    memory of this process are sent to them, once for sums and once for steps. States (shares and responsibilities)
    stay on the worker that has the shard, on its local disk where shards are on disk. What all tasks share, such as the
    topics, is broadcast.

    Parameters
    ----------
    client
        A ``distributed.Client``.

    Raises
    ------
    ClusterError
        Where the scheduler is lost, or no worker is left.

    Examples
    --------
    >>> from polyad.engine import use
    >>> def fit_on(client, model, shards):  # doctest: +SKIP
    ...     with use(DaskRunner(client)):
    ...         return model.fit(shards)
    """

    decides = True  # a number of threads that a fit asks for does not replace it

    def __init__(self, client: Any) -> None:
        self.client = client
        self.threads = Threads(cores())
        self._blocks: WeakKeyDictionary[Source, dict[int, Any]] = WeakKeyDictionary()
        self._gone: list[str] = []  # chains that nobody has in hand any more
        self.n_rebuilt = 0

    def release(self) -> None:
        """Let workers forget states that nobody needs, and end the threads of this process."""
        with suppress(Exception):  # the cluster may be closed already
            self._forget()
        self.threads.close()

    def total(self, function: Callable[..., Result], source: Source, /, *shared: Any) -> Result:
        """Return the sum of ``function(block, *shared)`` over the small blocks of all shards."""

        def attempt(data: list[Any], given: Any, host: int) -> Result:
            parts = self._submit_all(total_task, function, data, given, host)
            final = self._tree(parts)
            self._watch([*parts, final], function, source)
            found: Result = final.result()
            return found

        return self._again(attempt, source, shared)

    def rows(self, function: Callable[..., NDArray[Any]], source: Source, /, *shared: Any) -> NDArray[Any]:
        """Return the rows that ``function(block, *shared)`` gives for each block, under each other."""

        def attempt(data: list[Any], given: Any, host: int) -> NDArray[Any]:
            parts = self._submit_all(rows_task, function, data, given, host)
            self._watch(parts, function, source)
            out: NDArray[Any] = np.empty(0)
            for (first, last), part in zip(itertools.pairwise(source.edges), parts):
                found = part.result()
                if first == 0:
                    out = np.empty((source.n_rows, *found.shape[1:]), found.dtype)
                out[first:last] = found
                part.release()
            return out

        return self._again(attempt, source, shared)

    def step(
        self, function: Callable[..., tuple[Result, State]], source: Source, states: Sequence[Any], /, *shared: Any
    ) -> tuple[Result, Sequence[State]]:
        """Return the sum of the first results of ``function(shard, state, *shared)``, and the new states."""
        with self._sentences():
            self._forget()
            chain = states.chain if isinstance(states, RemoteStates) else _Chain(self, source, list(states))
            generation = states.generation if isinstance(states, RemoteStates) else 0
            chain.refuse_branch(generation)
            chain.journal.put(function, shared)
            found = _Step(self, chain, generation + 1).run(function, source)
            return found, RemoteStates(chain, generation + 1)

    def in_order(self, function: Callable[..., Result], parts: Iterable[Any], /, *shared: Any) -> Iterator[Result]:
        """Yield ``function(part, *shared)`` of parts in their order, for work that is no pass, such as counting text.

        A part is sent to a worker, or computed by one where it is lazy (as a part of a ``dask.bag``). Twice as many
        parts are on their way as there are threads, so that any number of them fits.
        """
        waiting: deque[tuple[Any, Any]] = deque()
        parts = iter(parts)
        with self._sentences():
            while True:
                places = 2 * max(1, sum(self.live().values()))
                for part in itertools.islice(parts, max(0, places - len(waiting))):
                    waiting.append((part, self._submit_part(function, part, shared)))
                if not waiting:
                    return
                part, future = waiting.popleft()
                yield self._result_of(future, function, part, shared)

    def _submit_part(self, function: Callable[..., Any], part: Any, shared: tuple[Any, ...]) -> Any:
        lazy = hasattr(part, "__dask_graph__")
        return self.client.submit(function, self.client.compute(part) if lazy else part, *shared, pure=False)

    def _result_of(self, future: Any, function: Callable[..., Result], part: Any, shared: tuple[Any, ...]) -> Result:
        """Return what a part gave; what was lost with a worker is done again."""
        for last in range(ATTEMPTS - 1, -1, -1):
            try:
                while not future.done():
                    _wait([future])
                    if not self.live():
                        self._wait_for_workers()
                found: Result = future.result()
                return found
            except Exception as error:
                if not last or self.client.status != "running" or not _is_loss(error):
                    raise
                future = self._submit_part(function, part, shared)
        raise AssertionError("the last attempt returns or raises")

    def _again(self, attempt: Callable[..., Result], source: Source, shared: tuple[Any, ...]) -> Result:
        """Try a pass until it comes through: what was sent to workers is lost with them, and is sent again."""
        with self._sentences():
            for last in range(ATTEMPTS - 1, -1, -1):
                host, before = self._tasks_on_host(source.n_shards), set(self.live())
                try:
                    (given,) = self.client.scatter([shared], broadcast=True, hash=False)
                    return attempt(self._data(source), given, host)
                except Exception as error:
                    if not last or self.client.status != "running":
                        raise
                    if not _is_loss(error) and (isinstance(error, ValueError) or before <= set(self.live())):
                        raise
                    self._blocks.pop(source, None)
                    self._wait_for_workers()
        raise AssertionError("the last attempt returns or raises")

    def _data(self, source: Source) -> list[Any]:
        """Return for every shard what a task reads it from: the source, or the shard itself where it is in memory."""
        if not source.in_memory:
            return [source] * source.n_shards
        known = self._blocks.setdefault(source, {})
        for number in range(source.n_shards):
            if number not in known or known[number].status != "finished":
                known[number] = self.client.scatter(source.shard(number), hash=False)
        return [known[number] for number in range(source.n_shards)]

    def _submit_all(
        self, task: Callable[..., Any], function: Callable[..., Any], data: list[Any], given: Any, host: int
    ) -> list[Any]:
        return [
            self.client.submit(task, function, part, number, given, host, pure=False)
            for number, part in enumerate(data)
        ]

    def _tree(self, parts: Sequence[Any]) -> Any:
        """Return the sum of some futures, added on the workers in the fixed order."""
        tree = TreeSum(together=lambda left, right: self.client.submit(add_task, left, right, pure=False))
        for part in parts:
            tree.push(part)
        return tree.result()

    def _watch(self, futures: Sequence[Any], function: Callable[..., Any], source: Source) -> None:
        """Wait for futures and tell how far the pass is; an error of one of them is raised."""
        started, done = time.perf_counter(), 0
        while True:
            finished = [future for future in futures[: source.n_shards] if future.done()]
            if len(finished) > done:
                done = len(finished)
                tell(function.__name__, done, source.n_shards, time.perf_counter() - started)
            for future in futures:
                if future.status in ("error", "cancelled", "lost"):
                    future.result()
                    raise _Lost([])
            if all(future.done() for future in futures):
                return
            _wait(futures)
            if not self.live():
                self._wait_for_workers()

    def live(self) -> dict[str, int]:
        """Return the threads of every worker that is there."""
        return dict(self.client.nthreads())

    def _tasks_on_host(self, n_shards: int) -> int:
        live = self.live() or self._wait_for_workers()
        hosts = {urlsplit(address).hostname for address in live}
        return tasks_on_host(n_shards, sum(live.values()), len(hosts))

    def _wait_for_workers(self) -> dict[str, int]:
        """Wait a while for a worker to come."""
        try:
            self.client.wait_for_workers(1, timeout=30)
        except Exception as error:
            raise ClusterError(
                f"The cluster at {self.client.scheduler.address} has no worker left. Start workers, and begin again."
            ) from error
        return self.live()

    def _forget(self) -> None:
        gone = tuple(self._gone)
        if gone:
            self.client.run(forget_task, gone, on_error="ignore")
            del self._gone[: len(gone)]

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Say what was lost where the cluster itself is gone."""
        try:
            yield
        except ClusterError:
            raise
        except Exception as error:
            if self.client.status != "running" or type(error).__name__ == "CommClosedError":
                raise ClusterError(
                    "The scheduler of the cluster was lost, and with it what the workers had done. Start a cluster, "
                    "and begin again."
                ) from error
            if type(error).__name__ == "KilledWorker":
                raise ClusterError(
                    f"Workers died again and again of the same task ({error}). Give them more memory, or fewer threads."
                ) from error
            raise


class _Lost(Exception):  # noqa: N818  a signal between the parts of a pass
    """Shards whose worker is gone."""

    def __init__(self, numbers: Sequence[int]) -> None:
        super().__init__(numbers)
        self.numbers = list(numbers)


def _is_loss(error: Exception) -> bool:
    """Tell an error of the cluster from one of a pass.

    A worker that was killed is still in the scheduler's list for a moment: whoever talks to it then is told of a
    connection that was refused, or of no answer.
    """
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"_Lost", "CancelledError", "KilledWorker", "StateLostError", "CommClosedError"})


def _wait(futures: Sequence[Any]) -> None:
    from distributed import wait

    pending = [future for future in futures if not future.done()]
    if pending:
        with suppress(TimeoutError):
            wait(pending, timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")


@dataclass
class _Journal:
    """What every pass of a chain was given, on the disk of the client."""

    folder: Path
    passes: list[tuple[Callable[..., Any], Any]] = field(default_factory=list)

    def put(self, function: Callable[..., Any], shared: tuple[Any, ...]) -> None:
        file = self.folder / f"{len(self.passes):05d}.npz"
        try:
            write_record(file, shared, durable=False)
            self.passes.append((function, file))
        except TypeError:  # holds what has no place in a file, and is small
            self.passes.append((function, shared))

    def get(self, generation: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        function, shared = self.passes[generation - 1]
        return function, read_record(shared) if isinstance(shared, Path) else shared


class _Chain:
    """The states of a source through the passes of a fit, and the workers that have them."""

    def __init__(self, runner: DaskRunner, source: Source, begin: list[Any]) -> None:
        self.name, self.runner, self.source, self.begin = uuid.uuid4().hex, runner, source, begin
        self.owners: list[str | None] = [None] * source.n_shards
        self.sent: dict[int, tuple[str, Any]] = {}  # shards of data in memory: the worker, and what it was sent
        self.journal = _Journal(Path(mkdtemp(prefix="polyad-journal-")))
        remove_with(self, self.journal.folder)
        weakref.finalize(self, runner._gone.append, self.name)

    def refuse_branch(self, generation: int) -> None:
        """Workers keep the last states alone: a pass goes on from these, and from no earlier ones."""
        if generation != len(self.journal.passes):
            raise ValueError("States of an earlier pass are no longer kept: a step goes on from those of the last one.")


class _Step:
    """One pass over the states of a chain, for as often as workers are lost in it."""

    def __init__(self, runner: DaskRunner, chain: _Chain, generation: int) -> None:
        self.runner, self.chain, self.generation = runner, chain, generation
        self.client = runner.client
        self.host = runner._tasks_on_host(chain.source.n_shards)

    def run(self, function: Callable[..., Any], source: Source) -> Any:
        """Return the sum of what was found."""
        parts: dict[int, Any] = {}
        for _ in range(ATTEMPTS):
            try:
                missing = [number for number in range(source.n_shards) if number not in parts]
                self._own(missing)
                if missing:
                    given = self._given(self.generation, sorted({self._owner(number) for number in missing}))
                for number in missing:
                    parts[number] = self._submit(number, self.generation, given)
                ordered = [parts[number] for number in range(source.n_shards)]
                self._watch(ordered, range(source.n_shards), function)
                final = self.runner._tree(ordered)
                self._watch([final], range(source.n_shards), None)
                return self._fetched(final, range(source.n_shards))
            except _Lost as lost:
                for number in lost.numbers:
                    future = parts.pop(number, None)
                    if future is not None:
                        future.cancel()
                if not self.runner.live():
                    self.runner._wait_for_workers()
        raise ClusterError(
            f"Workers were lost {ATTEMPTS} times in one pass. Give them more memory, or fewer threads, and begin again."
        )

    def _own(self, numbers: Sequence[int]) -> None:
        """Give every shard a worker that is there and has its state."""
        live = self.runner.live() or self.runner._wait_for_workers()
        places = [address for address in sorted(live) for _ in range(live[address])]
        for number in numbers:
            if self.chain.owners[number] in live:
                continue
            was_there = self.chain.owners[number] is not None
            self.chain.owners[number] = places[number % len(places)]
            if was_there:
                self._rebuild(number)

    def _rebuild(self, number: int) -> None:
        """Work out the state of a shard anew, pass by pass, on the worker that is to have it."""
        self.runner.n_rebuilt += 1
        for generation in range(1, self.generation):
            future = self._submit(number, generation, self._given(generation, [self._owner(number)]))
            self._watch([future], [number], None)

    def _owner(self, number: int) -> str:
        owner = self.chain.owners[number]
        assert owner is not None
        return owner

    def _given(self, generation: int, workers: list[str]) -> Any:
        return self._sent(self.chain.journal.get(generation)[1], workers)

    def _sent(self, value: Any, workers: list[str]) -> Any:
        """Send a value to some workers."""
        try:
            return self.client.scatter([value], workers=workers, broadcast=True, hash=False)[0]
        except Exception as error:
            if self.client.status != "running":
                raise
            if set(workers) <= set(self.runner.live()) and not _is_loss(error):
                raise
            time.sleep(LOOK_SECONDS)  # until the scheduler knows as well
            raise _Lost([]) from error  # one of them went away meanwhile

    def _submit(self, number: int, generation: int, given: Any) -> Any:
        function, source, owner = self.chain.journal.get(generation)[0], self.chain.source, self._owner(number)
        data: Any = self._block(number, owner) if source.in_memory else source
        return self.client.submit(
            step_task,
            function,
            data,
            number,
            given,
            self.host,
            self.chain.name,
            generation,
            self.chain.begin[number],
            workers=[owner],
            allow_other_workers=False,  # only this one has the state
            pure=False,
        )

    def _block(self, number: int, owner: str) -> Any:
        """Return a shard of data in memory as its worker has it: sent there once, and again where it was lost."""
        known = self.chain.sent.get(number)
        if known is None or known[0] != owner or known[1].status != "finished":
            known = self.chain.sent[number] = owner, self._sent(self.chain.source.shard(number), [owner])
        return known[1]

    def _watch(self, futures: Sequence[Any], numbers: Sequence[int], function: Callable[..., Any] | None) -> None:
        """Wait for futures; where a worker of one of the shards is gone, tell which."""
        started, done = time.perf_counter(), 0
        while True:
            if function is not None:
                finished = sum(future.done() for future in futures)
                if finished > done:
                    done = finished
                    tell(function.__name__, done, len(futures), time.perf_counter() - started)
            failed = [future for future in futures if future.status in ("error", "cancelled", "lost")]
            live = self.runner.live()
            lost = [number for number in numbers if self._owner(number) not in live]
            if lost:
                raise _Lost(lost)
            errors = [future.exception() if future.status == "error" else None for future in failed]
            without = [error.number for error in errors if isinstance(error, StateLostError)]
            for number in without:
                self.chain.owners[number] = ""  # a worker with its address, but not with its states
            if without:
                raise _Lost(without)
            for future, error in zip(failed, errors):
                if error is None or _is_loss(error):
                    raise _Lost(list(numbers))
                future.result()
            if all(future.done() for future in futures):
                return
            _wait(futures)

    def _fetched(self, future: Any, numbers: Sequence[int]) -> Any:
        """Return a result that is there; one that went with its worker cannot come again without the states."""
        for attempt in itertools.count():
            try:
                return future.result(timeout=FETCH_SECONDS * 2**attempt)
            except TimeoutError:
                self._watch([future], numbers, None)
        raise AssertionError("counting does not end")


class RemoteStates(Items[Any]):
    """States that lie on the workers of a cluster."""

    def __init__(self, chain: _Chain, generation: int) -> None:
        self.chain, self.generation = chain, generation

    def __len__(self) -> int:
        return self.chain.source.n_shards

    def item(self, place: int) -> Any:
        """Return the state of a shard."""
        owner, client = self.chain.owners[place], self.chain.runner.client
        return client.submit(take_task, self.chain.name, place, self.generation, workers=[owner], pure=False).result()
