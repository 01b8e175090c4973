"""The statement of a group of writers, and what its parameters are.

Of the real statement a draft keeps what decides conflicts: the operation, which partitions its
condition pins, and how many files it changes. Values of other columns decide none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from whitecap.sim.inferring.choices import OFTEN
from whitecap.sim.inferring.evidence.figures import (
    DraftFigure,
    assumed,
    counted,
    guessed,
    many,
    middle,
    read,
)
from whitecap.sim.inferring.groups import CommitGroup, WriterKind
from whitecap.sim.inferring.log.observed import ObservedCommit
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

_MATCHED = "matchedPredicates"
_MERGE_CLAUSES = {
    _MATCHED: "WHEN MATCHED THEN UPDATE SET *",
    "notMatchedPredicates": "WHEN NOT MATCHED THEN INSERT *",
}
_BY_SOURCE = "notMatchedBySourcePredicates"
"""Where a MERGE says which clauses it has: an empty list, where it has none of a kind."""

_DELETING = "WHEN MATCHED THEN DELETE"
_ACTION = re.compile(r'"actionType"\s*:\s*"(\w+)"')
"""What a clause does. Source: DeltaOperations.MergePredicate, and delta-rs's of the same name."""

_SOURCE = ("numSourceRows", "num_source_rows")
_INSERTED = ("numTargetRowsInserted", "num_target_rows_inserted")
_UPDATED = ("numTargetRowsMatchedUpdated", "numTargetRowsUpdated", "num_target_rows_updated")
_DELETED = ("numTargetRowsMatchedDeleted", "numTargetRowsDeleted", "num_target_rows_deleted")
"""Of rows that a source row matches, where the engine counts them by themselves."""


class Drafted(Struct, frozen=True):
    """A writer's statement, or its rows where it is a stream, with parameters and evidence."""

    statement: str | None
    parameters: tuple[DraftParameter, ...]
    evidence: tuple[DraftFigure, ...]


def drafted(group: CommitGroup, table: TableFacts) -> Drafted:
    """The statement of a group."""
    work = _drafted(group, table)
    changing = sum(each.changes_metadata for each in group.commits)
    if group.kind in (WriterKind.REPLACE, WriterKind.ALTER) or changing < OFTEN * len(
        group.commits
    ):
        return work
    said = (
        f"{changing:,} of {many(len(group.commits), 'commit')} change the table's metadata too, as"
        " those do that fill identity columns, and refuse others that run meanwhile; in the draft"
        " they do not"
    )
    return replace(work, evidence=(*work.evidence, read("", said)))


def _drafted(group: CommitGroup, table: TableFacts) -> Drafted:
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
        case WriterKind.REORG:
            return _reorganising(group, table)
        case WriterKind.REPLACE:
            return _replacing(group, table)
        case WriterKind.ALTER:
            return _altering(table)


def _appending(group: CommitGroup, table: TableFacts) -> Drafted:
    where, evidence = places_of(group, table)
    rows = _rows(group, table)
    if group.kind is WriterKind.STREAM:
        return Drafted(None, (*where, rows), evidence)
    if group.reads_what_it_appends_to:
        because = _reading_said(group.commits)
        return Drafted(_insert_of_new(table), (*where, rows), (*evidence, because))
    statement = f"INSERT INTO {table.names.table} VALUES :rows"
    return Drafted(statement, (*where, rows), evidence)


def _insert_of_new(table: TableFacts) -> str:
    """An INSERT that reads the whole table, and inserts the rows whose keys are not there."""
    name, key, columns = table.names.table, table.key_in_sql, ", ".join(table.in_order)
    return "\n".join(
        [
            f"INSERT INTO {name}",
            f"SELECT v.* FROM (SELECT * FROM VALUES :rows AS v({columns})) AS v",
            f"LEFT ANTI JOIN {name} AS t ON t.{key} = v.{key}",
        ]
    )


def _reading_said(commits: Sequence[ObservedCommit]) -> DraftFigure:
    said = (
        f"{many(len(commits), 'commit')} say that they are no blind append; the log does not say"
        " what of the table they read: the draft reads all of it, for the rows that are not there"
    )
    return guessed("", f"{len(commits):,} of {said}")


def _overwriting(group: CommitGroup, table: TableFacts) -> Drafted:
    slice_ = slice_of(group, table, holds_rows=True)
    if slice_.conditions:
        where = f"REPLACE WHERE {slice_.condition()}"
        statement = f"INSERT INTO {table.names.table} {where} VALUES :rows"
        return Drafted(statement, (*slice_.parameters, _rows(group, table)), slice_.evidence)
    keys, because = keys_of(group.commits, slice_, table)
    if keys is None:
        statement = f"INSERT OVERWRITE {table.names.table} VALUES :rows"
        return Drafted(statement, (_rows(group, table),), slice_.evidence)
    name, where = table.names.table, f"WHERE {table.key_in_sql} IN (:keys)"
    statement = f"INSERT INTO {name} REPLACE {where} SELECT * FROM {name} {where}"
    return Drafted(statement, (*slice_.unpinned, keys), (*slice_.evidence, because))


def _replacing(group: CommitGroup, table: TableFacts) -> Drafted:
    """Source: ReplaceTable writes the table's metadata anew, and keeps none of its properties."""
    columns = ", ".join(table.in_order)
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in table.properties.items())
    parts = [
        f"CREATE OR REPLACE TABLE {table.names.table} USING DELTA",
        table.layout_in_sql,
        f"TBLPROPERTIES ({properties})" if properties else "",
        f"AS SELECT {table.cast_in_sql} FROM VALUES :rows AS v({columns})",
    ]
    where, evidence = places_of(group, table)
    return Drafted("\n".join(filter(None, parts)), (*where, _rows(group, table)), evidence)


def _altering(table: TableFacts) -> Drafted:
    said = "changes the table's metadata, which refuses others that run meanwhile: a property"
    return Drafted(alteration(table), (), (guessed("", f"{said} stands for what it changes"),))


def alteration(table: TableFacts) -> str:
    """A change of metadata, which is committed though nothing is another than before."""
    return f"ALTER TABLE {table.names.table} SET TBLPROPERTIES ('changed' = 'yes')"


def _reorganising(group: CommitGroup, table: TableFacts) -> Drafted:
    slice_ = slice_of(group, table)
    where = f" WHERE {slice_.condition()}" if slice_.conditions else ""
    statement = f"REORG TABLE {table.names.table}{where} APPLY (PURGE)"
    return Drafted(statement, slice_.parameters, slice_.evidence)


def _changing(group: CommitGroup, table: TableFacts) -> Drafted:
    slice_ = slice_of(group, table)
    keys, evidence = keys_of(group.commits, slice_, table)
    if keys is not None:
        slice_ = slice_of(group, table, holds_rows=True)
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
    slice_, columns = slice_of(group, table, holds_rows=True), ", ".join(table.in_order)
    on = slice_.condition(alias="t.")
    on = f"t.{table.key_in_sql} = s.{table.key_in_sql}" + (f" AND {on}" if on else "")
    clauses, evidence = _merge_clauses(group.commits, table)
    lines = [
        f"MERGE INTO {table.names.table} AS t",
        f"USING (SELECT * FROM VALUES :rows AS v({columns})) AS s",
        f"ON {on}",
        *clauses,
    ]
    share = _existing(group.commits)
    rows = _source_rows(group.commits, f", existing: {share.text}", table)
    parameters = (*slice_.parameters, *slice_.unpinned, rows)
    return Drafted("\n".join(lines), parameters, (*slice_.evidence, share, *evidence))


def _merge_clauses(
    commits: Sequence[ObservedCommit], table: TableFacts
) -> tuple[list[str], list[DraftFigure]]:
    """The clauses that most of them have; both of the usual two where they do not say it."""
    clauses, evidence = [], []
    matched, on_deletion = _deletion(commits)
    for name, clause in (_MERGE_CLAUSES | matched).items():
        lacking = sum(each.parameters.get(name) == "[]" for each in commits)
        if lacking < OFTEN * len(commits):
            clauses.append(clause)
        else:
            said = (
                f"{lacking:,} of {many(len(commits), 'MERGE')} have no {clause.split(' THEN')[0]}"
            )
            evidence.append(read("", said))
    evidence.extend(on_deletion)
    by_source = sum(each.parameters.get(_BY_SOURCE, "[]") != "[]" for each in commits)
    if by_source >= OFTEN * len(commits):
        said = f"{by_source:,} of {many(len(commits), 'MERGE')} have WHEN NOT MATCHED BY SOURCE"
        evidence.append(read("", f"{said}, and so read the whole table; here it changes nothing"))
        clauses.append(f"WHEN NOT MATCHED BY SOURCE AND t.{table.key_in_sql} IS NULL THEN DELETE")
    return clauses, evidence


def _deletion(commits: Sequence[ObservedCommit]) -> tuple[dict[str, str], list[DraftFigure]]:
    """The clause of rows that match, where most of them delete these, and what is to be said."""
    actions = [_actions(commit) for commit in commits]
    deleting = sum("delete" in each for each in actions)
    if not deleting:
        return {}, []
    said = f"{deleting:,} of {many(len(commits), 'MERGE')} delete rows that they match"
    if sum(each == {"delete"} for each in actions) >= OFTEN * len(commits):
        return {_MATCHED: _DELETING}, [read("", said)]
    return {}, [guessed("", f"{said}, and update others: the draft updates all")]


def _actions(commit: ObservedCommit) -> set[str]:
    """What a MERGE does with rows that it matches; by its metrics, where it has no clauses."""
    if _MATCHED in commit.parameters:
        return set(_ACTION.findall(commit.parameters[_MATCHED]))
    counts = {"update": commit.metric(*_UPDATED), "delete": commit.metric(*_DELETED)}
    return {action for action, count in counts.items() if count}


def _optimizing(group: CommitGroup, table: TableFacts) -> Drafted:
    slice_, parameters = slice_of(group, table), group.commits[0].parameters
    parts = [f"OPTIMIZE {table.names.table}"]
    evidence = list(slice_.evidence)
    if slice_.conditions:
        parts.append(f"WHERE {slice_.condition()}")
    if parameters.get("isFull") == "true":
        parts.append("FULL")
    if parameters.get("zOrderBy", "[]") not in ("[]", ""):
        parts.append(f"ZORDER BY ({table.key_in_sql})")
        evidence.append(guessed("", "by which columns files are ordered decides no conflict"))
    return Drafted(" ".join(parts), slice_.parameters, tuple(evidence))


def _rows(group: CommitGroup, table: TableFacts) -> DraftParameter:
    """The rows that a job of the group writes anew."""
    commits = group.commits
    row_counts = [each.rows for each in commits if each.rows is not None]
    files = middle([each.added for each in commits])
    return _rows_parameter(row_counts, f" in {many(files, 'file')}", "", table)


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
    changed = [each.metric(*names) for each in commits for names in (_UPDATED, _DELETED)]
    total = sum(n or 0 for n in (*inserted, *changed))
    if total:
        share = sum(n or 0 for n in changed) / total
        said = "rows updated or deleted among these and those inserted"
        return counted(f"{share:.2g}", f"{said}, {many(len(commits), 'commit')}")
    changing = sum(each.removed > 0 for each in commits)
    said = f"{changing:,} of {many(len(commits), 'MERGE')} change files; no metrics say more"
    return assumed("0.5" if changing else "0", said)
