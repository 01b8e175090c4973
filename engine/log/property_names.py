"""The names of Delta's table properties: a misspelt one would be kept and mean nothing.

Source: DeltaConfig.scala of 4.4 (`DeltaConfigs`), which refuses any other `delta.` key with
DELTA_UNKNOWN_CONFIGURATION; the prefixes are those of constraints and of table features, and what
commands themselves write.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection

PREFIX = "delta."
OPEN_PREFIXES = (
    "delta.constraints.",
    "delta.feature.",
    "delta.rowTracking.materialized",
    "delta.universalFormat.",
)
NAMES = frozenset(
    {
        "delta.appendOnly",
        "delta.autoOptimize",
        "delta.autoOptimize.autoCompact",
        "delta.autoOptimize.optimizeWrite",
        "delta.castIcebergTimeType",
        "delta.checkpoint.writeStatsAsJson",
        "delta.checkpoint.writeStatsAsStruct",
        "delta.checkpointInterval",
        "delta.checkpointPolicy",
        "delta.checkpointRetentionDuration",
        "delta.columnMapping.maxColumnId",
        "delta.columnMapping.mode",
        "delta.compatibility.symlinkFormatManifest.enabled",
        "delta.coordinatedCommits.commitCoordinator-preview",
        "delta.coordinatedCommits.commitCoordinatorConf-preview",
        "delta.coordinatedCommits.tableConf-preview",
        "delta.dataSkippingNumIndexedCols",
        "delta.dataSkippingStatsColumns",
        "delta.dataSkippingStringPrefixLength",
        "delta.deletedFileRetentionDuration",
        "delta.dropFeatureTruncateHistory.retentionDuration",
        "delta.enableChangeDataCapture",
        "delta.enableChangeDataFeed",
        "delta.enableDeletionVectors",
        "delta.enableExpiredLogCleanup",
        "delta.enableFullRetentionRollback",
        "delta.enableIcebergCompatV1",
        "delta.enableIcebergCompatV2",
        "delta.enableIcebergCompatV3",
        "delta.enableInCommitTimestamps",
        "delta.enableMaterializePartitionColumnsFeature",
        "delta.enableRowTracking",
        "delta.enableTypeWidening",
        "delta.enableVariantShredding",
        "delta.ignoreIcebergBucketPartition",
        "delta.ignoreProtocolDefaults",
        "delta.inCommitTimestampEnablementTimestamp",
        "delta.inCommitTimestampEnablementVersion",
        "delta.isolationLevel",
        "delta.lastCommitTimestamp",
        "delta.lastUpdateVersion",
        "delta.logRetentionDuration",
        "delta.minReaderVersion",
        "delta.minWriterVersion",
        "delta.parquet.format.version",
        "delta.randomPrefixLength",
        "delta.randomizeFilePrefixes",
        "delta.redirectReaderWriter-preview",
        "delta.redirectWriterOnly-preview",
        "delta.requireCheckpointProtectionBeforeVersion",
        "delta.rowTrackingSuspended",
        "delta.sampleRetentionDuration",
        "delta.setTransactionRetentionDuration",
        "delta.writePartitionColumnsToParquet",
    }
)
_LIKE = {name.lower(): name for name in NAMES}


def is_known(key: str, of_dialect: Collection[str] = ()) -> bool:
    """Whether Delta, or the dialect, knows the property, in any case.

    Keys outside of `delta.` are users' own.
    """
    lower = key.lower()
    if lower in (name.lower() for name in of_dialect):
        return True
    open_prefix = lower.startswith(tuple(prefix.lower() for prefix in OPEN_PREFIXES))
    return not lower.startswith(PREFIX) or lower in _LIKE or open_prefix


def nearest_property(key: str) -> str | None:
    """The property that a misspelt key was probably meant to be."""
    close = difflib.get_close_matches(key.lower(), _LIKE, n=1, cutoff=0.8)
    return _LIKE[close[0]] if close else None
