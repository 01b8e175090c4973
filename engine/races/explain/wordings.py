"""Other words for the two statements: partitions that are named, compaction that keeps away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.races.explain.case import RaceCase
from whitecap.engine.races.explain.change import Change
from whitecap.engine.races.explain.conditions import compaction_of, condition_of, without_sorting
from whitecap.engine.races.explain.partitions import partitions_touched
from whitecap.engine.races.interleaving.story import NAMES
from whitecap.engine.sql.expressions.rendering import sql_literal
from whitecap.engine.values.casts import from_python


def name_partitions(case: RaceCase) -> Change | None:
    """Say in each condition in which partitions its rows are."""
    if not case.table.partition_columns:
        return None
    return added_conjuncts(
        case,
        [_partition_conjuncts(case, sql) for sql in case.statements],
        "name_partitions",
        "Name the partitions in the condition, as literals",
        "Right only if the statement never concerns rows of other partitions.",
    )


def added_conjuncts(
    case: RaceCase, added: Sequence[list[str]], key: str, title: str, note: str = ""
) -> Change | None:
    """More conditions for each of the two; `None` where none is added."""
    if not any(added):
        return None
    how = [f"{n}: AND {' AND '.join(c)}" for n, c in zip(NAMES, added, strict=True) if c]
    changed = _with_statements(case, lambda sql, at: _with_conjuncts(sql, added[at]))
    return Change(key, title, tuple(how), changed, note)


def _reworded(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """The statements that have other words now, by their names."""
    both = zip(NAMES, before, after, strict=True)
    return tuple(f"{name}: {new}" for name, old, new in both if new != old)


def _with_statements(case: RaceCase, change: Callable[[str, int], str]) -> RaceCase:
    first, second = (change(sql, at) for at, sql in enumerate(case.statements))
    return replace(case, statements=(first, second))


def _with_conjuncts(sql: str, conjuncts: list[str]) -> str:
    condition = condition_of(sql)
    return sql if condition is None else condition.with_all(conjuncts)


def _partition_conjuncts(case: RaceCase, sql: str) -> list[str]:
    """Conditions that name the partitions a statement touches; none where it has no condition."""
    condition = condition_of(sql)
    if condition is None:
        return []
    touched = partitions_touched(case, sql)
    named = condition.pinned_columns()
    conjuncts = []
    for column in case.table.partition_columns:
        values = {values[column] for values in touched}
        if values and column.lower() not in named:
            literals = _literals(case, column, values - {None})
            name = f"{condition.prefix}{column}"
            conjuncts.append(_among(name, literals, or_null=None in values))
    return conjuncts


def _literals(case: RaceCase, column: str, values: Iterable[str | None]) -> list[str]:
    schema = parse_ddl(case.table.schema)
    kind = schema.fields[schema.index(column)].type
    return [sql_literal(from_python(value, kind)) for value in sorted(values, key=str)]


def _among(name: str, literals: list[str], or_null: bool) -> str:
    if not literals:
        return f"{name} IS NULL"
    listed = f"= {literals[0]}" if len(literals) == 1 else f"IN ({', '.join(literals)})"
    return f"({name} IS NULL OR {name} {listed})" if or_null else f"{name} {listed}"


def compact_elsewhere(case: RaceCase) -> Change | None:
    """Leave out of a compaction the partitions that the other statement changes."""
    first, second = case.statements
    changed = (_compacting_beside(case, first, second), _compacting_beside(case, second, first))
    if changed == case.statements:
        return None
    return Change(
        "compact_elsewhere",
        "Compact only partitions that the other does not change",
        _reworded(case.statements, changed),
        replace(case, statements=changed),
        "Compact the others when it is done.",
    )


MOST_PARTITIONS = 5
"""More partitions than this are not listed in a condition."""


def _compacting_beside(case: RaceCase, sql: str, other: str) -> str:
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


def _other_than(case: RaceCase, values: Sequence[str | None]) -> str:
    pairs = zip(case.table.partition_columns, values, strict=True)
    equal = (f"{name} = {_literals(case, name, [value])[0]}" for name, value in pairs)
    return f"NOT ({' AND '.join(equal)})"


def without_zorder(case: RaceCase) -> Change | None:
    """Compact without sorting."""
    changed = _with_statements(case, lambda sql, _: without_sorting(sql))
    if changed.statements == case.statements:
        return None
    how = _reworded(case.statements, changed.statements)
    return Change(
        "without_zorder", "Leave out ZORDER BY", how, changed, "Files are no longer sorted."
    )
