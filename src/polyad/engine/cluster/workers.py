"""The workers of a Dask cluster: which are there, what was lost with those that are gone, and sums on them."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from polyad.engine.cluster.tasks import add_task, forget_task, tasks_on_host
from polyad.engine.sums import TreeSum

LOOK_SECONDS = 0.2  # between two looks at whether a worker is gone
COME_SECONDS = 30  # for which one is waited for where none is left
ATTEMPTS = 20  # losses in one pass after which workers are taken to die of the pass itself


class ClusterError(RuntimeError):
    """The cluster was lost, or has no worker that survives a pass."""


class Lost(Exception):  # noqa: N818  a signal between the parts of a pass
    """Shards whose worker is gone."""

    def __init__(self, numbers: Sequence[int]) -> None:
        super().__init__(numbers)
        self.numbers = list(numbers)


def is_loss(error: Exception) -> bool:
    """Tell an error of the cluster from one of a pass.

    A worker that was killed is still in the scheduler's list for a moment: whoever talks to it then is told of a
    connection that was refused, or of no answer.
    """
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"Lost", "CancelledError", "KilledWorker", "StateLostError", "CommClosedError"})


def wait_for_one(futures: Sequence[Any]) -> None:
    """Wait until one more of some futures is done or lost, or it is time to look after the workers."""
    from distributed import wait

    pending = [future for future in futures if not future.done()]
    if not pending:
        return
    try:
        wait(pending, timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")
    except TimeoutError:
        pass
    except Exception as error:  # a future is cancelled when what it needs went with a worker: whoever waits will see
        if not is_loss(error):
            raise


class Workers:
    """The workers that a client sees."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.gone: list[str] = []  # chains of states that nobody has in hand any more
        self.n_rebuilt = 0  # states that were lost and worked out again

    def live(self) -> dict[str, int]:
        """Return the threads of every worker that is there."""
        return dict(self.client.nthreads())

    def tasks_on_host(self, n_shards: int) -> int:
        """Return how many tasks of a pass share a machine."""
        live = self.live() or self.wait()
        hosts = {urlsplit(address).hostname for address in live}
        return tasks_on_host(n_shards, sum(live.values()), len(hosts))

    def wait(self) -> dict[str, int]:
        """Wait a while for a worker to come."""
        try:
            self.client.wait_for_workers(1, timeout=COME_SECONDS)
        except Exception as error:
            raise ClusterError(
                f"The cluster at {self.client.scheduler.address} has no worker left. Start workers, and begin again."
            ) from error
        return self.live()

    def send(self, value: Any, workers: Sequence[str] | None = None) -> Any:
        """Send a value to one worker, of some or of all: the others fetch it from there when a task needs it.

        Not with ``broadcast``: where a worker dies meanwhile, Dask's scheduler tries for ever to give it a copy.
        """
        return self.client.scatter([value], workers=workers, hash=False)[0]

    def tree_sum(self, parts: Sequence[Any]) -> Any:
        """Return the sum of some futures, added on the workers in the fixed order."""
        tree = TreeSum(together=lambda left, right: self.client.submit(add_task, left, right, pure=False))
        for part in parts:
            tree.push(part)
        return tree.result()

    def forget(self) -> None:
        """Let them forget states that nobody needs."""
        gone = tuple(self.gone)
        if gone:
            self.client.run(forget_task, gone, on_error="ignore")
            del self.gone[: len(gone)]
