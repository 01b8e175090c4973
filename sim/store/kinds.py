"""The kinds of requests that the object store serves."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """One kind of request."""

    LIST = 0
    GET = 1
    HEAD = 2
    PUT = 3
    PUT_IF_ABSENT = 4
    COPY = 5
    DELETE = 6
    RENAME = 7

    @property
    def label(self) -> str:
        """What scenarios and recordings call it."""
        return _LABELS[self]

    @property
    def writes(self) -> bool:
        """Whether the store counts it among writes."""
        return self >= Kind.PUT


_LABELS = [kind.name.lower() for kind in Kind]
KIND_NAMED = {kind.label: kind for kind in Kind}
