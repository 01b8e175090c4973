"""What differs between versions and vendors of Delta, in one place.

A dialect is a small declaration; every rule that depends on it asks for one of its fields. Choosing
something that a dialect lacks is an error with the reason, never a silent approximation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature, nearest
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.property_names import why_not_modelled
from whitecap.engine.settings import Settings

ROW_COMMANDS = frozenset({"DELETE", "UPDATE", "MERGE", "WRITE"})
"""The operations that row-level concurrency knows; WRITE is an INSERT that reads its own table."""


@dataclass(frozen=True, slots=True)
class RowLevelRules:
    """Where changes to different rows of one file are reconciled.

    Always on unpartitioned tables with deletion vectors. `commands_without_photon`: what it covers
    on compute without Photon.
    """

    only_clustered_tables: bool = False
    merge_needs_target_predicate: bool = False
    commands_without_photon: frozenset[str] = ROW_COMMANDS


class Vendor(Enum):
    """Whose rules a dialect follows."""

    DELTA = "Delta Lake"
    DATABRICKS = "Databricks"


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a dialect is not like Delta 4.4, and who says so."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """One platform by what it does otherwise than Delta 4.4; the defaults are those of 4.4.

    `own_properties` are table properties that Delta does not know. `row_level` is `None` where
    files are the unit of conflict. `lacks` maps settings, table properties and commands that the
    platform does not have to the reason.
    """

    name: str
    engine_info: str
    vendor: Vendor = Vendor.DELTA
    default_isolation: IsolationLevel = IsolationLevel.SERIALIZABLE
    settable_levels: frozenset[IsolationLevel] = frozenset({IsolationLevel.SERIALIZABLE})
    resolves_feature_enablement: bool = True
    remaps_deletions_onto_compacted_files: bool = False
    identity_columns_refuse_concurrency: bool = False
    conditions_may_ask_queries: bool = False
    clustered_tables_get_vectors: bool = False
    tolerates_row_tracking_enablement: bool = True
    own_properties: frozenset[str] = frozenset()
    row_level: RowLevelRules | None = None
    lacks: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)
    differences: tuple[Difference, ...] = ()

    @property
    def resolves_rows(self) -> bool:
        """Whether its conflict check ever looks further than at paths and partitions."""
        return self.remaps_deletions_onto_compacted_files or self.row_level is not None

    def adjusted(self, settings: Settings) -> Settings:
        """The session's settings as far as this dialect has them."""
        if self.resolves_feature_enablement or not settings.resolve_feature_enablement:
            return settings
        return dataclasses.replace(settings, resolve_feature_enablement=False)

    def require(self, names: Iterable[str]) -> None:
        """Raises `UnsupportedFeature` for the first setting, property or command that it lacks.

        Also for a property that no dialect here models.
        """
        lacks = {name.lower(): reason for name, reason in self.lacks.items()}
        for name in names:
            reason = lacks.get(name.lower())
            if reason is not None:
                raise UnsupportedFeature(f"{name} is not part of {self.name}: {reason}")
            reason = why_not_modelled(name)
            if reason is not None:
                raise UnsupportedFeature(f"{name} is not modelled: {reason}")

    def settings_of(self, conf: Mapping[str, str]) -> Settings:
        """A session's configuration, read for this dialect.

        Raises `UnsupportedFeature` for a key that is not modelled, or that the dialect lacks.
        """
        self.require(conf)
        return Settings.from_conf(conf)

    def checked_settings(self, conf: Mapping[str, str]) -> Settings:
        """The same for what users give. Raises `InvalidInput` with every problem."""
        problems = list(self.settings_problems(conf))
        if problems:
            raise InvalidInput(problems)
        return self.settings_of(conf)

    def settings_problems(self, conf: Mapping[str, str]) -> Iterator[Problem]:
        """What is wrong with each setting."""
        for key, value in conf.items():
            try:
                self.settings_of({key: value})
            except UnsupportedFeature as error:
                yield Problem(f"settings.{key}", str(error))


_ISOLATION_PAGE = (
    "https://learn.microsoft.com/en-us/azure/databricks/optimizations/isolation/isolation-levels"
)
_CONFLICTS_PAGE = "https://learn.microsoft.com/en-us/azure/databricks/optimizations/isolation"
_ROWS_PAGE = (
    "https://learn.microsoft.com/en-za/azure/databricks/optimizations/isolation/"
    "row-level-concurrency"
)
_OLDER_ROWS_PAGE = (
    "https://docs.databricks.com/gcp/en/optimizations/isolation/row-level-concurrency"
)
_CLUSTERING_PAGE = "https://learn.microsoft.com/en-ca/azure/databricks/delta/clustering"
_DROP_PAGE = "https://docs.databricks.com/gcp/archive/legacy/drop-feature-legacy"
_ROW_TRACKING_PAGE = "https://docs.databricks.com/gcp/en/tables/features/row-tracking"
_PREVIEW_PAGE = "https://docs.databricks.com/release-notes/runtime/14.0.html"
_LEVELS_PAGE = "https://docs.azure.cn/databricks/optimizations/isolation-level"
_DELETE_PAGE = (
    "https://learn.microsoft.com/en-us/azure/databricks/sql/language-manual/delta-delete-from"
)
_NO_ROWS_IN_DELTA = "https://github.com/delta-io/delta/issues/7360 (open)"
_ENABLEMENT_MERGED = "https://github.com/delta-io/delta/pull/5566"

_PREVIEW = "spark.databricks.delta.rowLevelConcurrencyPreview"
_ENABLEMENT = "spark.databricks.delta.featureEnablement.conflictResolution.enabled"
ROW_LEVEL_SWITCH = "whitecap.rowLevelConcurrency.enabled"
_ROW_OPTIONS = (
    _PREVIEW,
    "whitecap.photon.enabled",
    ROW_LEVEL_SWITCH,
    "whitecap.rowLevelConcurrency.maxWinningCommits",
    "whitecap.rowLevelConcurrency.serializableAppends",
)
_NO_DATABRICKS_OPTIONS = {
    **dict.fromkeys(
        _ROW_OPTIONS, f"Delta Lake has no row-level concurrency, see {_NO_ROWS_IN_DELTA}"
    ),
    "whitecap.identityColumns.refuseConcurrency": "Delta Lake lets tables with identity columns be"
    " written concurrently, see ConflictChecker.scala: checkNoMetadataUpdates",
}
_NO_PREVIEW_NEEDED = (
    f"from 14.2 on row-level concurrency needs no preview, see {_OLDER_ROWS_PAGE}"
    f" ({ROW_LEVEL_SWITCH} switches it off)"
)
_DROP_FEATURE = {"DROP FEATURE": f"it came with 14.3, see {_DROP_PAGE}"}

DELTA_OSS_4_4 = Dialect(
    name="delta-oss-4.4",
    engine_info="Apache-Spark/4.2.0 Delta-Lake/4.4.0",
    lacks=_NO_DATABRICKS_OPTIONS,
)

DELTA_OSS_3_3 = Dialect(
    name="delta-oss-3.3",
    engine_info="Apache-Spark/3.5.3 Delta-Lake/3.3.2",
    resolves_feature_enablement=False,
    lacks={**_NO_DATABRICKS_OPTIONS, _ENABLEMENT: f"it came after 3.3, with {_ENABLEMENT_MERGED}"},
    differences=(
        Difference(
            "A winner that switches a feature on aborts everybody; only row tracking enablement"
            " and identity marks are tolerated.",
            f"{_ENABLEMENT_MERGED} (merged after 3.3);"
            " ConflictChecker.scala of 3.3: checkNoMetadataUpdates",
        ),
    ),
)

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
        _ROWS_PAGE,
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
        _ROWS_PAGE,
    ),
    Difference(
        "Conditions of DELETE and UPDATE may ask subqueries; files then decide.", _DELETE_PAGE
    ),
    Difference(
        "Liquid-clustered tables have deletion vectors unless they are switched off.", _LEVELS_PAGE
    ),
)


def _databricks(
    version: str,
    rows: RowLevelRules,
    differences: tuple[Difference, ...],
    lacks: Mapping[str, str] | None = None,
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
        clustered_tables_get_vectors=True,
        tolerates_row_tracking_enablement=False,
        own_properties=frozenset(DATABRICKS_PROPERTIES),
        row_level=rows,
        lacks={
            _ENABLEMENT: f"switching a feature on fails concurrent writes, see {_CONFLICTS_PAGE}",
            **(lacks or {}),
        },
        differences=(*_OF_DATABRICKS, *differences),
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
        _PREVIEW: f"the preview for other tables came with 14.0, see {_PREVIEW_PAGE}",
        "delta.enableRowTracking": f"it came with 14.1, see {_ROW_TRACKING_PAGE}",
        **_DROP_FEATURE,
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
    {_PREVIEW: _NO_PREVIEW_NEEDED, **_DROP_FEATURE},
)
DATABRICKS_14_3 = _databricks(
    "14.3",
    RowLevelRules(),
    (
        Difference(
            "Row-level concurrency on unpartitioned tables with deletion vectors, for every"
            " command, with or without Photon.",
            _ROWS_PAGE,
        ),
    ),
    {_PREVIEW: _NO_PREVIEW_NEEDED},
)

DIALECTS = {
    dialect.name: dialect
    for dialect in (
        DELTA_OSS_4_4,
        DELTA_OSS_3_3,
        DATABRICKS_13_3,
        DATABRICKS_14_2,
        DATABRICKS_14_3,
    )
}


def dialect_named(name: str) -> Dialect:
    """The dialect of that name. Raises `InvalidInput` with the nearest one."""
    try:
        return DIALECTS[name]
    except KeyError:
        problem = Problem("dialect", f"there is no {name!r}", nearest(name, DIALECTS))
        raise InvalidInput([problem]) from None
