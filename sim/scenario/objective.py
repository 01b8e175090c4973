"""The `objective:` of a scenario: what its configurations are chosen by, one threshold a line.

`<measure> [of <writer group>|of all] >= or <= <number> [% | ms | s | min | h | d]`
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from whitecap.engine.errors import unknown_name
from whitecap.engine.recorded import ALL_WRITERS, Direction, Measure, Objective, Unit
from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.units import MS_PER, Number, shown
from whitecap.sim.scenario.expect import Expectation
from whitecap.sim.scenario.vain import COUNTED_INSTEAD, never_shown, vain
from whitecap.sim.scenario.yaml.text import PlacedProblem, within

EXAMPLE = "job_success_rate of all >= 99 %"

OBJECTIVE_FORM = re.compile(
    r"\s*(?P<measure>\w+)(?:\s+of\s+(?P<of>\S.*?))?\s*(?P<sign>>=|<=)"
    r"\s*(?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(?P<unit>%|[a-z]+)?\s*"
)

_SCALES: Mapping[Unit, Mapping[str, float]] = {Unit.SHARE: {"%": 0.01}, Unit.MILLISECONDS: MS_PER}
"""What a number is multiplied with for its unit; without one it has the measure's own."""


class StatedObjective(Section):
    """One line of `objective:`, read; exactly one threshold is there."""

    measure: Measure
    of: str | None = None
    at_least: Number | None = None
    at_most: Number | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, given: Any) -> Any:
        if isinstance(given, StatedObjective):
            return given
        parts = OBJECTIVE_FORM.fullmatch(given) if isinstance(given, str) else None
        if parts is None:
            raise ValueError(f"{shown(given)} is no objective: write for instance {EXAMPLE!r}")
        direction = next(each for each in Direction if each.sign == parts["sign"])
        return {
            "measure": parts["measure"],
            "of": parts["of"],
            direction.value: _number(parts["measure"], parts["number"], parts["unit"]),
        }

    @property
    def recorded(self) -> Objective:
        """As manifests and reports know it."""
        at_least = self.at_most is None
        direction = Direction.AT_LEAST if at_least else Direction.AT_MOST
        threshold = self.at_least if at_least else self.at_most
        assert threshold is not None
        return Objective(self.measure, direction, threshold, self.of)


def _number(measure: str, number: str, unit: str | None) -> float:
    """A threshold in the measure's own unit. Raises `ValueError` for a unit that does not fit."""
    if unit is None or measure not in list(Measure):
        return float(number)
    scales = _SCALES.get(Measure.named(measure).unit, {})
    if unit not in scales:
        allowed = f"with {', '.join(scales)} or no unit" if scales else "without a unit"
        raise ValueError(f"{measure} is not counted in {unit!r}: write a number {allowed}")
    return round(float(number) * scales[unit], _DIGITS)


_DIGITS = 12
"""Decimals of a threshold: 99.9 % is to be 0.999, whatever the product of floats is."""


def listed(given: Any) -> Any:
    """What stands in the file, as a list: a single objective needs none."""
    return [given] if isinstance(given, str) else given


Objectives = Annotated[list[StatedObjective], BeforeValidator(listed)]
"""A scenario field: one objective or a list of them."""


def vain_objectives(
    objectives: Mapping[int, StatedObjective], writers: Sequence[str]
) -> Iterator[PlacedProblem]:
    """What is wrong with well formed objectives of a scenario with these writer groups."""
    earlier: set[tuple[Measure, str | None]] = set()
    for position, stated in objectives.items():
        key = (stated.measure, stated.of)
        problems = [*_of_writers(stated.of, writers), *_of_threshold(stated)]
        if key in earlier:
            problems.append(((), "the same is stated twice", None))
        earlier.add(key)
        yield from within(("objective", position), problems)


def writers_of_misread(given: Any, read: Collection[int]) -> dict[int, str]:
    """The writer groups that objectives name which could not be `read`, by their positions."""
    lines = enumerate(given) if isinstance(given, list) else ()
    forms = {
        position: OBJECTIVE_FORM.fullmatch(line)
        for position, line in lines
        if isinstance(line, str) and position not in read
    }
    return {at: form["of"] for at, form in forms.items() if form is not None and form["of"]}


def unknown_writers(named: Mapping[int, str], writers: Sequence[str]) -> Iterator[PlacedProblem]:
    """Those of them that there are not: a misspelt measure hides no misspelt writer."""
    for position, name in named.items():
        yield from within(("objective", position), _of_writers(name, writers))


def _of_writers(name: str | None, writers: Sequence[str]) -> Iterator[PlacedProblem]:
    if name == ALL_WRITERS and ALL_WRITERS in writers:
        yield (), f"a writer is called {ALL_WRITERS!r}: name it otherwise", None
    elif name is not None and name not in (ALL_WRITERS, *writers):
        yield (), *unknown_name("writer", name, [*writers, ALL_WRITERS])


def _of_threshold(stated: StatedObjective) -> Iterator[PlacedProblem]:
    objective = stated.recorded
    measure, threshold = objective.measure, objective.threshold
    if measure.better is None:
        yield (), f"neither more nor less of {measure} is better", None
    elif measure.better is not objective.direction:
        better = "more" if measure.better is Direction.AT_LEAST else "less"
        said = f"{better} of {measure} is better: write {measure.better.sign}"
        yield (), said, None
    elif measure.unit is Unit.SHARE and threshold == _BEST[objective.direction]:
        counted = COUNTED_INSTEAD.get((measure, threshold))
        instead = f": write {counted} <= 0" if counted else ""
        yield (), never_shown(threshold) + instead, None
    else:
        for _, said, hint in vain(_expected(stated)):
            yield (), said, hint


_BEST = {Direction.AT_LEAST: 1.0, Direction.AT_MOST: 0.0}
"""The end of shares that lies in a direction."""


def _expected(stated: StatedObjective) -> Expectation:
    return Expectation(
        measure=stated.measure, at_least=stated.at_least, at_most=stated.at_most, exactly=False
    )
