"""What could be changed so that two statements do not conflict; whether it helps is for a race.

A change is a function from a case to the changed case, `None` where it makes no sense. Changes can
be made one after the other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.conformance.case import TableOf
from engine.dialects import DATABRICKS_14_3, DELTA_OSS_3_3, DELTA_OSS_4_4
from engine.errors import InvalidInput
from engine.explain.case import NAMES, Case
from engine.explain.conditions import compaction_of, condition_of
from engine.explain.partitions import partitions_touched
from engine.log import properties
from engine.log.schema import Schema, parse_ddl
from engine.sql.parsing import parse_statement
from engine.sql.rendering import sql_literal
from engine.sql.statements import Optimize
from engine.sql.types import from_python, is_integral
from engine.transaction.isolation import ISOLATION_PROPERTY, IsolationLevel

VECTORS = "delta.enableDeletionVectors"


@dataclass(frozen=True, slots=True)
class Change:
    """A changed case: what was changed, how (as SQL where that is possible), and what it costs.

    `key` names the kind of change for programs.
    """

    key: str
    title: str
    how: tuple[str, ...]
    case: Case
    note: str = ""


Changer = Callable[[Case], Change | None]


def own_changes(case: Case) -> list[Changer]:
    """What users can do on the platform they have."""
    columns = _condition_columns(case)
    layouts = [_partitioning(column) for column in columns]
    every = [_partitioning(*columns)] if len(columns) > 1 else []
    return [
        without_zorder,
        *layouts,
        *every,
        with_deletion_vectors,
        write_serializable,
        name_partitions,
        compact_elsewhere,
    ]


def platform_changes() -> list[Changer]:
    """What takes another platform or a newer one."""
    return [newer_delta, write_serializable_elsewhere, row_level_concurrency]


def name_partitions(case: Case) -> Change | None:
    """Say in each condition in which partitions its rows are."""
    if not case.table.partition_columns:
        return None
    added = [_partition_conjuncts(case, sql) for sql in case.statements]
    if not any(added):
        return None
    how = [f"{n}: AND {' AND '.join(c)}" for n, c in zip(NAMES, added, strict=True) if c]
    return Change(
        "name_partitions",
        "Name the partitions in the condition, as literals",
        tuple(how),
        _with_statements(case, lambda sql, at: _with_conjuncts(sql, added[at])),
        "Right only if the statement never concerns rows of other partitions.",
    )


def _with_statements(case: Case, change: Callable[[str, int], str]) -> Case:
    first, second = (change(sql, at) for at, sql in enumerate(case.statements))
    return dataclasses.replace(case, statements=(first, second))


def _with_conjuncts(sql: str, conjuncts: list[str]) -> str:
    condition = condition_of(sql)
    return sql if condition is None else condition.with_all(conjuncts)


def _partition_conjuncts(case: Case, sql: str) -> list[str]:
    """Conditions that name the partitions a statement touches; none where it has no condition."""
    condition = condition_of(sql)
    if condition is None:
        return []
    touched = partitions_touched(case, sql)
    named = condition.pinned_columns()
    found = []
    for column in case.table.partition_columns:
        values = {values[column] for values in touched}
        if values and None not in values and column.lower() not in named:
            found.append(_among(f"{condition.prefix}{column}", _literals(case, column, values)))
    return found


def _literals(case: Case, column: str, values: Iterable[str | None]) -> list[str]:
    schema = parse_ddl(case.table.schema)
    kind = _type(schema, column)
    return [sql_literal(from_python(value, kind)) for value in sorted(values, key=str)]


def _among(name: str, literals: list[str]) -> str:
    return f"{name} = {literals[0]}" if len(literals) == 1 else f"{name} IN ({', '.join(literals)})"


def compact_elsewhere(case: Case) -> Change | None:
    """Leave out of a compaction the partitions that the other statement changes."""
    first, second = case.statements
    changed = (_compacting_beside(case, first, second), _compacting_beside(case, second, first))
    if changed == case.statements:
        return None
    pairs_of = zip(NAMES, changed, case.statements, strict=True)
    return Change(
        "compact_elsewhere",
        "Compact only partitions that the other does not change",
        tuple(f"{name}: {new}" for name, new, old in pairs_of if new != old),
        dataclasses.replace(case, statements=changed),
        "Compact the others when it is done.",
    )


MOST_PARTITIONS = 5
"""More partitions than this are not listed in a condition."""


def _compacting_beside(case: Case, sql: str, other: str) -> str:
    """An OPTIMIZE without the partitions that `other` changes; as it is if that leaves nothing."""
    condition = compaction_of(sql)
    columns = case.table.partition_columns
    if condition is None or not columns or compaction_of(other) is not None:
        return sql
    touched = {tuple(p[c] for c in columns) for p in partitions_touched(case, other)}
    if not 0 < len(touched) <= MOST_PARTITIONS or any(None in values for values in touched):
        return sql
    conjuncts = [_other_than(case, values) for values in sorted(touched, key=str)]
    narrowed = condition.with_all(conjuncts)
    return narrowed if partitions_touched(case, narrowed) else sql


def _other_than(case: Case, values: Sequence[str | None]) -> str:
    pairs = zip(case.table.partition_columns, values, strict=True)
    equal = (f"{name} = {_literals(case, name, [value])[0]}" for name, value in pairs)
    return f"NOT ({' AND '.join(equal)})"


def without_zorder(case: Case) -> Change | None:
    """Compact without sorting."""
    changed = _with_statements(case, lambda sql, _: _unsorted(sql))
    if changed.statements == case.statements:
        return None
    both = zip(NAMES, changed.statements, case.statements, strict=True)
    how = tuple(f"{name}: {new}" for name, new, old in both if new != old)
    return Change(
        "without_zorder", "Leave out ZORDER BY", how, changed, "Files are no longer sorted."
    )


def _unsorted(sql: str) -> str:
    try:
        statement = parse_statement(sql)
    except InvalidInput:
        return sql
    if not isinstance(statement, Optimize) or not statement.zorder_by:
        return sql
    return sql[: sql.upper().index("ZORDER")].rstrip()


_INSTEAD = ", instead of clustering it"


def _partitioning(*columns: str) -> Changer:
    def partition(case: Case) -> Change | None:
        layout = [*case.table.partition_columns, *columns]
        listed = ", ".join(layout)
        changed = dataclasses.replace(case.with_table(partition_columns=layout), cluster_by=())
        return Change(
            "partition_by",
            f"Partition the table by {listed}{_INSTEAD if case.cluster_by else ''}",
            (f"CREATE OR REPLACE TABLE {case.target} ... PARTITIONED BY ({listed})",),
            changed,
            "The table is written anew; many distinct values make many small files.",
        )

    return partition


def _condition_columns(case: Case) -> list[str]:
    """Columns that all conditions of the two statements are about, best candidates first."""
    schema = parse_ddl(case.table.schema)
    simple = [field.name for field in schema if field.type in _PARTITION_TYPES]
    conditions = [c for sql in case.statements if (c := condition_of(sql)) is not None]
    if not conditions:
        return []
    shared = frozenset.intersection(*(condition.columns(simple) for condition in conditions))
    candidates = [name for name in shared if not _is_key(case.table, schema, name)]
    candidates = [name for name in candidates if name not in case.table.partition_columns]
    return sorted(candidates, key=lambda name: _PARTITION_TYPES.index(_type(schema, name)))


def _is_key(table: TableOf, schema: Schema, name: str) -> bool:
    """Whether a number is different in every row: a partition for each would be absurd."""
    values = [row.get(name) for file in table.files for row in file.rows]
    return is_integral(_type(schema, name)) and len(set(values)) == len(values)


_PARTITION_TYPES = ("date", "string", "boolean", "int", "smallint", "tinyint", "bigint")
"""Types of columns that tables are partitioned by, those with fewer values first."""


def _type(schema: Schema, name: str) -> str:
    return schema.fields[schema.index(name)].type


def with_deletion_vectors(case: Case) -> Change | None:
    """Mark deleted rows instead of rewriting files."""
    if properties.DELETION_VECTORS.of(case.table.properties):
        return None
    return Change(
        "deletion_vectors",
        "Enable deletion vectors",
        (_set_property(case, VECTORS, "true"),),
        case.with_table(properties={VECTORS: "true"}),
    )


def write_serializable(case: Case) -> Change | None:
    """Let blind appends pass unseen, where SQL may say so."""
    if _LOOSER not in case.dialect.settable_levels:
        return None
    return _at_looser_level(case, _set_property(case, ISOLATION_PROPERTY, _LOOSER.value))


def write_serializable_elsewhere(case: Case) -> Change | None:
    """The same where SQL may not: the engine obeys a level that is in the log all the same."""
    if _LOOSER in case.dialect.settable_levels:
        return None
    return _at_looser_level(
        case,
        f"{case.dialect.name} refuses to set it; it is the default on Databricks, and obeyed in"
        " the log of a table that was given it there",
    )


_LOOSER = IsolationLevel.WRITE_SERIALIZABLE


def _at_looser_level(case: Case, how: str) -> Change | None:
    present = case.table.properties.get(ISOLATION_PROPERTY, case.dialect.default_isolation.value)
    if present.lower() == _LOOSER.value.lower():
        return None
    return Change(
        "write_serializable",
        "Use the isolation level WriteSerializable",
        (how,),
        case.with_table(properties={ISOLATION_PROPERTY: _LOOSER.value}),
        "History may then not explain the table: an append can come before a change that did not"
        " see it.",
    )


def newer_delta(case: Case) -> Change | None:
    """Delta 4 reconciles features that are switched on."""
    if case.dialect != DELTA_OSS_3_3:
        return None
    changed = dataclasses.replace(case, dialect=DELTA_OSS_4_4)
    return Change("newer_delta", "Use Delta Lake 4.4", (f"dialect {DELTA_OSS_4_4.name}",), changed)


def row_level_concurrency(case: Case) -> Change | None:
    """Databricks tells rows apart."""
    table = case.table
    present = properties.DELETION_VECTORS.of(table.properties) and not table.partition_columns
    if present and case.dialect == DATABRICKS_14_3:
        return None
    changed = case.with_table(partition_columns=[], properties={VECTORS: "true"})
    return Change(
        "row_level_concurrency",
        "Use row-level concurrency",
        (
            f"dialect {DATABRICKS_14_3.name}: Databricks Runtime 14.3 or newer, an unpartitioned"
            " table with deletion vectors",
        ),
        dataclasses.replace(changed, dialect=DATABRICKS_14_3),
        "Changes to the same row still conflict.",
    )


def _set_property(case: Case, key: str, value: str) -> str:
    return f"ALTER TABLE {case.target} SET TBLPROPERTIES ('{key}' = '{value}')"


def following(first: Change, second: Changer) -> Change | None:
    """Two changes, one after the other; `None` where the second makes no sense any more."""
    change = second(first.case)
    if change is None:
        return None
    title = f"{first.title}, and {change.title[0].lower()}{change.title[1:]}"
    notes = " ".join(note for note in (first.note, change.note) if note)
    key = f"{first.key} + {change.key}"
    return Change(key, title, (*first.how, *change.how), change.case, notes)


def pairs(case: Case, changers: list[Changer]) -> Iterator[Change]:
    """Every two changes together."""
    for at, first in enumerate(changers):
        change = first(case)
        for second in changers[at + 1 :] if change is not None else []:
            assert change is not None
            both = following(change, second)
            if both is not None:
                yield both
