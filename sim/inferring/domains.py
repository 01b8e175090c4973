"""Which values the columns of the layout have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, date, datetime
from itertools import chain
from math import isfinite
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.schema import Field
from whitecap.engine.log.statistics import parse_statistics
from whitecap.sim.inferring.evidence.figures import DraftFigure, counted, guessed, many
from whitecap.sim.inferring.log.conditions import ABOVE, BELOW, EQUAL, compared, condition_of
from whitecap.sim.inferring.log.observed import ObservedCommit, ObservedTable
from whitecap.sim.inferring.naming import drafted_type, stand_in
from whitecap.sim.quantities.bounds import MAX_DAYS
from whitecap.sim.real_table.keys import days_of

MOST_VALUES = 100
"""Listed of a column: those with most commits; nobody reads more."""

FEWEST_NAMED = 3
"""Conditions that name a value of a clustering column: fewer are no way of working."""


def _day(text: str) -> date:
    """The day of a date, or of an instant."""
    return date.fromisoformat(text[:10])


_READ: dict[str, Callable[[str], Any]] = {
    "string": str,
    "tinyint": int,
    "smallint": int,
    "int": int,
    "bigint": int,
    "double": float,
    "date": _day,
}
"""Types of clustering columns whose values a scenario can list, and how a text of them is read."""


class DraftDomain(Struct, frozen=True):
    """The values of one column of the layout: `listed`, the busiest first, or drafted as `days`.

    Dates are days that arrive one by one; where they do not, they are `listed` as well, the newest
    first, and the draft has as many days. Of a clustering column `named` has the values that the
    condition of a version names.
    """

    column: Field
    position: int
    days: int | None
    listed: tuple[str, ...]
    figure: DraftFigure
    named: Mapping[int, Set[str]] | None = None

    @property
    def count(self) -> int:
        """How many values the draft has."""
        return self.days or max(len(self.listed), 1)

    @property
    def is_daily(self) -> bool:
        """Whether a day's date is new on that day."""
        return self.days is not None and not self.listed

    def of(self, commit: ObservedCommit) -> set[str]:
        """The values that a commit touched."""
        if self.named is not None:
            return set(self.named.get(commit.version, ()))
        partition_values = (partition[self.position] for partition in commit.partitions)
        return {value for value in partition_values if value is not None}


class _Seen(Struct, frozen=True):
    """What a log shows of a column: `values`, where they stand, how many commits touch each."""

    values: Set[str]
    touches: Counter[str]
    today: date
    where: str


def domains_of(observed: ObservedTable, columns: Sequence[Field]) -> list[DraftDomain]:
    """The domain of each partition column."""
    last_ms = max((commit.timestamp_ms for commit in observed.commits), default=0)
    live = [[value or None for value in partition] for partition in observed.snapshot.partitions]
    return [
        _partition_domain(column, at, [p[at] for p in live], observed.commits, day_of(last_ms))
        for at, column in enumerate(columns)
    ]


def _partition_domain(
    column: Field,
    at: int,
    live: Sequence[str | None],
    commits: Sequence[ObservedCommit],
    today: date,
) -> DraftDomain:
    values = set(_listable(column, live))
    touched = (_listable(column, {p[at] for p in commit.partitions}) for commit in commits)
    touches = Counter(chain.from_iterable(touched))
    domain = _domain(column, at, _Seen(values, touches, today, "in live files"))
    left_out = sorted(value or "NULL" for value in set(live) - values)
    if not left_out or domain.days is not None:
        return domain
    verb = "is" if len(left_out) == 1 else "are"
    said = f"{domain.figure.because}; {', '.join(left_out)} {verb} left out"
    return replace(domain, figure=replace(domain.figure, because=said))


def _listable(column: Field, values: Iterable[str | None]) -> Iterator[str]:
    """The values that a scenario can list: not NULL, and of numbers neither NaN nor infinity."""
    for value in values:
        if value is not None and (column.type != "double" or _is_finite(value)):
            yield value


def _is_finite(number: str) -> bool:
    try:
        return isfinite(float(number))
    except ValueError:
        return False


def day_of(instant_ms: float) -> date:
    """The day (UTC) of an instant."""
    return datetime.fromtimestamp(instant_ms / 1000, UTC).date()


def cluster_domains_of(observed: ObservedTable, columns: Sequence[Field]) -> list[DraftDomain]:
    """The domains of those clustering columns that conditions compare with values.

    A file may hold many values of them, so what a commit touched is what its condition names.
    """
    last_ms = max((commit.timestamp_ms for commit in observed.commits), default=0)
    listable = (column for column in columns if column.type in _READ)
    domains = (_cluster_domain(column, observed, day_of(last_ms)) for column in listable)
    return [domain for domain in domains if domain is not None]


def _cluster_domain(column: Field, observed: ObservedTable, today: date) -> DraftDomain | None:
    named = dict(_named_by(observed, column))
    if len(named) < FEWEST_NAMED:
        return None
    bounds = _bounds(column, observed.snapshot.all_files())
    where = "in conditions and at the bounds of live files"
    touches = Counter(chain.from_iterable(named.values()))
    # Conditions may name any day; which there are, files tell.
    values = bounds if bounds and column.type == "date" else bounds | touches.keys()
    domain = _domain(column, 0, _Seen(values, touches, today, where))
    return replace(domain, named=named)


def _named_by(observed: ObservedTable, column: Field) -> Iterator[tuple[int, Set[str]]]:
    """The versions whose conditions name values of the column, and which."""
    names = observed.snapshot.schema.names
    for commit in observed.commits:
        texts = [
            text
            for operator, text in compared(condition_of(commit), column.name, names)
            if operator in EQUAL | ABOVE | BELOW
        ]
        if values := values_in(column, texts):
            yield commit.version, values


def values_in(column: Field, texts: Iterable[str]) -> set[str]:
    """Values as the column has them; those that are expressions are left out."""
    values = (value_of(column, text) for text in texts)
    return set(_listable(column, (str(value) for value in values if value is not None)))


def value_of(column: Field, text: str) -> Any:
    """A value by its text in the log, `None` for an expression; `5L` is a BIGINT's.

    Values of one column can be compared with each other; those of types that no scenario can list
    are texts.
    """
    read = _READ.get(column.type, str)
    try:
        return read(text if read is str else text.rstrip("LDF"))
    except ValueError:
        return None


def _bounds(column: Field, files: Sequence[AddFile]) -> set[str]:
    """The smallest and largest values of files; of dates all that lie between them."""
    stated = [parse_statistics(file.stats) for file in files]
    name = column.physical_name
    bounds = [(s.min_values.get(name), s.max_values.get(name)) for s in stated]
    if column.type != "date":
        values = chain.from_iterable(bounds)
        return values_in(column, (str(value) for value in values if value is not None))
    days = ((value_of(column, str(least)), value_of(column, str(most))) for least, most in bounds)
    return _all_days((first, last) for first, last in days if first and last)


def _all_days(spans: Iterable[tuple[date, date]]) -> set[str]:
    """The days of these spans, from the first to the last of each."""
    days: set[int] = set()
    reached_before = 0
    for first, last in sorted((first.toordinal(), last.toordinal()) for first, last in spans):
        if last - first < MAX_DAYS:
            days.update(range(max(first, reached_before), last + 1))
            reached_before = max(reached_before, last)
    return {str(date.fromordinal(day)) for day in days}


def _domain(column: Field, at: int, seen: _Seen) -> DraftDomain:
    values, touches, where = seen.values, seen.touches, seen.where
    if column.type == "date" and (days := days_of(values, seen.today)):
        because = f"{many(len(values), 'date')} {where}, up to the day of the last commits"
        return DraftDomain(column, at, days, (), counted(f"{{days: {days}}}", because))
    if column.type == "date":
        return _of_dates(column, at, values | touches.keys() or {str(seen.today)})
    ordered = sorted(values | touches.keys(), key=lambda v: (-touches[v], v))
    listed = tuple(ordered[:MOST_VALUES]) or (stand_in(drafted_type(column)),)
    because = f"{many(len(values), 'value')} {where}, those with most commits first"
    if len(ordered) > MOST_VALUES:
        because += f"; only the first {MOST_VALUES} are listed"
    return DraftDomain(column, at, None, listed, counted("", because))


def _of_dates(column: Field, at: int, dates: Set[str]) -> DraftDomain:
    """The domain of dates that do not arrive day by day."""
    newest = tuple(sorted(dates, reverse=True)[:MAX_DAYS])
    because = (
        f"{many(len(dates), 'date')} that do not come day by day: as many days up to the start"
        " stand for them"
    )
    return DraftDomain(
        column, at, len(newest), newest, guessed(f"{{days: {len(newest)}}}", because)
    )
