"""Conformance cases at the level of the log, on a real Delta Lake's transaction objects.

The table and the winning commits are written as commit files; the current transaction is a real
OptimisticTransaction that is told what to read and what to commit.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whitecap.engine.log.commit_file import LOG_DIRECTORY, log_key
from whitecap.engine.log.snapshot import ROW_TRACKING_DOMAIN
from whitecap.engine.races.conformance.case import (
    CaseResult,
    CommitKind,
    JsonLine,
    OperationOf,
    TransactionCase,
    TransactionRead,
)
from whitecap.engine.races.conformance.compare import judge, skipped
from whitecap.sim.replay.real.failures import Failure, failure_of
from whitecap.sim.replay.real.jvm import DELTA, JavaObject, Jvm
from whitecap.sim.replay.real.session_settings import session_settings
from whitecap.sim.replay.real.tables import log_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RAW_COMMITS = {"spark.databricks.delta.history.metricsEnabled": "false"}
"""A raw DELETE or MERGE commit registers no SQL metrics, and Delta would miss them."""


def run_transaction_case(spark: SparkSession, case: TransactionCase, table: Path) -> CaseResult:
    """Play one case in the fresh folder `table` and judge what happened."""
    jvm = Jvm(spark)
    _write_commits(table, 0, case.setup_log)
    with session_settings(spark, {**RAW_COMMITS, **case.settings}):
        try:
            played = _Played(jvm, case, table)
        except UnknownOperation as error:
            return skipped(case, str(error))
        return judge(case, played.facts())


class UnknownOperation(Exception):
    """A case records an operation whose Delta object this driver cannot build."""


class _Played:
    """One case after its race: the transaction, its version or its failure."""

    def __init__(self, jvm: Jvm, case: TransactionCase, table: Path) -> None:
        self.jvm = jvm
        self.case = case
        self.table = table
        self.version: int | None = None
        # What the reads returned. A dynamic overwrite returns files that it does not track.
        self.read_files: set[str] = set()
        self.failure: Failure | None = None
        operation = operation_object(jvm, case.current.operation)
        self.log = jvm.delta_log(table)
        self.transaction = self.log.startTransaction()
        try:
            self._race(operation)
        except Exception as error:
            self.failure = failure_of(error)

    def _race(self, operation: JavaObject) -> None:
        current = self.case.current
        if not current.reads_after_winner:
            self._read_all()
        _write_commits(self.table, len(self.case.setup_log), self.case.winners)
        if current.reads_after_winner:
            self._read_all()
        for app in current.set_transactions:
            updated = self.jvm.none if app.last_updated is None else self.jvm.some(app.last_updated)
            self.transaction.updateSetTransaction(app.app_id, app.version, updated)
        self.version = self._commit(operation)

    def _read_all(self) -> None:
        for read in self.case.current.reads:
            self._read(read)

    def _read(self, read: TransactionRead) -> None:
        match read.kind:
            case "filter_files":
                self._returned(self.transaction.filterFiles(self._predicates(read), False))
            case "filter_files_by_partitions_of":
                self._returned(self.transaction.filterFiles(self._actions(read.adds)))
            case "whole_table":
                self.transaction.readWholeTable()
            case "txn_version":
                self.transaction.txnVersion(read.app_id)
            case "metadata":
                self.transaction.metadata()
            case "track_files_read":
                self.transaction.trackFilesRead(self._files(read.paths))
            case "track_read_predicates":
                self.transaction.trackReadPredicates(self._predicates(read), False, True)
            case unknown:
                raise ValueError(f"{self.case.id}: unknown kind of read {unknown!r}")

    def _returned(self, files: JavaObject) -> None:
        self.read_files.update(file.path() for file in self.jvm.python_list(files))

    def _predicates(self, read: TransactionRead) -> JavaObject:
        return self.jvm.seq(self._predicate(sql, read.resolved) for sql in read.predicates)

    def _predicate(self, sql: str, resolved: bool) -> JavaObject:
        if not resolved:
            return self.jvm.expression(sql)
        frame = self.jvm.delta.DeltaLog.forTable(self.jvm.session, str(self.table))
        relation = frame.createDataFrame(
            self.transaction.snapshot(), self.jvm.seq([]), False, self.jvm.none
        )
        return relation.filter(sql).queryExecution().analyzed().condition()

    def _files(self, paths: Sequence[str]) -> JavaObject:
        files = {file.path(): file for file in self.transaction.snapshot().allFiles().collect()}
        return self.jvm.seq(files[path] for path in paths)

    def _actions(self, lines: Sequence[JsonLine]) -> JavaObject:
        return self.jvm.seq(self.jvm.action(json.dumps(line)) for line in lines)

    def _commit(self, operation: JavaObject) -> int | None:
        current = self.case.current
        actions = self._actions(current.actions)
        tags = self.jvm.mapping(current.tags)
        match current.commit:
            case CommitKind.COMMIT:
                return int(self.transaction.commit(actions, operation, tags))
            case CommitKind.COMMIT_IF_NEEDED:
                version = self.transaction.commitIfNeeded(actions, operation, tags)
                return int(version.get()) if version.isDefined() else None
            case CommitKind.COMMIT_LARGE:
                empty = self.jvm.mapping({})
                done = self.transaction.commitLarge(
                    self.jvm.session, actions.iterator(), self.jvm.none, operation, empty, empty
                )
                return int(done._1())
            case CommitKind.NONE:
                return None

    def facts(self) -> dict[str, Any]:
        """What happened, under the keys that a case may expect."""
        facts: dict[str, Any] = {"read_files": sorted(self.read_files)}
        if self.failure is not None:
            facts["result"] = self.failure.exception
            facts["error_class"] = self.failure.error_class
            facts["message"] = self.failure.message
            facts["message_parameters"] = self.failure.message_parameters
            return facts
        facts["result"] = "read" if self.case.current.commit is CommitKind.NONE else "committed"
        facts["version"] = self.version
        return facts | self._table_facts() | self._commit_facts()

    def _table_facts(self) -> dict[str, Any]:
        snapshot = self.log.update(False, self.jvm.none, self.jvm.none)
        facts: dict[str, Any] = {"table_version": snapshot.version()}
        if "active_files" in self.case.expect:
            facts["active_files"] = [file.path() for file in snapshot.allFiles().collect()]
        if "transactions" in self.case.expect:
            stored = self.jvm.python_list(snapshot.setTransactions())
            facts["transactions"] = {each.appId(): each.version() for each in stored}
        return facts

    def _commit_facts(self) -> dict[str, Any]:
        if self.version is None:
            return {}
        lines = log_lines(self.table, self.version)
        info: dict[str, Any] = next(
            (line["commitInfo"] for line in lines if "commitInfo" in line), {}
        )
        facts = {
            "isolation_level": info.get("isolationLevel"),
            "is_blind_append": info.get("isBlindAppend"),
            "read_version": info.get("readVersion"),
            "tags": info.get("tags", {}),
            "adds": {line["add"]["path"]: line["add"] for line in lines if "add" in line},
            "action_counts": Counter(kind for line in lines for kind in line),
            "in_commit_timestamp_after_winner": self._is_after_winner(info),
        }
        return facts | _row_id_high_watermark(lines)

    def _is_after_winner(self, info: dict[str, Any]) -> bool:
        stamps = [
            line["commitInfo"].get("inCommitTimestamp", -1)
            for winner in self.case.winners
            for line in winner
            if "commitInfo" in line
        ]
        return bool(info.get("inCommitTimestamp", -1) > max(stamps, default=-1))


def _row_id_high_watermark(lines: Sequence[JsonLine]) -> dict[str, int]:
    for line in lines:
        domain = line.get("domainMetadata", {})
        if domain.get("domain") == ROW_TRACKING_DOMAIN:
            configuration = json.loads(domain["configuration"])
            return {"row_id_high_watermark": configuration["rowIdHighWaterMark"]}
    return {}


def _write_commits(table: Path, first: int, commits: Sequence[Sequence[JsonLine]]) -> None:
    (table / LOG_DIRECTORY).mkdir(parents=True, exist_ok=True)
    for version, lines in enumerate(commits, start=first):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (table / log_key(version)).write_text(text)


def operation_object(jvm: Jvm, operation: OperationOf) -> JavaObject:
    """Delta's object for an operation of a case.

    Raises UnknownOperation. Source: DeltaOperations.scala (constructors, every argument given).
    """
    kinds = jvm.delta
    match operation.name:
        case "Manual Update":
            return jvm.singleton(f"{DELTA}.DeltaOperations$ManualUpdate$")
        case "DELETE":
            return getattr(kinds, "DeltaOperations$Delete")(jvm.seq([]))
        case "UPDATE":
            return getattr(kinds, "DeltaOperations$Update")(jvm.none)
        case "TRUNCATE":
            return getattr(kinds, "DeltaOperations$Truncate")()
        case "OPTIMIZE":
            return _optimize(jvm)
        case "WRITE":
            return _write(jvm, operation.parameters)
        case "MERGE":
            return _merge(jvm)
        case "STREAMING UPDATE":
            return _streaming(jvm, operation.parameters)
        case unknown:
            raise UnknownOperation(f"operation {unknown!r}")


def _optimize(jvm: Jvm) -> JavaObject:
    nothing = jvm.seq([])
    build = getattr(jvm.delta, "DeltaOperations$Optimize")
    return build(nothing, nothing, False, jvm.none, False)


def _write(jvm: Jvm, parameters: dict[str, Any]) -> JavaObject:
    mode = jvm.root.org.apache.spark.sql.SaveMode.valueOf(parameters.get("mode", "Append"))
    columns = parameters.get("partitionBy")
    partitions = jvm.none if columns is None else jvm.some(jvm.seq(columns))
    flags = ("isDynamicPartitionOverwrite", "canOverwriteSchema", "canMergeSchema")
    given = [jvm.some(parameters[f]) if f in parameters else jvm.none for f in flags]
    none = jvm.none
    build = getattr(jvm.delta, "DeltaOperations$Write")
    return build(mode, partitions, none, none, *given, none, none)


def _merge(jvm: Jvm) -> JavaObject:
    none, nothing = jvm.none, jvm.seq([])
    build = getattr(jvm.delta, "DeltaOperations$Merge")
    return build(none, none, none, none, nothing, nothing, nothing)


def _streaming(jvm: Jvm, parameters: dict[str, Any]) -> JavaObject:
    output = jvm.root.org.apache.spark.sql.streaming.OutputMode.Append()
    build = getattr(jvm.delta, "DeltaOperations$StreamingUpdate")
    query, epoch = parameters.get("queryId", "query"), int(parameters.get("epochId", 0))
    return build(output, query, epoch, jvm.none)
