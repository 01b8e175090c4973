"""The names of Delta's table properties, and what becomes of each here.

Source of names: DeltaConfig.scala of 4.4 (`DeltaConfigs`), which refuses any other `delta.` key
with DELTA_UNKNOWN_CONFIGURATION; the prefixes are those of constraints and of table features.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from whitecap.engine.errors import nearest
from whitecap.engine.log import properties
from whitecap.engine.log.properties import (
    CONSTRAINT_PREFIX,
    FEATURE_PREFIX,
    flag,
    interval_ms,
    positive,
)

PREFIX = "delta."
OPEN_PREFIXES = (CONSTRAINT_PREFIX, FEATURE_PREFIX)
EFFECTIVE = frozenset(
    {
        properties.APPEND_ONLY.key,
        properties.AUTO_OPTIMIZE,
        properties.AUTO_COMPACT.key,
        properties.CHECKPOINT_POLICY.key,
        properties.MAX_COLUMN_ID,
        properties.COLUMN_MAPPING_MODE.key,
        properties.SYMLINK_MANIFESTS.key,
        properties.INDEXED_COLUMNS.key,
        properties.STATISTICS_COLUMNS.key,
        properties.STRING_PREFIX_LENGTH.key,
        properties.DELETED_FILE_RETENTION_MS.key,
        properties.CHANGE_DATA_FEED.key,
        properties.DELETION_VECTORS.key,
        *(f"{properties.ICEBERG_COMPAT}V{version}" for version in (1, 2, 3)),
        properties.IN_COMMIT_TIMESTAMPS.key,
        properties.MATERIALIZED_PARTITIONS,
        properties.ROW_TRACKING.key,
        properties.TYPE_WIDENING.key,
        properties.VARIANT_SHREDDING,
        properties.ICT_ENABLEMENT_TIMESTAMP,
        properties.ICT_ENABLEMENT_VERSION,
        properties.ISOLATION_LEVEL.key,
        properties.LOG_RETENTION_MS.key,
        properties.MIN_READER_VERSION,
        properties.MIN_WRITER_VERSION,
        properties.PROTECTED_VERSION,
        properties.ROW_TRACKING_SUSPENDED.key,
        properties.UNIVERSAL_FORMATS,
    }
)
"""Properties that decide what happens to a table."""


class Stored(NamedTuple):
    """A property that is kept and decides nothing: how its value is read, and why it does not."""

    parse: Callable[[str], object]
    reason: str


def _parquet_version(text: str) -> str:
    if text not in ("1.0.0", "2.12.0"):
        raise ValueError("expected 1.0.0 or 2.12.0")
    return text


_EMPTY_CHECKPOINTS = "checkpoints of a run take time and have no content"
_READS_TAKE = "it says how long a run's reads of the log take, and decides no race"
_LISTINGS_TAKE = "it says how long a run's listings take, and decides no race"
_NO_CLEAN_UP = "clean-up of a run's log does not look at it"
STORED: Mapping[str, Stored] = {
    "delta.autoOptimize.optimizeWrite": Stored(
        flag, "a write makes a file for each task and partition"
    ),
    "delta.castIcebergTimeType": Stored(flag, "read when Iceberg tables are converted"),
    properties.CHECKPOINT_STATS_AS_JSON.key: Stored(flag, _EMPTY_CHECKPOINTS),
    "delta.checkpoint.writeStatsAsStruct": Stored(flag, _EMPTY_CHECKPOINTS),
    properties.CHECKPOINT_INTERVAL.key: Stored(positive, _READS_TAKE),
    "delta.checkpointRetentionDuration": Stored(interval_ms, _NO_CLEAN_UP),
    properties.TRUNCATED_HISTORY_RETENTION: Stored(
        interval_ms, "read by DROP FEATURE TRUNCATE HISTORY"
    ),
    properties.EXPIRED_LOG_CLEANUP.key: Stored(flag, _LISTINGS_TAKE),
    "delta.enableFullRetentionRollback": Stored(flag, _NO_CLEAN_UP),
    "delta.ignoreIcebergBucketPartition": Stored(flag, "read when Iceberg tables are converted"),
    "delta.parquet.format.version": Stored(_parquet_version, "how data files are written inside"),
    "delta.randomPrefixLength": Stored(positive, "how data files are called"),
    "delta.randomizeFilePrefixes": Stored(flag, "how data files are called"),
    "delta.sampleRetentionDuration": Stored(interval_ms, _NO_CLEAN_UP),
    "delta.setTransactionRetentionDuration": Stored(interval_ms, _EMPTY_CHECKPOINTS),
    "delta.writePartitionColumnsToParquet": Stored(flag, "how data files are written inside"),
}
"""Properties that are kept as Delta keeps them and decide no race, with the reason."""

_COORDINATORS = "commit coordinators and catalogs that commit are not modelled"
REFUSED: Mapping[str, str] = {
    "delta.coordinatedCommits.commitCoordinator-preview": _COORDINATORS,
    "delta.coordinatedCommits.commitCoordinatorConf-preview": _COORDINATORS,
    "delta.coordinatedCommits.tableConf-preview": _COORDINATORS,
    "delta.enableChangeDataCapture": "the old name of delta.enableChangeDataFeed",
    "delta.ignoreProtocolDefaults": "protocol defaults of a session are not modelled",
    "delta.redirectReaderWriter-preview": "tables that stand for others are not modelled",
    "delta.redirectWriterOnly-preview": "tables that stand for others are not modelled",
}
"""Properties that Delta knows and that are not modelled, with the reason."""

NAMES = EFFECTIVE | STORED.keys() | REFUSED.keys()
_LIKE = {name.lower(): name for name in NAMES}
_REFUSED = {name.lower(): reason for name, reason in REFUSED.items()}


def is_known(key: str, of_dialect: Collection[str] = ()) -> bool:
    """Whether Delta, or the dialect, knows the property, in any case.

    Keys outside of `delta.` are users' own.
    """
    lower = key.lower()
    if lower in (name.lower() for name in of_dialect):
        return True
    return not lower.startswith(PREFIX) or lower in _LIKE or lower.startswith(OPEN_PREFIXES)


def why_not_modelled(key: str) -> str | None:
    """Why a property that Delta knows is refused, `None` for one that is not."""
    return _REFUSED.get(key.lower())


def nearest_property(key: str) -> str | None:
    """The property that a misspelt key was probably meant to be."""
    return nearest(key, _LIKE.values())
