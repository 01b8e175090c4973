"""Databricks runtimes."""

from __future__ import annotations

from collections.abc import Mapping

from whitecap.engine.dialects.delta import (
    NO_RETENTION_RULES,
    OLDER_RETENTION,
    OLDER_RETENTION_DEFAULTS,
)
from whitecap.engine.dialects.dialect import (
    ENABLEMENT,
    ROW_LEVEL_PREVIEW,
    ROW_LEVEL_SWITCH,
    Dialect,
    Difference,
    RowLevelRules,
    Vendor,
)
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.properties import ROW_TRACKING, TYPE_WIDENING
from whitecap.engine.rules import ROWS_PAGE

_ISOLATION_PAGE = (
    "https://learn.microsoft.com/en-us/azure/databricks/optimizations/isolation/isolation-levels"
)
_CONFLICTS_PAGE = "https://learn.microsoft.com/en-us/azure/databricks/optimizations/isolation"
_OLDER_ROWS_PAGE = (
    "https://docs.databricks.com/gcp/en/optimizations/isolation/row-level-concurrency"
)
_CLUSTERING_PAGE = "https://learn.microsoft.com/en-ca/azure/databricks/delta/clustering"
_DROP_PAGE = "https://docs.databricks.com/delta/drop-feature.html"
_MERGE_PAGE = "https://learn.microsoft.com/azure/databricks/sql/language-manual/delta-merge-into"
_OVERWRITE_PAGE = "https://learn.microsoft.com/en-nz/azure/Databricks/delta/selective-overwrite"
_REORG_PAGE = "https://docs.databricks.com/sql/language-manual/delta-reorg-table.html"
_WIDENING_PAGE = "https://docs.databricks.com/delta/type-widening.html"
_ROW_TRACKING_PAGE = "https://docs.databricks.com/gcp/en/tables/features/row-tracking"
_PREVIEW_PAGE = "https://docs.databricks.com/release-notes/runtime/14.0.html"
_LEVELS_PAGE = "https://docs.azure.cn/databricks/optimizations/isolation-level"
_DELETE_PAGE = (
    "https://learn.microsoft.com/en-us/azure/databricks/sql/language-manual/delta-delete-from"
)
_VECTORS_PAGE = (
    "https://docs.databricks.com/administration-guide/workspace-settings/deletion-vectors.html"
)
_FILE_SIZE_PAGE = "https://docs.databricks.com/en/delta/tune-file-size.html"

_NO_PREVIEW_NEEDED = (
    f"from 14.2 on row-level concurrency needs no preview, see {_OLDER_ROWS_PAGE}"
    f" ({ROW_LEVEL_SWITCH} switches it off)"
)
_NOT_YET = {
    TYPE_WIDENING.key: f"it came with 15.2, see {_WIDENING_PAGE}",
    "REPLACE ON": f"it came with 17.1, see {_OVERWRITE_PAGE}",
    "REPLACE USING": f"it came with 16.3, see {_OVERWRITE_PAGE}",
    "UPGRADE UNIFORM": f"it came with 14.3, see {_REORG_PAGE}",
    "WITH SCHEMA EVOLUTION": f"it came with 15.2, see {_MERGE_PAGE}",
}
"""What 14.2 and its elders lack. The rules of 14.3 also stand for those of later runtimes."""

DATABRICKS_PROPERTIES = {
    "delta.parquet.compression.codec": "how data files are written inside",
    "delta.targetFileSize": "files are as large as the setting optimize.maxFileSize says",
    "delta.tuneFileSizesForRewrites": "files are rewritten as large as their rows make them",
}
"""Properties of their own, which are kept and decide no race, with the reason.

Source: https://docs.databricks.com/en/delta/table-properties.html.
"""

_OF_DATABRICKS = (
    Difference(
        "WriteSerializable is the default level, and SQL may set either level.", _ISOLATION_PAGE
    ),
    Difference(
        "Switching a feature on is a metadata change that fails all concurrent writes, row tracking"
        " included.",
        f"{_CONFLICTS_PAGE}; {_ROW_TRACKING_PAGE}",
    ),
    Difference(
        "On tables with deletion vectors OPTIMIZE without ZORDER BY and DML do not conflict:"
        " deletions are remapped onto the compacted file, whichever commits first.",
        ROWS_PAGE,
    ),
    Difference(
        "A winner that only moved rows (OPTIMIZE) conflicts by the files that both removed"
        " (ConcurrentDeleteDelete), and with nobody who only read them.",
        "https://github.com/databrickslabs/overwatch/issues/1166;"
        " https://kb.databricks.com/delta-live-tables/"
        "dlt-pipeline-failing-with-concurrentdeletedeleteexception-error",
    ),
    Difference(
        "Tables with identity columns support no concurrent transactions; a REORG that applies an"
        " upgrade conflicts with every ongoing operation.",
        ROWS_PAGE,
    ),
    Difference(
        "Conditions of DELETE and UPDATE may ask subqueries; files then decide.", _DELETE_PAGE
    ),
    Difference(
        "Liquid-clustered tables have deletion vectors unless they are switched off.", _LEVELS_PAGE
    ),
    Difference(
        "Whether new tables get deletion vectors is a setting of the workspace, for SQL warehouses"
        " and from Runtime 14.0 on; here they do where a property says so.",
        _VECTORS_PAGE,
    ),
    Difference(
        "Auto compaction follows MERGE, UPDATE and DELETE that add files, and nothing switches it"
        " off there; after others it follows where a setting or property says so.",
        _FILE_SIZE_PAGE,
    ),
)


def _databricks(
    version: str,
    rows: RowLevelRules,
    differences: tuple[Difference, ...],
    lacks: Mapping[str, str],
) -> Dialect:
    return Dialect(
        name=f"databricks-{version}",
        engine_info=f"Databricks-Runtime/{version}.x-scala2.12",
        vendor=Vendor.DATABRICKS,
        default_isolation=IsolationLevel.WRITE_SERIALIZABLE,
        settable_levels=frozenset({IsolationLevel.SERIALIZABLE, IsolationLevel.WRITE_SERIALIZABLE}),
        resolves_feature_enablement=False,
        remaps_deletions_onto_compacted_files=True,
        identity_columns_refuse_concurrency=True,
        conditions_may_ask_queries=True,
        merge_loses_char_columns=False,
        clustered_tables_get_vectors=True,
        always_compacts_after=frozenset({"DELETE", "MERGE", "UPDATE"}),
        tolerates_row_tracking_enablement=False,
        short_retention_has_a_class=False,
        keeps_log_as_long_as_files=False,
        own_properties=frozenset(DATABRICKS_PROPERTIES),
        own_defaults=OLDER_RETENTION_DEFAULTS,
        row_level=rows,
        lacks={
            ENABLEMENT: f"switching a feature on fails concurrent writes, see {_CONFLICTS_PAGE}",
            **NO_RETENTION_RULES,
            **lacks,
        },
        differences=(*_OF_DATABRICKS, *differences, *OLDER_RETENTION),
    )


DATABRICKS_13_3 = _databricks(
    "13.3",
    RowLevelRules(only_clustered_tables=True, commands_without_photon=frozenset({"DELETE"})),
    (
        Difference(
            "Row-level concurrency on liquid-clustered tables only (their preview).",
            _CLUSTERING_PAGE,
        ),
        Difference(
            "Without Photon only DELETE has row-level concurrency.",
            "not confirmed: the page's legacy section, of which no copy could be read",
        ),
    ),
    {
        ROW_LEVEL_PREVIEW: f"the preview for other tables came with 14.0, see {_PREVIEW_PAGE}",
        ROW_TRACKING.key: f"it came with 14.1, see {_ROW_TRACKING_PAGE}",
        "DROP FEATURE": f"it came with 14.1, see {_DROP_PAGE}",
        **_NOT_YET,
    },
)
DATABRICKS_14_2 = _databricks(
    "14.2",
    RowLevelRules(
        merge_needs_target_predicate=True,
        commands_without_photon=frozenset({"DELETE", "UPDATE"}),
    ),
    (
        Difference(
            "Row-level concurrency on unpartitioned tables with deletion vectors; MERGE needs an"
            " explicit predicate on the target, and Photon.",
            _OLDER_ROWS_PAGE,
        ),
    ),
    {ROW_LEVEL_PREVIEW: _NO_PREVIEW_NEEDED, **_NOT_YET},
)
DATABRICKS_14_3 = _databricks(
    "14.3",
    RowLevelRules(),
    (
        Difference(
            "Row-level concurrency on unpartitioned tables with deletion vectors, for every"
            " command, with or without Photon.",
            ROWS_PAGE,
        ),
    ),
    {ROW_LEVEL_PREVIEW: _NO_PREVIEW_NEEDED},
)
