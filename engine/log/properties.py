"""Table properties with the types and defaults that Delta gives them.

A property is read from the `configuration` of a `metaData` action. Source of keys, defaults and
conditions: DeltaConfig.scala.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from whitecap.engine.column_names import column_paths
from whitecap.engine.errors import DeltaError
from whitecap.engine.isolation import ISOLATION_PROPERTY

T = TypeVar("T")

Configuration = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TableProperty(Generic[T]):
    """One property: its key, its default as text, and what its text means."""

    key: str
    default: str
    parse: Callable[[str], T]
    default_value: T = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "default_value", self.parse(self.default))

    def of(self, configuration: Configuration) -> T:
        """Its value. Raises `DeltaError` (IllegalArgumentException) for text without meaning."""
        text = configuration.get(self.key)
        if text is None:
            return self.default_value
        try:
            return self.parse(text)
        except ValueError as error:
            message = f"{self.key} cannot be {text!r}: {error}"
            raise DeltaError("IllegalArgumentException", None, message) from error


HOUR_MS = 3_600_000
_UNIT_MS = {
    "microsecond": 0.001,
    "millisecond": 1,
    "second": 1_000,
    "minute": 60_000,
    "hour": HOUR_MS,
    "day": 86_400_000,
    "week": 7 * 86_400_000,
}
_IN_DAYS = {"day": 1, "week": 7}
_SPAN = re.compile(r"(\d+)\s+([a-z]+?)s?(?=\s|$)")


def flag(text: str) -> bool:
    """True or false. Raises `ValueError` for any other text."""
    match text.strip().lower():
        case "true":
            return True
        case "false":
            return False
    raise ValueError("expected true or false")


def positive(text: str) -> int:
    """A whole number from 1 on. Raises `ValueError`."""
    number = int(text)
    if number <= 0:
        raise ValueError("expected a positive integer")
    return number


def _at_least_minus_one(text: str) -> int:
    number = int(text)
    if number < -1:
        raise ValueError("expected -1 or more")
    return number


def interval_ms(text: str) -> int:
    """The milliseconds of a calendar interval such as `interval 30 days`. Raises `ValueError`."""
    spans = text.strip().lower().removeprefix("interval").strip()
    parts = _SPAN.findall(spans)
    if not parts or _SPAN.sub("", spans).strip() or any(u not in _UNIT_MS for _, u in parts):
        raise ValueError("expected an interval such as 'interval 30 days'")
    return int(sum(int(count) * _UNIT_MS[unit] for count, unit in parts))


def interval_text(text: str) -> str:
    """An interval as Spark writes it: `30 days` of `interval 30 days`, `7 days` of a week.

    Source: CalendarInterval.java (toString), which has days apart from hours and less.
    """
    days, below_ms = 0, 0.0
    for count, unit in _SPAN.findall(text.strip().lower()):
        if unit in _IN_DAYS:
            days += int(count) * _IN_DAYS[unit]
        else:
            below_ms += int(count) * _UNIT_MS[unit]
    hours, rest_ms = divmod(below_ms, _UNIT_MS["hour"])
    minutes, rest_ms = divmod(rest_ms, _UNIT_MS["minute"])
    parts = ((days, "days"), (hours, "hours"), (minutes, "minutes"), (rest_ms / 1000, "seconds"))
    return " ".join(f"{count:g} {unit}" for count, unit in parts if count) or "0 seconds"


APPEND_ONLY = TableProperty("delta.appendOnly", "false", flag)
AUTO_COMPACT = TableProperty("delta.autoOptimize.autoCompact", "false", str)
CHANGE_DATA_FEED = TableProperty("delta.enableChangeDataFeed", "false", flag)
CHECKPOINT_INTERVAL = TableProperty("delta.checkpointInterval", "10", positive)
CHECKPOINT_POLICY = TableProperty("delta.checkpointPolicy", "classic", str.lower)
CHECKPOINT_STATS_AS_JSON = TableProperty("delta.checkpoint.writeStatsAsJson", "true", flag)
COLUMN_MAPPING_MODE = TableProperty("delta.columnMapping.mode", "none", str.lower)
DELETED_FILE_RETENTION_MS = TableProperty(
    "delta.deletedFileRetentionDuration", "interval 1 week", interval_ms
)
DELETION_VECTORS = TableProperty("delta.enableDeletionVectors", "false", flag)
EXPIRED_LOG_CLEANUP = TableProperty("delta.enableExpiredLogCleanup", "true", flag)
IN_COMMIT_TIMESTAMPS = TableProperty("delta.enableInCommitTimestamps", "false", flag)
INDEXED_COLUMNS = TableProperty("delta.dataSkippingNumIndexedCols", "32", _at_least_minus_one)
STATISTICS_COLUMNS = TableProperty("delta.dataSkippingStatsColumns", "", column_paths)
STRING_PREFIX_LENGTH = TableProperty("delta.dataSkippingStringPrefixLength", "32", positive)
# Read unvalidated on purpose: a log may hold any of three levels, though SQL accepts only one.
ISOLATION_LEVEL = TableProperty(ISOLATION_PROPERTY, "Serializable", str)
LOG_RETENTION_MS = TableProperty("delta.logRetentionDuration", "interval 30 days", interval_ms)
TRUNCATED_HISTORY_RETENTION = "delta.dropFeatureTruncateHistory.retentionDuration"
ROW_TRACKING = TableProperty("delta.enableRowTracking", "false", flag)
ROW_TRACKING_SUSPENDED = TableProperty("delta.rowTrackingSuspended", "false", flag)
SYMLINK_MANIFESTS = TableProperty(
    "delta.compatibility.symlinkFormatManifest.enabled", "false", flag
)
TYPE_WIDENING = TableProperty("delta.enableTypeWidening", "false", flag)


ICT_ENABLEMENT_VERSION = "delta.inCommitTimestampEnablementVersion"
ICT_ENABLEMENT_TIMESTAMP = "delta.inCommitTimestampEnablementTimestamp"
ROW_ID_COLUMN = "delta.rowTracking.materializedRowIdColumnName"
ROW_COMMIT_VERSION_COLUMN = "delta.rowTracking.materializedRowCommitVersionColumnName"
MAX_COLUMN_ID = "delta.columnMapping.maxColumnId"
CONSTRAINT_PREFIX = "delta.constraints."
FEATURE_PREFIX = "delta.feature."
MIN_READER_VERSION = "delta.minReaderVersion"
MIN_WRITER_VERSION = "delta.minWriterVersion"
PROTECTED_VERSION = "delta.requireCheckpointProtectionBeforeVersion"
AUTO_OPTIMIZE = "delta.autoOptimize"
ICEBERG_COMPAT = "delta.enableIcebergCompat"
"""Of one of its versions: followed by V1, V2 or V3."""

MATERIALIZED_PARTITIONS = "delta.enableMaterializePartitionColumnsFeature"
UNIVERSAL_FORMATS = "delta.universalFormat.enabledFormats"
VARIANT_SHREDDING = "delta.enableVariantShredding"

FLAGS = (
    AUTO_OPTIMIZE,
    AUTO_COMPACT.key,
    *(f"{ICEBERG_COMPAT}V{version}" for version in (1, 2, 3)),
    VARIANT_SHREDDING,
    MATERIALIZED_PARTITIONS,
)
NUMBERS = (ICT_ENABLEMENT_VERSION, ICT_ENABLEMENT_TIMESTAMP, PROTECTED_VERSION)
"""Properties without a type above, whose values are flags or whole numbers where they are set."""


def maps_columns(configuration: Configuration) -> bool:
    """Whether columns have names of their own in data files."""
    return COLUMN_MAPPING_MODE.of(configuration) != "none"


def makes_v2_checkpoints(configuration: Configuration) -> bool:
    """Whether the table asks for checkpoints of the second version.

    Source: Checkpoints.scala (CheckpointPolicy.needsV2CheckpointSupport).
    """
    return CHECKPOINT_POLICY.of(configuration) == "v2"


def history_retentions(configuration: Configuration) -> tuple[str, str]:
    """For how long history stays: the log's, and after DROP FEATURE TRUNCATE HISTORY.

    Intervals as Spark writes them. Source: DeltaErrors.scala (logRetentionConfig).
    """
    log = configuration.get(LOG_RETENTION_MS.key, LOG_RETENTION_MS.default)
    truncated = configuration.get(TRUNCATED_HISTORY_RETENTION, "interval 24 hours")
    return interval_text(log), interval_text(truncated)
