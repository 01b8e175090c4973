"""CHECK constraints: ALTER TABLE ADD and DROP CONSTRAINT.

Source: alterDeltaTableCommands.scala (AlterTableAddConstraintDeltaCommand and its neighbour),
Constraints.scala.
"""

from __future__ import annotations

import msgspec

from whitecap.engine.commands import errors
from whitecap.engine.commands.execution import begin, job
from whitecap.engine.commands.search import search
from whitecap.engine.commands.table import Table
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.properties import CONSTRAINT_PREFIX
from whitecap.engine.outcomes import Outcome
from whitecap.engine.sql.predicates import parse_predicate
from whitecap.engine.sql.table_statements import AddConstraint, DropConstraint
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.operation import Operation


def add_constraint(table: Table, statement: AddConstraint) -> Steps[Outcome]:
    """ALTER TABLE ADD CONSTRAINT: reads every file, as all rows must satisfy it."""
    txn = yield from begin(table)
    key = CONSTRAINT_PREFIX + statement.name.lower()
    old = txn.metadata.configuration.get(key)
    if old is not None:
        raise errors.constraint_exists(statement.name, old)
    text = statement.condition_text
    violating = parse_predicate(f"NOT coalesce({text}, FALSE)")
    found = yield from search(table, txn, txn.filter_all_files(), [violating])
    yield from job("ADD CONSTRAINT", [one for one, _ in found])
    if found:
        count = sum(len(positions) for _, positions in found)
        raise errors.constraint_violated_by_table(count, table.name, text)
    configuration = {**txn.metadata.configuration, key: text}
    metadata = msgspec.structs.replace(txn.metadata, configuration=configuration)
    parameters = {"name": statement.name, "expr": text}
    return (yield from txn.commit([metadata], Operation("ADD CONSTRAINT", parameters)))


def drop_constraint(table: Table, statement: DropConstraint) -> Steps[Outcome]:
    """ALTER TABLE DROP CONSTRAINT; with IF EXISTS it commits whether there is one or not."""
    txn = yield from begin(table)
    key = CONSTRAINT_PREFIX + statement.name.lower()
    old = txn.metadata.configuration.get(key)
    if old is None and not statement.if_exists:
        raise errors.no_such_constraint(statement.name, table.name)
    kept = {k: v for k, v in txn.metadata.configuration.items() if k != key}
    metadata = msgspec.structs.replace(txn.metadata, configuration=kept)
    told = {"existed": "false"} if old is None else {"expr": old, "existed": "true"}
    operation = Operation("DROP CONSTRAINT", {"name": statement.name, **told})
    return (yield from txn.commit([metadata], operation))


def constraint_names(metadata: Metadata) -> list[str]:
    """The names of the table's CHECK constraints."""
    keys = (key for key in metadata.configuration if key.startswith(CONSTRAINT_PREFIX))
    return sorted(key.removeprefix(CONSTRAINT_PREFIX) for key in keys)


def check_no_constraint_on(column: str, metadata: Metadata) -> None:
    """Raises `DeltaError` for a column that constraints speak of, which must not change."""
    names = [
        f"{name} -> {text}"
        for name in constraint_names(metadata)
        if column.lower() in parse_predicate(text := _text(metadata, name)).columns
    ]
    if names:
        raise errors.constraint_on_column(column, names)


def _text(metadata: Metadata, name: str) -> str:
    return metadata.configuration[CONSTRAINT_PREFIX + name]
