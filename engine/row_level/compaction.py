"""Compaction and changes of rows reconciled, whichever commits first.

A winner compacted files whose rows this transaction hides: the deletions move onto the compacted
file. A winner hid rows of files that this transaction compacted: its compacted file gets a deletion
vector. A winner compacted the same files: this compaction gives them up.

Source: https://github.com/delta-io/delta/issues/7407 ("forward" and "reverse"); the matrices of
https://learn.microsoft.com/en-za/azure/databricks/optimizations/isolation/row-level-concurrency.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace
from pyroaring import BitMap64

from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.read_set import ReadSet
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.log.actions import AddFile, AnyAction, RemoveFile
from whitecap.engine.row_level.changes import FileChange, RowReader, file_changes
from whitecap.engine.row_level.hiding import Hiding, hide, with_hidden
from whitecap.engine.row_level.relocation import (
    Note,
    Places,
    as_changed,
    compacted_into,
    relocation_of,
)
from whitecap.engine.storage.requests import Steps

COMPACTS = frozenset({"OPTIMIZE", "REORG"})
"""Operations that rewrite files without changing rows."""


def own_changes(current: CurrentTransaction) -> list[FileChange]:
    """What this transaction does to files."""
    adds = (action for action in current.actions if isinstance(action, AddFile))
    return file_changes(current.removed.values(), adds)


def rearranges(winner: WinningCommit) -> bool:
    """Whether a winner moved rows to other files without changing any."""
    changes = any(add.data_change for add in winner.adds)
    changes = changes or any(removed.data_change for removed in winner.removes)
    return bool(winner.removes) and not changes


def is_compaction(current: CurrentTransaction) -> bool:
    """Whether this transaction does."""
    removed = current.removed.values()
    compacts = current.operation.name in COMPACTS
    return compacts and not any(remove.data_change for remove in removed)


def follow_moved_rows(
    current: CurrentTransaction, winner: WinningCommit, reader: RowReader
) -> Steps[CurrentTransaction]:
    """Hide in the compacted files what this transaction hides in those that went into them."""
    moved = {removed.path for removed in winner.removes}
    own = [c for c in own_changes(current) if c.before is not None and c.before.path in moved]
    current = reading_moved_rows(current, winner)
    if not own:
        return current
    relocation = yield from relocation_of(winner.removes, winner.adds, reader)
    hidden: Places = {}
    for change in own:
        positions = yield from reader.taken(change)
        _join(hidden, (yield from relocation.locate(change.file.path, positions)))
    added = {add.path: add for add in winner.adds}
    hidings: list[Hiding] = []
    for path, positions in hidden.items():
        hidden_before = yield from reader.hidden(added[path])
        hidings.append(Hiding(added[path], hidden_before | positions))
    like = own[0].before
    assert like is not None
    rest = without_files(current.actions, moved)
    return current.with_actions([*rest, *(yield from hide(hidings, like, reader))])


def keep_up_with_changes(
    current: CurrentTransaction, winner: WinningCommit, reader: RowReader
) -> Steps[CurrentTransaction | None]:
    """Hide in own compacted files what a winner hid in those that went into them.

    `None` if the winner brought rows back, which are in no compacted file.
    """
    theirs = {
        change.before.path: change
        for change in file_changes(winner.removes, winner.adds)
        if change.before is not None and change.before.path in current.removed
    }
    if not theirs:
        return current
    adds = [action for action in current.actions if isinstance(action, AddFile)]
    relocation = yield from relocation_of(tuple(current.removed.values()), adds, reader)
    hidden: Places = {}
    for path, change in theirs.items():
        if (yield from reader.brought(change)):
            return None
        _join(hidden, (yield from relocation.locate(path, (yield from reader.taken(change)))))
    actions = _as_won(current.actions, theirs)
    return current.with_actions((yield from _with_hidden_rows(actions, hidden, reader)))


def give_up_overtaken(current: CurrentTransaction, winner: WinningCommit) -> CurrentTransaction:
    """Leave out the compacted files that hold rows of files which a winner rewrote.

    A compaction that keeps its rows in no order is given up whole.
    """
    lost = [current.removed[r.path] for r in winner.removes if r.path in current.removed]
    if not lost:
        return current
    notes = [Note.of(removed) for removed in lost]
    targets = {compacted_into(removed) for removed in lost}
    whole = any(note is None or note.first_row is None for note in notes)
    kept = [a for a in current.actions if not (whole or _goes_into(a, targets))]
    left = kept if any(isinstance(action, AddFile | RemoveFile) for action in kept) else []
    paths = frozenset(current.removed) - {a.path for a in left if isinstance(a, RemoveFile)}
    current = replace(current, read_set=current.read_set.without_paths(paths))
    return current.with_actions(left)


def without_files(actions: Iterable[AnyAction], paths: Iterable[str]) -> list[AnyAction]:
    """The actions but for files added or removed at these paths."""
    gone = frozenset(paths)
    return [a for a in actions if not (isinstance(a, AddFile | RemoveFile) and a.path in gone)]


def reading_moved_rows(current: CurrentTransaction, winner: WinningCommit) -> CurrentTransaction:
    """Whoever read a file that was compacted depends on the compacted file from now on."""
    read_set = _reading_targets(current.read_set, winner)
    return replace(current, read_set=read_set)


def _reading_targets(read_set: ReadSet, winner: WinningCommit) -> ReadSet:
    targets = {
        compacted_into(removed)
        for removed in winner.removes
        if read_set.file_read_at(removed.path) is not None
    }
    files = {add.path: add for add in winner.adds if targets and _may_be(add, targets)}
    return read_set.with_files(files) if files else read_set


def _may_be(add: AddFile, targets: set[str | None]) -> bool:
    return add.path in targets or None in targets


def _goes_into(action: AnyAction, targets: set[str | None]) -> bool:
    match action:
        case RemoveFile():
            return compacted_into(action) in targets
        case AddFile():
            return action.path in targets
    return False


def _as_won(actions: Iterable[AnyAction], theirs: dict[str, FileChange]) -> list[AnyAction]:
    """Own removals of the files as the winner left them; none of those that it removed."""
    kept: list[AnyAction] = []
    for action in actions:
        if not isinstance(action, RemoveFile) or action.path not in theirs:
            kept.append(action)
            continue
        after = theirs[action.path].after
        if after is not None:
            kept.append(as_changed(action, after.deletion_vector))
    return kept


def _with_hidden_rows(
    actions: Iterable[AnyAction], hidden: Places, reader: RowReader
) -> Steps[list[AnyAction]]:
    """The actions with more rows of own added files hidden."""
    others: list[AnyAction] = []
    hidings: list[Hiding] = []
    for action in actions:
        if isinstance(action, AddFile) and action.path in hidden:
            hidden_before = yield from reader.hidden(action)
            hidings.append(Hiding(action, hidden_before | hidden[action.path]))
        else:
            others.append(action)
    return [*(yield from with_hidden(hidings, reader, data_change=False)), *others]


def _join(places: Places, more: Places) -> None:
    for path, positions in more.items():
        places[path] = places.get(path, BitMap64()) | positions
