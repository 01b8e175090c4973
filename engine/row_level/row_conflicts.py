"""Row-level conflict detection against one winner, and the merge of both changes.

The transaction may come after the winner if no row that the winner brought or took away would have
changed what this transaction did, and no row was changed by both. For a file that both changed the
second is: (the winner's vector AND ours) minus the one that both started from is empty; then ours
becomes the union. What results is what running after the winner would have given.

Source: US patent 12,147,412; https://github.com/delta-io/delta/issues/7357; the descriptions of
ROW_LEVEL_CHANGES at the pages that `verdicts` names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyroaring import BitMap64

from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.files import files_to_check
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import AnyAction
from whitecap.engine.outcomes import Verdict
from whitecap.engine.row_level.changes import FileChange, RowReader, file_changes
from whitecap.engine.row_level.compaction import own_changes, without_files
from whitecap.engine.row_level.hiding import Hiding, hide
from whitecap.engine.row_level.reads import RowRead
from whitecap.engine.row_level.verdicts import row_verdict
from whitecap.engine.row_store.rows import rows_at
from whitecap.engine.rules import Rule
from whitecap.engine.storage.requests import Row, Steps

Look = Callable[[FileChange], Steps[BitMap64]]


def check_rows(
    current: CurrentTransaction,
    winner: WinningCommit,
    reads: Sequence[RowRead],
    reader: RowReader,
) -> Steps[CurrentTransaction | Verdict]:
    """Why the winner's rows refuse this transaction, or the transaction as if run after it."""
    changes = file_changes(winner.removes, winner.adds)
    visible = {add.path for add in files_to_check(current, winner)}
    came = [c for c in changes if c.after is not None and c.after.path in visible]
    concerned = yield from _first_concerned(came, reader.brought, reads, reader)
    if concerned is not None:
        return row_verdict(Rule.ADDED_ROWS, current, winner, *concerned)
    concerned = yield from _first_concerned(changes, reader.taken, reads, reader)
    if concerned is not None:
        return row_verdict(Rule.DELETED_VS_READ_ROWS, current, winner, *concerned)
    return (yield from _merged(current, winner, changes, reader))


def _first_concerned(
    changes: Sequence[FileChange], look: Look, reads: Sequence[RowRead], reader: RowReader
) -> Steps[tuple[str, str] | None]:
    """The first file with a changed row that a read depends on, and the read's condition."""
    for change in changes:
        file = change.file
        interested = [read for read in reads if read.may_concern(file)]
        positions = (yield from look(change)) if interested else BitMap64()
        if positions:
            rows = rows_at((yield from reader.rows(file)), list(positions))
            read = _first_concerned_read(interested, rows)
            if read is not None:
                return file.path, read.condition()
    return None


def _first_concerned_read(reads: Sequence[RowRead], rows: Sequence[Row]) -> RowRead | None:
    return next((read for read in reads if any(_concerns(read, row) for row in rows)), None)


def _concerns(read: RowRead, row: Row) -> bool:
    """A row that the condition cannot even be evaluated for counts as concerned."""
    try:
        return read.concerns(row)
    except DeltaError:
        return True


def _merged(
    current: CurrentTransaction,
    winner: WinningCommit,
    changes: Sequence[FileChange],
    reader: RowReader,
) -> Steps[CurrentTransaction | Verdict]:
    """Ours on top of the winner's: unions of deletion vectors where both changed a file."""
    theirs = {change.before.path: change for change in changes if change.before is not None}
    hidings: list[Hiding] = []
    both = [c for c in own_changes(current) if c.before is not None and c.before.path in theirs]
    for own in both:
        won = theirs[own.file.path]
        taken = yield from reader.taken(own)
        if taken & (yield from reader.taken(won)):
            return row_verdict(Rule.DELETED_ROWS, current, winner, own.file.path)
        if won.after is not None:
            hidings.append(Hiding(won.after, (yield from reader.hidden(won.after)) | taken))
    if not both:
        return current
    like = both[0].before
    assert like is not None
    rest: list[AnyAction] = without_files(current.actions, theirs)
    return current.with_actions([*rest, *(yield from hide(hidings, like, reader))])
