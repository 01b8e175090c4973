"""The conflict check of one transaction against ONE winning commit, in Delta's order.

Source: `ConflictChecker.scala: checkConflicts`. The first check that fails decides; what it
resolves, the next one sees.
"""

from __future__ import annotations

from collections.abc import Callable

from whitecap.engine.conflicts.action_checks import (
    check_consistent_data_change,
    check_no_duplicates,
)
from whitecap.engine.conflicts.backfill import resolve_backfill, resolve_unbackfill
from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.domains_and_progress import check_applications, check_domains
from whitecap.engine.conflicts.files import added_files, removed_vs_read, removed_vs_removed
from whitecap.engine.conflicts.metadata import check_metadata
from whitecap.engine.conflicts.protocol import check_protocol
from whitecap.engine.conflicts.renumbering import (
    order_timestamps,
    reassign_row_commit_versions,
    reassign_row_ids,
    update_type_changes,
)
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.log.effects import BEYOND_FILES
from whitecap.engine.outcomes import Verdict
from whitecap.engine.settings import Settings

Step = Callable[[CurrentTransaction, WinningCommit, Settings], CurrentTransaction | Verdict]

BEFORE_FILES: tuple[Step, ...] = (
    check_protocol,
    check_metadata,
    check_domains,
    check_applications,
    resolve_backfill,
    resolve_unbackfill,
    reassign_row_ids,
    reassign_row_commit_versions,
    update_type_changes,
)
BY_STATEMENT: tuple[Step, ...] = (check_protocol, check_metadata)
"""Those of dialects that know of no read but a statement's condition: applications come last."""
FILES = (added_files, removed_vs_read, removed_vs_removed)


def check(
    current: CurrentTransaction, winner: WinningCommit, settings: Settings
) -> CurrentTransaction | Verdict:
    """Why the winner refuses this transaction, or the transaction as if started after it.

    A winner without an effect that concerns the transaction is passed by; one of which only the
    files do meets the file checks only. Raises `DeltaError` for what Delta refuses other than by a
    conflict.
    """
    if current.passes_by(winner.commit):
        return current
    if winner.commit.effects & current.concerns & BEYOND_FILES:
        return _check_whole(current, winner, settings)
    return check_files(current, winner) or current


def _check_whole(
    current: CurrentTransaction, winner: WinningCommit, settings: Settings
) -> CurrentTransaction | Verdict:
    resolved = check_before_files(current, winner, settings)
    if isinstance(resolved, Verdict):
        return resolved
    verdict = check_files(resolved, winner)
    if verdict is None and current.checks.reads_by_statement:
        return check_applications(resolved, winner, settings)
    return verdict or check_after_files(current, resolved, winner, settings)


def check_before_files(
    current: CurrentTransaction, winner: WinningCommit, settings: Settings
) -> CurrentTransaction | Verdict:
    """Everything but files: what other checks resolve, the file checks see."""
    resolved = current
    for step in BY_STATEMENT if current.checks.reads_by_statement else BEFORE_FILES:
        answer = step(resolved, winner, settings)
        if isinstance(answer, Verdict):
            return answer
        resolved = answer
    return resolved


def check_files(current: CurrentTransaction, winner: WinningCommit) -> Verdict | None:
    """The first file check that fails."""
    for file_check in FILES:
        verdict = file_check(current, winner)
        if verdict is not None:
            return verdict
    return None


def check_after_files(
    current: CurrentTransaction,
    resolved: CurrentTransaction,
    winner: WinningCommit,
    settings: Settings,
) -> CurrentTransaction:
    """What is left to do once nothing conflicts. Raises `DeltaError`."""
    resolved = order_timestamps(resolved, winner, settings)
    if resolved.actions is not current.actions:
        check_no_duplicates(resolved.actions, settings)
        check_consistent_data_change(resolved.actions, settings)
    return resolved
