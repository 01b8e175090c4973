"""The conflict check of dialects that resolve rows: Delta's own, with the file checks replaced.

Reading deletion vectors and rows asks the store, so unlike Delta's the check is made of steps.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.conflicts.checker import check_after_files, check_before_files, check_files
from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.files import added_files, files_to_check, removed_vs_removed
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.dialects import Dialect
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.effects import ANY, REMOVES
from whitecap.engine.outcomes import Verdict
from whitecap.engine.row_level.changes import RowFiles, RowReader
from whitecap.engine.row_level.compaction import (
    follow_moved_rows,
    give_up_overtaken,
    is_compaction,
    keep_up_with_changes,
    reading_moved_rows,
    rearranges,
)
from whitecap.engine.row_level.reads import RowRead, SubCondition
from whitecap.engine.row_level.relocation import can_relocate
from whitecap.engine.row_level.requirements import (
    changes_rows,
    identifies_rows,
    is_eligible,
    may_hide_rows,
    obstacle,
    refusal,
    refuses_everything,
)
from whitecap.engine.row_level.row_conflicts import check_rows
from whitecap.engine.row_level.verdicts import with_sub_condition
from whitecap.engine.settings import AppendRule, Settings
from whitecap.engine.storage.requests import Steps

Answer = CurrentTransaction | Verdict


class RowResolver(Struct):
    """Checks one transaction against its winners; counts those that took looking at rows."""

    dialect: Dialect
    settings: Settings
    files: RowFiles | None
    reads: tuple[RowRead, ...]
    winners_resolved: int = 0

    def branched(self) -> RowResolver:
        """The same, for a history of its own: what either reads or counts, the other does not."""
        return replace(self, files=None if self.files is None else self.files.branched())

    def _concerns(self, current: CurrentTransaction) -> int:
        """Effects of which a winner must have one for a check to change or refuse anything."""
        if refuses_everything(current, self.dialect, self.settings):
            return ANY
        return current.concerns | current.visible_adds | REMOVES

    def check(self, current: CurrentTransaction, winner: WinningCommit) -> Steps[Answer]:
        """The transaction resolved against a winner, or why it is refused. Raises `DeltaError`."""
        if not winner.commit.effects & self._concerns(current):
            return current
        resolved: Answer | None = refusal(current, winner, self.dialect, self.settings)
        if resolved is None:
            resolved = check_before_files(current, winner, self.settings)
        if not isinstance(resolved, Verdict):
            resolved = yield from self._check_files(resolved, winner)
        if isinstance(resolved, Verdict):
            return resolved
        return check_after_files(current, resolved, winner, self.settings)

    def _check_files(self, current: CurrentTransaction, winner: WinningCommit) -> Steps[Answer]:
        if self.files is None or not (winner.removes or files_to_check(current, winner)):
            return check_files(current, winner) or current
        reader = RowReader(self.files, current.snapshot.schema)
        if self.dialect.remaps_deletions_onto_compacted_files and may_hide_rows(current):
            answer = yield from _across_compaction(current, winner, reader)
            if answer is not None:
                return answer
        if rearranges(winner):
            return removed_vs_removed(current, winner) or reading_moved_rows(current, winner)
        return (yield from self._check_rows(current, winner, reader))

    def _check_rows(
        self, current: CurrentTransaction, winner: WinningCommit, reader: RowReader
    ) -> Steps[Answer]:
        verdict = check_files(current, winner)
        if verdict is None or not self.reads:
            return verdict or current
        if not is_eligible(current, self.dialect, self.settings):
            return verdict
        why_not = obstacle(current, winner, self.reads, self.dialect) or self._out_of_time()
        if why_not is not None:
            return with_sub_condition(verdict, why_not)
        if self._refuses_any_append(current, winner):
            return added_files(current, winner) or current
        return (yield from check_rows(current, winner, self.reads, reader))

    def _out_of_time(self) -> SubCondition | None:
        """Gives up once too many winners took looking at rows.

        No public page says how long the allotted time is; winners are a measure of it that is the
        same in every run.
        """
        self.winners_resolved += 1
        spent = self.winners_resolved > self.settings.row_level_max_winners
        return SubCondition.ALLOTTED_TIME_EXCEEDED if spent else None

    def _refuses_any_append(self, current: CurrentTransaction, winner: WinningCommit) -> bool:
        strict = self.settings.row_level_appends is AppendRule.ANY_ROW
        serializable = current.isolation_level is IsolationLevel.SERIALIZABLE
        return strict and serializable and not winner.removes


def _across_compaction(
    current: CurrentTransaction, winner: WinningCommit, reader: RowReader
) -> Steps[Answer | None]:
    """The transaction reconciled with a compaction, its own or the winner's; `None` if neither."""
    by_identity = identifies_rows(current)
    compacts = is_compaction(current) and can_relocate(current.removed.values(), by_identity)
    if not rearranges(winner):
        return (yield from keep_up_with_changes(current, winner, reader)) if compacts else None
    if not can_relocate(winner.removes, by_identity):
        return None
    if compacts:
        return give_up_overtaken(current, winner)
    if changes_rows(current):
        return (yield from follow_moved_rows(current, winner, reader))
    return None
