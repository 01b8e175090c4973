"""INSERT INTO, INSERT OVERWRITE, REPLACE WHERE.

Source: WriteIntoDelta.scala; DeltaTableV2's replaceWhere and dynamic partition overwrite.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from engine.commands.delete import delete_actions
from engine.commands.execution import already_executed, begin, job, logged
from engine.commands.inserting import rows_for
from engine.commands.queries import Source, own_source
from engine.commands.table import Table
from engine.commands.writing import FileWriter, remove
from engine.errors import DeltaError
from engine.log.actions import AddFile, RemoveFile
from engine.outcomes import Outcome
from engine.sql.predicates import Predicate
from engine.sql.statements import Insert
from engine.storage.requests import ReadClock, Row, Steps
from engine.transaction.operation import Operation
from engine.transaction.transaction import Transaction

Removes = Sequence[AddFile | RemoveFile]


def insert(table: Table, statement: Insert, source: Source | None) -> Steps[Outcome]:
    """Run an INSERT. `source` is `None` if the query reads the table itself."""
    txn = yield from begin(table)
    done = yield from already_executed(table, txn)
    if done is not None:
        return done
    if source is None:
        source = yield from own_source(statement.query, table, txn, statement.parameters)
    tasks = rows_for(statement, source, txn.metadata, table.session)
    replaced = _replaced_rows(statement, txn)
    _check_replaced(tasks, replaced, table, txn)
    writer = FileWriter(table, txn.metadata)
    adds = yield from writer.write(tasks)
    yield from job("INSERT", (), writer)
    removes = yield from _removes(table, statement, txn, replaced, adds)
    operation = _operation(statement, replaced, writer)
    return (yield from txn.commit_if_needed([*adds, *removes], operation))


def _replaced_rows(statement: Insert, txn: Transaction) -> tuple[Predicate, ...]:
    """The condition of the rows that a REPLACE WHERE or static PARTITION replaces."""
    if statement.replace_where is not None:
        return statement.replace_where.with_parameters(statement.parameters).conjuncts()
    static = [(name, value) for name, value in statement.partition if value is not None]
    if not statement.overwrite or _is_dynamic(statement, txn):
        return ()
    return tuple(_equals(name, value, statement) for name, value in static)


def _equals(name: str, value: exp.Expr, statement: Insert) -> Predicate:
    node = exp.NullSafeEQ(this=exp.column(name), expression=value.copy())
    return Predicate.of_node(node, statement.parameters)


def _is_dynamic(statement: Insert, txn: Transaction) -> bool:
    mode = txn.settings.partition_overwrite_mode.upper()
    return mode == "DYNAMIC" and bool(txn.metadata.partition_columns) and statement.overwrite


def _check_replaced(
    tasks: Iterable[Sequence[Row]],
    replaced: Sequence[Predicate],
    table: Table,
    txn: Transaction,
) -> None:
    """Raises `DeltaError` if a new row is not among those that REPLACE WHERE replaces."""
    tests = [p.bind(txn.snapshot.schema, table.session) for p in replaced]
    for row in (row for task in tasks for row in task):
        if not all(test(row) is True for test in tests):
            error_class = "DELTA_REPLACE_WHERE_MISMATCH"
            text = f"[{error_class}] Written data does not conform to the replaced condition."
            raise DeltaError("DeltaAnalysisException", error_class, text)


def _removes(
    table: Table,
    statement: Insert,
    txn: Transaction,
    replaced: Sequence[Predicate],
    adds: Sequence[AddFile],
) -> Steps[Removes]:
    columns = txn.metadata.partition_columns
    if any(not predicate.is_over(columns) for predicate in replaced):
        return (yield from delete_actions(table, txn, replaced))
    if replaced:
        files: Iterable[AddFile] = txn.filter_files(replaced)
    elif not statement.overwrite:
        return []
    elif _is_dynamic(statement, txn):
        files = txn.filter_files_by_partitions_of(adds)
    else:
        files = txn.filter_all_files()
    now_ms = yield ReadClock()
    return [remove(file, now_ms) for file in files]


def _operation(statement: Insert, replaced: Sequence[Predicate], writer: FileWriter) -> Operation:
    overwrites = statement.overwrite or bool(replaced)
    parameters: dict[str, object] = {
        "mode": "Overwrite" if overwrites else "Append",
        "partitionBy": [],
    }
    if replaced:
        parameters["predicate"] = " AND ".join(logged(replaced))
    return Operation("WRITE", parameters, writer.metrics())
