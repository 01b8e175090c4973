"""Ranges of values that conditions name: where they begin, where they end, and how they move.

A draft has one parameter for a column. What lies from it on, up to it, or so wide a range from it
on is what the drafted condition names. Days that lie so many days behind that of a commit do so in
the draft, where the day of a run is the newest one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from math import inf
from statistics import median
from typing import Any

from msgspec import Struct

from whitecap.engine.log.schema import Field
from whitecap.sim.inferring.choices import ValueChoice, choice_of, one_of_newest, ranked, reached
from whitecap.sim.inferring.domains import DraftDomain, day_of, value_of
from whitecap.sim.inferring.evidence.figures import DraftFigure, counted, guessed, many, number_text
from whitecap.sim.inferring.log.conditions import ABOVE, BELOW, ColumnLimit, compared, condition_of
from whitecap.sim.inferring.log.observed import ObservedCommit
from whitecap.sim.inferring.naming import sql_name

_CLOCK = re.compile(r"\d{4}-\d\d-\d\d[ T](\d\d:[\d:.]*)")
"""An instant with its time of day."""

_ENDLESS = inf, -inf

_PLACE = re.compile(r"\?(\w*)")
"""Where the name of the column belongs, or one that begins with it."""


class DraftRange(Struct, frozen=True):
    """How a range is drafted: each condition as what stands around the column's name.

    `share` is which part of the column's values lie in it. A list has `also` the choices of its
    second value, its third, and so on.
    """

    limits: tuple[str, ...]
    choice: ValueChoice
    share: float
    evidence: tuple[DraftFigure, ...] = ()
    also: tuple[ValueChoice, ...] = ()

    def conditions(self, column: str) -> tuple[str, ...]:
        """The conditions as SQL, of a column of the draft."""
        return tuple(_PLACE.sub(lambda at: sql_name(column + at[1]), each) for each in self.limits)


class _Named(Struct, frozen=True):
    """The range of one commit, both ends in it, on its day."""

    first: Any
    last: Any
    day: date


class LimitedColumn(Struct, frozen=True):
    """A column that the conditions of some commits limit; `columns` are all of its table's.

    With `holds_rows` a parameter's value is to lie in the drafted range; with `as_days` all dates
    are drafted as days that follow each other.
    """

    domain: DraftDomain
    limit: ColumnLimit
    commits: Sequence[ObservedCommit]
    columns: Sequence[str]
    holds_rows: bool
    as_days: bool

    def drafted(self) -> DraftRange:
        """What the conditions let through: one value, or the range that the commits name."""
        if self.limit is ColumnLimit.VALUE:
            choice = choice_of(self.domain, self.commits)
            return DraftRange(("? = :?",), choice, 1 / self.domain.count)
        named = list(self._named())
        if not named:
            said = counted("uniform", "the log does not say where the ranges of its commits lie")
            return DraftRange(_limits(self.limit), ValueChoice(said, 0.0), 1.0)
        return self._of_days(named) if self.domain.is_daily else self._of_listed(named)

    def _named(self) -> Iterator[_Named]:
        """The ranges of those commits that say where they lie."""
        needs_first = self.limit is not ColumnLimit.UPTO
        needs_last = self.limit is not ColumnLimit.FROM
        for commit in self.commits:
            first, last = self._ends(commit)
            if (first is not None or not needs_first) and (last is not None or not needs_last):
                yield _Named(first, last, day_of(commit.timestamp_ms))

    def _ends(self, commit: ObservedCommit) -> tuple[Any, Any]:
        """Both by the condition; where it has an expression, by the partitions that it changed."""
        domain, column = self.domain, self.domain.column
        sides = compared(condition_of(commit), column.name, self.columns)
        firsts = [_meant(column, text, sign == ">") for sign, text in sides if sign in ABOVE]
        lasts = [_meant(column, text, False, sign == "<") for sign, text in sides if sign in BELOW]
        touched = domain.of(commit) if domain.named is None else ()
        changed = [value_of(column, text) for text in touched]
        return (
            max(_stated(firsts) or [min(_stated(changed), default=None)]),
            min(_stated(lasts) or [max(_stated(changed), default=None)]),
        )

    def _of_days(self, named: Sequence[_Named]) -> DraftRange:
        """A range of days that moves with the day of the run."""
        domain, limit = self.domain, self.limit
        assert domain.days is not None
        is_end = limit is ColumnLimit.UPTO
        ends = [each.last if is_end else each.first for each in named]
        behind = [max((each.day - end).days, 0) for each, end in zip(named, ends, strict=True)]
        width = _width(named) if limit is ColumnLimit.RANGE else None
        least, most = -reached([-days for days in behind]), reached(behind)
        reaches_today = not is_end if width is None else least <= width
        shift = 0 if self.holds_rows and not reaches_today else least
        said = f"nine of ten of {many(len(named), 'commit')} {'end' if is_end else 'begin'}"
        because = f"{said} {_behind_said(least, most)}"
        figure = one_of_newest(most - shift + 1, domain, because, perhaps_any=not shift)
        covered = {
            ColumnLimit.FROM: median(behind) + 1,
            ColumnLimit.UPTO: domain.days - median(behind),
        }.get(limit, (width or 0) + 1)
        end = None if width is None else moved(width - shift)
        limits = _limits(limit, moved(-shift), end)
        evidence = () if width is None else (_reaches(width + 1, "day", len(named)),)
        return DraftRange(limits, ValueChoice(figure, 1.0), _share(covered, domain), evidence)

    def _of_listed(self, named: Sequence[_Named]) -> DraftRange:
        """A range that begins with one of the listed values, or ends with it."""
        domain, limit = self.domain, self.limit
        values = {text: value_of(domain.column, text) for text in domain.listed}
        ordered = sorted(domain.listed, key=values.__getitem__)
        places = [_places([values[text] for text in ordered], each) for each in named]
        is_end = limit is ColumnLimit.UPTO
        ends = (end - 1 if is_end else begin for begin, end in places)
        choice = ranked(domain, [{ordered[min(max(at, 0), len(ordered) - 1)]} for at in ends])
        covered = median(end - begin for begin, end in places)
        share = _share(covered, domain)
        if limit is not ColumnLimit.RANGE:
            return DraftRange(_limits(limit), choice, share)
        width = max(covered - 1, 0) if self.as_days and domain.days is not None else _width(named)
        if width is None:
            said = "how wide a range of texts is cannot be said: the draft's has no upper end"
            return DraftRange(_limits(limit), choice, share, (guessed("", said),))
        evidence = _reaches(covered, "value", len(named))
        return DraftRange(_limits(limit, end=moved(width)), choice, share, (evidence,))


def _limits(limit: ColumnLimit, shift: str = "", end: str | None = None) -> tuple[str, ...]:
    """The conditions with `?` for the column: from, up to, or from the parameter to the `end`."""
    if end == shift:
        return (f"? = :?{shift}",)
    if limit is ColumnLimit.UPTO:
        return (f"? <= :?{shift}",)
    return (f"? >= :?{shift}", *([] if end is None else [f"? <= :?{end}"]))


def _stated(values: Sequence[Any]) -> list[Any]:
    """Values that end a range: neither expressions nor NaN nor infinity."""
    return [value for value in values if not (value is None or value in _ENDLESS or value != value)]


def _meant(column: Field, text: str, is_after: bool, is_before: bool = False) -> Any:
    """The first or last value of a range by what it is compared with, which may lie beyond it."""
    value = value_of(column, text)
    clock = _CLOCK.match(text)
    step = is_after - is_before
    if isinstance(value, int):
        return value + step
    is_midnight = clock is not None and not clock[1].strip("0:.")
    if isinstance(value, date) and (clock is None or (is_before and is_midnight)):
        return _next_day(value, step)
    return value


def _next_day(day: date, step: int) -> date:
    """The day after or before; itself at the ends of the calendar."""
    return date.fromordinal(min(max(day.toordinal() + step, 1), date.max.toordinal()))


def _behind_said(least: int, most: int) -> str:
    if most == 0:
        return "with the day of their own"
    days = many(most, "day")
    return f"{days} before their own" if least == most else f"{least} to {days} before their own"


def _places(values: Sequence[Any], named: _Named) -> tuple[int, int]:
    """Which of the values, in their order, a range begins with, and which it ends before."""
    begin = 0 if named.first is None else bisect_left(values, named.first)
    end = len(values) if named.last is None else bisect_right(values, named.last)
    return begin, max(begin, end)


def _width(named: Sequence[_Named]) -> float | None:
    """From the first to the last value, the median in days or as a number; `None` of texts."""
    if isinstance(named[0].first, str):
        return None
    widths = [each.last - each.first for each in named]
    if isinstance(widths[0], timedelta):
        widths = [each.days for each in widths]
    width: float = median(widths)
    return max(width if isinstance(widths[0], float) else round(width), 0)


def moved(by: float) -> str:
    """What a parameter is moved by, as SQL has it after its name."""
    return f" {'-' if by < 0 else '+'} {number_text(abs(by))}" if by else ""


def _share(covered: float, domain: DraftDomain) -> float:
    return min(max(covered, 1), domain.count) / domain.count


def _reaches(covered: float, what: str, commits: int) -> DraftFigure:
    said = f"{many(round(covered), what)}, median of {many(commits, 'commit')}"
    return counted("", f"a range has {said}")
