"""The numbers of a scenario that people can change, each with a lower and a higher value.

Without more they are all numbers, durations and rates that the file says of writers, tables and
clusters, halved and doubled. What a store takes, faults, seed and duration are not for people to
choose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, each_read, gathered, noted
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.sweeps.variants import plain_of
from whitecap.sim.sweeps.varied import NumberKind, ends_of, kind_of, varied_by

CHANGEABLE = ("writers", "table", "tables", "clusters")
"""The sections whose numbers people can change."""


class VariedParameter(Struct, frozen=True):
    """A number by its dotted path: as it `stands` (empty where the file says nothing), and the
    scenarios with other values, by the value as people write it."""

    path: str
    stands: str
    others: Mapping[str, Scenario]


class VariedParameters(Struct, frozen=True):
    """Those that are varied, and by their path why others are not."""

    each: tuple[VariedParameter, ...]
    left_out: Mapping[str, str]

    @property
    def scenarios(self) -> int:
        """How many different ones there are, with the scenario as it stands."""
        return 1 + sum(len(each.others) for each in self.each)


def parameters_named(scenario: Scenario, vary: Sequence[str]) -> VariedParameters:
    """Those of `PATH=LOW..HIGH`, at both ends. Raises `InvalidInput` with all that is wrong."""
    with gathered() as problems:
        parameters = each_read(vary, partial(_named, scenario), problems)
        paths = Counter(each.path for each in parameters)
        problems += [Problem(path, "is varied twice") for path, n in paths.items() if n > 1]
    return VariedParameters(tuple(parameters), {})


def _named(scenario: Scenario, text: str) -> VariedParameter:
    others: dict[str, Scenario] = {}
    with gathered() as problems:
        with noted(problems):
            varied = varied_by(text)
        for label, end in ends_of(text).items():
            with noted(problems):
                others[label] = plain_of(scenario, end)
    stands = str(dict(_numbers(scenario.document, ())).get(varied.path, ""))
    return VariedParameter(varied.path, stands, {k: v for k, v in others.items() if k != stands})


def parameters_of(scenario: Scenario) -> VariedParameters:
    """Every number that people can change, halved and doubled as far as that is allowed."""
    each: list[VariedParameter] = []
    left_out: dict[str, str] = {}
    for path, value in _numbers(scenario.document, ()):
        others, reason = _halved_and_doubled(scenario, path, value)
        if others:
            each.append(VariedParameter(path, str(value), others))
        else:
            left_out[path] = reason
    return VariedParameters(tuple(each), left_out)


def _numbers(document: Mapping[Any, Any], above: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Dotted paths with their values; a key with a dot in it has no path."""
    for key, value in document.items():
        if not isinstance(key, str) or "." in key or not (above or key in CHANGEABLE):
            continue
        if isinstance(value, Mapping):
            yield from _numbers(value, (*above, key))
        elif above and _kind(".".join((*above, key)), value):
            yield ".".join((*above, key)), value


def _kind(path: str, value: Any) -> NumberKind | None:
    """What kind of number it is, if it is one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return kind_of(path, [str(value)])
    except InvalidInput:
        return None


def _halved_and_doubled(
    scenario: Scenario, path: str, value: Any
) -> tuple[dict[str, Scenario], str]:
    """The scenarios that are allowed, and why a value is not."""
    kind = _kind(path, value)
    assert kind is not None
    number = kind.read(str(value))
    if not number:
        return {}, "half and double of 0 are 0"
    halves = [number / 2, number // 2] if kind.is_whole else [number / 2]
    others: dict[str, Scenario] = {}
    reason = ""
    for candidates in (halves, [2 * number]):
        for each in candidates:
            written = each if kind.is_whole and each != int(each) else kind.write(each)
            try:
                others[str(written)] = plain_of(scenario, {path: written})
            except InvalidInput as error:
                reason = error.problems[0].text
            else:
                break
    return others, reason
