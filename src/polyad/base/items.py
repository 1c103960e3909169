"""Sequences whose items are made or read as they are asked for."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar, overload

__all__ = ["Items"]

Item = TypeVar("Item")


class Items(Sequence[Item]):
    """A sequence that says what its item at a place is; negative places and slices follow from it."""

    @abstractmethod
    def item(self, place: int) -> Item:
        """Return the item at a place from 0 up."""

    @overload
    def __getitem__(self, place: int) -> Item: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Item, ...]: ...

    def __getitem__(self, place: int | slice) -> Any:
        places = range(len(self))[place]
        return self.item(places) if isinstance(places, int) else tuple(self.item(at) for at in places)
