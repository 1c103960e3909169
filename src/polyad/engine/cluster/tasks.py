"""What workers of a cluster do for a pass. Nothing here needs Dask: these are functions that are sent to them."""

import math
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyad.engine.blas import single_threaded_blas
from polyad.engine.blocks import Block
from polyad.engine.cluster.allocator import keep_freed_memory
from polyad.engine.runners import Threads, cores, use
from polyad.engine.sources import Source
from polyad.engine.states import StateStore
from polyad.engine.sums import add


class StateLostError(RuntimeError):
    """A worker was asked to go on from a state that it does not have: it was started anew under the same address."""

    def __init__(self, number: int, generation: int) -> None:
        super().__init__(number, generation)
        self.number = number

    def __str__(self) -> str:
        return f"state {self.args[1]} of shard {self.number} is not on this worker"


class _Kept:
    """The states that this worker has: for every chain and shard those of the last two passes.

    A pass may be asked for again, when what it found was lost with another worker, and then needs the state before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: dict[tuple[str, int], dict[int, Any]] = {}

    def put(self, chain: str, number: int, generation: int, state: Any, *, on_disk: bool) -> None:
        held: Any = state
        if on_disk:
            held = StateStore()
            held.append(state)
        with self._lock:
            kept = self._states.setdefault((chain, number), {})
            for old in [before for before in kept if before < generation - 1]:
                del kept[old]
            kept[generation] = held

    def get(self, chain: str, number: int, generation: int) -> Any:
        with self._lock:
            held = self._states.get((chain, number), {}).get(generation, _MISSING)
        if held is _MISSING:
            raise StateLostError(number, generation)
        return held[0] if isinstance(held, StateStore) else held

    def forget(self, chains: Iterable[str]) -> None:
        gone = set(chains)
        with self._lock:
            for key in [key for key in self._states if key[0] in gone]:
                del self._states[key]


_MISSING = object()
_kept = _Kept()


@contextmanager
def _running(tasks_on_host: int) -> Iterator[Any]:
    """Run on this worker's share of the cores of its machine, BLAS on one thread."""
    keep_freed_memory()
    with use(max(1, cores() // max(1, tasks_on_host))) as runner, single_threaded_blas():
        yield runner


def _shard(data: Source | Block, number: int) -> Block:
    return data if isinstance(data, Block) else data.shard(number)


def total_task(
    function: Callable[..., Any], data: Source | Block, number: int, shared: tuple[Any, ...], tasks_on_host: int
) -> Any:
    """Return the total of a shard."""
    with _running(tasks_on_host) as runner:
        return runner.threads.shard_total(function, _shard(data, number), shared)


def rows_task(
    function: Callable[..., NDArray[Any]],
    data: Source | Block,
    number: int,
    shared: tuple[Any, ...],
    tasks_on_host: int,
) -> NDArray[Any]:
    """Return the rows of a shard."""
    with _running(tasks_on_host) as runner:
        threads: Threads = runner.threads
        return np.concatenate(list(threads.map(lambda block: function(block, *shared), _shard(data, number).blocks)))


def step_task(
    function: Callable[..., Any],
    data: Source | Block,
    number: int,
    shared: tuple[Any, ...],
    tasks_on_host: int,
    chain: str,
    generation: int,
    begin: Any,
) -> Any:
    """Go on with the state that this worker has of a shard, keep the new one, and return what was found."""
    state = begin if generation == 1 else _kept.get(chain, number, generation - 1)
    with _running(tasks_on_host):
        result, new = function(_shard(data, number), state, *shared)
    _kept.put(chain, number, generation, new, on_disk=not isinstance(data, Block))
    return result


def add_task(left: Any, right: Any) -> Any:
    """Return left + right, and leave both as they are: another task may still need them, or this one be run again."""
    return add(_copied(left), right)


def _copied(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_copied(part) for part in value)
    return value.copy() if isinstance(value, np.ndarray) else value


def take_task(chain: str, number: int, generation: int) -> Any:
    """Return a state that this worker has."""
    return _kept.get(chain, number, generation)


def forget_task(chains: tuple[str, ...]) -> None:
    """Let go of all states of some chains."""
    _kept.forget(chains)


def tasks_on_host(n_shards: int, n_threads: int, n_hosts: int) -> int:
    """Return how many tasks run on a machine at the same time.

    Examples
    --------
    >>> tasks_on_host(1, 4, 1), tasks_on_host(100, 4, 2)
    (1, 2)
    """
    return math.ceil(min(n_shards, n_threads) / max(1, n_hosts))
