"""What a transaction has read in dialects that know of no read but the statement's condition.

Source: `conflict_checker.rs: TransactionInfo` of delta-rs (`read_predicates`, `read_files`,
`read_whole_table`); `protocol/mod.rs: DeltaOperation::read_predicate`, `read_whole_table`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.read_set import ReadSet
from whitecap.engine.log.actions import AddFile
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate
from whitecap.engine.transaction.file_scan import FileScan

_ALWAYS_READ = frozenset({"UPDATE", "MERGE"})
"""Without a condition on the target these depend on the whole table; a DELETE on nothing."""


@dataclass(frozen=True, slots=True)
class StatementCondition:
    """The last read of a statement that named predicates: that of the rows it changes."""

    predicates: Sequence[Predicate]
    scan: FileScan

    def __contains__(self, file: AddFile) -> bool:
        return file in self.scan

    def __str__(self) -> str:
        return " AND ".join(predicate.sql for predicate in self.predicates)

    def at(self, path: str) -> AddFile | None:
        """The file read at this path, `None` if the condition does not select it."""
        return self.scan.at(path)


def statement_reads(
    read_set: ReadSet,
    all_files: FileScan,
    condition: StatementCondition | None,
    operation: Operation,
) -> ReadSet:
    """The read set of a statement: its condition, or every file and nothing that is added."""
    reads = ReadSet(app_ids=read_set.app_ids)
    if condition is not None and _has_condition(condition.predicates, operation):
        return msgspec.structs.replace(reads, scans=(condition,), condition=condition)
    whole_table = operation.name in _ALWAYS_READ
    return msgspec.structs.replace(reads, scans=(all_files,), whole_table=whole_table)


def _has_condition(predicates: Sequence[Predicate], operation: Operation) -> bool:
    """Whether the operation hands a condition over; an INSERT does so to replace by it alone."""
    if operation.name == "WRITE" and "predicate" not in operation.parameters:
        return False
    return any(predicate is not TRUE for predicate in predicates)
