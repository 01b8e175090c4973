"""Checks 5 and 6: row tracking backfill and its undoing, against everybody else.

Both re-add existing files without changing data; who loses gives up the files that the winner
touched instead of aborting. Source: `ConflictChecker.scala: resolveRowTrackingBackfillConflicts`,
`resolveRowTrackingUnBackfillConflicts`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.row_ids import is_watermark, without_row_ids
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.log.actions import AddFile, AnyAction, RemoveFile
from whitecap.engine.log.features import feature_keys
from whitecap.engine.refusals import commit_errors, kinds
from whitecap.engine.settings import Settings


def resolve_backfill(
    current: CurrentTransaction, winner: WinningCommit, _settings: Settings
) -> CurrentTransaction:
    """A backfill gives way file by file; a winning backfill hands on the row ids it gave.

    Raises `DeltaError` for a backfill that commits anything but files.
    """
    involved = current.operation.is_backfill or winner.is_backfill
    if not _tracks_rows(current, must=involved):
        return current
    if current.operation.is_backfill:
        current = _without_touched_files(current, winner)
    if winner.is_backfill:
        current = _with_backfilled_row_ids(current, winner)
    return current


def resolve_unbackfill(
    current: CurrentTransaction, winner: WinningCommit, _settings: Settings
) -> CurrentTransaction:
    """The undoing of a backfill takes the row ids off what the winner added.

    Raises `DeltaError` against a running backfill.
    """
    involved = current.operation.is_unbackfill or winner.is_unbackfill
    if not _tracks_rows(current, must=involved) or not current.operation.is_unbackfill:
        return current
    if winner.is_backfill:
        raise commit_errors.backfill_against_unbackfill()
    return strip_winner_row_ids(current, winner)


def _tracks_rows(current: CurrentTransaction, *, must: bool) -> bool:
    """Whether the table tracks rows. Raises `DeltaError` if it does not, and `must`."""
    tracks = feature_keys.ROW_TRACKING in current.features
    if must and not tracks:
        raise kinds.assertion("row tracking is not supported")
    return tracks


def strip_winner_row_ids(current: CurrentTransaction, winner: WinningCommit) -> CurrentTransaction:
    """Give up own adds that the winner touched, and re-add its files without their row ids."""
    touched = _touched(winner)
    kept = [
        action
        for action in current.actions
        if not (isinstance(action, AddFile) and action.path in touched)
    ]
    stripped = [
        without_row_ids(replace(add, data_change=False))
        for add in winner.adds
        if add.base_row_id is not None or add.default_row_commit_version is not None
    ]
    return _without_reads(current, touched).with_actions([*kept, *stripped])


def _without_touched_files(
    current: CurrentTransaction, winner: WinningCommit
) -> CurrentTransaction:
    touched = _touched(winner)
    if not touched:
        return current
    kept: list[AnyAction] = []
    for action in current.actions:
        if isinstance(action, AddFile):
            kept += [] if action.path in touched else [action]
        elif is_watermark(action):
            kept.append(action)
        else:
            raise commit_errors.unexpected_backfill_action()
    return _without_reads(current, touched).with_actions(kept)


def _with_backfilled_row_ids(
    current: CurrentTransaction, winner: WinningCommit
) -> CurrentTransaction:
    given = {add.path: add for add in winner.adds}
    return current.with_actions(_handed_on(action, given) for action in current.actions)


def _handed_on(action: AnyAction, given: Mapping[str, AddFile]) -> AnyAction:
    add = given.get(action.path) if isinstance(action, AddFile | RemoveFile) else None
    if add is None:
        return action
    return replace(
        action,
        base_row_id=add.base_row_id,
        default_row_commit_version=add.default_row_commit_version,
    )


def _touched(winner: WinningCommit) -> frozenset[str]:
    added = (add.path for add in winner.adds)
    return frozenset((*added, *(removed.path for removed in winner.removes)))


def _without_reads(current: CurrentTransaction, paths: frozenset[str]) -> CurrentTransaction:
    return replace(current, read_set=current.read_set.without_paths(paths))
