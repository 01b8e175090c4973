"""What is made of parameters, once for all where it asks for none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from whitecap.engine.sql.expressions.terms import Evaluate, Parameters, Term

T = TypeVar("T")


class BoundOnce(Generic[T]):
    """What `bind` makes of parameters, the very same each time if it asks for none of them.

    Raises what `bind` raises, each time anew.
    """

    __slots__ = ("_asks", "_bind", "_made")

    def __init__(self, bind: Callable[[Parameters], T]) -> None:
        self._bind = bind
        self._asks = False
        self._made: T | None = None

    def __call__(self, parameters: Parameters) -> T:
        if self._made is not None:
            return self._made
        if self._asks:
            return self._bind(parameters)
        watched = _Watched(parameters)
        made = self._bind(watched)
        self._asks = watched.is_asked
        if not self._asks:
            self._made = made
        return made


def evaluation(term: Term) -> BoundOnce[Evaluate]:
    """What gives a term's value of a row."""
    return BoundOnce(lambda parameters: term.bind(parameters).evaluate)


class _Watched(Mapping[str, Any]):
    """Parameters that know whether anybody has looked at them."""

    __slots__ = ("_parameters", "is_asked")

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self.is_asked = False

    def __getitem__(self, name: str) -> Any:
        self.is_asked = True
        return self._parameters[name]

    def __iter__(self) -> Iterator[str]:
        self.is_asked = True
        return iter(self._parameters)

    def __len__(self) -> int:
        self.is_asked = True
        return len(self._parameters)
