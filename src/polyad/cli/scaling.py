"""Options for fits that are too large or too long for one process: checkpoints, clusters, a bound of the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyad.cli.terminal.errors import CallError

if TYPE_CHECKING:
    from polyad.cli.terminal.output import Output

_PANEL = "Large corpora"


@dataclass(frozen=True)
class Clustered:
    """A Dask cluster to work on."""

    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of a Dask cluster, as tcp://host:8786.", rich_help_panel=_PANEL),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="Dask processes on this machine.", min=1, rich_help_panel=_PANEL),
    ] = None

    def check_cluster(self) -> None:
        """Refuse two clusters."""
        if self.scheduler is not None and self.workers is not None:
            raise CallError("--workers starts a cluster of its own, and --scheduler names one; give one of them.")

    @property
    def on_cluster(self) -> bool:
        """Whether work is done on a Dask cluster."""
        return self.scheduler is not None or self.workers is not None

    @contextmanager
    def cluster(self) -> Iterator[None]:
        """Do the work of the body on the cluster, where one is asked for."""
        from polyad.engine import use

        with ExitStack() as stack:
            if self.on_cluster:
                stack.enter_context(use(_cluster(stack, self.scheduler, self.workers)))
            yield


@dataclass(frozen=True)
class Scaling(Clustered):
    """Where a fit runs, and what is kept of it on the way."""

    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Keep what is done in this folder, for --resume.", rich_help_panel=_PANEL),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint.", rich_help_panel=_PANEL)] = False
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Refuse a fit that needs more, as 4GB.", rich_help_panel=_PANEL),
    ] = None

    def check(self, corpora: Sequence[str]) -> None:
        """Refuse combinations that make no sense, before any work."""
        from polyad.corpus.indexing.folder import is_indexed
        from polyad.engine.checkpoints.checkpoint import has_checkpoint
        from polyad.models.limits import parse_size

        if self.resume and self.checkpoint is None:
            raise CallError("--resume goes on from a checkpoint; name it with --checkpoint FOLDER.")
        self.check_cluster()
        if self.checkpoint is not None and self.on_cluster:
            raise CallError("--checkpoint is for one machine; a cluster makes up for workers that die without it.")
        for corpus in corpora if self.on_cluster else ():
            if (corpus == "-" or Path(corpus).exists()) and not is_indexed(corpus):
                raise CallError(f"a cluster reads shards; make them first: polyad index {corpus} -o corpus.shards")
        if self.checkpoint is not None and not self.resume and has_checkpoint(self.checkpoint):
            raise CallError(
                f"{self.checkpoint} has a checkpoint; --resume goes on from it, or remove the folder to begin anew."
            )
        if self.memory is not None:
            try:
                parse_size(self.memory)
            except ValueError:
                raise CallError(f"--memory is {self.memory!r}; give a size such as 4GB or 512MiB.") from None

    @contextmanager
    def used(self, jobs: int | None, output: Output) -> Iterator[dict[str, Any]]:
        """Run the passes of the body as asked for; give the options for a fit."""
        from polyad.engine import Checkpoint, use

        with self.cluster(), ExitStack() as stack:
            if self.checkpoint is not None:
                stack.enter_context(use(jobs))
                runner = Checkpoint(self.checkpoint)
                stack.enter_context(use(runner))
                yield self._options()
                if runner.n_replayed:
                    output.note(f"Passes done before, and taken from {self.checkpoint}: {runner.n_replayed:,}.")
            else:
                yield self._options()

    def _options(self) -> dict[str, Any]:
        return {} if self.memory is None else {"memory_limit": self.memory}

    def done(self) -> None:
        """Remove the checkpoint: the model is in its file."""
        from polyad.engine.checkpoints.checkpoint import remove_checkpoint

        if self.checkpoint is not None:
            remove_checkpoint(self.checkpoint)


def _cluster(stack: ExitStack, scheduler: str | None, workers: int | None) -> Any:
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ValueError("clusters need the package distributed; pip install 'polyad[dask]' brings it.") from error
    from polyad.engine import DaskRunner

    if scheduler is None:
        made = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)
        scheduler = stack.enter_context(made)
    try:
        # Workers of this machine can be talked to without the scheduler, through which every byte would go once more.
        direct = True if workers is not None else None
        return DaskRunner(stack.enter_context(Client(scheduler, timeout="10s", direct_to_workers=direct)))
    except (OSError, ValueError) as error:
        raise ValueError(f"there is no Dask scheduler at {scheduler} ({error}).") from error
