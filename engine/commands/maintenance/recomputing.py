"""Recomputing statistics: the same files again, with what their rows say.

Source: StatisticsCollection.scala: recompute (reachable through Scala only; no SQL).
"""

from __future__ import annotations

import msgspec

from whitecap.engine.commands.maintenance.optimize import partition_predicates
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.actions import AddFile, Metadata
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.log.statistics import collect_statistics, indexed_by, statistics_text
from whitecap.engine.outcomes import Outcome
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.session.table import Table
from whitecap.engine.sql.predicates.predicate import parse_predicate
from whitecap.engine.storage.requests import Steps
from whitecap.engine.writing.execution import begin, job, logged


def recompute_statistics(table: Table, condition: str | None = None) -> Steps[Outcome]:
    """Commit the files of some partitions with new statistics."""
    return (yield from table.at_root(_recomputed(table, condition)))


def _recomputed(table: Table, condition: str | None) -> Steps[Outcome]:
    txn = yield from begin(table)
    predicate = None if condition is None else parse_predicate(condition)
    predicates = partition_predicates(predicate, {}, txn)
    yield from txn.read_state()
    files = list(txn.filter_files(predicates) if predicates else txn.filter_all_files())
    scanned = yield from table.data_files.read(files, txn.snapshot.schema)
    yield from job("COMPUTE STATS", scanned)
    actions = [_again(file_rows, txn.metadata) for file_rows in scanned]
    operation = Operation("COMPUTE STATS", {"predicate": logged(predicates)})
    return (yield from txn.commit(actions, operation))


def _again(file_rows: FileRows, metadata: Metadata) -> AddFile:
    """All rows count, hidden ones too: bounds are wide where a vector hides some."""
    indexed = indexed_by(metadata.configuration)
    tight = None if file_rows.deleted is None else False
    schema = schema_of_metadata(metadata)
    statistics = collect_statistics(
        file_rows.rows, schema, metadata.partition_columns, indexed, tight
    )
    return msgspec.structs.replace(
        file_rows.file, data_change=False, stats=statistics_text(statistics)
    )
