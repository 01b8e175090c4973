"""INSERT of rows that a parameter holds."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whitecap.engine.commands.rows.insert import insert_into
from whitecap.engine.commands.statement_frame import as_statement
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.read_set import ReadSet
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Outcome
from whitecap.engine.plans.appends import Append, AppendPlan, AppendPlans, RowMaking
from whitecap.engine.query.parameter_rows import rows_of_parameter, value_names
from whitecap.engine.query.sources import Source
from whitecap.engine.session.table import Table
from whitecap.engine.sql.functions.times import asks_time
from whitecap.engine.sql.parsing.statements import Insert, Statement, Values
from whitecap.engine.storage.requests import Compute, NewId, Row, Steps
from whitecap.engine.writing.beginning import on_table
from whitecap.engine.writing.files import FileWriter
from whitecap.engine.writing.inserting import insert_plan
from whitecap.engine.writing.row_checks import row_check

READS_NOTHING = ReadSet()


def inserts_rows(statement: Statement) -> bool:
    """Whether a statement appends the rows of a parameter, and does nothing else."""
    if not (isinstance(statement, Insert) and isinstance(statement.query, Values)):
        return False
    name = statement.query.rows_parameter
    plain = name is not None and statement.template.parameter_names == {name}
    says_more = (
        statement.overwrite
        or statement.by_name
        or statement.partition
        or statement.replace_where is not None
        or statement.replace_on is not None
        or statement.replace_using
        or statement.options
    )
    return plain and not says_more and not asks_time("".join(statement.template.texts))


class Insertion(Struct):
    """One run of such a statement: the table's rows, by task, and what writes them."""

    plan: AppendPlan
    writer: FileWriter
    tasks: list[list[Row]]

    def job(self) -> Compute:
        """The job that has written them."""
        return Compute("INSERT", bytes_written=self.writer.bytes_written)

    def operation(self) -> Operation:
        """What is committed, now that they are written."""
        return Operation("WRITE", self.plan.parameters, self.writer.metrics())


class InsertPlans(AppendPlans):
    """The plans of one such statement."""

    def __init__(self, statement: Insert) -> None:
        super().__init__({"mode": "Append", "partitionBy": []})
        assert isinstance(statement.query, Values)
        self.statement = statement
        self.columns = statement.query.columns
        (self.parameter,) = statement.template.parameter_names
        self._names: dict[int, tuple[str, ...]] = {}

    def run(self, table: Table, rows: Sequence[Row]) -> Steps[Outcome]:
        """Run the statement with these rows, as `run_statement` does."""
        return as_statement(table, self._run(table, rows))

    def _run(self, table: Table, rows: Sequence[Row]) -> Steps[Outcome]:
        yield from table.log.analyze()
        source = self.source(table, rows)
        snapshot = yield from table.log.update()
        txn_id: str = yield NewId()
        insertion = self.insertion(table, snapshot, source)
        if insertion is None:
            return (yield from self.in_general(table, snapshot, txn_id, source, rows))
        adds = yield from insertion.writer.write(insertion.tasks)
        yield insertion.job()
        operation = insertion.operation()
        append = Append(table, snapshot, txn_id, READS_NOTHING, adds, operation)
        return (yield from insertion.plan.commit(append))

    def in_general(
        self, table: Table, snapshot: Snapshot, txn_id: str, source: Source, rows: Sequence[Row]
    ) -> Steps[Outcome]:
        """Run the statement the general way, from its snapshot on."""
        txn = on_table(table, table.transaction(snapshot, txn_id))
        bound = self.statement.with_parameters({self.parameter: rows})
        return insert_into(table, txn, bound, source)

    def insertion(self, table: Table, snapshot: Snapshot, source: Source) -> Insertion | None:
        """The table's rows, and what writes them; `None` if the general way is needed."""
        plan, metadata = self.plan(table, snapshot), snapshot.metadata
        making = None if plan is None else self._making(plan, metadata, source, table)
        if plan is None or making is None or metadata is None:
            return None
        make, check = making
        tasks = [[make(row) for row in task] for task in source.tasks]
        return Insertion(plan, FileWriter(table, metadata, check=check), tasks)

    def source(self, table: Table, rows: Sequence[Row]) -> Source:
        """The rows with their columns, as `literal_rows` makes them."""
        kinds, rows = rows_of_parameter(self.parameter, {self.parameter: rows}, self.columns)
        names = self._names.get(len(kinds))
        if names is None:
            names = self._names[len(kinds)] = value_names(self.columns, len(kinds))
        source = Source(names, kinds, [rows])
        tasks = table.settings.values_tasks
        return source if tasks < 2 else source.spread(tasks)

    def _making(
        self, plan: AppendPlan, metadata: Metadata | None, source: Source, table: Table
    ) -> RowMaking | None:
        """What makes the table's rows of such a source; `None` if the table makes up values."""
        if metadata is None or not source.rows:
            return None
        if source.types not in plan.rows:
            plan.rows[source.types] = _row_making(self.statement, metadata, source, table)
        return plan.rows[source.types]


def _row_making(
    statement: Insert, metadata: Metadata, source: Source, table: Table
) -> RowMaking | None:
    schema, session = schema_of_metadata(metadata), table.session
    rows = insert_plan(statement, source, schema, session)
    if rows.project is None or rows.complete is not None or rows.counted:
        return None
    given = frozenset(name.lower() for name in rows.given)
    return rows.project, row_check(metadata, session, given)
