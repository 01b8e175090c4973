"""Sequences whose items are made whenever somebody asks for one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class MadeWhenAsked(Sequence[T]):
    """Items that follow from their numbers."""

    __slots__ = ()

    @abstractmethod
    def made(self, number: int) -> T:
        """The item of a number, which is neither negative nor too large."""

    @overload
    def __getitem__(self, number: int) -> T: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[T]: ...

    def __getitem__(self, number: int | slice) -> T | Sequence[T]:
        if isinstance(number, slice):
            return [self.made(each) for each in range(len(self))[number]]
        return self.made(range(len(self))[number])
