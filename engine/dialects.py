"""What differs between versions and vendors of Delta, in one place.

A dialect is a small declaration; every rule that depends on it asks for one of its fields. Choosing
something that a dialect lacks is an error with the reason, never a silent approximation.
"""

from __future__ import annotations

import dataclasses
import difflib
from dataclasses import dataclass
from enum import Enum

from engine.errors import InvalidInput, Problem
from engine.settings import Settings
from engine.transaction.isolation import IsolationLevel


class RowLevelConcurrency(Enum):
    """How far changes to different rows of one file are reconciled."""

    ABSENT = "absent"
    MERGE_WITH_TARGET_PREDICATE = "merge with target predicate"
    """For all commands, but MERGE must filter the target by an explicit predicate."""
    AUTOMATIC = "automatic"


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a dialect is not like Delta 4.4, and who says so."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """One platform by what it does otherwise than Delta 4.4; the defaults are those of 4.4."""

    name: str
    engine_info: str
    default_isolation: IsolationLevel = IsolationLevel.SERIALIZABLE
    resolves_feature_enablement: bool = True
    remaps_deletions_onto_compacted_files: bool = False
    row_level_concurrency: RowLevelConcurrency = RowLevelConcurrency.ABSENT
    differences: tuple[Difference, ...] = ()

    def adjusted(self, settings: Settings) -> Settings:
        """The session's settings as far as this dialect has them."""
        if self.resolves_feature_enablement:
            return settings
        return dataclasses.replace(settings, resolve_feature_enablement=False)


DELTA_OSS_4_4 = Dialect(
    name="delta-oss-4.4",
    engine_info="Apache-Spark/4.2.0 Delta-Lake/4.4.0",
)

DELTA_OSS_3_3 = Dialect(
    name="delta-oss-3.3",
    engine_info="Apache-Spark/3.5.3 Delta-Lake/3.3.2",
    resolves_feature_enablement=False,
    differences=(
        Difference(
            "A winner that switches a feature on aborts everybody; only row tracking enablement"
            " and identity marks are tolerated.",
            "https://github.com/delta-io/delta/pull/5566 (merged after 3.3);"
            " ConflictChecker.scala of 3.3: checkNoMetadataUpdates",
        ),
    ),
)

_ISOLATION_PAGE = (
    "https://learn.microsoft.com/en-us/azure/databricks/optimizations/isolation/isolation-levels"
)
_ROWS_PAGE = (
    "https://learn.microsoft.com/en-za/azure/databricks/optimizations/isolation/"
    "row-level-concurrency"
)
_OLDER_ROWS_PAGE = (
    "https://docs.databricks.com/aws/en/optimizations/isolation/row-level-concurrency"
)

_WRITE_SERIALIZABLE = Difference("WriteSerializable is the default level.", _ISOLATION_PAGE)
_COMPACTION = Difference(
    "On tables with deletion vectors OPTIMIZE without ZORDER BY and DML do not conflict: deletions"
    " are remapped onto the compacted file, whichever commits first.",
    _ROWS_PAGE,
)


def _databricks(version: str, rows: RowLevelConcurrency, difference: Difference) -> Dialect:
    return Dialect(
        name=f"databricks-{version}",
        engine_info=f"Databricks-Runtime/{version}.x-scala2.12",
        default_isolation=IsolationLevel.WRITE_SERIALIZABLE,
        remaps_deletions_onto_compacted_files=True,
        row_level_concurrency=rows,
        differences=(_WRITE_SERIALIZABLE, _COMPACTION, difference),
    )


DATABRICKS_13_3 = _databricks(
    "13.3",
    RowLevelConcurrency.ABSENT,
    Difference(
        "No row-level concurrency: it came as a preview with 14.0. That liquid-clustered tables"
        " had it earlier is not confirmed by any page we could read.",
        "https://docs.databricks.com/release-notes/runtime/14.0.html",
    ),
)
DATABRICKS_14_2 = _databricks(
    "14.2",
    RowLevelConcurrency.MERGE_WITH_TARGET_PREDICATE,
    Difference(
        "Row-level concurrency on unpartitioned tables with deletion vectors; MERGE needs an"
        " explicit predicate on the target, and Photon.",
        _OLDER_ROWS_PAGE,
    ),
)
DATABRICKS_14_3 = _databricks(
    "14.3",
    RowLevelConcurrency.AUTOMATIC,
    Difference(
        "Row-level concurrency on unpartitioned tables with deletion vectors, for every command.",
        _ROWS_PAGE,
    ),
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
        nearest = difflib.get_close_matches(name, DIALECTS, n=1)
        problem = Problem("dialect", f"there is no {name!r}", nearest[0] if nearest else None)
        raise InvalidInput([problem]) from None
