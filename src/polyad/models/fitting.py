"""What every estimator does around its fit: where passes run, how far it is, and nothing half done."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from typing import Any, TypeVar, cast

from polyad.base.caller import warn_caller
from polyad.base.determined import UndeterminedWarning
from polyad.engine import Checkpoint, DaskRunner, single_threaded_blas, use, working
from polyad.engine.shown import shown_fit
from polyad.models.checks import refuse_no_seed
from polyad.models.limits import limited

logger = logging.getLogger("polyad")
Fit = TypeVar("Fit", bound=Callable[..., Any])


def fitted_at_once(fit: Fit) -> Fit:
    """Make a fit that leaves an estimator fitted or as it was, whatever happens on the way.

    The work is done on a copy that knows the parameters alone; what it found is taken over in one step, so that an
    error or Ctrl-C never leaves topics of one fit beside the prior of another.

    A fit made so also takes ``checkpoint``, a folder to keep the results of passes in: a fit that was cut short goes
    on from there (see :class:`polyad.engine.Checkpoint`); ``client``, a Dask client on whose cluster passes run (see
    :class:`polyad.engine.DaskRunner`); and ``memory_limit``, which refuses a fit that is planned to need more, where
    the class says that it plans its memory (``plans_memory``).
    """

    @wraps(fit)
    def fit_whole(
        self: Any, *args: Any, checkpoint: Any = None, client: Any = None, memory_limit: Any = None, **kwargs: Any
    ) -> Any:
        fresh = object.__new__(type(self))
        fresh.__dict__.update({name: value for name, value in self.__dict__.items() if not is_fitted(name)})
        name, verbose = type(self).__name__, getattr(self, "verbose", 0)
        refuse_no_seed(getattr(self, "random_state", None))
        if memory_limit is not None and not getattr(self, "plans_memory", False):
            raise ValueError(
                f"memory_limit is {memory_limit!r}, and {name} does not plan its memory, so that no limit would be "
                "kept: leave it out. Models of topics plan theirs."
            )
        with (
            shown_fit(name, verbose),
            limited(memory_limit),
            on_cluster(client),
            running(self.n_jobs),
            keeping(checkpoint),
            working(name),
        ):
            fit(fresh, *args, **kwargs)
        fresh.names_ = {}  # a user's names belong to the components of one fit
        self.__dict__ = fresh.__dict__
        _sum_up(name, getattr(self, "diagnostics_", None), verbose)
        _warn_of_undetermined(getattr(self, "diagnostics_", None))
        return self

    return cast(Fit, fit_whole)


def _sum_up(name: str, diagnostics: Any, verbose: int) -> None:
    """Tell the logger, and with ``verbose`` standard error, how the fit went."""
    if diagnostics is None:
        return
    logger.info("%s: %r", name, diagnostics)
    if verbose:
        sys.stderr.write(f"{name}: {diagnostics!r}\n")


def _warn_of_undetermined(diagnostics: Any) -> None:
    """Warn of the components that the data do not determine, by their numbers."""
    numbers = getattr(diagnostics, "undetermined", ())
    if not numbers:
        return
    shown = ", ".join(map(str, numbers[:10])) + (", ..." if len(numbers) > 10 else "")
    certainty = diagnostics.certainty[list(numbers)]
    sure = " to ".join(sorted({f"{certainty.min():.2f}", f"{certainty.max():.2f}"}))
    warn_caller(
        f"These data do not determine {len(numbers)} of the {diagnostics.certainty.size} components (number {shown}; "
        f"certainty {sure}): others would explain them as well. Do not read much into them; ask for fewer "
        "components, or give more data. diagnostics_.certainty has the number of each.",
        UndeterminedWarning,
    )


def is_fitted(name: str) -> bool:
    """Tell an attribute that a fit has found, by the underscore that scikit-learn ends it with."""
    return name.endswith("_") and not name.startswith("_")


def on_cluster(client: Any) -> AbstractContextManager[Any]:
    """Run passes on a Dask cluster; None runs them where they would."""
    return nullcontext() if client is None else use(DaskRunner(client))


def keeping(checkpoint: Any) -> AbstractContextManager[Any]:
    """Keep the results of passes in a folder; None keeps nothing."""
    return nullcontext() if checkpoint is None else use(Checkpoint(checkpoint))


@contextmanager
def running(n_jobs: int | None) -> Iterator[None]:
    """Run passes in so many threads (see :func:`polyad.engine.use`), and BLAS in one."""
    with use(n_jobs), single_threaded_blas():
        yield
