"""Checks 7, 8, 9 and 13: numbers that depend on the commit's place in the log move along with it.

Row ids, row commit versions, the versions noted by type widening, and in-commit timestamps never
conflict; they are assigned again. Source: `ConflictChecker.scala: reassignOverlappingRowIds`,
`reassignRowCommitVersions`, `updateTypeWideningMetadata`, `resolveTimestampOrderingConflicts`.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.in_commit_timestamp import enabled, with_enablement
from whitecap.engine.conflicts.row_ids import (
    is_suspended,
    is_watermark,
    rows_in,
    watermark_domain,
)
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile, AnyAction, Metadata
from whitecap.engine.log.column_keys import TYPE_CHANGES
from whitecap.engine.log.features import feature_keys
from whitecap.engine.settings import Settings

_WIDENING = frozenset({feature_keys.TYPE_WIDENING, feature_keys.TYPE_WIDENING_PREVIEW})


def reassign_row_ids(
    current: CurrentTransaction, winner: WinningCommit, _settings: Settings
) -> CurrentTransaction:
    """Files that got their row ids from this transaction get new ones above the winner's.

    Ids up to the watermark that was read belong to copied files and stay. The watermark comes
    first among the actions, even if it did not change.
    """
    if not _tracks_rows(current):
        return current
    read_watermark = current.row_id_high_watermark
    won = winner.row_id_high_watermark
    watermark = won_watermark = read_watermark if won is None else won
    actions: list[AnyAction] = []
    for action in current.actions:
        if isinstance(action, AddFile) and not _is_copied(action, read_watermark):
            actions.append(replace(action, base_row_id=watermark + 1))
            watermark += rows_in(action)
        elif not is_watermark(action):
            actions.append(action)
    current = replace(current, row_id_high_watermark=won_watermark)
    return current.with_actions([watermark_domain(watermark), *actions])


def _tracks_rows(current: CurrentTransaction) -> bool:
    return feature_keys.ROW_TRACKING in current.features and not is_suspended(current.metadata)


def _is_copied(add: AddFile, read_watermark: int) -> bool:
    return add.base_row_id is not None and add.base_row_id <= read_watermark


def reassign_row_commit_versions(
    current: CurrentTransaction, winner: WinningCommit, _settings: Settings
) -> CurrentTransaction:
    """The version that this transaction hoped for becomes the one after the winner's."""
    if not _tracks_rows(current):
        return current

    def moved(add: AddFile) -> AddFile:
        if add.default_row_commit_version not in (None, winner.version):
            return add
        return replace(add, default_row_commit_version=winner.version + 1)

    return current.mapping_adds(moved)


def update_type_changes(
    current: CurrentTransaction, winner: WinningCommit, _settings: Settings
) -> CurrentTransaction:
    """The version noted with a widened column moves from the winner's to the next."""
    widens = not _WIDENING.isdisjoint(current.features)
    own = next((action for action in current.actions if isinstance(action, Metadata)), None)
    on = properties.TYPE_WIDENING.of(current.metadata.configuration)
    if own is None or own.schema_string is None or not (widens and on):
        return current
    moved = _with_moved_changes(msgspec.json.decode(own.schema_string), winner.version)
    schema_string = msgspec.json.encode(moved).decode()
    changed = replace(own, schema_string=schema_string)
    return current.with_actions(changed if action is own else action for action in current.actions)


def _with_moved_changes(node: Any, version: int) -> Any:
    match node:
        case dict():
            return {
                key: [_moved_change(change, version) for change in value]
                if key == TYPE_CHANGES
                else _with_moved_changes(value, version)
                for key, value in node.items()
            }
        case list():
            return [_with_moved_changes(item, version) for item in node]
        case _:
            return node


def _moved_change(change: dict[str, Any], version: int) -> dict[str, Any]:
    noted = change.get("tableVersion")
    return {**change, "tableVersion": version + 1} if noted == version else change


def order_timestamps(
    current: CurrentTransaction, winner: WinningCommit, _settings: Settings
) -> CurrentTransaction:
    """The in-commit timestamp stays behind the winner's."""
    if not enabled(current.metadata):
        return current
    commit_info = current.commit_info
    own_ms = commit_info.in_commit_timestamp or commit_info.timestamp or 0
    timestamp_ms = max(own_ms, _timestamp_of(winner) + 1)
    current = current.with_commit_info(in_commit_timestamp=timestamp_ms)
    metadata = with_enablement(current.metadata, current.snapshot, winner.version + 1, timestamp_ms)
    carries_metadata = current.metadata_changed and metadata is not current.metadata
    return current.with_metadata(metadata) if carries_metadata else current


def _timestamp_of(winner: WinningCommit) -> int:
    commit_info = winner.commit_info
    if commit_info is not None and commit_info.in_commit_timestamp is not None:
        return commit_info.in_commit_timestamp
    return winner.commit.modified_at_ms or 0
