"""What each transaction's statement does to rows, by its recorded text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
from msgspec import Struct

from whitecap.engine.log.schema import Schema
from whitecap.engine.storage.requests import Row
from whitecap.sim.oracles.duck_table import DuckTable, Sum
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.history import HistoryTransaction
from whitecap.sim.oracles.row_changes import RowMultiset, VersionChange
from whitecap.sim.oracles.statements.columns import TableColumns
from whitecap.sim.oracles.statements.parsing import NotTranslated
from whitecap.sim.oracles.statements.text import (
    DYNAMIC,
    NOTHING_TRANSLATED,
    Appended,
    Meaning,
    Restored,
    TakenAsItIs,
    Translated,
    meaning_of,
)


class RowEffect(Struct):
    """Rows that go and rows that come."""

    gone: RowMultiset = msgspec.field(default_factory=Counter)
    new: RowMultiset = msgspec.field(default_factory=Counter)


# No slots: the table is made when somebody needs it.
@dataclass
class StatementEffects:
    """Runs statements on a table of its own. Raises `NotTranslated` for one that cannot be run."""

    evidence: Evidence
    _stands_at: int | None = None
    _sum: Sum | None = None
    _learnt: dict[int, Sum] | None = None

    @cached_property
    def table(self) -> DuckTable:
        """The one table that all statements are run on."""
        first = next(iter(self.evidence.changes.changes.values()), None)
        return DuckTable(Schema() if first is None else first.schema)

    @cached_property
    def main_versions(self) -> dict[str, int]:
        """By transaction, the version that its statement made; its others change no rows.

        That is the first that changes rows or, if none does, the first.
        """
        changes = self.evidence.changes.changes
        return {
            name: next((v for v in versions if not changes[v].is_none), versions[0])
            for name, versions in self.evidence.written.items()
        }

    def concurrent(self) -> Iterator[tuple[int, HistoryTransaction, int]]:
        """Versions with writer and read version, where others committed in between."""
        for version, owner in self.evidence.owned():
            read = owner.read_version
            if self.is_main(version) and read is not None and read != version - 1:
                yield version, owner, read

    def is_main(self, version: int) -> bool:
        """Whether a version is what its writer's statement made."""
        owner = self.evidence.owners.get(version)
        return owner is not None and self.main_versions[owner.name] == version

    def is_blind(self, version: int) -> bool:
        """Whether a version only adds what its statement says, and is known to read nothing."""
        if not self.is_main(version):
            return False
        try:
            meaning = self.meaning(version)
        except NotTranslated:
            return False
        if isinstance(meaning, Appended):
            return not meaning.reads_table
        return isinstance(meaning, Translated) and meaning.matches == ""

    def meaning(self, version: int) -> Meaning:
        """What a version's writer wanted. Raises `NotTranslated`."""
        owner = self.evidence.owners.get(version)
        if owner is None and version < min(self.evidence.owners, default=0):
            return self._as_it_is(version)
        if owner is None or owner.statement is None:
            raise NotTranslated("its statement is not in the history")
        if not self.is_main(version):
            return NOTHING_TRANSLATED
        schema = self.evidence.changes.changes[version].schema
        return self._meaning(owner.statement, schema, version)

    def _meaning(self, statement: str, schema: Schema, version: int) -> Meaning:
        """Of a statement that is run on the table as it is before a version."""
        before = self.evidence.log.snapshots.get(version - 1, self.evidence.log.base)
        history = self.evidence.history
        settings = {} if history is None else history.promise.settings
        dynamic = settings.get(DYNAMIC, "").upper() == "DYNAMIC"
        columns = TableColumns.of(schema, before.partition_columns)
        return meaning_of(statement, columns, dynamic)

    def _as_it_is(self, version: int) -> Meaning:
        """A version before the history began: some reader missed it, so that it comes later."""
        change = self.evidence.changes.changes[version]
        if change.is_none:
            return NOTHING_TRANSLATED
        if change.gone or change.problem:
            raise NotTranslated("its statement is not in the history")
        return TakenAsItIs(version)

    def effect(self, versions: Sequence[int], state: int) -> RowEffect:
        """What statements do, in this order, to the rows that are there before a version.

        Raises `NotTranslated`, `RowsUnreadable`.
        """
        meanings = [self.meaning(version) for version in versions]
        if all(meaning == NOTHING_TRANSLATED for meaning in meanings):
            return RowEffect()
        return self._effect(meanings, self.evidence.changes.changes[versions[0]].schema, state)

    def _effect(self, meanings: Iterable[Meaning], schema: Schema, state: int) -> RowEffect:
        self._stand_at(state, schema)
        self._stands_at = None
        self.table.remember()
        self._apply(meanings)
        return RowEffect(*self.table.done())

    def undone(self, statement: str, read: int) -> RowEffect:
        """What a statement that ended without a commit would do to the version that it read.

        Raises `NotTranslated`, `RowsUnreadable`.
        """
        schema = self.evidence.log.snapshots[read].schema
        meaning = self._meaning(statement, schema, read + 1)
        if meaning == NOTHING_TRANSLATED or isinstance(meaning, Appended):
            return RowEffect()
        return self._effect([meaning], schema, read + 1)

    def explain(self, versions: Sequence[int]) -> bool:
        """Whether statements, in this order, do what these versions did, by sums of hashes.

        If not, `effect` says what differs. Raises as `effect`.
        """
        meanings = [self.meaning(version) for version in versions]
        first, last = min(versions), max(versions)
        if all(meaning == NOTHING_TRANSLATED for meaning in meanings):
            return self._stays(first, last)
        self._stand_at(first, self.evidence.changes.changes[first].schema)
        before, self._stands_at = self._sum or self.table.sum(), None
        learnt = self._learn(first, last)
        if learnt is None:
            return False
        self._apply(meanings)
        self._sum = self.table.sum()
        if self._sum != _added(before, (learnt.get(version, (0, 0)) for version in versions)):
            return False
        self._stands_at = last + 1
        return True

    def _stays(self, first: int, last: int) -> bool:
        """Whether the table holds the same rows before one version and after another."""
        changes = self.evidence.changes.changes
        if not all(changes[v].is_none for v in range(first, last + 1) if v in changes):
            return False
        if self._stands_at == first:
            self._stands_at = last + 1
        return True

    def _apply(self, meanings: Iterable[Meaning]) -> None:
        for meaning in meanings:
            if isinstance(meaning, Restored):
                self.table.load(self.evidence.changes.before(meaning.version + 1))
            elif isinstance(meaning, TakenAsItIs):
                self._learn(meaning.version, meaning.version)
                self.table.bring(meaning.version)
            else:
                self.table.apply(meaning)

    def _stand_at(self, state: int, schema: Schema) -> None:
        self._take(schema)
        if self._stands_at != state:
            self.table.load(self.evidence.changes.before(state))
            self._sum = None

    def _take(self, schema: Schema) -> None:
        if self.table.schema != schema:
            self.table.takes(schema)
            self._stands_at = self._learnt = None

    def _learn(self, first: int, last: int) -> dict[int, Sum] | None:
        """By how much versions change the table's sum; `None` if their columns are others."""
        changes = self.evidence.changes.changes
        if self._learnt is None:
            alike = (each for each in changes.values() if each.schema == self.table.schema)
            self._learnt = self.table.learn(list(_weighed(alike)))
        between = (changes[v] for v in range(first, last + 1) if v in changes)
        is_alike = all(each.is_none or each.schema == self.table.schema for each in between)
        return self._learnt if is_alike else None

    def matched(self, version: int, among: list[VersionChange]) -> set[int] | None:
        """Which of some versions have changed rows that a statement reads; `None` if unknown."""
        meaning = self.meaning(version)
        if isinstance(meaning, Appended) and meaning.reads_table:
            return {change.version for change in among}
        if not isinstance(meaning, Translated):
            return set() if not isinstance(meaning, Restored) else None
        if meaning.matches is None:
            return None
        if not among:
            return set()
        versions = [change.version for change in among]
        first, last = min(versions), max(versions)
        self._take(self.evidence.changes.changes[version].schema)
        if self._learn(first, last) is None:
            raise NotTranslated("columns change among concurrent versions")
        return self.table.matched(meaning.matches, first, last) & set(versions)


def _weighed(changes: Iterable[VersionChange]) -> Iterator[tuple[int, int, Row]]:
    for change in changes:
        yield from ((change.version, -count, row) for row, count in change.gone.items())
        yield from ((change.version, count, row) for row, count in change.new.items())


def _added(first: Sum, others: Iterable[Sum]) -> Sum:
    rows, total = first
    for more, further in others:
        rows, total = rows + more, total + further
    return rows, total
