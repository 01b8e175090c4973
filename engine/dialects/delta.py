"""Open-source Delta Lake on Spark."""

from __future__ import annotations

from whitecap.engine.dialects.dialect import (
    ENABLEMENT,
    ROW_LEVEL_PREVIEW,
    ROW_LEVEL_SWITCH,
    Dialect,
    Difference,
)

_NO_ROWS_IN_DELTA = "https://github.com/delta-io/delta/issues/7360 (open)"
_ENABLEMENT_MERGED = "https://github.com/delta-io/delta/pull/5566"

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
    lacks={**NO_DATABRICKS_OPTIONS, ENABLEMENT: f"it came after 3.3, with {_ENABLEMENT_MERGED}"},
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
    ),
)
