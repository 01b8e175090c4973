"""What each transaction's statement does to rows, by running it on a real Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from whitecap.engine.log.schema import Schema
from whitecap.sim.oracles.effects import RowEffect, StatementEffects
from whitecap.sim.oracles.on_spark.spark_table import SparkTable
from whitecap.sim.oracles.statements.columns import TableColumns
from whitecap.sim.oracles.statements.kinds import EffectKind, kind_of
from whitecap.sim.oracles.statements.parsing import NotTranslated
from whitecap.sim.oracles.statements.text import (
    Appended,
    Meaning,
    Restored,
    TakenAsItIs,
    meaning_of,
)


class InItsOwnWords(Struct, frozen=True):
    """A statement that Spark runs as it stands."""

    statement: str


_Step = Meaning | InItsOwnWords

_UNDERSTOOD = (EffectKind.KEEPS, EffectKind.BATCH, EffectKind.RESTORES)
"""What is not for Spark to run: it asks for nothing, for given rows, or for versions of a log
that the table here does not have."""


class SparkEffects(Struct):
    """Runs the same statements as `whose`, which knows whose each version is, on a Spark.

    Raises `NotTranslated` for what cannot be run again.
    """

    whose: StatementEffects
    table: SparkTable
    _stands_at: int | None = None

    @property
    def main_versions(self) -> Mapping[str, int]:
        """Transaction -> the version that its statement made."""
        return self.whose.main_versions

    def is_main(self, version: int) -> bool:
        """Whether a version is what its writer's statement made."""
        return self.whose.is_main(version)

    def meaning(self, version: int) -> _Step:
        """What is to be done for a version. Raises `NotTranslated`."""
        owner = self.whose.evidence.owners.get(version)
        if owner is None or owner.statement is None or not self.is_main(version):
            return self.whose.meaning(version)
        statement = owner.statement
        if kind_of(statement) in _UNDERSTOOD:
            return meaning_of(statement, self._columns(version), dynamic=False)
        if filled_in := self._columns(version).filled_in:
            raise NotTranslated(f"columns that the table may fill in: {', '.join(filled_in)}")
        return InItsOwnWords(statement)

    def explain(self, versions: Sequence[int]) -> bool:
        """Whether statements, one after the other, do what these versions did.

        Where they do, the table stands where it is for what follows. Raises as `effect`.
        """
        steps = [self.meaning(version) for version in versions]
        first, last = min(versions), max(versions)
        self._stand_at(first, self._schema(first))
        self._stands_at = None
        self._take(steps)
        if self.table.rows() != self.whose.evidence.changes.before(last + 1):
            return False
        self._stands_at = last + 1
        return True

    def effect(self, versions: Sequence[int], state: int) -> RowEffect:
        """What statements do, one after the other, to the rows that are there before a version.

        Raises `NotTranslated`, `RowsUnreadable`.
        """
        steps = [self.meaning(version) for version in versions]
        self._stand_at(state, self._schema(versions[0]))
        self._stands_at = None
        before = self.table.rows()
        self._take(steps)
        after = self.table.rows()
        return RowEffect(before - after, after - before)

    def _take(self, steps: Sequence[_Step]) -> None:
        for step in steps:
            match step:
                case InItsOwnWords():
                    self.table.run(step.statement)
                case Appended():
                    self.table.append_batch(step)
                case Restored():
                    self._load(step.version + 1, self._schema(step.version))
                case TakenAsItIs():
                    self.table.append(self.whose.evidence.changes.changes[step.version].new)

    def _stand_at(self, state: int, schema: Schema) -> None:
        if self._stands_at != state:
            self._load(state, schema)

    def _load(self, state: int, schema: Schema) -> None:
        """The table holds the rows that are there before a version."""
        log = self.whose.evidence.log
        partitions = log.snapshots.get(state - 1, log.base).partition_columns
        self.table.load(self.whose.evidence.changes.before(state), schema, partitions)

    def _schema(self, version: int) -> Schema:
        return self.whose.evidence.changes.changes[version].schema

    def _columns(self, version: int) -> TableColumns:
        return TableColumns.of(self._schema(version), ())
