"""How values of measures are written for people: in tables, in sentences and beside axes."""

from __future__ import annotations

import math
from collections.abc import Iterable

from whitecap.engine.recorded import Unit

DIGITS = 3
"""That people can take in, of a number of which nothing more is asked."""


def written(value: float, unit: Unit, digits: int = DIGITS) -> str:
    """A value as people read it: shares in percent, durations in the unit that fits."""
    if math.isnan(value):
        return "n/a"
    match unit:
        case Unit.SHARE:
            return f"{percent(value, digits)} %"
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


def percent(share: float, digits: int = DIGITS, towards: float | None = None) -> str:
    """A share in percent without its sign, with as many digits as tell it from 0 and 100; a bound
    is rounded `towards` either."""
    whole = round(100 * share, _ROUNDING)
    near = min(whole, 100 - whole)
    if near <= 0:
        return f"{whole:.0f}"
    decimals = max(_decimals(whole, digits), -magnitude(near))
    unit = 10.0**decimals
    # What is a whole number of the last digit but for the last bit stays that.
    last = round(whole * unit, 6)
    if towards is not None:
        last = math.ceil(last) if towards else math.floor(last)
    return f"{last / unit:.{decimals}f}"


_ROUNDING = 10
"""Decimals of percent beyond which there are the last bits of sums."""


def digits_beside(values: Iterable[float], thresholds: Iterable[float], unit: Unit) -> int:
    """So many digits that each value, rounded either way, stays on its side of each threshold:
    98.96 % is not written as 99.0 % where it misses 99 %."""
    limits = list(thresholds)
    apart = [
        (value, limit)
        for value in values
        if math.isfinite(value) and value
        for limit in limits
        if math.isfinite(limit) and not math.isclose(value, limit)
    ]
    digits = max((DIGITS, *(_digits_apart(value, limit, unit) for value, limit in apart)))
    # The usual digits are at most two decimals: 0.154 / min would read as 0.15 / min.
    is_alike = any(written(a, unit, digits) == written(b, unit, digits) for a, b in apart)
    return min(digits + is_alike, _MOST_DIGITS)


def _digits_apart(value: float, limit: float, unit: Unit) -> int:
    """Significant digits of a value that show on which side of a limit it is."""
    size = _unit_of(value)[0] if unit is Unit.MILLISECONDS else 1.0
    return 1 + magnitude(value / size) - magnitude((value - limit) / size)


_MOST_DIGITS = 9
"""More would be the last bits of sums: what differs by less is not told apart. Ours."""


def duration(milliseconds: float, digits: int = DIGITS) -> str:
    """Milliseconds as `250 ms`, `12.3 s`, `4.5 min` or `2.1 h`."""
    size, name = _unit_of(milliseconds)
    return f"{_significant(milliseconds / size, digits)} {name}"


def _unit_of(milliseconds: float) -> tuple[float, str]:
    """The largest unit of which it is one at least, in milliseconds, and its name."""
    return next((each for each in _DURATIONS if abs(milliseconds) >= each[0]), (1.0, "ms"))


_DURATIONS = ((3_600_000.0, "h"), (60_000.0, "min"), (1_000.0, "s"))


def _money(value: float, digits: int) -> str:
    """To the cent, and what is less than one of the currency by its digits: a job may cost a
    thousandth."""
    if value and abs(value) < 1:
        decimals = digits - 1 - magnitude(value)
        return f"{value:.{decimals}f}".rstrip("0")
    cents = max(_decimals(value, digits), 2) if digits > DIGITS else 2
    return f"{value:,.{cents}f}"


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
            return f"{number:.10g} {name}"
    return f"{milliseconds:.10g} ms"


_MOST_DECIMALS = 2
_ROUND_TO = 3
"""Decimals that a round number has at most."""


def _significant(value: float, digits: int) -> str:
    """`value` with about that many significant digits and never in scientific notation."""
    return "0" if value == 0 else f"{value:,.{_decimals(value, digits)}f}"


def _decimals(value: float, digits: int) -> int:
    """Two at most, unless more digits than usual are asked for; of what is less than a tenth two
    that say something."""
    if value == 0:
        return 0
    decimals = digits - 1 - magnitude(value)
    most = decimals if digits > DIGITS else min(decimals, _MOST_DECIMALS)
    return max(most, 1 - magnitude(value) if abs(value) < _TENTH else 0)


_TENTH = 0.1


def magnitude(number: float) -> int:
    """The power of ten of its first digit."""
    return math.floor(math.log10(abs(number)))
