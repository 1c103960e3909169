"""Two aligned data sets as pairs of blocks: the same rows of both, cut at the same places."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from polyad.engine.blocks import Block, Blocks


@dataclass(frozen=True, slots=True)
class PairedBlock:
    """Consecutive rows of two aligned views.

    Attributes
    ----------
    left, right
        The rows of the first and of the second view: CSR arrays of counts, or dense arrays.
    start
        The number of the first row in the whole data.
    """

    left: Any
    right: Any
    start: int

    @property
    def slice(self) -> slice:
        """Where the rows stand in an array with one entry a row."""
        return slice(self.start, self.start + self.left.shape[0])


class PairedBlocks:
    """Two views that can be gone over again and again, as :class:`PairedBlock` objects in a fixed order.

    Parameters
    ----------
    left, right
        The views, with the same number of rows. Rows are cut wherever either view is cut, so the pairs depend on
        the data alone.

    Examples
    --------
    >>> from polyad.engine import count_blocks, signal_blocks
    >>> pairs = paired_blocks(count_blocks([[1, 0], [0, 2]]), signal_blocks([[0.5], [1.5]]))
    >>> pairs.n_rows, [(pair.left.shape, pair.right.shape) for pair in pairs]
    (2, [((2, 2), (2, 1))])
    """

    def __init__(self, left: Blocks, right: Blocks) -> None:
        self._left, self._right = left, right
        self.n_rows = left.shape[0]
        self.n_columns = left.shape[1], right.shape[1]
        in_memory = isinstance(left.parts, list) and isinstance(right.parts, list)
        self._cut = list(self._pairs()) if in_memory else None

    @property
    def views(self) -> tuple[Blocks, Blocks]:
        """The two views by themselves."""
        return self._left, self._right

    def __iter__(self) -> Iterator[PairedBlock]:
        return self._pairs() if self._cut is None else iter(self._cut)

    def _pairs(self) -> Iterator[PairedBlock]:
        lefts, rights = iter(self._left), iter(self._right)
        left, right, start = next(lefts, None), next(rights, None), 0
        while left is not None and right is not None:
            end = min(left.slice.stop, right.slice.stop)
            if end > start:
                yield PairedBlock(_between(left, start, end), _between(right, start, end), start)
            if left.slice.stop == end:
                left = next(lefts, None)
            if right.slice.stop == end:
                right = next(rights, None)
            start = end


def paired_blocks(left: Blocks, right: Blocks) -> PairedBlocks:
    """Return two views as pairs of blocks, or say that their rows do not belong together."""
    if left.shape[0] != right.shape[0]:
        raise ValueError(
            f"X has {left.shape[0]} rows and Y has {right.shape[0]}: the two views must have one row each for every "
            "sample, in the same order. Drop the samples that only one of them has."
        )
    return PairedBlocks(left, right)


def _between(block: Block, start: int, end: int) -> Any:
    if start == block.start and end == block.slice.stop:
        return block.rows
    return block.rows[start - block.start : end - block.start]
