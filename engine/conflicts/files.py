"""The file checks: added files against what was read, removed files against read and removed ones.

Source: `ConflictChecker.scala: checkForAddedFilesThatShouldHaveBeenReadByCurrentTxn`,
`getFirstFileMatchingPartitionPredicates`, `checkForDeletedFilesAgainstCurrentTxnReadFiles`,
`checkForDeletedFilesAgainstCurrentTxnDeletedFiles`. Data predicates, statistics, deletion vectors
and dataChange play no part in any of them: paths and partitions decide. Other engines look at
statistics and dataChange, as the dialect's `CheckRules` say.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.messages import file_verdict
from whitecap.engine.conflicts.read_set import ReadSet
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.outcomes import Verdict
from whitecap.engine.rules import Rule
from whitecap.engine.sql.predicates.predicate import TRUE


def added_files(current: CurrentTransaction, winner: WinningCommit) -> Verdict | None:
    """A winner may not have added a file that this transaction should have read."""
    if _concerns_backfill(current, winner):
        return None
    conflicting = _first_that_should_have_been_read(current, files_to_check(current, winner))
    if conflicting is None:
        return None
    file, predicate = conflicting
    values = file.partition_values
    verdict = file_verdict(Rule.ADDED_FILES, current, winner, values, file.path)
    return replace(verdict, predicate=predicate)


def removed_vs_read(current: CurrentTransaction, winner: WinningCommit) -> Verdict | None:
    """A winner may not have removed a file that this transaction read."""
    checks = current.checks
    removes = winner.removes if checks.moves_concern_readers else _changing_data(winner)
    for removed in removes:
        read = current.read_set.file_read_at(removed.path)
        if read is not None:
            values = read.partition_values
            return file_verdict(Rule.REMOVED_VS_READ, current, winner, values, read.path)
    if removes and current.read_set.whole_table:
        return file_verdict(Rule.REMOVED_VS_READ, current, winner, None, removes[0].path)
    return None


def removed_vs_removed(current: CurrentTransaction, winner: WinningCommit) -> Verdict | None:
    """A winner may not have removed a file that this transaction removes too."""
    checks = current.checks
    for removed in winner.removes if checks.moves_concern_removers else _changing_data(winner):
        own = current.removed.get(removed.path)
        if own is not None:
            values = own.partition_values
            return file_verdict(Rule.REMOVED_VS_REMOVED, current, winner, values, own.path)
    return None


def _changing_data(winner: WinningCommit) -> Sequence[RemoveFile]:
    """The files that a winner removed, but for those whose rows it only moved."""
    return [removed for removed in winner.removes if removed.data_change]


def _concerns_backfill(current: CurrentTransaction, winner: WinningCommit) -> bool:
    """Source: `skipCheckedAppendsIfExistsRowTrackingBackfillTransaction`."""
    operation = current.operation
    return (
        winner.is_backfill
        or winner.is_unbackfill
        or operation.is_backfill
        or operation.is_unbackfill
    )


def files_to_check(current: CurrentTransaction, winner: WinningCommit) -> Sequence[AddFile]:
    """Which added files count: a blind append is invisible to WriteSerializable readers."""
    match current.isolation_level:
        case IsolationLevel.SNAPSHOT:
            return ()
        case IsolationLevel.WRITE_SERIALIZABLE if not current.metadata_changed:
            return () if winner.is_blind_append else winner.adds
        case _:
            return winner.adds


def _first_that_should_have_been_read(
    current: CurrentTransaction, files: Sequence[AddFile]
) -> tuple[AddFile, str] | None:
    """The file, and the predicate of the read that it falls into.

    Raises `DeltaError` where what was read cannot be asked.
    """
    if current.read_set.refusal is not None:
        raise current.read_set.refusal
    if current.is_blind_append or not files:
        return None
    if current.checks.reads_by_statement:
        return _first_of_condition(current.read_set, files)
    if current.read_set.whole_table or not current.snapshot.partition_columns:
        return files[0], TRUE.sql
    matching = (
        (file, entry.text)
        for entry in current.read_set.entries
        for file in files
        if entry.matches(file.partition_values)
    )
    return next(matching, None)


def _first_of_condition(read_set: ReadSet, files: Sequence[AddFile]) -> tuple[AddFile, str] | None:
    """The same where the statement's condition is the only read, with statistics to judge by."""
    if read_set.whole_table:
        return files[0], TRUE.sql
    condition = read_set.condition
    if condition is None:
        return None
    return next(((file, str(condition)) for file in files if file in condition), None)
