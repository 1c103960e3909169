"""How far work is: runners tell what they have done, and whoever wants to know listens.

Two levels. A *pass report* (:func:`listening`) is what a runner tells when a shard is done. *Work*, such as a fit, is
made of named stages with a plan of what each should cost; it turns passes into a fraction and a time left, and tells
them in :class:`Report` (:func:`following`). The mathematics knows nothing of either: a fit names its stages, and
likelihood passes say which they are.

Listeners are called in the thread that does the work. What they raise ends it.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

ENOUGH_TO_TELL = 0.1  # of the work: from here on the pace of a stage says more than that of all work before it
SHOWN = {"read": "reading", "polish": "likelihood"}  # how stages are called where their name is no plain word
SHOWN_ROUNDS = {"polish": "likelihood pass", "": "pass"}

logger = logging.getLogger("polyad")


@dataclass(frozen=True)
class PassReport:
    """What a runner tells when a shard is done.

    Attributes
    ----------
    name
        Of the function that the pass runs.
    done, n_shards
        Shards done, and shards in all.
    seconds
        Since the pass began.
    """

    name: str
    done: int
    n_shards: int
    seconds: float

    @property
    def finished(self) -> bool:
        """Whether that was the last shard."""
        return self.done == self.n_shards


@dataclass(frozen=True)
class Planned:
    """What a stage is expected to take.

    Attributes
    ----------
    cost
        Its time, in any unit that the stages of a plan share.
    passes
        Passes over the data; 0 where the stage repeats a round (see :func:`one_round`) and moves with it alone.
        Fewer and more are no error: a stage that ends early jumps to its end, and one that goes on waits there.
    """

    cost: float
    passes: int = 0


@dataclass(frozen=True)
class Report:
    """How far some work is.

    Attributes
    ----------
    work
        Its name.
    event
        What has happened: "begun" a stage, "moved" by a shard or a pass, "round" done, "ended" a stage, "done" all.
    stage
        Name of the stage.
    number, most
        Of the round at work or just done, and of rounds that there may be; 0 outside of rounds.
    objective
        Mean log-likelihood (in nats) that the round found; None where there is none.
    seconds
        Since what the event is about began: the round, the stage, or all of the work.
    fraction
        Of the work that is done. It never falls, is 0 until there is a plan, and 1 when all is done and only then.
    seconds_left
        An estimate; None as long as it would be a guess.
    unit
        What the objective is the mean of: a token, a row.
    """

    work: str
    event: str
    stage: str
    number: int
    most: int
    objective: float | None
    seconds: float
    fraction: float
    seconds_left: float | None
    unit: str = "token"

    @property
    def what(self) -> str:
        """What is being done, in words."""
        if not self.most:
            return SHOWN.get(self.stage, self.stage)
        return f"{SHOWN_ROUNDS.get(self.stage, f'{self.stage}, pass')} {self.number} of at most {self.most}"

    def __str__(self) -> str:
        found = "" if self.objective is None else f", {self.objective:.4f} nats per {self.unit}"
        return f"{self.work}: {self.what}{found}, {self.seconds:.3f} s"


Listener = Callable[[PassReport], object]
Follower = Callable[[Report], object]
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("polyad_listeners", default=())
_followers: ContextVar[tuple[Follower, ...]] = ContextVar("polyad_followers", default=())
_work: ContextVar["Work | None"] = ContextVar("polyad_work", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have a function called with every report of the passes in the body, beside those that listen already."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


@contextmanager
def following(follower: Follower) -> Iterator[None]:
    """Have a function called with every :class:`Report` of the work in the body, such as fits.

    Examples
    --------
    >>> with following(lambda report: print(report.event, report.what, f"{report.fraction:.0%}")):
    ...     with working("fit"):
    ...         expect({"moments": Planned(3, passes=2), "prior": Planned(1)})
    ...         with stage("moments"):
    ...             tell("products", 1, 1, 0.0)
    ...         with stage("prior"):
    ...             pass
    begun moments 0%
    moved moments 38%
    ended moments 75%
    begun prior 75%
    ended prior 99%
    done  100%
    """
    token = _followers.set((*_followers.get(), follower))
    try:
        yield
    finally:
        _followers.reset(token)


def tell(name: str, done: int, n_shards: int, seconds: float) -> None:
    """Tell how far a pass is: to listeners, to the work it belongs to and, once it is finished, to the logger."""
    listeners, work = _listeners.get(), _work.get()
    if listeners:
        report = PassReport(name, done, n_shards, seconds)
        for listener in listeners:
            listener(report)
    if work is not None:
        work.passed(done, n_shards)
    if done == n_shards and logger.isEnabledFor(logging.DEBUG):
        logger.debug("%s: pass %s, %d shards, %.3f s", work.stage if work else "", name, n_shards, seconds)


def is_heard() -> bool:
    """Tell whether anybody wants to know how far work is: a follower, or the logger."""
    return bool(_followers.get()) or logger.isEnabledFor(logging.INFO)


@contextmanager
def working(name: str) -> Iterator[None]:
    """Do the body as one piece of work, which has a fraction of its own; so has work inside of it."""
    work = Work(name)
    token = _work.set(work)
    try:
        yield
    finally:
        _work.reset(token)
    work.end()


def expect(plan: Mapping[str, Planned]) -> None:
    """Tell what the stages of the work at hand are expected to take, those already done as well."""
    work = _work.get()
    if work is not None:
        work.plan = dict(plan)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Do the body as a stage of the work at hand. Names are those of the plan, each used once."""
    work = _work.get()
    if work is None:
        yield
        return
    work.begin_stage(name)
    yield
    work.end_stage()


@contextmanager
def one_round(number: int, most: int, *, passes: int, unit: str = "token") -> Iterator[list[float]]:
    """Do the body as one round of a stage that repeats the same passes, as likelihood passes do.

    Parameters
    ----------
    number, most
        Of this round, from 1 on, and of rounds that there may be; the stage may end before.
    passes
        Passes over the data in a round.
    unit
        What the objective is the mean of.

    Yields
    ------
    list
        To which the round appends its objective, if it has one: a mean log-likelihood.
    """
    found: list[float] = []
    started = time.perf_counter()
    work = _work.get() or Work("polyad")
    work.begin_round(number, most, passes, unit)
    yield found
    work.end_round(found[-1] if found else None, time.perf_counter() - started)


class Work:
    """Keeps how far work is. Small and in one thread: a fit of a third of a second tells some sixty passes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stage = ""
        self.plan: dict[str, Planned] = {}
        self._ended: set[str] = set()
        self._done, self._due = 0.0, 0  # passes done of the stage or the round at work, and passes it should have
        self._round, self._most, self._unit = 0, 0, "token"
        self._fraction = self._stage_fraction = 0.0
        self._started = self._stage_started = time.perf_counter()

    def begin_stage(self, name: str) -> None:
        """Go on with another stage."""
        self.stage, self._stage_started = name, time.perf_counter()
        planned = self.plan.get(name)
        self._done, self._due = 0.0, planned.passes if planned else 0
        self._round = self._most = 0
        self._ended.discard(name)
        self._move()
        self._stage_fraction = self._fraction
        self._tell("begun")

    def passed(self, done: int, n_shards: int) -> None:
        """Move by a shard of a pass."""
        if not self.stage:
            return
        if is_heard():  # otherwise the end of the stage, or the first report to somebody, makes up for it
            self._move(done / n_shards if n_shards else 1.0)
        if done == n_shards:
            self._done += 1
        self._tell("moved")

    def begin_round(self, number: int, most: int, passes: int, unit: str = "token") -> None:
        """Go on with another round of the stage."""
        self._round, self._most, self._unit = number, most, unit
        self._done, self._due = 0.0, passes

    def end_round(self, objective: float | None, seconds: float) -> None:
        """Finish a round."""
        self._done = self._due
        self._move()
        self._log(self._tell("round", objective, seconds))

    def end_stage(self) -> None:
        """Finish the stage: what it was to take and did not is done."""
        self._round = self._most = 0
        self._ended.add(self.stage)
        self._move()
        self._log(self._tell("ended"))
        self.stage = ""

    def end(self) -> None:
        """Finish the work."""
        self._fraction = 1.0
        self._tell("done", seconds=time.perf_counter() - self._started)

    def _move(self, share_of_pass: float = 0.0) -> None:
        total = sum(planned.cost for planned in self.plan.values())
        if total <= 0:
            return
        done = sum(planned.cost for name, planned in self.plan.items() if name in self._ended)
        if self.stage in self.plan and self.stage not in self._ended:
            done += self.plan[self.stage].cost * self._share_of_stage(share_of_pass)
        # All but one percent: only the end of the work is the end, whatever its last stage had planned.
        self._fraction = max(self._fraction, min(done / total, 0.99))

    def _share_of_stage(self, share_of_pass: float) -> float:
        inner = min((self._done + share_of_pass) / self._due, 1.0) if self._due else 0.0
        return (self._round - 1 + inner) / self._most if self._most else inner

    def _seconds_left(self) -> float | None:
        if self._fraction in (0.0, 1.0):
            return 0.0 if self._fraction else None
        now = time.perf_counter()
        gained = self._fraction - self._stage_fraction
        if gained >= ENOUGH_TO_TELL:
            return (now - self._stage_started) / gained * (1 - self._fraction)
        return (now - self._started) / self._fraction * (1 - self._fraction)

    def _report(self, event: str, objective: float | None, seconds: float) -> Report:
        return Report(
            self.name,
            event,
            self.stage,
            self._round,
            self._most,
            objective,
            seconds,
            self._fraction,
            self._seconds_left(),
            self._unit,
        )

    def _tell(self, event: str, objective: float | None = None, seconds: float | None = None) -> Report | None:
        if not is_heard():
            return None
        seconds = time.perf_counter() - self._stage_started if seconds is None else seconds
        report = self._report(event, objective, seconds)
        for follower in _followers.get():
            follower(report)
        return report

    @staticmethod
    def _log(report: Report | None) -> None:
        if report is not None:
            logger.info("%s", report)
