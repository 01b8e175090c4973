"""The kinds of requests that the object store serves."""

from __future__ import annotations

from enum import IntEnum

from whitecap.engine.storage.requests import Get, ListFrom, Put, PutIfAbsent


class Kind(IntEnum):
    """One kind of request; `label` is what scenarios and recordings call it."""

    LIST = 0
    GET = 1
    PUT = 2
    PUT_IF_ABSENT = 3

    @property
    def label(self) -> str:
        return self.name.lower()

    @property
    def writes(self) -> bool:
        """Whether the store counts it among writes."""
        return self in (Kind.PUT, Kind.PUT_IF_ABSENT)


KIND_OF: dict[type, Kind] = {
    ListFrom: Kind.LIST,
    Get: Kind.GET,
    Put: Kind.PUT,
    PutIfAbsent: Kind.PUT_IF_ABSENT,
}
"""The kind of each request of the engine."""

KIND_NAMED = {kind.label: kind for kind in Kind}
