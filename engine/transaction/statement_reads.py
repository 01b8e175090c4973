"""What a transaction has read in dialects that know of no read but the statement's condition.

Source: `conflict_checker.rs: TransactionInfo` of delta-rs (`read_predicates`, `read_files`,
`read_whole_table`); `protocol/mod.rs: DeltaOperation::read_predicate`, `read_whole_table`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.read_set import ReadSet
from whitecap.engine.dialects.dialect import CheckRules
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.sql.predicates.datafusion_pruning import FileFacts, PruningTest
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate
from whitecap.engine.transaction.facts_of_files import FactsOfFiles
from whitecap.engine.transaction.file_scan import FileScan
from whitecap.engine.values.types import Session

_ALWAYS_READ = frozenset({"UPDATE", "MERGE"})
"""Without a condition on the target these depend on the whole table; a DELETE on nothing."""


class StatementCondition(Struct, frozen=True):
    """The condition on the rows that a statement changes, by which files are held to be read."""

    predicates: Sequence[Predicate]
    snapshot: Snapshot
    facts: FactsOfFiles
    tests: Sequence[PruningTest]

    @classmethod
    def of(
        cls,
        predicates: Sequence[Predicate],
        snapshot: Snapshot,
        session: Session,
        checks: CheckRules,
    ) -> StatementCondition:
        """All of these predicates, over the files of a snapshot."""
        tests = (predicate.pruning_test(snapshot.schema, session) for predicate in predicates)
        facts = FactsOfFiles.of(snapshot.partition_schema, session, checks.longest_lookup)
        return cls(predicates, snapshot, facts, [test for test in tests if test is not None])

    def __contains__(self, file: AddFile) -> bool:
        return self._keeps(file, self.facts.of_added)

    def __str__(self) -> str:
        return " AND ".join(predicate.sql for predicate in self.predicates)

    def at(self, path: str) -> AddFile | None:
        """The file read at this path, `None` if the condition leaves it out."""
        file = self.snapshot.file_at(path)
        return file if file is not None and self._keeps(file, self.facts.of_read) else None

    def _keeps(self, file: AddFile, facts_of: Callable[[AddFile], FileFacts]) -> bool:
        if not self.tests:
            return True
        facts = facts_of(file)
        return all(test(facts) for test in self.tests)


def statement_reads(
    read_set: ReadSet, condition: StatementCondition, operation: Operation
) -> ReadSet:
    """The read set of a statement: its condition, or every file and nothing that is added."""
    reads = ReadSet(app_ids=read_set.app_ids)
    if _has_condition(condition.predicates, operation):
        return replace(reads, scans=(condition,), condition=condition)
    all_files = FileScan(condition.snapshot, lambda _: True)
    whole_table = operation.name in _ALWAYS_READ
    return replace(reads, scans=(all_files,), whole_table=whole_table)


def _has_condition(predicates: Sequence[Predicate], operation: Operation) -> bool:
    """Whether the operation hands a condition over; an INSERT does so to replace by it alone."""
    if operation.name == "WRITE" and "predicate" not in operation.parameters:
        return False
    return any(predicate is not TRUE for predicate in predicates)
