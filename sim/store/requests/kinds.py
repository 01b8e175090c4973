"""The kinds of requests: those that the object store serves, and those of services beside it."""

from __future__ import annotations

from enum import IntEnum


class RequestKind(IntEnum):
    """One kind of request.

    The last ones are of services that a commit protocol needs besides the object store: DynamoDB
    (an item is put, got, or the newest one asked for) and a catalog.
    """

    LIST = 0
    GET = 1
    HEAD = 2
    PUT = 3
    PUT_IF_ABSENT = 4
    COPY = 5
    DELETE = 6
    RENAME = 7
    GET_ITEM = 8
    QUERY = 9
    PUT_ITEM = 10
    GET_COMMITS = 11
    RATIFY = 12

    @property
    def label(self) -> str:
        """What scenarios and recordings call it."""
        return _LABELS[self]

    @property
    def writes(self) -> bool:
        """Whether it changes something: without a reply nobody knows whether it has."""
        return self in _WRITES

    @property
    def is_of_the_store(self) -> bool:
        """Whether the object store serves it, and counts it against its limits."""
        return self <= RequestKind.RENAME


_LABELS = [kind.name.lower() for kind in RequestKind]
_READS = {
    RequestKind.LIST,
    RequestKind.GET,
    RequestKind.HEAD,
    RequestKind.GET_ITEM,
    RequestKind.QUERY,
    RequestKind.GET_COMMITS,
}
_WRITES = frozenset(RequestKind) - _READS
KIND_NAMED = {kind.label: kind for kind in RequestKind}
