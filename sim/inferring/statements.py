"""The statement of a group of writers, and what its parameters are.

Of the real statement a draft keeps what decides conflicts: the operation, which partitions its
condition pins, and how many files it changes. Values of other columns decide none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whitecap.sim.inferring.figures import DraftFigure, assumed, counted, many, middle
from whitecap.sim.inferring.groups import CommitGroup, WriterKind
from whitecap.sim.inferring.observed import ObservedCommit
from whitecap.sim.inferring.slices import (
    DraftParameter,
    TableFacts,
    keys_of,
    places_of,
    slice_of,
)

MOST_ROWS = 100
"""Rows of a drafted job at most: more take longer to simulate and decide no other conflict."""

ASSUMED_ROWS = 10
"""Rows of a job where the log says nothing: as `whitecap init` drafts it."""

_SOURCE = ("numSourceRows", "num_source_rows")
_INSERTED = ("numTargetRowsInserted", "num_target_rows_inserted")
_UPDATED = ("numTargetRowsUpdated", "num_target_rows_updated")


@dataclass(frozen=True, slots=True)
class Drafted:
    """A writer's statement, or its rows where it is a stream, with parameters and evidence."""

    statement: str | None
    parameters: tuple[DraftParameter, ...]
    evidence: tuple[DraftFigure, ...]


def drafted(group: CommitGroup, table: TableFacts) -> Drafted:
    """The statement of a group."""
    match group.kind:
        case WriterKind.INSERT | WriterKind.STREAM:
            return _appending(group, table)
        case WriterKind.OVERWRITE:
            return _overwriting(group, table)
        case WriterKind.UPDATE | WriterKind.DELETE:
            return _changing(group, table)
        case WriterKind.MERGE:
            return _merging(group, table)
        case WriterKind.OPTIMIZE:
            return _optimizing(group, table)


def _appending(group: CommitGroup, table: TableFacts) -> Drafted:
    where, evidence = places_of(group, table)
    rows = _rows(group.commits, "", table)
    if group.kind is WriterKind.STREAM:
        return Drafted(None, (*where, rows), evidence)
    statement = f"INSERT INTO {table.names.table} VALUES :rows"
    return Drafted(statement, (*where, rows), evidence)


def _overwriting(group: CommitGroup, table: TableFacts) -> Drafted:
    slice_ = slice_of(group, table)
    name, evidence = table.names.table, slice_.evidence
    keys, because = keys_of(group.commits, slice_, table)
    if keys is not None and not slice_.conditions:
        where = f"WHERE {table.key_in_sql} IN (:keys)"
        statement = f"INSERT INTO {name} REPLACE {where} SELECT * FROM {name} {where}"
        return Drafted(statement, (*slice_.unpinned, keys), (*evidence, because))
    rows = _rows(group.commits, "", table)
    if slice_.conditions:
        statement = f"INSERT INTO {name} REPLACE WHERE {slice_.condition()} VALUES :rows"
        return Drafted(statement, (*slice_.parameters, rows), evidence)
    return Drafted(f"INSERT OVERWRITE {name} VALUES :rows", (rows,), evidence)


def _changing(group: CommitGroup, table: TableFacts) -> Drafted:
    slice_ = slice_of(group, table)
    keys, evidence = keys_of(group.commits, slice_, table)
    more = [f"{table.key_in_sql} IN (:keys)"] if keys is not None else []
    condition = slice_.condition(*more)
    where = f" WHERE {condition}" if condition else ""
    name = table.names.table
    if group.kind is WriterKind.DELETE:
        statement = f"DELETE FROM {name}{where}"
    else:
        statement = f"UPDATE {name} SET {table.assignment}{where}"
    placed = () if keys is None else (*slice_.unpinned, keys)
    parameters = (*slice_.parameters, *placed)
    return Drafted(statement, parameters, (*slice_.evidence, evidence))


def _merging(group: CommitGroup, table: TableFacts) -> Drafted:
    slice_ = slice_of(group, table)
    columns = ", ".join(table.in_order)
    on = slice_.condition(alias="t.")
    on = f"t.{table.key_in_sql} = s.{table.key_in_sql}" + (f" AND {on}" if on else "")
    statement = (
        f"MERGE INTO {table.names.table} AS t\n"
        f"USING (SELECT * FROM VALUES :rows AS v({columns})) AS s\n"
        f"ON {on}\n"
        "WHEN MATCHED THEN UPDATE SET *\n"
        "WHEN NOT MATCHED THEN INSERT *"
    )
    share = _existing(group.commits)
    rows = _source_rows(group.commits, f", existing: {share.text}", table)
    parameters = (*slice_.parameters, *slice_.unpinned, rows)
    return Drafted(statement, parameters, (*slice_.evidence, share))


def _optimizing(group: CommitGroup, table: TableFacts) -> Drafted:
    slice_ = slice_of(group, table)
    statement = f"OPTIMIZE {table.names.table}"
    if slice_.conditions:
        statement += f" WHERE {slice_.condition()}"
    by = group.commits[0].parameters.get("zOrderBy", "[]")
    if by not in ("[]", ""):
        statement += f" ZORDER BY ({table.key_in_sql})"
    return Drafted(statement, slice_.parameters, slice_.evidence)


def _rows(commits: Sequence[ObservedCommit], more: str, table: TableFacts) -> DraftParameter:
    """The rows that an append brings."""
    row_counts = [each.rows for each in commits if each.rows is not None]
    files = middle([each.added for each in commits])
    return _rows_parameter(row_counts, f" in {many(files, 'file')}", more, table)


def _source_rows(commits: Sequence[ObservedCommit], more: str, table: TableFacts) -> DraftParameter:
    """The rows that a MERGE brings: most of those that it writes were there before."""
    row_counts = [rows for rows in (each.metric(*_SOURCE) for each in commits) if rows is not None]
    return _rows_parameter(row_counts, " in the source", more, table)


def _rows_parameter(
    row_counts: Sequence[float], where: str, more: str, table: TableFacts
) -> DraftParameter:
    if not row_counts:
        figure = assumed("", "the log does not say how many rows a job brings")
        return DraftParameter("rows", f"{{rows: {{count: {ASSUMED_ROWS}{more}}}}}", figure)
    real = max(middle(row_counts), 1)
    count = min(max(round(real / table.rows_each), 1), MOST_ROWS)
    because = f"{many(real, 'row')}{where}, median of {many(len(row_counts), 'commit')}"
    if count < real:
        because += "; drafted with fewer, as the table is: how many there are decides no conflict"
    return DraftParameter("rows", f"{{rows: {{count: {count}{more}}}}}", counted("", because))


def _existing(commits: Sequence[ObservedCommit]) -> DraftFigure:
    """Which share of a MERGE's rows changes rows that are there."""
    inserted = [each.metric(*_INSERTED) for each in commits]
    updated = [each.metric(*_UPDATED) for each in commits]
    total = sum(n or 0 for n in (*inserted, *updated))
    if total:
        share = sum(n or 0 for n in updated) / total
        said = f"rows updated among those updated and inserted, {many(len(commits), 'commit')}"
        return counted(f"{share:.2g}", said)
    changing = sum(each.removed > 0 for each in commits)
    said = f"{changing:,} of {many(len(commits), 'MERGE')} change files; no metrics say more"
    return assumed("0.5" if changing else "0", said)
