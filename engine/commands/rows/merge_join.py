"""How a MERGE joins its target with its source. Source: ClassicMergeExecutor.scala."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whitecap.engine.commands.rows.merge_plan import MergePlan
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.schema import Schema
from whitecap.engine.refusals import write_errors
from whitecap.engine.row_store.stored_rows import Wanted
from whitecap.engine.sql.expressions.terms import Evaluate, Parameters
from whitecap.engine.storage.requests import Row


class Join:
    """The source's rows by the keys that ON equates, and which of them match a target row."""

    def __init__(
        self, plan: MergePlan, rows: Sequence[Row], parameters: Parameters, width: int
    ) -> None:
        on, blank = plan.join, (None,) * width
        self.no_source: Row = (None,) * plan.source_width
        self._nulls = blank + self.no_source
        self.rows = rows
        self._keys = on.keys
        self._pins = on.pins
        self._parameters = parameters
        self._target_key = _compared([key.target(parameters) for key in on.keys])
        source_key = self._source_key = _compared([key.source(parameters) for key in on.keys])
        residual = on.residual.bind(parameters)
        self._residual = residual.evaluate
        self._always = residual.is_constant and residual.value is True
        self._by_key: dict[Any, list[int]] = {}
        try:
            for at, row in enumerate(rows):
                key = source_key(blank + row)
                if key is not None:
                    self._by_key.setdefault(key, []).append(at)
        except DeltaError as error:
            raise _of_join(error) from error
        self.pins = self._pinned()

    def _pinned(self) -> dict[str, set[Any]]:
        """The values that a row of the target must have to match, by column."""
        names = [key.target_column for key in self._keys]
        if len(names) == 1:
            return {name: set(self._by_key) for name in names if name is not None}
        return {
            name: {key[at] for key in self._by_key}
            for at, name in enumerate(names)
            if name is not None
        }

    def wanted(self, schema: Schema, partition_columns: Sequence[str]) -> Wanted:
        """What the target's columns must have to match; nothing if ON compares anything else.

        Of partition columns nothing: files of other partitions are not looked at.
        """
        if any(key.target_column is None for key in self._keys):
            return ()
        pins = [pin for pin in self._pins if pin.column not in partition_columns]
        keys = ((schema.index(name), values) for name, values in self.pins.items())
        return [*((schema.index(p.column), p.values(self._parameters)) for p in pins), *keys]

    @property
    def needs_source(self) -> bool:
        """Whether ON never holds of a target row that is joined with NULLs."""
        return bool(self._keys) and self._source_key(self._nulls) is None

    @property
    def needs_target(self) -> bool:
        """Whether ON never holds of a source row that is joined with NULLs."""
        return bool(self._keys) and self._target_key(self._nulls) is None

    def holds(self, joined_row: Row) -> bool:
        """Whether ON holds of a joined row."""
        key = self._target_key(joined_row)
        if key is None or key != self._source_key(joined_row):
            return False
        return self._residual(joined_row) is True

    def matches(self, row: Row) -> list[int]:
        """The positions of the source rows that match a target row."""
        try:
            positions = self._by_key.get(self._target_key(row))  # NULL is never among the keys
            if not positions or self._always:
                return positions or []
            residual, rows = self._residual, self.rows
            return [at for at in positions if residual(row + rows[at]) is True]
        except DeltaError as error:
            raise _of_join(error) from error


def _of_join(error: DeltaError) -> DeltaError:
    """What Spark refuses is told by the thread that joins."""
    return write_errors.join_failed(error) if error.exception.startswith("Spark") else error


def _compared(evaluates: Sequence[Evaluate]) -> Evaluate:
    """The value of a row, or values, that are compared; `None` if one is NULL: equal to nothing."""
    if len(evaluates) == 1:
        return evaluates[0]

    def several(row: Row) -> tuple[Any, ...] | None:
        values = tuple([evaluate(row) for evaluate in evaluates])
        return None if None in values else values

    return several
