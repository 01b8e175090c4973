"""Another layout of the table, or other properties."""

from __future__ import annotations

from dataclasses import replace

from whitecap.engine.isolation import ISOLATION_PROPERTY, IsolationLevel, stated_level
from whitecap.engine.log import properties
from whitecap.engine.log.schema import Schema, parse_ddl
from whitecap.engine.races.explain.case import RaceCase
from whitecap.engine.races.explain.change import Change, Changer
from whitecap.engine.races.explain.conditions import condition_of
from whitecap.engine.races.row_tables import TableOf
from whitecap.engine.values.types import is_integral

VECTORS = properties.DELETION_VECTORS.key


def other_layouts(case: RaceCase) -> list[Changer]:
    """Partitioning by each column that the conditions are about, and by all of them."""
    columns = _condition_columns(case)
    every = [_partitioning(*columns)] if len(columns) > 1 else []
    return [*(_partitioning(column) for column in columns), *every]


_INSTEAD = ", instead of clustering it"
_CLUSTERED = (
    "Delta replaces no clustered table by a partitioned one: drop it, and name the new one so. "
)
_WRITTEN = "The table is written anew; many distinct values make many small files."


def _partitioning(*columns: str) -> Changer:
    def partition(case: RaceCase) -> Change | None:
        layout = [*case.table.partition_columns, *columns]
        listed = ", ".join(layout)
        changed = replace(case.with_table(partition_columns=layout), cluster_by=())
        title, how = f"Partition the table by {listed}", f"PARTITIONED BY ({listed})"
        if case.cluster_by:
            how = f"CREATE TABLE ... {how} AS SELECT * FROM {case.target}"
            return Change("partition_by", title + _INSTEAD, (how,), changed, _CLUSTERED + _WRITTEN)
        how = f"CREATE OR REPLACE TABLE {case.target} ... {how}"
        return Change("partition_by", title, (how,), changed, _WRITTEN)

    return partition


def _condition_columns(case: RaceCase) -> list[str]:
    """Columns that all conditions of the two statements are about, best candidates first."""
    schema = parse_ddl(case.table.schema)
    simple = [field.name for field in schema if field.type in SIMPLE_TYPES]
    conditions = [c for sql in case.statements if (c := condition_of(sql)) is not None]
    if not conditions:
        return []
    shared = frozenset.intersection(*(condition.columns(simple) for condition in conditions))
    candidates = [name for name in shared if not _is_key(case.table, schema, name)]
    candidates = [name for name in candidates if name not in case.table.partition_columns]
    return sorted(candidates, key=lambda name: SIMPLE_TYPES.index(_type(schema, name)))


def _is_key(table: TableOf, schema: Schema, name: str) -> bool:
    """Whether a number is different in every row: a partition for each would be absurd."""
    values = [row.get(name) for file in table.files for row in file.rows]
    return is_integral(_type(schema, name)) and len(set(values)) == len(values)


SIMPLE_TYPES = ("date", "string", "boolean", "int", "smallint", "tinyint", "bigint")
"""Types of columns that tables are partitioned by, those with fewer values first."""


def _type(schema: Schema, name: str) -> str:
    return schema.fields[schema.index(name)].type


def has_vectors(case: RaceCase) -> bool:
    """Whether the table has deletion vectors, by a property or because it is clustered."""
    if VECTORS in case.table.properties:
        return properties.DELETION_VECTORS.of(case.table.properties)
    return bool(case.cluster_by) and case.dialect.clustered_tables_get_vectors


def explicitly_without_vectors(case: RaceCase) -> bool:
    """Whether a property keeps deletion vectors off, so that clustering does not bring them."""
    return VECTORS in case.table.properties and not has_vectors(case)


def with_deletion_vectors(case: RaceCase) -> Change | None:
    """Mark deleted rows instead of rewriting files."""
    if has_vectors(case):
        return None
    return Change(
        "deletion_vectors",
        "Enable deletion vectors",
        (set_property(case, VECTORS, "true"),),
        case.with_table(properties={VECTORS: "true"}),
    )


def write_serializable(case: RaceCase) -> Change | None:
    """Let blind appends pass unseen, where SQL may say so."""
    if _LOOSER not in case.dialect.settable_levels:
        return None
    return _at_looser_level(case, set_property(case, ISOLATION_PROPERTY, _LOOSER.value))


def write_serializable_elsewhere(case: RaceCase) -> Change | None:
    """The same where SQL may not: the engine obeys a level that is in the log all the same."""
    if _LOOSER in case.dialect.settable_levels:
        return None
    return _at_looser_level(
        case,
        f"{case.dialect.name} refuses to set it; it is the default on Databricks, and obeyed in"
        " the log of a table that was given it there",
    )


_LOOSER = IsolationLevel.WRITE_SERIALIZABLE


def _at_looser_level(case: RaceCase, how: str) -> Change | None:
    if (stated_level(case.table.properties) or case.dialect.default_isolation) is _LOOSER:
        return None
    return Change(
        "write_serializable",
        "Use the isolation level WriteSerializable",
        (how,),
        case.with_table(properties={ISOLATION_PROPERTY: _LOOSER.value}),
        "History may then not explain the table: an append can come before a change that did not"
        " see it.",
    )


def set_property(case: RaceCase, key: str, value: str) -> str:
    """The statement that sets a property of the table."""
    return f"ALTER TABLE {case.target} SET TBLPROPERTIES ('{key}' = '{value}')"
