"""What an expectation says, as far as judging it goes; scenario files have more to say of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from whitecap.engine.recorded import Measure, Unit
from whitecap.reports.measures.writing import round_duration


class MeasureThresholds(Protocol):
    """Thresholds (`at_least`, `at_most`, `equals`) on a measure, narrowed or not.

    `exactly`: judged by one run; without it, counts by every replication and all else by an
    interval over them. `when`: axes and labels of the cells that it is expected of.
    """

    @property
    def measure(self) -> Measure: ...
    @property
    def writer(self) -> str | None: ...
    @property
    def command(self) -> str | None: ...
    @property
    def exception(self) -> str | None: ...
    @property
    def thresholds(self) -> Mapping[str, float]: ...
    @property
    def exactly(self) -> bool: ...
    @property
    def because(self) -> str: ...
    @property
    def when(self) -> Mapping[str, str]: ...


E = TypeVar("E", bound=MeasureThresholds)


def of_cell(expectations: Iterable[E], labels: Mapping[str, str]) -> list[E]:
    """What is expected of the cell with these labels; without labels, of a scenario as it is."""
    return [each for each in expectations if each.when.items() <= labels.items()]


def subject(expected: MeasureThresholds) -> str:
    """What an expectation is about, in words: `aborted (loader, MERGE)`."""
    narrowed = (expected.writer, expected.command, expected.exception)
    inside = ", ".join(part for part in narrowed if part)
    return f"{expected.measure}" + (f" ({inside})" if inside else "")


def wanted(expected: MeasureThresholds) -> str:
    """Its thresholds in words: `at least 5, at most 10`."""
    return ", ".join(threshold_text(expected, key) for key in expected.thresholds)


def when_text(expected: MeasureThresholds) -> str:
    """Of which cells, with a blank before: ` when load is twice and isolation is strict`."""
    labels = " and ".join(f"{axis} is {label}" for axis, label in expected.when.items())
    return f" when {labels}" if labels else ""


def threshold_text(expected: MeasureThresholds, key: str) -> str:
    """One threshold in words: `at most 5.00 %`, or a bare number to be equal to."""
    value = exact(expected.thresholds[key], expected.measure.unit)
    return value if key == "equals" else f"{key.replace('_', ' ')} {value}"


def exact(value: float, unit: Unit) -> str:
    """A value with all digits that a person gave it: `99.95 %`, `2 min`, `12.345 / min`."""
    match unit:
        case Unit.SHARE:
            return f"{100 * value:.10g} %"
        case Unit.MILLISECONDS:
            return round_duration(value)
        case Unit.PER_MINUTE:
            return f"{value:,.10g} / min"
        case Unit.SLOT_HOURS:
            return f"{value:,.10g} h"
        case Unit.MONEY:
            return f"{value:,.10g}"
        case Unit.COUNT | Unit.ROWS:
            return f"{value:.10g}"
