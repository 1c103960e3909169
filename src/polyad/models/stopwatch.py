"""Seconds of the steps of a fit."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from polyad.engine.progress import stage


class StopWatch:
    """Seconds of named steps, in their order.

    Examples
    --------
    >>> watch = StopWatch()
    >>> with watch("moments"):
    ...     pass
    >>> list(watch.seconds)
    ['moments']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        """Add the time of the body to a step's seconds, and tell whoever follows the fit that it is at this step."""
        start = time.perf_counter()
        try:
            with stage(step):
                yield
        finally:
            self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - start


def listed_seconds(seconds: Mapping[str, float]) -> str:
    """Return the seconds of every step as a text.

    Examples
    --------
    >>> listed_seconds({"moments": 0.251, "polish": 1.2})
    'moments 0.25 s, polish 1.20 s'
    """
    return ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items()) or "times not kept"
