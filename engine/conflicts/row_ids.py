"""Row tracking at commit time: fresh row ids, row commit versions, and the high watermark.

Source: `RowId.scala: assignFreshRowIds`, `DefaultRowCommitVersion.scala: assignIfMissing`,
`RowTracking.scala`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile, AnyAction, DomainMetadata, Metadata
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import supports
from whitecap.engine.log.snapshot import ROW_TRACKING_DOMAIN, Snapshot
from whitecap.engine.log.statistics import record_count
from whitecap.engine.refusals import commit_errors

_PRESERVED = "delta.rowTracking.preserved"
PRESERVED_TAG = {_PRESERVED: "true"}
"""The tag of commands that rewrite rows. Source: `RowTracking.addPreservedRowTrackingTag`."""

NOT_PRESERVED_TAG = {_PRESERVED: "false"}

NO_WATERMARK = -1
"""`RowId.MISSING_HIGH_WATER_MARK`: no row id was ever assigned."""


def preserved_row_tracking(metadata: Metadata) -> dict[str, str]:
    """The tags of a command that rewrites rows."""
    enabled = properties.ROW_TRACKING.of(metadata.configuration)
    return dict(PRESERVED_TAG) if enabled else {}


def is_suspended(metadata: Metadata) -> bool:
    """Whether the table takes no new row ids while the feature is being removed."""
    return properties.ROW_TRACKING_SUSPENDED.of(metadata.configuration)


def check_not_suspended(configuration: Mapping[str, str]) -> None:
    """Raises `DeltaError` where row tracking is both on and suspended.

    Source: observed on Delta 4.4, before a property is set and with every commit but CREATE TABLE.
    """
    enabled, suspended = properties.ROW_TRACKING, properties.ROW_TRACKING_SUSPENDED
    if enabled.of(configuration) and suspended.of(configuration):
        raise commit_errors.tracking_and_suspended(enabled.key, suspended.key)


def readable_watermark(snapshot: Snapshot) -> int:
    """The watermark that a transaction reads: none where the table does not track rows.

    Source: `RowId.scala: extractHighWatermark`.
    """
    tracked = supports(snapshot.protocol, feature_keys.ROW_TRACKING)
    return snapshot.row_id_high_watermark if tracked else NO_WATERMARK


def watermark_domain(watermark: int) -> DomainMetadata:
    """The action that records a watermark, in the form that Delta writes."""
    configuration = {"rowIdHighWaterMark": watermark, "domainName": ROW_TRACKING_DOMAIN}
    return DomainMetadata(
        domain=ROW_TRACKING_DOMAIN,
        configuration=msgspec.json.encode(configuration).decode(),
        removed=False,
    )


def is_watermark(action: AnyAction) -> bool:
    """Whether the action is the row tracking domain."""
    return isinstance(action, DomainMetadata) and action.domain == ROW_TRACKING_DOMAIN


def rows_in(add: AddFile) -> int:
    """Physical records of a file that is to get row ids.

    Raises `DeltaError` (`DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS`) where statistics are missing.
    """
    rows = record_count(add.stats)
    if rows is None:
        raise commit_errors.no_row_count()
    return rows


def assign_fresh(
    actions: Sequence[AnyAction], watermark: int, commit_version: int
) -> list[AnyAction]:
    """Give row ids and commit versions to the files that have none; a new watermark comes last.

    Raises `DeltaError` where the watermark is set by hand or statistics are missing.
    """
    assigned: list[AnyAction] = []
    next_watermark = watermark
    for action in actions:
        match action:
            case AddFile(base_row_id=None):
                assigned.append(_with_row_id(action, next_watermark + 1))
                next_watermark += rows_in(action)
            case DomainMetadata(domain=domain) if domain == ROW_TRACKING_DOMAIN:
                raise commit_errors.watermark_set_by_hand()
            case _:
                assigned.append(action)
    if next_watermark != watermark:
        assigned.append(watermark_domain(next_watermark))
    return _assign_commit_versions(assigned, commit_version)


def _assign_commit_versions(actions: Iterable[AnyAction], version: int) -> list[AnyAction]:
    """Give `version` to the files that have no default row commit version."""
    return [
        replace(action, default_row_commit_version=version)
        if isinstance(action, AddFile) and action.default_row_commit_version is None
        else action
        for action in actions
    ]


def without_row_ids(action: AnyAction) -> AnyAction:
    """The action with row id and row commit version taken off, if it is an added file."""
    if not isinstance(action, AddFile):
        return action
    return replace(action, base_row_id=None, default_row_commit_version=None)


def _with_row_id(add: AddFile, base_row_id: int) -> AddFile:
    return replace(add, base_row_id=base_row_id)
