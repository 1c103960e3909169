"""Loops over words, tensors or ranges of documents that lie in memory: no passes, but in threads as well."""

from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TypeVar

from polyad.engine.blas import single_threaded_blas
from polyad.engine.runners import current_runner
from polyad.engine.sums import tree_sum

Part = TypeVar("Part")
Result = TypeVar("Result")


def sum_over(function: Callable[[Part], Result], parts: Iterable[Part]) -> Result:
    """Return the sum of a function over some parts, added in a fixed tree.

    Examples
    --------
    >>> sum_over(lambda part: part**2, range(10))
    285
    """
    with single_threaded_blas():
        return tree_sum(current_runner().threads.map(function, parts))


def for_each(function: Callable[[Part], object], parts: Iterable[Part]) -> None:
    """Call a function on every part for what it writes; the parts must write to disjoint places."""
    with single_threaded_blas(), closing(current_runner().threads.map(function, parts)) as results:
        for _ in results:
            pass
