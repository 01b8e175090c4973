"""What is made once for an object that never changes, such as a table's metadata.

Objects are known by identity: comparing metadata would cost more than what is made of them. They
are kept as long as what was made of them, so no other object can take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar

S = TypeVar("S")
T = TypeVar("T")

_LIMIT = 256
"""How much is remembered: a run sees few metadata; a test suite very many, and so does a statement
on a table with identity columns, whose every write makes new ones."""


def once_for_each(make: Callable[[S], T]) -> Callable[[S], T]:
    """The function, called once for each object; an error is raised anew each time."""
    answers: dict[int, tuple[S, T]] = {}

    @wraps(make)
    def answer(subject: S) -> T:
        remembered = answers.get(id(subject))
        if remembered is None:
            if len(answers) >= _LIMIT:
                answers.clear()
            remembered = answers[id(subject)] = subject, make(subject)
        return remembered[1]

    return answer


class Plans:
    """What a statement was compiled to, by metadata or schema and by what else it depends on."""

    def __init__(self) -> None:
        self._plans: dict[Any, tuple[object, Any]] = {}

    def __eq__(self, other: object) -> bool:
        """They are no part of what a statement says: one with others is the same statement."""
        return isinstance(other, Plans)

    __hash__ = object.__hash__

    def of(self, subject: object, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made once for this very subject and a key that equals this one."""
        remembered = self._plans.get((id(subject), key))
        if remembered is None:
            if len(self._plans) >= _LIMIT:
                self._plans.clear()
            remembered = self._plans[id(subject), key] = subject, make()
        plan: T = remembered[1]
        return plan
