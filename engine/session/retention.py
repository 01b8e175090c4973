"""How far back a table can be read: as far as the files that its versions removed are kept.

Source: SnapshotManagement.scala: enforceTimeTravelWithinDeletedFileRetentionDuration.
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.properties import DELETED_FILE_RETENTION_MS, HOUR_MS
from whitecap.engine.refusals import maintenance_errors


def check_age(commits: Sequence[Commit], version: int, now_ms: int) -> None:
    """Raises `DeltaError` for a version whose files the table as it is now keeps no longer.

    `commits` are all of the table's, oldest first. The newest version may be of any age.
    """
    if version == commits[-1].version:
        return
    newest = next(commit.metadata for commit in reversed(commits) if commit.metadata is not None)
    kept_ms = DELETED_FILE_RETENTION_MS.of(newest.configuration)
    if commits[version].version_made_at_ms < now_ms - kept_ms:
        raise maintenance_errors.travel_beyond_retention(kept_ms // HOUR_MS)
