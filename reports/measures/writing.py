"""How values of measures are written for people: in tables, in sentences and beside axes."""

from __future__ import annotations

import math

from whitecap.engine.recorded import Unit


def written(value: float, unit: Unit, digits: int = 3) -> str:
    """A value as people read it: shares in percent, durations in the unit that fits."""
    if math.isnan(value):
        return "n/a"
    match unit:
        case Unit.SHARE:
            return f"{_significant(100 * value, digits)} %"
        case Unit.PER_MINUTE:
            return f"{_significant(value, digits)} / min"
        case Unit.MILLISECONDS:
            return duration(value, digits)
        case Unit.SLOT_HOURS:
            return f"{_significant(value, digits)} h"
        case Unit.MONEY:
            return _money(value, digits)
        case Unit.COUNT | Unit.ROWS:
            return f"{value:,.0f}" if value == round(value) else _significant(value, digits)


_DURATIONS = ((3_600_000, "h"), (60_000, "min"), (1_000, "s"))


def duration(milliseconds: float, digits: int = 3) -> str:
    """Milliseconds as `250 ms`, `12.3 s`, `4.5 min` or `2.1 h`."""
    for size, name in _DURATIONS:
        if abs(milliseconds) >= size:
            return f"{_significant(milliseconds / size, digits)} {name}"
    return f"{_significant(milliseconds, digits)} ms"


def _money(value: float, digits: int) -> str:
    """To the cent, and what is less than one by its digits: a job may cost a thousandth."""
    if not value or abs(value) >= _CENT:
        return f"{value:,.2f}"
    return f"{value:.{digits}g}"


_CENT = 0.01


def tick(value: float, unit: Unit) -> str:
    """A round value beside an axis, without digits that say nothing."""
    match unit:
        case Unit.SHARE:
            return f"{100 * value:g} %"
        case Unit.PER_MINUTE:
            return f"{value:g}"
        case Unit.MILLISECONDS:
            return round_duration(value)
        case Unit.COUNT | Unit.ROWS | Unit.SLOT_HOURS | Unit.MONEY:
            return f"{value:,g}"


def finite(value: float | None) -> float | None:
    """A number as JSON can hold it: `None` where there is none, or none that is finite."""
    return value if value is not None and math.isfinite(value) else None


def round_duration(milliseconds: float) -> str:
    """A round number of milliseconds in the largest unit in which it is one: `90 s`, `2 h`."""
    for size, name in _DURATIONS:
        number = milliseconds / size
        if abs(number) >= 1 and number == round(number, _ROUND_TO):
            return f"{number:g} {name}"
    return f"{milliseconds:g} ms"


_MOST_DECIMALS = 2
_ROUND_TO = 3
"""Decimals that a round number has at most."""


def _significant(value: float, digits: int) -> str:
    """`value` with about that many significant digits and never in scientific notation."""
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(decimals, _MOST_DECIMALS)}f}"
