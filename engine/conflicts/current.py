"""The current transaction as the conflict check sees it: frozen at the first attempt.

Source: `ConflictChecker.scala: CurrentTransactionInfo`. Each winner that does not conflict yields
a new one, as if the transaction had started after that winner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.read_set import ReadSet
from whitecap.engine.dialects import DELTA_CHECKS, CheckRules
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log import properties
from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    CommitInfo,
    Metadata,
    Protocol,
    RemoveFile,
)
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.effects import ADDS, ANY, PROGRESS, REMOVES, UNUSUAL, VISIBLE_ADDS
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import feature_names
from whitecap.engine.log.schema import Schema
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.remembered import once_for_each

_MOVED = (properties.IN_COMMIT_TIMESTAMPS, properties.TYPE_WIDENING)
"""Properties of tables whose commits note their own version or time."""


@once_for_each
def _is_moved_along(metadata: Metadata) -> bool:
    configuration = metadata.configuration
    return any(configuration.get(p.key, p.default) != p.default for p in _MOVED)


# `dict`: what is derived from the actions is kept there.
class CurrentTransaction(Struct, frozen=True, dict=True):
    """Everything that a conflict check may read or, by making a new one, resolve."""

    txn_id: str
    snapshot: Snapshot
    read_set: ReadSet
    metadata: Metadata
    protocol: Protocol
    actions: tuple[AnyAction, ...]
    commit_info: CommitInfo
    row_id_high_watermark: int
    operation: Operation
    isolation_level: IsolationLevel
    table_name: str
    checks: CheckRules = DELTA_CHECKS
    tells_conflicts_by_example: bool = False

    @cached_property
    def metadata_changed(self) -> bool:
        """Whether this transaction commits a Metadata action."""
        return any(isinstance(action, Metadata) for action in self.actions)

    @cached_property
    def features(self) -> frozenset[str]:
        """The table features of the protocol as resolved so far."""
        return feature_names(self.protocol)

    @cached_property
    def removed(self) -> Mapping[str, RemoveFile]:
        """Its own removed files by path."""
        return {action.path: action for action in self.actions if isinstance(action, RemoveFile)}

    @cached_property
    def partition_schema(self) -> Schema:
        """The partition schema of the READ snapshot; a change of it does not change what was read.

        Source: `CurrentTransactionInfo.partitionSchemaAtReadTime`.
        """
        return self.snapshot.partition_schema

    @property
    def is_blind_append(self) -> bool:
        return bool(self.commit_info.is_blind_append)

    @cached_property
    def concerns(self) -> int:
        """Effects of which a winner must have one, or checking it changes and refuses nothing."""
        read = self.read_set
        if self._follows_every_winner or read.refusal is not None:
            return ANY
        reads_progress = PROGRESS if read.app_ids else 0
        needs_files = REMOVES if read.depends_on_files or self.removed else 0
        needs_no_more = 0 if self.is_blind_append else self.visible_adds
        return UNUSUAL | reads_progress | needs_files | needs_no_more

    def passes_by(self, winner: Commit) -> bool:
        """Whether checking a winner would change and refuse nothing."""
        return not winner.effects & self.concerns

    @property
    def visible_adds(self) -> int:
        """The effect of winners whose added files the file checks look at: `files_to_check`."""
        match self.isolation_level:
            case IsolationLevel.SNAPSHOT:
                return 0
            case IsolationLevel.WRITE_SERIALIZABLE if not self.metadata_changed:
                return VISIBLE_ADDS
            case _:
                return ADDS

    @property
    def _follows_every_winner(self) -> bool:
        """Whether the check may change this transaction, or look closer, whatever a winner does.

        It moves row ids, versions noted in a schema and timestamps along, and holds whoever drops
        a feature or fills row ids in to more than others. A dialect with reads of its own is
        asked of every winner.
        """
        operation, before = self.operation, self.snapshot.protocol
        return (
            self.checks.reads_by_statement
            or operation.is_backfill
            or operation.is_unbackfill
            or feature_keys.ROW_TRACKING in self.features
            or not (before is self.protocol or feature_names(before) <= self.features)
            or _is_moved_along(self.metadata)
        )

    @property
    def lines(self) -> tuple[AnyAction, ...]:
        """What the commit file will hold: commitInfo first."""
        return (self.commit_info, *self.actions)

    def another(self, **changes: Any) -> CurrentTransaction:
        """A transaction of the same kind: what concerns this one concerns it."""
        other = replace(self, **changes)
        vars(other)["concerns"] = self.concerns
        return other

    def with_actions(self, actions: Iterable[AnyAction]) -> CurrentTransaction:
        return replace(self, actions=tuple(actions))

    def with_commit_info(self, **changes: Any) -> CurrentTransaction:
        changed = replace(self.commit_info, **changes)
        return replace(self, commit_info=changed)

    def with_metadata(self, metadata: Metadata) -> CurrentTransaction:
        """Another metadata, in the Metadata action too if the commit carries one."""
        actions = tuple(
            metadata if isinstance(action, Metadata) else action for action in self.actions
        )
        return replace(self, metadata=metadata, actions=actions)

    def mapping_adds(self, change: Callable[[AddFile], AddFile]) -> CurrentTransaction:
        """The same with `change` applied to each added file."""
        return self.with_actions(
            change(action) if isinstance(action, AddFile) else action for action in self.actions
        )
