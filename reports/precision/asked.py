"""What was asked for: `<measure> +- <number> [point|points|%|ms|s|min|h]`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, each_read, gathered, nearest
from whitecap.engine.recorded import Measure, Unit
from whitecap.reports.measures import MEASURES, round_duration
from whitecap.reports.statistics import WantedPrecision

EXAMPLE = "conflict_rate +- 1 point"

_FORM = re.compile(
    r"\s*(?P<measure>\w[\w .-]*?)\s*(?:\+-|\+/-|±)"
    r"\s*(?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(?P<unit>%|[A-Za-z]+)?\s*"
)

_OF_ITSELF = "%"

_SCALES: Mapping[Unit, Mapping[str, float]] = {
    Unit.SHARE: {"point": 0.01, "points": 0.01},
    Unit.MILLISECONDS: {"ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6},
}
"""What a number is multiplied with for its unit; without one it has the measure's own."""

_DIGITS = 12
"""Decimals: 0.1 points are to be 0.001, whatever the product of floats is."""


class Asked(Struct, frozen=True):
    """A measure, and how far from its estimate the truth may lie."""

    measure: Measure
    wanted: WantedPrecision

    def __str__(self) -> str:
        """As it can be asked for again: `conflict_rate +- 1 point`."""
        return f"{self.measure.value} +- {self.half}"

    @property
    def half(self) -> str:
        """`1 point`, `0.5 points`, `5 %`, `2 s`, `3`."""
        half = self.wanted.half
        if self.wanted.is_relative:
            return f"{_plain(100 * half)} %"
        match self.measure.unit:
            case Unit.SHARE:
                points = _plain(100 * half)
                return f"{points} point{'' if points == '1' else 's'}"
            case Unit.MILLISECONDS:
                return round_duration(half)
            case _:
                return _plain(half)


def asked_for(texts: Iterable[str], option: str = "until") -> tuple[Asked, ...]:
    """All that was asked for. Raises `InvalidInput` with everything that is wrong, at `option`."""
    measures: set[Measure] = set()

    def asked_once(text: str) -> Asked:
        place = f"{option} {text!r}"
        asked = _asked(text, place)
        if asked.measure in measures:
            raise InvalidInput([Problem(place, f"{asked.measure} is asked for twice")])
        measures.add(asked.measure)
        return asked

    with gathered() as problems:
        all_asked = each_read(texts, asked_once, problems)
    return tuple(all_asked)


def measures_named(names: Iterable[str], option: str) -> tuple[Measure, ...]:
    """Measures by their names, each once. Raises `InvalidInput` with everything that is wrong."""
    with gathered() as problems:
        measures = each_read(names, lambda name: measure_called(name, option), problems)
    return tuple(dict.fromkeys(measures))


def _asked(text: str, place: str) -> Asked:
    parts = _FORM.fullmatch(text)
    if parts is None:
        raise InvalidInput([Problem(place, f"write for instance {EXAMPLE!r}")])
    measure = measure_called(parts["measure"], place)
    number, unit = float(parts["number"]), parts["unit"]
    scales = _SCALES.get(measure.unit, {})
    is_relative = unit == _OF_ITSELF and measure.unit is not Unit.SHARE
    if unit is not None and unit not in scales and not is_relative:
        raise InvalidInput([Problem(place, _other_unit(measure, unit))])
    scale = 0.01 if is_relative else scales.get(unit or "", 1.0)
    half = round(number * scale, _DIGITS)
    if not 0 < half < math.inf or (half >= 1 and measure.unit is Unit.SHARE):
        said = "between 0 and 100 points" if measure.unit is Unit.SHARE else "more than 0"
        raise InvalidInput([Problem(place, f"a half-width is {said}")])
    return Asked(measure, WantedPrecision(half, is_relative))


def measure_called(name: str, place: str) -> Measure:
    """By its name, or as sentences call it: `latency_p95_ms`, `p95 latency`, `p95_latency`.

    Raises `InvalidInput`, told of `place`.
    """
    called = {_key(each.value): each for each in Measure}
    called |= {_key(each.called): each.measure for each in MEASURES.values()}
    if _key(name) in called:
        return called[_key(name)]
    hint = nearest(_key(name), called)
    likely = called[hint].value if hint else None
    there_are = "" if likely else f": there are {', '.join(Measure)}"
    raise InvalidInput([Problem(place, f"there is no measure {name!r}{there_are}", likely)])


def _key(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.strip().lower())


def _other_unit(measure: Measure, unit: str) -> str:
    if measure.unit is Unit.SHARE:
        return f"{measure} is a share, and {unit!r} could be of it or of all: write points"
    units: Sequence[str] = [*_SCALES.get(measure.unit, {}), _OF_ITSELF]
    return f"{measure} is not counted in {unit!r}: write {', '.join(units)} or no unit"


def _plain(number: float) -> str:
    return f"{round(number, _DIGITS):.10g}"
