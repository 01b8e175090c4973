"""Another platform, or a newer one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from whitecap.engine.dialects import Vendor, newest, version_of
from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.engine.races.explain.case import RaceCase
from whitecap.engine.races.explain.change import Change
from whitecap.engine.races.explain.conditions import compaction_of
from whitecap.engine.races.explain.layouts import VECTORS, has_vectors, set_property

_DELTA, _DATABRICKS = newest(Vendor.DELTA), newest(Vendor.DATABRICKS)
"""What is suggested."""


def newer_delta(case: RaceCase) -> Change | None:
    """Delta 4 reconciles features that are switched on."""
    if case.dialect.vendor is not Vendor.DELTA or case.dialect == _DELTA:
        return None
    title = f"Use Delta Lake {version_of(_DELTA)}"
    changed = replace(case, dialect=_DELTA)
    return Change("newer_delta", title, (f"dialect {_DELTA.name}",), changed)


def vectors_on_databricks(case: RaceCase) -> Change | None:
    """Databricks moves deletions onto compacted files, on partitioned tables as well."""
    if case.dialect.remaps_deletions_onto_compacted_files or not _compacts(case):
        return None
    return Change(
        "vectors_on_databricks",
        "Use deletion vectors on Databricks",
        tuple(_missing(case, layout=False)),
        _on_databricks(case),
        "OPTIMIZE with ZORDER BY still conflicts.",
    )


def row_level_concurrency(case: RaceCase) -> Change | None:
    """Databricks tells rows apart. Compaction it tells apart without that."""
    present = has_vectors(case) and not case.table.partition_columns
    if _compacts(case) or (present and case.dialect == _DATABRICKS):
        return None
    return Change(
        "row_level_concurrency",
        "Use row-level concurrency",
        tuple(_missing(case, layout=True)),
        _on_databricks(case, partition_columns=[]),
        "Changes to the same row still conflict.",
    )


def _missing(case: RaceCase, *, layout: bool) -> Iterator[str]:
    """What such a Databricks needs and the case does not have, another `layout` perhaps."""
    if case.dialect != _DATABRICKS:
        version = version_of(_DATABRICKS)
        yield f"dialect {_DATABRICKS.name}: Databricks Runtime {version} or newer"
    if layout and case.table.partition_columns:
        anew = f"CREATE OR REPLACE TABLE {case.target} ..."
        yield f"{anew} without PARTITIONED BY, or with CLUSTER BY"
    if not has_vectors(case):
        yield set_property(case, VECTORS, "true")


def _compacts(case: RaceCase) -> bool:
    return any(compaction_of(sql) is not None for sql in case.statements)


def _on_databricks(case: RaceCase, **changes: Any) -> RaceCase:
    """With deletion vectors on Databricks; the level stays, so that it is not what helps."""
    changed = case.with_table(properties={VECTORS: "true"}, **changes)
    if case.dialect == _DATABRICKS:
        return changed
    level = case.table.properties.get(ISOLATION_PROPERTY, case.dialect.default_isolation.value)
    leveled = changed.with_table(properties={ISOLATION_PROPERTY: level})
    return replace(leveled, dialect=_DATABRICKS)
