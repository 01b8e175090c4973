"""Races on the real package deltalake, one for each line of JSON that comes in.

Needs nothing but deltalake and pyarrow, so that it runs in an environment that has another version
of them. The first line out names the version. A line in: `tables` to build, `winners` and `current`
to run; a line out: how each ended, and the rows that are left, or what is in the way.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, QueryBuilder, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError

CONFLICTS = {
    "a concurrent transactions added new data": "ConcurrentAppendException",
    "a concurrent transaction deleted data this operation read": "ConcurrentDeleteReadException",
    "deleted the same data your transaction deletes": "ConcurrentDeleteDeleteException",
    "Metadata changed since last commit": "MetadataChangedException",
    "Protocol changed since last commit": "ProtocolChangedException",
    "Concurrent transaction failed": "ConcurrentTransactionException",
}
"""What the texts of CommitFailedError are called in Delta."""

RETRIES_USED_UP = "ConcurrentWriteException"
"""What deltalake reports by a number alone: an operation that may not be retried met another
commit."""


def main() -> None:
    """Say which version this is, then answer line by line until there is no more."""
    print(json.dumps({"version": deltalake.__version__}), flush=True)
    for line in sys.stdin:
        folder = Path(tempfile.mkdtemp(prefix="whitecap-deltalake-"))
        try:
            answer = race(json.loads(line), folder)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(json.dumps(answer, default=str), flush=True)


def race(asked: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run a race: who has a snapshot before others commit holds a handle of that version."""
    paths = {name: str(folder / name) for name in asked["tables"]}
    versions = {name: build(paths[name], table) for name, table in asked["tables"].items()}
    current = DeltaTable(paths["target"])
    handles = [DeltaTable(paths["target"]) for _ in asked["winners"]]
    winners = []
    for handle, winner in zip(handles, asked["winners"], strict=True):
        fresh = handle if asked["overlapping"] else DeltaTable(paths["target"])
        winners.append(run(winner, fresh, paths))
    ended = run(asked["current"], current, paths)
    rerun = run(asked["current"], DeltaTable(paths["target"]), paths) if asked["rerun"] else None
    left = DeltaTable(paths["target"])
    rows = left.to_pyarrow_table().to_pylist()
    return {
        "versions": versions,
        "winners": winners,
        "current": ended,
        "rerun": rerun,
        "rows": rows,
        "version": left.version(),
    }


def build(path: str, table: dict[str, Any]) -> int:
    """Make a table with its files, a commit for each. Returns the next version."""
    schema = pa.schema([pa.field(name, TYPES[kind]) for name, kind in table["schema"]])
    DeltaTable.create(
        path, schema, partition_by=table["partition_columns"], configuration=table["properties"]
    )
    for rows in table["files"]:
        columns = [pa.array([row.get(f.name) for row in rows]).cast(f.type) for f in schema]
        write_deltalake(path, pa.table(columns, schema=schema), mode="append")
    return DeltaTable(path).version() + 1


TYPES = {
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "double": pa.float64(),
    "int": pa.int32(),
    "string": pa.string(),
}
"""The types that columns of a case may have here."""


def run(operation: dict[str, Any], table: DeltaTable, paths: dict[str, str]) -> str:
    """Run an operation. Returns how it ended: committed, nothing to commit, or the conflict."""
    before = DeltaTable(paths["target"]).version()
    try:
        OPERATIONS[operation["do"]](operation, table, paths)
    except CommitFailedError as error:
        return conflict(str(error))
    after = DeltaTable(paths["target"]).version()
    return "committed" if after > before else "nothing_to_commit"


def conflict(text: str) -> str:
    """What Delta calls the conflict that a CommitFailedError tells of in this text."""
    for fragment, name in CONFLICTS.items():
        if fragment in text:
            return name
    is_number = text.rpartition(":")[2].strip().isdigit()
    return RETRIES_USED_UP if is_number else f"CommitFailedError: {text}"


def properties(operation: dict[str, Any]) -> CommitProperties:
    """What the commit bears besides: application and number of an idempotent write."""
    application = operation.get("application")
    return CommitProperties(app_transactions=[Transaction(*application)] if application else None)


def queried(sql: str, paths: dict[str, str], schema: pa.Schema | None) -> pa.Table:
    """The rows of a query; in the columns of a schema, one after the other."""
    builder = QueryBuilder()
    for name, path in paths.items():
        builder = builder.register(name, DeltaTable(path))
    rows = pa.table(builder.execute(sql).read_all())
    if schema is None:
        return rows
    columns = [rows.column(at).cast(field.type) for at, field in enumerate(schema)]
    return pa.table(columns, schema=schema)


def schema_of(table: DeltaTable) -> pa.Schema:
    """The columns of a table as Arrow has them."""
    return pa.schema(table.schema().to_arrow())


def write(operation: dict[str, Any], table: DeltaTable, paths: dict[str, str]) -> None:
    """Append, overwrite or replace by the rows of a query."""
    rows = queried(operation["query"], paths, schema_of(table))
    write_deltalake(
        table,
        rows,
        mode=operation["mode"],
        predicate=operation["predicate"],
        commit_properties=properties(operation),
    )


def delete(operation: dict[str, Any], table: DeltaTable, _: dict[str, str]) -> None:
    """Delete what a condition holds of, or everything."""
    table.delete(operation["predicate"], commit_properties=properties(operation))


def update(operation: dict[str, Any], table: DeltaTable, _: dict[str, str]) -> None:
    """Set columns to expressions where a condition holds, or everywhere."""
    table.update(
        operation["updates"],
        predicate=operation["predicate"],
        commit_properties=properties(operation),
    )


def merge(operation: dict[str, Any], table: DeltaTable, paths: dict[str, str]) -> None:
    """Merge the rows of a query, clause by clause."""
    merger = table.merge(
        queried(operation["query"], paths, None),
        operation["on"],
        source_alias=operation["source_alias"],
        target_alias=operation["target_alias"],
        commit_properties=properties(operation),
    )
    for clause in operation["clauses"]:
        arguments = [] if clause["updates"] is None else [clause["updates"]]
        merger = getattr(merger, clause["call"])(*arguments, predicate=clause["predicate"])
    merger.execute()


def optimize(operation: dict[str, Any], table: DeltaTable, _: dict[str, str]) -> None:
    """Compact partitions, or order them along a Z-curve."""
    filters = [tuple(partition) for partition in operation["partitions"]] or None
    if operation["zorder_by"]:
        table.optimize.z_order(operation["zorder_by"], partition_filters=filters)
    else:
        table.optimize.compact(partition_filters=filters)


def set_properties(operation: dict[str, Any], table: DeltaTable, _: dict[str, str]) -> None:
    """Set table properties, whatever they are called."""
    table.alter.set_table_properties(operation["properties"], raise_if_not_exists=False)


def add_constraint(operation: dict[str, Any], table: DeltaTable, _: dict[str, str]) -> None:
    """Add a CHECK constraint, which all rows must keep."""
    table.alter.add_constraint({operation["name"]: operation["condition"]})


def add_columns(operation: dict[str, Any], table: DeltaTable, _: dict[str, str]) -> None:
    """Add columns at the end."""
    fields = [pa.field(name, TYPES[kind]) for name, kind in operation["columns"]]
    added = deltalake.Schema.from_arrow(pa.schema(fields))
    table.alter.add_columns(list(added.fields))


def restore(operation: dict[str, Any], table: DeltaTable, _: dict[str, str]) -> None:
    """Go back to a version."""
    table.restore(operation["version"])


OPERATIONS = {
    "write": write,
    "delete": delete,
    "update": update,
    "merge": merge,
    "optimize": optimize,
    "set_properties": set_properties,
    "add_constraint": add_constraint,
    "add_columns": add_columns,
    "restore": restore,
}


if __name__ == "__main__":
    main()
