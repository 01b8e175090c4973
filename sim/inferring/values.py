"""Which values the columns of the layout have, and which of them each group works on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, date, datetime
from itertools import chain
from statistics import median
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.schema import Field
from whitecap.engine.log.statistics import parse_statistics
from whitecap.sim.inferring.figures import DraftFigure, counted, fitted, guessed, many, number_text
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

LEVEL = 0.01
"""A skew is told where even choices would differ so much once in a hundred logs."""

REACHED = 0.9
"""The share of commits that `newest` is to cover."""


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


class ValueChoice(Struct, frozen=True):
    """How a group chooses a value, as a parameter says it; `None`: each commit takes several.

    `only` is the place among the listed values of the one that all commits work on.
    """

    figure: DraftFigure | None
    several: float
    only: int | None = None


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
    values = {value for value in live if value is not None}
    touches = Counter(v for c in commits for v in {p[at] for p in c.partitions} if v is not None)
    domain = _domain(column, at, values, touches, today, "in live files")
    if None not in live or domain.days is not None:
        return domain
    figure = replace(domain.figure, because=f"{domain.figure.because}; NULL is left out")
    return replace(domain, figure=figure)


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
    domain = _domain(column, 0, values, touches, today, where)
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
        if values := _own(column, texts):
            yield commit.version, values


def _own(column: Field, texts: Iterable[str]) -> set[str]:
    """Values as the column has them; those that are expressions are left out."""
    values = (value_of(column, text) for text in texts)
    return {str(value) for value in values if value is not None}


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
        return _own(column, (str(value) for value in values if value is not None))
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


def _domain(
    column: Field, at: int, values: Set[str], touches: Counter[str], today: date, where: str
) -> DraftDomain:
    if column.type == "date" and (days := days_of(values, today)):
        because = f"{many(len(values), 'date')} {where}, up to the day of the last commits"
        return DraftDomain(column, at, days, (), counted(f"{{days: {days}}}", because))
    if column.type == "date":
        return _of_dates(column, at, values | touches.keys() or {str(today)})
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


def choice_of(domain: DraftDomain, commits: Sequence[ObservedCommit]) -> ValueChoice:
    """Which values these commits work on."""
    touched = [values for values in (domain.of(commit) for commit in commits) if values]
    if not touched:
        return ValueChoice(None, 0.0)
    several = median(len(values) for values in touched)
    if several > 1:
        return ValueChoice(None, several)
    if domain.is_daily:
        return ValueChoice(_newest(domain, commits, len(touched)), several)
    return ranked(domain, touched)


def _newest(domain: DraftDomain, commits: Sequence[ObservedCommit], count: int) -> DraftFigure:
    """How far behind the day of the commit the values lie."""
    behind = [
        max((day_of(commit.timestamp_ms) - date.fromisoformat(value)).days, 0)
        for commit in commits
        for value in domain.of(commit)
    ]
    within = reached(behind) + 1
    because = f"nine of ten of {many(count, 'commit')} within {many(within, 'day')} of their own"
    return one_of_newest(within, domain, because)


def reached(numbers: Sequence[int]) -> int:
    """What nine of ten of these numbers do not exceed."""
    return sorted(numbers)[min(math.ceil(REACHED * len(numbers)), len(numbers)) - 1]


def one_of_newest(
    within: int, domain: DraftDomain, because: str, perhaps_any: bool = True
) -> DraftFigure:
    """One of so many of the newest days, or perhaps of all where these are more than half."""
    assert domain.days is not None
    if perhaps_any and within > 1 and within > domain.days / 2:
        return counted("uniform", because)
    return counted("newest" if within == 1 else f"{{newest: {{within: {within}}}}}", because)


def ranked(domain: DraftDomain, touched: Sequence[set[str]]) -> ValueChoice:
    """Zipf's law over the listed values where it explains more than an even choice."""
    ranks = {value: rank for rank, value in enumerate(domain.listed)}
    counts = np.zeros(len(domain.listed))
    for values in touched:
        for value in values & ranks.keys():
            counts[ranks[value]] += 1
    only = np.flatnonzero(counts)
    if len(only) == 1 and len(domain.listed) > 1 and len(touched) > 2 and domain.days is None:
        figure = counted("", f"all {len(touched):,} commits work on this one")
        return ValueChoice(figure, 1.0, int(only[0]))
    over = f"{many(len(touched), 'commit')} over {many(len(counts), 'value')}"
    exponent, gain = zipf_fit(counts)
    if gain > chi2.ppf(1 - LEVEL, 1):
        text = f"{{zipf: {{exponent: {number_text(exponent)}}}}}"
        return ValueChoice(fitted(text, f"Zipf's law of {over}"), 1.0)
    return ValueChoice(counted("uniform", f"{over}, no skew beyond chance"), 1.0)


def zipf_fit(counts: NDArray[np.float64]) -> tuple[float, float]:
    """The likeliest exponent for counts by rank, and twice its gain in log-likelihood over 0."""
    if len(counts) < 2 or not counts.sum():
        return 0.0, 0.0
    logs = np.log(np.arange(1, len(counts) + 1))

    def improbability(exponent: float) -> float:
        scale = np.log(np.exp(-exponent * logs).sum())
        return float((counts * (exponent * logs + scale)).sum())

    fit = minimize_scalar(improbability, bounds=(0.01, 10.0), method="bounded")
    return float(fit.x), 2 * (improbability(0.0) - float(fit.fun))
