"""In-commit timestamps: strictly increasing from commit to commit, whatever clocks say.

Source: `InCommitTimestampUtils.scala`; `TransactionHelper.scala:
generateInCommitTimestampForFirstCommitAttempt`.
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.log import properties
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.snapshot import Snapshot


def enabled(metadata: Metadata) -> bool:
    """Whether commits of the table carry a timestamp of their own."""
    return properties.IN_COMMIT_TIMESTAMPS.of(metadata.configuration)


def first_timestamp(metadata: Metadata, snapshot: Snapshot, now_ms: int) -> int | None:
    """The timestamp of the first attempt; `None` where the table has none."""
    if not enabled(metadata):
        return None
    return now_ms if snapshot.version == -1 else max(now_ms, snapshot.timestamp_ms + 1)


def _is_newly_enabled(metadata: Metadata, snapshot: Snapshot) -> bool:
    """Whether this very transaction turns them on. `didCurrentTransactionEnableICT`."""
    before = snapshot.metadata is not None and enabled(snapshot.metadata)
    return enabled(metadata) and not before


def with_enablement(
    metadata: Metadata, snapshot: Snapshot, version: int, timestamp_ms: int
) -> Metadata:
    """The metadata with version and time of the enabling commit, if this one enables them.

    A new table needs neither. Source: `getUpdatedMetadataWithICTEnablementInfo`.
    """
    if snapshot.version == -1 or not _is_newly_enabled(metadata, snapshot):
        return metadata
    enablement = {
        properties.ICT_ENABLEMENT_VERSION: str(version),
        properties.ICT_ENABLEMENT_TIMESTAMP: str(timestamp_ms),
    }
    return replace(metadata, configuration={**metadata.configuration, **enablement})
