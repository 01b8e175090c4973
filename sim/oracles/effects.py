"""What each transaction's statement does to rows, by its recorded text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from whitecap.engine.log.schema import Schema
from whitecap.sim.oracles.duck_table import DuckTable
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.history import Transaction
from whitecap.sim.oracles.row_changes import Change, Row, Rows
from whitecap.sim.oracles.statement_text import (
    DYNAMIC,
    NOTHING,
    Columns,
    Meaning,
    NotTranslated,
    Restored,
    Translated,
    meaning_of,
)


@dataclass(slots=True)
class Effect:
    """Rows that go and rows that come."""

    gone: Rows = field(default_factory=Counter)
    new: Rows = field(default_factory=Counter)


# No slots: the table is made when somebody needs it.
@dataclass
class Effects:
    """Runs statements on a table of their own; raises `NotTranslated` for what cannot be run."""

    evidence: Evidence
    _stands_at: int | None = None
    _ran_from: int | None = None

    @cached_property
    def table(self) -> DuckTable:
        """The one table that all statements are run on."""
        first = next(iter(self.evidence.changes.changes.values()), None)
        return DuckTable(Schema() if first is None else first.schema)

    @cached_property
    def main_versions(self) -> dict[str, int]:
        """Transaction -> the version that its statement made; others of it change no rows.

        It is the first that changes rows, or of a transaction that changes none, its first.
        """
        changes = self.evidence.changes.changes
        return {
            name: next((v for v in versions if not changes[v].is_none), versions[0])
            for name, versions in self.evidence.written.items()
        }

    def concurrent(self) -> Iterator[tuple[int, Transaction, int]]:
        """Versions with writer and version read, where others committed in between."""
        for version, owner in self.evidence.owned():
            read = owner.read_version
            if self.is_main(version) and read is not None and read != version - 1:
                yield version, owner, read

    def is_main(self, version: int) -> bool:
        """Whether a version is what its writer's statement made."""
        owner = self.evidence.owners.get(version)
        return owner is not None and self.main_versions[owner.name] == version

    def meaning(self, version: int) -> Meaning:
        """What a version's writer wanted. Raises `NotTranslated`."""
        owner = self.evidence.owners.get(version)
        if owner is None or owner.statement is None:
            raise NotTranslated("its statement is not in the history")
        if not self.is_main(version):
            return NOTHING
        schema = self.evidence.changes.changes[version].schema
        before = self.evidence.log.snapshots.get(version - 1, self.evidence.log.base)
        history = self.evidence.history
        settings = {} if history is None else history.promise.settings
        dynamic = settings.get(DYNAMIC, "").upper() == "DYNAMIC"
        columns = Columns.of(schema, before.partition_columns)
        return meaning_of(owner.statement, columns, dynamic)

    def effect(self, versions: Sequence[int], state: int) -> Effect:
        """What statements do, one after the other, to the rows that are there before a version.

        Raises `NotTranslated`, `RowsUnreadable`.
        """
        meanings = [self.meaning(version) for version in versions]
        self._ran_from = None
        if all(meaning == NOTHING for meaning in meanings):
            return Effect()
        self._stand_at(state, self.evidence.changes.changes[versions[0]].schema)
        self._stands_at, self._ran_from = None, state
        self.table.remember()
        for meaning in meanings:
            if isinstance(meaning, Restored):
                self.table.load(self.evidence.changes.before(meaning.version + 1))
            else:
                self.table.apply(meaning)
        return Effect(*self.table.done())

    def was_right(self, before: int, after: int) -> None:
        """What was asked last of the rows before a version has led to those before a later one.

        Where nothing had to be run, the table may hold other rows than those.
        """
        if before in (self._ran_from, self._stands_at):
            self._stands_at = after

    def _stand_at(self, state: int, schema: Schema) -> None:
        if self.table.schema != schema:
            self.table.takes(schema)
            self._stands_at = None
        if self._stands_at != state:
            self.table.load(self.evidence.changes.before(state))

    def matched(self, version: int, among: list[Change]) -> set[int] | None:
        """The versions among some whose changed rows a statement reads; `None`: cannot be told."""
        meaning = self.meaning(version)
        if not isinstance(meaning, Translated):
            return set() if not isinstance(meaning, Restored) else None
        if meaning.matches is None:
            return None
        schema = self.evidence.changes.changes[version].schema
        if self.table.schema != schema:
            self.table.takes(schema)
            self._stands_at = None
        return self.table.matched(meaning.matches, list(_changed(among)))


def _changed(changes: list[Change]) -> Iterator[tuple[int, Row]]:
    for change in changes:
        yield from ((change.version, row) for row in {**change.gone, **change.new})
