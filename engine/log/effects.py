"""What a commit does to those who race with it, summarised once in one number.

A transaction that lost a put asks each winner only whether it does what concerns it
(`CurrentTransaction.concerns`); only then the conflict check looks at the winner's actions.
"""

from __future__ import annotations

from collections.abc import Iterable

from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)

BACKFILL = "ROW TRACKING BACKFILL"
UNBACKFILL = "ROW TRACKING UNBACKFILL"

ANY = 1
"""Every commit has this effect: it takes a version."""
ADDS = 2
"""It adds files."""
VISIBLE_ADDS = 4
"""It adds files and does not say that it is a blind append."""
REMOVES = 8
"""It removes files."""
PROGRESS = 16
"""It records how far an application has come."""
UNUSUAL = 32
"""It changes protocol, metadata or a metadata domain, or gives and takes the row ids of files."""

BEYOND_FILES = ANY | PROGRESS | UNUSUAL
"""Effects that more than the file checks look at."""

_IN_PLACE = frozenset({BACKFILL, UNBACKFILL})
_UNUSUAL = frozenset({Protocol, Metadata, DomainMetadata})


def effects_of(commit_info: CommitInfo | None, kinds: Iterable[type[AnyAction]]) -> int:
    """The effects of a commit with actions of these kinds, added up; each kind once."""
    blind = commit_info is not None and bool(commit_info.is_blind_append)
    in_place = commit_info is not None and commit_info.operation in _IN_PLACE
    effects = ANY | UNUSUAL if in_place else ANY
    for kind in kinds:
        effects |= _effect(kind, blind)
    return effects


def _effect(kind: type[AnyAction], blind: bool) -> int:
    if kind is AddFile:
        return ADDS if blind else ADDS | VISIBLE_ADDS
    if kind is RemoveFile:
        return REMOVES
    if kind is SetTransaction:
        return PROGRESS
    return UNUSUAL if kind in _UNUSUAL else 0
