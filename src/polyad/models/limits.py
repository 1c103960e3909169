"""What a fit will need, told when the plan is known, before the work; and a bound on its memory, looked at then."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from polyad.base.terminal import about

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_limit: ContextVar[int | None] = ContextVar("polyad_memory_limit", default=None)
_hearers: ContextVar[tuple[Callable[["FitPlan"], object], ...]] = ContextVar("polyad_plan_hearers", default=())

logger = logging.getLogger("polyad")


@dataclass(frozen=True)
class FitPlan:
    """What a fit will need.

    Attributes
    ----------
    n_documents, n_words, n_topics
        Of the corpus, and of the model.
    memory_bytes
        At most, beside data that lie in memory already.
    seconds
        At most, within a factor of two, on the cores that its passes have.

    Examples
    --------
    >>> print(FitPlan(8_200_000, 141_043, 100, 3_304_827_178, 640.0))
    3.30 GB of memory, at most about 11 minutes
    """

    n_documents: int
    n_words: int
    n_topics: int
    memory_bytes: int
    seconds: float

    def __str__(self) -> str:
        return f"{_shown(self.memory_bytes)} of memory, at most about {about(self.seconds)}"


@contextmanager
def hearing_plans(hearer: Callable[[FitPlan], object]) -> Iterator[None]:
    """Have a function called with the plan of every fit in the body, before its work."""
    token = _hearers.set((*_hearers.get(), hearer))
    try:
        yield
    finally:
        _hearers.reset(token)


def tell_plan(plan: FitPlan) -> None:
    """Tell a plan to the logger and to those who want to hear it."""
    logger.info("%d documents, %d words, %d topics: %s", plan.n_documents, plan.n_words, plan.n_topics, plan)
    for hearer in _hearers.get():
        hearer(plan)


class MemoryLimitError(ValueError):
    """A fit would need more memory than it may have."""


def _shown(n_bytes: int) -> str:
    """Return a size of memory in a unit that shows something of it."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.2f} GB" if unit == "GB" else f"{round(n_bytes / size)} {unit}"
    return f"{n_bytes} bytes"


def parse_size(size: str | int) -> int:
    """Return a number of bytes.

    Examples
    --------
    >>> parse_size("4GB"), parse_size("512 MiB"), parse_size(1000)
    (4000000000, 536870912, 1000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", str(size).upper())
    if found is None or found[2] not in UNITS or float(found[1]) <= 0:
        raise ValueError(f"The memory limit is {size!r}; give a size such as '4GB' or '512MiB', or a number of bytes.")
    return int(float(found[1]) * UNITS[found[2]])


@contextmanager
def limited(size: str | int | None) -> Iterator[None]:
    """Refuse fits in the body whose plan is larger; None sets no bound of its own."""
    token = _limit.set(_limit.get() if size is None else parse_size(size))
    try:
        yield
    finally:
        _limit.reset(token)


def within_limit(planned: int, in_memory: bool) -> int:
    """Return a planned number of bytes that is within the limit of the context.

    Examples
    --------
    >>> with limited("1GB"):
    ...     within_limit(10**9, True)
    1000000000
    """
    limit = _limit.get()
    if limit is not None and planned > limit:
        where = "Index the corpus, so that documents stay on disk, or ask" if in_memory else "Ask"
        raise MemoryLimitError(
            f"This fit needs about {_shown(planned)} of memory, and may have {_shown(limit)}. {where} for "
            "fewer topics, keep fewer words, or raise the limit."
        )
    return planned
