"""INSERT INTO and OVERWRITE, with what a write may replace.

Source: WriteIntoDelta.scala (writeAndReturnCommitData), DeltaInsertReplaceOnOrUsingCommand.scala,
DeltaDynamicPartitionOverwriteCommand.scala. A statement replaces nothing, everything, the
partitions that it writes, or the rows that a condition matches; the last by a DELETE inside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.commands.rows.delete import delete_actions
from whitecap.engine.commands.rows.replacing import (
    Replacement,
    check_partition_clause,
    has_dynamic_mode,
    is_dynamic,
    replaced_rows,
    replacing_check,
)
from whitecap.engine.commands.schema.clustering import clustering_domain
from whitecap.engine.commands.schema.schema_evolution import evolve_for_insert
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import (
    AddCDCFile,
    AddFile,
    AnyAction,
    DomainMetadata,
    RemoveFile,
)
from whitecap.engine.log.clustering import CLUSTERING_DOMAIN
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.log.statistics import record_count
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.query.source_queries import OwnRead, in_transaction
from whitecap.engine.query.sources import Source
from whitecap.engine.refusals import write_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.statements import Insert
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate, logged
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.file_scan import Form
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.beginning import begin, check_removable, progress_of
from whitecap.engine.writing.files import INSERTED, FileWriter, removals
from whitecap.engine.writing.generation import Generated
from whitecap.engine.writing.inserting import rows_for
from whitecap.engine.writing.row_checks import row_check
from whitecap.engine.writing.spark_job import job

FileActions = Sequence[AddFile | RemoveFile | AddCDCFile]


def insert(table: Table, statement: Insert, source: Source | OwnRead) -> Steps[Outcome]:
    """Run an INSERT of what its query gives."""
    txn = yield from begin(table)
    check_partition_clause(statement, txn)
    return (yield from insert_into(table, txn, statement, source))


def insert_into(
    table: Table, txn: Transaction, statement: Insert, source: Source | OwnRead
) -> Steps[Outcome]:
    """The same in a transaction that has begun."""
    _check_flags(statement)
    progress = yield from progress_of(table, txn, *_application(statement))
    if progress is None:
        return NothingToCommit(txn.read_version)
    write = _Write(table, txn, statement)
    rows = yield from in_transaction(source, table, txn, statement.parameters)
    actions = yield from write.actions(rows)
    done = [*progress, *actions, *write.domains()]
    return (yield from txn.commit_if_needed(done, write.operation()))


def _application(statement: Insert) -> tuple[str | None, int | None]:
    """Raises `DeltaError` if only one of the two is told, or the version is no number."""
    app_id, version = statement.option("txnAppId"), statement.option("txnVersion")
    if (app_id is None) is not (version is None):
        raise write_errors.half_an_application()
    if version is not None and not re.fullmatch(r"[+-]?[0-9]{1,19}", version):
        raise write_errors.illegal_option("txnVersion", version)
    return app_id, None if version is None else int(version)


def _check_flags(statement: Insert) -> None:
    """Raises `DeltaError` for an option that is neither true nor false."""
    if not statement.options:
        return
    for name in ("dataChange", "mergeSchema", "overwriteSchema"):
        value = statement.option(name)
        if value is not None and value.lower() not in ("true", "false"):
            raise write_errors.illegal_option(name, value)


class _Write(Struct):
    """One execution of an INSERT."""

    table: Table
    txn: Transaction
    statement: Insert
    metrics: dict[str, str] = field(default_factory=dict)
    replaced: tuple[Predicate, ...] = ()

    @property
    def overwrites(self) -> bool:
        """Whether rows of the table go."""
        return self.statement.overwrite or self._replacement_is_named

    @property
    def _replacement_is_named(self) -> bool:
        statement = self.statement
        option = statement.option("replaceWhere") if statement.overwrite else None
        named = (statement.replace_where, option, statement.replace_on) != (None, None, None)
        return named or bool(statement.replace_using)

    @property
    def is_dynamic(self) -> bool:
        """Whether the partitions that are written are those that are replaced."""
        if not self._replacement_is_named:
            return self.statement.overwrite and is_dynamic(self.statement, self.txn)
        if (self.statement.option("partitionOverwriteMode") or "").upper() == "DYNAMIC":
            raise write_errors.replace_where_in_dynamic_mode()
        return False

    @property
    def data_change(self) -> bool:
        """Whether the write changes data; if not, it only rearranges what there is."""
        return (self.statement.option("dataChange") or "true").lower() == "true"

    def actions(self, source: Source) -> Steps[list[AnyAction]]:
        """What the write adds and removes. Raises `DeltaError` for rows that may not be written."""
        session = self.table.session
        evolve_for_insert(self.statement, self.txn, source, session)
        if self.is_dynamic and self.statement.is_set("overwriteSchema"):
            raise write_errors.overwrite_schema_in_dynamic_mode()
        rows = self._rows(source)
        replacement = replaced_rows(self.statement, self.txn, rows, source, session)
        self._check_removable()
        self.replaced = replacement.conditions
        # With a condition the DELETE comes first, else what is replaced depends on what is written.
        gone: FileActions = ()
        if replacement.conditions:
            gone = yield from self._deleted(replacement)
        with_changes = any(isinstance(action, AddCDCFile) for action in gone)
        adds = yield from self._written(rows, replacement, with_changes)
        if not replacement.conditions:
            gone = yield from self._overwritten([a for a in adds if isinstance(a, AddFile)])
        else:
            self.metrics = _replaced_metrics([*adds, *gone])
        self.txn.move_identity_marks(rows.marks)
        return [*self._marked(adds), *self._marked(gone)]

    def _rows(self, source: Source) -> Generated:
        """The rows to write. Delta looks for columns too many after all that Spark looks for."""
        try:
            return rows_for(self.statement, source, self.txn.metadata, self.table.session)
        except DeltaError as error:
            if error.error_class == write_errors.METADATA_MISMATCH:
                self._check_removable()
            raise

    def _check_removable(self) -> None:
        if self.overwrites:
            check_removable(self.txn)

    def domains(self) -> list[DomainMetadata]:
        """Who overwrites a clustered table by SQL leaves it without columns to cluster by.

        Seen on Delta Lake 4.4.0; an overwrite of partitions or of rows leaves the columns.
        """
        overwrites = self.statement.overwrite and not (self.replaced or self.is_dynamic)
        where = self.statement.replace_where
        replaces_all = overwrites or (where is not None and where.node == TRUE.node)
        is_clustered = CLUSTERING_DOMAIN in self.txn.snapshot.domains
        return [clustering_domain((), self.txn.metadata)] if replaces_all and is_clustered else []

    def _written(
        self, rows: Generated, replacement: Replacement, with_changes: bool
    ) -> Steps[FileActions]:
        """Write the rows; to the change data feed too if what they replace is there as well."""
        metadata, session = self.txn.metadata, self.table.session
        own = row_check(metadata, session, rows.given)
        check = replacing_check(replacement, own, schema_of_metadata(metadata), session)
        writer = FileWriter(self.table, metadata, check=check, beside_changes=with_changes)
        adds: FileActions = yield from writer.write(rows.tasks)
        if with_changes:
            new = [[row + INSERTED for row in task] for task in rows.tasks]
            adds = [*adds, *(yield from writer.write_changes(lambda: new))]
        yield from job("INSERT", (), writer)
        self.metrics = writer.metrics()
        return adds

    def _deleted(self, replacement: Replacement) -> Steps[FileActions]:
        yield from self.txn.read_state()
        columns = self.txn.metadata.partition_columns
        over_data = [p for p in replacement.conditions if not p.is_over(columns)]
        if over_data and not self.data_change:
            shown = ",".join(predicate.sql for predicate in over_data)
            raise write_errors.replaced_filter_without_data_change(shown)
        conditions, tests = replacement.conditions, replacement.tests
        form = Form.OPTIMIZED if self.statement.replace_where is None else Form.HANDED_OVER
        return (yield from delete_actions(self.table, self.txn, conditions, tests, form))

    def _overwritten(self, adds: Sequence[AddFile]) -> Steps[FileActions]:
        if not self.statement.overwrite:
            return ()
        yield from self.txn.read_state()
        files: Iterable[AddFile]
        if self.is_dynamic:
            files = self.txn.filter_files_by_partitions_of(adds)
        else:
            files = self.txn.filter_all_files()
        return (yield from removals(files))

    def _marked(self, actions: FileActions) -> FileActions:
        """The actions, marked as changing no data where the write says so."""
        if self.data_change:
            return actions
        return [replace(action, data_change=False) for action in actions]

    def operation(self) -> Operation:
        """Source: DeltaOperations.Write."""
        statement = self.statement
        parameters: dict[str, object] = {
            "mode": "Overwrite" if self.overwrites else "Append",
            "partitionBy": [],  # SQL has no word for it
        }
        if self.replaced and not (statement.replace_using or statement.replace_on is not None):
            parameters["predicate"] = " AND ".join(logged(self.replaced))
        if statement.replace_on is not None:
            parameters["replaceOnCond"] = statement.replace_on.sql()
        if statement.replace_using:
            parameters["replaceUsingCols"] = ",".join(statement.replace_using)
        if has_dynamic_mode(statement, self.txn):
            parameters["isDynamicPartitionOverwrite"] = True
        if statement.is_set("overwriteSchema"):
            parameters["canOverwriteSchema"] = True
        if statement.is_set("mergeSchema") or self.txn.settings.schema_auto_merge:
            parameters["canMergeSchema"] = True
        return Operation("WRITE", parameters, self.metrics)


def _replaced_metrics(actions: FileActions) -> dict[str, str]:
    """Of what replaces rows, with those that stay; of no rows there is no word.

    Source: WriteIntoDelta.scala: registerReplaceWhereMetrics; DeltaOperations.Write.
    """
    adds = [action for action in actions if isinstance(action, AddFile)]
    rows = sum(_live_count(add) for add in adds)
    metrics = {"numFiles": len(adds), "numOutputBytes": sum(add.size for add in adds)}
    metrics |= {"numOutputRows": rows} if rows else {}
    return {name: str(value) for name, value in metrics.items()}


def _live_count(file: AddFile) -> int:
    hidden = 0 if file.deletion_vector is None else file.deletion_vector.cardinality
    return (record_count(file.stats) or 0) - hidden
