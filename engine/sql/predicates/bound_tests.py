"""Tests of files that are bound to a statement's parameters, joined by AND and OR.

`None` in the place of one: a part of a condition that no file can be judged by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from msgspec import Struct

from whitecap.engine.sql.expressions.terms import Parameters

T = TypeVar("T")

Bind = Callable[[Parameters], T]


class Joining(Struct, Generic[T], frozen=True):
    """How two tests are one once they are bound: where both must hold, and where either must."""

    where_both: Callable[[T, T], T]
    where_either: Callable[[T, T], T]

    def both(self, left: Bind[T] | None, right: Bind[T] | None) -> Bind[T] | None:
        """The test of an AND: what one side says holds without the other."""
        if left is None or right is None:
            return left or right
        return _joined(left, right, self.where_both)

    def either(self, left: Bind[T] | None, right: Bind[T] | None) -> Bind[T] | None:
        """The test of an OR, which says nothing if one side does not."""
        if left is None or right is None:
            return None
        return _joined(left, right, self.where_either)


def _joined(left: Bind[T], right: Bind[T], join: Callable[[T, T], T]) -> Bind[T]:
    """Both tests bound to the same parameters, and joined."""
    return lambda parameters: join(left(parameters), right(parameters))
