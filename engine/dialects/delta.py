"""Open-source Delta Lake on Spark."""

from __future__ import annotations

from whitecap.engine.dialects.dialect import (
    ENABLEMENT,
    ENFORCEMENT,
    FAST_DROP,
    IDENTITY,
    RETAIN_IGNORED,
    ROW_LEVEL_PREVIEW,
    ROW_LEVEL_SWITCH,
    SCHEMA_EVOLUTION,
    TRAVEL_BOUND,
    Dialect,
    Difference,
)
from whitecap.engine.log.features.feature_keys import TYPE_WIDENING

_NO_ROWS_IN_DELTA = "https://github.com/delta-io/delta/issues/7360 (open)"
_ENABLEMENT_MERGED = "https://github.com/delta-io/delta/pull/5566"
_ENFORCEMENT_MERGED = "https://github.com/delta-io/delta/pull/6106"
_FAST_DROP_MERGED = "https://github.com/delta-io/delta/pull/4212"
_LATER_REMOVALS = (
    "https://github.com/delta-io/delta/pull/4975, https://github.com/delta-io/delta/pull/5026"
)
_SPARK_3_5 = "Spark 3.5 does not parse it (observed on Delta 3.3.2)"
_RETAIN_IGNORED_MERGED = "https://github.com/delta-io/delta/pull/5028"
_TRAVEL_BOUND_MERGED = "https://github.com/delta-io/delta/pull/5022"
_RETENTIONS_COMPARED_MERGED = "https://github.com/delta-io/delta/pull/5025"
_RETENTION_CLASS_MERGED = "https://github.com/delta-io/delta/pull/5722"

ROW_OPTIONS = (
    ROW_LEVEL_PREVIEW,
    "whitecap.photon.enabled",
    ROW_LEVEL_SWITCH,
    "whitecap.rowLevelConcurrency.maxWinningCommits",
    "whitecap.rowLevelConcurrency.serializableAppends",
)
NO_DATABRICKS_OPTIONS = {
    **dict.fromkeys(
        ROW_OPTIONS, f"Delta Lake has no row-level concurrency, see {_NO_ROWS_IN_DELTA}"
    ),
    "whitecap.identityColumns.refuseConcurrency": "Delta Lake lets tables with identity columns be"
    " written concurrently, see ConflictChecker.scala: checkNoMetadataUpdates",
}

OLDER_RETENTION_DEFAULTS = {
    "vacuum_ignores_retention": False,
    "time_travel_within_retention": False,
}
NO_RETENTION_RULES = {
    RETAIN_IGNORED: f"VACUUM heeds RETAIN there, since ignoring it came with"
    f" {_RETAIN_IGNORED_MERGED} (2025-08)",
    TRAVEL_BOUND: f"time travel has no bound there, which came with {_TRAVEL_BOUND_MERGED}"
    " (2025-08)",
}
OLDER_RETENTION = (
    Difference(
        "VACUUM heeds its RETAIN, whatever the table's retention is, and refuses one that is"
        " shorter as a requirement that failed, without an error class.",
        f"{_RETAIN_IGNORED_MERGED} (merged 2025-08), {_RETENTION_CLASS_MERGED} (merged 2025-12);"
        " VacuumCommand.scala before them: checkRetentionPeriodSafety",
    ),
    Difference(
        "A version may be read, cloned and restored that is older than removed files are kept, as"
        " long as they are there.",
        f"{_TRAVEL_BOUND_MERGED} (merged 2025-08)",
    ),
    Difference(
        "A table's log may be kept for less time than the files that it has removed.",
        f"{_RETENTIONS_COMPARED_MERGED} (merged 2025-08); observed on Delta 3.3.2, and taken to"
        " hold for the Databricks runtimes of its time",
    ),
)
"""VACUUM and time travel of Delta 3.3 and 4.0, and of the Databricks runtimes of their time."""

DELTA_OSS_4_4 = Dialect(
    name="delta-oss-4.4",
    engine_info="Apache-Spark/4.2.0 Delta-Lake/4.4.0",
    lacks=NO_DATABRICKS_OPTIONS,
)

DELTA_OSS_3_3 = Dialect(
    name="delta-oss-3.3",
    engine_info="Apache-Spark/3.5.3 Delta-Lake/3.3.2",
    resolves_feature_enablement=False,
    replaced_tables_keep_features=False,
    drops_features_at_once=False,
    short_retention_has_a_class=False,
    keeps_log_as_long_as_files=False,
    tells_conflicts_by_example=True,
    widened_types=frozenset({("tinyint", "smallint"), ("tinyint", "int"), ("smallint", "int")}),
    preview_features=frozenset({TYPE_WIDENING}),
    own_defaults={**OLDER_RETENTION_DEFAULTS, "ansi": False},
    lacks={
        **NO_DATABRICKS_OPTIONS,
        **NO_RETENTION_RULES,
        ENABLEMENT: f"it came after 3.3, with {_ENABLEMENT_MERGED}",
        SCHEMA_EVOLUTION: f"{_SPARK_3_5}; spark.databricks.delta.schema.autoMerge.enabled does it",
        IDENTITY: f"{_SPARK_3_5}; tables with such columns are made by programs there",
        **dict.fromkeys(("REPLACE USING", "REPLACE ON"), _SPARK_3_5),
        ENFORCEMENT: f"it came after 3.3, with {_ENFORCEMENT_MERGED}",
        FAST_DROP: f"features are dropped at once since {_FAST_DROP_MERGED}, after 3.3",
    },
    differences=(
        Difference(
            "A winner that switches a feature on aborts everybody; only row tracking enablement"
            " and identity marks are tolerated.",
            f"{_ENABLEMENT_MERGED} (merged after 3.3);"
            " ConflictChecker.scala of 3.3: checkNoMetadataUpdates",
        ),
        Difference(
            "A table that is replaced loses deletion vectors, row tracking and its checkpoint"
            " policy, unless the statement sets them again.",
            "CreateDeltaTableCommand.scala of 3.3: replaceMetadataIfNecessary;"
            " CatalogOwnedTableUtils.scala, which names what is kept, came after it",
        ),
        Difference(
            "DROP FEATURE takes away the traces of a feature that readers must know, and drops it"
            " once no version of the history shows it, with TRUNCATE HISTORY or without.",
            f"{_FAST_DROP_MERGED} (merged 2025-03, after 3.3);"
            " alterDeltaTableCommands.scala before it: AlterTableDropFeatureDeltaCommand",
        ),
        Difference(
            "Row tracking, domain metadata and materialized partition columns cannot be dropped.",
            f"{_LATER_REMOVALS} (merged after 3.3);"
            " https://docs.delta.io/3.3.0/delta-drop-feature.html",
        ),
        Difference(
            "Types are widened from BYTE to SHORT and INT, and from SHORT to INT alone, and"
            " delta.enableTypeWidening switches the preview of the feature on.",
            "https://docs.delta.io/3.3.1/delta-type-widening;"
            " TypeWideningShims.scala for Spark 3.5; observed on Delta 3.3.2",
        ),
        Difference(
            "Spark 3.5 computes without ANSI mode, unless spark.sql.ansi.enabled says so: a text"
            " that is no number, and division by zero, is NULL, and whole numbers wrap. What is"
            " stored is cast by ANSI rules there too.",
            "SQLConf.scala of Spark 3.5: ANSI_ENABLED; observed on Delta 3.3.2",
        ),
        Difference(
            "Conflicts are told by an example, under error classes without sub-classes: Files were"
            " added to partition [p=a] by a concurrent update.",
            "error/delta-error-classes.json of delta-spark_2.12-3.3.2; observed on Delta 3.3.2",
        ),
        *OLDER_RETENTION,
    ),
    of_newer_versions="Delta 4.0 to 4.3 run on Spark 4: set spark.sql.ansi.enabled: true, and ask"
    " delta-oss-4.4 where they widen types further, or parse WITH SCHEMA EVOLUTION",
)
