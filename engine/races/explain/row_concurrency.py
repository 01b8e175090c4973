"""What lets rows decide instead of files on Databricks: words, settings, properties, clustering.

Source: https://learn.microsoft.com/en-za/azure/databricks/optimizations/isolation/
row-level-concurrency ("Requirements", "Limitations"); https://kb.databricks.com/delta-live-tables/
dlt-pipeline-failing-with-concurrentdeletedeleteexception-error (row tracking).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whitecap.engine.log.properties import ROW_TRACKING
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.races.explain.case import RaceCase
from whitecap.engine.races.explain.change import Change, Changer
from whitecap.engine.races.explain.conditions import condition_of, is_sorting
from whitecap.engine.races.explain.layouts import (
    SIMPLE_TYPES,
    VECTORS,
    explicitly_without_vectors,
    set_property,
)
from whitecap.engine.races.explain.wordings import added_conjuncts
from whitecap.engine.sql.expressions.rendering import sql_literal
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import Merge
from whitecap.engine.values.casts import from_python


def row_changes() -> list[Changer]:
    """What can be done on the Databricks that users have, the lightest first."""
    return [switch_rows_on, use_photon, target_predicate, track_rows, cluster]


def switch_rows_on(case: RaceCase) -> Change | None:
    """Let rows decide where a setting says that they do not."""
    if case.dialect.row_level is None or case.settings.row_level_concurrency:
        return None
    return Change(
        "switch_rows_on",
        "Switch row-level concurrency on",
        ("whitecap.rowLevelConcurrency.enabled: true",),
        replace(case, settings=replace(case.settings, row_level_concurrency=True)),
    )


def use_photon(case: RaceCase) -> Change | None:
    """Compute that older runtimes need for more commands than DELETE."""
    if case.dialect.row_level is None or case.settings.photon:
        return None
    return Change(
        "photon",
        "Use compute with Photon",
        ("whitecap.photon.enabled: true",),
        replace(case, settings=replace(case.settings, photon=True)),
    )


def target_predicate(case: RaceCase) -> Change | None:
    """Ask something of the target alone in the ON of each MERGE."""
    rules = case.dialect.row_level
    if rules is None or not rules.merge_needs_target_predicate:
        return None
    return added_conjuncts(
        case,
        [_bounds(case, sql) for sql in case.statements],
        "target_predicate",
        "Add a predicate on the target alone to the ON of MERGE",
        f"{case.dialect.name} tells rows apart for no other MERGE. Right only if it holds for every"
        " row that the source should match.",
    )


def _bounds(case: RaceCase, sql: str) -> list[str]:
    """The least value of a column of the target that ON is about, as its lower bound."""
    condition = condition_of(sql)
    if condition is None or not isinstance(parse_statement(sql), Merge):
        return []
    for field in parse_ddl(case.table.schema):
        values = [row.get(field.name) for file in case.table.files for row in file.rows]
        has_values = values and None not in values and field.type in SIMPLE_TYPES
        if has_values and condition.columns([field.name]):
            least: Any = min(from_python(value, field.type) for value in values)
            return [f"{condition.prefix}{field.name} >= {sql_literal(least)}"]
    return []


def track_rows(case: RaceCase) -> Change | None:
    """Give rows an identity by which they are found again in files that were sorted."""
    dialect, properties = case.dialect, case.table.properties
    lacks = ROW_TRACKING.key in dialect.lacks or dialect.row_level is None
    if lacks or ROW_TRACKING.of(properties) or not any(map(is_sorting, case.statements)):
        return None
    return Change(
        "row_tracking",
        "Enable row tracking",
        (set_property(case, ROW_TRACKING.key, "true"),),
        case.with_table(properties={ROW_TRACKING.key: "true"}),
    )


def cluster(case: RaceCase) -> Change | None:
    """Cluster the table, where rows decide on clustered tables alone."""
    rules = case.dialect.row_level
    if rules is None or not rules.only_clustered_tables or case.cluster_by:
        return None
    column = _clustering_column(case)
    if column is None:
        return None
    changed = case.with_table(partition_columns=[], properties={VECTORS: "true"})
    return Change(
        "cluster_by",
        f"Cluster the table by {column}",
        tuple(_clustering_statements(case, column)),
        replace(changed, cluster_by=(column,)),
        "Changes to the same row still conflict.",
    )


def _clustering_statements(case: RaceCase, column: str) -> list[str]:
    clause = f"CLUSTER BY ({column})"
    if case.table.partition_columns:
        layout = f"CREATE OR REPLACE TABLE {case.target} ... {clause}"
    else:
        layout = f"ALTER TABLE {case.target} {clause}"
    marks = [set_property(case, VECTORS, "true")] if explicitly_without_vectors(case) else []
    return [layout, *marks]


def _clustering_column(case: RaceCase) -> str | None:
    """The first column that a condition of the two is about."""
    conditions = [c for sql in case.statements if (c := condition_of(sql)) is not None]
    names = [field.name for field in parse_ddl(case.table.schema) if field.type in SIMPLE_TYPES]
    return next((name for name in names if any(c.columns([name]) for c in conditions)), None)
