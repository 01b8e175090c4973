"""The `parameters:` of a writer: what is bound to the `:name` placeholders of its statement.

A parameter chooses a value of a column (`uniform`, `zipf`, `newest`, `among`, `value`), keys of
existing rows (`keys`), whole rows (`rows`), counts (`counter`), or is the writer's place in its
group (`member`). Parameters that bear the name
of a column with listed `values` also decide where keys and rows lie: with `date: newest`, rows are
rows of the newest date.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from whitecap.sim.quantities.bounds import MAX_COUNT, MAX_KEYS_AT_ONCE, MAX_ROWS_AT_ONCE
from whitecap.sim.quantities.section import OneOf, Section
from whitecap.sim.quantities.units import Number, Whole
from whitecap.sim.scenario.table import Scalar

MAX_EXPONENT = 100.0
"""Of Zipf's law: the second rank is then never drawn."""

_DIGITS = 9
"""Of a number of rows: what binary fractions add to a whole one is cut off. Ours."""


class Nothing(Section):
    """A choice without options."""


class Zipf(Section):
    """The value of rank k with weight k ** -exponent; rank 1 is the newest day, or first listed."""

    exponent: Number = Field(default=1.0, gt=0, le=MAX_EXPONENT)


class Newest(Section):
    """One of the newest `within` values, evenly; for keys, of the rows added last."""

    within: Whole = Field(default=1, ge=1, le=MAX_COUNT)


class ChoiceSection(OneOf):
    """How to choose among an ordered set; `member`: evenly in the writer's own part of it.

    The parts are equal, as many as the group has writers, the newest keys being in the first.
    """

    uniform: Nothing | None = None
    zipf: Zipf | None = None
    newest: Newest | None = None
    member: Nothing | None = None


class Keys(Section):
    """Keys of `count` existing rows, each chosen by itself: one chosen twice is there once."""

    count: Whole = Field(default=1, ge=1, le=MAX_KEYS_AT_ONCE)
    choose: ChoiceSection = ChoiceSection(uniform=Nothing())


class RowsSection(Section):
    """Whole rows: new ones, and with `existing` a share that changes rows that are there."""

    count: Whole = Field(default=1, ge=1, le=MAX_ROWS_AT_ONCE)
    existing: Number = Field(default=0.0, ge=0, le=1)
    choose: ChoiceSection = ChoiceSection(uniform=Nothing())

    @property
    def existing_of_job(self) -> float:
        """How many rows of a job change existing ones, on average; whole where it can be."""
        return round(self.count * self.existing, _DIGITS)


class Parameter(OneOf):
    """What one placeholder is bound to, chosen anew for each transaction.

    `member` is the n-th value of a column for the n-th writer of its group (the n-th newest day,
    from the start again where there are fewer values), or n itself where no column is meant.
    """

    shared: ClassVar[frozenset[str]] = frozenset({"column"})

    column: str | None = None
    value: Scalar | None = None
    among: list[Scalar] | None = Field(default=None, min_length=1)
    uniform: Nothing | None = None
    zipf: Zipf | None = None
    newest: Newest | None = None
    keys: Keys | None = None
    rows: RowsSection | None = None
    counter: Nothing | None = None
    member: Nothing | None = None

    @property
    def of_domain(self) -> bool:
        """Whether it is chosen among the listed values of a column."""
        named = self.member is not None and self.column is not None
        return named or self.chosen_names()[0] in ("uniform", "zipf", "newest")

    @property
    def of_member(self) -> bool:
        """Whether it depends on which writer of the group asks."""
        choices = [part.choose for part in (self.keys, self.rows) if part is not None]
        return self.member is not None or any(choice.member for choice in choices)
