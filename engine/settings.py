"""The Spark and Delta configurations whose behaviour this engine models.

One field per configuration, each with Delta's default. A configuration that is not listed here is
refused rather than ignored: a scenario or a case that names it would otherwise be answered as if
it were unset. So is one whose effect is known and not modelled, unless it is set to what holds
anyway. Source of keys and defaults: Delta's `DeltaSQLConf.scala`, Spark's `SQLConf.scala`.
"""

# ruff: noqa: RUF009  `_conf` makes a dataclass field, which the rule cannot see.
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import UnsupportedFeature, nearest

DELTA_PREFIX = "spark.databricks.delta."
DEFAULT_PROPERTY_PREFIX = DELTA_PREFIX + "properties.defaults."
"""Session defaults of table properties: `<prefix>appendOnly` stands for `delta.appendOnly`."""
APPLICATION = DELTA_PREFIX + "write.txnAppId"
APPLICATION_VERSION = DELTA_PREFIX + "write.txnVersion"
"""By which a table knows a statement again. Source: DeltaCommand.scala: hasBeenExecuted."""
OPTION_PREFIX = "whitecap."
"""Options of ours: choices where no public page says what a platform does."""


class Widening(StrEnum):
    """What becomes of non-deterministic read predicates in the conflict check."""

    ON = "on"
    OFF = "off"
    LOGGING = "logging"


class CheckMode(StrEnum):
    """How strict a check is that Delta can also only log."""

    TRUE = "true"
    FALSE = "false"
    LOG_ONLY = "log-only"


class ConsistencyMode(StrEnum):
    """What a commit that mixes `dataChange` true and false meets."""

    OFF = "off"
    LOG = "log"
    FATAL = "fatal"


class AppendRule(StrEnum):
    """Which appends a Serializable reader conflicts with under row-level concurrency."""

    MATCHING_ROWS = "matching_rows"
    ANY_ROW = "any_row"


def _conf(key: str, default: Any) -> Any:
    full_key = key if key.startswith(("spark.", OPTION_PREFIX)) else DELTA_PREFIX + key
    return dataclasses.field(default=default, metadata={"conf": full_key})


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a session may configure that changes what a transaction does."""

    commit_validation: bool = _conf("commitValidation.enabled", True)
    consistent_data_change: ConsistencyMode = _conf(
        "commitValidation.consistentDataChange.mode", ConsistencyMode.LOG
    )
    duplicate_action_check: bool = _conf("duplicateActionCheck.enabled", True)
    partition_column_change_check: CheckMode = _conf(
        "partitionColumnChangeCheck", CheckMode.LOG_ONLY
    )
    deletion_vector_commit_check: bool = _conf("deletionVectors.skipCommitCheck", True)
    """Delta's key says the opposite of what it does: true makes the check."""

    empty_file_check: bool = _conf("emptyFileCheck.throwEnabled", False)
    null_partition_check: bool = _conf("nullPartitionCheck.throwEnabled", False)
    skip_recording_empty_commits: bool = _conf("skipRecordingEmptyCommits", True)
    max_commit_attempts: int = _conf("maxCommitAttempts", 10_000_000)
    commit_idempotency_check: bool = _conf("commit.idempotencyCheck.enabled", False)
    resolve_feature_enablement: bool = _conf("featureEnablement.conflictResolution.enabled", True)
    enforce_concurrent_feature_enablement: bool = _conf(
        "conflictChecker.enforceConcurrentFeatureEnablement.enabled", False
    )
    replace_table_removes_new_domains: bool = _conf(
        "conflictDetection.allowReplaceTableToRemoveNewDomainMetadata", True
    )
    widen_non_deterministic: Widening = _conf(
        "conflictDetection.partitionLevelConcurrency.widenNonDeterministicPredicates", Widening.ON
    )
    parse_partition_values: bool = _conf("dynamicPartitionOverwrite.parsePartitionValues", True)
    fail_on_partition_value_parsing_error: bool = _conf("failOnPartitionValueParsingError", False)
    row_tracking_backfill: bool = _conf("rowTracking.backfill.enabled", True)
    stats_skipping: bool = _conf("stats.skipping", True)
    history_metrics: bool = _conf("history.metricsEnabled", True)
    user_metadata: str | None = _conf("commitInfo.userMetadata", None)
    txn_app_id: str | None = _conf(APPLICATION, None)
    txn_version: int | None = _conf(APPLICATION_VERSION, None)
    delete_with_deletion_vectors: bool = _conf("delete.deletionVectors.persistent", True)
    update_with_deletion_vectors: bool = _conf("update.deletionVectors.persistent", True)
    merge_with_deletion_vectors: bool = _conf("merge.deletionVectors.persistent", True)
    optimize_min_file_size: int = _conf("optimize.minFileSize", 1024**3)
    optimize_max_file_size: int = _conf("optimize.maxFileSize", 1024**3)
    optimize_max_deleted_rows_ratio: float = _conf("optimize.maxDeletedRowsRatio", 0.05)
    optimize_batch_size: int | None = _conf("optimize.batchSize", None)
    zorder_needs_statistics: bool = _conf("optimize.zorder.checkStatsCollection.enabled", True)
    vacuum_logging: bool | None = _conf("vacuum.logging.enabled", None)
    auto_compact: bool | None = _conf("autoCompact.enabled", None)
    auto_compact_min_files: int = _conf("autoCompact.minNumFiles", 50)
    auto_compact_max_file_size: int = _conf("autoCompact.maxFileSize", 128 * 1024**2)
    auto_compact_min_file_size: int | None = _conf("autoCompact.minFileSize", None)
    min_cube_size: int = _conf(
        "optimize.clustering.mergeStrategy.minCubeSize.threshold", 100 * 1024**3
    )
    target_cube_size: int = _conf("optimize.clustering.targetCubeSize", 150 * 1024**3)
    backfill_max_files: int = _conf("backfill.maxNumFilesPerCommit", 100_000)
    retention_check: bool = _conf("retentionDurationCheck.enabled", True)
    vacuum_ignores_retention: bool = _conf("vacuum.retentionWindowIgnore.enabled", True)
    """Whether VACUUM heeds no RETAIN but that of 0 hours."""
    time_travel_within_retention: bool = _conf(
        "vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration", True
    )
    restore_may_downgrade_protocol: bool = _conf("restore.protocolDowngradeAllowed", False)
    schema_auto_merge: bool = _conf("schema.autoMerge.enabled", False)
    partition_overwrite_mode: str = _conf("spark.sql.sources.partitionOverwriteMode", "STATIC")
    values_tasks: int = _conf("whitecap.values.tasks", 1)
    """How many tasks write a list of VALUES, each its own files; Spark takes all cores it has."""
    session_time_zone: str = _conf("spark.sql.session.timeZone", "UTC")
    ansi: bool = _conf("spark.sql.ansi.enabled", True)
    photon: bool = _conf("whitecap.photon.enabled", True)
    row_level_concurrency: bool = _conf("whitecap.rowLevelConcurrency.enabled", True)
    row_level_max_winners: int = _conf("whitecap.rowLevelConcurrency.maxWinningCommits", 100)
    row_level_appends: AppendRule = _conf(
        "whitecap.rowLevelConcurrency.serializableAppends", AppendRule.MATCHING_ROWS
    )
    refuse_identity_concurrency: bool = _conf("whitecap.identityColumns.refuseConcurrency", True)
    property_defaults: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Table properties (`delta.…`) that new tables get from the session."""
    given: frozenset[str] = frozenset()
    """The fields that the session's configuration sets, be it to Delta's default."""

    @classmethod
    def from_conf(cls, conf: Mapping[str, str]) -> Settings:
        """Read a session's configuration, Spark keys to text.

        Raises `UnsupportedFeature` for a key that is not modelled or a value that is not valid.
        """
        values: dict[str, Any] = {}
        defaults: dict[str, str] = {}
        for key, text in conf.items():
            if key.startswith(DEFAULT_PROPERTY_PREFIX):
                defaults["delta." + key.removeprefix(DEFAULT_PROPERTY_PREFIX)] = text
            elif not _is_left_out(key, text):
                field = _field_of(key)
                values[field.name] = _value_of(key, text, str(field.type))
        return cls(**values, property_defaults=defaults, given=frozenset(values))


class LeftOut(Struct, frozen=True):
    """A configuration that is not modelled: the text that holds without it, and why."""

    default: str
    reason: str


LEFT_OUT: Mapping[str, LeftOut] = {
    DELTA_PREFIX + "maxNonConflictCommitAttempts": LeftOut(
        "10", "it counts failures of commit coordinators, which are not modelled"
    ),
    DELTA_PREFIX + "commitLock.enabled": LeftOut(
        "false", "the lock is held inside one JVM; a scenario's log store says whether there is one"
    ),
    DELTA_PREFIX + "tableFeatures.fastDropFeature.enabled": LeftOut(
        "true", "the older DROP FEATURE waits for history to expire, and none does here"
    ),
    "spark.sql.caseSensitive": LeftOut(
        "false", "columns are known in any case, as Delta itself knows them"
    ),
}


def own_options() -> list[str]:
    """The keys of our own options, with the choice that holds without them."""
    keys = {
        field.metadata["conf"]: field.default
        for field in dataclasses.fields(Settings)
        if field.metadata.get("conf", "").startswith(OPTION_PREFIX)
    }
    return [f"{key} ({_shown(default)})" for key, default in keys.items()]


def _shown(default: Any) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


_FIELD_OF_CONF = {
    field.metadata["conf"].lower(): field
    for field in dataclasses.fields(Settings)
    if "conf" in field.metadata
}

_ENUMS: dict[str, type[StrEnum]] = {
    "Widening": Widening,
    "CheckMode": CheckMode,
    "ConsistencyMode": ConsistencyMode,
    "AppendRule": AppendRule,
}


_LEFT_OUT = {key.lower(): left_out for key, left_out in LEFT_OUT.items()}


def _is_left_out(key: str, text: str) -> bool:
    """Whether a key is not modelled, and says what holds anyway.

    Raises `UnsupportedFeature` if it says something else.
    """
    left_out = _LEFT_OUT.get(key.lower())
    if left_out is not None and text.lower() != left_out.default:
        raise UnsupportedFeature(f"setting {key} cannot be {text!r}: {left_out.reason}")
    return left_out is not None


def _field_of(key: str) -> dataclasses.Field[Any]:
    try:
        return _FIELD_OF_CONF[key.lower()]
    except KeyError:
        raise UnsupportedFeature(f"setting {key} is not modelled{_hint(key)}") from None


def _hint(key: str) -> str:
    conf_keys = [field.metadata["conf"] for field in _FIELD_OF_CONF.values()]
    meant = nearest(key, conf_keys)
    return f" (did you mean {meant}?)" if meant else ""


def _value_of(key: str, text: str, type_name: str) -> Any:
    kind = type_name.removesuffix(" | None")
    try:
        if kind in _ENUMS:
            return _ENUMS[kind](text.lower())
        match kind:
            case "bool":
                return {"true": True, "false": False}[text.lower()]
            case "int":
                return int(text)
            case "float":
                return float(text)
            case _:
                return text
    except (KeyError, ValueError):
        raise UnsupportedFeature(f"setting {key} cannot be {text!r}") from None
