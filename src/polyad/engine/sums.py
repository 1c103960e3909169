"""What the results of a pass are added up by."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Result = TypeVar("Result")


class TreeSum:
    """Adds results pairwise, as a binary counter does, keeping no more than log2 of them at a time.

    The order depends on the number of results alone. Arrays are added in place: a result must be fresh.

    Parameters
    ----------
    partial
        (level, sum of 2**level results), the largest first: all that there is to know to go on another time.
    together
        What adds two results; None for :func:`add`.

    Examples
    --------
    >>> tree = TreeSum()
    >>> for number in range(3):
    ...     tree.push(number)
    >>> tree.partial
    [(1, 1), (0, 2)]
    >>> tree.result()
    3
    """

    def __init__(
        self, partial: Iterable[tuple[int, Any]] = (), together: Callable[[Any, Any], Any] | None = None
    ) -> None:
        self.partial: list[tuple[int, Any]] = list(partial)
        self._add = together or add

    def push(self, result: Any, level: int = 0) -> None:
        """Add a result, or the sum of 2**level consecutive ones that begin at a multiple of their number."""
        while self.partial and self.partial[-1][0] == level:
            result = self._add(self.partial.pop()[1], result)
            level += 1
        self.partial.append((level, result))

    def result(self) -> Any:
        """Return the sum of all; nothing can be added any more."""
        if not self.partial:
            raise ValueError("There is not one block of data to sum over.")
        total = self.partial.pop()[1]
        while self.partial:
            total = self._add(self.partial.pop()[1], total)
        return total


def tree_sum(results: Iterable[Result]) -> Result:
    """Add results pairwise; see :class:`TreeSum`.

    A generator of results is closed whatever happens, so that an interrupted sum leaves no work behind.
    """
    tree = TreeSum()
    try:
        for result in results:
            tree.push(result)
    finally:
        if isinstance(results, Generator):
            results.close()
    found: Result = tree.result()
    return found


def add(left: Any, right: Any) -> Any:
    """Return left + right; of tuples place by place, of arrays in the memory of the left one."""
    if isinstance(left, tuple):
        return tuple(add(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, np.ndarray) and left.ndim > 0:
        left += right
        return left
    return left + right


@dataclass(frozen=True)
class Stacked:
    """Rows that are put under each other, in the order of the data, where other results are added."""

    parts: tuple[NDArray[Any], ...]

    def __add__(self, other: "Stacked") -> "Stacked":
        return Stacked(self.parts + other.parts)

    def rows(self) -> NDArray[Any]:
        """Return all rows as one array."""
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)


@dataclass(frozen=True)
class Largest:
    """The largest of some numbers, place by place, where other results are added."""

    values: NDArray[Any]

    def __add__(self, other: "Largest") -> "Largest":
        return Largest(np.maximum(self.values, other.values))


@dataclass(frozen=True)
class Best:
    """What has the highest score, the first of equals, where other results are added."""

    score: float
    what: Any

    def __add__(self, other: "Best") -> "Best":
        return other if other.score > self.score else self
