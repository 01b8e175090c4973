"""What one writer asks for next: values for its statement's placeholders, keys, and rows.

Every job has draws of its own, and each choice takes a fixed number of them, whatever the table
holds: what other writers do can change which key a draw means, but never which draw is used. New
keys follow from the job alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil
from typing import Any

import msgspec
from msgspec import Struct

from whitecap.engine.log.schema import Schema
from whitecap.engine.storage.requests import Row
from whitecap.sim.quantities.bounds import MAX_ROWS_AT_ONCE
from whitecap.sim.quantities.units import DAY_MS
from whitecap.sim.scenario.parameters import ChoiceSection, Keys, Parameter, RowsSection
from whitecap.sim.table.rows import ScenarioRows, day_at
from whitecap.sim.table.slices import Dimension, KeysInUse, Slice
from whitecap.sim.time.draws import DrawnColumns, DrawTable
from whitecap.sim.time.random_streams import WORD_BITS, RandomSource
from whitecap.sim.writers.choices import ALONE, EVENLY, Member, pick

DrawsOf = Callable[[int], Iterable[float]]
"""The uniform numbers of a job, by its number."""

# A new key is made of the job's number (28 bits, enough for `MAX_JOBS`), the writer's code (19) and
# a counter (16): unique, rising from job to job, and the same in every variant of a scenario.
CODE_BITS = 19
COUNTER_BITS = 16

ROWS = "rows"
"""The parameter whose value are the rows of a stream's batch."""

NO_SUCH_KEY = -1
"""Stands for a key where a slice has no rows; nothing in the table matches it."""


class Work(Struct, frozen=True):
    """One job's input: `values` for the placeholders, and the rows that it would add."""

    values: Mapping[str, Any] = msgspec.field(default_factory=dict)
    new_keys: Sequence[tuple[Slice, int]] = ()

    def of_batch(self, schema: Schema, brought: Schema) -> Work:
        """The same with rows of a stream, which does not bring all columns of the table."""
        if brought == schema:
            return self
        return self.of_columns(ROWS, [schema.index(name) for name in brought.names])

    def of_columns(self, parameter: str, places: Sequence[int]) -> Work:
        """The same with rows that have only the columns at some places of the table's."""
        rows = [tuple(row[at] for at in places) for row in self.values[parameter]]
        return Work({**self.values, parameter: rows}, self.new_keys)

    def is_done(self, keys: KeysInUse) -> None:
        """Its transaction committed: its rows are there for others to find."""
        for slice_, key in self.new_keys:
            keys.add(slice_, key)


class NewKeys(Struct, frozen=True):
    """The keys that one writer gives to new rows, all of them at least `first`.

    `code` is what no other writer on the table has. `draws` are the writer's own, and say where
    each job begins to count; without them all begin at 0.
    """

    code: int
    first: int = 0
    draws: RandomSource | None = None

    def of_job(self, job: int, room: int) -> Iterator[int]:
        """Keys that nobody else has, in rising order: `room` of them or more.

        With draws their last digits are any, as where many sessions share a sequence: did all jobs
        begin at 0, those of two rows would have two remainders by 16 alone.
        """
        lowest = self.first + ((job << CODE_BITS | self.code) << COUNTER_BITS)
        return iter(range(lowest + self._begin(job, room), lowest + (1 << COUNTER_BITS)))

    def _begin(self, job: int, room: int) -> int:
        """Where a job begins to count, so that there is room."""
        places = (1 << COUNTER_BITS) - room
        if self.draws is None or places <= 0:
            return 0
        return self.draws.word(job, 0) * places >> WORD_BITS

    def revision(self, job: int) -> int:
        """The number of what a job makes of existing rows; another job's is another."""
        return self.code * 1_000_003 + job + 1


class Workload:
    """Makes the jobs of one writer; `draws_of` gives each its numbers."""

    def __init__(
        self,
        table: ScenarioRows,
        parameters: Mapping[str, Parameter],
        draws_of: DrawsOf,
        keys: KeysInUse,
        new_keys: NewKeys,
        start_ms: int,
        member: Member = ALONE,
    ) -> None:
        self._table = table
        self._member = member
        self._draws_of = draws_of
        self._draws: Iterator[float] = iter(())
        self._keys = keys
        self._new_keys = new_keys
        self._start_ms = start_ms
        self._job = 0
        self._day = -1
        self._values: Mapping[str, Sequence[Any]] = {}
        self._dimensions = {dimension.name: dimension for dimension in table.dimensions}
        self._simple = {n: p for n, p in parameters.items() if not (p.keys or p.rows)}
        self._of_rows = {n: p for n, p in parameters.items() if p.keys or p.rows}
        self._existing = {n: p.rows.existing_of_job for n, p in parameters.items() if p.rows}
        self._room = MAX_ROWS_AT_ONCE * len(self._existing)

    def work(self, job: int, now_ms: float) -> Work:
        """The input of a job that begins now; the first job is number 0."""
        self._job = job
        self._draws = iter(self._draws_of(job))
        new_keys = self._new_keys.of_job(job, self._room)
        values = {name: self._value(name, p, now_ms) for name, p in self._simple.items()}
        chosen = {name: values[name] for name in self._dimensions if name in values}
        added: list[tuple[Slice, int]] = []
        for name, parameter in self._of_rows.items():
            if parameter.keys is not None:
                values[name] = self._some_keys(parameter.keys, chosen, now_ms)
            elif parameter.rows is not None:
                existing = self._number_of(self._existing[name])
                values[name] = self._some_rows(
                    parameter.rows, existing, chosen, now_ms, new_keys, added
                )
        return Work(values, tuple(added))

    def _some_rows(
        self,
        rows: RowsSection,
        existing: int,
        chosen: Mapping[str, Any],
        now_ms: float,
        new_keys: Iterator[int],
        added: list[tuple[Slice, int]],
    ) -> list[Row]:
        """Rows in the chosen slices: first `existing` that change what is there, then new ones.

        Where a slice is still empty, a new row stands in for an existing one.
        """
        changed: list[Row] = []
        slices: list[Slice] = []
        if existing:
            changed, slices = self._changed_rows(rows.choose, existing, chosen, now_ms)
        slices += self._slices(rows.count - existing, chosen, now_ms)
        keys = list(islice(new_keys, len(slices)))
        added.extend(zip(slices, keys, strict=True))
        return changed + self._table.maker.rows(keys, slices)

    def _number_of(self, mean: float) -> int:
        """A whole number that is `mean` on average; without a draw where `mean` is whole."""
        whole, rest = divmod(mean, 1)
        return int(whole) + (rest > 0 and next(self._draws) < rest)

    def _changed_rows(
        self, choose: ChoiceSection, count: int, chosen: Mapping[str, Any], now_ms: float
    ) -> tuple[list[Row], list[Slice]]:
        """Rows that change existing ones, and the chosen slices in which there are none."""
        places = [self._key_place(choose, chosen, now_ms) for _ in range(count)]
        revision = self._new_keys.revision(self._job)
        distinct = {key: slice_ for slice_, key in places if key != NO_SUCH_KEY}
        empty = [slice_ for slice_, key in places if key == NO_SUCH_KEY]
        if not distinct:
            return [], empty
        return self._table.maker.rows(list(distinct), list(distinct.values()), revision), empty

    def _value(self, name: str, parameter: Parameter, now_ms: float) -> Any:
        if parameter.value is not None:
            return parameter.value
        if parameter.counter is not None:
            return self._job + 1
        if parameter.among is not None:
            return parameter.among[int(next(self._draws) * len(parameter.among))]
        dimension = self._dimensions.get(parameter.column or name)
        if parameter.member is not None:
            return self._member.number if dimension is None else self._own(dimension, now_ms)
        assert dimension is not None
        return self._among(dimension, parameter, now_ms)

    def _own(self, dimension: Dimension, now_ms: float) -> Any:
        """The value of a column that falls to this member of its group."""
        values = self._values_at(now_ms)[dimension.name]
        rank = (self._member.number - 1) % len(values)
        return values[-1 - rank if dimension.grows_daily else rank]

    def _among(self, dimension: Dimension, choice: ChoiceSection | Parameter, now_ms: float) -> Any:
        values = self._values_at(now_ms)[dimension.name]
        rank = pick(choice, len(values), next(self._draws))
        return values[rank if choice.zipf and not dimension.grows_daily else -1 - rank]

    def _values_at(self, now_ms: float) -> Mapping[str, Sequence[Any]]:
        """The values of every dimension; they change at midnight only."""
        day = int(self._start_ms + now_ms) // DAY_MS
        if day != self._day:
            today = day_at(self._start_ms, now_ms)
            self._day = day
            self._values = {name: d.values_on(today) for name, d in self._dimensions.items()}
        return self._values

    def _slice(self, chosen: Mapping[str, Any], now_ms: float) -> Slice:
        """The chosen values, any value where none was chosen."""
        return tuple(
            chosen[d.name] if d.name in chosen else self._among(d, EVENLY, now_ms)
            for d in self._table.dimensions
        )

    def _slices(self, count: int, chosen: Mapping[str, Any], now_ms: float) -> list[Slice]:
        if len(chosen) == len(self._dimensions):
            return [self._slice(chosen, now_ms)] * count
        return [self._slice(chosen, now_ms) for _ in range(count)]

    def _some_keys(self, keys: Keys, chosen: Mapping[str, Any], now_ms: float) -> list[int]:
        places = (self._key_place(keys.choose, chosen, now_ms) for _ in range(keys.count))
        return sorted({key for _, key in places})

    def _key_place(
        self, choose: ChoiceSection, chosen: Mapping[str, Any], now_ms: float
    ) -> tuple[Slice, int]:
        slice_ = self._slice(chosen, now_ms)
        draw = next(self._draws)
        count = self._keys.count(slice_)
        if not count:
            return slice_, NO_SUCH_KEY
        return slice_, self._keys.at(slice_, count - 1 - pick(choose, count, draw, self._member))


def draws_for(
    table: ScenarioRows, parameters: Mapping[str, Parameter], source: RandomSource
) -> Callable[[int], Sequence[float]]:
    """As many numbers for each job as its choices take."""
    named = parameters.keys()
    free = sum(dimension.name not in named for dimension in table.dimensions)
    count = sum(_draws_taken(parameter, free) for parameter in parameters.values())
    return DrawTable(source, [DrawnColumns(range(count), lambda uniforms: uniforms)]).row


def _draws_taken(parameter: Parameter, free: int) -> int:
    """How many draws a parameter takes at most; `free` dimensions have no parameter of theirs."""
    if parameter.keys is not None:
        return parameter.keys.count * (free + 1)
    if parameter.rows is not None:
        existing = parameter.rows.existing_of_job
        most = ceil(existing)
        return (existing < most) + most * (free + 1) + parameter.rows.count * free
    fixed = (parameter.value, parameter.counter, parameter.member)
    return 0 if any(kind is not None for kind in fixed) else 1
