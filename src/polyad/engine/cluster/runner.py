"""Passes on a Dask cluster: shards are read by the workers, states stay with them, and sums are added by a tree there.

A worker that dies is a shard that is computed again, with the same result: passes without states are left to Dask, and
a lost state is worked out anew from the shard and from what each earlier pass was given, of which the client keeps a
journal. The tree is that of :class:`~polyad.engine.sums.TreeSum`, so that the bytes are those of one machine.
"""

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from polyad.engine.cluster.steps import RemoteStates, StateChain, Step
from polyad.engine.cluster.tasks import rows_task, total_task
from polyad.engine.cluster.workers import ATTEMPTS, ClusterError, Lost, Workers, is_loss, wait_for_one
from polyad.engine.progress import tell
from polyad.engine.runners import Threads, cores
from polyad.engine.sources import Source

Result = TypeVar("Result")
State = TypeVar("State")


class DaskRunner:
    """A runner that has the workers of a Dask cluster do the passes, with the same result to the last bit.

    Shards on disk are read by the workers, which must see the same path (shared storage, or one machine); data in the
    memory of this process are sent to them, once for sums and once for steps. States (shares and responsibilities)
    stay on the worker that has the shard, on its local disk where shards are on disk. What all tasks share, such as the
    topics, is sent to one worker, and fetched from there by the others.

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
        self.workers = Workers(client)
        self._blocks: WeakKeyDictionary[Source, dict[int, Any]] = WeakKeyDictionary()

    def release(self) -> None:
        """Let workers forget states that nobody needs, and end the threads of this process."""
        with suppress(Exception):  # the cluster may be closed already
            self.workers.forget()
        self.threads.close()

    def total(self, function: Callable[..., Result], source: Source, /, *shared: Any) -> Result:
        """Return the sum of ``function(block, *shared)`` over the small blocks of all shards."""

        def attempt(data: list[Any], given: Any, host: int) -> Result:
            parts = self._submit_all(total_task, function, data, given, host)
            final = self.workers.tree_sum(parts)
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
            self.workers.forget()
            chain = states.chain if isinstance(states, RemoteStates) else StateChain(self.workers, source, list(states))
            generation = states.generation if isinstance(states, RemoteStates) else 0
            chain.refuse_branch(generation)
            chain.journal.put(function, shared)
            found = Step(self.workers, chain, generation + 1).run(function, source)
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
                places = 2 * max(1, sum(self.workers.live().values()))
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
                    wait_for_one([future])
                    if not self.workers.live():
                        self.workers.wait()
                found: Result = future.result()
                return found
            except Exception as error:
                if not last or self.client.status != "running" or not is_loss(error):
                    raise
                future = self._submit_part(function, part, shared)
        raise AssertionError("the last attempt returns or raises")

    def _again(self, attempt: Callable[..., Result], source: Source, shared: tuple[Any, ...]) -> Result:
        """Try a pass until it comes through: what was sent to workers is lost with them, and is sent again."""
        with self._sentences():
            for last in range(ATTEMPTS - 1, -1, -1):
                host, before = self.workers.tasks_on_host(source.n_shards), set(self.workers.live())
                try:
                    return attempt(self._data(source), self.workers.send(shared), host)
                except Exception as error:
                    if not last or self.client.status != "running":
                        raise
                    if not is_loss(error) and (isinstance(error, ValueError) or before <= set(self.workers.live())):
                        raise
                    self._blocks.pop(source, None)
                    self.workers.wait()
        raise AssertionError("the last attempt returns or raises")

    def _data(self, source: Source) -> list[Any]:
        """Return for every shard what a task reads it from: the source, or the shard itself where it is in memory."""
        if not source.in_memory:
            return [source] * source.n_shards
        known = self._blocks.setdefault(source, {})
        for number in range(source.n_shards):
            if number not in known or known[number].status != "finished":
                known[number] = self.workers.send(source.shard(number))
        return [known[number] for number in range(source.n_shards)]

    def _submit_all(
        self, task: Callable[..., Any], function: Callable[..., Any], data: list[Any], given: Any, host: int
    ) -> list[Any]:
        return [
            self.client.submit(task, function, part, number, given, host, pure=False)
            for number, part in enumerate(data)
        ]

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
                    raise Lost([])
            if all(future.done() for future in futures):
                return
            wait_for_one(futures)
            if not self.workers.live():
                self.workers.wait()

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
