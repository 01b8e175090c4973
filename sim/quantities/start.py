"""The wall clock at simulated instant 0, which decides what day it is."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from whitecap.sim.quantities.bounds import FIRST_YEAR, LAST_YEAR
from whitecap.sim.quantities.units import shown

DEFAULT_START = datetime(2026, 1, 14, 8, 0)
"""Where a scenario does not say. Ours: a Wednesday, when people begin to work."""


def _as_instant(given: Any) -> Any:
    """Raises `ValueError` for what is no date."""
    if not isinstance(given, str | date):
        raise ValueError(f"needs a date and time, such as {DEFAULT_START}, not {shown(given)}")
    return given


def _in_bounds(start: datetime) -> datetime:
    """Raises `ValueError` for a year before the first or after the last."""
    if not FIRST_YEAR <= start.year <= LAST_YEAR:
        raise ValueError(f"{start} is not between the years {FIRST_YEAR} and {LAST_YEAR}")
    return start


def _in_utc(start: datetime) -> datetime:
    """Raises `ValueError` for another clock's: its midnights and weekdays would not be UTC's."""
    if start.utcoffset():
        same = start.astimezone(UTC).replace(tzinfo=None)
        said = "has an offset from UTC, by which hours and weekdays go here"
        raise ValueError(f"{said}: write {same}")
    return start


StartInstant = Annotated[
    datetime, BeforeValidator(_as_instant), AfterValidator(_in_bounds), AfterValidator(_in_utc)
]
"""A start as a scenario gives it, in UTC."""


def epoch_ms(start: datetime) -> int:
    """A start in epoch milliseconds."""
    return int((start if start.tzinfo else start.replace(tzinfo=UTC)).timestamp() * 1000)


DEFAULT_START_MS = epoch_ms(DEFAULT_START)
