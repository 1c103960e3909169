"""Passes with states on a cluster: states stay on the workers, and those that are lost are worked out again.

A :class:`Step` is one pass over the states of a :class:`StateChain`: each shard has a worker that owns its state. Where
a worker is gone, another one takes its shards and repeats all earlier passes over them, as the journal tells them.
"""

import itertools
import time
import uuid
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from polyad.base.items import Items
from polyad.engine.checkpoints.records import read_record, write_record
from polyad.engine.cluster.tasks import StateLostError, step_task, take_task
from polyad.engine.cluster.workers import ATTEMPTS, LOOK_SECONDS, ClusterError, Lost, Workers, is_loss, wait_for_one
from polyad.engine.disk.temporary import remove_with
from polyad.engine.progress import tell
from polyad.engine.sources import Source

FETCH_SECONDS = 10.0  # after which a result on its way is looked after, and then twice as long


@dataclass
class Journal:
    """What every pass of a chain was given, on the disk of the client."""

    folder: Path
    passes: list[tuple[Callable[..., Any], Any]] = field(default_factory=list)

    def put(self, function: Callable[..., Any], shared: tuple[Any, ...]) -> None:
        """Write down what the next pass is given."""
        file = self.folder / f"{len(self.passes):05d}.npz"
        try:
            write_record(file, shared, durable=False)
            self.passes.append((function, file))
        except TypeError:  # holds what has no place in a file, and is small
            self.passes.append((function, shared))

    def get(self, generation: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return the function of a pass and what it was given."""
        function, shared = self.passes[generation - 1]
        return function, read_record(shared) if isinstance(shared, Path) else shared


class StateChain:
    """The states of a source through the passes of a fit, and the workers that have them."""

    def __init__(self, workers: Workers, source: Source, begin: list[Any]) -> None:
        self.name, self.workers, self.source, self.begin = uuid.uuid4().hex, workers, source, begin
        self.owners: list[str | None] = [None] * source.n_shards
        self.sent: dict[int, tuple[str, Any]] = {}  # shards of data in memory: the worker, and what it was sent
        self.journal = Journal(Path(mkdtemp(prefix="polyad-journal-")))
        remove_with(self, self.journal.folder)
        weakref.finalize(self, workers.gone.append, self.name)

    def refuse_branch(self, generation: int) -> None:
        """Workers keep the last states alone: a pass goes on from these, and from no earlier ones."""
        if generation != len(self.journal.passes):
            raise ValueError("States of an earlier pass are no longer kept: a step goes on from those of the last one.")


class Step:
    """One pass over the states of a chain, for as often as workers are lost in it."""

    def __init__(self, workers: Workers, chain: StateChain, generation: int) -> None:
        self.workers, self.chain, self.generation = workers, chain, generation
        self.client = workers.client
        self.host = workers.tasks_on_host(chain.source.n_shards)

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
                final = self.workers.tree_sum(ordered)
                self._watch([final], range(source.n_shards), None)
                return self._fetched(final, range(source.n_shards))
            except Lost as lost:
                for number in lost.numbers:
                    future = parts.pop(number, None)
                    if future is not None:
                        future.cancel()
                if not self.workers.live():
                    self.workers.wait()
        raise ClusterError(
            f"Workers were lost {ATTEMPTS} times in one pass. Give them more memory, or fewer threads, and begin again."
        )

    def _own(self, numbers: Sequence[int]) -> None:
        """Give every shard a worker that is there and has its state."""
        live = self.workers.live() or self.workers.wait()
        places = [address for address in sorted(live) for _ in range(live[address])]
        for number in numbers:
            if self.chain.owners[number] in live:
                continue
            if self.chain.owners[number] is None:  # neighbours together: the tree adds most sums where they are
                self.chain.owners[number] = places[number * len(places) // self.chain.source.n_shards]
            else:  # those of a worker that is gone, divided among all others
                self.chain.owners[number] = places[number % len(places)]
                self._rebuild(number)

    def _rebuild(self, number: int) -> None:
        """Work out the state of a shard anew, pass by pass, on the worker that is to have it."""
        self.workers.n_rebuilt += 1
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
        """Send a value to one of some workers; the others fetch it."""
        try:
            return self.workers.send(value, workers)
        except Exception as error:
            if self.client.status != "running":
                raise
            if set(workers) <= set(self.workers.live()) and not is_loss(error):
                raise
            time.sleep(LOOK_SECONDS)  # until the scheduler knows as well
            raise Lost([]) from error  # one of them went away meanwhile

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
            live = self.workers.live()
            lost = [number for number in numbers if self._owner(number) not in live]
            if lost:
                raise Lost(lost)
            errors = [future.exception() if future.status == "error" else None for future in failed]
            without = [error.number for error in errors if isinstance(error, StateLostError)]
            for number in without:
                self.chain.owners[number] = ""  # a worker with its address, but not with its states
            if without:
                raise Lost(without)
            for future, error in zip(failed, errors):
                if error is None or is_loss(error):
                    raise Lost(list(numbers))
                future.result()
            if all(future.done() for future in futures):
                return
            wait_for_one(futures)

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

    def __init__(self, chain: StateChain, generation: int) -> None:
        self.chain, self.generation = chain, generation

    def __len__(self) -> int:
        return self.chain.source.n_shards

    def item(self, place: int) -> Any:
        """Return the state of a shard."""
        owner, client = self.chain.owners[place], self.chain.workers.client
        return client.submit(take_task, self.chain.name, place, self.generation, workers=[owner], pure=False).result()
