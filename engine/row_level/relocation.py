"""Where compaction put rows.

OPTIMIZE copies the live rows of some files, in order, into one. It leaves a note in the tags of
each file that it removes: the file that the rows went into, the position of the first, and the
deletion vector that it saw. With the note a position can be followed without looking at any row.
Where rows were not kept in order they are found by what identifies them; here that is their
values, since two equal rows may stand for each other.

Source: https://github.com/delta-io/delta/issues/7407 (offsets are remapped; `compactedInto` and
`compactionInfo` tombstone tags, whose content is not public: the JSON here is ours);
US patent 12,147,412, claim 7 (rows found again through record identifiers).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from pyroaring import BitMap64

from whitecap.engine.log.actions import AddFile, DeletionVector, RemoveFile
from whitecap.engine.row_level.changes import FileChange, RowReader
from whitecap.engine.storage.requests import Row, Steps

TARGET_TAG, NOTE_TAG = "compactedInto", "compactionInfo"

Places = dict[str, BitMap64]
"""Positions by path."""


class Note(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a removed file says of its compaction; without `first_row` rows changed their order."""

    first_row: int | None = None
    deletion_vector: DeletionVector | None = None

    @classmethod
    def of(cls, removed: RemoveFile) -> Note | None:
        """The note on a removed file, `None` without one."""
        text = (removed.tags or {}).get(NOTE_TAG)
        return None if text is None else msgspec.json.decode(text, type=cls)


def compacted_into(removed: RemoveFile) -> str | None:
    """The path that a removed file's rows went into, where it tells one."""
    return (removed.tags or {}).get(TARGET_TAG)


def with_note(removed: RemoveFile, target: str, first_row: int) -> RemoveFile:
    """The removed file with a note that its rows went into `target`, in order."""
    return _tagged(removed, {TARGET_TAG: target}, Note(first_row, removed.deletion_vector))


def as_changed(removed: RemoveFile, vector: DeletionVector | None) -> RemoveFile:
    """The removal of a file that was given another vector after its rows were copied.

    Its note keeps the vector that the copying saw.
    """
    if Note.of(removed) is None:
        removed = _tagged(removed, {}, Note(None, removed.deletion_vector))
    return replace(removed, deletion_vector=vector)


def _tagged(removed: RemoveFile, more: dict[str, str], note: Note) -> RemoveFile:
    text = msgspec.json.encode(note).decode()
    tags = {**(removed.tags or {}), **more, NOTE_TAG: text}
    return replace(removed, tags=tags)


class Relocation(Protocol):
    """Where the rows of compacted files are now."""

    def locate(self, path: str, positions: BitMap64) -> Steps[Places]:
        """The new places of rows that were at `positions` of a compacted file."""
        ...


class ByOffset(Struct, frozen=True):
    """Rows kept their order: counting the rows before is enough."""

    removes: dict[str, RemoveFile]
    reader: RowReader

    def locate(self, path: str, positions: BitMap64) -> Steps[Places]:
        removed = self.removes[path]
        note, target = Note.of(removed), compacted_into(removed)
        assert note is not None
        assert note.first_row is not None
        assert target is not None
        seen = replace(removed, deletion_vector=note.deletion_vector)
        left_out = yield from self.reader.hidden(seen)
        first = note.first_row
        return {target: BitMap64(first + at - left_out.rank(at) for at in positions)}


class ByIdentity(Struct, frozen=True):
    """Rows may be anywhere in the new files: each is looked up by its values."""

    places: dict[tuple[str, int], tuple[str, int]]

    @classmethod
    def of(
        cls, removes: Sequence[RemoveFile], adds: Sequence[AddFile], reader: RowReader
    ) -> Steps[ByIdentity]:
        """Read both sides of a rearrangement and match their rows."""
        free: dict[Any, list[tuple[str, int]]] = {}
        for add in adds:
            for at, row in enumerate((yield from reader.rows(add))):
                free.setdefault(_identity(row), []).append((add.path, at))
        places: dict[tuple[str, int], tuple[str, int]] = {}
        for removed in removes:
            note = Note.of(removed) or Note(deletion_vector=removed.deletion_vector)
            seen = replace(removed, deletion_vector=note.deletion_vector)
            left_out = yield from reader.hidden(seen)
            for at, row in enumerate((yield from reader.rows(FileChange(removed, None).file))):
                candidates = free.get(_identity(row))
                if at not in left_out and candidates:
                    places[removed.path, at] = candidates.pop()
        return cls(places)

    def locate(self, path: str, positions: BitMap64) -> Steps[Places]:
        yield from ()
        targets: Places = {}
        for at in positions:
            target, position = self.places[path, at]
            targets.setdefault(target, BitMap64()).add(position)
        return targets


def _identity(row: Row) -> tuple[Any, ...]:
    """The row's values such that equal ones are equal keys, NaN and unhashable ones included."""
    return tuple([repr(value) for value in row])


def can_relocate(removes: Iterable[RemoveFile], may_identify_rows: bool) -> bool:
    """Whether rows of a rearrangement can be followed.

    `may_identify_rows`: the table gives rows an identity that survives rewriting.
    """
    return may_identify_rows or all(_keeps_order(removed) for removed in removes)


def relocation_of(
    removes: Sequence[RemoveFile], adds: Sequence[AddFile], reader: RowReader
) -> Steps[Relocation]:
    """How to follow the rows of a rearrangement: by its notes, else by their identity."""
    if all(_keeps_order(removed) for removed in removes):
        return ByOffset({removed.path: removed for removed in removes}, reader)
    return (yield from ByIdentity.of(removes, adds, reader))


def _keeps_order(removed: RemoveFile) -> bool:
    note = Note.of(removed)
    return note is not None and note.first_row is not None
